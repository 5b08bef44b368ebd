"""The tutorials to their end, line by line as their readers type them.

docs/start-developer.md and docs/start-cluster.md build and verify for real, the latter without a network and through
a real Slurm. docs/start-card.md has stand-ins for the driver's packages and for the wheels: there is no card here.
"""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from e2e.cluster import start_cluster
from e2e.support import caller
from e2e.test_install import index_only, profile_of
from e2e.test_setup import make_machine
from pages import ALL
from standins.published import make_index

if TYPE_CHECKING:
    from e2e.fixtures import Demo

pytestmark = [pytest.mark.e2e, pytest.mark.long, pytest.mark.xdist_group("demo")]
HERE = "tests/e2e/test_tutorials.py"
PROGRAM = f'#!/bin/sh\nexec {sys.executable} -m xpusetup "$@"\n'


@dataclass
class Reader:
    """Someone who copies the lines of a page into a shell, and what that said to each."""

    page: str
    env: dict[str, str]
    folder: Path
    said: list[tuple[str, int, str]] = field(default_factory=list)

    def copy(self, lines: slice = slice(None), *before: str) -> str:
        """Run lines of the page behind other words; give what they said, all together."""
        out = ""
        for line in lines_of(self.page)[lines]:
            words = (*before, "bash", "-c", line)
            done = subprocess.run(words, cwd=self.folder, env=self.env, check=False, capture_output=True, text=True)
            self.said.append((line, done.returncode, done.stdout + done.stderr))
            out += done.stdout + done.stderr
        return out

    @property
    def codes(self) -> list[int]:
        """The exit code of each line."""
        return [code for _line, code, _said in self.said]


def lines_of(page: str) -> list[str]:
    """Give the lines of a page that are marked as run here."""
    return [
        line for block in ALL if (block.page, block.why) == (page, HERE) for line in block.text.splitlines() if line
    ]


def put_program(folder: Path) -> str:
    """Write `xpusetup` of this checkout into a folder, and give that as the head of a PATH."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "xpusetup").write_text(PROGRAM)
    (folder / "xpusetup").chmod(0o755)
    return f"{folder}:"


def test_developer(demo: Demo, tmp_path: Path) -> None:
    env = {**demo.env, "PATH": put_program(tmp_path / "bin") + demo.env["PATH"]}
    reader = Reader("docs/start-developer.md", env, tmp_path)
    reader.copy()
    codes = dict(zip(lines_of(reader.page), reader.codes, strict=True))
    verify = "xpusetup verify dev --only numbers"
    assert [code for line, code in codes.items() if line != verify] == [0] * (len(codes) - 1), reader.said
    numbers = [said for line, _code, said in reader.said if "print(a @ a)" in line]
    assert ["2.1000" in said for said in numbers] == [False, True]
    verified = [(code, said) for line, code, said in reader.said if line == verify]
    assert [code for code, _said in verified] == [1, 0]
    assert "the cause: numbers.matmul" in verified[0][1]


def test_cluster(tmp_path: Path) -> None:
    """The machine with a network packs; what comes after it has none, but for Slurm's own loopback."""
    online = {**caller(tmp_path / "home"), "PATH": put_program(tmp_path / "bin") + os.environ["PATH"]}
    first = Reader("docs/start-cluster.md", online, tmp_path)
    first.copy(slice(2))
    assert first.codes == [0, 0], first.said
    cluster_home = tmp_path / "cluster"
    env = index_only(cluster_home, "https://hidden.invalid/simple")
    env["PATH"] = f"{cluster_home}/.local/bin:{env['PATH']}"
    with start_cluster(tmp_path / "slurm") as cluster:
        there = Reader(first.page, {**env, **cluster.env}, tmp_path)
        there.copy(slice(2, 7), "unshare", "-rn")
        out = there.copy(slice(7, None))
    assert set(there.codes) == {0}, there.said
    assert "not verified" not in there.said[-2][2]
    assert "✓ verified" in there.said[-2][2]
    assert "tensor([2., 2.], device='simxpu:0')" in out


def test_card(tmp_path: Path) -> None:
    place = make_machine(tmp_path)
    index = make_index(tmp_path / "index/simple")
    env = {**index_only(tmp_path / "home", index), **place, "XPUSETUP_SETUP_YES": "1"}
    env["PATH"] = put_program(tmp_path / "program") + place["PATH"] + ":" + os.environ["PATH"]
    env |= {"XPUSETUP_INSTALL_PROFILE": profile_of(index), "XPUSETUP_INSTALL_VERIFY": "off"}
    reader = Reader("docs/start-card.md", env, tmp_path)
    out = reader.copy()
    bad = {line: code for line, code, _ in reader.said if code}
    assert bad == {"xpusetup setup --apply": 3}, reader.said  # no command gives this machine its /dev/dri
    assert "2.14.1+xpu" in out
    assert "libze-intel-gpu1" in Path(place["STAND_IN_LOG"]).read_text(), "setup --apply ran what it showed"
