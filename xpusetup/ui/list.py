"""The builds that are here on the screen: one row for each."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.markup import escape

from xpusetup.base.text import render_age, render_size
from xpusetup.system.environment import short_path
from xpusetup.ui.console import home_quoted, show_table

if TYPE_CHECKING:
    from rich.console import Console

    from xpusetup.base.model import BuildSummary
    from xpusetup.commands.list import BuildList


HEADS = ("", "build", "PyTorch", "state", "verified", "size", "age")
MORE = ("profile", "python", "targets", "environment")
"""What -v adds."""
VERIFIED = {True: "[green]yes[/]", False: "[red]no[/]", None: "not yet"}


def show_list(console: Console, data: BuildList, *, verbose: bool) -> None:
    console.print(f"\n {escape(short_path(data.root))}\n")
    for path in data.packing:
        console.print(" a bundle was not finished: the same bundle create goes on; to give it up:")
        console.print(f"   rm -rf {escape(home_quoted(path))}\n", soft_wrap=True)
    if not data.builds:
        console.print(" nothing is built here yet; the shortest way to PyTorch: xpusetup\n")
        return
    rows = [(*_cells(row), *(_more(row) if verbose else ())) for row in data.builds]
    show_table(console, HEADS + (MORE if verbose else ()), rows, right=("size",))
    for row in data.builds:
        if row.failed:
            log = home_quoted(f"{data.root}/{row.name}/logs/{row.failed}.log")
            console.print(f"\n [red]✗[/] {escape(row.name)} failed: xpusetup explain {escape(log)}", soft_wrap=True)
        for step, why in row.damaged.items():
            console.print(f" [red]✗[/] {escape(row.name)} {step}: {escape(why)}")
    console.print()


def show_glance(console: Console, rows: list[BuildSummary]) -> None:
    wide = max(len(row.name) for row in rows)
    for row in rows:
        torch = f"PyTorch {row.torch} · " if row.torch else ""
        proof = {True: "verified · ", False: "verification failed · ", None: ""}[row.verified]
        line = f"{row.name:<{wide}}  {torch}{_state(row)} · {proof}{render_age(row.age_s)}"
        console.print(f" {_mark(row)} {escape(line)}")
    use = "use one: xpusetup run -- python · " if any(row.state == "done" for row in rows) else ""
    console.print(f" {use}all builds: xpusetup list\n", style="dim")


def _mark(row: BuildSummary) -> str:
    if row.state in {"failed", "damaged"} or row.verified is False:
        return "[red]✗[/]"
    return "[green]✓[/]" if row.state == "done" else "[dim]·[/]"


def _cells(row: BuildSummary) -> tuple[str, ...]:
    words = (row.name, row.torch or "-", _state(row))
    return (_mark(row), *map(escape, words), VERIFIED[row.verified], render_size(row.bytes), render_age(row.age_s))


def _more(row: BuildSummary) -> tuple[str, ...]:
    words = (row.profile, row.python, ", ".join(row.arch) or "-", short_path(row.venv))
    return tuple(map(escape, words))


def _state(row: BuildSummary) -> str:
    made = "installed" if row.made_by == "install" else "built"
    steps = f"{row.done} of {row.steps} steps"
    half = f"interrupted in {', '.join(row.interrupted)}, {steps}" if row.interrupted else steps
    words = {"done": made, "half": half, "at work": f"at work, {steps}", "failed": f"{row.failed} failed"}
    return words.get(row.state, row.state)
