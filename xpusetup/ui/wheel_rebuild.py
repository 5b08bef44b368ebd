"""Wheels that were built twice: what was varied, and what of them is not the same bytes."""

from __future__ import annotations

from pathlib import PurePath
from typing import TYPE_CHECKING

from rich.markup import escape

from xpusetup.ui.build import show_failure
from xpusetup.ui.console import prose

if TYPE_CHECKING:
    from rich.console import Console

    from xpusetup.commands.wheel_rebuild import RebuildResult, RebuiltWheel


SHOWN = 10
"""Members of a wheel that are shown without -v."""


def show_rebuild(console: Console, data: RebuildResult, *, verbose: bool) -> None:
    """Print what was another in the second build, and of each wheel which members differ and why."""
    console.print()
    for one in data.conditions:
        if one.varied:
            console.print(f" {one.name:<10} {escape(one.was or 'none')} → {escape(one.now)}")
        else:
            console.print(f" {one.name:<10} the same: {escape(one.why)}", style="dim")
    if data.failure:
        show_failure(console, data.failure)
    else:
        console.print()
    for wheel in data.wheels:
        _show_rebuilt(console, wheel, verbose=verbose)
    if data.kept:
        console.print(f"\n   the second build is in {escape(data.again)}", style="dim")


def _show_rebuilt(console: Console, wheel: RebuiltWheel, *, verbose: bool) -> None:
    name = escape(PurePath(wheel.path).name)
    if wheel.same:
        console.print(f" [green]✓[/] {name}: the same bytes, {wheel.members} members")
        return
    found = wheel.differences
    console.print(f" [red]✗[/] {name}: {len(found)} of {wheel.members} members differ")
    for one in found if verbose else found[:SHOWN]:
        rest = "" if one.sure else "; more differs than that explains"
        console.print(f"     {escape(one.member)}  [bold]{', '.join(one.causes)}[/]")
        prose(console, "       ", f"{one.why}{rest}")
        for text in filter(None, (one.was, one.now)):
            console.print(f"         {escape(text)}", style="dim")
    if not verbose and len(found) > SHOWN:
        console.print(f"     and {len(found) - SHOWN} more: -v shows them", style="dim")
    if not found:
        console.print("     every member is the same: the archives themselves are packed in another way")
    if wheel.diffoscope:
        console.print(f"     diffoscope says more: {escape(wheel.diffoscope)}", style="dim")
