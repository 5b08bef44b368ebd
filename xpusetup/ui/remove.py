"""What goes with a build, what that frees, and what stays because it is not ours."""

from rich.console import Console
from rich.markup import escape

from xpusetup.base.text import render_size
from xpusetup.commands.remove import Removed
from xpusetup.system.environment import short_path
from xpusetup.ui.console import prose


def show_before(console: Console, data: Removed) -> None:
    console.print(f"\n [bold]{escape(short_path(data.root))}[/] · frees {_size(data)}\n")
    inside = [path for path in data.places if path.startswith(f"{data.root}/")]
    names = sorted({path.removeprefix(f"{data.root}/").partition("/")[0] for path in inside})
    prose(console, "           ", ", ".join(names), first="   goes    ")
    for path in data.places:
        if path not in inside:
            console.print(f"   goes    {escape(short_path(path))}")
    _show_rest(console, data)
    console.print()


def show_removed(console: Console, data: Removed, *, verbose: bool) -> None:  # noqa: ARG001 - as all screens
    if not data.removed:
        console.print(" [yellow]![/] nothing was removed")
        return
    console.print(f" {in_one_line(data)}")
    _show_rest(console, data)


def in_one_line(data: Removed) -> str:
    stays = "" if data.gone else ", but for what is not ours"
    return f"[green]✓[/] {escape(short_path(data.root))} is removed{stays}: {_size(data)} freed"


def _size(data: Removed) -> str:
    """Say what comes free, and of how much: other builds may have links to the rest."""
    whole, freed = render_size(data.bytes), render_size(data.freed)
    return freed if freed == whole else f"{freed} of {whole}, the rest shared with other builds,"


def _show_rest(console: Console, data: Removed) -> None:
    for row in data.left:
        console.print(f"   [yellow]stays[/]   {escape(short_path(row.path))}: {escape(row.why)}")
    if data.environment:
        console.print(f"   [yellow]stays[/]   {escape(short_path(data.environment))}, without what guarded it")
    if data.uninstall:
        console.print(f"           its packages go with: {escape(data.uninstall)}")


def brief_removed(data: Removed) -> str:
    return in_one_line(data) if data.removed else ""
