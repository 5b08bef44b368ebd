"""Accelerators and extensions: what is here, what serves it, what breaks torch; the table of saved results."""

from collections.abc import Sequence

from rich.console import Console
from rich.markup import escape

from xpusetup.commands.devices import DeviceList, DeviceTable
from xpusetup.machine.accelerators import AcceleratorRow
from xpusetup.ui.console import DONE, MARKS, prose

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


def show_table(console: Console, data: DeviceTable, *, verbose: bool) -> None:  # noqa: ARG001 - as all screens
    console.out(data.markdown, end="")


def brief_devices(data: DeviceList) -> str:
    return f"{DONE}nothing breaks `import torch` here" if data.checked else ""
