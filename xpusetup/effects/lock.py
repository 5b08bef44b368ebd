"""One build at a time in a root: a lock whose descriptor the steps inherit.

While a step lives the lock is held, even when the program that started it was killed: a second run waits for the
orphaned compiler instead of starting another beside it.
"""

from __future__ import annotations

import fcntl
import os
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING

from xpusetup.effects.files import cannot_write
from xpusetup.errors import NotReadyError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

PAUSE = 0.2


@contextmanager
def hold_lock(path: Path, say: Callable[[str], None]) -> Iterator[int]:
    """Hold the lock of a root and give its descriptor. Raises NotReadyError while another program builds there."""
    try:
        handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
    except OSError as error:
        raise cannot_write(path, error) from error
    try:
        _acquire(handle, path, say)
        os.ftruncate(handle, 0)
        os.pwrite(handle, f"{os.getpid()}\n".encode(), 0)
        yield handle
        os.ftruncate(handle, 0)
    finally:
        os.close(handle)


def _acquire(handle: int, path: Path, say: Callable[[str], None]) -> None:
    said = False
    while not _try(handle):
        owner = _owner(handle)
        if owner is None or _lives(owner):
            who = "another build" if owner is None else f"another xpusetup (process {owner})"
            raise NotReadyError(
                f"{who} is at work in {path.parent}", fix="wait until it ends, or build elsewhere: --root DIR"
            )
        if not said:
            say(f"waiting for a step that outlived its xpusetup (process {owner})")
            said = True
        time.sleep(PAUSE)


def _try(handle: int) -> bool:
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _lives(process: int) -> bool:
    import psutil  # noqa: PLC0415 - slow to import, and only needed when the lock is taken

    return psutil.pid_exists(process)


def _owner(handle: int) -> int | None:
    text = os.pread(handle, 32, 0).decode(errors="replace").strip()
    return int(text) if text.isdigit() else None
