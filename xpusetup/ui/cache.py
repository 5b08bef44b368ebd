"""What lies on the disk for all builds, and what was removed of it."""

from rich.console import Console
from rich.markup import escape

from xpusetup.base.text import render_size
from xpusetup.commands.cache import UNPACKED, CacheSize, PrunedCache
from xpusetup.system.environment import short_path
from xpusetup.ui.console import DONE, show_table

SIZES = ("sources and builds", "environment", "wheels", "other")
TOLD = 100 << 20
"""Bytes from which on what is kept beside the sources is told without -v."""


def show_size(console: Console, data: CacheSize, *, verbose: bool) -> None:
    count = len(data.repositories)
    console.print(f"\n [bold]sources[/] {render_size(data.bytes)} in {_repositories(count)} · {escape(data.store)}")
    if data.freed:
        console.print(f"   {render_size(data.freed)} of it no tree uses: xpusetup remove --cache")
    for one in data.repositories if verbose else ():
        console.print(f"   {render_size(one.bytes):>9}  {escape(one.name)}{'' if one.used else '  (unused)'}")
    others = [each for each in data.others if verbose or each.bytes is None or each.bytes >= TOLD]
    if others:
        console.print()
        rows = [[each.what, render_size(each.bytes), escape(short_path(each.path))] for each in others]
        show_table(console, ("kept besides", "size", "folder"), rows, right=("size",))
        console.print()
        if any(each.what == UNPACKED for each in others):
            console.print(" remove the bundles: xpusetup remove --cache", style="dim")
        if any(each.what != UNPACKED for each in others):
            console.print(" remove another, while no command is at work: rm -rf FOLDER", style="dim")
    if data.roots:
        rows = [[escape(short_path(root.path)), *map(render_size, root.parts.values())] for root in data.roots]
        console.print()
        show_table(console, ("root", *SIZES), rows, right=SIZES)
        console.print("\n remove one: xpusetup remove --root ROOT", style="dim")


def show_prune(console: Console, data: PrunedCache, *, verbose: bool) -> None:  # noqa: ARG001 - as all screens
    removed, busy = len(data.removed), len(data.busy)
    bundles = " and the unpacked bundles" if data.unpacked else ""
    console.print(f"\n [green]✓[/] {_repositories(removed)}{bundles} removed, {render_size(data.freed)} freed")
    if busy:
        console.print(f" [yellow]![/] {_repositories(busy)} left: a fetch is writing there, or it may not be written")


def _repositories(count: int) -> str:
    return f"{count} {'repository' if count == 1 else 'repositories'}"


def brief_pruned(data: PrunedCache) -> str:
    return f"{DONE}{len(data.removed)} removed, {render_size(data.freed)} freed" if not data.busy else ""
