"""What a log tells elsewhere: which of several causes it is, the line that decides, and how the log ended.

Of a long log the first and the last part are kept, and the lines around each failure; that is where people and CI
systems show the machine, its packages and the commands.
"""

import re
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import accumulate

from xpusetup.explain.finder import Refinement, Signature, System, make_regex
from xpusetup.explain.window import clean_shown

KEPT = 128 * 1024
"""Bytes of a log's beginning, and of its end, that are kept."""
LONGEST_LINE = 4000
"""Letters of a line that are kept."""
LONGEST_NAME = 120
"""Letters of what a log names, as it is shown in a sentence."""
NAME = re.compile(r"<([a-z_]+)>")
LAST_OF_ALL = re.compile(rb"(?:^|\s)\[(?:(\d+)/\1\] |100%\] Built target )")
"""Progress of ninja or of CMake's make at its end."""
NOT_LAST = re.compile(rb"(?:^|\s)\[(?:1/\d+\]|(\d+)/(?!\1\])\d+\]|\s?\d?\d%\]) ")
"""The same before its end, or at a first step."""
WHO = re.compile(
    rb"^(?:[A-Z][a-z]{2} [ \d]\d [\d:]{8} \S+ (?P<unit>[\w./@()-]+)(?:\[\d+\])?: "
    rb"|(?P<part>[a-z][\w.-]*?)(?:-\d+)? +\| )"
)
"""The program of which a line is, as a journal and docker compose write it."""


@dataclass(frozen=True)
class Lines:
    """Some lines of a log with their numbers.

    `marked`: those that a CI system marks as an error; `totals`: those that a build calls the last of all;
    `steps`: those that it counts before; `who`: the program of which each is, empty where none is named.
    """

    texts: tuple[str, ...] = ()
    numbers: tuple[int, ...] = ()
    marked: frozenset[int] = frozenset()
    totals: frozenset[int] = frozenset()
    steps: frozenset[int] = frozenset()
    who: tuple[str, ...] = ()

    @cached_property
    def whole(self) -> str:
        return "\n".join(self.texts)

    @cached_property
    def starts(self) -> list[int]:
        """Where in the whole each begins."""
        return list(accumulate((len(text) + 1 for text in self.texts), initial=0))[:-1]

    def at(self, place: int) -> int:
        """Give the index of the line that holds a place of the whole."""
        return max(0, bisect_right(self.starts, place) - 1)


@dataclass
class LogEnds:
    """The beginning and the end of a log, as bytes while it is read."""

    head: bytearray = field(default_factory=bytearray)
    tail: bytearray = field(default_factory=bytearray)

    def add(self, part: bytes) -> None:
        """Take in the next part of a log."""
        room = KEPT - len(self.head)
        self.head += part[:room] if room > 0 else b""
        rest = part[room:] if room > 0 else part
        self.tail += rest
        if len(self.tail) > 2 * KEPT:
            del self.tail[:-KEPT]

    def raw(self, count: int) -> tuple[list[bytes], tuple[int, ...]]:
        """Give the lines that were kept of a log of so many as they stand there, and their numbers.

        The one that was cut in the middle is left out.
        """
        first = self.head.split(b"\n")
        last = self.tail[-KEPT:].split(b"\n") if self.tail else []
        if last and len(self.tail) <= KEPT:
            first[-1] += last.pop(0)
        elif last:
            last, first = last[1:], first[:-1]
        while last and not last[-1]:
            last.pop()
        begin = count - len(last) + 1
        return [bytes(raw) for raw in (*first, *last)], (*range(1, len(first) + 1), *range(begin, count + 1))

    def lines(self, count: int) -> Lines:
        """Give the same as people should see them."""
        told, numbers = self.raw(count)
        marked = frozenset(number for number, raw in zip(numbers, told, strict=True) if b"##[error]" in raw)
        totals = frozenset(index for index, raw in enumerate(told) if LAST_OF_ALL.search(raw))
        steps = frozenset(index for index, raw in enumerate(told) if NOT_LAST.search(raw))
        texts = tuple(_cut(clean_shown(raw.decode("utf-8", "replace"))) for raw in told)
        return Lines(texts, numbers, marked, totals, steps, tuple(_who(raw) for raw in told))


def _cut(text: str) -> str:
    """Give a line without its middle where it is longer than what tells something: patterns try each of its places."""
    return text if len(text) <= LONGEST_LINE else f"{text[: LONGEST_LINE * 3 // 4]} ... {text[-LONGEST_LINE // 4 :]}"


def _who(raw: bytes) -> str:
    found = WHO.match(raw)
    return (found["unit"] or found["part"]).decode("utf-8", "replace") if found else ""


@dataclass(frozen=True)
class Decided:
    """Which of several causes it is, by which line, and what was named there."""

    refinement: Refinement
    line: int
    text: str
    names: Mapping[str, str] = field(default_factory=dict)


def decide(signature: Signature, text: str, near: Lines, log: Lines, systems: Sequence[System]) -> Decided | None:
    """Give the first refinement of a failure that the log tells of: its line's text, what is near, or all of it."""
    where = {"line": Lines((text,), near.numbers[:1] or (0,)), "near": near, "log": log}
    for refinement in signature.when:
        if refinement.on and not set(refinement.on) & set(systems):
            continue
        lines = where[refinement.where]
        if refinement.unless and make_regex(refinement.unless).search(log.whole):
            continue
        if refinement.beside and not make_regex(refinement.beside).search(log.whole):
            continue
        if not refinement.patterns:
            return Decided(refinement, 0, "")
        for pattern in refinement.patterns:
            if found := _find(pattern, lines.whole, text):
                index = lines.at(_start(found))
                number = 0 if refinement.where == "line" else lines.numbers[index]
                return Decided(refinement, number, lines.texts[index].strip(), _names(found))
    return None


def _find(pattern: str, log: str, text: str) -> re.Match[str] | None:
    """Find what a refinement looks for; what it calls `of_the_line` has to stand in the failure's own line."""
    places = make_regex(pattern).finditer(log)
    return next((found for found in places if (found.groupdict().get("of_the_line") or "") in text), None)


def _start(found: re.Match[str]) -> int:
    """Give where the line that decides begins: where `decides` was found, else where all of it was."""
    if "decides" in found.re.groupindex and found["decides"]:
        return found.start("decides")
    return found.end() - len(found[0].lstrip())


def _names(found: re.Match[str]) -> dict[str, str]:
    return {name: value for name, value in found.groupdict().items() if value}


def fill_names(text: str, names: Mapping[str, str]) -> str:
    """Put what a log names into a sentence, on one line and not longer than a name is."""
    return NAME.sub(lambda found: _plain(names[found[1]]) if found[1] in names else found[0], text)


def _plain(value: str) -> str:
    shown = " ".join("".join(letter for letter in value if letter.isprintable() or letter.isspace()).split())
    return shown if len(shown) <= LONGEST_NAME else f"{shown[:LONGEST_NAME]}..."
