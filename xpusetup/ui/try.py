"""A change that was tried."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.markup import escape

from xpusetup.base.text import render_duration
from xpusetup.ui.console import DONE, prose, with_home

if TYPE_CHECKING:
    from rich.console import Console

    from xpusetup.commands.try_change import TriedChange

SHOWN = 10


def show_tried(console: Console, data: TriedChange, *, verbose: bool) -> None:
    """Print what was compiled and replaced, what each part took, and how it is taken back."""
    console.print(f"\n {brief_tried(data)}")
    shown = data.compiled if verbose else data.compiled[:SHOWN]
    for source in shown:
        console.print(f"   {escape(source.removeprefix(f'{data.tree}/'))}", style="dim")
    if more := len(data.compiled) - len(shown):
        console.print(f"   and {more} more: --verbose", style="dim")
    times = " · ".join(f"{name} {render_duration(seconds)}" for name, seconds in data.seconds.items())
    console.print(f"   {times}", style="dim")
    if data.replaced:
        prose(console, "   ", f"{with_home(data.environment)} is no longer as its wheel; the wheel again: {data.back}")


def brief_tried(data: TriedChange) -> str:
    """Say in a line what was done."""
    sources = f"{len(data.compiled)} source{'' if len(data.compiled) == 1 else 's'} compiled"
    done = f"replaced: {', '.join(data.replaced)}" if data.replaced else "nothing to replace: it is in there already"
    return f"{DONE}{escape(data.change)}: {sources}, {escape(done)}"
