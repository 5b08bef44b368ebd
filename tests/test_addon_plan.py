"""XPU for the torch of an environment: its steps, and what is refused."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest

from data.machines import machine
from data.profiles import device, shipped
from xpusetup.base.errors import UsageError
from xpusetup.base.model import ROOT, Layout, Plan, Request
from xpusetup.commands.remove import OURS
from xpusetup.config.request import read_request, read_words, render_request
from xpusetup.config.settings import Settings
from xpusetup.config.take import choose_toolkit
from xpusetup.plan.addon import ADDON, install_torch, make_addon_plan, purpose_of
from xpusetup.plan.target import make_target
from xpusetup.run.prepare import whole_of
from xpusetup.run.workspace import Where, with_compiler

ENV = Layout(venv="/env", adopted=True)
ASKED = Request(only=("xpu",), device="processor")


def plan_of(request: Request = ASKED, layout: Layout = ENV, name: str = "torch-2.6", kit: str = "wheels") -> Plan:
    profile = choose_toolkit(shipped(name), kit)
    target = make_target(profile, machine(toolkits={"found": []}), device("xpu"), Request(), Settings())
    return make_addon_plan(profile, request, target, layout)


def test_the_steps_touch_nothing_of_the_environment_before_the_wheel_is_there() -> None:
    plan = plan_of()
    names = [step.id for step in plan.steps]
    assert names == ["venv", "tools", "toolkit", "torch.fetch", "xpu.build", "xpu.install", "guard", "verify.smoke"]
    writing = [step.id for step in plan.steps if "venv" in step.locks]
    assert writing == ["venv", "xpu.install", "guard"]
    assert [step.id for step in plan.steps if "network" in step.needs] == [
        "tools",
        "toolkit",
        "torch.fetch",
        "xpu.install",
    ]


def test_the_build_is_told_both_trees_the_device_and_the_kernels() -> None:
    request = replace(ASKED, set=(("xpu", "SOURCES", "AbsKernel,CopyKernel"),), sources=(("torch-xpu-ops", "/ops"),))
    step = next(step for step in plan_of(request).steps if step.id == "xpu.build")
    renew, build = step.run
    words = " ".join(build)
    assert renew[1].endswith("make_sycl_toolkit.py")  # no key sees a driver that was mended
    assert step.env[0][1].endswith("/results/sycl.jsonl")
    assert "--ops /ops " in words
    assert "--torch-source {ROOT}/src/torch " in words.replace(build[1].split("/helpers")[0], "{ROOT}")
    assert "--device processor --sources AbsKernel,CopyKernel" in words
    assert step.always
    assert step.makes[0].endswith("/wheels/xpusetup_torch_xpu-2.6.0+processor-*.whl")


def test_for_gpus_it_is_a_wheel_of_its_own_and_is_verified_where_there_is_one() -> None:
    plan = plan_of(Request(only=("xpu",)))
    step = next(step for step in plan.steps if step.id == "xpu.build")
    assert "on GPUs" in step.title
    assert step.run[-1][step.run[-1].index("--device") + 1] == "gpu"
    assert step.makes[0].endswith("/wheels/xpusetup_torch_xpu-2.6.0+gpu-*.whl")
    assert plan.steps[-1].id == "verify.smoke"
    assert "processor" not in repr(plan.steps)


def test_a_change_is_tried_without_a_wheel_and_without_pip() -> None:
    plan = plan_of(replace(ASKED, set=(("xpu", "TRIED", "/mine"),), sources=(("torch-xpu-ops", "/ops"),)))
    assert [step.id for step in plan.steps] == ["venv", "tools", "toolkit", "torch.fetch", "xpu.build", "verify.smoke"]
    step = plan.steps[-2]
    assert "--ops /mine " in " ".join(step.run[-1])
    assert "--try" in step.run[-1]
    assert step.protected_trees == ("/ops",)  # as in the build, so that it compiles at the same path
    assert [place.rpartition("/")[2] for place in step.makes] == ["xpu.json"]
    assert "venv" in step.locks
    assert whole_of(replace(ASKED, set=(("xpu", "TRIED", "/mine"), ("xpu", "SOURCES", "all")))).set == (
        ("xpu", "SOURCES", "all"),
    )


def test_torch_is_fetched_with_nothing_but_its_kernels_for_xpu() -> None:
    fetch = next(step for step in plan_of().steps if step.id == "torch.fetch")
    assert [place.rpartition("/src/")[2] for place in fetch.makes] == [
        "torch/.git/HEAD",
        "torch/third_party/torch-xpu-ops/.git/HEAD",
    ]


def test_without_an_environment_and_without_the_compiler_it_is_refused() -> None:
    with pytest.raises(UsageError, match="no environment with one is named"):
        plan_of(layout=Layout())
    with pytest.raises(UsageError, match="there is no environment /no/such/env yet") as caught:
        plan_of(layout=Layout(venv="/no/such/env"))
    assert str(caught.value.fix).splitlines()[1] == "python3 -m venv /no/such/env"
    assert str(caught.value.fix).splitlines()[2] == "/no/such/env/bin/python -m pip install torch==2.6.0"
    with pytest.raises(UsageError, match="no tool chain of Intel's wheels"):
        plan_of(kit="oneapi")


def test_the_readme_installs_the_torch_that_the_program_names() -> None:
    readme = (Path(__file__).parents[1] / "README.md").read_text()
    assert f"&& {install_torch('ENV', '2.6.0')}\n" in readme


def test_all_that_its_steps_write_goes_with_the_root() -> None:
    assert set(re.findall(rf"{re.escape(ROOT)}/([\w-]+)", repr(plan_of()))) - OURS == set()


def test_a_limit_holds() -> None:
    assert [step.id for step in plan_of(replace(ASKED, until="torch.fetch")).steps] == ["torch.fetch"]
    assert "verify.smoke" not in [step.id for step in plan_of(replace(ASKED, verify="off")).steps]


def test_only_xpu_is_this_and_takes_its_compiler_by_itself() -> None:
    assert purpose_of(shipped("torch-2.6"), ASKED) is ADDON
    assert purpose_of(shipped("torch-2.6"), Request(only=("torch",))) is not ADDON
    assert with_compiler(Where(), ASKED).toolkit == "wheels"
    assert with_compiler(Where(), Request()).toolkit == ""


def test_the_device_is_asked_for_again_and_means_nothing_else() -> None:
    assert render_request(ASKED) == ("--only", "xpu", "--device", "processor")
    assert read_words(render_request(whole_of(ASKED))) == replace(ASKED, verify="off")
    with pytest.raises(UsageError, match="--device says on what"):
        read_request(device="processor")
    with pytest.raises(UsageError, match="--device cannot be 'npu'"):
        read_request(only=["xpu"], device="npu")
