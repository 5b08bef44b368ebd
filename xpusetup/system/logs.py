"""Logs: read in chunks, compressed ones too, or followed while they grow."""

import bz2
import gzip
import lzma
import os
import sys
import time
import zlib
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any, BinaryIO

from xpusetup.base.command import Advice, Command
from xpusetup.base.errors import UsageError

# A log that grows: its text as it comes, until nothing is at work any more.


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


# Reads logs in chunks: files, compressed ones too, and what comes from stdin.


CHUNK = 1 << 18
STDIN = "-"
ZSTANDARD = b"\x28\xb5\x2f\xfd"
IN_NO_TEXT = bytes({*range(1, 0x20)} - {*b"\a\b\t\n\v\f\r\x1b"})
OPENERS: dict[bytes, Callable[..., Any]] = {b"\x1f\x8b": gzip.open, b"\xfd7zXZ\x00": lzma.open, b"BZh": bz2.open}
"""By the bytes with which a file begins, whatever its name."""


A_LOG = "name a log file, a build of `xpusetup list`, or - for stdin"


def read_log(path: Path, fix: str = A_LOG) -> Iterator[bytes]:
    """Give a log's bytes. A compressed one that is cut is read as far as it goes. Raises UsageError."""
    try:
        with path.open("rb") as stream:
            yield from _read_stream(stream, str(path))
    except OSError as error:
        raise UsageError(
            f"cannot read {path}: {error.strerror or error}",
            fix=fix,
        ) from error


def read_lines(path: Path) -> Iterator[str]:
    """Give a log line by line, a very long one in pieces; nothing where there is none that may be read."""
    with suppress(OSError), path.open(encoding="utf-8", errors="replace") as stream:
        for line in iter(lambda: stream.readline(CHUNK), ""):
            yield line.rstrip("\n")


CALLS = ("xpusetup explain build.log", "make 2>&1 | xpusetup explain")
A_CALL = Advice.lines(Command(line, gaps=(line,)) for line in CALLS)


def read_stdin() -> Iterator[bytes]:
    """Give what comes from stdin. Raises UsageError where a person sits in front of it."""
    if sys.stdin is None or sys.stdin.isatty():
        raise UsageError("explain needs a log", fix=A_CALL)
    return _read_stream(sys.stdin.buffer, "stdin")


def _read_stream(stream: BinaryIO, name: str) -> Iterator[bytes]:
    first = stream.read(CHUNK)
    if not first and stream is sys.stdin.buffer:
        raise UsageError("nothing came from stdin", fix=A_CALL)
    opener = next((opener for magic, opener in OPENERS.items() if first.startswith(magic)), None)
    if first.startswith(ZSTANDARD):
        raise UsageError(f"{name} is compressed by zstd", fix=f"zstd -dc {name} | ", command="xpusetup explain -")
    if opener is None:
        if _is_binary(first):
            raise UsageError(f"{name} is a binary file, not a log", fix=A_LOG)
        yield first
        yield from iter(lambda: stream.read(CHUNK), b"")
        return
    with opener(_Joined(first, stream), "rb") as unpacked:
        yield from _read_packed(unpacked, name)


def _is_binary(first: bytes) -> bool:
    """Say whether it has more control characters than a terminal's output can have; NULs are those of a cut-off log."""
    told = first.replace(b"\0", b"")
    return len(told.translate(None, IN_NO_TEXT)) < len(told) * 0.95


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
