"""What git says while it fetches, summed over all repositories, and said as ninja says how far it is."""

from __future__ import annotations

import re
import threading
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from summary import UNITS, render_size

if TYPE_CHECKING:
    from collections.abc import Callable

EVERY = 0.5
"""Seconds between two lines, however many repositories have something to say."""
COUNTED = re.compile(r"(Receiving objects): +\d+% \((\d+)/(\d+)\)(?:, ([\d.]+) ([KMG]iB|bytes))?")
PASSING_BY = re.compile(r"^(?:remote: )?[A-Z][a-z]+(?: [a-z]+)*: +\d+(?:%|$|,)")
"""Other lines of progress, as of the server's own counting: nothing that a log has to keep."""


@dataclass
class Received:
    """How much of one repository has come."""

    objects: int = 0
    total: int = 0
    size: float = 0.0


class Progress:
    """How far all repositories are together. Its lines begin with [objects/of all]; several threads may speak."""

    def __init__(self, say: Callable[[str], None], clock: Callable[[], float] = time.monotonic) -> None:
        self._say, self._clock = say, clock
        self._lock = threading.Lock()
        self._received: dict[str, Received] = {}
        self._known = self._here = 0
        self._said = -EVERY

    def expect(self, number: int) -> None:
        """Learn of so many repositories more."""
        with self._lock:
            self._known += number

    def have(self) -> None:
        """Learn that one repository is all here."""
        with self._lock:
            self._here += 1
            if self._received:
                self._tell(always=self._here == self._known)

    def take(self, name: str, line: str) -> bool:
        """Take in a line that git said while it fetched a repository; False when it is not about progress."""
        found = COUNTED.search(line)
        if found is None:
            return PASSING_BY.match(line) is not None
        with self._lock:
            size = parse_size(found[4], found[5]) if found[4] else 0.0
            self._received[name] = Received(int(found[2]), int(found[3]), size)
            self._tell(always=False)
        return True

    def _tell(self, *, always: bool) -> None:
        if not always and self._clock() - self._said < EVERY:
            return
        self._said = self._clock()
        parts = self._received.values()
        objects, total = sum(part.objects for part in parts), sum(part.total for part in parts)
        places = f", {self._here} of {self._known} repositories" if self._known > 1 else ""
        self._say(f"[{objects}/{total}] objects, {render_size(sum(part.size for part in parts))}{places}")


def parse_size(number: str, unit: str) -> float:
    """Give the bytes of a size as git writes it: 412.10 MiB, 318 bytes."""
    return float(number) * float(1024 ** (0 if unit == "bytes" else UNITS.index(unit)))
