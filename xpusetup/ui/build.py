"""The end of a build or an installation on the screen."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from rich.markup import escape

from xpusetup.base.text import render_duration, render_size
from xpusetup.ui.bundle import show_attempts
from xpusetup.ui.console import NOT_VERIFIED, prose, show_outcome, steps_left, verified, with_home
from xpusetup.ui.explain import show_cause, show_said
from xpusetup.ui.members import show_misfits, show_proofs, show_starts
from xpusetup.ui.unverified import show_unverified

if TYPE_CHECKING:
    from rich.console import Console

    from xpusetup.commands.build_result import BuildResult, InstallResult, NinjaTarget
    from xpusetup.commands.explain import StepFailure


LARGE = 10
LONG = 600
"""After so many seconds people want to know what they went into."""
LINE = 88
"""Longer lines of a log are cut: a compiler's command has thousands of characters."""


def show_build(console: Console, data: BuildResult, *, verbose: bool) -> None:
    if data.failure:
        show_failure(console, data.failure)
        show_attempts(console, data.reached_out)
        return
    if data.ran:
        console.print()
    show_attempts(console, data.reached_out)
    _show_end(console, data, verbose, folder="wheels", done="built")


def show_install(console: Console, data: InstallResult, *, verbose: bool) -> None:
    if data.failure:
        show_failure(console, data.failure)
        return
    if data.ran:
        console.print()
    for row in data.removed:
        console.print(f" [green]✓[/] {escape(row.name)} {escape(row.version)} was taken out")
        prose(console, "     ", row.why, style="dim")
    _show_end(console, data, verbose, folder="published", done="installed")
    if data.orphans:
        prose(console, "   ", f"nothing requires these any more: {', '.join(data.orphans)}")
        console.print(f"   remove them:  {escape(data.tidy)}")


def _show_end(console: Console, data: BuildResult, verbose: bool, *, folder: str, done: str) -> None:
    left = data.left
    if not data.ran:
        as_asked = "nothing to do as far as was asked" if left else "nothing to do: everything is done"
        console.print(f" [green]✓[/] {as_asked}")
    if data.target:
        _show_target(console, data, data.target)
        return
    if left and data.only:
        told = f"{' and '.join(data.only)} alone, as asked, not verified; of the rest {steps_left(left)}"
        prose(console, "   ", told, first=" [green]✓[/] ")
    elif left:
        mark, told = _stopped(data)
        prose(console, "   ", f"{told}{steps_left(left)}", first=f" {mark} ")
    else:
        show_outcome(console, data, done=done)
    fresh = verbose or not (data.ran and data.repeated)
    for name, place in data.editable.items() if fresh else ():
        console.print(f" [green]✓[/] {name} is installed editable from {with_home(place)}: of it there is no wheel")
    show_unverified(console, data.unverified if verbose else ())
    show_misfits(console, data.misfits)
    show_proofs(console, data.members)
    if data.wheels and fresh:
        console.print(f" [green]✓[/] {_wheels(data)} in {with_home(data.root)}/{folder}")
    for wheel in data.wheels if verbose else ():
        console.print(f"     {wheel.name} {wheel.version}  sha256 {wheel.sha256}", style="dim")
    _show_use(console, data, fresh=fresh)
    show_starts(console, data.starts if fresh else [])


def _stopped(data: BuildResult) -> tuple[str, str]:
    """Give the mark and the words of a build that is not finished: it may have been asked for no more."""
    if data.until:
        return "[green]✓[/]", f"stopped after {data.until}, as asked; "
    return "[yellow]![/]", "not finished: "


def in_one_line(data: BuildResult, done: str) -> str:
    if data.target:
        return f"[green]✓[/] {escape(data.target.target)}"
    if data.left:
        mark, told = ("[green]✓[/]", f"{' and '.join(data.only)} alone, as asked; ") if data.only else _stopped(data)
        return f"{mark} {told}{steps_left(data.left)}"
    told = verified(data) if data.verified else f"[yellow]![/] {done}{NOT_VERIFIED[data.not_verified]}"
    return f"{told} · {_wheels(data)}" if data.wheels else told


def _show_use(console: Console, data: BuildResult, *, fresh: bool) -> None:
    if data.ran:
        console.print(f"   {_time(data)}")
    if data.left and not data.only:
        console.print(f"   go on:          {with_home(data.go_on)}")
        return
    if fresh:
        console.print(f"   use it:         {with_home(data.use)}")
    if data.left:
        console.print(f"   build the rest: {with_home(data.go_on)}")
    if data.wheels and fresh:
        console.print(f"   another venv:   {with_home(data.elsewhere.command)}")
        if data.elsewhere.needs:
            console.print(f"                   with {data.elsewhere.needs} switched on there too", style="dim")
    if data.ran and data.seconds >= LONG:
        console.print(f"   where it went:  {with_home(data.report)}")


def _show_target(console: Console, data: BuildResult, target: NinjaTarget) -> None:
    """Say what one target of ninja left, and that there is no wheel of it."""
    for file in target.files:
        console.print(f" [green]✓[/] {with_home(file)}", soft_wrap=True)
    done = "" if target.files else f"{target.target} is up to date; "
    console.print(f" [yellow]![/] {done}no wheel was made: without --target the same command goes on from here")
    if data.ran:
        console.print(f"   {_time(data)}")


def _time(data: BuildResult) -> str:
    longest = max(data.took, key=data.took.__getitem__)
    of_it = f" in total, {render_duration(data.took[longest])} of it in {longest}" if len(data.took) > 1 else ""
    before = f" · {len(data.skipped)} done before" if data.skipped else ""
    steps = "1 step" if len(data.ran) == 1 else f"{len(data.ran)} steps"
    return f"{render_duration(data.seconds)}{of_it} · {steps}{before}"


def _wheels(data: BuildResult) -> str:
    return "1 wheel" if len(data.wheels) == 1 else f"{len(data.wheels)} wheels"


def _is_shown(failure: StepFailure, line: str) -> bool:
    """Say whether a line of the log is that of the compiler which stands above all."""
    told = line.partition("error:")[2].strip()
    return bool(told) and any(told in each for each in failure.compiler)


def show_failure(console: Console, failure: StepFailure) -> None:
    go_on = failure.go_on
    if failure.compiler:  # flush left and in one line: editors and terminals make a link of FILE:LINE:COLUMN
        console.print()
    for line in failure.compiler:
        console.print(escape(line), soft_wrap=True)
    console.print(f"\n [red]✗ {failure.step} failed[/] after {render_duration(go_on.seconds)}\n")
    if failure.causes:
        shown = _is_shown(failure, failure.causes[0].text)
        show_cause(console, failure.causes[0], indent=3, log="" if shown else Path(failure.log).name)
    elif failure.said:
        show_said(console, failure.said, indent=3)
    else:  # what the log says by itself
        if failure.first_error and not _is_shown(failure, failure.first_error):
            console.print(f"   [bold]Error[/]    {escape(failure.first_error)}")
            console.print(f"            [dim]line {failure.first_error_line} of the log[/]")
        if failure.last_lines:
            lines = [line if len(line) <= LINE else f"{line[: LINE - 1]}…" for line in failure.last_lines]
            console.print("   [bold]Last[/]     " + escape("\n            ".join(lines)))
    for place in failure.full:
        room = "room there" if place.lacks is None else f"room for {render_size(place.lacks)} more"
        console.print(f"   [bold]Full[/]     {escape(place.says)}; make {room}")
    if failure.tried:
        jobs = ", ".join(map(str, failure.tried))
        last = failure.tried[-1] // 2  # one more than is in the list
        heaviest = f"; the largest process alone took {render_size(failure.heaviest)}" if failure.heaviest else ""
        told = f"{jobs}, then {last} {'job' if last == 1 else 'jobs'}{heaviest}"
        console.print(f"   [bold]Tried[/]    {told}")
    count, total = go_on.reached
    console.print(f"   [bold]Go on[/]    {with_home(go_on.command)}{f'      from [{count}/{total}]' if total else ''}")
    console.print(f"   [bold]By hand[/]  {with_home(failure.again)}")
    console.print(f"   [bold]Log[/]      {with_home(failure.log)}")
    if failure.causes[0].likely if failure.causes else failure.said is None:
        console.print("   [bold]Ask[/]      others, with this text:")
        console.print(f"            xpusetup explain {with_home(failure.log)} --prompt", soft_wrap=True)


def brief_built(data: BuildResult) -> str:
    return in_one_line(data, "built")


def brief_installed(data: InstallResult) -> str:
    return in_one_line(data, "installed")
