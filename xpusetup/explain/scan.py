"""One pass over a log: the first place of each failure that is known, and the first line of any error at all."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Literal

from xpusetup.explain.blocks import make_blocks
from xpusetup.explain.decisive import NINJA_FAILED, judge, words_of
from xpusetup.explain.finder import ANY, Finder, make_finder
from xpusetup.explain.signatures import make_regex
from xpusetup.explain.window import REACH, Window, make_window

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from xpusetup.explain.blocks import Block
    from xpusetup.explain.signatures import Signature

COUNTED = 2000
"""How many errors are counted; in a log of nothing else, more would only cost time."""

TRIES = 200
"""How often a failure is looked for over several lines in vain; after that only in single lines, which is quick."""

ALIKE = 500
"""How often lines that are alike but for their digits are looked at in vain; a million of them costs no more."""

SPAN = 5
DIGITS = re.compile(r"\d+")
WRAPPED = 60
"""A terminal breaks a line of at least this length in the middle of a word."""


@dataclass(frozen=True)
class Match:
    """A failure that is known, and where it was first seen.

    `level` is what it is there; `unsure` an error that was said as a warning, as a download that is tried again.
    """

    signature: Signature
    line: int
    text: str
    level: Literal["error", "warning", "pointer", "unsure"]


@dataclass(frozen=True)
class Telling:
    """A line that tells of an error, with those around it."""

    line: int
    text: str
    context: tuple[tuple[int, str], ...]


@dataclass(frozen=True)
class Place:
    """A line of a block; its text and what is around it are made when they are asked for."""

    data: bytes
    begin: int
    number: int

    @cached_property
    def line(self) -> str:
        """The line as it stands there; of a very long one the part that counts."""
        end = self.data.find(b"\n", self.begin, self.begin + REACH)
        return self.data[self.begin : end if end >= 0 else self.begin + REACH].decode("utf-8", "replace")

    @cached_property
    def window(self) -> Window:
        """The line among those around it."""
        return make_window(self.data, self.begin, self.number)


@dataclass
class Seen:
    """What one pass saw."""

    matches: dict[str, Match] = field(default_factory=dict)
    strong: Telling | None = None
    failed: Telling | None = None
    strong_after_failed: Telling | None = None
    weak: Telling | None = None
    errors: list[int] = field(default_factory=list)
    tries: dict[str, int] = field(default_factory=dict)
    vain: dict[tuple[str, tuple[int, ...]], int] = field(default_factory=dict)
    lines: int = 0


def scan(chunks: Iterable[bytes], signatures: Sequence[Signature]) -> Seen:
    """Read a log once, in chunks of any size."""
    finder, seen, done = make_finder(signatures), Seen(), set[int]()
    block = None
    for block in make_blocks(chunks):
        known = len(done)
        _read_block(block, finder, signatures, seen, done)
        finder = finder.without(done) if len(done) > known else finder
    seen.lines = _count_lines(block) if block else 0
    return seen


def _count_lines(last: Block) -> int:
    ended = last.data.endswith(b"\n")
    return last.first + last.data.count(b"\n") - (1 if ended else 0)


def _read_block(block: Block, finder: Finder, signatures: Sequence[Signature], seen: Seen, done: set[int]) -> None:
    number, counted = block.first, 0
    for begin, numbers in sorted(finder.find(block).items()):
        number, counted = number + block.data.count(b"\n", counted, begin), begin
        _try_line(Place(block.data, begin, number), sorted(numbers - done), signatures, seen, done)


def _try_line(place: Place, numbers: list[int], signatures: Sequence[Signature], seen: Seen, done: set[int]) -> None:
    alike = (DIGITS.sub("0", place.line), tuple(numbers))
    vain = seen.vain.get(alike, 0)
    if vain >= ALIKE:
        return
    for index in numbers:
        if index == ANY:
            _note_error(place.window, seen, done)
        elif match := _try_signature(signatures[index], place, seen):
            _note_match(match, seen)
            vain = -1
            if match.level != "unsure":
                done.add(index)
    if ANY not in numbers and len(seen.vain) < COUNTED:
        seen.vain[alike] = vain + 1


def _try_signature(signature: Signature, place: Place, seen: Seen) -> Match | None:
    """Look in the line alone first, then, unless that was in vain too often, over the lines around it."""
    if not signature.search(place.line):
        seen.tries[signature.id] = seen.tries.get(signature.id, 0) + 1
        if seen.tries[signature.id] > TRIES:
            return None
    return match_line(signature, place.window)


def _note_match(match: Match, seen: Seen) -> None:
    known = seen.matches.get(match.signature.id)
    if known is None or (known.level == "unsure" and match.level != "unsure"):
        seen.matches[match.signature.id] = match


def _note_error(window: Window, seen: Seen, done: set[int]) -> None:
    strength = judge(window)
    if strength == "none":
        return
    number = window.numbers[window.at]
    telling = Telling(number, words_of(window), tuple(window.context(3)))
    seen.errors.append(number)
    if strength == "weak":
        seen.weak = seen.weak or telling
        if NINJA_FAILED.match(window.line):
            seen.failed = seen.failed or telling
    else:
        seen.strong = seen.strong or telling
        if seen.failed:
            seen.strong_after_failed = seen.strong_after_failed or telling
    if len(seen.errors) >= COUNTED:
        done.add(ANY)


def match_line(signature: Signature, window: Window) -> Match | None:
    """Look for a failure in a line, also where it is broken over the lines around it."""
    if not window.is_speech or (signature.never and make_regex(signature.never).search(window.line)):
        return None
    first = max(0, window.at - SPAN)
    above, line = window.lines[first : window.at], window.line
    below = window.lines[window.at + 1 : window.at + 1 + SPAN]
    found = _search(signature, above, line, below)
    if found is None:
        return None
    offset, text = found
    place = first + offset
    return Match(signature, window.numbers[place], text or window.lines[place].strip(), _level(signature, window))


def _level(signature: Signature, window: Window) -> Literal["error", "warning", "pointer", "unsure"]:
    """Give the level of a failure as it is said here: releases turn warnings into errors."""
    if signature.level == "error" and window.is_warning:
        return "unsure"
    if signature.level == "warning" and window.is_error:
        return "error"
    return signature.level


def _search(signature: Signature, above: Sequence[str], line: str, below: Sequence[str]) -> tuple[int, str] | None:
    """Give the index of the line where a match begins, and its text where that is put together."""
    text = "\n".join((*above, line, *below))
    begin = sum(len(part) + 1 for part in above)
    for pattern in signature.patterns:
        for found in make_regex(pattern).finditer(text):
            if found.end() > begin and found.start() <= begin + len(line):
                return text.count("\n", 0, found.end() - len(found[0].lstrip())), ""
    for place, whole in _wrapped(above, line, below):
        if signature.search(whole):
            return place, whole.strip()
    return None


def _wrapped(above: Sequence[str], line: str, below: Sequence[str]) -> list[tuple[int, str]]:
    """Give a line joined with its neighbours as a terminal would have broken it."""
    joined = []
    if above and len(above[-1]) >= WRAPPED:
        joined.append((len(above) - 1, above[-1] + line))
    if below and len(line) >= WRAPPED:
        joined.append((len(above), line + below[0]))
    return joined
