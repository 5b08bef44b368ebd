"""One pass over a log: what is known of its failures, ranked, or watched while it grows."""

import re
from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Literal

from xpusetup.explain.blocks import LogBlock, make_blocks, strip_codes
from xpusetup.explain.evidence import Decided, Lines, LogEnds
from xpusetup.explain.finder import ANY, PERHAPS, Certainty, Finder, Refinement, Signature, make_finder, make_regex
from xpusetup.explain.quiet import Quiet
from xpusetup.explain.window import (
    DOWN,
    NINJA_FAILED,
    REACH,
    UP,
    Window,
    clean,
    clean_shown,
    find_reason,
    judge,
    make_window,
    say_whole,
)

# One pass over a log: the first place of each failure that is known, and the first line of any error at all.


COUNTED = 2000
"""How many errors are counted; in a log of nothing else, more would only cost time."""

TRIES = 200
"""How often a failure is looked for over several lines in vain; after that only in single lines, which is quick."""

ALIKE = 500
"""How often lines that are alike but for their digits are looked at in vain; a million of them costs no more."""

JUDGED = 20_000
"""Number of suspicious lines that are judged; after it only plain errors are looked at."""

COMPLAINTS = 400
"""How many lines that complain are kept, for what is shown beside a cause."""

LAST = 12
"""How many lines of the end are kept, for a log in which nothing is known."""

CLUSTER = 20
"""Hints that stand so near tell of one thing, the first of them best."""

TELLINGS = ("hint", "survived", "strong", "failed", "strong_after_failed", "weak", "reason")
"""The lines of any error that a pass keeps, by their kind."""
SOFT_LEVELS = ("unsure", "survived", "warning")
"""A failure that was seen like this is looked for on: the same may be said as an error further down."""
SPAN = 5
DIGITS = re.compile(r"\d+")
WRAPPED = 60
"""A terminal breaks a line of at least this length in the middle of a word."""
BEGUN = re.compile(r"[<\[]|[A-Z]+: |CMake (?:Error|Warning)|-- |Traceback ")
"""The beginning of a line that does not continue the one before."""


@dataclass(frozen=True)
class Match:
    """A failure that is known, and where it was first seen.

    `level` is what it is there; `unsure` an error that was said as a warning, as a download that is tried again;
    `survived` one in a traceback that a logger's warning brought, or that Python ignored; `late` is one of a person's
    command after another one that failed: it may be a consequence.
    """

    signature: Signature
    line: int
    text: str
    level: Literal["error", "warning", "pointer", "unsure", "survived"]
    when: str = ""
    said: Mapping[str, str] = field(default_factory=dict)
    near: Lines = field(default_factory=Lines)
    decided: Decided | None = None
    late: bool = False

    @property
    def general(self) -> bool:
        """Whether it says that something failed and not why, also after all that the log tells elsewhere."""
        return self._named.general

    @property
    def likely(self) -> bool:
        """Whether its cause is not sure, or one of several."""
        return self.confidence != "high" or self._named.general or self._named.likely

    @property
    def _named(self) -> Refinement | Signature:
        """What names its cause: the refinement taken, where that has one of its own."""
        narrowed = self.decided.refinement if self.decided else None
        return narrowed if narrowed and narrowed.cause else self.signature

    @property
    def certainty(self) -> Certainty:
        """How sure it is that this failed: as the refinement taken says, else as the failure; a late one is not."""
        narrowed = self.decided.refinement.confidence if self.decided else None
        known = narrowed or self.signature.confidence
        return "medium" if self.late and known == "high" else known

    @property
    def confidence(self) -> Certainty:
        """How sure its cause is: one that another line of the log only lets one infer is not."""
        told = self.decided is not None and self.decided.refinement.confidence is not None
        return "medium" if self._is_inferred and not told and self.certainty == "high" else self.certainty

    @property
    def _is_inferred(self) -> bool:
        """Whether its cause is told by another line than the one that fails."""
        if self.decided is None or not self.decided.refinement.cause:
            return False
        return self.decided.line != self.line and self.decided.text not in self.text


@dataclass(frozen=True)
class Telling:
    """A line that tells of an error, with those around it."""

    line: int
    text: str
    context: tuple[tuple[int, str], ...]
    when: str = ""
    sure: bool = True


@dataclass(frozen=True)
class LineOfBlock:
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
        return make_window(self.data, self.begin, self.number)


@dataclass
class ScanResult:
    """What one pass saw."""

    matches: dict[str, Match] = field(default_factory=dict)
    strong: Telling | None = None
    failed: Telling | None = None
    strong_after_failed: Telling | None = None
    weak: Telling | None = None
    reason: Telling | None = None
    survived: Telling | None = None
    hint: Telling | None = None
    near: int = 0
    judged: int = 0
    errors: list[int] = field(default_factory=list)
    complaints: list[tuple[int, str]] = field(default_factory=list)
    tries: dict[str, int] = field(default_factory=dict)
    vain: dict[tuple[str, tuple[int, ...]], int] = field(default_factory=dict)
    lines: int = 0
    tail: tuple[tuple[int, str], ...] = ()
    kept: LogEnds = field(default_factory=LogEnds)
    over: set[int] = field(default_factory=set)


def scan(chunks: Iterable[bytes], signatures: Sequence[Signature]) -> ScanResult:
    """Read a log once, in chunks of any size."""
    finder, seen, done, quiet = make_finder(signatures), ScanResult(), set[int](), Quiet()
    block = None
    for block in make_blocks(chunks):
        known = len(done)
        seen.kept.add(block.data[block.start : block.end])
        _read_block(block, finder, quiet, signatures, seen, done)
        finder = finder.without(done) if len(done) > known else finder
    seen.lines = _count_lines(block) if block else 0
    seen.tail = _last_lines(block, seen.lines) if block else ()
    return seen


def read_again(seen: ScanResult, over: AbstractSet[int], signatures: Sequence[Signature]) -> None:
    """Drop what stands in lines that are over, and look for the next place of each in what is kept of the log."""
    told, numbers = seen.kept.raw(seen.lines)
    left = [b"" if number in over else raw for raw, number in zip(told, numbers, strict=True)]
    again = scan([b"\n".join(left)], signatures)
    places = (0, *numbers)
    seen.over |= over
    seen.errors = sorted({*seen.errors, *(places[line] for line in again.errors)} - over)
    moved = [(places[line], text) for line, text in again.complaints]
    seen.complaints = sorted({*seen.complaints, *moved} - {pair for pair in seen.complaints if pair[0] in over})
    for kind in TELLINGS:
        old: Telling | None = getattr(seen, kind)
        new: Telling | None = getattr(again, kind)
        if old and (old.line in over or (kind in {"reason", "hint"} and over)):
            setattr(seen, kind, _moved(new, places) if new else None)
    for name in [name for name, match in seen.matches.items() if match.line in over]:
        del seen.matches[name]
    for name, match in again.matches.items():
        near = Lines(match.near.texts, tuple(places[line] for line in match.near.numbers))
        seen.matches.setdefault(name, replace(match, line=places[match.line], near=near))


def _moved(telling: Telling, places: Sequence[int]) -> Telling:
    context = tuple((places[line], text) for line, text in telling.context)
    return replace(telling, line=places[telling.line], context=context)


def _last_lines(last: LogBlock, lines: int) -> tuple[tuple[int, str], ...]:
    """Give the last lines that say something, with their numbers; of a very long one the end."""
    said = last.data[-REACH * 2 :].rstrip(b"\n").split(b"\n")
    told = [
        (lines - len(said) + 1 + index, clean_shown(raw.decode("utf-8", "replace"))) for index, raw in enumerate(said)
    ]
    return tuple((line, text[-REACH:]) for line, text in told if text.strip("\0 \t"))[-LAST:]


def _count_lines(last: LogBlock) -> int:
    ended = last.data.endswith(b"\n")
    return last.first + last.data.count(b"\n") - (1 if ended else 0)


def _read_block(
    block: LogBlock, finder: Finder, quiet: Quiet, signatures: Sequence[Signature], seen: ScanResult, done: set[int]
) -> None:
    number, counted = block.first, 0
    spans = quiet.spans(block.data.lower(), block.start, block.end)
    for begin, numbers in sorted(finder.find(block).items()):
        if spans.hold(begin):
            continue
        number, counted = number + block.data.count(b"\n", counted, begin), begin
        _try_line(LineOfBlock(block.data, begin, number), sorted(numbers - done), signatures, seen, done)


def _try_line(
    place: LineOfBlock, numbers: list[int], signatures: Sequence[Signature], seen: ScanResult, done: set[int]
) -> None:
    alike = (DIGITS.sub("0", place.line), tuple(numbers))
    vain = seen.vain.get(alike, 0)
    if vain >= ALIKE:
        return
    for index in numbers:
        if index in {ANY, PERHAPS}:
            vain = -1 if (index == ANY or ANY not in numbers) and _note_error(place.window, seen, done) else vain
        elif match := _try_signature(signatures[index], place, seen):
            _note_match(match, seen)
            vain = vain if match.level == "warning" else -1
            if match.level not in SOFT_LEVELS:
                done.add(index)
    if len(seen.vain) < COUNTED:
        seen.vain[alike] = vain + 1


def _try_signature(signature: Signature, place: LineOfBlock, seen: ScanResult) -> Match | None:
    """Look in the line alone first, then, unless that was in vain too often, over the lines around it."""
    if not signature.search(place.line):
        seen.tries[signature.id] = seen.tries.get(signature.id, 0) + 1
        if seen.tries[signature.id] > TRIES:
            return None
    return match_line(signature, place.window)


def _note_match(match: Match, seen: ScanResult) -> None:
    known = seen.matches.get(match.signature.id)
    if known is None or (known.level in SOFT_LEVELS and match.level not in SOFT_LEVELS):
        seen.matches[match.signature.id] = match


def _note_error(window: Window, seen: ScanResult, done: set[int]) -> bool:
    """Keep what a line tells, and say whether it was plain."""
    strength = judge(window)
    seen.judged += 1
    if seen.judged >= JUDGED:
        done.add(PERHAPS)
    if strength == "none":
        return False
    at, text = say_whole(window, window.at)
    number = window.numbers[at]
    telling = Telling(number, text, tuple(window.context(3)), window.when, strength != "hint")
    if strength in {"strong", "hint"} and len(seen.complaints) < COMPLAINTS:
        seen.complaints.append((number, text))
    if strength == "hint":
        seen.hint = telling if seen.hint is None or number > seen.near + CLUSTER else seen.hint
        seen.near = number
        return False
    if strength == "survived":
        seen.survived = seen.survived or telling
        return False
    seen.errors.append(number)
    if strength == "weak":
        seen.weak = seen.weak or telling
        seen.reason = seen.reason or _tell_reason(window)
        if NINJA_FAILED.match(window.line):
            seen.failed = seen.failed or telling
    else:
        seen.strong = _earlier(seen.strong, telling)
        if seen.failed:
            seen.strong_after_failed = seen.strong_after_failed or telling
    if len(seen.errors) >= COUNTED:
        done |= {ANY, PERHAPS}
    return True


def _tell_reason(window: Window) -> Telling | None:
    at = find_reason(window)
    if at is None:
        return None
    there = replace(window, at=at)
    return Telling(there.numbers[at], there.text, tuple(there.context(3)), window.when)


def _earlier(known: Telling | None, new: Telling) -> Telling:
    """Choose the one that was said first: by the time that a log of several ranks gives, else by its place."""
    if known is None:
        return new
    return new if new.when and len(new.when) == len(known.when) and new.when < known.when else known


def match_line(signature: Signature, window: Window) -> Match | None:
    """Look for a failure in a line, also where it is broken over the lines around it."""
    if not window.is_speech or _is_never(signature, window.line):
        return None
    first = max(0, window.at - SPAN)
    above, line = window.lines[first : window.at], window.line
    below = window.lines[window.at + 1 : window.at + 1 + SPAN]
    found = _search(signature, above, line, below)
    if found is None:
        return None
    offset, text, groups = found
    place = first + offset
    if _is_never(signature, window.lines[place]):
        return None
    level = _level(signature, window)
    place, whole = (place, text) if text else say_whole(window, place)
    near = Lines(window.shown or window.lines, window.numbers)
    return Match(signature, window.numbers[place], whole, level, window.when, groups, near)


def _is_never(signature: Signature, line: str) -> bool:
    return bool(signature.never) and make_regex(signature.never).search(line) is not None


def _level(signature: Signature, window: Window) -> Literal["error", "warning", "pointer", "unsure", "survived"]:
    """Give the level of a failure as it is said here: releases turn warnings into errors."""
    if signature.level == "error" and window.is_warning:
        return "unsure"
    if signature.level == "error" and window.is_survived:
        return "survived"
    if signature.level == "warning" and window.is_error:
        return "error"
    return signature.level


def _search(
    signature: Signature, above: Sequence[str], line: str, below: Sequence[str]
) -> tuple[int, str, dict[str, str]] | None:
    """Give the index of the line where a match begins, its text where that is put together, and what it names."""
    text = "\n".join((*above, line, *below))
    begin = sum(len(part) + 1 for part in above)
    for pattern in signature.patterns:
        for found in make_regex(pattern).finditer(text):
            if found.end() > begin and found.start() <= begin + len(line):
                return text.count("\n", 0, found.end() - len(found[0].lstrip())), "", _named(found)
    for place, whole in _wrapped(above, line, below):
        if found_whole := signature.search(whole):
            return place, whole.strip(), _named(found_whole)
    return None


def _named(found: re.Match[str]) -> dict[str, str]:
    return {name: value for name, value in found.groupdict().items() if value}


def _wrapped(above: Sequence[str], line: str, below: Sequence[str]) -> list[tuple[int, str]]:
    """Give a line joined with its neighbours as a terminal would have broken it."""
    joined = []
    if above and len(above[-1]) >= WRAPPED and not _begins(line, above[-1]):
        joined.append((len(above) - 1, above[-1] + line))
    if below and len(line) >= WRAPPED and not _begins(below[0], line):
        joined.append((len(above), line + below[0]))
    return joined


def _begins(line: str, above: str) -> bool:
    """Say whether a line begins anew: by its form, or with the word of the one above it, as in a list."""
    return bool(BEGUN.match(line)) or (bool(line.split()) and line.split()[:1] == above.split()[:1])


# Watches a log while it grows, for failures after which going on is a waste.


class Watcher:
    """Is fed the lines of a running step and says when it should be stopped.

    It holds the last lines only. What a tool breaks over several lines is seen with the line that completes it.
    """

    def __init__(self, signatures: Sequence[Signature]) -> None:
        self._signatures = [signature for signature in signatures if signature.abort]
        self._words = tuple({word.partition("|")[0] for known in self._signatures for word in known.words})
        self._lines: deque[str] = deque(maxlen=UP + 1)
        self._count = 0
        self._open = 0

    def feed(self, lines: Iterable[str]) -> Match | None:
        """Take the next lines; give the first failure that is marked `abort`, or None."""
        return next((match for line in lines if (match := self._take(line))), None)

    def _take(self, line: str) -> Match | None:
        self._count += 1
        self._lines.append(line)
        low = line.lower()
        if any(word in low for word in self._words):
            self._open = DOWN
        if not self._open:
            return None
        self._open -= 1
        return self._match()

    def _match(self) -> Match | None:
        """Try the lines at hand, any of which may be the one that a failure begins in."""
        lines = tuple(clean(strip_codes(line.encode()).decode("utf-8", "replace")) for line in self._lines)
        numbers = tuple(range(self._count - len(lines) + 1, self._count + 1))
        windows = [Window(lines, numbers, at) for at in range(len(lines))]
        tried = (match_line(signature, window) for signature in self._signatures for window in windows)
        return next((match for match in tried if match), None)
