"""What outlived a build that was killed: processes of its steps, which go on writing into the root.

The lock's descriptor is not enough: Python closes it for what it starts, so that a compiler below a helper may live on
without it. Every process of a step has a variable that names root and session; a daemon, which makes a session of its
own, is none of them.
"""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

MARK = "XPUSETUP_LOCKED"
SESSION = 2
"""The place of a process's session in /proc/N/stat, after its name and state."""


def find_orphans(root: Path) -> Iterator[int]:
    """Give the processes that belong to a step of a root; nobody else may be building there."""
    for entry in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):  # it ended, or is someone else's
            marked = _marked_session(entry, root)
            if marked is not None and marked == _session(entry):
                yield int(entry.name)


def _marked_session(entry: Path, root: Path) -> int | None:
    """Give the session that a process's variables name for this root."""
    prefix = os.fsencode(f"{MARK}={root} ")
    found = (each for each in (entry / "environ").read_bytes().split(b"\0") if each.startswith(prefix))
    text = next(found, b"").removeprefix(prefix)
    return int(text) if text.isdigit() else None


def _session(entry: Path) -> int | None:
    """Give a process's session; None for one that has ended and waits for its parent to notice."""
    state, *fields = (entry / "stat").read_text(errors="replace").rpartition(") ")[2].split()
    return None if state == "Z" else int(fields[SESSION])
