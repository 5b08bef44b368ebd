"""Whether wheels work with a torch: a line for each, and why."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.markup import escape

from xpusetup.machine import fit
from xpusetup.ui.console import prose

if TYPE_CHECKING:
    from rich.console import Console

    from xpusetup.commands.wheel_fits import FitResult


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
