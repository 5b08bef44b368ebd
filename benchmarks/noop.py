"""The rows of a build in which nothing has changed, beside the raw recipe and beside what feels as at once."""

from __future__ import annotations

from typing import TYPE_CHECKING

from benchmarks.rows import Row, make_row
from benchmarks.timing import take_turns

if TYPE_CHECKING:
    from benchmarks.place import Place

ROUNDS = 11
RECIPES = 5
AT_ONCE = 0.3


def measure_noop(place: Place, prefix: str, *, goal: float, cleans: int) -> list[Row]:
    """Time the second build, the recipe from a clean tree, and the recipe where that left everything, in turns."""
    commands = (place.build(), ROUNDS), (place.recipe(clean=True), cleans), (place.recipe(clean=False), RECIPES)
    ours, clean, kept = take_turns(ROUNDS, *commands)
    return [
        make_row(f"{prefix}noop", ours, clean, goal=goal, unit="s"),
        make_row(f"{prefix}noop_kept", ours, kept, goal=1.0, unit="s"),
        make_row(f"{prefix}noop_time", ours, [AT_ONCE] * ROUNDS, goal=1.0, unit="s"),
    ]
