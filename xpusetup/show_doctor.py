"""The doctor's screen: a line for each check by area, and at the end the root causes with what mends them."""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING, Any

from rich.markup import escape

from xpusetup.show import MARKS

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rich.console import Console


def show_doctor(console: Console, data: Mapping[str, Any], *, verbose: bool) -> None:
    """Print what was found, or the list of checks."""
    if "checks" in data:
        for check in data["checks"]:
            console.print(f" {check['id']:<26} {check['area']:<12} {escape(check['title'])}")
        return
    console.print(f"\n Machine     {escape(data['machine'])}")
    console.print(f" Profile     {data['profile']} [dim](from {data['chosen_by']})[/]\n")
    _show_findings(console, data["findings"], verbose=verbose)
    _show_causes(console, data)


def _show_findings(console: Console, findings: list[dict[str, Any]], *, verbose: bool) -> None:
    for area, group in groupby(findings, key=lambda finding: finding["area"]):
        label = area.capitalize()
        for finding in group:
            if finding["level"] == "skip" and not verbose:
                continue
            seen = escape(f"{finding['title']}: {finding['seen']}")
            console.print(f" {label:<11} {MARKS[finding['level']]} {seen}")
            label = ""
            if verbose and finding["why"]:
                console.print(f"               {escape(finding['why'])} [dim]{finding['source']}[/]")


def _show_causes(console: Console, data: Mapping[str, Any]) -> None:
    causes = [finding for finding in data["findings"] if finding["id"] in data["root_causes"]]
    folded = sum(finding["level"] == "skip" for finding in data["findings"])
    name = data["profile"]
    console.print(f"\n Build here?   {'yes' if name in data['can_build'] else 'no'}")
    console.print(f" Run here?     {'yes' if name in data['can_run'] else 'no'}")
    for number, finding in enumerate(causes, start=1):
        console.print(f"\n   {number} [bold]{finding['id']}[/]  {escape(finding['seen'])}")
        console.print(f"     {escape(finding['why'])}")
        for command in finding["fix"]["commands"]:
            console.print(f"       [cyan]{escape(command)}[/]")
        if finding["fix"]["say"]:
            console.print(f"     {escape(finding['fix']['say'])}")
    for command in data["way"]["commands"]:
        console.print(f"\n next:  {escape(command)}")
    others = [each for each in data["can_build"] if each != name]
    if causes and others:
        console.print(f"\n what can be built here: {', '.join(others)}")
    verdict = f"{len(causes)} causes" if len(causes) != 1 else "1 cause"
    hidden = f", {folded} consequences folded (-v)" if folded else ""
    console.print(f"\n {verdict}{hidden} · {len(data['findings'])} checks")
