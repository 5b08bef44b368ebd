"""What ninja wrote down: how long each of its commands took, and when it began."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

DATED = 6
"""Logs of this version on hold when a command began; before, they hold the date of what it made, or nothing."""
FIELDS = 5
NANO = 1e9


@dataclass(frozen=True, kw_only=True)
class Edge:
    """One command of ninja: what it made, when it began (seconds since the epoch, 0 where unknown), what it took."""

    output: str
    began: float
    seconds: float


def parse_ninja_log(text: str) -> tuple[Edge, ...]:
    """Read a .ninja_log; of an output that was made several times the last counts. Lines cut off count for nothing."""
    head, *lines = text.splitlines() or [""]
    version = head.rpartition(" v")[2]
    dated = version.isdigit() and int(version) >= DATED
    commands: dict[tuple[str, str], Edge] = {}
    for line in lines:
        fields = line.split("\t")
        if len(fields) == FIELDS and all(field.isdigit() for field in fields[:3]):
            begin, end, date = map(int, fields[:3])
            edge = Edge(output=fields[3], began=date / NANO if dated else 0.0, seconds=(end - begin) / 1000)
            commands[fields[4], f"{begin} {end}"] = edge  # one command may make several files
    last = {key[0]: edge for key, edge in commands.items()}
    return tuple(last.values())


def average_jobs(edges: Iterable[Edge], since: float, until: float, pieces: int) -> list[tuple[float, float]]:
    """Give how many commands were at work on average in each of so many equal pieces of a time, with its beginning.

    Empty where no command is dated. Their dates are as coarse as the clock of the file system, so that a single moment
    would show more or fewer than there were.
    """
    width = (until - since) / pieces
    busy = [0.0] * pieces
    dated = [edge for edge in edges if edge.began and since <= edge.began < until]
    for edge in dated:
        end = min(edge.began + edge.seconds, until)
        for piece in range(int((edge.began - since) / width), min(int((end - since) / width), pieces - 1) + 1):
            begin = since + piece * width
            busy[piece] += max(0.0, min(end, begin + width) - max(edge.began, begin))
    return [(since + piece * width, round(seconds / width, 2)) for piece, seconds in enumerate(busy)] if dated else []
