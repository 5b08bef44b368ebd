"""The site file that was written."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.markup import escape

from xpusetup.commands.site import FOR_ALL
from xpusetup.system.environment import short_path
from xpusetup.ui.console import DONE

if TYPE_CHECKING:
    from rich.console import Console

    from xpusetup.commands.site import SiteFile


def show_site(console: Console, data: SiteFile, *, verbose: bool) -> None:  # noqa: ARG001 - as all screens
    console.print(f"\n {DONE}{escape(short_path(data.file))}\n", soft_wrap=True)
    for line in data.text.splitlines():
        console.print(f"   {escape(line)}", style="dim", soft_wrap=True)
    if data.file != FOR_ALL:
        console.print(f"\n for all users: root writes {FOR_ALL} (--out); else each copies this one", style="dim")
    console.print("\n see what it does:")
    for line in data.checks:
        console.print(f"   [cyan]{escape(line)}[/]")
    console.print()


def brief_site(data: SiteFile) -> str:
    return f"{DONE}{escape(short_path(data.file))}"
