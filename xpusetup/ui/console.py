"""What all screens use: the console, its marks, and lines as wide as the terminal."""

from __future__ import annotations

import re
import shlex
import sys
from contextlib import suppress
from typing import TYPE_CHECKING, Any, TypeVar

from rich.cells import cell_len, set_cell_size
from rich.console import Console
from rich.markup import escape
from rich.segment import Segment
from rich.text import Text

from xpusetup.base.command import Advice, Command, name_gaps
from xpusetup.base.document import map_texts
from xpusetup.base.text import hide, name_some
from xpusetup.base.verbs import VERBS
from xpusetup.system.environment import short_path, variable

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from rich.console import ConsoleOptions, RenderableType

    from xpusetup.commands.build_result import BuildResult
    from xpusetup.commands.status import BuildStatus

T = TypeVar("T")


# Lines as wide as the terminal: words stay whole, what follows stands below where it began, commands are not broken.
#
# A command that is longer than the line gets one of its own, as does a path: whoever copies it copies all of it.


BEGINS = (
    rf"(?:\w+=\S+ )?(?:\S*/)?xpusetup (?:{'|'.join(VERBS)}|--\w+)\b",
    r"sudo \S|apt-get \w|(?:\S*/)?python(?:3(?:\.\d+)?)? -",
    r"(?:\S*/)?pip3? (?:install|list|config|uninstall|download|check|show|wheel|index|cache|freeze)\b",
    r"uv (?:pip|venv|python|tool)\b|conda (?:activate|install|update|create)\b|docker \w+ -",
    r"source (?:'[^']*')?\S*/|export \w+=|unset [A-Z]|bash \S*[/-]|env -|eval (?=\")|echo (?=\")",
    r"(?:grep|uname|ls|dpkg|lspci|cmake|ninja|ctest|taskset|ulimit) -|docker (?:run|exec|pull)\b|sycl-ls --",
    r"mkdir -|wget -|curl -|tar -|mv /|rm -|ldd /|git -|git (?:apply|clone|checkout|fetch|push|am|diff|log|tag) ",
)
COMMAND = re.compile(
    rf"(?<![\w./~-])(?:{'|'.join(BEGINS)})"
    r"(?:'[^']*'|\"[^\"]*\"|[^'\"])*?(?=$|;(?:\s|$)|\)(?:\W|$)|[,.:](?:\s|$)| · | \(|\s{3,})"
)
"""A command inside a text, as far as it goes."""
OPTION = re.compile(r"(?<!\S)--[a-z][a-z-]*[ =][A-Z][\w@:./=|-]*")
STYLE = "cyan"
"""What is printed in it is a command, whatever it begins with."""
DOT = re.compile(r"\w.* ·\Z")
"""Items are parted by dots; a line breaks after one rather than inside of an item."""
GAP = re.compile(r"\S(\s{2,})(?=\S)")
MARK = re.compile(r"(?:[✓✗!·…↻>-]|\d+|fix|cause:?)\s+")
SHARE = 0.55
"""What follows is not put further to the right than so much of the width."""


class Wrapping(Console):
    """A terminal whose lines of text are never wider than it is, but for a word or command that is.

    What goes into a file or a pipe is for other programs too: there lines stay as they are, unless COLUMNS is set.
    """

    wraps = False

    def print(self, *objects: Any, **words: Any) -> None:
        """Print; a text is laid out first."""
        if (
            not (self.is_terminal or self.wraps)
            or len(objects) != 1
            or not isinstance(objects[0], str)
            or not words.keys() <= {"style"}
        ):
            super().print(*objects, **words)
            return
        for line in lay_out(self.render_str(objects[0]), self.width):
            super().print(line, soft_wrap=True, **words)

    def on_broken_pipe(self) -> None:
        """Tell the caller that the reader has gone; rich would end the program with 1, in the middle of its work."""
        raise  # noqa: PLE0704 - what is being handled, in rich's own `except`


def lay_out(text: Text, width: int, indent: int | None = None) -> Iterator[Text]:
    """Give the lines of a text; `indent` is where the second and later ones begin, else below what they go on from."""
    for line in text.split("\n", allow_blank=True):
        if cell_len(line.plain) <= width:
            yield line
            continue
        hang = _hang(line.plain, width) if indent is None else indent
        for number, (start, end) in enumerate(_ranges(line, width, hang)):
            yield Text.assemble(" " * (hang if number else 0), line[start:end])


def cut_end(text: str, width: int) -> str:
    """Cut a line that is wider than there is room for."""
    return text if cell_len(text) <= width else f"{set_cell_size(text, width - 1)}…"


def wrap(text: str, width: int) -> list[str]:
    """Break running text between words, and not inside of commands."""
    words = " ".join(text.split("\n")).strip()
    return [line.plain.strip() for line in lay_out(Text(words), width, indent=0)] if words else []


def mark_commands(text: str) -> str:
    """Give a text as markup, in which each command has the colour of commands."""
    told = ((part, escape(part)) for part in Advice(text).parts)
    return "".join(f"[{STYLE}]{words}[/]" if isinstance(part, Command) else words for part, words in told)


def _hang(text: str, width: int) -> int:
    """Give where text goes on: below the last column that begins far enough to the left, after a mark."""
    place = len(text) - len(text.lstrip())
    for gap in GAP.finditer(text):
        if gap.end(1) <= width * SHARE:
            place = gap.end(1)
    mark = MARK.match(text, place)
    return mark.end() if mark and mark.end() <= width * SHARE else place


def _ranges(line: Text, width: int, hang: int) -> Iterator[tuple[int, int]]:
    """Give beginning and end of each line that a long one becomes; items that dots part are broken last."""
    plain = line.plain.rstrip()
    # a line is broken in the gaps between words, and not inside of commands
    whole = [found.span() for pattern in (COMMAND, OPTION) for found in pattern.finditer(plain)]
    whole += [(span.start, span.end) for span in line.spans if str(span.style) == STYLE]
    gaps = (found.span() for found in re.finditer(r"(?<=\S)\s+(?=\S)(?!· )", plain))
    breaks = [(begin, end) for begin, end in gaps if not any(first <= begin < stop for first, stop in whole)]
    start, room = 0, width
    while breaks and cell_len(plain[start:]) > room:
        fits = [each for each in breaks if cell_len(plain[start : each[0]]) <= room]
        dots = [each for each in fits if DOT.search(plain, start, each[0])]
        begin, end = (dots or fits or breaks[:1])[-1]
        yield start, begin
        start, room = end, width - hang
        breaks = [each for each in breaks if each[0] > start]
    yield start, len(plain)


# What all screens use: the console, its marks, and running text. All that reaches a terminal passes through here.
#
# Logs, names, keys and notes come from elsewhere: what a terminal would take for a command is taken out of them.


MARKS = {
    "ok": "[green]✓[/]",
    "info": "[cyan]·[/]",
    "warn": "[yellow]![/]",
    "fail": "[red]✗[/]",
    "skip": "[dim]·[/]",
    "unknown": "[dim]?[/]",
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


def literal(value: T) -> T:
    """Give a result in which no text can be markup, whichever screen it comes to."""
    return map_texts(value, lambda text, _names: text.replace("[", BRACKET))


class Terminal(Wrapping):
    """A console whose own commands (colours, the cursor of the live view) are the only ones that pass."""

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
        """Render with the texts cleaned."""
        for segment in super().render(renderable, options):
            yield segment if segment.control else Segment(plain(segment.text), segment.style)

    def out(self, *objects: object, sep: str = " ", end: str = "\n", **words: object) -> None:
        """Print without markup and wrapping."""
        super().out(*(plain(str(each)) for each in objects), sep=sep, end=end, **words)  # type: ignore[arg-type]


class ProgressLine(Terminal):
    """What says how far work is. Where that cannot be written the work goes on; its end is told as ever."""

    def print(self, *objects: Any, **words: Any) -> None:
        with suppress(OSError):
            super().print(*objects, **words)


def write_text(text: str, *, stderr: bool = False) -> None:
    """Write whole lines of a text that is not ours, as a log is."""
    stream = sys.stderr if stderr else sys.stdout
    stream.write(plain(hide(text)))
    stream.flush()


def make_console(*, stderr: bool = False, progress: bool = False) -> Console:
    """Give a console that is never wider than people read; NO_COLOR is obeyed by rich itself."""
    console = (ProgressLine if progress else Terminal)(stderr=stderr, highlight=False, soft_wrap=True)
    console.wraps = variable("COLUMNS").isdigit()  # rich has taken it
    console.width = min(console.width, WIDTH) if console.is_terminal or console.wraps else WIDTH
    return console


def moves(console: Console) -> bool:
    """Say whether lines can be written over there: it is no pipe, and no terminal without a cursor, as Emacs' shell."""
    return console.is_terminal and not console.is_dumb_terminal


def chosen(origin: str) -> str:
    """Say why a profile that nobody named is meant."""
    return f" [dim]({escape(origin)})[/]" if origin.startswith("the ") else ""


NOT_VERIFIED = {
    "no device": ", not verified: no device was computed on",
    "off": ", not verified (--verify off)",
    "": ", not verified yet",
}


def verified(data: BuildResult | BuildStatus, *, done: str = "built") -> str:
    """Say what was proven, on which device, and never more than that; the command that verifies it follows."""
    outcome, proof = data.verified, data.proof
    if outcome is None:
        where = "; where there is one" if data.not_verified == "no device" else ""
        return f"[yellow]![/] {done}{NOT_VERIFIED[data.not_verified]}{where}:"
    if outcome:
        on, checks = (f" on {escape(proof.device)}", f": {proof.checks} checks") if proof and proof.device else ("", "")
        return f"[green]✓[/] verified{on}{checks}"
    failing = f": {escape(name_some(proof.failing))}; to see how" if proof and proof.failing else "; what fails"
    return f"[red]✗[/] verification failed{failing}:"


def show_outcome(console: Console, data: BuildResult | BuildStatus, *, done: str, before: str = "") -> None:
    """Show what was proven, and where nothing is the command that verifies it: in the same line if that has room."""
    told = f" {verified(data, done=done)}{before}"
    if data.verified:
        console.print(told)
        return
    command = with_home(data.verify)
    if Text.from_markup(f"{told} {command}").cell_len > console.width:
        console.print(told)
        told = "  "
    console.print(f"{told} {command}", soft_wrap=True)


def prose(console: Console, indent: str, text: str, *, style: str = "", first: str = "") -> None:
    """Print running text in lines that keep their indent; `first` stands before the first instead."""
    marked_prose(console, indent, " ".join(mark_commands(text).split("\n")), style=style, first=first)


def marked_prose(console: Console, indent: str, markup: str, *, style: str = "", first: str = "") -> None:
    """Print running text that is markup already, as `prose` does."""
    words = Text.from_markup(markup.strip())
    for number, line in enumerate(lay_out(words, console.width - len(indent), indent=0) if words else ()):
        shown = f"{first if first and number == 0 else indent}{line.markup.rstrip()}"
        console.print(shown, style=style, soft_wrap=True)  # what is still too wide is an address or a path


def print_commands(console: Console, commands: Iterable[str], indent: int) -> None:
    """Print commands to copy, each a line of its own that is not broken; below them what is to be replaced."""
    lines = tuple(commands)
    for command in lines:
        console.print(f"{' ' * indent}[{STYLE}]{escape(command)}[/]")
    prose(console, " " * indent, name_gaps(lines), style="dim")


def steps_coming(number: int) -> str:
    """Say how many steps are still to come."""
    return f"{number} {'step' if number == 1 else 'steps'} to come"


def steps_left(left: Sequence[str]) -> str:
    """Say which steps are still to come."""
    return f"{steps_coming(len(left))} ({name_some(left)})"


DONE = "[green]✓[/] "
"""What begins a line about work that went well."""


def name_file(path: str) -> str:
    """Name a file that was made, in a line."""
    return f"{DONE}{escape(short_path(path))}"


def home_quoted(path: str) -> str:
    """Write a path for a shell, with the home as ~, which a quote would keep from being read."""
    short = short_path(path)
    return f"~/{shlex.quote(short[2:])}" if short.startswith("~/") else shlex.quote(short)


OF_TREES = ("--source", "--patch")


def with_home(text: str) -> str:
    """Write the home as ~ wherever a word or a tree begins with it, and keep rich from reading markup."""
    words = text.split(" ")
    for place, word in enumerate(words):
        name, equals, folder = word.partition("=")
        tree = place and words[place - 1] in OF_TREES and equals  # which the program reads with its ~
        words[place] = f"{name}={short_path(folder)}" if tree else short_path(word)
    return escape(" ".join(words))


# Tables; where the terminal is too narrow for the words of one, a few lines for each row instead.


def _widths(console: Console, heads: Sequence[str], rows: Sequence[Sequence[str]]) -> list[int]:
    """Give the widths of columns: as even as can be, and none below its longest word; empty where that has no room."""
    from rich.measure import Measurement  # noqa: PLC0415 - few screens have a table

    measured = [
        [Measurement.get(console, console.options, cell) for cell in each] for each in zip(heads, *rows, strict=True)
    ]
    least = [max(cell.minimum for cell in each) for each in measured]
    most = [max(cell.maximum for cell in each) for each in measured]
    room = console.width - PADDING * len(heads)
    if sum(least) > room:
        return []
    found = list(least)
    for _ in range(min(room, sum(most)) - sum(least)):
        growing = [place for place, width in enumerate(found) if width < most[place]]
        found[min(growing, key=lambda place: found[place])] += 1
    return found


PADDING = 2
"""Around each column of a table."""


def show_table(
    console: Console,
    heads: Sequence[str],
    rows: Sequence[Sequence[str]],
    *,
    right: Sequence[str] = (),
    clear: Sequence[str] = (),
) -> None:
    """Print rows of markup below their heads; columns of `right` end at the right, those of `clear` need no head."""
    from rich.table import Table  # noqa: PLC0415 - few screens have a table

    widths = _widths(console, heads, rows)
    if not widths:
        for row in rows:
            _show_row(console, ["" if head in clear else head for head in heads], row)
        return
    table = Table(box=None, pad_edge=True, show_edge=False, header_style="dim")
    for head, width in zip(heads, widths, strict=True):
        table.add_column(head, overflow="fold", justify="right" if head in right else "left", width=width)
    for row in rows:
        table.add_row(*row)
    console.print(table)


def _show_row(console: Console, heads: Sequence[str], row: Sequence[str]) -> None:
    """Print what names a row, a sign with what follows it, and below it what else is said of it."""
    named = 1 if heads[0] else 2
    told = (f"{head} {cell}".strip() for head, cell in zip(heads[named:], row[named:], strict=True) if cell)
    console.print(f" {' '.join(row[:named])}")
    console.print(f"     {' · '.join(told)}", style="dim")
