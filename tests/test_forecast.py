"""What is left of a build, told with its events."""

from __future__ import annotations

from typing import Any

import pytest

from test_estimate import SECONDS, STEPS
from xpusetup.base.model import Event
from xpusetup.run.time_left import Forecast, History, Passes, blend

KNOWN = History(seconds=SECONDS)


class Build:
    """Events in, what they say is left out."""

    def __init__(self, history: History) -> None:
        self.forecast = Forecast(STEPS, history)

    def say(self, kind: Any, step: str, time: float, **words: Any) -> tuple[float, float]:
        told = self.forecast.tell(Event(kind=kind, step=step, time=time, **words))
        return told.left, told.left_of_all

    def run(self, *steps: str) -> float:
        """Let steps run one after the other, each as long as it took before."""
        time = 0.0
        for step in steps:
            self.say("start", step, time)
            time += SECONDS[step]
            self.say("end", step, time, state="ran", seconds=SECONDS[step])
        return time


def test_a_known_build_is_known_from_its_first_step() -> None:
    assert Build(KNOWN).say("start", "v", 0) == (2.0, 1132.0)


def test_what_is_done_is_left_no_more() -> None:
    build = Build(KNOWN)
    for step in "vpf":
        build.say("end", step, 0, state="done")
    assert build.say("start", "b", 0) == (1000.0, 1050.0)
    assert build.say("output", "b", 400, text="x") == (600.0, 650.0)


def test_two_lanes() -> None:
    build = Build(KNOWN)
    time = build.run("v", "p", "f")
    build.say("start", "b", time)
    assert build.say("start", "g", time) == (300.0, 1050.0)
    assert build.say("output", "g", time + 100, text="x") == (200.0, 950.0)


def test_the_pace_of_now_counts_the_more_the_further_a_compile_is() -> None:
    """It is twice as slow as the last time, when it took 1000 seconds."""
    build = Build(KNOWN)
    time = build.run("v", "p", "f", "g")
    build.say("start", "b", time)
    told = [build.say("output", "b", time + 2 * done, count=done, total=1000) for done in (1, 250, 500, 900)]
    misses = [abs(2 * (1000 - done) - here) / 2000 for done, (here, _all) in zip((1, 250, 500, 900), told, strict=True)]
    assert misses == sorted(misses, reverse=True)
    assert misses[-1] < 0.02
    assert told[-1][1] == pytest.approx(told[-1][0] + SECONDS["c"], abs=0.2)


def test_a_repeated_compile_is_known_from_its_first_object() -> None:
    build = Build(KNOWN)
    time = build.run("v", "p", "f", "g")
    build.say("start", "b", time)
    for done in (10, 500, 990):
        here, _all = build.say("output", "b", time + done, count=done, total=1000)
        assert here == pytest.approx(1000 - done, abs=1)


def test_a_compile_that_goes_on_has_the_rest_of_the_time() -> None:
    """It was killed at half of its 400 commands: ninja counts what is left."""
    build = Build(KNOWN._replace(edges={"b": 400}))
    time = build.run("v", "p", "f", "g")
    build.say("start", "b", time)
    assert build.say("output", "b", time, count=0, total=200)[0] == 500.0


def test_a_compile_of_far_more_than_ever_is_known_by_its_own_pace_alone() -> None:
    """A setting chose ten times the sources: the seconds of the run before say nothing."""
    build = Build(KNOWN._replace(edges={"b": 20}))
    time = build.run("v", "p", "f", "g")
    build.say("start", "b", time)
    assert build.say("output", "b", time, count=1, total=200)[0] == 0.0  # not known yet
    assert build.say("output", "b", time + 2000, count=101, total=200)[0] == 1980.0


def test_more_time_than_ever_leaves_no_less_than_nothing() -> None:
    assert blend(1000.0, 5000.0, 0.0) == 0.0
    assert blend(1000.0, 5000.0, 0.5) == 2500.0


def test_extensions_one_after_the_other_are_one_count() -> None:
    """As a setup.py has them, of which ninja finds out that one had a command less to run."""
    seen = Passes()
    for count, total in [(1, 2), (2, 2), (1, 5), (2, 5), (3, 4)]:
        seen.note(count, total)
    assert (seen.done, seen.total) == (5, 0)
    for count, total in [(4, 4), (1, 1)]:
        seen.note(count, total)
    assert (seen.done, seen.total, seen.totals) == (7, 7, [2, 4, 1])


def test_what_was_never_run_is_not_guessed() -> None:
    build = Build(History(seconds={"v": 2.0, "b": 5.0}))
    assert build.say("start", "v", 0) == (2.0, 0.0)
    build.say("end", "v", 2, state="ran")
    assert build.say("start", "p", 2) == (0.0, 0.0)


def test_a_first_compile_is_known_by_its_own_pace() -> None:
    known = {step: seconds for step, seconds in SECONDS.items() if step != "b"}
    build = Build(History(seconds=known))
    time = build.run("v", "p", "f", "g")
    build.say("start", "b", time)
    told = [build.say("output", "b", time + second, count=second, total=300) for second in range(1, 101)]
    assert told[3] == (0.0, 0.0)
    here, whole = told[-1]
    assert here == pytest.approx(200, abs=5)
    assert whole == pytest.approx(here + SECONDS["c"], abs=0.2)


def test_a_line_within_a_second_has_the_answer_of_the_one_before() -> None:
    build = Build(KNOWN)
    build.say("start", "v", 0)
    assert build.say("output", "v", 0.5, text="x") == (1.5, 1132.0)


def test_events_of_a_plan_in_which_nothing_runs_stay_as_they_are() -> None:
    forecast = Forecast(STEPS, KNOWN)
    events = [Event(kind="plan", time=0), *(Event(kind="end", time=0, step=step.id, state="done") for step in STEPS)]
    assert [forecast.tell(event) for event in events] == events
