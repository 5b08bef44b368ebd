"""Watches a log while it grows, for failures after which going on is a waste."""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING

from xpusetup.explain.blocks import strip_codes
from xpusetup.explain.clean import clean
from xpusetup.explain.scan import Match, match_line
from xpusetup.explain.window import DOWN, UP, Window

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from xpusetup.explain.signatures import Signature


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
