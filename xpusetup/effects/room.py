"""What room places have left, so that a full one is said by name."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import TYPE_CHECKING

from xpusetup.amounts import render_size

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

FULL = 1 << 20
"""A file system with fewer bytes left counts as full: no step can do anything with them."""


@dataclass(frozen=True, kw_only=True)
class Room:
    """A file system: where it is mounted, the bytes that are left and all of them, the files that it still takes."""

    path: str
    free: int
    total: int
    files: int | None

    @property
    def full(self) -> bool:
        """Say whether nothing more can be written."""
        return self.free < FULL or self.files == 0

    def __str__(self) -> str:
        """Say what is left."""
        if self.files == 0:
            return f"{self.path} takes no more files"
        return f"{self.path} has {render_size(self.free)} of {render_size(self.total)} left"


def read_room(place: Path) -> Room | None:
    """Look at the file system that a place lies on, or will; None where it cannot be asked."""
    try:
        there = next(folder for folder in (place, *place.parents) if folder.exists())
        status = os.statvfs(there)
        mount = _mount(there.resolve())
    except (OSError, StopIteration):
        return None
    files = status.f_favail if status.f_files else None  # btrfs and others count none
    unit = status.f_frsize
    return Room(path=str(mount), free=status.f_bavail * unit, total=status.f_blocks * unit, files=files)


def _mount(there: Path) -> Path:
    device = there.stat().st_dev
    return next((below for below in (there, *there.parents) if below.parent.stat().st_dev != device), there.parents[-1])


def read_rooms(places: Iterable[Path]) -> list[Room]:
    """Look at the file systems of several places, each once."""
    rooms = {room.path: room for place in places if (room := read_room(place))}
    return list(rooms.values())
