"""Locks on the screen: what each part is pinned to now, and where that is known from."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rich.markup import escape

from xpusetup.show.console import prose

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rich.console import Console


def show_lock(console: Console, data: Mapping[str, Any]) -> None:
    """Print a lock."""
    given = ", ".join(f"{name} {ref}" for name, ref in data["revs"].items())
    console.print(f"\n {data['profile']} with {escape(given)}\n")
    for change in data["components"]:
        _show_change(console, change)
    for note in data["notes"]:
        console.print()
        prose(console, "   ", note, first=" ! ")
    written = f"written: {data['file']} · " if data["file"] else ""
    console.print(f"\n {escape(written)}build it: {escape(data['next'])}")


def _show_change(console: Console, change: Mapping[str, Any]) -> None:
    version = f" · {change['version']}" if change["version"] not in ("", change["now"]) else ""
    if change["now"] == change["was"]:
        console.print(f" {change['name']:<14} {escape(change['now'])}{escape(version)}, as before")
        return
    console.print(f" {change['name']:<14} [bold]{escape(change['now'])}[/]{escape(version)}")
    console.print(f"                [dim]was {escape(change['was'])} · {escape(change['source'])}[/]")


def show_new(console: Console, data: Mapping[str, Any]) -> None:
    """Print what to do with a new profile."""
    file = escape(data["file"])
    console.print(f" [green]✓[/] {file}, begun from {escape(data['from'])}")
    console.print("   for editors:  xpusetup profiles schema > profile.schema.json")
    console.print(f"   check it:     xpusetup profiles check {file}")
    console.print(f"   build it:     xpusetup build --profile {file}")
