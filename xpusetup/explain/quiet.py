"""Parts of a log whose errors are nobody's failure: what a configure tried in vain, what git log shows."""

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


def _regex(text: bytes) -> re.Pattern[bytes]:
    return re.compile(text, re.MULTILINE)


LASTING = (
    Lasting(
        b"with the following output:",
        _regex(
            rb"^(?:determining|checking|performing|compiling) [^\n]{1,300} (?:failed|passed) with the following output:"
        ),
        _regex(STAMP + rb"(?:-- |cmake (?:error|warning)|\+ |\$ |ninja: entering|\[\d+/\d+\] (?![^\n]*cmtc_))"),
    ),
    Lasting(b"try_", _regex(rb'^\s+kind: "try_(?:compile|run)-v\d'), _regex(rb"^\s+exitcode: ")),
    Lasting(b"commit ", _regex(rb"^commit [0-9a-f]{7,40}\b"), _regex(rb"^(?!commit\b|author|date:|merge:|    |\n|\Z)")),
)
"""CMakeError.log, CMakeConfigureLog.yaml, git log."""


class Quiet:
    """Finds these parts block by block."""

    def __init__(self) -> None:
        self._open: Lasting | None = None

    def spans(self, low: bytes, start: int, end: int) -> Spans:
        """Give the quiet parts of a block in lower case, of which `start` to `end` is to be judged."""
        return Spans(list(self._lasting(low, start, end)))

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


@dataclass(frozen=True)
class Spans:
    """Parts of a block, in their order."""

    parts: list[tuple[int, int]]

    def hold(self, place: int) -> bool:
        """Say whether a place lies in one of them."""
        index = bisect_right(self.parts, (place, 1 << 62)) - 1
        return index >= 0 and place < self.parts[index][1]
