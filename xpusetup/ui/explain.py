"""Why something failed: the line that matters, its cause, what to do."""

from __future__ import annotations

import re
import shlex
import textwrap
from typing import TYPE_CHECKING

from rich.markup import escape

from xpusetup.ui.console import cut_end, print_commands, prose, wrap

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import Console

    from xpusetup.commands.explain import ExplainResult, StepWords
    from xpusetup.explain.explanation import Cause


THREAD = re.compile(r"^https://github\.com/([^/]+/[^/]+)/(?:issues|pull)/(\d+)$")
COMPLAINS = re.compile(r"(?i)\b(?:\w*error|failed|failure|cannot|could not|no such|denied|not found|unable|abort\w*)\b")
OBJECT = re.compile(r"<[\w.]+ object at 0x[0-9a-f]+>|\(Retry\(total=[^()]*\)\)")
"""An object of Python as it prints itself: it says where in memory it was, or how often pip will try again."""
LONGEST = 300
COLUMN = 9
OTHERS = 3


def show_explained(console: Console, data: ExplainResult, *, verbose: bool) -> None:
    """Print the line that matters, why, and what to do; where no cause is known, what the log says by itself."""
    if data.causes:
        best, *others = data.causes
        _show_line(console, best.line, data.lines, best.text)
        show_cause(console, best, indent=1)
        _show_beside(console, data)
        _show_also(console, [cause for cause in others if not cause.caused_by], _more(data))
        _row(console, 1, "Source", source_of(best.source))
    elif data.said:
        show_said(console, data.said, indent=1)
    elif data.went_on:
        _show_went_on(console, data.went_on[0], data)
    elif data.ended:
        _row(console, 1, "Cause", f"none: the last command went well, as line {data.ended.line} says")
        _row(console, 1, "By", data.ended.text[:LONGEST])
        if data.first_error_line:
            _row(console, 1, "Line", f"{data.first_error_line} complains before that: {data.first_error[:LONGEST]}")
    elif data.first_error_line:
        _show_unknown(console, data, data.first_error_line)
    else:
        lines = f"{data.lines:,} line{'' if data.lines == 1 else 's'}"
        said = f"nothing in the {lines} of this log is known as a failure" if data.lines else "the log is empty"
        _row(console, 1, "Cause", f"not known: {said}")
        _show_last(console, data)
    for each in data.known:
        _row(console, 1, "Known", f"{each.what}: {each.workaround} ({source_of(each.source)})")
    _show_ask(console, data)
    if verbose and data.first_error_line:
        _show_context(console, data)


def _show_ask(console: Console, data: ExplainResult) -> None:
    """Print how to ask others, where no sure cause is known."""
    if not data.lines or not (data.causes[0].likely if data.causes else not (data.said or data.ended)):
        return
    _row(console, 1, "Ask", "an assistant, a colleague or an issue, with what this prints:")
    piped = data.log == "stdin"
    command = "... | xpusetup explain --prompt" if piped else f"xpusetup explain {shlex.quote(data.log)} --prompt"
    print_commands(console, [command], 1 + COLUMN)


def _show_went_on(console: Console, cause: Cause, data: ExplainResult) -> None:
    """Print what complains where the log went on after it: what it would mean, if something failed all the same."""
    _show_line(console, cause.line, data.lines, cause.text)
    _row(console, 1, "Cause", "none that ended it: the log goes on after this line, and its end tells of no failure")
    _row(console, 1, "Else", f"if something failed all the same: {cause.cause} ({cause.id})")
    _row(console, 1, "Fix", cause.fix)
    print_commands(console, cause.commands, 1 + COLUMN)


def _show_beside(console: Console, data: ExplainResult) -> None:
    """Print what else complains near a line whose cause is not sure: the reason is often said there."""
    for number, entry in enumerate(data.beside):
        name = "Near by" if number == 0 else ""
        console.print(f" [bold]{name:<{COLUMN}}[/][dim]{entry.line:>6}  {escape(entry.text[:LONGEST])}[/]")


def _show_last(console: Console, data: ExplainResult) -> None:
    """Print the end of a log: what a program said last, where nothing in it is known."""
    for entry in data.last:
        console.print(f"   {entry.line:>7}  {escape(entry.text[:LONGEST])}", style="dim")


def show_cause(console: Console, cause: Cause, indent: int, log: str = "") -> None:
    """Print a cause and what to do; with the name of a log also the line there."""
    said = "  (a warning: some of what was asked for is missing)" if cause.level == "warning" else ""
    sure = f"Cause|{cause.cause} ({cause.id}, {cause.confidence} confidence){said}"
    name, _, text = (f"Perhaps|{cause.cause} ({cause.id}){said}" if cause.likely else sure).partition("|")
    _row(console, indent, name, text)
    if cause.decided and cause.decided.line != cause.line:
        _row(console, indent, "By", f"line {cause.decided.line}: {shorten(cause.decided.text)}")
    if log:
        line = shorten(cause.text)
        console.print(f"{' ' * (indent + COLUMN)}[dim]{escape(log)}:{cause.line}[/]  {escape(line)}")
    _row(console, indent, "Fix", cause.fix)
    print_commands(console, cause.commands, indent + COLUMN)


def show_said(console: Console, said: StepWords, indent: int) -> None:
    """Print what a step said by itself, whole."""
    _row(console, indent, "Cause", said.message)
    _row(console, indent, "Fix", said.fix)


def shorten(text: str) -> str:
    """Cut a long line; where what complains stands behind the cut, its head and that part of it are left.

    Of an object of Python nothing is left: beside it stands why something failed.
    """
    whole = " ".join(OBJECT.sub("[...]", text).split())
    told = [found.start() for found in COMPLAINS.finditer(whole)]
    if len(whole) <= LONGEST or not told or told[-1] < LONGEST:
        return textwrap.shorten(whole, LONGEST)
    head = textwrap.shorten(whole, LONGEST // 3)
    start = max(told[-1] - LONGEST // 4, 0)
    return f"{head} {textwrap.shorten(whole[start:].partition(' ')[2], LONGEST - len(head))}"


def source_of(address: str) -> str:
    """Give the address of a thread as people write it: owner/repository#number."""
    found = THREAD.match(address)
    return f"{found[1]}#{found[2]}" if found else address


def _show_line(console: Console, line: int, lines: int, text: str) -> None:
    console.print(f"\n [bold]line {line} of {lines:,}[/]    {escape(shorten(text))}")


def _show_unknown(console: Console, data: ExplainResult, line: int) -> None:
    _show_line(console, line, data.lines, data.first_error)
    sure = data.first_error_sure
    _row(
        console,
        1,
        "Cause",
        f"not known; this {'is the first error' if sure else 'line may be an error'}",
    )
    _show_context(console, data)
    _show_beside(console, data)
    if not sure:
        _show_last(console, data)
    _show_also(console, [], _more(data))


SOURCE = re.compile(r"\s*\d*\s+\|")
"""A line of the source below a compiler's message, or that which points into it."""


def _show_context(console: Console, data: ExplainResult) -> None:
    for entry in data.context:
        mark = ">" if entry.line == data.first_error_line else " "
        line = f" {mark} {entry.line:>7}  {entry.text[:LONGEST]}"
        if SOURCE.match(entry.text) and (console.is_terminal or getattr(console, "wraps", False)):
            line = cut_end(line, console.width)  # not broken: a `^` below it shows a column
        console.print(escape(line), style="dim")


def _show_also(console: Console, others: Sequence[Cause], more: str) -> None:
    for cause in others[:OTHERS]:
        _row(console, 1, "Also", f"line {cause.line}: {cause.cause} ({cause.id})")
    if more:
        _row(console, 1, "Also", more)


def _more(data: ExplainResult) -> str:
    count = data.later_errors
    if not count:
        return ""
    number = f"more than {count:,}" if data.later_errors_more else f"{count}"
    return f"{number} later {'error follows' if count == 1 else 'errors follow'} from it"


def _row(console: Console, indent: int, name: str, text: str) -> None:
    lines = wrap(text, console.width - indent - COLUMN) or [""]
    console.print(f"{' ' * indent}[bold]{name:<{COLUMN}}[/]{escape(lines[0])}")
    prose(console, " " * (indent + COLUMN), " ".join(lines[1:]))
