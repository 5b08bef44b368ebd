"""The rows of a verification on the CPU: what it takes beyond `import torch`, beside what was promised."""

from __future__ import annotations

from typing import TYPE_CHECKING

from benchmarks.rows import Row, make_row
from benchmarks.timing import Command, take_turns

if TYPE_CHECKING:
    from collections.abc import Iterator

    from benchmarks.place import Place

ROUNDS = 5
PROMISED = {"quick": 10.0, "smoke": 90.0}
"""Seconds on two cores, for quick beyond `import torch`."""


def measure_verify(place: Place, levels: tuple[str, ...]) -> Iterator[Row]:
    """Time the verification of the CPU at each level in turns with `import torch`."""
    python, helper = f"{place.root}/venv/bin/python", f"{place.root}/helpers/verify_device.py"
    bare = Command((python, "-c", "import torch"), dict(place.env))
    for level in levels:
        words = (python, helper, "--device", "cpu", "--level", level)
        whole, alone = take_turns(ROUNDS, (Command(words, dict(place.env)), ROUNDS), (bare, ROUNDS))
        beyond = [one - other for one, other in zip(whole, alone, strict=True)]
        yield make_row(f"verify_{level}_time", beyond, [PROMISED[level]] * ROUNDS, goal=1.0, unit="s")
