"""What is new in a log against one that went well, by template of line: numbers and temporary names aside."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from xpusetup.explain.blocks import to_utf8
from xpusetup.explain.window import clean, clean_shown

MOST = 300_000
"""How many templates of the good log are kept (about 30 MiB); what comes after them counts as new."""

LISTED = 20
LONGEST = 2000
"""Bytes of a line that are compared; what is behind them is not looked at."""

VARYING = re.compile(r"0x[0-9a-f]+|\b[0-9a-f]{8,64}\b|/tmp/[\w./+-]+|\b[\w-]*tmp[\w-]*\b|\d+", re.IGNORECASE)


@dataclass
class GoodTemplates:
    """The templates of a log that went well."""

    templates: set[int] = field(default_factory=set)

    def holds(self, line: str) -> bool:
        """Say whether a line of the good log is alike."""
        return hash(make_template(line)) in self.templates

    def add(self, line: str) -> bool:
        """Take a line in, and say whether there was none like it."""
        key = hash(make_template(line))
        if key in self.templates:
            return False
        if len(self.templates) < MOST:
            self.templates.add(key)
        return True


@dataclass(frozen=True)
class News:
    """The first new lines of a log, with their numbers, and how many there are."""

    lines: tuple[tuple[int, str], ...]
    count: int


def make_template(line: str) -> str:
    """Give what stays of a line where only numbers, addresses and temporary names differ."""
    return " ".join(VARYING.sub("0", clean(line[:LONGEST])).split())


def read_known(chunks: Iterable[bytes]) -> GoodTemplates:
    """Read a log that went well."""
    known = GoodTemplates()
    for line in split_lines(chunks):
        known.add(line)
    return known


def find_news(chunks: Iterable[bytes], known: GoodTemplates) -> News:
    """List the lines of a log that the good one has nothing like, each kind once."""
    fresh, told, count = GoodTemplates(), list[tuple[int, str]](), 0
    for number, line in enumerate(split_lines(chunks), start=1):
        if line.strip() and not known.holds(line) and fresh.add(line):
            count += 1
            if len(told) < LISTED:
                told.append((number, clean_shown(line)))
    return News(tuple(told), count)


def split_lines(chunks: Iterable[bytes]) -> Iterator[str]:
    """Give the lines of a log that comes in chunks, each cut after LONGEST bytes however long it is."""
    held = b""
    for chunk in to_utf8(chunks):
        *whole, rest = chunk.split(b"\n")
        for raw in whole:
            yield (held + raw)[:LONGEST].decode("utf-8", "replace")
            held = b""
        held = (held + rest)[:LONGEST]
    if held:
        yield held.decode("utf-8", "replace")
