"""The doctor's screen: a line for each check by area, and at the end the root causes with what mends them."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING, Any

from rich.markup import escape

from xpusetup.show.console import MARKS, prose
from xpusetup.show.way import show_steps

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rich.console import Console


NEXT = "\n"
FEW = 8
"""As many machines are named; of more the number is told, and -v names all."""


def show_doctor(console: Console, data: Mapping[str, Any], *, verbose: bool) -> None:
    """Print what was found, or the list of checks."""
    if "checks" in data:
        for check in data["checks"]:
            console.print(f" {check['id']:<26} {check['area']:<12} {escape(check['title'])}")
        return
    if "differs" in data:
        _show_differences(console, data, verbose=verbose)
        return
    console.print(f"\n Machine     {escape(data['machine'])}")
    console.print(f" Profile     {data['profile']} [dim](from {data['chosen_by']})[/]\n")
    _show_findings(console, data["findings"], verbose=verbose)
    _show_causes(console, data)
    if data.get("saved"):
        console.print(f" [green]✓[/] what was seen is in {escape(data['saved'])}, without names, addresses and tokens")


def _show_differences(console: Console, data: Mapping[str, Any], *, verbose: bool) -> None:
    """Show what machines differ in; of a value that most of them have, who has it is not worth a line."""
    count = len(data["machines"])
    console.print(f"\n Machines    {count}, judged for {data['profile']}\n")
    for row in data["differs"]:
        console.print(f" {escape(row['id'])}")
        for number, group in enumerate(row["groups"]):
            whole = verbose or (number > 0 and len(group["machines"]) <= FEW)
            who = ", ".join(group["machines"]) if whole else f"{len(group['machines'])} of {count}"
            console.print(f"     {escape(group['value'])}  [dim]{escape(who)}[/]")
    for name, causes in data["causes"].items():
        console.print(f" {MARKS['fail']} {escape(name)}: {', '.join(causes)}")
    verdict = f"{len(data['differs'])} differences" if data["differs"] else "no difference"
    console.print(f"\n {verdict}, {len(data['causes'])} of {count} machines with a cause")


def _show_findings(console: Console, findings: list[dict[str, Any]], *, verbose: bool) -> None:
    for area, group in groupby(findings, key=lambda finding: finding["area"]):
        label = area.capitalize()
        for finding in group:
            if finding["level"] == "skip" and not verbose:
                continue
            seen = escape(f"{finding['title']}: {finding['seen'].partition(NEXT)[0]}")
            console.print(f" {label:<11} {MARKS[finding['level']]} {seen}")
            label = ""
            if verbose and finding["why"]:
                prose(console, "               ", finding["why"])
                console.print(f"               [dim]{finding['source']}[/]")


def _show_causes(console: Console, data: Mapping[str, Any]) -> None:
    causes = [finding for finding in data["findings"] if finding["id"] in data["root_causes"]]
    folded = sum(finding["level"] == "skip" for finding in data["findings"])
    shown: set[str] = set()
    for goal, stops in data["stops"].items():
        spare = "; the way below needs no build" if goal == "build" and _spares_build(data) else ""
        console.print(f"\n {goal.capitalize()} here?   {f'no{spare}' if stops else 'yes'}")
        for finding in causes:
            if finding["id"] in stops and finding["id"] not in shown:
                shown.add(finding["id"])
                _show_cause(console, len(shown), finding)
    warnings = [finding for finding in data["findings"] if finding["level"] == "warn"]
    if warnings:
        console.print("\n Nothing stops for these, and they may bite")
    for number, finding in enumerate(warnings, start=len(shown) + 1):
        _show_cause(console, number, finding)
    show_steps(console, data["way"])
    others = [each for each in data["can_build"] if each != data["profile"]]
    if causes and others:
        console.print(f"\n what can be built here: {', '.join(others)}")
    verdict = _verdict(data, causes, warned=bool(warnings))
    verdict += f", {len(warnings)} warning{'' if len(warnings) == 1 else 's'}" if warnings else ""
    hidden = f", {folded} consequence{'' if folded == 1 else 's'} folded (-v)" if folded else ""
    console.print(f"\n {verdict}{hidden} · {len(data['findings'])} checks")


def _spares_build(data: Mapping[str, Any]) -> bool:
    return data["way"].get("route") in ("wheel", "image")


def _verdict(data: Mapping[str, Any], causes: list[dict[str, Any]], *, warned: bool) -> str:
    """Count the causes; those that stop a build alone are told apart where nobody has to build."""
    if not causes:
        return "nothing fails" if warned else "nothing is wrong"
    count = "1 cause" if len(causes) == 1 else f"{len(causes)} causes"
    if _spares_build(data) and not data["stops"].get("run", ["unasked"]):
        return f"nothing stops the way; {count} {'stops' if len(causes) == 1 else 'stop'} a build"
    return count


def _show_cause(console: Console, number: int, finding: Mapping[str, Any]) -> None:
    first, *more = finding["seen"].splitlines() or [""]
    console.print(f"\n   {number} [bold]{finding['id']}[/]  {escape(first)}")
    for line in more:
        console.print(f"     {escape(line)}")
    prose(console, "     ", finding["why"])
    for command in finding["fix"]["commands"]:
        console.print(f"       [cyan]{escape(command)}[/]")
    prose(console, "     ", finding["fix"]["say"])
