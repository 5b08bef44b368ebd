"""What all screens use: the console, its marks, and running text."""

from __future__ import annotations

import textwrap

from rich.console import Console
from rich.markup import escape

MARKS = {
    "ok": "[green]✓[/]",
    "info": "[cyan]·[/]",
    "warn": "[yellow]![/]",
    "fail": "[red]✗[/]",
    "skip": "[dim]·[/]",
    "crash": "[red]✗[/]",
    "done": "[green]✓[/]",
    "stale": "[yellow]↻[/]",
    "todo": "[dim]·[/]",
}
WIDTH = 100


def make_console(*, stderr: bool = False) -> Console:
    """Give a console that is never wider than people read; NO_COLOR is obeyed by rich itself."""
    console = Console(stderr=stderr, highlight=False, soft_wrap=True)
    console.width = min(console.width, WIDTH) if console.is_terminal else WIDTH
    return console


def chosen(origin: str) -> str:
    """Say why a profile that nobody named is meant."""
    return f" [dim]({escape(origin)})[/]" if origin.startswith("the ") else ""


def verified(outcome: bool | None, *, done: str = "built") -> str:
    """Say what was proven, and never more than that."""
    if outcome is None:
        return f"[yellow]![/] {done}, not verified: no device was computed on (xpusetup verify, where there is one)"
    if outcome:
        return "[green]✓[/] verified: the device computes what the CPU computes"
    return "[red]✗[/] verification failed: xpusetup verify says where"


def prose(console: Console, indent: str, text: str, *, style: str = "", first: str = "") -> None:
    """Print running text in lines that keep their indent; `first` stands before the first instead."""
    lines = textwrap.wrap(text, WIDTH - len(indent), break_long_words=False, break_on_hyphens=False)
    for number, line in enumerate(lines):
        console.print(f"{first if first and number == 0 else indent}{escape(line)}", style=style)
