"""A log that grows: its text as it comes, until nothing is at work any more."""

from __future__ import annotations

import os
import time
from contextlib import suppress
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

PAUSE = 0.2


def follow(path: Path, goes_on: Callable[[], bool]) -> Iterator[str]:
    """Give the lines of a log as they come, for as long as it goes on; one begun anew is read from its start."""
    rest = ""
    for piece in _pieces(path, goes_on):
        lines, end, rest = (rest + piece).rpartition("\n")
        if end:
            yield f"{lines}\n"
    if rest:
        yield rest


def _pieces(path: Path, goes_on: Callable[[], bool]) -> Iterator[str]:
    stream = path.open(errors="replace")
    try:
        while True:
            last = not goes_on()
            if piece := stream.read():
                yield piece
            if last:
                return
            if _is_another(path, stream.fileno()):
                yield stream.read()
                stream.close()
                stream = path.open(errors="replace")
            else:
                time.sleep(PAUSE)
    finally:
        stream.close()


def _is_another(path: Path, handle: int) -> bool:
    with suppress(FileNotFoundError):  # between one try of a step and the next
        return path.stat().st_ino != os.fstat(handle).st_ino
    return False
