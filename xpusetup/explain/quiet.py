"""Parts of a log whose errors are nobody's failure: what tests that passed printed, what a configure tried in vain."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass

STAMP = rb"^(?:\d{4}-\d\d-\d\dt[\d:.]+z )?"


@dataclass(frozen=True)
class Lasting:
    """A part that lasts from a line to the next of another form, over any number of blocks."""

    hint: bytes
    begin: re.Pattern[bytes]
    end: re.Pattern[bytes]


@dataclass(frozen=True)
class QuietPart:
    """A part between two lines, the second of which says that it was well."""

    hint: bytes
    line: re.Pattern[bytes]


def _regex(text: bytes) -> re.Pattern[bytes]:
    return re.compile(text, re.MULTILINE)


LASTING = (
    Lasting(b"= passes =", _regex(STAMP + rb"=+ passes =+$"), _regex(STAMP + rb"=+ (?!passes\b)[^\n]+ =+$")),
    Lasting(
        b"with the following output:",
        _regex(
            rb"^(?:determining|checking|performing|compiling) [^\n]{1,300} (?:failed|passed) with the following output:"
        ),
        _regex(STAMP + rb"(?:-- |cmake (?:error|warning)|\+ |\$ |ninja: entering|\[\d+/\d+\] (?![^\n]*cmtc_))"),
    ),
    Lasting(b"try_", _regex(rb'^\s+kind: "try_(?:compile|run)-v\d'), _regex(rb"^\s+exitcode: ")),
    Lasting(
        b" :: ",
        _regex(STAMP + rb"(?:pass|xfail|unsupported|flakypass): [^\n]{1,80} :: [^\n]+\(\d+ of \d+\)$"),
        _regex(STAMP + rb"(?:\w+: [^\n]{1,80} :: [^\n]+\(\d+ of \d+\)$|\*{10}|testing time: |failed tests)"),
    ),
    Lasting(b"commit ", _regex(rb"^commit [0-9a-f]{7,40}\b"), _regex(rb"^(?!commit\b|author|date:|merge:|    |\n|\Z)")),
)
"""pytest's PASSES, CMakeError.log, CMakeConfigureLog.yaml, what lit shows of a good test, git log."""
JUDGED = (
    QuietPart(b"[ run  ", _regex(rb"^\[(?: run (?P<begin> )    |  (?P<ill>failed)  |       (?P<well>ok) )\]")),
    QuietPart(
        b" live log ",
        _regex(
            rb"^(?:(?P<begin>-+ live log \w+ -+$)|(?P<well>passed|skipped|xfail|xpass)\b"
            rb"|(?P<ill>failed|error)\b *(?:\[|$))"
        ),
    ),
    QuietPart(
        b") ... ",
        _regex(
            rb"^(?:(?P<begin>test\w* \([^\n]*\) \.\.\. (?!ok$|fail$|error$|skipped))"
            rb"|(?P<well>ok|skipped\b[^\n]*|expected failure)$|(?P<ill>fail|error)$)"
        ),
    ),
    QuietPart(
        b" test ",
        _regex(
            rb"^ *(?:(?P<begin>start) +(?P<opened>\d+): |\d+/\d+ test +#(?:(?P<closed>\d+): [^\n]*"
            rb"(?:(?P<well> passed|\*\*\*skipped) +[\d.]+ sec$|(?P<ill>\*\*\*))))"
        ),
    ),
    QuietPart(b">&5", _regex(rb"^configure:\d+: (?:(?P<well>\$\? = )|(?P<begin>[^\n]*>&5$))(?P<ill>\Zx)?")),
)
"""googletest, pytest's live log, unittest -v, ctest -V, config.log."""


class Quiet:
    """Finds these parts block by block."""

    def __init__(self) -> None:
        self._open: Lasting | None = None

    def spans(self, low: bytes, start: int, end: int) -> Spans:
        """Give the quiet parts of a block in lower case, of which `start` to `end` is to be judged."""
        found = [*self._lasting(low, start, end), *_judged(low)]
        return Spans(sorted(found))

    def _lasting(self, low: bytes, start: int, end: int) -> Iterator[tuple[int, int]]:
        place = start
        while place < end:
            begin, after = place, place
            if self._open is None:
                begun = [(found.start(), kind) for kind in LASTING if (found := _search(kind, low, place, end))]
                if not begun:
                    return
                begin, self._open = min(begun, key=lambda pair: pair[0])
                after = low.find(b"\n", begin, end) + 1 or end
            over = self._open.end.search(low, after, end)
            place = over.start() if over else end
            yield begin, place
            self._open = None if over else self._open


def _search(kind: Lasting, low: bytes, start: int, end: int) -> re.Match[bytes] | None:
    return kind.begin.search(low, start, end) if low.find(kind.hint, start, end) >= 0 else None


def _judged(low: bytes) -> Iterator[tuple[int, int]]:
    for kind in JUDGED:
        if kind.hint not in low:
            continue
        begin, opened = -1, None
        for found in kind.line.finditer(low):
            numbers = found.groupdict()
            if found["begin"] is not None:
                begin, opened = found.start(), numbers.get("opened")
            elif found["well"] is not None and begin >= 0 and numbers.get("closed") == opened:
                yield begin, found.end()
                begin = -1
            else:
                begin = -1


@dataclass(frozen=True)
class Spans:
    """Parts of a block, in their order."""

    parts: list[tuple[int, int]]

    def hold(self, place: int) -> bool:
        """Say whether a place lies in one of them."""
        index = bisect_right(self.parts, (place, 1 << 62)) - 1
        return any(begin <= place < end for begin, end in self.parts[max(0, index - 2) : index + 1])
