"""The screen of fits: a line for each wheel, and why."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.markup import escape

from xpusetup.machine.fit import describe
from xpusetup.ui.console import prose

if TYPE_CHECKING:
    from rich.console import Console

    from xpusetup.commands.fits import FitResult
    from xpusetup.machine.fit import FittedWheel

MARKS = {"fits": "[green]✓[/]", "does_not_fit": "[red]✗[/]", "unknown": "[yellow]?[/]"}
WORDS = {"fits": "fits", "does_not_fit": "does not fit", "unknown": "unknown"}


def show_fits(console: Console, data: FitResult, *, verbose: bool) -> None:
    """Print for each wheel the answer, its first reason, and what would fit; each library where more is asked."""
    console.print(f"\n torch {escape(data.torch.version or 'of an unknown version')} · {escape(data.torch.where)}\n")
    for one in data.wheels:
        name = f"{one.name} {one.version}".strip() or one.file
        console.print(f" {MARKS[one.answer]} {escape(name)}  [bold]{WORDS[one.answer]}[/]")
        prose(console, "     ", one.reason)
        if one.instead:
            prose(console, "          ", one.instead, first="     [bold]fits[/] ")
        for note in one.notes:
            prose(console, "       ", f"· {note}", first="     ", style="dim")
        if verbose:
            _show_libraries(console, one)


def _show_libraries(console: Console, wheel: FittedWheel) -> None:
    for one in wheel.libraries:
        count = one.torch + one.stable
        told = f"{count} names of torch" if count else "nothing of torch"
        console.print(f"     {'[red]✗[/]' if one.problems else '[green]✓[/]'} {escape(one.path)}  [dim]{told}[/]")
        for problem in one.problems:
            prose(console, "         ", describe(problem), style="dim")
