"""`--only`: which steps are left, and what has to be there for them."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from data.profiles import shipped
from data.targets import plan_for
from xpusetup.base.errors import NotReadyError
from xpusetup.base.model import Request
from xpusetup.config.profile import find_needed
from xpusetup.plan.addon import ADDON
from xpusetup.run.prepare import describe_takes, find_ready
from xpusetup.run.workspace import Where, open_workspace

if TYPE_CHECKING:
    from pathlib import Path

    from xpusetup.run.workspace import Workspace

AUDIO = Request(only=("audio",))
OF_AUDIO = ["audio.fetch", "audio.build", "audio.inspect", "audio.install"]


def test_audio_alone_is_without_vision() -> None:
    ids = [step.id for step in plan_for("torch-2.5", AUDIO).steps]
    assert {name.split(".")[0] for name in ids} == {"venv", "requirements", "torch", "audio"}
    assert ids[-4:] == OF_AUDIO


def test_what_is_ready_is_looked_at_and_not_built() -> None:
    plan = plan_for("torch-2.5", replace(AUDIO, ready=("torch",)))
    steps = {step.id: step for step in plan.steps}
    assert list(steps) == ["venv", "requirements", "torch.ready", *OF_AUDIO]
    assert steps["torch.ready"].after == ("venv",)
    assert steps["audio.build"].after == ("requirements", "torch.ready", "audio.fetch")
    assert steps["torch.ready"].always


def test_what_a_component_is_built_on() -> None:
    parts = shipped("torch-2.6").components
    assert find_needed(parts, ("audio",)) == ("torch",)
    assert find_needed(parts, ("audio", "torch")) == ()
    assert find_needed(parts, ()) == ()


def workspace(tmp_path: Path, *, into: str = "", profile: str = "torch-2.6") -> Workspace:
    return open_workspace(Where(profile=profile, root=str(tmp_path / "root"), into=into))


def environment(tmp_path: Path, *installed: str) -> str:
    prefix = tmp_path / "env"
    (prefix / "bin").mkdir(parents=True)
    (prefix / "bin/python").touch()
    (prefix / "pyvenv.cfg").touch()
    for name in installed:
        (prefix / f"lib/python3.11/site-packages/{name}.dist-info").mkdir(parents=True)
    return str(prefix)


def test_what_this_root_has_built_is_there(tmp_path: Path) -> None:
    stamp = tmp_path / "root/stamps/torch.install"
    stamp.parent.mkdir(parents=True)
    stamp.write_text("key\n")
    assert find_ready(workspace(tmp_path), AUDIO) == AUDIO


@pytest.mark.parametrize("version", ["2.6.0+xpu", "2.6.0+cpu", "2.6.0"])
def test_the_environment_has_its_release(tmp_path: Path, version: str) -> None:
    place = workspace(tmp_path, into=environment(tmp_path, f"torch-{version}"))
    assert find_ready(place, AUDIO).ready == ("torch",)


@pytest.mark.parametrize(
    ("installed", "said"), [((), "has none"), (("torch-2.9.1+cu128",), "has 2.9.1+cu128"), (("torch-2.6.1",), "2.6.1")]
)
def test_the_environment_has_none_or_another(tmp_path: Path, installed: tuple[str, ...], said: str) -> None:
    place = workspace(tmp_path, into=environment(tmp_path, *installed))
    with pytest.raises(NotReadyError) as raised:
        find_ready(place, replace(AUDIO, sources=(("audio", "/src/audio"),)))
    assert raised.value.message.startswith("--only audio needs torch 2.6.0+xpu, and ")
    assert said in raised.value.message
    command = f"xpusetup build torch-2.6 --root {tmp_path}/root --into {tmp_path}/env --only torch"
    assert f"{command} --only audio --source audio=/src/audio" in raised.value.fix


def test_a_root_without_torch(tmp_path: Path) -> None:
    with pytest.raises(NotReadyError, match="root has not built it") as raised:
        find_ready(workspace(tmp_path), AUDIO)
    assert raised.value.code == 3
    assert find_ready(workspace(tmp_path), replace(AUDIO, until="audio.fetch")).ready == ()


def test_a_ready_wheel_comes_along(tmp_path: Path) -> None:
    assert find_ready(workspace(tmp_path, profile="cpu-2.13"), AUDIO).ready == ()


@pytest.mark.parametrize(
    ("installed", "said"),
    [
        ((), "no torch is in it"),
        (("torch-2.13.0+cpu",), "torch 2.13.0+cpu is in it"),
        (("torch-2.6.0+xpu",), "its torch 2.6.0+xpu has XPU of its own"),
    ],
)
def test_xpu_beside_a_torch_that_cannot_take_it(tmp_path: Path, installed: tuple[str, ...], said: str) -> None:
    place = workspace(tmp_path, into=environment(tmp_path, *installed))
    with pytest.raises(NotReadyError) as raised:
        find_ready(place, Request(only=("xpu",), device="processor"))
    assert raised.value.message.endswith(f"builds for torch 2.6.0 in {tmp_path}/env, and {said}")
    assert f"{tmp_path}/env/bin/python -m pip install torch==2.6.0" in raised.value.fix


def test_xpu_beside_the_torch_of_its_release(tmp_path: Path) -> None:
    asked = Request(only=("xpu",))
    assert find_ready(workspace(tmp_path, into=environment(tmp_path, "torch-2.6.0+cu124")), asked) == asked


def test_parts_that_are_all_there_is_are_guarded_too() -> None:
    ids = [step.id for step in plan_for("sim", Request(only=("simxpu",))).steps]
    assert ids == [step.id for step in plan_for("sim").steps if not step.id.startswith("verify.")]
    assert "guard" not in [step.id for step in plan_for("sim", Request(only=("torch",))).steps]


def test_a_tool_chain_that_nobody_named_is_told_as_what_it_is(tmp_path: Path) -> None:
    where = Where(profile="torch-2.6", root=str(tmp_path / "root"), toolkit="wheels")
    (told,) = describe_takes(open_workspace(where), ADDON)
    assert told.startswith("--only xpu is always compiled by SYCL from wheels")
    assert "sycl9" not in told
    assert "sycl9" in describe_takes(open_workspace(where))[0]
