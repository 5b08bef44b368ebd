"""Where a call of the compiler works, and how it runs others.

What each process of a compile takes is a line in the file that XPUSETUP_SYCL_LOG names. `pass` is device, host, link,
or ocloc with the GPUs; `source` holds the source, or the first object of a link; `process` is the driver's. `code` is
how it ended, `seconds` are the clock's, `processor` those of processors; `memory` are the most bytes that it or a child
of it held at once.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from typing import TYPE_CHECKING, Any, NamedTuple

from helperlib.sycl import passes
from helperlib.sycl.header import MAP

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from helperlib.sycl.call import CompilerCall
    from helperlib.sycl.home import Home

LOG = "XPUSETUP_SYCL_LOG"
KIB = 1024
_SOURCE: list[str] = []


class FailedError(Exception):
    """A pass failed, and has said why; holds the exit code."""

    def __init__(self, code: int, message: str = "") -> None:
        super().__init__(message)
        self.code = code


class CompileWork(NamedTuple):
    """Where a call works: the toolkit, the call, a folder of its own."""

    home: Home
    call: CompilerCall
    folder: Path

    @property
    def header(self) -> Path:
        """Give the integration header."""
        return self.folder / "header.h"

    @property
    def footer(self) -> Path:
        """Give what belongs behind the source."""
        return self.folder / "footer.h"

    @property
    def maps(self) -> tuple[str, ...]:
        """Give the options that say which names files get in what is made."""
        return tuple(each for each in (*self.call.both, *self.call.host_options) if MAP.fullmatch(each))


def run(work: CompileWork, command: Sequence[str], told: str = "") -> str:
    """Run a command of the host; gives what it said on stderr. Raises FailedError with its words said.

    `told` is for the log.
    """
    if work.call.verbose:
        sys.stderr.write(f" {passes.show(list(command))}\n")
    try:
        code, said = run_measured(command, told)
    except OSError as error:
        raise FailedError(1, f"{command[0]} does not run: {error.strerror}") from error
    if code:
        sys.stderr.write(said)
        raise FailedError(code if code > 0 else 1)
    return said


def begin(call: CompilerCall) -> None:
    """Note what this process of the driver compiles or links."""
    words = call.sources or [each for each in call.inputs if not each.word.startswith("-")]
    _SOURCE[:] = [each.word for each in words[:1]]


def run_measured(command: Sequence[str], told: str, *, cwd: Path | None = None, **more: str) -> tuple[int, str]:
    """Run a process of a compile; gives its exit code (of a signal negative), and what it said.

    `told`: which pass it is, empty for one that is not noted. `more` are variables of its environment.
    """
    streams: dict[str, Any] = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT} if told[:5] == "ocloc" else {}
    began = time.monotonic()
    env = {**passes.environment(), **more}
    with subprocess.Popen(command, env=env, cwd=cwd, **(streams or {"stderr": subprocess.PIPE})) as child:
        stream = child.stdout or child.stderr
        try:
            said = stream.read() if stream else b""
            _, status, used = os.wait4(child.pid, 0)
        except BaseException:
            child.kill()
            raise
        child.returncode = os.waitstatus_to_exitcode(status)
    if told:
        took = {"seconds": time.monotonic() - began, "processor": used.ru_utime + used.ru_stime}
        rounded = {name: round(seconds, 2) for name, seconds in took.items()}
        how = {"pass": told, "source": _SOURCE, "process": os.getpid(), "code": child.returncode}
        _note({**how, **rounded, "memory": used.ru_maxrss * KIB})
    return child.returncode, said.decode("utf-8", "replace")


def _note(line: dict[str, Any]) -> None:
    if place := os.environ.get(LOG):
        with open(place, "ab", buffering=0) as stream:  # noqa: PTH123 - one write, so that lines of others stay whole
            stream.write(f"{json.dumps(line)}\n".encode())
