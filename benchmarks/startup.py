"""The rows startup_*: what commands cost that do next to nothing, beside a plain Typer program's `--help`."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.help import make_entry
from benchmarks.plain import render_plain
from benchmarks.rows import Row, make_row
from benchmarks.timing import Command, take_processor_turns
from xpusetup.cli import app

if TYPE_CHECKING:
    from collections.abc import Mapping

    from benchmarks.place import Place

ROUNDS = 11
GOALS = {"help": 1.0, "build": 1.5, "status": 2.0, "plan": 2.0, "facts": 2.5}
FACTS = Path(__file__).parents[1] / "tests/machines/b580-ubuntu-24.04.json"


def measure_startup(folder: Path, place: Place, env: Mapping[str, str]) -> list[Row]:
    """Take the processor time of each in turns, on a build that is done and on facts that were saved."""
    (folder / "plain_program.py").write_text(render_plain(app))
    plain = make_entry(folder, "plain_program", env)
    ours = make_entry(folder, "xpusetup.cli", env)
    where = ("--profile", place.profile, "--root", str(place.root))
    commands = {
        "help": ours,
        "build": _with(ours, "build", *where),
        "status": _with(ours, "status", *where),
        "plan": _with(ours, "plan", *where),
        "facts": _with(ours, "doctor", "--profile", "torch-2.14", "--facts", str(FACTS)),
    }
    take_processor_turns(1, plain, *commands.values())  # once, so that all has been compiled to bytecode
    reference, *seen = take_processor_turns(ROUNDS, plain, *commands.values())
    named = zip(commands, seen, strict=True)
    return [make_row(f"startup_{name}", mine, reference, goal=GOALS[name], unit="s") for name, mine in named]


def _with(entry: Command, *words: str) -> Command:
    return Command((*entry.argv[:2], *words), entry.env)
