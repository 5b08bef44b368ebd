"""The lines of a block that may hold a complaint: most of a long log only tells what is at work."""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import dataclass
from itertools import accumulate

WORK = re.compile(
    rb"(?:\d{4}-\d\d-\d\d[t ][\d:.,]+z? |#\d+ \d+\.\d+ )?"
    rb"(?:\[[\d/ %]{2,16}\] (?:building |linking |generating |running |compiling |copying |performing |scanning "
    rb"|creating |built |completed |re-running |install |cd |: && |/)"
    rb"|-- )|[ \d]*\|(?![a-z_]+\|)"
)
"""Progress of ninja and of CMake's make, status lines of CMake, quoted source; a CI's time may stand before them."""


@dataclass(frozen=True)
class Speech:
    """The lines of a block that may hold a complaint, without those that only tell what is at work."""

    text: bytes
    starts: list[int]
    origins: list[int]

    def origin(self, place: int) -> int:
        """Give where a place of the text is in the block."""
        line = min(bisect_right(self.starts, place), len(self.origins)) - 1
        return self.origins[line] + place - self.starts[line]


def cut_speech(low: bytes, start: int, end: int) -> Speech:
    """Leave out progress, status lines and quoted source: most of a long log, and never a complaint.

    Where a terminal's progress bars share lines with what came after them, nothing is left out.
    """
    part = low[start:end]
    if b"\r" in part:
        return Speech(part, [0], [start])
    lines = part.split(b"\n")
    places = accumulate((len(line) + 1 for line in lines), initial=start)
    said = [(place, line) for place, line in zip(places, lines, strict=False) if not WORK.match(line)]
    starts = accumulate((len(line) + 1 for _place, line in said), initial=0)
    return Speech(b"\n".join([line for _place, line in said]), list(starts), [place for place, _line in said])
