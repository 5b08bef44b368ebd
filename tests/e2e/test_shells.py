"""What `env` prints for fish and tcsh, read back by the real ones; and which shell a command was called from."""

from __future__ import annotations

import shutil
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from e2e.support import CHECKOUT
from xpusetup.commands.build_result import evaluate
from xpusetup.commands.env import ShellEnvironment
from xpusetup.ui.console import make_console
from xpusetup.ui.env import show_env

if TYPE_CHECKING:
    from pathlib import Path

    from xpusetup.system.process import Language

pytestmark = pytest.mark.e2e
VALUES = ("a b", "it's", "!a!!b", '$HOME `id` "q"', "back\\slash\\", "é ü", "*?[x]{a,b}~", "a;b|c&d#e", "", "-n")
LINES = ("new\nline\ttab", "\x1b[1m")
SHOW = "import os, sys; sys.stdout.buffer.write(os.environb.get(b'V', b'none') + os.environb.get(b'GONE', b''))"
NEAREST = "from xpusetup.system.process import calling_language; print(calling_language())"


@pytest.mark.parametrize(
    ("shell", "read", "language", "values"),
    [
        ("fish", "cat {0} | source", "fish", (*VALUES, *LINES)),
        ("tcsh", 'eval "`cat {0}`"', "csh", VALUES),
        ("bash", 'eval "$(cat {0})"', "sh", (*VALUES, *LINES)),
    ],
)
def test_each_value_is_read_back(
    shell: str,
    read: str,
    language: Language,
    values: tuple[str, ...],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    if shutil.which(shell) is None:
        pytest.skip(f"there is no {shell} here")
    for value in values:
        data = ShellEnvironment({"A": "1", "V": value, "Z": "2"}, ["GONE", "NEVER"], language)
        show_env(make_console(), data, verbose=False)
        (tmp_path / "said").write_text(capsys.readouterr().out)
        (tmp_path / "show.py").write_text(SHOW)
        script = f"{read.format(tmp_path / 'said')}; {sys.executable} {tmp_path}/show.py"
        env = {"PATH": "/usr/bin:/bin", "HOME": str(tmp_path), "GONE": "still there", "LANG": "C.UTF-8"}
        done = subprocess.run((shell, "-c", script), env=env, check=False, capture_output=True, text=True)
        assert (done.stdout, done.stderr) == (value, ""), value


@pytest.mark.parametrize(("shell", "language"), [("fish", "fish"), ("tcsh", "csh"), ("bash", "sh")])
def test_the_nearest_shell_is_the_one_that_calls(shell: str, language: str, tmp_path: Path) -> None:
    if shutil.which(shell) is None:
        pytest.skip(f"there is no {shell} here")
    (tmp_path / "near.py").write_text(NEAREST)
    script = f"nice {sys.executable} {tmp_path}/near.py; true"
    env = {"PATH": "/usr/bin:/bin", "HOME": str(tmp_path), "PYTHONPATH": str(CHECKOUT)}
    done = subprocess.run((shell, "-c", script), env=env, check=False, capture_output=True, text=True)
    assert done.stdout.strip() == language, done.stderr


@pytest.mark.parametrize(
    ("language", "command"),
    [
        ("sh", 'eval "$(xpusetup env dev)"'),
        ("fish", "xpusetup env dev --shell fish | source"),
        ("csh", 'eval "`xpusetup env dev --shell csh`"'),
    ],
)
def test_the_command_for_each_shell(language: Language, command: str) -> None:
    assert evaluate("--name dev", language) == command
