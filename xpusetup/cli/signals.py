"""What asks the program to end: each signal ends the steps at work, and the exit code is 130."""

from __future__ import annotations

import os
import signal
import sys
from contextlib import suppress
from typing import TYPE_CHECKING, NoReturn, TextIO

if TYPE_CHECKING:
    from collections.abc import Callable

INTERRUPTED = 130


def heed_signals(handler: Callable[[int, object], object]) -> None:
    """Let a function take the signals that end a program, but for one that the caller has ignored, as nohup does."""
    for number in (signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, handler)


def interrupt(number: int, _frame: object) -> NoReturn:
    """End as Ctrl-C does. Where the terminal is gone, what would be said to it goes nowhere instead of failing."""
    if number == signal.SIGHUP:
        leave(*(stream for stream in (sys.stdout, sys.stderr) if stream.isatty()))
    raise KeyboardInterrupt


def end_early(_number: int, _frame: object) -> NoReturn:
    """End before anything was begun."""
    raise SystemExit(INTERRUPTED)


def leave(*streams: TextIO) -> None:
    """Let what is still said to these streams go nowhere, where nobody can be told any more."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    for stream in streams:
        with suppress(OSError, ValueError):
            os.dup2(nowhere, stream.fileno())
    os.close(nowhere)
