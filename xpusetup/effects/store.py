"""What the program keeps on the disk for all roots: the git store; and what the roots themselves take."""

from __future__ import annotations

import fcntl
import re
import shutil
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from xpusetup.effects.process import run_process

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

LOCK = "xpusetup-lock"
PATIENCE = 600.0
"""Seconds that the sizes of one root may take: a tree of PyTorch has some hundred thousand files."""
KIB = 1024
HASH = re.compile(r"-[0-9a-f]{12}\.git$")
PARTS = ("src", "venv", "wheels")


@dataclass(frozen=True)
class Repository:
    """Objects of one address. `used`: a tree still has hard links to them, so that removing it frees nothing."""

    name: str
    path: str
    bytes: int
    used: bool


@dataclass(frozen=True)
class RootSize:
    """What a root takes, in bytes, by its folders; None where nobody could look in time."""

    name: str
    path: str
    parts: dict[str, int | None]


def list_repositories(store: Path) -> list[Repository]:
    """List what the git store holds, the largest first."""
    found = [_look(path) for path in store.glob("*.git") if path.is_dir()] if store.is_dir() else []
    return sorted(found, key=lambda one: -one.bytes)


def _look(path: Path) -> Repository:
    files = [file.stat() for file in (path / "objects/pack").glob("pack-*.pack")]
    size = sum(file.st_size for file in files)
    return Repository(HASH.sub("", path.name), str(path), size, used=any(file.st_nlink > 1 for file in files))


def remove_repository(path: Path) -> bool:
    """Remove one repository of the store; False where a fetch is writing to it, or it is not ours to write."""
    try:
        with _held(path):
            shutil.rmtree(path)
    except OSError:  # held by a fetch, or read-only
        return False
    return True


@contextmanager
def _held(path: Path) -> Iterator[None]:
    with (path / LOCK).open("ab") as stream:
        fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield


def measure_roots(folder: Path) -> list[RootSize]:
    """Measure the roots below a folder: those that hold a lock of a profile."""
    paths = sorted(path.parent for path in folder.glob("*/profile.lock.json"))
    return [RootSize(path.name, str(path), {part: _size(path / part) for part in PARTS}) for path in paths]


def _size(folder: Path) -> int | None:
    if not folder.exists():
        return 0
    done = run_process(("du", "-sk", str(folder)), seconds=PATIENCE)
    first = done.out.split()[:1]
    return int(first[0]) * KIB if first and first[0].isdigit() else None
