"""adopt: a project keeps its torch."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated

import typer

from xpusetup.cli import options

if TYPE_CHECKING:
    from xpusetup.commands.adopt import Adoption


@options.command("adopt", "xpusetup adopt ~/project", "xpusetup adopt --into ~/ml --yes", common="--undo --yes")
def adopt(
    *,
    folder: Annotated[
        str, typer.Argument(help="The project's folder.", metavar="DIR", show_default="this folder")
    ] = ".",
    where: options.ActiveWhere,
    undo: Annotated[bool, options.flag("--undo", "Take back what was written.")] = False,
    yes: Annotated[bool, options.flag("--yes -y", "Do not ask.")] = False,
    told: options.ResultOutput,
) -> options.Answer:
    """Let a uv or pip project use this torch. Shows what it writes, and asks."""
    from xpusetup.commands import adopt as adopting

    found = adopting.look_back(folder) if undo else adopting.look(folder, where.find())
    if found.data.changes and not yes and not _agrees_to_write(found, json=told.json):
        return adopting.show(found)
    return adopting.apply(found)


def _agrees_to_write(found: Adoption, *, json: bool) -> bool:
    """Ask on a terminal; elsewhere nothing is written."""
    from xpusetup.ui.adopt import show_changes
    from xpusetup.ui.console import literal, make_console

    if not sys.stdin.isatty():
        return False
    show_changes(make_console(stderr=json), literal(found.data))
    return typer.confirm(" Write this?", err=json)
