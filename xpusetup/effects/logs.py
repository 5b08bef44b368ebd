"""Reads logs in chunks: files, compressed ones too, and what comes from stdin."""

from __future__ import annotations

import bz2
import gzip
import lzma
import sys
import zlib
from contextlib import suppress
from typing import TYPE_CHECKING, Any, BinaryIO

from xpusetup.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

CHUNK = 1 << 18
STDIN = "-"
ZSTANDARD = b"\x28\xb5\x2f\xfd"
OPENERS: dict[bytes, Callable[..., Any]] = {b"\x1f\x8b": gzip.open, b"\xfd7zXZ\x00": lzma.open, b"BZh": bz2.open}
"""By the bytes with which a file begins, whatever its name."""


def read_log(path: Path) -> Iterator[bytes]:
    """Give a log's bytes. A compressed one that is cut is read as far as it goes. Raises UsageError."""
    try:
        with path.open("rb") as stream:
            yield from _read_stream(stream, str(path))
    except OSError as error:
        raise UsageError(
            f"cannot read {path}: {error.strerror or error}",
            fix="name a file, or - for stdin; the logs of a build are in ROOT/logs/",
        ) from error


def read_lines(path: Path) -> Iterator[str]:
    """Give a log line by line, a very long one in pieces; nothing where there is none that may be read."""
    with suppress(OSError), path.open(encoding="utf-8", errors="replace") as stream:
        for line in iter(lambda: stream.readline(CHUNK), ""):
            yield line.rstrip("\n")


def read_stdin() -> Iterator[bytes]:
    """Give what comes from stdin. Raises UsageError where a person sits in front of it."""
    if sys.stdin is None or sys.stdin.isatty():
        raise UsageError(
            "explain needs a log", fix="xpusetup explain build.log, or pipe one into it: make 2>&1 | xpusetup explain"
        )
    return _read_stream(sys.stdin.buffer, "stdin")


def _read_stream(stream: BinaryIO, name: str) -> Iterator[bytes]:
    first = stream.read(CHUNK)
    opener = next((opener for magic, opener in OPENERS.items() if first.startswith(magic)), None)
    if first.startswith(ZSTANDARD):
        raise UsageError(f"{name} is compressed by zstd", fix=f"zstd -dc {name} | xpusetup explain -")
    if opener is None:
        yield first
        yield from iter(lambda: stream.read(CHUNK), b"")
        return
    with opener(_Joined(first, stream), "rb") as unpacked:
        yield from _read_packed(unpacked, name)


def _read_packed(stream: BinaryIO, name: str) -> Iterator[bytes]:
    some = False
    try:
        while chunk := stream.read1(CHUNK):  # type: ignore[attr-defined]
            some = True
            yield chunk
    except (EOFError, zlib.error, lzma.LZMAError, OSError) as error:
        if not some:
            raise UsageError(
                f"{name} cannot be unpacked: {error}", fix="unpack it yourself, or name another"
            ) from error


class _Joined:
    """A stream of which the beginning was read already; stdin cannot go back."""

    def __init__(self, first: bytes, rest: BinaryIO) -> None:
        self._first, self._rest = first, rest

    def read(self, size: int = -1) -> bytes:
        if not self._first:
            return self._rest.read(size)
        cut = len(self._first) if size < 0 else size
        given, self._first = self._first[:cut], self._first[cut:]
        return given + self._rest.read() if size < 0 else given

    def seekable(self) -> bool:
        return False

    def readable(self) -> bool:
        return True
