"""A log as blocks of bytes that overlap: one of any size, or one line of any length, is read in little memory."""

import codecs
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import chain

from xpusetup.explain.boxes import without_boxes

BEFORE = 4096
AFTER = 4096
"""What a block holds on either side of the part that is judged with it, for the context of a line."""

ESCAPE = 64
CODES = re.compile(rb"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b\n]*(?:\x07|\x1b\\)|[@-Z\\^_])")
"""Colours, cursor movements, links and titles, as ECMA-48 writes them."""


@dataclass(frozen=True)
class LogBlock:
    """Bytes without terminal codes; `start` to `end` is to be judged. `first` is the number of the first line."""

    data: bytes
    start: int
    end: int
    first: int


def make_blocks(chunks: Iterable[bytes]) -> Iterator[LogBlock]:
    """Join chunks of any size to blocks; every byte is judged in exactly one of them."""
    data, start, first = b"", 0, 1
    for chunk in without_boxes(_without_codes(to_utf8(chunks))):
        data += chunk
        end = _line_start(data, len(data) - AFTER, start)
        if end <= start:
            continue
        yield LogBlock(data, start, end, first)
        data, start, first = _keep(data, end, first)
    if len(data) > start:
        yield LogBlock(data, start, len(data), first)


def _keep(data: bytes, end: int, first: int) -> tuple[bytes, int, int]:
    kept = _line_start(data, end - BEFORE, 0)
    return data[kept:], end - kept, first + data.count(b"\n", 0, kept)


def _line_start(data: bytes, place: int, least: int) -> int:
    """Give where the line of a place begins; the place itself where that line began long before."""
    begin = data.rfind(b"\n", max(least, place - BEFORE), max(place, 0)) + 1
    return max(begin or place, least)


def _without_codes(chunks: Iterable[bytes]) -> Iterator[bytes]:
    held = b""
    for chunk in chunks:
        data = held + chunk
        cut = data.rfind(b"\x1b", max(0, len(data) - ESCAPE))
        held = data[cut:] if cut >= 0 else b""
        yield strip_codes(data[:cut] if cut >= 0 else data)
    yield strip_codes(held)


def strip_codes(data: bytes) -> bytes:
    return CODES.sub(b"", data) if b"\x1b" in data else data


# What Windows' own shell writes into a file (`make > build.log`): two bytes a letter.


MARKS = ((codecs.BOM_UTF16_LE, "utf-16-le"), (codecs.BOM_UTF16_BE, "utf-16-be"))
LEAST = 16
"""Minimum number of bytes to recognise UTF-16 without a byte order mark."""


def to_utf8(chunks: Iterable[bytes]) -> Iterator[bytes]:
    """Give a log in UTF-8 where it is in UTF-16, else as it is."""
    rest = iter(chunks)
    first = b""
    for chunk in rest:
        first += chunk
        if len(first) >= LEAST:
            break
    coding = find_coding(first)
    if not coding:
        yield first
        yield from rest
        return
    decoder = codecs.getincrementaldecoder(coding)("replace")
    for chunk in chain([first], rest):
        yield decoder.decode(chunk).replace("\ufeff", "").encode("utf-8", "replace")


def find_coding(first: bytes) -> str | None:
    """Tell UTF-16 by its mark, or by a zero beside each of the first letters."""
    marked = next((coding for mark, coding in MARKS if first.startswith(mark)), None)
    if marked or len(first) < LEAST:
        return marked
    even, odd = set(first[:LEAST:2]), set(first[1:LEAST:2])
    if odd == {0} and 0 not in even:
        return "utf-16-le"
    return "utf-16-be" if even == {0} and 0 not in odd else None
