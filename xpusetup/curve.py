"""How a counted step went the last time, and what that says of the time it still takes now.

A compile is not even: small objects come first, a few large ones and the linking last. So the pace of now is laid over
the course of an earlier run: at the same count, the same share of the time is gone.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import pairwise
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

PARTS = 100
TRUSTED = 0.2
"""The share of the time after which the pace of now is all that counts; before it the earlier seconds count as well."""


@dataclass
class Passes:
    """How far a step is that counts once or several times, as a setup.py does with an extension after the other."""

    totals: list[int] = field(default_factory=list)
    count: int = 0

    def note(self, count: int, total: int) -> bool:
        """Take in a count; say whether one that did not come to its end begins again."""
        again = False
        if not self.totals or (self.count >= self.totals[-1] and (count, total) != (self.count, self.totals[-1])):
            self.totals.append(total)
        else:
            again = count < self.count
            self.totals[-1] = total
        self.count = count
        return again

    @property
    def before(self) -> int:
        """What the passes before this one counted to."""
        return sum(self.totals[:-1])

    @property
    def done(self) -> int:
        """How much is done, over all passes."""
        return self.before + self.count


@dataclass(frozen=True)
class Curve:
    """A step that counted to `total` and took `seconds`; `marks`: when each hundredth of the count was done.

    `passes`: what it counted to each time, where it was more than once.
    """

    total: int
    marks: tuple[float, ...]
    seconds: float
    passes: tuple[int, ...] = ()

    def expect(self, seen: Sequence[int]) -> int:
        """Give what a run will have counted to that has begun these passes: those that came after them come again."""
        return sum(seen) + sum(self.passes[len(seen) :])

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
    """Takes in how a step counts, for the next time."""

    def __init__(self) -> None:
        self._passes = Passes()
        self._times: list[tuple[float, int]] = []

    def note(self, elapsed: float, count: int, total: int) -> None:
        """Take in how far the step was after so many seconds."""
        if self._passes.note(count, total):
            self._times = [each for each in self._times if each[1] <= self._passes.before]
        if not self._times or self._passes.done > self._times[-1][1]:
            self._times.append((elapsed, self._passes.done))

    @property
    def total(self) -> int:
        """What it counted to; 0 where it did not come to the end of that."""
        totals = self._passes.totals
        return sum(totals) if totals and self._passes.count >= totals[-1] else 0

    @property
    def passes(self) -> tuple[int, ...]:
        """What it counted to each time; empty where it was only once."""
        return tuple(self._passes.totals) if self.total and len(self._passes.totals) > 1 else ()

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


def parse_curve(total: object, marks: object, seconds: object, passes: object = None) -> Curve | None:
    """Read a curve from a record; None where it holds none that can be used."""
    if not (isinstance(total, int) and isinstance(marks, list) and isinstance(seconds, (int, float))):
        return None
    times = [float(mark) for mark in marks if isinstance(mark, (int, float))]
    whole = total > 0 and len(times) == PARTS + 1 and times[-1] > 0 and times == sorted(times)
    several = tuple(each for each in passes if isinstance(each, int)) if isinstance(passes, list) else ()
    known = several if sum(several) == total else ()
    return Curve(total, tuple(times), max(float(seconds), times[-1]), known) if whole else None
