"""Who else is told of what happens in a build: the file of `--events`, and the forecast, which adds what is left."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

from xpusetup.effects import files
from xpusetup.redact import hide_all

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from xpusetup.commands.prepare import Prepared
    from xpusetup.events import Event
    from xpusetup.forecast import Forecast


def with_forecast(observe: Callable[[Event], None], prepared: Prepared) -> Callable[[Event], None]:
    """Add what is left to every event, from the first step that runs: a build that is done needs no forecast."""
    ended: list[Event] = []
    forecast: Forecast | None = None

    def tell(event: Event) -> None:
        nonlocal forecast
        if forecast is None and event.kind == "start":
            forecast = _make_forecast(prepared, ended)
        elif forecast is None and event.kind == "end":
            ended.append(event)
        observe(forecast.tell(event) if forecast else event)

    return tell


def _make_forecast(prepared: Prepared, ended: Iterable[Event]) -> Forecast:
    from xpusetup.effects.history import read_history  # noqa: PLC0415 - where nothing runs it is not asked
    from xpusetup.forecast import Forecast  # noqa: PLC0415 - same

    plan = prepared.plan
    forecast = Forecast(plan.steps, read_history(prepared.root.path, plan.profile))
    for event in ended:
        forecast.tell(event)
    return forecast


def with_file(observe: Callable[[Event], None], file: str) -> Callable[[Event], None]:
    """Write every event into a file too, a line of JSON each; no file, no lines."""
    if not file:
        return observe
    path = Path(file)

    def tell(event: Event) -> None:
        files.append_line(path, json.dumps(hide_all(event.document())))
        observe(event)

    return tell
