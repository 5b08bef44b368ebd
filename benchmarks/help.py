"""The row help: what our `--help` costs beside that of a plain Typer program of the same size."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from benchmarks.plain import render_plain
from benchmarks.rows import Row, make_row
from benchmarks.timing import Command, take_turns
from xpusetup.cli import app

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

ROUNDS = 15
GOAL = 1.15
ENTRY = "import sys\nfrom {module} import main\nif __name__ == '__main__':\n    sys.exit(main())\n"


def measure_help(folder: Path, env: Mapping[str, str]) -> list[Row]:
    """Start both in turns, by scripts as pip writes them, with the same interpreter and the same path."""
    (folder / "plain_program.py").write_text(render_plain(app))
    ours = make_entry(folder, "xpusetup.cli", env)
    plain = make_entry(folder, "plain_program", env)
    take_turns(1, (ours, 1), (plain, 1))  # once, so that both have been compiled to bytecode
    mine, other = take_turns(ROUNDS, (ours, ROUNDS), (plain, ROUNDS))
    return [make_row("help", mine, other, goal=GOAL, unit="s")]


def make_entry(folder: Path, module: str, env: Mapping[str, str]) -> Command:
    """Give a program's --help, started by a script as pip writes it."""
    script = folder / module.partition(".")[0]
    script.write_text(ENTRY.format(module=module))
    return Command((sys.executable, str(script), "--help"), {**env, "PYTHONPATH": str(folder)})
