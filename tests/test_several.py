"""status of a folder of builds: one row for each, from files alone."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any

import pytest

from data.profiles import shipped
from data.targets import SIM, TARGETS, plan_for
from xpusetup.base.model import Layout
from xpusetup.commands.list import BuildList, list_of
from xpusetup.run.root import LOCKED, lock_document
from xpusetup.system.files import hash_file

if TYPE_CHECKING:
    from pathlib import Path

    from in_process import Program
    from xpusetup.commands.result import Result


@pytest.fixture(autouse=True)
def sizes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Measure nothing: that starts du."""
    monkeypatch.setattr("xpusetup.commands.list.measure", lambda _path: 1 << 20)


def make_root(folder: Path, name: str) -> Path:
    root = folder / name
    for part in ("steps", "stamps", "results", "wheels"):
        (root / part).mkdir(parents=True)
    for step in plan_for(name).steps:
        (root / f"steps/{step.id}.sh").touch()
    (root / "profile.lock.json").write_text(lock_document(shipped(name), TARGETS.get(name, SIM), Layout(), {}))
    return root


def stamp(root: Path, step: str, *made: Path) -> None:
    lines = [f"{hash_file(path)} {path.stat().st_size} 1.000000000 1.000000000 1 {path}" for path in made]
    (root / f"stamps/{step}").write_text("\n".join(["key", *lines]) + "\n")


def several(folder: Path) -> Result[BuildList]:
    return list_of("status", folder)


def test_rows(tmp_path: Path) -> None:
    done, failed = make_root(tmp_path, "sim"), make_root(tmp_path, "torch-2.5")
    wheel = done / "wheels/simxpu-1.0.0-py3-none-any.whl"
    wheel.write_text("a wheel")
    for step in plan_for("sim").steps:
        stamp(done, step.id, *([wheel] if step.id == "simxpu.build" else []))
    (done / "results/verify.json").write_text(json.dumps({"verified": True}))
    (failed / "failed").write_text("torch.build\n")
    (tmp_path / "results").mkdir()
    result = several(tmp_path)
    one, two = result.data.builds
    assert result.code == 1
    assert (one.name, one.done, one.steps, one.verified, one.failed) == ("sim", 10, 10, True, None)
    assert [wheel.name for wheel in one.wheels] == ["simxpu"]
    assert (two.name, two.done, two.verified, two.failed) == ("torch-2.5", 0, None, "torch.build")
    wheel.write_text("another")
    assert "was changed" in several(tmp_path).data.builds[0].damaged["simxpu.build"]


def test_scripts_of_another_command_are_no_steps_of_the_build(tmp_path: Path) -> None:
    """After `bundle create` in its root a whole build was said to lack two steps."""
    root = make_root(tmp_path, "sim")
    lock = json.loads((root / LOCKED).read_text())
    names = sorted(path.stem for path in (root / "steps").glob("*.sh"))
    (root / LOCKED).write_text(json.dumps({**lock, "steps": names}))
    (root / "steps/bundle.wheels.sh").write_text("")
    assert several(tmp_path).data.builds[0].steps == len(names)


def test_a_verification_that_did_not_end_well_is_none(tmp_path: Path) -> None:
    root = make_root(tmp_path, "sim")
    for step in plan_for("sim").steps[:-1]:
        stamp(root, step.id)
    (root / "results/verify.json").write_text(json.dumps({"verified": True}))
    assert several(tmp_path).data.builds[0].verified is False


def test_a_lock_that_cannot_be_read_is_no_row(tmp_path: Path) -> None:
    make_root(tmp_path, "sim")
    (tmp_path / "broken").mkdir()
    (tmp_path / "broken/profile.lock.json").write_text("{")
    assert [row.name for row in several(tmp_path).data.builds] == ["sim"]


def close(python: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Make a file one that this user may see and not look at, as a link that leads into a closed home."""
    closed, stat = str(python), os.stat

    def refuse(path: Any, **words: Any) -> os.stat_result:
        if str(path) == closed and words.get("follow_symlinks", True):
            raise PermissionError(13, "Permission denied", closed)
        return stat(path, **words)

    monkeypatch.setattr(os, "stat", refuse)


@pytest.mark.parametrize("words", ["status", "run -- python", "env", "verify"])
def test_a_python_that_is_closed_is_told_with_what_its_owner_does(
    words: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, program: Program
) -> None:
    """It said `ls -ld /root`, which mends nothing."""
    root = make_root(tmp_path, "sim")
    (root / "venv/bin").mkdir(parents=True)
    (root / "venv/bin/python").symlink_to("/closed/bin/python3")
    close(root / "venv/bin/python", monkeypatch)
    verb, *more = words.split()
    ran = program(" ".join((verb, "--root", str(root), *more)))
    assert (ran.code, ran.out) == (3, "")
    assert "venv/bin/python leads to /closed/bin/python3, which is closed to you" in ran.err
    assert f"xpusetup build sim --root {root} --python PATH" in ran.err


def test_a_python_that_is_closed_marks_its_build_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """On a shared root `list` failed as a whole: the environment's Python was a link to one below /root."""
    for name in ("sim", "torch-2.5"):
        (make_root(tmp_path, name) / "venv/bin").mkdir(parents=True, exist_ok=True)
        (tmp_path / name / "venv/bin/python").touch()
    close(tmp_path / "torch-2.5/venv/bin/python", monkeypatch)
    one, two = several(tmp_path).data.builds
    assert (one.damaged, list(two.damaged)) == ({}, ["venv"])
    assert "closed to you" in two.damaged["venv"]
