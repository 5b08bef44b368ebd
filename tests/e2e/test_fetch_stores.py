"""Fetches that are killed at any point, two at a time, from stores of all kinds, and on disks that are full."""

from __future__ import annotations

import contextlib
import os
import random
import re
import shutil
import subprocess
import time
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import psutil
import pytest

from e2e.disks import make_disk
from e2e.fetching import STORE, notes, summary
from e2e.support import kill_all, wait_until
from standins.git_server import Manner, serve
from standins.repository import run_git
from standins.superproject import Size, Super, find_rubbish, make_super, snapshot

if TYPE_CHECKING:
    from collections.abc import Iterator

    from e2e.disks import Disk

pytestmark = [pytest.mark.e2e, pytest.mark.xdist_group("fetch-stores")]


def start(upstream: Super, tree: Path, env: dict[str, str]) -> subprocess.Popen[bytes]:
    return subprocess.Popen(upstream.command(tree), env=env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def kill_often(upstream: Super, folder: Path, *, times: int) -> None:
    """Kill fetches of all kinds at random points; each time the next run ends with the very tree."""
    chance = random.Random(2718)  # noqa: S311 - no secret
    with serve(upstream.folder, Manner(rate=4e6, delay=0.005)) as server:
        env = upstream.environment(folder / "home", server)
        began = time.monotonic()
        assert upstream.fetch(folder / "whole", env).returncode == 0
        span, whole = time.monotonic() - began, snapshot(folder / "whole")
        for number in range(times):
            tree, own = folder / f"tree{number}", upstream.environment(folder / f"home{number}", server)
            kept = (env, own)[number % 2]  # a store that has it all, or one that is killed with the tree
            for _ in range(chance.choice((1, 1, 2))):
                process = start(upstream, tree, kept)
                time.sleep(chance.uniform(0, span))
                kill_all(process)
            done = upstream.fetch(tree, kept)
            assert done.returncode == 0, (number, done.stdout + done.stderr)
            assert snapshot(tree) == whole, number
            assert find_rubbish(tree, folder / f"home{number}" / STORE) == [], number
            shutil.rmtree(tree)
            shutil.rmtree(folder / f"home{number}")


@pytest.mark.long
def test_killed_at_random_points(upstream: Super, tmp_path: Path) -> None:
    kill_often(upstream, tmp_path, times=6)


@pytest.mark.long
def test_killed_at_random_points_many_times(tmp_path: Path) -> None:
    """40 submodules, 50,000 files, 200 times."""
    kill_often(make_super(tmp_path / "upstream", Size(modules=40, files=50_000)), tmp_path, times=200)


def hold_all_below(process: subprocess.Popen[bytes]) -> list[psutil.Process]:
    """Stop a process and all below it, those too that are started or end while they are listed."""
    top = psutil.Process(process.pid)
    top.suspend()
    held: list[psutil.Process] = []
    while found := [each for each in top.children(recursive=True) if each not in held]:
        for each in found:
            with contextlib.suppress(psutil.NoSuchProcess):
                each.suspend()
        held += found
    return held


def test_a_fetch_that_outlived_its_script_holds_the_store(upstream: Super, tmp_path: Path) -> None:
    """Kill the script alone: its git goes on, and the next run waits for it instead of clearing away its half pack."""
    with serve(upstream.folder, Manner(rate=60_000)) as server:
        env = upstream.environment(tmp_path / "home", server)
        process = start(upstream, tmp_path / "tree", env)
        wait_until(lambda: any((tmp_path / "home").glob(f"{STORE}/*/objects/pack/tmp_pack_*")))
        below = hold_all_below(process)  # else they may end before the next run looks: nobody hears them any more
        process.kill()
        process.wait()
        with (tmp_path / "said").open("wb") as said:
            other = subprocess.Popen(upstream.command(tmp_path / "other"), env=env, stdout=said, stderr=said)
        wait_until(lambda: b"waiting for another fetch of it" in (tmp_path / "said").read_bytes())
        for each in below:
            with contextlib.suppress(psutil.NoSuchProcess):  # ended when it was listed, and not yet waited for
                each.resume()
        assert other.wait() == 0, (tmp_path / "said").read_text()
    assert find_rubbish(tmp_path / "other", tmp_path / "home" / STORE) == []


def test_two_fetches_into_one_store(upstream: Super, wanted: dict[str, tuple[int, str]], tmp_path: Path) -> None:
    """Both end well, and nothing is fetched twice."""
    with serve(upstream.folder, Manner(rate=300_000)) as server:
        env = upstream.environment(tmp_path / "home", server)
        first, second = (start(upstream, tmp_path / name, env) for name in ("one", "two"))
        assert (first.wait(), second.wait()) == (0, 0)
        packs = [line for line in server.served.requests if line.startswith("POST")]
        once = len(packs)
        upstream.fetch(tmp_path / "alone", upstream.environment(tmp_path / "other", server))
        assert len([line for line in server.served.requests if line.startswith("POST")]) == 2 * once
    assert snapshot(tmp_path / "one") == snapshot(tmp_path / "two") == wanted


def test_a_second_root_asks_nobody(upstream: Super, wanted: dict[str, tuple[int, str]], tmp_path: Path) -> None:
    """And needs nothing of the store once it is made."""
    with serve(upstream.folder) as server:
        env = upstream.environment(tmp_path / "home", server)
        upstream.fetch(tmp_path / "first", env)
        asked = len(server.served.requests)
        done = upstream.fetch(tmp_path / "second", env)
        assert len(server.served.requests) == asked
    assert re.fullmatch(r"= [0-9a-f]{7} \| \d+ KiB from the store \| 4 submodules", summary(done))
    shutil.rmtree(tmp_path / "home")
    assert find_rubbish(tmp_path / "second") == []
    assert snapshot(tmp_path / "second") == wanted


def test_times_of_files_mean_nothing(upstream: Super, wanted: dict[str, tuple[int, str]], tmp_path: Path) -> None:
    """As after a clock that was set back, in the middle of a fetch and in the store."""
    with serve(upstream.folder) as server:
        env = upstream.environment(tmp_path / "home", server)
        upstream.fetch(tmp_path / "tree", env)
        asked = len(server.served.requests)
        (tmp_path / "tree/.git/xpusetup-moving").touch()
        (tmp_path / "tree/.git/index.lock").touch()
        for folder, time_of in ((tmp_path / "home", 1e9), (tmp_path / "tree", 2e9)):
            for path in [path for path in folder.rglob("*") if not path.is_symlink()]:
                os.utime(path, (time_of, time_of))
        for name in ("tree", "second"):
            done = upstream.fetch(tmp_path / name, env)
            assert done.returncode == 0, done.stdout + done.stderr
            assert snapshot(tmp_path / name) == wanted
            assert find_rubbish(tmp_path / name, tmp_path / "home" / STORE) == []
        assert len(server.served.requests) == asked


def test_another_commit_brings_only_what_is_new(upstream: Super, tmp_path: Path) -> None:
    """The commit after the pinned one holds one file more: one small pack comes, and says so."""
    later = replace(upstream, revs={**upstream.revs, "super": run_git(upstream.folder / "super", "rev-parse", "main")})
    with serve(upstream.folder) as server:
        env = upstream.environment(tmp_path / "home", server)
        upstream.fetch(tmp_path / "first", env)
        first = server.served.size
        done = later.fetch(tmp_path / "second", env)
        assert server.served.size - first < first / 20
    assert " of it from the store | " in summary(done)
    assert (tmp_path / "second/LATER").exists()
    assert find_rubbish(tmp_path / "second") == []


def make_read_only(folder: Path) -> None:
    """Take away the right to write, which root does not heed: an unusable lock stands for it too."""
    for path in sorted(folder.rglob("*"), reverse=True):
        path.chmod(0o555 if path.is_dir() else 0o444)
    folder.chmod(0o555)


def test_a_site_keeps_a_store_that_nobody_writes(
    upstream: Super, wanted: dict[str, tuple[int, str]], tmp_path: Path
) -> None:
    """What it has is taken from it; the rest goes into the user's own."""
    with serve(upstream.folder) as server:
        site = ("xpusetup.store", str(tmp_path / "site"))
        part = replace(upstream, revs={**upstream.revs, "super": upstream.revs["one"]})
        command = part.command(tmp_path / "part", name="one")
        subprocess.run(
            command, env=upstream.environment(tmp_path / "admin", server, site), check=True, capture_output=True
        )
        before = snapshot(tmp_path / "site")
        assert {path.name.rpartition("-")[0] for path in (tmp_path / "site").iterdir()} == {
            "fetch.invalid-one",
            "fetch.invalid-deep",
        }
        for place in (tmp_path / "site").iterdir():
            make_read_only(place)
        (tmp_path / "site").chmod(0o555)
        env = upstream.environment(tmp_path / "home", server, site)
        asked = len(server.served.requests)
        done = subprocess.run(
            as_nobody(tmp_path, *upstream.command(tmp_path / "nobody/tree")),
            env={**env, "HOME": str(tmp_path / "nobody")},
            check=False,
            capture_output=True,
            text=True,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        named = {line.split()[1].split("/")[1] for line in server.served.requests[asked:]}
    assert named == {"super", "part1", "part2"}
    assert {name: sha for name, (_, sha) in snapshot(tmp_path / "site").items()} == {
        name: sha for name, (_, sha) in before.items()
    }
    assert snapshot(tmp_path / "nobody/tree") == wanted
    assert len(list((tmp_path / "nobody" / STORE).iterdir())) == 3


def as_nobody(folder: Path, *command: str) -> tuple[str, ...]:
    """Give a command as one whom modes bind, with a home of its own below a folder; root is made to be one."""
    home = folder / "nobody"
    home.mkdir()
    if home.stat().st_uid:
        return command
    for place in (home, *(path for path in folder.parents if path != Path("/"))):
        if place == home:
            shutil.chown(home, 65534, 65534)
        else:
            place.chmod(place.stat().st_mode | 0o011)
    folder.chmod(0o755)
    return ("setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", *command)


def test_a_store_that_is_damaged_is_made_anew(
    upstream: Super, wanted: dict[str, tuple[int, str]], tmp_path: Path
) -> None:
    """A pack that lost its bytes after it was whole: it is noticed where it is read, told, and fetched again."""
    with serve(upstream.folder) as server:
        env = upstream.environment(tmp_path / "home", server)
        upstream.fetch(tmp_path / "first", env)
        for name in ("super", "deep"):
            for pack in (tmp_path / "home" / STORE).glob(f"*-{name}-*/objects/pack/*.pack"):
                pack.chmod(0o644)
                with pack.open("r+b") as stream:
                    stream.seek(pack.stat().st_size // 3)
                    stream.write(b"\0" * 4096)
        done = upstream.fetch(tmp_path / "second", env)
        assert done.returncode == 0, done.stdout + done.stderr
        assert len([note for note in notes(done) if "damaged" in note]) == 2
    assert snapshot(tmp_path / "second") == wanted
    assert find_rubbish(tmp_path / "second") == []


def test_a_tree_goes_on_to_another_commit(upstream: Super, wanted: dict[str, tuple[int, str]], tmp_path: Path) -> None:
    """And back, in the same folder; a file of one's own stops it."""
    later = replace(upstream, revs={**upstream.revs, "super": run_git(upstream.folder / "super", "rev-parse", "main")})
    tree = tmp_path / "tree"
    with serve(upstream.folder) as server:
        env = upstream.environment(tmp_path / "home", server)
        for target in (upstream, later, upstream):
            done = target.fetch(tree, env)
            assert done.returncode == 0, done.stdout + done.stderr
            assert (tree / "LATER").exists() == (target is later)
        assert snapshot(tree) == wanted
        assert find_rubbish(tree) == []
        (tree / "third_party/one/LICENSE").write_text("mine")
        done = later.fetch(tree, env)
    assert done.returncode == 1
    assert f"{tree} holds changes of your own (third_party/one)" in done.stderr
    assert (tree / "third_party/one/LICENSE").read_text() == "mine"


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Disk]:
    with make_disk(tmp_path / "small", "200k") as disk:
        yield disk


def test_a_disk_that_is_full_where_objects_are_kept(
    upstream: Super, wanted: dict[str, tuple[int, str]], tmp_path: Path, small_disk: Disk
) -> None:
    """The tree has room: it is fetched without the store."""
    with serve(upstream.folder) as server:
        env = upstream.environment(tmp_path / "home", server, ("xpusetup.store", str(small_disk.path)))
        done = upstream.fetch(tmp_path / "tree", env)
    assert done.returncode == 0, done.stdout + done.stderr
    assert snapshot(tmp_path / "tree") == wanted
    assert find_rubbish(tmp_path / "tree") == []


def test_a_disk_that_is_full_where_the_tree_is(
    upstream: Super, wanted: dict[str, tuple[int, str]], tmp_path: Path, small_disk: Disk
) -> None:
    """It says where room is missing, and goes on once there is some."""
    with serve(upstream.folder) as server:
        env = upstream.environment(tmp_path / "home", server)
        done = upstream.fetch(small_disk.path / "tree", env)
        assert done.returncode == 1
        assert f"cannot write {small_disk.path}/tree" in done.stderr
        assert "make room there" in done.stderr
        small_disk.resize("64m")
        done = upstream.fetch(small_disk.path / "tree", env)
    assert done.returncode == 0, done.stdout + done.stderr
    assert snapshot(small_disk.path / "tree") == wanted
    assert find_rubbish(small_disk.path / "tree", tmp_path / "home" / STORE) == []
