"""A disk that is full in every step of a build: it is said, nothing half counts as whole, and the next run goes on."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from e2e.disks import make_disk
from e2e.support import Said, make_tiny, xpusetup
from standins.eras import SITES

if TYPE_CHECKING:
    from pathlib import Path

    from e2e.disks import Disk
    from standins.eras import Eras

pytestmark = [pytest.mark.e2e, pytest.mark.xdist_group("full-disk")]
KIB = 1 << 10
MIB = 1 << 20
LEFT = {
    "venv": 4 * MIB,
    "requirements": MIB // 4,
    "tiny.fetch": 4 * KIB,
    "tiny.build": 16 * KIB,
    "tiny.inspect": 4 * KIB,
    "tiny.install": 16 * KIB,
    "guard": 4 * KIB,
}
"""What is left when a step begins: enough for its script and a page of its log, too little for what it does."""
SERIES = [4 * KIB, 64 * KIB, MIB, 16 * MIB]


def check_message(said: Said, disk: Disk) -> None:
    """Look for what is full, which a failed step and a machine that is not ready say alike."""
    document = said.document
    assert not document["ok"]
    if said.code == 3:
        assert "No space left on device" in document["error"]["message"]
        assert f"{disk.path} has " in document["error"]["message"]
        return
    assert said.code == 1
    failure = document["result"]["failure"]
    assert len(failure["full"]) == 1, json.dumps(failure, indent=1)
    (full,) = failure["full"]
    assert full["path"] == str(disk.path)
    assert full["says"].startswith(f"{disk.path} has ")


@pytest.mark.long
def test_in_each_step(tmp_path: Path) -> None:
    tiny = make_tiny(tmp_path / "tiny")

    def build(root: Path, *words: str) -> Said:
        return xpusetup("build", *tiny.options(root), "--verify", "off", "--json", *words, env=tiny.env)

    wanted = build(tmp_path / "ample").result["wheels"][0]["sha256"]
    with make_disk(tmp_path / "small", "64m") as disk:
        root = disk.path / "root"
        with disk.leaving(0):
            check_message(build(root), disk)
        for step, left in LEFT.items():
            with disk.leaving(left):
                said = build(root)
            check_message(said, disk)
            assert said.document["result"]["failed"] == step
            assert build(root, "--until", step).code == 0
        assert build(root).result["wheels"][0]["sha256"] == wanted
        check_whole(root)
        with disk.leaving(0):
            assert build(root).result["ran"] == []


@pytest.mark.long
def test_while_temporary_files_are_written(tmp_path: Path) -> None:
    """The compiler's own: the build folder has room."""
    tiny = make_tiny(tmp_path / "tiny")
    with make_disk(tmp_path / "small", "64m") as disk:
        words = ("build", *tiny.options(tmp_path / "root"), "--verify", "off", "--launcher", "none", "--json")
        env = {**tiny.env, "TMPDIR": str(disk.path)}
        assert xpusetup(*words, env=env).code == 0
        words = (*words, "--set", "tiny.TINY_SLEEP=0")
        with disk.leaving(8 * KIB):
            said = xpusetup(*words, env=env)
        check_message(said, disk)
        assert said.document["result"]["failed"] == "tiny.build"
        assert xpusetup(*words, env=env).code == 0


@pytest.mark.long
@pytest.mark.xdist_group("eras-2.5")
def test_in_each_step_of_a_release(eras: Eras, tmp_path: Path) -> None:
    """A stand-in of torch 2.5 with configure, runtime and collected wheels, and less and less that lacks."""
    stand = eras.stand("torch-2.5")
    wanted = {wheel["sha256"] for wheel in eras.built("torch-2.5").result["wheels"]}
    with make_disk(tmp_path / "small", "1g") as disk:
        root = disk.path / "root"
        planned = stand.call("plan", "--root", root, "--json", site=SITES["torch-2.5"])
        for step in [step["id"] for step in json.loads(planned.stdout)["result"]["steps"]]:
            done = False
            for left in SERIES:
                with disk.leaving(left):
                    said = stand.build(root, "--until", step, site=SITES["torch-2.5"])
                done = said.code == 0
                if done:
                    break
                check_message(Said(said.code, json.dumps(said.document), said.progress), disk)
            assert done or stand.build(root, "--until", step, site=SITES["torch-2.5"]).code == 0
        assert {wheel["sha256"] for wheel in stand.build(root, site=SITES["torch-2.5"]).result["wheels"]} == wanted
        check_whole(root)


def check_whole(root: Path) -> None:
    """Compare the manifest with the stamps, and look for what attempts left."""
    manifest = json.loads((root / "manifest.json").read_text())
    stamps = {path.name for path in (root / "stamps").iterdir()}
    assert set(manifest["steps"]) == stamps
    assert [path for path in (root / "inputs").iterdir() if path.name.startswith(".")] == []
    assert not list((root / "helpers").glob("**/__pycache__"))
    for line in (root / "journal.jsonl").read_text().splitlines():
        assert json.loads(line)["step"]
