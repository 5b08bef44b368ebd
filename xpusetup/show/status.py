"""The screen of `status`: what a root holds, and whether that is still so."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.markup import escape

from xpusetup.show.build import steps_left
from xpusetup.show.console import chosen, prose, verified
from xpusetup.show.origins import show_unverified
from xpusetup.show.replaced import show_replaced
from xpusetup.show.several import show_several

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rich.console import Console

VERIFYING = "verify."
VOID = "not verified any more: what is here is not what was verified"


def _show_sources(console: Console, data: Mapping[str, Any]) -> None:
    for name, tree in data["sources"].items():
        own = ", a source tree of your own" if tree["own"] else ""
        own += ", installed editable" if tree.get("editable") else ""
        if "archive" in tree:
            console.print(f"   {name} from an unpacked archive, sha256 {tree['archive'][:12]} of the tree{own}")
            continue
        console.print(f"   {name} at {tree['rev'][:12]}{own}{', with changes of your own' if tree['changed'] else ''}")
    for patch in data.get("patches", ()):
        console.print(f"   {patch['source']} with {escape(Path(patch['file']).name)}, {patch['sha256']}")


def show_status(console: Console, data: Mapping[str, Any]) -> None:
    """Print what a root holds, or one line for each of several."""
    if "builds" in data:
        show_several(console, data)
        return
    console.print(f"\n {data['profile']}{chosen(data.get('chosen_by', ''))} · {escape(data['root'])}\n")
    for wheel in data["wheels"]:
        _show_wheel(console, wheel)
    _show_sources(console, data)
    show_unverified(console, data)
    for row in data["replaced"]:
        show_replaced(console, row)
    for step, why in data["damaged"].items():
        if not (data["replaced"] and "/RECORD " in why):  # that follows from the lines above
            console.print(f" [red]✗[/] {step}: {escape(why)}")
    harmed = data["damaged"] or data["replaced"]
    for number, line in enumerate(data["fix"].splitlines() if harmed else ()):
        console.print(f"   [bold]{'fix' if number == 0 else '   '}[/]  {escape(line)}")
    if data["at_work"] is not None:
        _show_work(console, data)
    elif data["failed"] and not data["failed"].startswith(VERIFYING):
        _show_failed(console, data)
    elif data["left"]:
        prose(console, "   ", f"not finished: {steps_left(data['left'])}", first=" [yellow]![/] ")
        console.print(f"   [bold]go on[/]  {escape(data['fix'])}")
    else:
        _show_proof(console, data, " (before that)" if harmed else "")


def _show_wheel(console: Console, wheel: Mapping[str, Any]) -> None:
    mark = "[red]✗[/]" if not wheel["intact"] else "[green]✓[/]" if wheel["installed"] else "[dim]·[/]"
    there = "" if wheel["installed"] else "  not installed"
    console.print(f" {mark} {wheel['name']} {wheel['version']}  [dim]{wheel['sha256'][:12]}{there}[/]")


def _show_work(console: Console, data: Mapping[str, Any]) -> None:
    """Say who is at work there, and how to watch it."""
    now = f": {', '.join(data['at_work'])}" if data["at_work"] else ""
    console.print(f" … {data['made_by']} is at work{now} · {data['steps'] - len(data['skipped'])} steps to come")
    for step in data["at_work"]:
        console.print(f"   [bold]watch[/]  {escape(data['follow'])} --log {step} -f")


def _show_failed(console: Console, data: Mapping[str, Any]) -> None:
    """Say what failed, where to read why, and how to go on."""
    left = f"; {steps_left(data['left'])}" if data["left"] else ""
    prose(console, "   ", f"{data['failed']} failed{left}", first=" [red]✗[/] ")
    console.print(f"   [bold]why[/]    xpusetup explain {escape(shlex.quote(data['root']))}/logs/{data['failed']}.log")
    console.print(f"   [bold]go on[/]  {escape(data['fix'])}")


def _show_proof(console: Console, data: Mapping[str, Any], before: str) -> None:
    if data["void"]:
        prose(console, "   ", VOID, first=" [yellow]![/] ")
        console.print(f"   {escape(data['verify'])}")
        return
    done = "built" if data["made_by"] == "build" else "installed"
    console.print(f" {verified(data['verified'], done=done)}{before}")
    if not data["verified"]:
        console.print(f"   {escape(data['verify'])}")
