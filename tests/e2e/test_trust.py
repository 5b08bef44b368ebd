"""A file of others on a real terminal: nothing of it runs before someone there says yes."""

from __future__ import annotations

import os
import pty
import subprocess
import sys
from contextlib import suppress
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.e2e
DEVICE = 'name = "acme"\ntitle = "Acme"\n[tool]\nname = "touch"\nquery = ["CANARY"]\n'
WORDS = (sys.executable, "-m", "xpusetup", "verify", "--devices", "--list", "--device", "acme.toml")


def on_a_terminal(answer: str, folder: Path) -> tuple[int, str]:
    """Run the program on a terminal of its own, answer its question, and give its code and all that it said."""
    ours, theirs = pty.openpty()
    with subprocess.Popen(
        WORDS, cwd=folder, start_new_session=True, stdin=theirs, stdout=theirs, stderr=theirs
    ) as process:
        os.close(theirs)
        said = b""
        with suppress(OSError):  # the end of a terminal is an error to its reader
            while b"[y/N]" not in said:
                said += os.read(ours, 1 << 16)
            os.write(ours, f"{answer}\n".encode())
            while more := os.read(ours, 1 << 16):
                said += more
        code = process.wait(60)
    os.close(ours)
    return code, said.decode()


@pytest.mark.parametrize(("answer", "code"), [("n", 2), ("", 2), ("\x04", 2), ("y", 0)])
def test_who_sits_there_is_asked(answer: str, code: int, tmp_path: Path) -> None:
    (tmp_path / "acme.toml").write_text(DEVICE)
    (tmp_path / "acme.toml").chmod(0o646)
    ended, said = on_a_terminal(answer, tmp_path)
    assert (ended, "everyone may write it" in said) == (code, True)
    assert (tmp_path / "CANARY").exists() is (code == 0)
    if code == 0:
        again = subprocess.run(WORDS, cwd=tmp_path, stdin=subprocess.DEVNULL, capture_output=True, check=False)
        assert again.returncode == 0


def test_a_pipe_is_not_asked(tmp_path: Path) -> None:
    (tmp_path / "acme.toml").write_text(DEVICE)
    (tmp_path / "acme.toml").chmod(0o646)
    ran = subprocess.run(WORDS, cwd=tmp_path, input="y\n", capture_output=True, text=True, check=False)
    assert ran.returncode == 2
    assert f"xpusetup profiles trust {tmp_path}/acme.toml" in ran.stderr
    assert not (tmp_path / "CANARY").exists()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root gives files away")
def test_who_owns_a_file(tmp_path: Path) -> None:
    (tmp_path / "acme.toml").write_text(DEVICE)
    os.chown(tmp_path / "acme.toml", 65534, -1)
    ran = subprocess.run(WORDS, cwd=tmp_path, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    assert (ran.returncode, "it belongs to" in ran.stderr) == (2, True)
    os.chown(tmp_path / "acme.toml", 0, -1)
    ran = subprocess.run(WORDS, cwd=tmp_path, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    assert ran.returncode == 0
