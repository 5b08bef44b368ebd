"""The screens of cache: what lies on the disk, and what was removed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rich.markup import escape

from xpusetup.amounts import render_size
from xpusetup.show.tables import show_table

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rich.console import Console

SIZES = ("sources and builds", "environment", "wheels")


def show_size(console: Console, data: Mapping[str, Any], *, verbose: bool) -> None:
    """Print the sizes of the store and of the roots."""
    count = len(data["repositories"])
    console.print(
        f"\n [bold]sources[/] {render_size(data['bytes'])} in {_repositories(count)} · {escape(data['store'])}"
    )
    if data["freed"]:
        console.print(f"   {render_size(data['freed'])} of it no tree uses: xpusetup cache prune")
    for one in data["repositories"] if verbose else ():
        console.print(f"   {render_size(one['bytes']):>9}  {escape(one['name'])}{'' if one['used'] else '  (unused)'}")
    if data["site"]:
        site = data["site"]
        there = _repositories(len(site["repositories"]))
        console.print(f" [bold]of this site[/] {render_size(site['bytes'])} in {there} · {escape(site['store'])}")
    if data["roots"]:
        _show_roots(console, data["roots"])


def _show_roots(console: Console, roots: list[Mapping[str, Any]]) -> None:
    rows = [[escape(root["path"]), *(render_size(size) for size in root["parts"].values())] for root in roots]
    console.print()
    show_table(console, ("root", *SIZES), rows, right=SIZES)
    console.print("\n remove one: xpusetup remove --root ROOT", style="dim")


def show_prune(console: Console, data: Mapping[str, Any]) -> None:
    """Print what was removed, and what is busy."""
    removed, busy = len(data["removed"]), len(data["busy"])
    console.print(f"\n [green]✓[/] {_repositories(removed)} removed, {render_size(data['freed'])} freed")
    if busy:
        console.print(f" [yellow]![/] {_repositories(busy)} left: a fetch is writing there, or it may not be written")


def _repositories(count: int) -> str:
    return f"{count} {'repository' if count == 1 else 'repositories'}"
