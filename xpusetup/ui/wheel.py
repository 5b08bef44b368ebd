"""What is in wheels, whether they fit a torch, their signatures, and wheels that were built twice."""

from __future__ import annotations

from pathlib import PurePath
from typing import TYPE_CHECKING

from rich.markup import escape

from xpusetup.base.text import render_size
from xpusetup.machine import fit
from xpusetup.ui.build import show_failure
from xpusetup.ui.console import DONE, MARKS, prose
from xpusetup.ui.status import show_replaced

if TYPE_CHECKING:
    from rich.console import Console

    from xpusetup.commands.wheel_check import WheelLibrary, WheelVerification
    from xpusetup.commands.wheel_fits import FitResult
    from xpusetup.commands.wheel_rebuild import RebuildResult, RebuiltWheel
    from xpusetup.commands.wheel_sign import SignedWheels


BAD = ("fail", "crash")
TITLE = 18


def show_wheel(console: Console, data: WheelVerification, *, verbose: bool) -> None:
    """Print what was found in a wheel, a line for each check, and what mends it where one fails."""
    name = f"{data.name} {data.version}" if data.name else PurePath(data.wheel).name
    against = f" · against {data.profile}" if data.profile else ""
    console.print(f"\n {escape(name)} · {render_size(data.size)}{against}\n")
    for check in data.checks:
        console.print(f" {MARKS[check.level]} {check.title:<{TITLE}} {escape(check.seen)}")
        if check.level in BAD:
            if check.limit:
                console.print(f"     [dim]wanted[/]  {escape(check.limit)}")
            prose(console, "     ", check.why)
            prose(console, "          ", check.fix, first="     [bold]fix[/]  ")
    if verbose:
        _show_libraries(console, data.libraries)
    bad = sum(check.level in BAD for check in data.checks)
    told = f"{bad} of {len(data.checks)} checks fail" if bad else f"{len(data.checks)} checks, none fails"
    console.print(f"\n {told}{'' if data.profile else ' (what it should be: --profile NAME)'}")


def _show_libraries(console: Console, libraries: list[WheelLibrary]) -> None:
    console.print()
    for one in sorted(libraries, key=lambda one: -one.size):
        console.print(f" {render_size(one.size):>9}  {escape(one.path)}")
        parts = {"needs": one.needed, "looks in": one.rpath, "for": one.targets}
        for label, values in parts.items():
            if values:
                prose(console, "             ", f"{label}: {', '.join(values)}", style="dim")


FITS = {
    "fits": ("[green]✓[/]", "fits"),
    "does_not_fit": ("[red]✗[/]", "does not fit"),
    "unknown": ("[yellow]?[/]", "unknown"),
}


def show_fits(console: Console, data: FitResult, *, verbose: bool) -> None:
    """Print for each wheel the answer, its first reason, and what would fit; each library where more is asked."""
    console.print(f"\n torch {escape(data.torch.version or 'of an unknown version')} · {escape(data.torch.where)}\n")
    for one in data.wheels:
        mark, answer = FITS[one.answer]
        console.print(f" {mark} {escape(f'{one.name} {one.version}'.strip() or one.file)}  [bold]{answer}[/]")
        prose(console, "     ", one.reason)
        if one.instead:
            prose(console, "          ", one.instead, first="     [bold]fits[/] ")
        for note in one.notes:
            prose(console, "       ", f"· {note}", first="     ", style="dim")
        for library in one.libraries if verbose else ():
            count = library.torch + library.stable
            told = f"{count} names of torch" if count else "nothing of torch"
            mark = "[red]✗[/]" if library.problems else "[green]✓[/]"
            console.print(f"     {mark} {escape(library.path)}  [dim]{told}[/]")
            for problem in library.problems:
                prose(console, "         ", fit.describe(problem), style="dim")


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


def show_signed(console: Console, data: SignedWheels, *, verbose: bool) -> None:  # noqa: ARG001 - as all screens
    for wheel in data.wheels:
        console.print(f" [green]✓[/] {escape(PurePath(wheel.file).name)}")
    for row in data.replaced:
        show_replaced(console, row)
    console.print(f"   by the key {data.key}", style="dim")
    console.print("   whoever has its public half: xpusetup wheel check WHEEL --provenance --key FILE", style="dim")


def brief_wheel(data: WheelVerification) -> str:
    return f"{DONE}{escape(data.wheel)}: {len(data.checks)} checks, none fails"


def brief_rebuilt(data: RebuildResult) -> str:
    return f"{DONE}{len(data.wheels)} {'wheel' if len(data.wheels) == 1 else 'wheels'}: the same bytes"
