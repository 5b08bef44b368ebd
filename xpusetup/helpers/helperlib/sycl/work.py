"""Where a call of the compiler works, and how it runs others."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING, NamedTuple

from helperlib.sycl import passes
from helperlib.sycl.header import MAP

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from helperlib.sycl.call import CompilerCall
    from helperlib.sycl.home import Home


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


def run(work: CompileWork, command: Sequence[str]) -> str:
    """Run a command of the host; gives what it said on stderr. Raises FailedError with its words said."""
    if work.call.verbose:
        sys.stderr.write(f" {passes.show(list(command))}\n")
    try:
        done = subprocess.run(command, check=False, stderr=subprocess.PIPE, env=passes.environment())
    except OSError as error:
        raise FailedError(1, f"{command[0]} does not run: {error.strerror}") from error
    said = done.stderr.decode("utf-8", "replace")
    if done.returncode:
        sys.stderr.write(said)
        raise FailedError(done.returncode if done.returncode > 0 else 1)
    return said
