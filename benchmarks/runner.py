"""The rows of what the program itself uses while others compile."""

from __future__ import annotations

from typing import TYPE_CHECKING

from benchmarks.rows import Row, make_row
from benchmarks.timing import Usage, usage_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from benchmarks.place import Place

ROUNDS = 5
SHARE = 0.01
MEMORY = 60.0


def measure_rebuilds(place: Place) -> list[Usage]:
    """Build the component again from its fetch on. That is strict: starting and probing weigh on less compiling."""
    return [usage_of(place.build(before=place.forget_component)) for _ in range(ROUNDS)]


def make_runner_rows(usages: Sequence[Usage], prefix: str) -> list[Row]:
    """Compare the process with the whole, and its peak with the limit."""
    own, whole = [usage.own for usage in usages], [usage.own + usage.children for usage in usages]
    peaks = [usage.peak for usage in usages]
    return [
        make_row(f"{prefix}runner_cpu", own, whole, goal=SHARE, unit="s"),
        make_row(f"{prefix}runner_memory", peaks, [MEMORY] * len(peaks), goal=1.0, unit="MiB"),
    ]
