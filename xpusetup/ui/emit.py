"""Files that were written for elsewhere."""

from rich.console import Console
from rich.markup import escape

from xpusetup.commands.emit import Emitted
from xpusetup.ui.console import DONE


def show_emit(console: Console, data: Emitted, *, verbose: bool) -> None:
    console.print(f" [green]✓[/] {len(data.files)} files")
    for label, line in (("begin with", data.start), *(("then", each) for each in data.then)):
        console.print(f"   {label:<12}{escape(line)}", soft_wrap=True)
    for note in data.notes:
        console.print(f"   · {escape(note)}", style="dim")
    for name in data.files if verbose else ():
        console.print(f"     {escape(name)}", style="dim")


def brief_emitted(data: Emitted) -> str:
    return f"{DONE}{len(data.files)} files; begin with: {escape(data.start)}"
