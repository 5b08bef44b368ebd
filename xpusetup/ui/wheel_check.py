"""What is in a wheel, and which libraries an environment loads."""

from __future__ import annotations

from pathlib import PurePath
from typing import TYPE_CHECKING

from rich.markup import escape

from xpusetup.base.text import render_size
from xpusetup.ui.console import MARKS, prose

if TYPE_CHECKING:
    from rich.console import Console

    from xpusetup.commands.wheel_check import LibraryClosure, WheelLibrary, WheelVerification


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


def show_closure(console: Console, data: LibraryClosure, *, verbose: bool) -> None:
    """Print the packages whose libraries an environment loads, with sizes; and each library, where more is asked."""
    for packages, label in (
        ([one for one in data.packages if one.own], "brought by packages of the environment"),
        ([one for one in data.packages if not one.own], "taken from the system"),
    ):
        console.print(f"\n [bold]{label}[/]")
        for one in packages:
            count = f"{one.libraries} librar{'y' if one.libraries == 1 else 'ies'}"
            console.print(f" {render_size(one.size):>9}  {escape(one.owner or 'of no package')}  [dim]{count}[/]")
    for library in data.libraries if verbose else ():
        console.print(f" {render_size(library.size):>9}  {library.why:<7} {escape(library.path)}")
    if data.missing:
        prose(console, "           ", f"not found: {', '.join(data.missing)}")
    for conflict in data.conflicts:
        console.print(f" {MARKS[conflict.level]} {conflict.kind}: {escape(conflict.library or conflict.first)}")
    if data.conflicts:
        console.print(f"   [bold]fix[/]  {escape(data.fix)}")
