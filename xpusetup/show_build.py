"""The end of a build on the screen, and its plan."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rich.markup import escape
from rich.table import Table

from xpusetup.show import MARKS, duration, prose, verified

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rich.console import Console


def show_build(console: Console, data: Mapping[str, Any], verbose: bool) -> None:
    """Print how a build ended."""
    if data["failed"]:
        _show_failure(console, data["failure"], data["seconds"])
        return
    _show_end(console, data, verbose, folder="wheels", outcome=verified(data["verified"]))


def show_install(console: Console, data: Mapping[str, Any], verbose: bool) -> None:
    """Print how an installation ended, and what it took out of the environment."""
    if data["failed"]:
        _show_failure(console, data["failure"], data["seconds"])
        return
    for row in data["removed"]:
        console.print(f" [green]✓[/] {escape(row['name'])} {escape(row['version'])} was taken out")
        prose(console, "     ", row["why"], style="dim")
    outcome = verified(data["verified"], done="installed")
    _show_end(console, data, verbose, folder="published", outcome=outcome)
    if data["orphans"]:
        prose(console, "   ", f"nothing requires these any more: {', '.join(data['orphans'])}")
        console.print(f"   remove them:  {escape(data['tidy'])}")


def _show_end(console: Console, data: Mapping[str, Any], verbose: bool, *, folder: str, outcome: str) -> None:
    if not data["ran"]:
        console.print(" [green]✓[/] nothing to do: everything is done")
    console.print(f" {outcome}")
    console.print(f" [green]✓[/] {_wheels(data)} in {escape(data['root'])}/{folder}")
    for wheel in data["wheels"] if verbose else ():
        console.print(f"     {wheel['name']} {wheel['version']}  sha256 {wheel['sha256']}", style="dim")
    if data["ran"]:
        before = f", {len(data['skipped'])} done before" if data["skipped"] else ""
        console.print(f"   {duration(data['seconds'])} for {len(data['ran'])} steps{before}")
    console.print(f"   use it:  {escape(data['use'])}")


def _wheels(data: Mapping[str, Any]) -> str:
    return "1 wheel" if len(data["wheels"]) == 1 else f"{len(data['wheels'])} wheels"


def _show_failure(console: Console, failure: Mapping[str, Any], seconds: float) -> None:
    console.print(f"\n [red]✗ {failure['step']} failed[/] after {duration(seconds)}\n")
    if failure["first_error"]:
        console.print(f"   [bold]Error[/]    {escape(failure['first_error'])}")
        console.print(f"            [dim]line {failure['first_error_line']} of the log[/]")
    if failure["last_lines"]:
        console.print("   [bold]Last[/]     " + escape("\n            ".join(failure["last_lines"])))
    console.print(f"   [bold]By hand[/]  {escape(failure['again'])}")
    console.print(f"   [bold]Log[/]      {escape(failure['log'])}")
    prose(console, "   ", "The same command goes on at this step.")


def show_plan(console: Console, data: Mapping[str, Any], verbose: bool) -> None:
    """Print the steps and the state each is in."""
    table = Table(box=None, pad_edge=True, show_edge=False, header_style="dim")
    for name in ("step", "needs", "state", "what"):
        table.add_column(name, overflow="fold")
    for step in data["steps"]:
        state = f"{MARKS[step['state']]} {'to do' if step['state'] == 'todo' else step['state']}"
        why = f": {escape(step['why'])}" if step["why"] else ""
        table.add_row(step["id"], " ".join(step["needs"]), state + why, escape(step["title"]))
    console.print(f"\n {data['profile']} · {escape(data['root'])}\n")
    console.print(table)
    if data["missing"]:
        console.print(f"\n [yellow]![/] not ready to build here: {', '.join(data['missing'])} (xpusetup doctor)")
    for step in data["steps"] if verbose else ():
        console.print(f"\n [bold]{step['id']}[/]")
        for line in step["recipe"]:
            console.print(f"   {line}", markup=False)
    if verbose:
        for name, origin in data["chosen_by"].items():
            console.print(f" {name}: from {origin}", style="dim")
