"""Results of verify beside each other: two on the screen, several as Markdown."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING

from rich.markup import escape

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import Console

    from xpusetup.commands.devices import DeviceTable, ProofComparison


STATE_MARKS = {
    "ok": "[green]✓[/]",
    "wrong": "[red]✗[/]",
    "unsupported": "[yellow]![/]",
    "absent": "[dim]·[/]",
    "not run": "[dim]-[/]",
    None: " ",
}
LABEL, COLUMN = 22, 36


def show_comparison(console: Console, data: ProofComparison, *, verbose: bool) -> None:
    """Print what two results differ in, or the table of several."""
    if not data.here:
        console.out(data.markdown, end="")
        return
    differing = [row for row in data.rows if not row.same]
    shown = data.rows if verbose else differing
    wide = max((len(row.id) + 1 for row in shown), default=0)
    console.print()
    _show_row(console, "", ["this build", "the other"], [None, None], wide)
    for one in data.identity:
        _show_row(console, one.label, one.values, [None, None], wide)
    if shown:
        console.print()
    for row in shown:
        _show_row(console, row.id, [_say(*pair) for pair in zip(row.marks, row.seen, strict=True)], row.marks, wide)
    alike = len(data.rows) - len(differing)
    more = "" if verbose or not alike else ", which -v shows"
    checks = "check" if alike == 1 else "checks"
    console.print(f"\n {len(differing)} of {len(data.rows)} checks differ · {alike} {checks} alike{more}")


def show_table(console: Console, data: DeviceTable, *, verbose: bool) -> None:  # noqa: ARG001 - as all screens
    """Print the table of devices as it is, or say which page shows it now."""
    if data.file is None:
        console.out(data.markdown, end="")
        return
    found = ", ".join(device.device for device in data.devices)
    console.print(f" [green]✓[/] {escape(data.file)}: {len(data.checks)} checks on {escape(found)}")


def _say(mark: str | None, seen: str) -> str:
    return "not among its checks" if mark is None else f"{mark}: {seen}" if seen and mark != "ok" else mark


def _show_row(console: Console, label: str, cells: Sequence[str], marks: Sequence[str | None], wide: int) -> None:
    """Print a row whose cells may go over several lines; `wide`: what the longest label of all takes."""
    columns = [textwrap.wrap(cell, COLUMN - 3) or [""] for cell in cells]
    for number in range(max(map(len, columns))):
        line = (label if number == 0 else "").ljust(max(LABEL, wide))
        for column, mark in zip(columns, marks, strict=True):
            text = column[number] if number < len(column) else ""
            line += f"{STATE_MARKS[mark] if number == 0 else ' '} {escape(text.ljust(COLUMN - 2))}"
        console.print(f" {line.rstrip()}")
