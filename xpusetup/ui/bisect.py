"""The commit that broke something, in a form that goes into a report as it is."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.markup import escape

from xpusetup.ui.console import DONE

if TYPE_CHECKING:
    from rich.console import Console

    from xpusetup.bisect.io import Commit
    from xpusetup.commands.bisect import Bisection, CommitSearch


SHORT = 12


def show_bisect(console: Console, data: Bisection, *, verbose: bool) -> None:
    console.print()
    if wheels := data.nightlies:
        skipped = sum(trial.verdict == "skip" for trial in wheels.trials)
        told = f"{len(wheels.trials)} nightly wheels tried{f', {skipped} skipped' if skipped else ''}"
        console.print(f"   {told}: {escape(wheels.good)} works, {escape(wheels.bad)} does not\n")
        for trial in wheels.trials if verbose else ():
            console.print(f"     {trial.verdict:<5} {escape(trial.rev)}  {escape(trial.why)}", style="dim")
    _show_found(console, data)
    if data.inside:
        inside = data.inside
        console.print(f"   it moves {inside.component} from {inside.good[:SHORT]} to {inside.bad[:SHORT]}\n")
        _show_found(console, inside)
    hits, misses = data.cached
    cached = f" · {hits} of {hits + misses} compiles from the cache" if hits + misses else ""
    unsure = f", {data.skipped} could not be built or judged" if data.skipped else ""
    builds = "1 build" if data.builds == 1 else f"{data.builds} builds"
    console.print(f"\n   {builds}{unsure}{cached} · logs in {escape(data.root)}/logs", style="dim")
    if verbose:
        for trial in (*data.trials, *(data.inside.trials if data.inside else ())):
            console.print(f"     {trial.verdict:<5} {trial.rev[:SHORT]}  {escape(trial.why)}", style="dim")


def _show_found(console: Console, found: CommitSearch) -> None:
    if found.culprit:
        console.print(f" [green]✓[/] the first bad commit of {found.component}")
        _show_commit(console, found.culprit)
        return
    told = f"one of these commits of {found.component}; those between could not be built or judged"
    console.print(f" [yellow]![/] {told}")
    for commit in found.suspects:
        _show_commit(console, commit)


def _show_commit(console: Console, commit: Commit) -> None:
    console.print(f"     {commit.rev[:SHORT]} {escape(commit.subject)}")
    console.print(f"     [dim]{' ' * SHORT} {escape(commit.author)}, {commit.date}[/]")


def brief_bisect(data: Bisection) -> str:
    found = data.inside if data.inside and data.inside.culprit else data
    if not found.culprit:
        return ""
    return f"{DONE}{found.component} {found.culprit.rev} {escape(found.culprit.subject)}"
