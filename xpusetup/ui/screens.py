"""Results and errors as text for people: each command has one screen in this package.

Every screen reads the same without colour, at any width from 60 to 100, and as plain lines when it is no terminal.
"""

from __future__ import annotations

import json
import re
import shlex
import sys
from importlib import import_module
from typing import TYPE_CHECKING, Any

from rich.markup import escape

from xpusetup.base.text import bash_on_one_line, hide, hide_all
from xpusetup.commands.result import AS_IT_IS
from xpusetup.ui.console import is_command, literal, make_console, plain

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from rich.console import Console

    from xpusetup.base.errors import XpuError
    from xpusetup.commands.emit import Emitted
    from xpusetup.commands.profiles import ProfileSchema
    from xpusetup.commands.result import AnyResult
    from xpusetup.commands.status import Environment


VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


def show_result(result: AnyResult, *, verbose: bool, quiet: bool = False) -> None:
    """Print a result; `quiet`: of work that went well one line."""
    data = result.data if result.command in AS_IT_IS else literal(hide_all(result.data))
    console = make_console()
    if quiet:
        from xpusetup.ui.brief import show_in_brief  # noqa: PLC0415 - only where it is asked for

        if show_in_brief(console, result, data):
            return
    show_data(console, result.command, data, verbose)


def show_error(error: XpuError) -> None:
    """Print an error on stderr: what happened, and below it what mends it."""
    console = make_console(stderr=True)
    first, *rest = hide(error.message).splitlines() or [""]
    console.print(f" [red]✗[/] {escape(first)}")
    for line in rest:
        console.print(f"   {escape(line)}")
    for number, line in enumerate(hide(error.fix).splitlines()):
        label = f"   [bold]{'fix' if number == 0 else '   '}[/]  "
        if is_command(line.strip()):
            console.print(f"{label}{escape(line.strip())}", soft_wrap=True)
        else:
            console.print(f"{label}{escape(line.strip())}")


def show_env(console: Console, data: Environment, *, verbose: bool) -> None:  # noqa: ARG001 - as all screens
    """Print what a shell evaluates."""
    for name in filter(VARIABLE.fullmatch, data.unset):
        console.out(f"unset {name}")
    for name, value in data.set_.items():
        if VARIABLE.fullmatch(name):
            quote = shlex.quote if plain(value) == value else bash_on_one_line
            console.out(f"export {name}={quote(value)}")


def show_emit(console: Console, data: Emitted, *, verbose: bool) -> None:
    """Print what was written and how it is used."""
    console.print(f" [green]✓[/] {len(data.files)} files; build it with: {escape(data.start)}")
    for note in data.notes:
        console.print(f"   · {escape(note)}", style="dim")
    for name in data.files if verbose else ():
        console.print(f"     {escape(name)}", style="dim")


def show_schema(_console: Console, data: ProfileSchema, *, verbose: bool) -> None:  # noqa: ARG001 - as all screens
    """Write a schema as editors read it."""
    sys.stdout.write(json.dumps(data, indent=2) + "\n")


def _find(names: Mapping[str, str], data: object) -> Callable[..., Any] | None:
    """Give the function that a table names for a type of result; its module is imported when it is shown."""
    module, _, function = names.get(type(data).__name__, "").partition(":")
    return getattr(import_module(f"xpusetup.ui.{module}"), function) if module else None


SCREENS = {
    "BuildList": "build:show_several",
    "BuildResult": "build:show_build",
    "BuildStatus": "build:show_status",
    "ExplainResult": "explain:show_explained",
    "InstallResult": "build:show_install",
    "PlanResult": "build:show_plan",
    "CheckList": "doctor:show_checks",
    "Comparison": "doctor:show_comparison",
    "Diagnosis": "doctor:show_doctor",
    "Overview": "doctor:show_way",
    "SetupResult": "doctor:show_setup",
    "UpstreamReport": "doctor:show_report",
    "Emitted": "screens:show_emit",
    "Environment": "screens:show_env",
    "CacheSize": "storage:show_size",
    "PrunedCache": "storage:show_prune",
    "Removed": "storage:show_removed",
    "ProfileSchema": "screens:show_schema",
}
"""The screen of each type of result, as module:function; a test holds them against the types that commands return.

A result that is not here has no screen: what it tells was said while the command was at work.
"""


def show_data(console: Console, command: str, data: object, verbose: bool = False) -> None:
    """Print the screen of a result."""
    if screen := _find(SCREENS, data):
        screen(console, data, verbose=verbose)
    elif command in SHOWN:
        SHOWN[command](console, data, verbose)


def _show_verify(console: Console, data: Mapping[str, Any], verbose: bool) -> None:
    from xpusetup.ui.verify import show_list, show_verify  # noqa: PLC0415 - a screen of its own

    if "list" in data:
        show_list(console, data["list"])
        return
    show_verify(console, data, verbose=verbose)


def _screen(module: str, function: str, *, told: bool = True) -> Callable[[Console, Any, bool], None]:
    """Give a screen of a module of its own, imported when it is shown; `told`: it may be asked to say more."""

    def show(console: Console, data: Mapping[str, Any], verbose: bool) -> None:
        more = {"verbose": verbose} if told else {}
        getattr(import_module(f"xpusetup.ui.{module}"), function)(console, data, **more)

    return show


SHOWN: dict[str, Callable[[Console, Any, bool], None]] = {
    "verify": _show_verify,
    "verify --fallbacks": _screen("verify", "show_fallbacks", told=False),
    "test": _screen("verify", "show_suites"),
    "status diff": _screen("verify", "show_comparison"),
    "bisect": _screen("bisect", "show_bisect"),
    "report": _screen("bisect", "show_report", told=False),
    "env --closure": _screen("devices", "show_closure"),
    "verify-wheel": _screen("devices", "show_wheel"),
    "bundle create": _screen("storage", "show_created"),
    "bundle verify": _screen("storage", "show_verified"),
    "devices list": _screen("devices", "show_devices"),
    "devices check": _screen("devices", "show_devices"),
    "devices table": _screen("verify", "show_table", told=False),
    "profiles list": _screen("profiles", "show_list", told=False),
    "profiles show": _screen("profiles", "show_one"),
    "profiles check": _screen("profiles", "show_checked", told=False),
    "profiles new": _screen("profiles", "show_new", told=False),
    "profiles lock": _screen("profiles", "show_lock", told=False),
}
