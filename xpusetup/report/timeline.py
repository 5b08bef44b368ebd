"""The steps of a build in time: what ran when, and a scale on which nothing takes room while nothing ran."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

IDLE = 30.0
"""Seconds without a step after which a build has been left and taken up again later."""
PAUSE = 0.015
"""The share of the whole width that stands for such a pause."""
BEGAN = "began"
"""The state of a line that only says when a compile began."""
TRIES = {"short", "failed", "cut"}
"""Tries that did not end well, and what came of them is there all the same."""


@dataclass(frozen=True, kw_only=True)
class Span:
    """A step at work, as its journal tells: from when to when in seconds since the epoch, and what it took.

    `state` is ran, failed, short (the memory was, for so many jobs), cut (it was killed) or no-device. None where
    something was not counted.
    """

    step: str
    lane: str
    state: str
    began: float
    seconds: float
    jobs: int | None = None
    growth: int | None = None
    heaviest: int | None = None
    objects: int | None = None
    cached: tuple[int, int] | None = None

    @property
    def ended(self) -> float:
        """When it ended."""
        return self.began + self.seconds


def parse_spans(records: Iterable[Mapping[str, Any]]) -> tuple[Span, ...]:
    """Give what led to what is there: the last time that each step ended, and the tries of the same key before it."""
    known = [
        one for one in records if {"step", "key", "state", "time", "seconds"} <= one.keys() and one["state"] != BEGAN
    ]
    last = {record["step"]: record for record in known}
    wanted = (record for record in known if _led_to(record, last[record["step"]]))
    return tuple(sorted(map(_parse_span, wanted), key=lambda span: span.began))


def _led_to(record: Mapping[str, Any], last: Mapping[str, Any]) -> bool:
    return record is last or (record["key"] == last["key"] and record["state"] in TRIES)


def _parse_span(record: Mapping[str, Any]) -> Span:
    jobs, growth, heaviest = record.get("load") or (None, None, None)
    cached = record.get("cached")
    return Span(
        step=record["step"],
        lane=record.get("lane") or "work",
        state=record["state"],
        began=record["time"] - record["seconds"],
        seconds=record["seconds"],
        jobs=jobs,
        growth=growth,
        heaviest=heaviest,
        objects=record.get("edges") or None,
        cached=(cached[0], cached[1]) if cached and sum(cached) else None,
    )


class Scale:
    """Places moments between 0 and 1, with the pauses of a build made small. `pieces`: when something ran."""

    def __init__(self, spans: Sequence[Span]) -> None:
        self.pieces = _merge(sorted((span.began, span.ended) for span in spans))
        self.seconds = sum(end - begin for begin, end in self.pieces)
        self._room = 1 - PAUSE * max(0, len(self.pieces) - 1)

    def place(self, time: float) -> float | None:
        """Give where a moment lies; None for one in which nothing ran."""
        gone = 0.0
        for number, (begin, end) in enumerate(self.pieces):
            if begin <= time <= end:
                return self._at(gone + time - begin, number)
            gone += end - begin
        return None

    def share(self, points: int) -> tuple[tuple[float, float, int], ...]:
        """Give the pieces, each with its share of so many points."""
        return tuple(
            (begin, end, max(1, round(points * (end - begin) / self.seconds)))
            for begin, end in self.pieces
            if end > begin
        )

    @property
    def pauses(self) -> tuple[float, ...]:
        """Where the build was left and taken up again: the middle of each pause."""
        places = []
        gone = 0.0
        for number, (begin, end) in enumerate(self.pieces[:-1]):
            gone += end - begin
            places.append(self._at(gone, number) + PAUSE / 2)
        return tuple(places)

    def ticks(self, most: int = 8) -> tuple[tuple[float, float], ...]:
        """Give round times of work since the beginning, with their places: at most so many."""
        step = next((size for size in STEPS if self.seconds / size <= most), STEPS[-1])
        times = [step * number for number in range(int(self.seconds // step) + 1)]
        return tuple((time, place) for time in times if (place := self._of_work(time)) is not None)

    def _of_work(self, seconds: float) -> float | None:
        gone = 0.0
        for number, (begin, end) in enumerate(self.pieces):
            if seconds <= gone + end - begin:
                return self._at(seconds, number)
            gone += end - begin
        return None

    def _at(self, seconds: float, pauses: int) -> float:
        return pauses * PAUSE + self._room * (seconds / self.seconds if self.seconds else 0.0)


def thin(points: Sequence[tuple[float, float]], since: float, until: float, most: int) -> list[tuple[float, float]]:
    """Give at most so many of the points within a time, each the greatest of an equal piece of it."""
    width = (until - since) / most
    greatest: dict[int, tuple[float, float]] = {}
    for time, value in points:
        piece = min(int((time - since) / width), most - 1)
        if since <= time <= until and value >= greatest.get(piece, (0.0, 0.0))[1]:
            greatest[piece] = (time, value)
    return [greatest[piece] for piece in sorted(greatest)]


STEPS = (1, 2, 5, 10, 20, 30, 60, 120, 300, 600, 1200, 1800, 3600, 7200, 14400, 28800, 86400)


def _merge(spans: Sequence[tuple[float, float]]) -> tuple[tuple[float, float], ...]:
    pieces: list[tuple[float, float]] = []
    for begin, end in spans:
        if pieces and begin - pieces[-1][1] <= IDLE:
            pieces[-1] = (pieces[-1][0], max(pieces[-1][1], end))
        else:
            pieces.append((begin, end))
    return tuple(pieces)
