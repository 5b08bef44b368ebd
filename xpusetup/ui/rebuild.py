"""Wheels that were built twice: what was varied, and what of them is not the same bytes."""

from __future__ import annotations

from pathlib import PurePath
from typing import TYPE_CHECKING

from rich.markup import escape

from xpusetup.ui.console import prose

if TYPE_CHECKING:
    from rich.console import Console

    from xpusetup.commands.rebuild import RebuildResult, RebuiltWheel
    from xpusetup.rebuild.compare import MemberDifference
    from xpusetup.rebuild.io import VariedCondition


SHOWN = 10
"""Members of a wheel that are shown without -v."""


def show_rebuild(console: Console, data: RebuildResult, *, verbose: bool) -> None:
    """Print what was another in the second build, and of each wheel which members differ and why."""
    console.print()
    for condition in data.conditions:
        _show_condition(console, condition)
    console.print()
    if data.failed:
        console.print(f" [red]✗[/] {escape(data.failed)} failed under these conditions")
        prose(console, "          ", f"xpusetup explain {data.log}", first="     [bold]fix[/]  ")
    for wheel in data.wheels:
        _show_wheel(console, wheel, verbose=verbose)
    if data.kept:
        console.print(f"\n   the second build is in {escape(data.again)}", style="dim")


def _show_condition(console: Console, one: VariedCondition) -> None:
    if one.varied:
        console.print(f" {one.name:<10} {escape(one.was or 'none')} → {escape(one.now)}")
    else:
        console.print(f" {one.name:<10} the same: {escape(one.why)}", style="dim")


def _show_wheel(console: Console, wheel: RebuiltWheel, *, verbose: bool) -> None:
    name = escape(PurePath(wheel.path).name)
    if wheel.same:
        console.print(f" [green]✓[/] {name}: the same bytes, {wheel.members} members")
        return
    found = wheel.differences
    console.print(f" [red]✗[/] {name}: {len(found)} of {wheel.members} members differ")
    for each in found if verbose else found[:SHOWN]:
        _show_member(console, each)
    if not verbose and len(found) > SHOWN:
        console.print(f"     and {len(found) - SHOWN} more: -v shows them", style="dim")
    if not found:
        console.print("     every member is the same: the archives themselves are packed in another way")
    if wheel.diffoscope:
        console.print(f"     diffoscope says more: {escape(wheel.diffoscope)}", style="dim")


def _show_member(console: Console, one: MemberDifference) -> None:
    rest = "" if one.sure else "; more differs than that explains"
    console.print(f"     {escape(one.member)}  [bold]{', '.join(one.causes)}[/]")
    prose(console, "       ", f"{one.why}{rest}")
    for text in filter(None, (one.was, one.now)):
        console.print(f"         {escape(text)}", style="dim")
