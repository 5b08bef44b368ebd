"""Files: read as text, written whole through a temporary name; and where the package's own data lies."""

from __future__ import annotations

import errno
import fcntl
import hashlib
import os
import stat
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from xpusetup.amounts import render_size
from xpusetup.effects.faults import ABSENT, cannot_read, cannot_write
from xpusetup.errors import UsageError

if TYPE_CHECKING:
    import io

PACKAGE = Path(__file__).resolve().parent.parent
LARGEST_INPUT = 64 << 20
"""Bytes; profiles have thousands, facts of a machine a million."""


def package_file(name: str) -> Path:
    """Find a data file in a checkout, an editable install and a wheel. `name` is as in the checkout's top level.

    `profiles/x.toml` lies at the top level for people and inside the package in a wheel.
    """
    for base in (PACKAGE / "_shipped", PACKAGE, PACKAGE.parent):
        if (base / name).exists():
            return base / name
    raise UsageError(f"xpusetup was installed without its file {name}", fix="install it again: pip install xpusetup")


def package_text(name: str) -> str:
    """Read a data file of the package."""
    return package_file(name).read_text(encoding="utf-8")


def read_bytes(path: Path) -> bytes:
    """Read a file; nothing where there is none or it can't be read."""
    try:
        return path.read_bytes()
    except OSError:
        return b""


def read_text(path: Path) -> str | None:
    """Read a small text file; None where there is none that may be read."""
    try:
        return path.read_text(encoding="utf-8", errors="replace")
    except (FileNotFoundError, NotADirectoryError, PermissionError, IsADirectoryError):
        return None
    except OSError:  # /sys and /proc answer some reads with EIO or EINVAL: the kernel has nothing to say
        return None


def read_input(path: Path) -> str | None:
    """Read a text file that someone named, or that holds settings; None where there is none.

    Raises UsageError for one that is there and can't be read, and for what has no end, or waits for one: a device, a
    pipe. A file in a home that is closed to us is as good as none, as git has it.
    """
    try:
        _must_be_file(path)
        return path.read_text(encoding="utf-8", errors="replace")
    except OSError as error:
        if error.errno in ABSENT or (error.errno == errno.EACCES and not _is_seen(path.parent)):
            return None
        raise cannot_read(path, error) from error


def _must_be_file(path: Path) -> None:
    seen = path.stat()
    if not (stat.S_ISREG(seen.st_mode) or stat.S_ISDIR(seen.st_mode)):
        raise UsageError(f"{path} is no file but a pipe or a device", fix="save it as a file, and name that")
    if seen.st_size > LARGEST_INPUT:
        raise UsageError(f"{path} has {render_size(seen.st_size)}: no such file is that long", fix="look at its name")


def _is_seen(folder: Path) -> bool:
    try:
        folder.stat()
    except OSError:
        return False
    return True


def write_text(path: Path, text: str, *, executable: bool = False) -> None:
    """Write a file whole or not at all; one that holds this text already is left alone."""
    if read_text(path) == text:
        return
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        _write_whole(path, text, 0o755 if executable else 0o644)
    except OSError as error:
        raise cannot_write(path, error) from error


def _write_whole(path: Path, text: str, mode: int) -> None:
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as stream:
            stream.write(text)
        Path(temporary).chmod(mode)
        Path(temporary).replace(path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise


def remove(path: Path) -> None:
    """Remove a file; one that is not there is no fault."""
    try:
        path.unlink(missing_ok=True)
    except OSError as error:
        raise cannot_write(path, error) from error


def append_line(path: Path, line: str) -> None:
    """Add one line to a file that only grows, whole or not at all; what others add meanwhile stays."""
    try:
        with path.open("ab", buffering=0) as stream:
            with suppress(OSError):  # not every file system has it
                fcntl.flock(stream, fcntl.LOCK_EX)
            _write_all(stream, f"{line}\n".encode())
    except OSError as error:
        raise cannot_write(path, error) from error


def _write_all(stream: io.FileIO, data: bytes) -> None:
    """Write at the end; of what does not fit there nothing stays, unless someone has written behind it."""
    written = stream.write(data) or 0
    if written != len(data):
        end = stream.tell()
        if os.fstat(stream.fileno()).st_size == end:
            stream.truncate(end - written)
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def make_folder(path: Path, *, private: bool = False) -> None:
    """Make a folder and those above it; `private`: others may not look into it."""
    try:
        path.mkdir(mode=0o700 if private else 0o777, parents=True, exist_ok=True)
    except OSError as error:
        raise cannot_write(path, error) from error


def hash_file(path: Path) -> str:
    """Hash a file without reading it into memory whole."""
    digest = hashlib.sha256()
    with path.open("rb") as stream:
        for block in iter(lambda: stream.read(1 << 20), b""):
            digest.update(block)
    return digest.hexdigest()
