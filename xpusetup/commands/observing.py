"""Who else is told of what happens in a build: the file of `--events`, and the forecast, which adds what is left."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

from xpusetup.effects import files
from xpusetup.effects.history import read_history
from xpusetup.forecast import Forecast

if TYPE_CHECKING:
    from collections.abc import Callable

    from xpusetup.commands.prepare import Prepared
    from xpusetup.events import Event


def with_forecast(observe: Callable[[Event], None], prepared: Prepared) -> Callable[[Event], None]:
    """Add what is left to every event."""
    plan = prepared.plan
    forecast = Forecast(plan.steps, lambda: read_history(prepared.root.path, plan.profile))
    return lambda event: observe(forecast.tell(event))


def with_file(observe: Callable[[Event], None], file: str) -> Callable[[Event], None]:
    """Write every event into a file too, a line of JSON each; no file, no lines."""
    if not file:
        return observe
    path = Path(file)

    def tell(event: Event) -> None:
        files.append_line(path, json.dumps(event.document()))
        observe(event)

    return tell
