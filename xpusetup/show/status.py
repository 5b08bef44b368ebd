"""The screen of `status`: what a root holds, and whether that is still so."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.markup import escape

from xpusetup.show.console import chosen, verified
from xpusetup.show.replaced import show_replaced
from xpusetup.show.several import show_several

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rich.console import Console


def _show_sources(console: Console, data: Mapping[str, Any]) -> None:
    for name, tree in data["sources"].items():
        own = ", a source tree of your own" if tree["own"] else ""
        own += ", installed editable" if tree.get("editable") else ""
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
