"""The time that a build still takes: what is at work by its pace, what is to come by what it took before."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from xpusetup.curve import Passes
from xpusetup.estimate import simulate
from xpusetup.progress import Pace

if TYPE_CHECKING:
    from collections.abc import Sequence

    from xpusetup.estimate import History
    from xpusetup.events import Event
    from xpusetup.model import Step

EVERY = 1.0
"""Seconds for which an answer holds: a compile says several lines a second."""


@dataclass
class _AtWork:
    began: float
    passes: Passes = field(default_factory=Passes)
    pace: Pace = field(default_factory=Pace)


class Forecast:
    """Adds to the events of a build what is left of their step and of all. It is silent while too little is known."""

    def __init__(self, steps: Sequence[Step], history: History) -> None:
        self._steps, self._history = steps, history
        self._todo = {step.id for step in steps}
        self._running: dict[str, _AtWork] = {}
        self._told = 0.0
        self._answer: float | None = None

    def tell(self, event: Event) -> Event:
        """Take in an event, and give it with the seconds that are left."""
        self._take(event)
        if event.kind not in {"start", "output", "end"} or not self._running:
            return event
        if event.kind != "output" or event.time - self._told >= EVERY:
            self._told, self._answer = event.time, self._left_of_all(event.time)
        here = self._left(event.step, event.time) if event.step in self._running else None
        return replace(event, left=round(here or 0.0, 1), left_of_all=round(self._answer or 0.0, 1))

    def _take(self, event: Event) -> None:
        if event.kind == "start":
            self._running[event.step] = _AtWork(event.time)
        elif event.kind == "output" and event.total and event.step in self._running:
            one = self._running[event.step]
            one.passes.note(event.count, event.total)
            one.pace.note(event.time, event.count, event.total)
        elif event.kind == "end":
            self._running.pop(event.step, None)
            self._todo.discard(event.step)

    def _left(self, step: str, time: float) -> float | None:
        """Give the seconds that are left of a step at work; None while they are not known."""
        one, elapsed = self._running[step], time - self._running[step].began
        if curve := self._history.curves.get(step):
            return curve.left(elapsed, one.passes.done, curve.expect(one.passes.totals) if one.passes.totals else 0)
        if one.passes.totals:
            return one.pace.left(time)
        seconds = self._history.seconds.get(step)
        return None if seconds is None else max(0.0, seconds - elapsed)

    def _left_of_all(self, time: float) -> float | None:
        here = {step: self._left(step, time) for step in self._running}
        seconds = {**self._history.seconds, **{step: left for step, left in here.items() if left is not None}}
        unknown = [step for step, left in here.items() if left is None]
        if unknown or not self._todo <= seconds.keys():
            return None
        return simulate(self._steps, self._todo, seconds)
