"""`--take COMPONENT=HOW`: every release's Triton from source, as the published wheel, or left out."""

from __future__ import annotations

import json
import signal
import sys
from typing import TYPE_CHECKING, Any

import pytest

from data.plans import locked, plan_of
from data.profiles import FROM_SOURCE, SHIPPED, shipped, taken, ways
from xpusetup.base.errors import UsageError
from xpusetup.base.model import FoundRef, Layout, Request
from xpusetup.cli import main
from xpusetup.commands.emit import EmitOrder, emit
from xpusetup.config.lock import CommitFiles, files_to_read, make_lock
from xpusetup.config.profile import SkippedComponent, SourceComponent, WheelComponent
from xpusetup.config.take import parse_takes, take_parts, ways_of
from xpusetup.plan.steps import make_plan
from xpusetup.run.prepare import asking_words, describe_takes
from xpusetup.run.root import lock_document
from xpusetup.run.workspace import Where, open_built, open_workspace

if TYPE_CHECKING:
    from pathlib import Path

    from xpusetup.base.model import Plan, Step
    from xpusetup.config.profile import Component, Profile

TORCH = tuple(name for name in SHIPPED if name.startswith("torch-"))
EVERY = ("source", "wheel", "skip")
WAYS = {name: {*EVERY} for name in FROM_SOURCE} | {
    "torch-2.4": {"source", "skip"},
    "torch-2.5": {*EVERY},
    "torch-2.15": {"wheel", "skip"},
    "main": {*EVERY},
}
"""No wheel was published of 2.4's Triton; how that of 2.15 is built could not be read; main begins with 2.14's."""
PINS = {
    "torch-2.6": ("e98b6fcb8df5", "python", "4ad870d1", "1a1bf17d9e86"),
    "torch-2.7": ("b0e26b7359c1", "python", "1188b1ff", "4eea290c449f"),
    "torch-2.8": ("ae324eeac8e1", ".", "e12cbd83", "96f5ade29c90"),
    "torch-2.9": ("1b0418a9a454", ".", "57088512", "9413a66e04ba"),
    "torch-2.10": ("225cdbde3ea1", ".", "f6ded0be", "daba8b217bc2"),
    "torch-2.11": ("64bb0de394fe", ".", "0729a74e", "64b7a078f6a8"),
    "torch-2.12": ("432512b432bd", ".", "20902f0b", "787f1e76eade"),
    "torch-2.13": ("5fcc14d91804", ".", "87717bf9", "f417c2db8409"),
    "torch-2.14": ("1e2d42a0b9ef", ".", "62b7cf96", "38a315ed3cc0"),
}
"""Commit, folder of setup.py, LLVM and translator, as Triton's own tree names them."""


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("XPUSETUP_SYSROOT", str(tmp_path / "nothing"))
    return tmp_path


def triton(profile: Profile) -> Component:
    (part,) = (part for part in profile.components if part.name == "triton")
    return part


def from_source(name: str) -> SourceComponent:
    part = triton(taken(name, triton="source"))
    assert isinstance(part, SourceComponent)
    return part


def step(plan: Plan, name: str) -> Step:
    return next(each for each in plan.steps if each.id == name)


def of_triton(plan: Plan) -> list[str]:
    return [each.id for each in plan.steps if each.component == "triton"]


@pytest.mark.parametrize("name", WAYS)
def test_in_which_ways_a_release_has_its_triton(name: str) -> None:
    """The profile's own comes first, and asking for that changes nothing."""
    profile = shipped(name)
    found = ways_of(profile, triton(profile), ways())
    assert set(found) == WAYS[name]
    assert next(iter(found)) == triton(profile).kind
    assert take_parts(profile, {"triton": triton(profile).kind}, ways()).notes == ()
    assert taken(name, triton=triton(profile).kind) == profile


def test_every_release_is_looked_at() -> None:
    assert set(WAYS) == {*TORCH, "main"}
    assert set(ways()["triton"].of) == {triton(shipped(name)).version for name in FROM_SOURCE}  # type: ignore[union-attr]


@pytest.mark.parametrize("name", WAYS)
@pytest.mark.parametrize("how", EVERY)
def test_a_plan_for_each_value(name: str, how: str) -> None:
    if how not in WAYS[name]:
        with pytest.raises(UsageError, match=rf"triton of {name} cannot be ") as caught:
            taken(name, triton=how)
        assert caught.value.fix.endswith(", ".join(f"--take triton={each}" for each in EVERY if each in WAYS[name]))
        return
    plan = plan_of(locked(taken(name, triton=how)))
    steps = {"source": ["fetch", "build", "inspect", "install"], "wheel": ["fetch", "install"], "skip": []}
    assert of_triton(plan) == [f"triton.{each}" for each in steps[how]]
    skipped = "models.infer_compiled" in step(plan, "verify.smoke").run[0]
    assert skipped == (how == "skip")


@pytest.mark.parametrize("name", FROM_SOURCE)
def test_it_is_pinned_as_its_tree_says(name: str) -> None:
    part = from_source(name)
    vendored = {item.name: (item.rev or "")[:12] for item in part.vendored}
    (llvm,) = part.archives
    digits = llvm.url.rpartition("/llvm-")[2][:8]
    assert ((part.rev or "")[:12], part.directory, digits, vendored["spirv-llvm-translator"]) == PINS[name]
    assert set(vendored) == {"spirv-llvm-translator", "spirv-headers"}
    wheel = triton(shipped(name))
    assert isinstance(wheel, WheelComponent)
    assert part.version == f"{wheel.version}+git{(part.rev or '')[:8]}"
    assert (part.distribution, part.pin_file) == (wheel.distribution, wheel.pin_file)
    assert (llvm.sha256 is None) == (name != "torch-2.14")
    assert llvm.pin_file == ("cmake/llvm-info.json" if name == "torch-2.14" else "cmake/llvm-hash.txt")
    assert (llvm.confidence, bool(llvm.reason)) == (("confirmed", False) if llvm.sha256 else ("unconfirmed", True))


@pytest.mark.parametrize("name", FROM_SOURCE)
def test_its_build_is_told_all_that_it_would_fetch(name: str) -> None:
    plan, part = plan_of(taken(name, triton="source")), from_source(name)
    build = step(plan, "triton.build")
    assert "network" not in build.needs
    assert build.cwd == ("@ROOT@/src/triton/python" if part.directory == "python" else "@ROOT@/src/triton")
    env = dict(build.env)
    assert env["TRITON_WHEEL_NAME"] == part.distribution
    assert env["LLVM_SYSPATH"] == "@ROOT@/src/triton.llvm"
    assert env["TRITON_HOME"] == "build"
    assert any("SPIRV-LLVM-Translator" in value for key, value in env.items() if key.startswith("GIT_CONFIG_VALUE_"))
    assert "@ROOT@/src/triton.llvm/.archive" in step(plan, "triton.fetch").makes


@pytest.mark.parametrize("name", FROM_SOURCE)
def test_torch_is_not_built_again_for_it(name: str) -> None:
    """What torch requires names the public version, which both forms have."""
    wheel, source = (step(plan_of(taken(name, triton=how)), "torch.build") for how in ("wheel", "source"))
    assert wheel == source
    left = dict(step(plan_of(taken(name, triton="skip")), "torch.build").env)
    assert not any("triton" in value for key, value in left.items() if key.endswith("REQUIREMENTS"))


def test_what_is_left_out_says_what_that_costs() -> None:
    found = take_parts(shipped("torch-2.14"), {"triton": "skip", "audio": "skip"}, ways())
    assert found.notes == (
        "triton is left out, as --take asks: torch.compile has no code generator for Intel GPUs",
        "audio is left out, as --take asks: what needs it finds none",
    )
    part = triton(found.profile)
    assert isinstance(part, SkippedComponent)
    assert part.distribution == "triton-xpu"


def test_any_part_that_nothing_builds_on() -> None:
    """It is no rule of Triton's: a published wheel can stand for torchvision too."""
    found = plan_of(taken("torch-2.14", vision="wheel"))
    assert [each.id for each in found.steps if each.component == "vision"] == ["vision.fetch", "vision.install"]
    assert "torchvision==0.29.1+xpu" in " ".join(
        f"{part.distribution}=={part.version}"
        for part in taken("torch-2.14", vision="wheel").components
        if part.kind == "wheel"
    )
    for how in ("skip", "wheel"):
        with pytest.raises(UsageError, match="vision, audio, the run-time requirements build on it"):
            taken("torch-2.14", torch=how)
    with pytest.raises(UsageError, match="has no component 'trion'") as caught:
        taken("torch-2.14", trion="skip")
    assert caught.value.fix == "it has: torch, triton, vision, audio"


def test_a_profile_that_leaves_it_out_has_no_other_way() -> None:
    left = taken("torch-2.14", triton="skip")
    assert take_parts(left, {"triton": "skip"}, ways()).profile == left
    with pytest.raises(UsageError, match="the profile leaves it out"):
        take_parts(left, {"triton": "source"}, ways())


@pytest.mark.parametrize("words", [["triton"], ["=wheel"], ["triton=fish"], ["triton=source", "triton=skip"]])
def test_words_that_mean_nothing(words: list[str]) -> None:
    with pytest.raises(UsageError, match="--take") as caught:
        parse_takes(words)
    assert caught.value.fix.count("--take") > 1
    assert parse_takes(["triton=source", "triton=source"]) == {"triton": "source"}


@pytest.mark.parametrize("command", ["plan", "build", "emit shell -o out", "dockerfile -o out", "bundle create b.tar"])
def test_every_command_that_plans_refuses_what_cannot_be(
    command: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    words = ["xpusetup", *command.split(), "--profile", "torch-2.15", "--take", "triton=source", "--json"]
    monkeypatch.setattr(sys, "argv", words)
    before = signal.getsignal(signal.SIGTERM)
    with pytest.raises(SystemExit) as ended:
        main()
    signal.signal(signal.SIGTERM, before)
    assert ended.value.code == 2
    error = json.loads(capsys.readouterr().out)["error"]
    assert "how triton-xpu 3.9.0 is built is not known" in error["message"]
    assert error["fix"].endswith("--take triton=wheel, --take triton=skip")


def test_a_tree_of_the_users_own_says_its_version_itself() -> None:
    """Its commit is another, and so is the version that it makes."""
    profile = taken("torch-2.14", triton="source")
    target = plan_of(profile).target
    plan = make_plan(profile, Request(sources=(("triton", "/me/triton"),)), target, Layout())
    assert step(plan, "triton.build").makes == ("@ROOT@/wheels/triton_xpu-*-*.whl",)
    assert "network" not in step(plan, "triton.build").needs
    assert step(plan, "triton.build").cwd == "/me/triton"


SETUP = {
    "3.4": 'TRITON_VERSION = "3.9.1" + get_triton_version_suffix()\n',
    "3.3": 'setup(\n    version="3.9.1" + get_git_version_suffix(),\n',
}


@pytest.mark.parametrize("text", [*SETUP.values(), None])
def test_a_lock_takes_the_version_of_the_tree_that_it_names(text: str | None) -> None:
    """As `main` with its Triton from source: the commit is that of the torch tree, the version that of Triton's."""
    rev, base = "c" * 40, taken("torch-2.14", triton="source")
    assert "setup.py" in files_to_read(base, "triton")
    tree = CommitFiles(FoundRef(rev), rev, {"setup.py": text})
    part = triton(make_lock(base, {"triton": tree}, "2026-11-23").profile)
    assert isinstance(part, SourceComponent)
    assert (part.rev, part.version) == (rev, f"{'3.9.1' if text else '3.8.0'}+gitcccccccc")


# What a root remembers, and what is said of it.


def make_root(path: Path, take: tuple[str, ...]) -> Path:
    asked = open_workspace(Where(profile="torch-2.14", root=str(path), take=take))
    path.mkdir()
    target = plan_of(asked.profile).target
    (path / "profile.lock.json").write_text(lock_document(asked.profile, target, Layout(), {}, **asked.known))
    return path


def test_a_root_knows_in_which_way_its_parts_were_taken(here: Path) -> None:
    root = str(make_root(here / "r", ("triton=source",)))
    found = open_workspace(Where(root=root))
    assert (found.takes, triton(found.profile).kind) == ({"triton": "source"}, "source")
    assert asking_words(found) == ("--take", "triton=source")
    assert triton(open_workspace(Where(root=root, take=("triton=wheel",))).profile).kind == "wheel"
    assert triton(open_workspace(Where(root=root, profile="torch-2.14")).profile).kind == "wheel"
    built = open_built(Where(root=root, profile="torch-2.14"))
    assert (triton(built.profile).kind, built.chosen_by) == ("source", "--profile")
    assert triton(open_built(Where(root=root, profile="torch-2.9")).profile).kind == "wheel"


def said(**where: Any) -> tuple[str, ...]:
    return describe_takes(open_workspace(Where(**where)))


def test_what_a_plan_and_a_build_say_of_it() -> None:
    assert said(profile="torch-2.14", take=("triton=source", "audio=skip")) == (
        "triton is built from source, as --take asks: triton-xpu 3.8.0+git1e2d42a0",
        "audio is left out, as --take asks: what needs it finds none",
    )
    (free,) = said(profile="torch-2.9", take=("triton=source",))
    assert free.endswith("; nobody published the hash of llvm-57088512-almalinux-x64.tar.gz")


def test_what_an_earlier_build_left_is_said(here: Path) -> None:
    (here / "r/stamps").mkdir(parents=True)
    (here / "r/stamps/triton.install").write_text("key\n")
    left = said(profile="torch-2.14", root=str(here / "r"), take=("triton=skip",))[-1]
    assert left.endswith(f"{here}/r/venv/bin/python -m pip uninstall --yes triton-xpu")


def test_published_wheels_are_taken_as_they_are(here: Path) -> None:
    order = EmitOrder(
        places=(Where(profile="torch-2.14", root=str(here / "out"), take=("triton=skip",)),),
        request=Request(),
        options={"from": "wheels"},
    )
    with pytest.raises(UsageError, match="--take does nothing here"):
        emit("dockerfile", order, str(here / "out"))


@pytest.mark.parametrize("name", [*TORCH, "main"])
def test_what_triton_imports_is_there(name: str) -> None:
    """Its back end for Intel GPUs imports pyelftools from 3.6 on, and is installed without what it requires."""
    profile = shipped(name)
    version = next(part.version for part in profile.components if part.name == "triton" and part.kind != "skip")
    needs = tuple(map(int, version.split("+")[0].split(".")[:2])) >= (3, 6)
    assert any(pin.startswith("pyelftools==") for pin in profile.build_requirements.pins) == needs
