"""The commit that broke something, and the few lines of a report."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.markup import escape

from xpusetup.base.text import render_duration, render_size
from xpusetup.report.contents import Span, last_parts

if TYPE_CHECKING:
    from rich.console import Console

    from xpusetup.bisect.io import Commit
    from xpusetup.commands.bisect import Bisection, CommitSearch
    from xpusetup.commands.report import WrittenReport


# report: where the page lies, and the few lines that most people want from it.


SHOWN = 3


def show_report(console: Console, data: WrittenReport, *, verbose: bool) -> None:  # noqa: ARG001 - as all screens
    """Print what took longest, and where the whole of it is shown."""
    console.print(f"\n {data.profile} · {escape(data.root)}\n")
    for step in sorted(data.steps, key=lambda one: -one.seconds)[:SHOWN]:
        console.print(f"   {step.step:<20} {render_duration(step.seconds):>8}{_load(step)}")
    for edge in (each for each in data.longest[:SHOWN] if round(each.seconds)):
        name = escape(last_parts(edge.output))
        console.print(f"   [dim]{'  longest compile':<20}[/] {render_duration(edge.seconds):>8}    {name}")
    unseen = "  (there is no browser here: copy it to where there is one)" if data.opened is False else ""
    console.print(f"\n [green]✓[/] {escape(data.file)}{unseen}")


def _load(step: Span) -> str:
    jobs = f"{step.jobs} {'job' if step.jobs == 1 else 'jobs'}" if step.jobs else ""
    heaviest = f"the largest process took {render_size(step.heaviest)}" if step.heaviest else ""
    cached = f"{step.cached[0]} of {sum(step.cached)} compiles from the cache" if step.cached else ""
    words = [word for word in (jobs, heaviest, cached) if word]
    return f"    {' · '.join(words)}" if words else ""


# bisect: the commit that broke it, in a form that goes into a report as it is.


SHORT = 12


def show_bisect(console: Console, data: Bisection, *, verbose: bool) -> None:
    """Print the culprit, or who is suspected and why no build can tell."""
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
