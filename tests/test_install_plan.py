"""The plan of an installation: published wheels, in place of what conflicts with them."""

from __future__ import annotations

from dataclasses import replace

import pytest

from data.machines import LAPTOP, machine
from data.profiles import shipped
from data.targets import NEW, SIM, plan_for
from golden import hold_scripts
from xpusetup.base.errors import NotReadyError, UsageError
from xpusetup.base.model import Layout, Plan, Request, Step
from xpusetup.emit.script import render_shell
from xpusetup.plan.environment import TRITONS, conflicts_of
from xpusetup.plan.install import BUILD, INSTALL, make_install_plan, published_wheels
from xpusetup.run.preflight import failing, gate
from xpusetup.run.workspace import Where, open_workspace

DOWNLOADS = tuple(f"{name}.download" for name in ("torch", "vision", "audio", "triton"))
STEPS = ["venv", "survey", *DOWNLOADS, "wheels.install", "guard", "verify.smoke"]


def plan(layout: Layout | None = None, verify: str = "auto") -> Plan:
    request = Request(verify=verify)  # type: ignore[arg-type]
    return make_install_plan(shipped("torch-2.14"), request, NEW, layout or Layout())


def step_of(name: str) -> Step:
    return next(step for step in plan().steps if step.id == name)


def test_golden() -> None:
    hold_scripts("torch-2.14-install", render_shell(plan()), render_shell(plan_for("torch-2.14")))


def test_steps() -> None:
    assert [step.id for step in plan().steps] == STEPS
    assert [step.id for step in plan(verify="off").steps] == STEPS[:-1]
    assert {step.id for step in plan().steps if "network" in step.needs} == {*DOWNLOADS, "wheels.install"}
    assert {step.id for step in plan().steps if "venv" in step.locks} == {"venv", "wheels.install", "guard"}
    assert step_of("wheels.install").after == DOWNLOADS


def test_published_wheels_need_no_toolkit_and_no_compiler() -> None:
    assert plan().target == replace(NEW, toolkit=None)
    assert not any({"toolkit", "compiler"} & set(step.needs) for step in plan().steps)


def test_an_environment_of_someone_else_is_not_made() -> None:
    steps = {step.id: step for step in plan(Layout(venv="/theirs", adopted=True)).steps}
    assert "/theirs/bin/python" in steps["venv"].run[0]
    assert "torch==2.14.1+xpu" in steps["venv"].run[0]
    assert not any("make_movable" in word for step in steps.values() for argv in step.run for word in argv)


def test_names_of_steps_are_those_of_the_components() -> None:
    assert published_wheels(shipped("torch-2.14"))["vision"] == ("torchvision", "0.29.1+xpu")


def test_a_profile_without_published_wheels_is_built() -> None:
    with pytest.raises(UsageError) as caught:
        make_install_plan(shipped("sim"), Request(), SIM, Layout())
    assert caught.value.message == "sim names no published wheels"
    assert caught.value.fix == "compile it: the same command with --from source"


@pytest.mark.parametrize(
    ("distribution", "accelerator", "gone"),
    [
        ("triton-xpu", "xpu", [name for name in TRITONS if name != "triton-xpu"]),
        ("pytorch-triton-xpu", "xpu", [name for name in TRITONS if name != "pytorch-triton-xpu"]),
        ("triton", "cuda", [name for name in TRITONS if name != "triton"]),
        ("torch", "cpu", []),
        ("torchvision", "xpu", []),
    ],
)
def test_conflicts(distribution: str, accelerator: str, gone: list[str]) -> None:
    found = [name for conflict in conflicts_of(distribution, accelerator) for name in conflict.names]
    assert found == gone


def test_what_served_xpu_before_conflicts_with_torch() -> None:
    (conflict,) = conflicts_of("torch", "xpu")
    assert "intel-extension-for-pytorch" in conflict.names
    assert conflict.of == "torch"


def test_a_machine_without_device_or_toolkit_may_install() -> None:
    workspace = open_workspace(Where(profile="torch-2.14"))
    bare = machine(LAPTOP, tools=[])
    assert failing(workspace, bare, INSTALL) == []
    assert [finding.id for finding in failing(workspace, bare, BUILD)] != []
    assert "hw.intel_gpu_present" in {each.id for each in failing(workspace, bare, INSTALL, "require")}
    with pytest.raises(NotReadyError, match="not ready to install"):
        gate(workspace, bare, INSTALL, "require")


def test_a_python_that_does_not_fit_is_refused() -> None:
    workspace = open_workspace(Where(profile="torch-2.14"))
    old = machine(LAPTOP, python={"executable": "/usr/bin/python3", "version": "3.9.18", "headers": True, "venv": True})
    assert [finding.id for finding in failing(workspace, old, INSTALL)] == ["py.version"]
