"""How a counted step went the last time, and what that says of the time it still takes now.

A compile is not even: small objects come first, a few large ones and the linking last. So the pace of now is laid over
the course of an earlier run: at the same count, the same share of the time is gone.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

PARTS = 100
TRUSTED = 0.2
"""The share of the time after which the pace of now is all that counts; before it the earlier seconds count as well."""


@dataclass(frozen=True)
class Curve:
    """A step that counted to `total` and took `seconds`; `marks`: when each hundredth of the count was done."""

    total: int
    marks: tuple[float, ...]
    seconds: float

    def share(self, count: float) -> float:
        """Give the share of the time that was gone when so much was done. What follows the count has a share too."""
        at = min(max(count / self.total, 0.0), 1.0) * PARTS
        whole = min(int(at), PARTS - 1)
        time = self.marks[whole] + (self.marks[whole + 1] - self.marks[whole]) * (at - whole)
        return min(time / self.seconds, 1.0)

    def left(self, elapsed: float, count: int, total: int) -> float:
        """Give the seconds that are left of a run which has come to `count` of `total` in so many seconds.

        A smaller total goes on where an earlier run ended.
        """
        done = max(0, self.total - total) if total else 0
        start = self.share(done) if done else 0.0
        gone = (self.share(done + count * (self.total - done) / total) if total and count else start) - start
        earlier = self.seconds * (1 - start)
        weight = min(1.0, gone / TRUSTED)
        whole = earlier if not gone else weight * (elapsed / gone) * (1 - start) + (1 - weight) * earlier
        return max(0.0, whole - elapsed)


class Course:
    """Takes in how a step counts, for the next time. Of several pieces of work the largest counts."""

    def __init__(self) -> None:
        self._total = 0
        self._times: list[tuple[float, int]] = []

    def note(self, elapsed: float, count: int, total: int) -> None:
        """Take in how far the step was after so many seconds."""
        if total > self._total or (total == self._total and self._times and count < self._times[-1][1]):
            self._total, self._times = total, []
        if total == self._total and (not self._times or count > self._times[-1][1]):
            self._times.append((elapsed, count))

    @property
    def total(self) -> int:
        """What it counted to; 0 where it did not come to the end of that."""
        return self._total if self._times and self._times[-1][1] >= self._total else 0

    @property
    def marks(self) -> tuple[float, ...]:
        """When each hundredth was done, in seconds since the step began; empty where it did not come to its end."""
        return (
            tuple(round(_time_at(self._times, self.total * part / PARTS), 1) for part in range(PARTS + 1))
            if self.total
            else ()
        )


def _time_at(times: Sequence[tuple[float, int]], count: float) -> float:
    if count <= times[0][1]:
        return times[0][0]
    for (before, low), (after, high) in pairwise(times):
        if count <= high:
            return before + (after - before) * (count - low) / (high - low)
    return times[-1][0]


def parse_curve(total: object, marks: object, seconds: object) -> Curve | None:
    """Read a curve from a record; None where it holds none that can be used."""
    if not (isinstance(total, int) and isinstance(marks, list) and isinstance(seconds, (int, float))):
        return None
    times = [float(mark) for mark in marks if isinstance(mark, (int, float))]
    whole = total > 0 and len(times) == PARTS + 1 and times[-1] > 0 and times == sorted(times)
    return Curve(total, tuple(times), max(float(seconds), times[-1])) if whole else None
