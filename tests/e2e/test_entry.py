"""The script that an image begins with, run for real, with a toolkit whose script is as hostile as Intel's own."""

from __future__ import annotations

import subprocess
from typing import TYPE_CHECKING

import pytest

from test_images import form
from xpusetup.emit.image import PREFIX

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = [pytest.mark.e2e, pytest.mark.xdist_group("packaging")]
VARS = """
case "$*" in '') ;; *) return 254 ;; esac
echo "$NOT_SET_ANYWHERE" >/dev/null
export CMPLR_ROOT=/opt/kit PATH=$KIT:$PATH
"""
ICPX = "#!/bin/sh\necho 'Intel(R) oneAPI DPC++/C++ Compiler 2026.1.0'\n"


@pytest.fixture
def entry(tmp_path: Path) -> Path:
    """Give the entry point of an image to compile in, with its folder and its toolkit below a folder of the test."""
    files = form("dockerfile", "torch-2.14", target="devel").files
    (tmp_path / "kit").mkdir()
    (tmp_path / "kit/vars.sh").write_text(VARS)
    (tmp_path / "kit/icpx").write_text(ICPX)
    (tmp_path / "kit/icpx").chmod(0o755)
    for name in ("entry.sh", "toolkit.sh"):
        lines = files[name].replace(PREFIX, str(tmp_path)).splitlines()
        moved = [
            f"{begin}{tmp_path}/kit/vars.sh{end}" if line.startswith(begin) else line
            for line in lines
            for begin, end in (("for script in ", "; do") if line.startswith("for ") else ("source ", ""),)
        ]
        (tmp_path / name).write_text("\n".join([*moved, ""]))
    return tmp_path / "entry.sh"


def run(entry: Path, *words: str) -> subprocess.CompletedProcess[str]:
    env = {"PATH": "/usr/bin:/bin", "KIT": str(entry.parent / "kit")}
    return subprocess.run(("bash", str(entry), *words), check=False, capture_output=True, text=True, env=env)


def test_a_command_sees_the_toolkit_where_it_asks_for_it(entry: Path) -> None:
    words = ("bash", "-c", 'echo "$CMPLR_ROOT $CXX $1"; icpx --version', "x", "two words")
    assert run(entry, "toolkit", *words).stdout.splitlines() == [
        "/opt/kit g++ two words",
        "Intel(R) oneAPI DPC++/C++ Compiler 2026.1.0",
    ]
    plain = run(entry, *words)
    assert plain.stdout == "  two words\n"
    assert plain.returncode == 127


def test_without_a_word_it_verifies_and_options_reach_the_verifier(entry: Path) -> None:
    python = entry.parent / "venv/bin/python"
    python.parent.mkdir(parents=True)
    python.write_text('#!/bin/sh\necho "$@"\nexit 4\n')
    python.chmod(0o755)
    for words in ((), ("verify",), ("verify", "--level", "full")):
        said = run(entry, *words)
        assert said.returncode == 4
        assert "helpers/verify_device.py --device xpu" in said.stdout
        assert said.stdout.endswith(f"{' '.join(words[1:])}\n")
