"""remove on the screen: what goes, what that frees, and what stays because it is not ours."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rich.markup import escape

from xpusetup.amounts import render_size
from xpusetup.effects.environment import short_path
from xpusetup.show.console import prose

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rich.console import Console


def show_before(console: Console, data: Mapping[str, Any]) -> None:
    """Print what would go."""
    console.print(f"\n [bold]{escape(short_path(data['root']))}[/] · frees {render_size(data['freed'])}\n")
    inside = [path for path in data["places"] if path.startswith(f"{data['root']}/")]
    names = sorted({path.removeprefix(f"{data['root']}/").partition("/")[0] for path in inside})
    prose(console, "           ", ", ".join(names), first="   goes    ")
    for path in data["places"]:
        if path not in inside:
            console.print(f"   goes    {escape(short_path(path))}")
    _show_rest(console, data)
    console.print()


def show_removed(console: Console, data: Mapping[str, Any]) -> None:
    """Print what became of it."""
    if not data["removed"]:
        console.print(" [yellow]![/] nothing was removed")
        return
    console.print(f" {in_one_line(data)}")
    _show_rest(console, data)


def in_one_line(data: Mapping[str, Any]) -> str:
    """Say what was removed."""
    stays = "" if data["gone"] else ", but for what is not ours"
    return f"[green]✓[/] {escape(short_path(data['root']))} is removed{stays}: {render_size(data['freed'])} freed"


def _show_rest(console: Console, data: Mapping[str, Any]) -> None:
    for row in data["left"]:
        console.print(f"   [yellow]stays[/]   {escape(short_path(row['path']))}: {escape(row['why'])}")
    if data["environment"]:
        console.print(f"   [yellow]stays[/]   {escape(short_path(data['environment']))}, without what guarded it")
    if data["uninstall"]:
        console.print(f"           its packages go with: {escape(data['uninstall'])}")
