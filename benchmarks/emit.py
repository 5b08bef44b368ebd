"""The row emit: what writing an image's folder costs, beside 300 ms."""

from __future__ import annotations

import sys
from shutil import rmtree
from typing import TYPE_CHECKING

from benchmarks.rows import Row, make_row
from benchmarks.timing import Command, take_turns

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

ROUNDS = 11
LIMIT = 0.3


def measure_emit(folder: Path, env: Mapping[str, str]) -> list[Row]:
    """Write the folder of a release anew each time."""
    words = ("-m", "xpusetup", "emit", "dockerfile", "--profile", "torch-2.14", "-o", str(folder / "image"))
    write = Command((sys.executable, *words), env, before=lambda: rmtree(folder / "image", ignore_errors=True))
    take_turns(1, (write, 1))  # once, so that all has been compiled to bytecode
    (ours,) = take_turns(ROUNDS, (write, ROUNDS))
    return [make_row("emit_time", ours, [LIMIT] * ROUNDS, goal=1.0, unit="s")]
