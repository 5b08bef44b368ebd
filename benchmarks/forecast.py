"""The rows forecast_*: what a repeated build of torchvision says is left of it, beside what it took in the end."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from benchmarks.place import Place
from benchmarks.rows import Row, make_row
from benchmarks.timing import FailedError, seconds_of
from benchmarks.vision import write_profile

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from pathlib import Path

STEP = "vision.build"
SOON = 0.2
"""The share of the time after which a forecast has to be right."""
LIMIT = 0.15
"""By which share of the whole it may miss then."""


def measure_forecast(folder: Path, env: Mapping[str, str]) -> list[Row]:
    """Build from nothing, then the component anew; neither has a compiler cache."""
    folder.mkdir()
    profile, redirected = write_profile(folder, env)
    place = Place(profile, "vision", folder / "vision", redirected)
    events = folder / "events.jsonl"
    for before, words in ((lambda: None, ()), (place.forget_component, ("--events", str(events)))):
        build = place.build(before)
        seconds_of(replace(build, argv=(*build.argv, "--launcher", "none", *words)))
    lines = [json.loads(line) for line in events.read_text().splitlines()]
    shutil.rmtree(place.root)
    return [
        make_row("forecast_step", [max(misses_of_step(lines))], [LIMIT], goal=1.0, unit="of it"),
        make_row("forecast_all", [max(misses_of_all(lines))], [LIMIT], goal=1.0, unit="of it"),
    ]


def misses_of_step(events: Iterable[Mapping[str, Any]]) -> list[float]:
    """Give by which share of the step's time each forecast missed. Raises FailedError where none was made."""
    ours = [event for event in events if event.get("step") == STEP]
    began, ended = (next(event["time"] for event in ours if event["kind"] == kind) for kind in ("start", "end"))
    return _misses(((event["time"], event.get("left", 0.0)) for event in ours), began, ended)


def misses_of_all(events: Iterable[Mapping[str, Any]]) -> list[float]:
    """Give the same of the whole build, from its first step that ran to its last."""
    every = list(events)
    began = next(event["time"] for event in every if event["kind"] == "start")
    ended = max(event["time"] for event in every if event["kind"] == "end")
    return _misses(((event["time"], event.get("left_of_all", 0.0)) for event in every), began, ended)


def _misses(told: Iterable[tuple[float, float]], began: float, ended: float) -> list[float]:
    whole = ended - began
    found = [abs(time + left - ended) / whole for time, left in told if left and time - began >= SOON * whole]
    if not found:
        raise FailedError("nothing was said of the time that is left")
    return found
