"""Which PyTorch goes with which of a device's software, in which mode, and what is said of a pair that cannot be."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from data.machines import machine
from data.profiles import SHIPPED, TOP, device, shipped
from xpusetup.base.errors import UsageError
from xpusetup.base.model import Layout, Mode, Plan, Request, Target
from xpusetup.commands.profiles import check_profile
from xpusetup.config.devices import device_modes, find_mode, find_release, make_modes, torch_of
from xpusetup.config.load import parse_profile
from xpusetup.config.settings import Settings
from xpusetup.plan.install import make_install_plan
from xpusetup.plan.steps import make_plan
from xpusetup.plan.target import make_target

if TYPE_CHECKING:
    from pathlib import Path

    from xpusetup.config.profile import Profile

GAUDI = [name for name in SHIPPED if name.startswith("gaudi-")]
EAGER = ("PT_HPU_LAZY_MODE=0",)


def changed(name: str, *changes: tuple[str, str]) -> Profile:
    """Give a shipped profile with texts replaced, each of which has to be there."""
    text = (TOP / f"profiles/{name}.toml").read_text()
    for old, new in changes:
        assert old in text, old
        text = text.replace(old, new)
    return parse_profile(text, "x.toml")


def target_of(profile: Profile) -> Target:
    facts = machine(toolkits={"found": []})
    return make_target(profile, facts, device(profile.accelerator), Request(), Settings())


def plan_of(profile: Profile, request: Request | None = None) -> Plan:
    return make_plan(profile, request or Request(), target_of(profile), Layout())


def refusal(profile: Profile) -> UsageError:
    with pytest.raises(UsageError) as refused:
        target_of(profile)
    return refused.value


@pytest.mark.parametrize("name", GAUDI)
def test_a_shipped_release_is_a_row_of_the_table(name: str) -> None:
    installer = shipped(name).installer
    assert installer is not None
    row = find_release(device("hpu"), installer.release)
    assert row is not None
    assert row.torch.startswith(torch_of(shipped(name)).partition("+")[0]) or torch_of(shipped(name)).startswith(
        row.torch
    )
    assert {installer.release} == set(re.findall(r"gaudi-installer/([\d.]+)/", f"{installer.url} {installer.before}"))
    assert f"/{installer.release}/" in installer.image
    assert installer.brings["habana-torch-plugin"] == installer.release
    assert shipped(name).modes[0] == "eager"


@pytest.mark.parametrize(
    ("profile", "message", "fix"),
    [
        (
            changed("gaudi-1.21-public", ('modes = ["eager"]', 'modes = ["lazy"]')),
            "mode lazy works with the maker's fork of PyTorch alone, and this profile has the public PyTorch",
            'take mode eager, or a profile with pytorch = "fork"',
        ),
        (
            changed("gaudi-1.24.1", ('modes = ["eager"]', 'modes = ["eager", "lazy"]')),
            "and this profile has whichever PyTorch it brings",
            "take mode eager",
        ),
        (
            changed("gaudi-1.20", ('pytorch = "fork"', 'pytorch = "public"'), ('modes = ["eager", "lazy"]', "")),
            "Gaudi software 1.20 is not known to work with the public PyTorch",
            'pytorch = "fork" works with it; the public PyTorch goes with 1.23, 1.22, 1.21',
        ),
        (
            changed("gaudi-1.22", ('torch = "2.7"', 'torch = "2.9"')),
            "Gaudi software 1.22 is for torch 2.7, not for 2.9",
            "take torch 2.7; torch 2.9 is that of 1.23",
        ),
        (
            changed("gaudi-1.21-public", ('version = "2.6.0+cpu"', 'version = "2.5.1+cpu"')),
            "Gaudi software 1.21 is for torch 2.6.0, not for 2.5.1",
            "take torch 2.6.0; torch 2.5.1 is that of 1.19",
        ),
        (
            changed("gaudi-1.22", ('modes = ["eager", "lazy"]', 'modes = ["graph"]')),
            "hpu has no mode 'graph'",
            "its modes: eager, lazy",
        ),
    ],
)
def test_what_cannot_be_is_refused_with_what_would_work(profile: Profile, message: str, fix: str) -> None:
    error = refusal(profile)
    assert message in error.message
    assert fix in error.fix


def test_the_check_of_a_file_refuses_it_too(tmp_path: Path) -> None:
    text = (TOP / "profiles/gaudi-1.21-public.toml").read_text()
    (tmp_path / "mine.toml").write_text(text.replace('modes = ["eager"]', 'modes = ["lazy"]'))
    with pytest.raises(UsageError, match="mode lazy works with the maker's fork"):
        check_profile(str(tmp_path / "mine.toml"))
    assert check_profile("gaudi-1.22").data.components == ["gaudi"]


def test_a_release_that_nobody_knows_is_not_refused() -> None:
    """The table ends somewhere, and the pair is looked at after the installation too."""
    future = changed("gaudi-1.24.1", ('release = "1.24.1"', 'release = "1.99.0"'), ('torch = "2.11', 'torch = "3.11'))
    assert [mode.name for mode in target_of(future).modes] == ["eager"]


def test_a_mode_is_a_process_of_its_own_with_its_variables() -> None:
    steps = {step.id: step for step in plan_of(shipped("gaudi-1.22")).steps}
    assert list(steps) == ["venv", "gaudi.install", "pairing", "guard", "verify.smoke", "verify.lazy"]
    kernels = ("GC_KERNEL_PATH", "/usr/lib/habanalabs/libtpc_kernels.so")
    flag = ("PT_HPU_EAGER_ENABLE_GRADIENT_VIEW_LAYOUT_OPT", "1")
    assert steps["verify.smoke"].env == (kernels, ("PT_HPU_LAZY_MODE", "0"), flag)
    assert steps["verify.lazy"].env == (kernels, ("PT_HPU_LAZY_MODE", "1"))
    (words,) = steps["verify.lazy"].run
    assert words[words.index("--skip") + 1] == "models.infer_compiled"
    assert words[words.index("--compile-backend") + 1] == "hpu_backend"
    assert words[words.index("--collectives") + 1] == "hccl"
    assert words[words.index("--loader") + 1] == "habana_dataloader:HabanaDataLoader"
    assert words[-1].endswith("results/verify.lazy.json")


def test_the_public_torch_takes_the_place_of_the_fork() -> None:
    steps = {step.id: step for step in plan_of(shipped("gaudi-1.21-public")).steps}
    order = list(steps)
    assert order.index("gaudi.install") < order.index("torch.install") < order.index("pairing") < order.index("guard")
    made = steps["gaudi.install"].makes
    assert any("habana_torch_plugin-*" in path for path in made)
    assert not any("/torch-*" in path for path in made), "what is replaced later is no proof that the step is done"
    (words,) = steps["pairing"].run
    assert "torch=2.6.0+cpu" in words
    assert words[words.index("--pytorch") + 1] == "public"
    assert "verify.lazy" not in order


def test_install_and_build_are_the_same_plan() -> None:
    profile = shipped("gaudi-1.22")
    assert make_install_plan(profile, Request(), target_of(profile), Layout()) == plan_of(profile)
    assert "verify.smoke" not in [step.id for step in plan_of(profile, Request(verify="off")).steps]


def test_modes_by_name() -> None:
    modes = make_modes(shipped("gaudi-1.22"), device("hpu"))
    assert modes[0] == Mode(
        name="eager", variables=EAGER, models=("PT_HPU_EAGER_ENABLE_GRADIENT_VIEW_LAYOUT_OPT=1",), skips=()
    )
    assert find_mode(modes, "lazy").variables == ("PT_HPU_LAZY_MODE=1",)
    with pytest.raises(UsageError, match="no mode 'graph'") as refused:
        find_mode(modes, "graph")
    assert refused.value.fix.startswith("it has: eager, lazy")
    with pytest.raises(UsageError) as without:
        find_mode((), "lazy")
    assert without.value.fix.startswith("its device has no modes")
    assert device_modes(device("hpu")) == modes
    assert make_modes(shipped("sim"), device("simxpu")) == ()
    assert make_modes(shipped("torch-2.14"), device("xpu")) == ()


@pytest.mark.parametrize("name", [name for name in SHIPPED if name.startswith("ascend-")])
def test_ascend_takes_just_the_torch_that_torch_npu_is_for(name: str) -> None:
    profile = shipped(name)
    assert profile.published is not None
    wheels = dict(pin.split("==") for pin in profile.published.wheels)
    assert wheels["torch"] == f"{wheels['torch-npu']}+cpu"
    assert {part.distribution: part.version for part in profile.components if part.kind == "wheel"} == {
        "torch": wheels["torch"],
        "torch-npu": wheels["torch-npu"],
    }
    row = find_release(device("npu"), wheels["torch-npu"])
    assert (row.toolkit if row else "CANN of a version that was not found out") in profile.summary
    plan = make_install_plan(profile, Request(), target_of(profile), Layout())
    assert plan.target.scripts[0] == "/usr/local/Ascend/ascend-toolkit/set_env.sh"
