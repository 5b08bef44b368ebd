"""A place without a network, for real: nothing gets out, what tried is counted, and the command is not disturbed."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from typing import TYPE_CHECKING

import pytest

from e2e.support import CHECKOUT, wait_until
from xpusetup.bundle import offline, without_network

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = [pytest.mark.e2e, pytest.mark.xdist_group("airgap")]
WITHOUT = (sys.executable, "-I", str(without_network.__file__))
TCP = "import socket; socket.create_connection(('203.0.113.5', 80), 5)"
UDP = "import socket; socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b'?', ('203.0.113.5', 53))"
STUB = "import socket; socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b'?', ('127.0.0.53', 53))"
LOOPBACK = """
import socket
server = socket.create_server(("127.0.0.1", 0))
socket.create_connection(server.getsockname(), 5).sendall(b"x")
print(server.accept()[0].recv(1))
"""


@pytest.fixture(autouse=True)
def _possible() -> None:
    tried = subprocess.run((*WITHOUT, "true"), check=False, capture_output=True, text=True)
    if tried.returncode == without_network.IMPOSSIBLE:
        pytest.skip(tried.stderr)


def python(code: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run((*WITHOUT, sys.executable, "-c", code), check=False, capture_output=True, text=True)


@pytest.mark.parametrize("code", [TCP, UDP, STUB], ids=["tcp", "udp", "a name server on this machine"])
def test_what_asks_is_counted(code: str) -> None:
    """Also where the program says nothing of it."""
    done = python(f"try:\n    {code}\nexcept OSError:\n    pass\n")
    assert (done.returncode, done.stdout) == (0, "note: it asked for the network once, which is taken away\n")


def test_the_loopback_is_there_and_counts_for_nothing() -> None:
    assert python(LOOPBACK).stdout == "b'x'\n"


def test_the_user_stays_who_he_is() -> None:
    assert python("import os; print(os.getuid(), os.getgid())").stdout.split() == [str(os.getuid()), str(os.getgid())]


@pytest.mark.parametrize(
    ("code", "status"),
    [("raise SystemExit(4)", 4), ("import os; os.kill(os.getpid(), 9)", 128 + 9), ("", 0)],
)
def test_it_ends_as_the_command_does(code: str, status: int) -> None:
    assert python(code).returncode == status


def test_what_it_inherits_it_hands_on() -> None:
    """The lock of a root is such a descriptor."""
    ours, theirs = os.pipe()
    words = (*WITHOUT, sys.executable, "-c", f"import os; os.write({theirs}, b'held')")
    subprocess.run(words, check=True, pass_fds=(theirs,))
    os.close(theirs)
    with os.fdopen(ours) as stream:
        assert stream.read() == "held"


def test_a_signal_reaches_the_command() -> None:
    code = "import signal, sys; signal.signal(15, lambda *_: sys.exit(7)); print('up', flush=True); signal.pause()"
    with subprocess.Popen((*WITHOUT, sys.executable, "-c", code), stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "up\n"
        threading.Timer(0, process.send_signal, (signal.SIGTERM,)).start()
        wait_until(lambda: process.poll() is not None, seconds=60)
        assert process.returncode == 7


STEP = """set -eu
STEP=x AFTER= NEEDS={needs} KEEP='HOME PATH'
. "$(dirname "${{BASH_SOURCE[0]}}")/../helpers/step.sh"
MAKES=()
begin
{command} || true
finish
"""


@pytest.mark.parametrize(
    ("command", "told"),
    [
        (
            "git ls-remote https://me:secret@nosuch.invalid/a/b",
            "note: git asked for https://nosuch.invalid/a/b (1), and",
        ),
        (
            "git ls-remote ssh://me@nosuch.invalid:22/a/b.git",
            "note: git asked for ssh://me@nosuch.invalid/a/b.git (1), and",
        ),
        ("git ls-remote git@nosuch.invalid:a/b", "note: git asked for ssh://git@nosuch.invalid/a/b (1), and"),
        ("/usr/bin/env git ls-remote http://nosuch.invalid/a", "note: git asked for http://nosuch.invalid/a (1), and"),
        ("git -c url./nosuch.insteadOf=https://nosuch.invalid/ ls-remote https://nosuch.invalid/a", ""),
        ("true", ""),
    ],
)
@pytest.mark.parametrize("needs", ["compiler", "network"])
def test_a_step_says_whom_git_asks(tmp_path: Path, command: str, told: str, needs: str) -> None:
    """Whoever calls it, by whatever path, and without what is secret; nothing where the step has the network."""
    for name in ("helpers", "steps", "stamps"):
        (tmp_path / name).mkdir()
    for name in ("step.sh", "lock.sh", "pip.sh"):
        (tmp_path / "helpers" / name).symlink_to(CHECKOUT / "xpusetup/helpers" / name)
    script = tmp_path / "steps/x.sh"
    script.write_text(STEP.format(command=command, needs=needs).replace("begin\n", "CXX=true\nbegin\n"))
    env = {"PATH": os.environ["PATH"], "HOME": str(tmp_path)}
    done = subprocess.run(("bash", str(script)), check=False, capture_output=True, text=True, env=env)
    assert done.returncode == 0, done.stderr
    asked = [line for line in done.stdout.splitlines() if line.startswith("note: git asked for")]
    expected = [told] if told and needs != "network" else []
    assert [line.partition(" this step")[0] for line in asked] == expected
    assert "secret" not in done.stdout
    assert not list((tmp_path / "inputs").glob(".git.*"))


def test_where_it_cannot_be_taken_away_that_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    refusing = tmp_path / "refusing.py"
    refusing.write_text("import sys\nsys.exit('no network namespace: Operation not permitted')\n")
    monkeypatch.setattr(without_network, "__file__", str(refusing))
    assert offline._take_away() == ((), "no network namespace: Operation not permitted")
