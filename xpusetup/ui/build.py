"""The end of a build on the screen, its plan, and what a root holds."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING

from rich.markup import escape

from xpusetup.base.text import render_duration, render_size
from xpusetup.run.time_left import render_about
from xpusetup.system.environment import short_path
from xpusetup.ui.console import MARKS, chosen, prose, show_table, verified
from xpusetup.ui.explain import show_cause, show_explain, show_said
from xpusetup.ui.storage import show_attempts, show_unverified

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from rich.console import Console

    from xpusetup.commands.build_result import BuildResult, InstallResult, NinjaTarget
    from xpusetup.commands.explain import StepFailure
    from xpusetup.commands.members import InstalledMisfit, StackMember, StartCommand, WhyPackage
    from xpusetup.commands.plan import PlanResult, Saving
    from xpusetup.commands.status import BuildStatus
    from xpusetup.run.guard import ReplacedPackage


# What of an environment was replaced, and by whom, on the screen.


def show_replaced(console: Console, row: ReplacedPackage) -> None:
    """Print one change: what was there, what is, when and by what it came, and who is to blame."""
    console.print(f" [red]✗[/] {escape(_what(row))}")
    prose(console, "     ", row.why)


def _what(row: ReplacedPackage) -> str:
    name, was, now = row.name, row.was, row.now
    when = f" on {row.when[:16].replace('T', ' ')}" if row.when else ""
    by = f", by {row.by}" if row.by else ""
    if was is None:
        return f"{name} {now} came into the environment{when}{by}"
    if now is None:
        return f"{name} {was} is gone from the environment"
    return f"{name} {was} was replaced by {'another build of it' if now == was else now}{when}{by}"


# What beside torch was made for another one.


def show_misfits(console: Console, rows: Sequence[InstalledMisfit] | None) -> None:
    """Print each with its first reason, and the command that mends it."""
    for row in rows or ():
        prose(console, "   ", f"{row.name} {row.version} {row.reason}", first=" [yellow]![/] ")
        console.print(f"   [bold]fix[/]  {_short(row.fix)}", soft_wrap=True)


# The end of a build on the screen, and its plan.


LARGE = 10
LONG = 600
"""After so many seconds people want to know what they went into."""
LINE = 88
"""Longer lines of a log are cut: a compiler's command has thousands of characters."""
NAMED = 3
"""So many steps are named before they are counted."""


def show_build(console: Console, data: BuildResult, *, verbose: bool) -> None:
    """Print how a build ended."""
    if data.failure:
        show_failure(console, data.failure)
        show_attempts(console, data.reached_out)
        return
    if data.ran:
        console.print()
    show_attempts(console, data.reached_out)
    _show_end(console, data, verbose, folder="wheels", done="built")


def show_install(console: Console, data: InstallResult, *, verbose: bool) -> None:
    """Print how an installation ended, and what it took out of the environment."""
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
        prose(console, "   ", f"not finished: {steps_left(left)}", first=" [yellow]![/] ")
    else:
        console.print(f" {_proof(data, done)}")
        if not data.verified:
            console.print(f"   {_short(data.verify)}")
    for name, place in data.editable.items():
        console.print(f" [green]✓[/] {name} is installed editable from {_short(place)}: of it there is no wheel")
    show_unverified(console, data.unverified if verbose else ())
    show_misfits(console, data.misfits)
    show_proofs(console, data.members)
    if data.wheels:
        console.print(f" [green]✓[/] {_wheels(data)} in {_short(data.root)}/{folder}")
    for wheel in data.wheels if verbose else ():
        console.print(f"     {wheel.name} {wheel.version}  sha256 {wheel.sha256}", style="dim")
    _show_use(console, data)
    show_starts(console, data.starts)


def in_one_line(data: BuildResult, done: str) -> str:
    """Say how a build that did not fail ended, in one line."""
    if data.target:
        return f"[green]✓[/] {escape(data.target.target)}"
    if data.left:
        made = f"{' and '.join(data.only)} alone, as asked" if data.only else "not finished"
        return f"{'[green]✓[/]' if data.only else '[yellow]![/]'} {made}: {steps_left(data.left)}"
    told = _proof(data, done) if data.verified else f"[yellow]![/] {done}, not verified: no device was computed on"
    return f"{told} · {_wheels(data)} in {_short(data.root)}" if data.wheels else told


def steps_left(left: Sequence[str]) -> str:
    """Say which steps are still to come."""
    more = f" and {len(left) - NAMED} more" if len(left) > NAMED else ""
    return f"{len(left)} {'step' if len(left) == 1 else 'steps'} to come ({', '.join(left[:NAMED])}{more})"


def _show_use(console: Console, data: BuildResult) -> None:
    """Say how what was made is used, here and elsewhere."""
    if data.ran:
        console.print(f"   {_time(data)}")
    if data.left and not data.only:
        console.print(f"   go on:          {_short(data.go_on)}")
        return
    console.print(f"   use it:         {_short(data.use)}")
    if data.left:
        console.print(f"   build the rest: {_short(data.go_on)}")
    if data.wheels:
        console.print(f"   or, elsewhere:  {_short(data.elsewhere.command)}")
        if data.elsewhere.needs:
            console.print(f"                   with {data.elsewhere.needs} switched on there too", style="dim")
    if data.ran and data.seconds >= LONG:
        console.print(f"   where it went:  {_short(data.report)}")


def _show_target(console: Console, data: BuildResult, target: NinjaTarget) -> None:
    """Say what one target of ninja left, and that there is no wheel of it."""
    for file in target.files:
        console.print(f" [green]✓[/] {_short(file)}", soft_wrap=True)
    done = "" if target.files else f"{target.target} is up to date; "
    console.print(f" [yellow]![/] {done}no wheel was made: without --target the same command goes on from here")
    if data.ran:
        console.print(f"   {_time(data)}")


def _proof(data: BuildResult, done: str) -> str:
    proof = data.proof
    if not (data.verified and proof and proof.device):
        return verified(data.verified, done=done)
    return f"[green]✓[/] verified on {escape(proof.device)}: {proof.checks} checks"


def _time(data: BuildResult) -> str:
    longest = max(data.took, key=data.took.__getitem__)
    of_it = f", of it {longest} {render_duration(data.took[longest])}" if len(data.took) > 1 else ""
    before = f" · {len(data.skipped)} done before" if data.skipped else ""
    steps = "1 step" if len(data.ran) == 1 else f"{len(data.ran)} steps"
    return f"{render_duration(data.seconds)}{of_it} · {steps}{before}"


def _short(text: str) -> str:
    """Write the home as ~ wherever a word begins with it, and keep rich from reading markup."""
    return escape(" ".join(short_path(word) for word in text.split(" ")))


def _wheels(data: BuildResult) -> str:
    return "1 wheel" if len(data.wheels) == 1 else f"{len(data.wheels)} wheels"


def show_failure(console: Console, failure: StepFailure) -> None:
    """Print why a step failed, as far as that is known, and how to go on."""
    go_on = failure.go_on
    if failure.compiler:  # flush left and in one line: editors and terminals make a link of FILE:LINE:COLUMN
        console.print()
    for line in failure.compiler:
        console.print(escape(line), soft_wrap=True)
    console.print(f"\n [red]✗ {failure.step} failed[/] after {render_duration(go_on.seconds)}\n")
    if failure.causes:
        show_cause(console, failure.causes[0], indent=3, log=Path(failure.log).name)
    elif failure.said:
        show_said(console, failure.said, indent=3)
    else:  # what the log says by itself
        if failure.first_error:
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
    console.print(f"   [bold]Go on[/]    {_short(go_on.command)}{f'      from [{count}/{total}]' if total else ''}")
    console.print(f"   [bold]By hand[/]  {_short(failure.again)}")
    console.print(f"   [bold]Log[/]      {_short(failure.log)}")
    if failure.causes[0].likely if failure.causes else failure.said is None:
        console.print(
            f"   [bold]Ask[/]      xpusetup explain {_short(failure.log)} --prompt    [dim]a text for others[/]"
        )


def show_plan(console: Console, data: PlanResult, *, verbose: bool) -> None:
    """Print the steps and the state each is in, or why each would run."""
    if data.explain:
        show_explain(console, data)
        return
    if data.why is not None:
        show_why(console, data.why)
        return
    rows = []
    for step in data.steps:
        state = f"{MARKS[step.state]} {'to do' if step.state == 'todo' else step.state}"
        why = f": {escape(step.why)}" if step.why else ""
        # with a toolkit goes a compiler
        needs = (need for need in step.needs if need != "compiler" or "toolkit" not in step.needs)
        rows.append((step.id, " ".join(needs), state + why, escape(step.title)))
    console.print(f"\n {data.profile}{chosen(data.chosen_by['profile'])} · {_short(data.root)}\n")
    for note in data.notes:
        prose(console, "   ", note, first=" [yellow]![/] ")
    console.print("\n" if data.notes else "", end="")
    show_table(console, ("step", "needs", "state", "what"), rows, clear=("state", "what"))
    show_choices(console, data.members)
    show_starts(console, data.starts)
    console.print(f"\n {_estimate(data)}")
    if data.missing:
        console.print(f" [yellow]![/] not ready to build here: {', '.join(data.missing)}; why, and what mends it:")
        console.print(f"   {escape(data.fix)}")
    _show_savings(console, data.savings, verbose)
    if verbose:
        _show_details(console, data)


def _show_details(console: Console, data: PlanResult) -> None:
    """Print what each step does, and where estimates, hashes and settings are from."""
    for step in data.steps:
        console.print(f"\n [bold]{step.id}[/]")
        for line in step.recipe:
            console.print(f"   {line}", markup=False)
    if data.estimate.expected:
        prose(console, "   ", f"the estimate is from: {data.estimate.expected.source}", style="dim")
    show_unverified(console, data.unverified)
    for name, origin in data.chosen_by.items():
        console.print(f" {name}: from {origin}", style="dim")


def _show_savings(console: Console, savings: Sequence[Saving], verbose: bool) -> None:
    """Say how less is built; with -v also what each way saves and gives up."""
    for saving in savings:
        mark = "[green]✓[/]" if saving.on else "[dim]·[/]"
        how = f": {saving.how}" if saving.how else ""
        console.print(f" {mark} {escape(saving.what + how)}")
        if verbose:
            prose(console, "     ", f"saves: {saving.saves} · gives up: {saving.gives_up}", first="     ")


HERE, ELSEWHERE, GUESS = "measured here", "measured elsewhere", "guess"


def _estimate(data: PlanResult) -> str:
    """Say what the build will cost, and whether that was measured or is a guess; what nobody knows is unknown."""
    told, cost = data.estimate, data.estimate.expected
    if all(step.state == "done" for step in data.steps):
        return f"nothing to do · {render_size(told.disk)} on disk"
    whence = ELSEWHERE if cost and cost.confidence == "confirmed" else GUESS
    if told.seconds is not None:
        time = f"{render_about(told.seconds)} ({HERE})"
    elif cost and cost.seconds:
        time = f"{_range(cost.seconds, _about)} ({whence})"
    else:
        time = f"time unknown ({_never(data)})"
    disk = f"{render_size(told.disk)} on disk ({HERE})"
    if told.disk is None:
        disk = f"{_range(cost.disk, render_size)} on disk ({whence})" if cost else "unknown on disk"
    jobs = f" for {told.jobs} {'job' if told.jobs == 1 else 'jobs'}" if told.jobs else ""
    return f"{time}\n {disk} · memory {render_size(told.memory)}{jobs}"


def _never(data: PlanResult) -> str:
    names = data.estimate.unknown
    if len(names) == sum(step.state != "done" for step in data.steps) > NAMED:
        return "none of it was measured here yet"
    more = f" and {len(names) - NAMED} more" if len(names) > NAMED else ""
    return f"never run here: {', '.join(names[:NAMED])}{more}"


def _about(seconds: float) -> str:
    return render_about(seconds).removeprefix("about ")


def _range(ends: tuple[float, float], render: Callable[[float], str]) -> str:
    return f"{render(ends[0])} to {render(ends[1])}"


# The screen of `status`: what a root holds, and whether that is still so.


VERIFYING = "verify."
VOID = "not verified any more: what is here is not what was verified"


def _show_sources(console: Console, data: BuildStatus) -> None:
    for name, tree in data.sources.items():
        own = ", a source tree of your own" if tree.own else ""
        own += ", installed editable" if tree.editable else ""
        if tree.archive:
            console.print(f"   {name} from an unpacked archive, sha256 {tree.archive[:12]} of the tree{own}")
            continue
        console.print(f"   {name} at {tree.rev[:12]}{own}{', with changes of your own' if tree.changed else ''}")
    for patch in data.patches:
        console.print(f"   {patch['source']} with {escape(Path(patch['file']).name)}, {patch['sha256']}")


def show_status(console: Console, data: BuildStatus, *, verbose: bool) -> None:
    """Print what a root holds."""
    console.print(f"\n {data.profile}{chosen(data.chosen_by)} · {_short(data.root)}\n")
    for wheel in data.wheels:
        mark = "[red]✗[/]" if not wheel.intact else "[green]✓[/]" if wheel.installed else "[dim]·[/]"
        there = "" if wheel.installed else "  not installed"
        console.print(f" {mark} {wheel.name} {wheel.version}  [dim]{wheel.sha256[:12]}{there}[/]")
    _show_sources(console, data)
    show_unverified(console, data.unverified if verbose else ())
    show_misfits(console, data.misfits)
    show_proofs(console, data.members)
    for row in data.replaced:
        show_replaced(console, row)
    for step, why in data.damaged.items():
        if not (data.replaced and "/RECORD " in why):  # that follows from the lines above
            console.print(f" [red]✗[/] {step}: {escape(why)}")
    harmed = data.damaged or data.replaced
    for number, line in enumerate(data.fix.splitlines() if harmed else ()):
        console.print(f"   [bold]{'fix' if number == 0 else '   '}[/]  {escape(line)}")
    if data.at_work is not None:
        now = f": {', '.join(data.at_work)}" if data.at_work else ""
        console.print(f" … {data.made_by} is at work{now} · {data.steps - len(data.skipped)} steps to come")
        for step in data.at_work:
            console.print(f"   [bold]watch[/]  {escape(data.follow)} --log {step} -f")
    elif data.failed and not data.failed.startswith(VERIFYING):
        left = f"; {steps_left(data.left)}" if data.left else ""
        prose(console, "   ", f"{data.failed} failed{left}", first=" [red]✗[/] ")
        console.print(f"   [bold]why[/]    xpusetup explain {escape(shlex.quote(data.root))}/logs/{data.failed}.log")
        console.print(f"   [bold]go on[/]  {escape(data.fix)}")
    elif data.left:
        prose(console, "   ", f"not finished: {steps_left(data.left)}", first=" [yellow]![/] ")
        console.print(f"   [bold]go on[/]  {escape(data.fix)}")
    else:
        _show_held_proof(console, data, " (before that)" if harmed else "")


def _show_held_proof(console: Console, data: BuildStatus, before: str) -> None:
    if data.void:
        prose(console, "   ", VOID, first=" [yellow]![/] ")
        console.print(f"   {escape(data.verify)}")
        return
    done = "built" if data.made_by == "build" else "installed"
    console.print(f" {verified(data.verified, done=done)}{before}")
    if not data.verified:
        console.print(f"   {escape(data.verify)}")


# The members of a stack on the screen: how each is had, why, and how far it was proved.


ANSWERS = {"taken": "[green]✓[/]", "refused": "[red]✗[/]", "not needed": "[dim]·[/]"}
HOWS = {"wheel": "wheel", "source": "source", "skip": "left out"}


def show_choices(console: Console, members: Sequence[StackMember]) -> None:
    """Print each member with its candidates, and why each was taken or not."""
    for member in members:
        version = f" {member.version}" if member.version else ""
        console.print(f"\n {escape(member.distribution)}{escape(version)}  [dim]binds {member.binds}[/]")
        for each in member.candidates:
            what = f"{HOWS[each.how]}{f' {each.version}' if each.version else ''}"
            prose(console, "     ", f"{what}: {each.why}", first=f"   {ANSWERS[each.answer]} ")


def show_starts(console: Console, starts: Sequence[StartCommand]) -> None:
    """Print what begins with it, each command whole."""
    console.print("\n" if starts else "", end="")
    for each in starts:
        instead = " (instead of installing)" if each.instead else ""
        prose(console, "     ", f"{each.title}{instead}: {each.why}", first=" then ")
        console.print(f"     {escape(shlex.join(each.argv))}", soft_wrap=True)


def show_proofs(console: Console, members: Sequence[StackMember]) -> None:
    """Print how far each member was proved, and which are left out."""
    for member in members:
        if member.how == "skip":
            why = next(each.why for each in member.candidates if each.how == "skip")
            prose(console, "     ", f"{member.distribution} is left out: {why}", first=" [dim]·[/] ")
        elif member.proof:
            mark = "[green]✓[/]" if member.proven else "[yellow]![/]"
            prose(console, "     ", f"{member.distribution} {member.version} {member.proof}", first=f" {mark} ")


def show_why(console: Console, why: WhyPackage) -> None:
    """Print the chain of a package, a line for each link."""
    console.print()
    for number, line in enumerate(why.lines):
        prose(console, "     ", line, first="   [dim]└[/] " if number else " ")
