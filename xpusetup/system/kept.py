"""What a text was read as, kept for the next command: validating a profile takes longer than a build that is done.

A file of its own in the user's cache folder stands for each text, by the hash of the text, of the type and of the
program's own code. It holds the program's dataclasses and dates and nothing else, and counts only where it is the
user's alone: what it says becomes commands. docs/decisions/0059 has the reasons.
"""

import contextlib
import datetime as dt
import hashlib
import os
import pickle
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import is_dataclass
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any, TypeVar

from xpusetup.system.environment import cache_folder

T = TypeVar("T")
FOLDER = "read"
PACKAGE = Path(__file__).parents[1]
BASES = ("base", "config", "machine")
"""Packages whose types stand in others'."""
MOST = 200
"""Files that stay; the oldest go."""
OTHERS = 0o022
"""What others than the owner may not: write."""


def keep(kind: type[T], text: str, read: Callable[[], T]) -> T:
    """Give what a text is as this type: as it was read before, else by reading it now.

    `read` depends on the text alone. What it raises is raised, and kept by nobody.
    """
    path = cache_folder(FOLDER) / _hash(kind, text)
    found = _load(path)
    if isinstance(found, kind):
        return found
    value = read()
    with contextlib.suppress(OSError):  # a home that cannot be written costs time alone
        _store(path, value)
    return value


def _hash(kind: type, text: str) -> str:
    head = (*sys.version_info[:2], kind.__module__, kind.__qualname__, *_code(kind.__module__.split(".")[1]))
    return hashlib.sha256(f"{head}\n{text}".encode("utf-8", "surrogateescape")).hexdigest()


@cache
def _code(package: str) -> tuple[str, ...]:
    """Tell the code that reads from what it was before: by name, size and time of its files."""
    return tuple(sorted(line for each in {*BASES, package} for line in _files_of(PACKAGE / each)))


def _files_of(folder: Path) -> Iterator[str]:
    with os.scandir(folder) as entries:
        for entry in entries:
            if entry.name.endswith(".py"):
                seen = entry.stat()
                yield f"{folder.name}/{entry.name} {seen.st_size} {seen.st_mtime_ns}"


class _Reader(pickle.Unpickler):
    """Reads the program's own dataclasses and dates; nothing else can be made or called."""

    def find_class(self, module: str, name: str) -> Any:
        """Give the class of this name. Raises UnpicklingError for any other thing."""
        if (module, name) == ("datetime", "date"):
            return dt.date
        found = getattr(import_module(module), name, None) if module.startswith("xpusetup.") else None
        if isinstance(found, type) and is_dataclass(found):
            return found
        raise pickle.UnpicklingError(f"{module}.{name} is no table of ours")


def _load(path: Path) -> object:
    try:
        with path.open("rb") as stream:
            ours = all(_is_ours(seen) for seen in (os.fstat(stream.fileno()), path.parent.stat()))
            return _Reader(stream).load() if ours else None
    except Exception:  # noqa: BLE001 - a file that is cut, or of another program: it is read anew
        return None


def _is_ours(seen: os.stat_result) -> bool:
    return seen.st_uid == os.geteuid() and not seen.st_mode & OTHERS


def _store(path: Path, value: object) -> None:
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    handle, temporary = tempfile.mkstemp(dir=path.parent)
    with os.fdopen(handle, "wb") as stream:
        pickle.dump(value, stream, protocol=5)
    Path(temporary).replace(path)
    for old in sorted(path.parent.iterdir(), key=lambda each: -each.stat().st_mtime)[MOST:]:
        old.unlink(missing_ok=True)
