"""What stays of a project, and each file that changes as a diff."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.markup import escape

from xpusetup.ui.console import prose

if TYPE_CHECKING:
    from rich.console import Console

    from xpusetup.commands.adopt import AdoptedProject


COLOURS = {"+": "green", "-": "red", "@": "cyan"}


def show_adopted(console: Console, data: AdoptedProject, *, verbose: bool) -> None:  # noqa: ARG001 - as all screens
    if not (data.written or data.undone):
        show_changes(console, data)
        console.print(f"   write it:      {escape(data.apply)}", soft_wrap=True)
        return
    back = "ours is taken out" if data.notes else "as it was before"
    what = back if data.undone else f"{' '.join(each.pin for each in data.kept)} stays"
    console.print(f" [green]✓[/] {escape(data.project)}: {escape(what)}", soft_wrap=True)
    for each in data.changes:
        console.print(f"     {escape(each.path)}", style="dim", soft_wrap=True)
    _show_notes(console, data)
    if data.written:
        console.print(f"   take it back:  {escape(data.undo)}", soft_wrap=True)


def show_changes(console: Console, data: AdoptedProject) -> None:
    console.print(f"\n {escape(data.project)} · torch of {escape(data.environment)}\n", soft_wrap=True)
    for each in data.changes:
        for line in each.diff.splitlines():
            console.print(f"   {escape(line)}", style=COLOURS.get(line[:1], ""), soft_wrap=True)
        console.print()
    if not data.changes:
        console.print(" [green]✓[/] nothing to change")
    _show_notes(console, data)


def _show_notes(console: Console, data: AdoptedProject) -> None:
    for note in data.notes:
        told, _, command = note.partition("\n")
        prose(console, "   ", told, first=" [yellow]![/] ")
        for line in command.splitlines():
            console.print(f"   {escape(line)}", soft_wrap=True)
