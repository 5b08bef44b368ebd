"""Fetching torch from servers that refuse, moved, lost something, or were cut off; and trees that are someone's."""

import shutil
import subprocess
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from e2e.support import by_name, kill_all, unpack
from standins.eras import Built, Eras, Stand, xpusetup
from standins.repository import run_git, write_text
from standins.upstreams import ASMJIT, TORCH, make_upstreams

pytestmark = [pytest.mark.e2e, pytest.mark.xdist_group("eras-2.14")]

PINNED = "third_party/torch-xpu-ops/cmake/BuildFlags.cmake"
NESTED = "third_party/fbgemm/external/asmjit/CMakeLists.txt"
HOOK = """#!/bin/sh
# What a server calls to pack objects: answers the first calls, then hangs until it is killed.
mkdir "{folder}/$$"
while [ -e "{folder}/hold" ] && [ "$(ls "{folder}" | wc -l)" -gt {calls} ]; do sleep 0.05; done
exec "$@"
"""


@pytest.fixture
def stand(eras: Eras) -> Stand:
    return without_store(eras.stand("torch-2.5"))


def without_store(stand: Stand) -> Stand:
    """Give the stand to a caller who keeps no objects, so that servers are asked for everything."""
    return replace(stand, upstreams=replace(stand.upstreams, store="off"))


def fetch(stand: Stand, root: Path, **more: str) -> Built:
    return stand.build(root, "--until", "torch.fetch", **more)


def is_whole(root: Path, stand: Stand) -> bool:
    tree = root / "src/torch"
    head = run_git(tree, "rev-parse", "HEAD")
    return head == stand.upstreams.revs["torch"] and (tree / NESTED).exists() and (tree / PINNED).exists()


def test_a_server_that_refuses_commits(stand: Stand, tmp_path: Path) -> None:
    strict = make_upstreams(tmp_path / "upstreams", release="2.5", refuse_sha=True)
    assert fetch(replace(stand, upstreams=strict), tmp_path / "root").result["ran"] == ["torch.fetch"]
    assert is_whole(tmp_path / "root", stand)


def test_a_confirmed_tag_that_moved(stand: Stand, tmp_path: Path) -> None:
    moved = shutil.copytree(stand.upstreams.repos[TORCH], tmp_path / "moved.git")
    run_git(moved, "tag", "--force", "v2.5.1", "main")
    upstreams = replace(stand.upstreams, repos={**stand.upstreams.repos, TORCH: moved})
    said = fetch(replace(stand, upstreams=upstreams), tmp_path / "root").failure
    assert f"v2.5.1 of {TORCH} points at {run_git(moved, 'rev-parse', 'main')}" in said
    assert f"the profile pins {stand.upstreams.revs['torch']} (confirmed)" in said


def test_a_likely_tag_that_moved_is_told_with_the_command_that_takes_it_over(eras: Eras, tmp_path: Path) -> None:
    stand = eras.stand("torch-2.14")
    moved = shutil.copytree(stand.upstreams.repos[TORCH], tmp_path / "moved.git")
    run_git(moved, "tag", "--force", "v2.14.1", "main")
    tip, pin = run_git(moved, "rev-parse", "main"), stand.upstreams.revs["torch"]
    other = replace(stand, upstreams=replace(stand.upstreams, repos={**stand.upstreams.repos, TORCH: moved}))
    built = fetch(other, tmp_path / "root")
    assert run_git(built.root / "src/torch", "rev-parse", "HEAD") == pin
    assert f"points at {tip}, and the profile pins {pin} (likely)" in " ".join(built.progress.split())
    assert "--rev torch=v2.14.1 (xpusetup profiles lock)" in " ".join(built.progress.split())
    locked = other.build(tmp_path / "locked", "--rev", "torch=v2.14.1", "--until", "torch.fetch")
    assert run_git(locked.root / "src/torch", "rev-parse", "HEAD") == tip


def test_a_submodule_that_is_gone(stand: Stand, tmp_path: Path) -> None:
    repos = {url: path for url, path in stand.upstreams.repos.items() if url != ASMJIT}
    built = fetch(replace(stand, upstreams=replace(stand.upstreams, repos=repos)), tmp_path / "root")
    assert "external/asmjit" in built.failure
    assert built.document["result"]["failure"]["causes"][0]["phase"] in {"clone", "submodule"}
    assert "xpusetup: " in built.failure
    assert fetch(stand, tmp_path / "root").result["ran"] == ["torch.fetch"]
    assert is_whole(tmp_path / "root", stand)


@pytest.mark.long
def test_a_second_root_takes_its_source_from_the_store(stand: Stand, tmp_path: Path) -> None:
    """Run here, by hand in the shell form, and not at all where the site says so."""
    keeping = replace(stand, upstreams=replace(stand.upstreams, store=f"{tmp_path}/store"))
    cache = {"XDG_CACHE_HOME": f"{tmp_path}/cache"}  # the store of whoever runs the tests is looked at as well
    found = []
    for name, site in (("first", ""), ("second", ""), ("third", '[network]\ngit_store = "off"\n')):
        assert fetch(keeping, tmp_path / name, site=site, **cache).result["ran"] == ["torch.fetch"]
        found.append(summary(tmp_path / name / "logs/torch.fetch.log"))
    assert [" from the store" in line for line in found] == [False, True, False]
    assert keeping.call("emit shell", "-o", tmp_path / "form").returncode == 0
    script = ("bash", f"{unpack(tmp_path / 'form')}/steps/torch.fetch.sh")
    done = subprocess.run(script, env=keeping.environment(**cache), check=True, capture_output=True, text=True)
    assert " from the store" in done.stdout
    assert all(is_whole(tmp_path / name, stand) for name in ("first", "second", "third", "form"))


def summary(log: Path) -> str:
    return [line for line in log.read_text().splitlines() if line.startswith("= ")][-1]


@pytest.mark.parametrize("change", ["a file", by_name("a file of a submodule"), "a commit"])
def test_a_tree_of_the_users_own_is_not_touched(stand: Stand, tmp_path: Path, change: str) -> None:
    root = fetch(stand, tmp_path / "root").root
    name = {"a file of a submodule": "third_party/fmt/CMakeLists.txt"}.get(change, "CMakeLists.txt")
    mine = root / "src/torch" / name
    mine.write_text("# my own work\n")
    if change == "a commit":
        run_git(root / "src/torch", "commit", "--quiet", "--all", "--message", "mine")
    (root / "stamps/torch.fetch").unlink()
    said = fetch(stand, root).failure
    assert mine.read_text() == "# my own work\n"
    assert ("a commit of your own choice" if change == "a commit" else "changes of your own") in said


def wait_for(what: Callable[[], bool]) -> None:
    end = time.monotonic() + 120
    while not what():
        assert time.monotonic() < end, "nothing happened"
        time.sleep(0.05)


@pytest.mark.parametrize("calls", [by_name(1), by_name(4), 8], ids=["torch", "submodules", "torch-xpu-ops"])
def test_a_fetch_that_was_killed_goes_on(stand: Stand, tmp_path: Path, calls: int) -> None:
    folder = tmp_path / "calls"
    write_text(folder / "hold", "")
    write_text(tmp_path / "hook", HOOK.format(folder=folder, calls=calls))
    (tmp_path / "hook").chmod(0o755)
    write_text(tmp_path / "gitconfig", f"[uploadpack]\n\tpackObjectsHook = {tmp_path}/hook\n")
    more = {"GIT_CONFIG_GLOBAL": f"{tmp_path}/gitconfig"}
    command = (
        xpusetup(),
        "build",
        "--profile",
        str(stand.profile),
        "--root",
        f"{tmp_path}/root",
        "--until",
        "torch.fetch",
    )
    with subprocess.Popen(command, env=stand.environment(**more), stdout=subprocess.DEVNULL) as process:
        wait_for(lambda: len(list(folder.iterdir())) > calls)
        kill_all(process)
    assert not (tmp_path / "root/stamps/torch.fetch").exists()
    (folder / "hold").unlink()
    assert fetch(stand, tmp_path / "root", **more).result["ran"] == ["torch.fetch"]
    assert is_whole(tmp_path / "root", stand)
