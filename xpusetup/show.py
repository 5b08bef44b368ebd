"""Results and errors as text for people: each command has one function here, the only user of rich but the build view.

Every screen reads the same without colour, at a width of 100, and as plain lines when it is no terminal.
"""

from __future__ import annotations

import json
import shlex
import sys
import textwrap
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.console import Console
from rich.markup import escape

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import TypeAlias

    from xpusetup.commands.result import Result
    from xpusetup.errors import XpuError

    Screen: TypeAlias = Callable[[Console, Mapping[str, Any], bool], None]

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


def show_result(result: Result, *, verbose: bool) -> None:
    """Print a result."""
    SHOWN[result.command](make_console(), result.data, verbose)


def show_error(error: XpuError) -> None:
    """Print an error on stderr: what happened, and below it what mends it."""
    console = make_console(stderr=True)
    first, *rest = error.message.splitlines() or [""]
    console.print(f" [red]✗[/] {escape(first)}")
    for line in rest:
        console.print(f"   {escape(line)}")
    for number, line in enumerate(error.fix.splitlines()):
        console.print(f"   [bold]{'fix' if number == 0 else '   '}[/]  {escape(line.strip())}")


def _show_plan(console: Console, data: Mapping[str, Any], verbose: bool) -> None:
    if data["explain"]:
        from xpusetup.show_explain import show_explain  # noqa: PLC0415 - a screen of its own

        show_explain(console, data)
        return
    from xpusetup.show_build import show_plan  # noqa: PLC0415 - a screen of its own

    show_plan(console, data, verbose)


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


def _show_verify(console: Console, data: Mapping[str, Any], verbose: bool) -> None:
    from xpusetup.show_verify import show_list, show_verify  # noqa: PLC0415 - a screen of its own

    if "list" in data:
        show_list(console, data["list"])
        return
    show_verify(console, data, verbose=verbose)


def _show_sources(console: Console, data: Mapping[str, Any]) -> None:
    for name, tree in data["sources"].items():
        own = ", a source tree of your own" if tree["own"] else ""
        own += ", installed editable" if tree.get("editable") else ""
        console.print(f"   {name} at {tree['rev'][:12]}{own}{', with changes of your own' if tree['changed'] else ''}")
    for patch in data.get("patches", ()):
        console.print(f"   {patch['source']} with {escape(Path(patch['file']).name)}, {patch['sha256']}")


def _show_status(console: Console, data: Mapping[str, Any], _verbose: bool) -> None:
    if "builds" in data:
        from xpusetup.show_several import show_several  # noqa: PLC0415 - a screen of its own

        show_several(console, data)
        return
    from xpusetup.show_replaced import show_replaced  # noqa: PLC0415 - it uses this module

    console.print(f"\n {data['profile']}{chosen(data.get('chosen_by', ''))} · {escape(data['root'])}\n")
    for wheel in data["wheels"]:
        mark = "[green]✓[/]" if wheel["intact"] else "[red]✗[/]"
        console.print(f" {mark} {wheel['name']} {wheel['version']}  [dim]{wheel['sha256'][:12]}[/]")
    _show_sources(console, data)
    for row in data["replaced"]:
        show_replaced(console, row)
    for step, why in data["damaged"].items():
        if not (data["replaced"] and "/RECORD " in why):  # that follows from the lines above
            console.print(f" [red]✗[/] {step}: {escape(why)}")
    harmed = data["damaged"] or data["replaced"]
    if harmed:
        console.print(f"   [bold]fix[/]  {escape(data['fix'])}")
    if data["failed"]:
        console.print(f" [red]✗[/] {data['failed']} failed; the same build command goes on there")
    before = " (before that)" if harmed else ""
    if not data["wheels"] and not any(tree.get("editable") for tree in data["sources"].values()):
        console.print(" [yellow]![/] no wheel yet: the same build command goes on")
        return
    done = "built" if data["made_by"] == "build" else "installed"
    console.print(f" {verified(data['verified'], done=done)}{before}")


def _show_env(console: Console, data: Mapping[str, Any], _verbose: bool) -> None:
    for name in filter(str.isidentifier, data["unset"]):
        console.out(f"unset {name}")
    for name, value in data["set"].items():
        if name.isidentifier():
            console.out(f"export {name}={shlex.quote(value)}")


def _show_emit(console: Console, data: Mapping[str, Any], verbose: bool) -> None:
    console.print(f" [green]✓[/] {len(data['files'])} files; build it with: {escape(data['start'])}")
    for note in data["notes"]:
        console.print(f"   · {escape(note)}", style="dim")
    for name in data["files"] if verbose else ():
        console.print(f"     {escape(name)}", style="dim")


def _show_schema(_console: Console, data: Mapping[str, Any], _verbose: bool) -> None:
    sys.stdout.write(json.dumps(data, indent=2) + "\n")


def _screen(module: str, function: str, *, told: bool = True) -> Screen:
    """Give a screen of a module of its own, imported when it is shown; `told`: it may be asked to say more."""

    def show(console: Console, data: Mapping[str, Any], verbose: bool) -> None:
        more = {"verbose": verbose} if told else {}
        getattr(import_module(f"xpusetup.{module}"), function)(console, data, **more)

    return show


SHOWN: dict[str, Screen] = {
    "build": _screen("show_build", "show_build"),
    "install": _screen("show_build", "show_install"),
    "plan": _show_plan,
    "verify": _show_verify,
    "verify --fallbacks": _screen("show_fallbacks", "show_fallbacks", told=False),
    "test": _screen("show_suites", "show_suites"),
    "status": _show_status,
    "status log": lambda _console, _data, _verbose: None,
    "status diff": _screen("show_comparison", "show_comparison"),
    "env": _show_env,
    "bisect": _screen("show_bisect", "show_bisect"),
    "report": _screen("show_report", "show_report", told=False),
    "emit": _show_emit,
    "env --closure": _screen("show_wheel", "show_closure"),
    "verify-wheel": _screen("show_wheel", "show_wheel"),
    "doctor": _screen("show_doctor", "show_doctor"),
    "setup": _screen("show_setup", "show_setup", told=False),
    "xpusetup": _screen("show_way", "show_way"),
    "explain": _screen("show_causes", "show_explained"),
    "bundle create": _screen("show_bundle", "show_created"),
    "bundle verify": _screen("show_bundle", "show_verified"),
    "cache size": _screen("show_cache", "show_size"),
    "cache prune": _screen("show_cache", "show_prune", told=False),
    "devices list": _screen("show_devices", "show_devices"),
    "devices check": _screen("show_devices", "show_devices"),
    "devices table": _screen("show_comparison", "show_table", told=False),
    "profiles list": _screen("show_profiles", "show_list", told=False),
    "profiles show": _screen("show_profiles", "show_one", told=False),
    "profiles check": _screen("show_profiles", "show_checked", told=False),
    "profiles new": _screen("show_locks", "show_new", told=False),
    "profiles lock": _screen("show_locks", "show_lock", told=False),
    "profiles schema": _show_schema,
}
