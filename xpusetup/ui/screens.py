"""Results and errors as text for people: each command has one screen in this package.

Every screen reads the same without colour, at any width from 60 to 100, and as plain lines when it is no terminal.
"""

from collections.abc import Callable
from importlib import import_module
from importlib.util import find_spec
from typing import Any

from rich.console import Console
from rich.markup import escape

from xpusetup.base.command import Advice, name_gaps
from xpusetup.base.errors import XpuError
from xpusetup.base.text import hide, hide_all
from xpusetup.commands.result import AS_IT_IS, AnyResult, takes_result
from xpusetup.ui.console import literal, make_console, mark_commands, marked_prose


def show_result(result: AnyResult, *, verbose: bool, quiet: bool = False, stderr: bool = False) -> None:
    """Print a result; `quiet`: of work that went well one line."""
    data = result.data if result.command in AS_IT_IS else literal(hide_all(result.data))
    console = make_console(stderr=stderr)
    if quiet and result.code == 0 and _show_in_brief(console, data):
        return
    show_data(console, data, verbose=verbose)


def show_error(error: XpuError) -> None:
    console = make_console(stderr=True)
    first, *rest = hide(error.message).splitlines() or [""]
    console.print(f" [red]✗[/] {escape(first)}")
    for line in rest:
        console.print(f"   {escape(line)}")
    for number, line in enumerate(mark_commands(hide_all(error.fix)).splitlines()):
        name = "fix" if number == 0 else "   "
        if line.lstrip().startswith("# "):  # a comment between commands: each of its lines is one
            marked_prose(console, "        # ", line.strip().removeprefix("# "), first=f"   [bold]{name}[/]  # ")
        else:
            console.print(f"   [bold]{name}[/]  {line.strip()}")
    marked_prose(console, "        ", escape(name_gaps(Advice(error.fix).parts)))


ELSEWHERE = {"codegen": "verify", "prompt": "self"}
"""Modules of `commands` whose screens are in another module than the first word of their name says."""


def find_screen(kind: type, prefix: str = "show_") -> Callable[..., Any] | None:
    """Give the function that shows a type of result: the one of its module here that takes it as `data`.

    With `brief_` the one that tells it in a line. A type without a screen was told while the command was at work.
    """
    name = kind.__module__.rpartition(".")[2]
    module = f"xpusetup.ui.{ELSEWHERE.get(name, name.partition('_')[0])}"
    if find_spec(module) is None:
        return None
    functions = vars(import_module(module)).items()
    taking = (each for word, each in functions if word.startswith(prefix) and takes_result(each, kind))
    return next((each for each in taking if prefix != "show_" or "verbose" in each.__annotations__), None)


def show_data(console: Console, data: object, *, verbose: bool = False) -> None:
    show = find_screen(type(data))
    if show is not None:
        show(console, data, verbose=verbose)


def _show_in_brief(console: Console, data: object) -> bool:
    """Print the result of work that went well in one line; False where its screen is the answer to a question."""
    from xpusetup.ui.bundle import show_attempts  # noqa: PLC0415 - only where it is asked for

    brief = find_screen(type(data), "brief_")
    line = brief(data) if brief else ""
    if line:
        console.print(f" {line}")
        show_attempts(console, getattr(data, "reached_out", ()))
    return bool(line)
