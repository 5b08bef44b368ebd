"""Builds of several components that are killed at random points, again and again: the same wheels, and nothing left."""

from __future__ import annotations

import json
import random
import shutil
import subprocess
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import psutil
import pytest

from e2e.support import PROFILE, SETUP, SOURCE, command, kill_all, make_tiny, xpusetup

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

pytestmark = [pytest.mark.e2e, pytest.mark.xdist_group("killed")]
DRAFTS = ("stamps/.*", "inputs/.*", "wheels/.*", "steps/.*", "helpers/.*", "results/.*", ".[!l]*", "lock.*", ".lock.*")


@dataclass(frozen=True)
class Pair:
    """A profile of two components, each with a repository of its own, and a caller who reaches both."""

    profile: Path
    env: Mapping[str, str]

    def words(self, root: Path) -> tuple[str, ...]:
        """Give the arguments that build it."""
        return ("build", "--profile", str(self.profile), "--root", str(root), "--verify", "off", "--json")

    def build(self, root: Path) -> dict[str, Any]:
        """Build to the end."""
        return xpusetup(*self.words(root), env=dict(self.env)).result


@pytest.fixture(scope="module")
def pair(tmp_path_factory: pytest.TempPathFactory) -> Pair:
    folder = tmp_path_factory.mktemp("killed")
    own = {"setup_py": SETUP.replace("tiny", "twin"), "twin_c": SOURCE.replace("tiny", "twin")}
    tiny, twin = make_tiny(folder / "one"), make_tiny(folder / "two", **own)
    part = PROFILE[PROFILE.index("[[components]]") :].replace("tiny", "twin")
    tiny.profile.write_text(tiny.profile.read_text() + "\n" + part.format(rev=twin.rev))
    more = {
        "GIT_CONFIG_COUNT": "3",
        "GIT_CONFIG_KEY_2": f"url.file://{twin.repository}.insteadOf",
        "GIT_CONFIG_VALUE_2": "https://twin.invalid/twin",
    }
    return Pair(tiny.profile, {**tiny.env, **more})


def kill_often(pair: Pair, folder: Path, times: int, seed: int) -> None:
    """Kill builds at random points until that was done so often; each that comes to its end gives the same wheels."""
    chance = random.Random(seed)  # noqa: S311 - no secret
    wanted, root, kills = hashes(pair.build(folder / "whole")), folder / "root", 0
    while kills < times:
        (folder / "events").unlink(missing_ok=True)
        process = subprocess.Popen(
            command(*pair.words(root), "--events", str(folder / "events")),
            env=dict(pair.env),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        time.sleep(chance.uniform(0.3, 2.0))
        if process.poll() is None:
            kill_all(process)
            kills += 1
        else:
            finish(pair, root, wanted)
            shutil.rmtree(root)
    finish(pair, root, wanted)


def hashes(result: Mapping[str, Any]) -> dict[str, str]:
    return {wheel["name"]: wheel["sha256"] for wheel in result["wheels"]}


def find_ended(events: Path) -> set[str]:
    """Give the steps that a run saw coming to their end."""
    lines = map(json.loads, events.read_text().splitlines()) if events.exists() else ()
    return {event["step"] for event in lines if event["kind"] == "end"}


def finish(pair: Pair, root: Path, wanted: Mapping[str, str]) -> None:
    """Build to the end: the same wheels, a manifest that says so, nothing that was begun, and no lock."""
    ended = find_ended(root.parent / "events")
    result = pair.build(root)
    assert hashes(result) == wanted
    assert ended <= set(result["skipped"])
    manifest = json.loads((root / "manifest.json").read_text())
    assert {wheel["name"]: wheel["sha256"] for wheel in manifest["wheels"]} == wanted
    assert set(manifest["steps"]) == {path.name for path in (root / "stamps").iterdir()}
    assert [path for pattern in DRAFTS for path in root.glob(pattern)] == []
    assert (root / "lock").read_text().strip() == ""
    assert subprocess.run(("flock", "-n", str(root / "lock"), "true"), check=False).returncode == 0
    imported = (str(root / "venv/bin/python"), "-c", "import tiny, twin, packaging, setuptools")
    assert subprocess.run(imported, check=False).returncode == 0
    assert not [
        each for each in psutil.process_iter(["cmdline"]) if f"{root}/steps" in " ".join(each.info["cmdline"] or [])
    ]


def test_a_root_that_is_moved_away(pair: Pair, tmp_path: Path) -> None:
    root = tmp_path / "root"
    process = subprocess.Popen(
        command(*pair.words(root)), env=dict(pair.env), stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
    )
    while not (root / "logs/requirements.log").exists():
        assert process.poll() is None
        time.sleep(0.05)
    root.rename(tmp_path / "moved")
    out, _ = process.communicate(timeout=60)
    error = json.loads(out)["error"]
    assert (process.returncode, error["message"].partition(" during ")[0]) == (3, f"{root} was removed or moved away")
    assert error["fix"] == "the same command begins anew there"


@pytest.mark.long
def test_killed_at_random_points(pair: Pair, tmp_path: Path) -> None:
    kill_often(pair, tmp_path, times=2, seed=1618)


@pytest.mark.long
def test_killed_at_random_points_many_times(pair: Pair, tmp_path: Path) -> None:
    kill_often(pair, tmp_path, times=200, seed=577)
