"""Who reads nothing but README reaches a verified demo in a clean Debian 12 by copying its lines, one after the other.

On Debian 13 it ends so too where an index has that torch for its Python, else by naming the index.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from e2e.support import copy_checkout
from pages import ALL

if TYPE_CHECKING:
    import subprocess
    from pathlib import Path

    from e2e.roots import DebianRoot

pytestmark = [pytest.mark.e2e, pytest.mark.long, pytest.mark.xdist_group("follower")]
PACKAGES = "pipx python3-venv python3-dev git g++ make"
LINES = [line for block in ALL if block.page == "README.md" for line in block.commands()]
NOT_HERE = ("sudo ", "xpusetup setup", "xpusetup install", "make test", "python3.11 ", "xpusetup build 2.6 ")
"""Lines for root, for a GPU and gigabytes of room for torch; and the one that runs this test."""
CLONE = """
cd /srv/xpusetup && git init -q && git add -A && git -c user.name=a -c user.email=a@b.invalid commit -qm one
git clone -q /srv/xpusetup ~/xpusetup
rm -r /opt/xpusetup /usr/local/bin/xpusetup
"""
"""The repository as it would be cloned from its address, and nothing of this program beside it."""


def read_to_the_end(root: DebianRoot) -> dict[str, subprocess.CompletedProcess[str]]:
    """Copy the lines of README in a clean root; give how each ended."""
    copy_checkout(root.place / "changes/srv/xpusetup")
    root.do(f"apt-get -q update && apt-get -qy install {PACKAGES}")
    root.do(CLONE)
    ended = {}
    for line in LINES:
        if not line.startswith(NOT_HERE):
            ended[line] = root.enter("bash", "-c", f"cd ~/xpusetup && {line}")
            assert "Traceback" not in ended[line].stderr, ended[line].stderr
    return ended


def test_debian_12(debian_roots: dict[str, DebianRoot], tmp_path: Path) -> None:
    root = debian_roots["bookworm"].above(tmp_path)
    ended = read_to_the_end(root)
    assert [line.split()[0] for line in ended] == ["pipx", "make"]
    assert {line: done.stderr[-2000:] for line, done in ended.items() if done.returncode} == {}
    assert root.do("~/.local/bin/xpusetup --version").startswith("xpusetup ")
    assert "verified on simxpu (simulated, host memory): " in ended["make demo"].stdout
    told = json.loads(root.do("cd ~/xpusetup && .venv/bin/xpusetup status sim --json"))
    assert told["result"]["verified"] is True


def test_debian_13(debian_roots: dict[str, DebianRoot], tmp_path: Path) -> None:
    done = read_to_the_end(debian_roots["trixie"].above(tmp_path))["make demo"]
    said = done.stdout + done.stderr
    assert done.returncode == 0 or ("a package index cannot be reached" in said and "Fix " in said), said[-3000:]
    assert (done.returncode == 0) == ("verified: the device computes" in said)
