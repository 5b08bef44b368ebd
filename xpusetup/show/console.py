"""What all screens use: the console, its marks, and running text. All that reaches a terminal passes through here.

Logs, names, keys and notes come from elsewhere: what a terminal would take for a command is taken out of them.
"""

from __future__ import annotations

import re
import sys
from typing import TYPE_CHECKING, Any

from rich.markup import escape
from rich.segment import Segment

from xpusetup.redact import hide
from xpusetup.show.wrapping import Wrapping, wrap

if TYPE_CHECKING:
    from collections.abc import Iterable

    from rich.console import Console, ConsoleOptions, RenderableType

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
SEQUENCE = re.compile(
    r"(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]"  # colours, the cursor
    r"|(?:\x1b[\]PX^_]|[\x9d\x90\x98\x9e\x9f])[^\x07\x1b\x9c]*(?:\x07|\x1b\\|\x9c)"  # titles, links, the clipboard
    r"|\x1b[ -/]*[0-~]|\r(?=\n|\Z)"
)
CONTROL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")
"""C0 and C1 but for tab and the ends of lines, and what turns the direction of text."""


BRACKET = "\ue000"
"""Stands for the bracket that begins rich's markup, in texts that are none of ours, until they are drawn."""


def plain(text: str) -> str:
    """Give a text in which nothing commands a terminal; a line that a progress bar wrote over itself is several."""
    if text.isascii() and text.isprintable():
        return text
    return CONTROL.sub("", SEQUENCE.sub("", text)).replace("\r", "\n").replace(BRACKET, "[")


def literal(value: Any) -> Any:
    """Give a result in which no text can be markup, whichever screen it comes to."""
    if isinstance(value, str):
        return value.replace("[", BRACKET)
    if isinstance(value, dict):
        return {literal(key): literal(each) for key, each in value.items()}
    return type(value)(map(literal, value)) if type(value) in {list, tuple} else value


class Terminal(Wrapping):
    """A console whose own commands (colours, the cursor of the live view) are the only ones that pass."""

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
        """Render with the texts cleaned."""
        for segment in super().render(renderable, options):
            yield segment if segment.control else Segment(plain(segment.text), segment.style)

    def out(self, *objects: object, sep: str = " ", end: str = "\n", **words: object) -> None:
        """Print without markup and wrapping."""
        super().out(*(plain(str(each)) for each in objects), sep=sep, end=end, **words)  # type: ignore[arg-type]


def write_text(text: str, *, stderr: bool = False) -> None:
    """Write whole lines of a text that is not ours, as a log is."""
    stream = sys.stderr if stderr else sys.stdout
    stream.write(plain(hide(text)))
    stream.flush()


def make_console(*, stderr: bool = False) -> Console:
    """Give a console that is never wider than people read; NO_COLOR is obeyed by rich itself."""
    console = Terminal(stderr=stderr, highlight=False, soft_wrap=True)
    console.width = min(console.width, WIDTH) if console.is_terminal else WIDTH
    return console


def chosen(origin: str) -> str:
    """Say why a profile that nobody named is meant."""
    return f" [dim]({escape(origin)})[/]" if origin.startswith("the ") else ""


def verified(outcome: bool | None, *, done: str = "built") -> str:
    """Say what was proven, and never more than that."""
    if outcome is None:
        return f"[yellow]![/] {done}, not verified: no device was computed on; where there is one:"
    if outcome:
        return "[green]✓[/] verified: the device computes what the CPU computes"
    return "[red]✗[/] verification failed; what fails:"


def prose(console: Console, indent: str, text: str, *, style: str = "", first: str = "") -> None:
    """Print running text in lines that keep their indent; `first` stands before the first instead."""
    for number, line in enumerate(wrap(text, console.width - len(indent))):
        console.print(f"{first if first and number == 0 else indent}{escape(line)}", style=style)
