"""The doctor's screen, the shortest way on this machine, and setup's commands."""

from __future__ import annotations

import shlex
from itertools import groupby
from typing import TYPE_CHECKING

from rich.markup import escape

from xpusetup.system.logs import STDIN
from xpusetup.ui.console import MARKS, prose
from xpusetup.ui.list import show_glance

if TYPE_CHECKING:
    from collections.abc import Collection

    from rich.console import Console

    from xpusetup.commands.doctor import CheckList, Comparison, Diagnosis, DoctorFinding, UpstreamReport
    from xpusetup.commands.paste import PasteSummary
    from xpusetup.commands.recommend import Overview, Recommendation
    from xpusetup.commands.setup import SetupResult
    from xpusetup.recommend.answer import WayStep


# setup's screen: the commands in order, what has to be done by hand, and how to go on.


def show_setup(console: Console, data: SetupResult, *, verbose: bool) -> None:  # noqa: ARG001 - as all screens
    """Print what to install, or what became of it."""
    if data.ran:
        _show_end(console, data)
        return
    show_commands(console, data)
    if data.file:
        console.print(f" [green]✓[/] as a script for root: {escape(data.file)}\n")
    elif data.commands:
        console.print(f" do it, after asking: [cyan]{escape(data.apply)}[/]\n")
    if data.left:  # what stops this and no command above mends
        for row in data.left:
            console.print(f" [red]✗[/] [bold]{row.id}[/]  {escape(row.seen.splitlines()[0])}")
            prose(console, "   ", row.why)
            for line in row.commands:
                console.print(f"     [cyan]{escape(line)}[/]")
            prose(console, "   ", row.say)
        console.print(f"   all of it: [cyan]{escape(data.checks)}[/]\n")
    elif not data.commands and not data.notes:
        console.print(f" [green]✓[/] nothing is missing for this: {escape(data.follows)}\n")


def show_commands(console: Console, data: SetupResult) -> None:
    """Print the commands by step, and what no command is known for."""
    console.print(f"\n [bold]{escape(data.machine)}[/]")
    console.print(f" to {data.goal} {data.profile} · collected {data.collected}\n", style="dim")
    for number, (title, group) in enumerate(groupby(data.commands, key=lambda row: row.title), start=1):
        console.print(f"   {number}  {escape(title)}")
        rows = list(group)
        for row in rows:
            sudo = "sudo " if "root" in row.needs else ""
            console.print(f"        [cyan]{escape(sudo + shlex.join(row.argv))}[/]")
        if rows[-1].then:
            words = {"restart": "then restart this machine, and ask again", "login": "then log out and in again"}
            console.print(f"      {words[rows[-1].then]}")
    for note in data.notes:
        console.print(f"   [yellow]![/]  {escape(note.title)}")
        prose(console, "        ", note.say)
        for line in note.commands:
            console.print(f"        [cyan]{escape(line)}[/]")
        console.print(f"        [dim]{escape(note.source)}[/]")
    console.print()


def _show_end(console: Console, data: SetupResult) -> None:
    console.print(f"\n [green]✓[/] {len(data.ran)} of {len({row.id for row in data.commands})} steps are done")
    if data.stopped == "restart":
        console.print(f" [yellow]![/] restart this machine, then go on with: [cyan]{escape(data.apply)}[/]\n")
        return
    if data.stopped == "login":
        console.print(" [yellow]![/] log out and in again: groups count from the next session on")
    console.print(f"   next:  {escape(data.follows)}\n")


# The bare command's screen: this machine, the steps of the shortest way, and what else there is.


THEN = {"restart": "then restart", "login": "then log out and in again", "": ""}
OLD = 90
"""Days after which the age of the data is worth a word."""


def show_way(console: Console, data: Overview, *, verbose: bool) -> None:
    """Print the machine and its way."""
    console.print(f"\n [bold]{escape(data.machine)}[/]\n")
    if data.builds:
        show_glance(console, data.builds)
    way = data.way
    if data.error:
        console.print(f" [red]✗[/] {escape(data.error.message)}")
        console.print(f"   [bold]fix[/]  {escape(data.error.fix)}\n")
    if way is None:
        return
    if way.route == "none":
        console.print(" No accelerator that this program serves is on this machine")
    else:
        console.print(" The shortest way to PyTorch on this machine")
    for number, step in enumerate(way.steps, start=1):
        show_step(console, number, step)
    console.print()
    prose(console, " ", f"why: {way.why}", style="dim")
    _show_refusals(console, way, verbose=verbose)
    words = ["all checks: xpusetup doctor"]
    if data.build and way.route == "wheel":
        toolkit = f" ({data.build.toolkit})" if data.build.toolkit else ""
        words.insert(0, f"build from source instead: {data.build.command}{toolkit}")
    console.print(f"\n {escape(' · '.join(words))}")
    more = f", {way.age_days} days before" if way.age_days > OLD else " · all commands: xpusetup --help"
    console.print(f" what is known here was collected {way.collected}{more}\n", style="dim")


def show_steps(console: Console, way: Recommendation) -> None:
    """Print what to do next: the steps of a way, or the commands of one that is not worth steps."""
    for command in () if way.steps else way.commands:
        console.print(f"\n next:  {escape(command)}")
    if way.steps and way.route != "none":
        console.print("\n The shortest way")
        for number, step in enumerate(way.steps, start=1):
            show_step(console, number, step)
    if way.collected and way.why:
        console.print()
        prose(console, " ", f"why: {way.why}", style="dim")


def show_step(console: Console, number: int, step: WayStep) -> None:
    """Print a step: its title, beside or below it the commands, and what has to happen then."""
    then = THEN[step.then]
    commands = step.commands
    line = f"   {number}  {step.title}"
    width = len(line) + sum(map(len, commands)) + len(then) + 6
    if len(commands) == 1 and width <= console.width:
        console.print(f"{escape(line)}   [cyan]{escape(commands[0])}[/]{f'   {then}' if then else ''}")
        return
    prose(console, "      ", step.title, first=f"   {number}  ")
    for command in commands:
        console.print(f"        [cyan]{escape(command)}[/]")
    if then:
        console.print(f"      {then}")


def _show_refusals(console: Console, way: Recommendation, *, verbose: bool) -> None:
    names = ", ".join(refusal.profile for refusal in way.refusals if refusal.firm)
    if names and not verbose:
        prose(console, " ", f"not here: {names} (-v says why)", style="dim")
    for refusal in way.refusals if verbose else ():
        console.print(f"   {refusal.profile:<11} {'refused' if refusal.firm else 'not advised'}")
        prose(console, "               ", refusal.why)
        console.print(f"               [dim]{escape(refusal.source)}[/]")


# The doctor's screen: a line for each check by area, and at the end the root causes with what mends them.


NEXT = "\n"
FEW = 8
"""As many machines are named; of more the number is told, and -v names all."""


def show_doctor(console: Console, data: Diagnosis, *, verbose: bool) -> None:
    """Print what was found."""
    console.print(f"\n Machine     {escape(data.machine)}")
    console.print(f" Profile     {data.profile} [dim](from {data.chosen_by})[/]\n")
    _show_findings(console, data.findings, verbose=verbose)
    _show_causes(console, data)
    if data.pasted:
        _show_pasted(console, data.pasted, verbose=verbose)
    if data.saved:
        console.print(f" [green]✓[/] what was seen is in {escape(data.saved)}, without names, addresses and tokens")


def show_checks(console: Console, data: CheckList, *, verbose: bool) -> None:  # noqa: ARG001 - as all screens
    """Print the list of checks."""
    width = max((len(check.id) for check in data.checks), default=0)
    for check in data.checks:
        console.print(f" {check.id:<{width}}  {check.area:<12} {escape(check.title)}")


def show_report(console: Console, data: UpstreamReport, *, verbose: bool) -> None:  # noqa: ARG001 - as all screens
    """Print a report for upstream, or where it is."""
    told = f" [green]✓[/] the report is in {escape(data.file)}, without names, addresses and tokens"
    console.print(told if data.file else escape(data.report.rstrip("\n")))


def _show_errors(console: Console, pasted: PasteSummary, said: Collection[str]) -> None:
    """Say what the error lines mean; `said` are fixes that stand above."""
    for cause in (each for each in pasted.causes if each.fix not in said):
        console.print(f"\n Its errors  [bold]{cause.id}[/]  {escape(cause.text[:160])}")
        prose(console, "     ", cause.cause)
        for command in cause.commands:
            console.print(f"       [cyan]{escape(command)}[/]")
        prose(console, "     ", cause.fix)


def _show_symptoms(console: Console, pasted: PasteSummary) -> None:
    """Show the lines that say that it fails and not why, and what else the kernel calls an error."""
    for line in pasted.kernel:
        console.print(f"\n The kernel  {escape(line)}")
    for line in pasted.symptoms:
        console.print(f"\n A message   {escape(line)}")
    if pasted.symptoms and not pasted.causes:
        words = "This says that it fails, and not why: it has many causes, and what was told does not say which."
        prose(console, "     ", f"{words} What to paste to know it stands at the end.")


def _show_pasted(console: Console, pasted: PasteSummary, *, verbose: bool) -> None:
    """Say from what was judged, and what to paste to know more."""
    kinds = ", ".join(f"{name} ({count})" for name, count in pasted.kinds.items())
    prose(
        console,
        "             ",
        f"{kinds or 'its error lines'}; {pasted.unread} of {pasted.lines} lines are of no kind that is known",
        first="\n Judged from ",
    )
    if pasted.cut:
        console.print("             only the first 4 MiB were read")
    for line in pasted.unread_lines if verbose else ():
        console.print(f"             [dim]{escape(line)}[/]")
    if pasted.unknown:
        console.print("\n Not known   to know it, paste also")
    for row in pasted.unknown:
        prose(console, "               ", f"{row.paste}   [{', '.join(row.checks)}]", first="             ")
    if pasted.ask:
        piped = "... | " if f"--paste {STDIN} " in pasted.ask else ""
        console.print("\n Ask         no cause is sure: an assistant, a colleague or an issue, with what this prints:")
        console.print(f"             {piped}{escape(pasted.ask)}")


def show_comparison(console: Console, data: Comparison, *, verbose: bool) -> None:
    """Show what machines differ in; of a value that most of them have, who has it is not worth a line."""
    count = len(data.machines)
    console.print(f"\n Machines    {count}, judged for {data.profile}\n")
    for row in data.differs:
        console.print(f" {escape(row.id)}")
        for number, group in enumerate(row.groups):
            whole = verbose or (number > 0 and len(group.machines) <= FEW)
            who = ", ".join(group.machines) if whole else f"{len(group.machines)} of {count}"
            console.print(f"     {escape(group.value)}  [dim]{escape(who)}[/]")
    for name, causes in data.causes.items():
        console.print(f" {MARKS['fail']} {escape(name)}: {', '.join(causes)}")
    verdict = f"{len(data.differs)} differences" if data.differs else "no difference"
    console.print(f"\n {verdict}, {len(data.causes)} of {count} machines with a cause")


def _show_findings(console: Console, findings: list[DoctorFinding], *, verbose: bool) -> None:
    for area, group in groupby(findings, key=lambda finding: finding.area):
        label = area.capitalize()
        for finding in group:
            if finding.level in ("skip", "unknown") and not verbose:
                continue
            seen = escape(f"{finding.title}: {finding.seen.partition(NEXT)[0]}")
            console.print(f" {label:<11} {MARKS[finding.level]} {seen}")
            label = ""
            if verbose and finding.why:
                prose(console, "               ", finding.why)
                console.print(f"               [dim]{finding.source}[/]")


def _show_causes(console: Console, data: Diagnosis) -> None:
    causes = [finding for name in data.root_causes for finding in data.findings if finding.id == name]
    folded = sum(finding.level == "skip" for finding in data.findings)
    shown: set[str] = set()
    for goal, stops in data.stops.items():
        spare = "; the way below needs no build" if goal == "build" and _spares_build(data) else ""
        console.print(f"\n {goal.capitalize()} here?   {f'no{spare}' if stops else _yes(data)}")
        if data.pasted and data.pasted.surer:
            _show_errors(console, data.pasted, ())
        for finding in causes:
            if finding.id in stops and finding.id not in shown:
                shown.add(finding.id)
                _show_cause(console, len(shown), finding)
    if data.pasted:
        if not data.pasted.surer:
            _show_errors(console, data.pasted, {finding.fix.say for finding in causes if finding.id in shown})
        _show_symptoms(console, data.pasted)
    warnings = [finding for finding in data.findings if finding.level == "warn"]
    if warnings:
        console.print("\n Nothing stops for these, and they may bite")
    for number, finding in enumerate(warnings, start=len(shown) + 1):
        _show_cause(console, number, finding)
    show_steps(console, data.way)
    others = [each for each in data.can_build if each != data.profile]
    if causes and others and not data.pasted:
        console.print(f"\n what can be built here: {', '.join(others)}")
    verdict = _verdict(data, causes, warned=bool(warnings))
    verdict += f", {len(warnings)} warning{'' if len(warnings) == 1 else 's'}" if warnings else ""
    hidden = f", {folded} consequence{'' if folded == 1 else 's'} folded (-v)" if folded else ""
    console.print(f"\n {verdict}{hidden} · {len(data.findings)} checks")


def _yes(data: Diagnosis) -> str:
    """Say yes, where enough is known for that."""
    unknown = data.pasted and data.pasted.unknown
    if data.pasted and data.pasted.symptoms and not data.pasted.causes:
        return "not by what was told, which does not say why"
    if _is_told_by_errors(data):
        return "nothing that was told of the machine speaks against it; its errors say what is wrong"
    if data.pasted and data.pasted.kernel:
        return "nothing that is known speaks against it, and the kernel tells of errors"
    return "nothing that was told speaks against it; see what is not known" if unknown else "yes"


def _is_told_by_errors(data: Diagnosis) -> bool:
    return data.pasted is not None and any(cause.level == "error" for cause in data.pasted.causes)


def _spares_build(data: Diagnosis) -> bool:
    return data.way.route in ("wheel", "image")


def _verdict(data: Diagnosis, causes: list[DoctorFinding], *, warned: bool) -> str:
    """Count the causes; those that stop a build alone are told apart where nobody has to build."""
    if not causes:
        if data.pasted and data.pasted.symptoms and not data.pasted.causes:
            return "it fails, and no cause was told"
        if _is_told_by_errors(data):
            return "its errors tell of a cause"
        if data.pasted and (data.pasted.kernel or data.pasted.unknown):
            by_kernel = "no cause is known, and the kernel tells of errors"
            return by_kernel if data.pasted.kernel else "nothing fails of what was told"
        return "nothing fails" if warned else "nothing is wrong"
    count = "1 cause" if len(causes) == 1 else f"{len(causes)} causes"
    if _spares_build(data) and not data.stops.get("run", ["unasked"]):
        return f"nothing stops the way; {count} {'stops' if len(causes) == 1 else 'stop'} a build"
    return count


def _show_cause(console: Console, number: int, finding: DoctorFinding) -> None:
    first, *more = finding.seen.splitlines() or [""]
    console.print(f"\n   {number} [bold]{finding.id}[/]  {escape(first)}")
    for line in more:
        console.print(f"     {escape(line)}")
    prose(console, "     ", finding.why)
    for command in finding.fix.commands:
        console.print(f"       [cyan]{escape(command)}[/]")
    prose(console, "     ", finding.fix.say)
