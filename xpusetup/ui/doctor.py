"""The doctor's screen, the shortest way on this machine, and setup's commands."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING

from rich.markup import escape

from xpusetup.system.logs import STDIN
from xpusetup.ui.console import MARKS, prose
from xpusetup.ui.recommend import show_steps

if TYPE_CHECKING:
    from collections.abc import Collection

    from rich.console import Console

    from xpusetup.commands.doctor import CheckList, Comparison, Diagnosis, DoctorFinding, UpstreamReport
    from xpusetup.commands.paste import PasteSummary


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
