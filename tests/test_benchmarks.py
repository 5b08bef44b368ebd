"""How the rows judge a forecast: by the events of a build, against what it took in the end."""

from __future__ import annotations

from typing import Any

import pytest

from benchmarks.forecast import STEP, misses_of_all, misses_of_step
from benchmarks.timing import FailedError


def event(kind: str, time: float, step: str = STEP, **more: float) -> dict[str, Any]:
    return {"kind": kind, "time": time, "step": step, **more}


EVENTS = [
    event("start", 0, "vision.fetch"),
    event("end", 100, "vision.fetch", left_of_all=1000.0),
    event("start", 100),
    event("output", 150, left=10.0, left_of_all=10.0),  # too early to be judged
    event("output", 500, left=640.0, left_of_all=610.0),
    event("output", 600),  # nothing is said
    event("output", 900, left=150.0, left_of_all=200.0),
    event("end", 1100),
]


def test_a_forecast_is_judged_from_a_fifth_on() -> None:
    assert misses_of_step(EVENTS) == pytest.approx([0.04, 0.05])
    assert misses_of_all(EVENTS) == pytest.approx([10 / 1100, 0.0])


def test_a_build_that_foretells_nothing_is_no_proof() -> None:
    with pytest.raises(FailedError, match="nothing was said"):
        misses_of_step([event for event in EVENTS if "left" not in event])
