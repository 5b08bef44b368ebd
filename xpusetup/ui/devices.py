"""Accelerators, extensions and wheels on the screen."""

from __future__ import annotations

from pathlib import PurePath
from typing import TYPE_CHECKING

from rich.markup import escape

from xpusetup.base.text import render_size
from xpusetup.machine import fit
from xpusetup.ui.build import show_failure
from xpusetup.ui.console import MARKS, prose

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import Console

    from xpusetup.commands.devices import DeviceList
    from xpusetup.commands.fits import FitResult
    from xpusetup.commands.rebuild import RebuildResult, RebuiltWheel
    from xpusetup.commands.verify_wheel import LibraryClosure, SignedWheels, WheelLibrary, WheelVerification
    from xpusetup.machine.accelerators import AcceleratorRow


# The screens of verify-wheel and of an environment's libraries.


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


def show_signed(console: Console, data: SignedWheels, *, verbose: bool) -> None:  # noqa: ARG001 - as all screens
    """Print which files hold the signed statements, and what checks one."""
    for wheel in data.wheels:
        console.print(f" [green]✓[/] {escape(PurePath(wheel.file).name)}")
    console.print(f"   by the key {data.key}", style="dim")
    console.print("   whoever has its public half: xpusetup verify-wheel WHEEL --provenance --key FILE", style="dim")


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


# Accelerators and extensions on the screen: what is here, what serves it, what breaks `import torch`.


HERE = {True: "[green]✓[/]", False: "[dim]·[/]", None: "[yellow]?[/]"}
WHETHER = {True: "here", False: "not here", None: "no device file"}
LOADS = {True: "loads", False: "does not load", None: ""}
HEADER = ("accelerator", "", "", "package", "entry", "")


def show_devices(console: Console, data: DeviceList, *, verbose: bool) -> None:
    """Print the accelerators, then what was found of the extensions; what is quiet only where more is asked for."""
    where = data.environment
    torch = f"torch {where.torch}" if where and where.torch else "no torch"
    place = f"{escape(where.prefix)} ({escape(where.chosen_by)})" if where else "no environment is active"
    console.print(f"\n {torch} · {place}\n")
    _show_table(console, data.devices)
    for row in data.devices:
        _show_seen(console, row, verbose=verbose)
    if verbose and data.compile_backends:
        console.print()
        names = ", ".join(f"{each.name} of {each.distribution}" for each in data.compile_backends)
        prose(console, "   ", f"back ends of torch.compile by extensions: {names}")
    _show_findings(console, data, verbose=verbose)


def _show_table(console: Console, rows: Sequence[AcceleratorRow]) -> None:
    cells = [HEADER, *(_cells(row) for row in rows)]
    widths = [max(len(row[column]) for row in cells) for column in range(len(HEADER))]
    if sum(widths) + 2 * len(widths) + 1 > console.width:  # two lines for each, where a table has no room
        for row in rows:
            name, title, whether, *more = _cells(row)
            words = escape(" · ".join(filter(None, (title, whether))))
            console.print(f" {HERE[row.present]} {escape(name):<12} {words}")
            if row.package or row.entry:
                console.print(f"   {'':<12} {escape(' · '.join(filter(None, more)))}", style="dim")
        return
    marks = ["[dim] [/]", *(HERE[row.present] for row in rows)]
    for mark, line in zip(marks, cells, strict=True):
        text = "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip()
        console.print(f" {mark} {escape(text)}", style="dim" if line is HEADER else "")


def _cells(row: AcceleratorRow) -> tuple[str, ...]:
    package = f"{row.package or '-'} {row.version or ''}".strip()
    return (row.name, row.title, WHETHER[row.present], package, row.entry or "-", LOADS[row.loads])


def _show_seen(console: Console, row: AcceleratorRow, *, verbose: bool) -> None:
    """Print what a device was recognised by, and whether its environment is set."""
    seen = row.seen
    lines = [*seen.cards, *((", ".join(seen.nodes),) if verbose and seen.nodes else ())]
    if verbose and seen.tool:
        lines += [f"{seen.tool}:", *(f"  {line}" for line in seen.says)]
    if row.present and seen.ready is False and seen.script and row.package not in (None, "torch"):
        lines.append(f"its environment is not set: source {seen.script}")
    if lines:
        console.print()
    for line in lines:
        console.print(f"   {escape(line)}", style="dim")


def _show_findings(console: Console, data: DeviceList, *, verbose: bool) -> None:
    shown = [each for each in data.findings if verbose or data.checked or each.level in ("warn", "fail")]
    if shown:
        console.print()
    for each in shown:
        after = f" (after {each.caused_by})" if each.caused_by else ""
        prose(console, " " * 26, each.seen + after, first=f" {MARKS[each.level]} {each.id:<22} ")
        for line in each.fix:
            style = "dim" if line.startswith("#") else "bold"
            console.print(f"{' ' * 26}{escape(line)}", style=style)
    if any(each.level == "fail" for each in data.findings):
        console.print("\n [red]✗[/] `import torch` fails here")
    elif data.checked:
        console.print("\n [green]✓[/] nothing breaks `import torch` here")
    elif data.environment and data.environment.torch and any(row.entry for row in data.devices):
        console.print(f"\n what loads, and what breaks `import torch`: {escape(data.follows)}")


# The screen of fits: a line for each wheel, and why.


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


# Wheels that were built twice: what was varied, and what of them is not the same bytes.


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
