"""The rows of a diagnosis: beside torch's own collect_env, which sees far less, and beside what feels as quick."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from benchmarks.rows import Row, make_row
from benchmarks.timing import Command, FailedError, take_turns

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from benchmarks.place import Place

ROUNDS = 9
COLD, FACTS = 1.0, 0.25
ENTRY = """
import sys
from xpusetup.cli import main
try:
    main()
except SystemExit as end:
    sys.exit(end.code if end.code not in (0, 1) else 0)
"""
"""A diagnosis that finds something ends with 1; here that is as good as 0."""


def measure_doctor(folder: Path, place: Place, env: Mapping[str, str]) -> list[Row]:
    """Time a diagnosis for XPU, that of saved facts, and collect_env in an environment that has a torch, in turns."""
    saved = folder / "facts.json"
    take_turns(1, (_doctor(env, "--save", str(saved)), 1))
    if not saved.exists():
        raise FailedError("doctor --save wrote nothing")
    collect = Command((f"{place.root}/venv/bin/python", "-m", "torch.utils.collect_env"), dict(env), folder)
    cold, facts, theirs = take_turns(
        ROUNDS, (_doctor(env), ROUNDS), (_doctor(env, "--facts", str(saved)), ROUNDS), (collect, ROUNDS)
    )
    return [
        make_row("doctor_cold", cold, theirs, goal=1.0, unit="s"),
        make_row("doctor_cold_time", cold, [COLD] * ROUNDS, goal=1.0, unit="s"),
        make_row("doctor_facts_time", facts, [FACTS] * ROUNDS, goal=1.0, unit="s"),
    ]


def _doctor(env: Mapping[str, str], *words: str) -> Command:
    return Command((sys.executable, "-c", ENTRY, "doctor", "--profile", "torch-2.14", *words), env)
