"""remove: a build goes."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated

import typer

from xpusetup.cli import options

if TYPE_CHECKING:
    from xpusetup.commands.remove import Removal


@options.command(
    "remove", "xpusetup remove sim", "xpusetup remove --cache", takes=options.NamedBuild, common="--cache --yes"
)
def remove(
    *,
    where: options.LockWhere,
    yes: Annotated[bool, options.flag("--yes -y", "Do not ask.")] = False,
    cache: Annotated[bool, options.flag("--cache", "Remove downloaded sources that no build uses any more.")] = False,
    everything: Annotated[
        bool, options.flag("--all", "With --cache: also those that builds use; they keep their copies.")
    ] = False,
    told: options.ResultOutput,
) -> options.Answer:
    """Remove a build. Shows what goes and what that frees, and asks."""
    if cache:
        from xpusetup.commands.cache import prune

        return prune(everything=everything)
    from xpusetup.commands import remove
    from xpusetup.ui.live import asking

    with asking(quiet=told.silent) as say:
        say("looking at what is there")
        found = remove.look(where.find())
    if not yes and not _agrees_to_remove(found, json=told.json):
        return remove.keep(found)
    with asking(quiet=told.silent) as say:
        say(f"removing {found.root.path}")
        return remove.remove(found, say)


def _agrees_to_remove(found: Removal, *, json: bool) -> bool:
    from xpusetup.base.command import Advice, Command
    from xpusetup.base.errors import UsageError
    from xpusetup.run.workspace import words_of_root
    from xpusetup.ui.console import literal, make_console
    from xpusetup.ui.remove import show_before

    show_before(make_console(stderr=True), literal(found.describe(removed=False)))
    if not sys.stdin.isatty():
        line = Command(f"xpusetup remove {words_of_root(found.root.path)} --yes")
        raise UsageError("there is no terminal to ask on", fix=Advice("to remove it unasked: ", line))
    return typer.confirm(" Remove this?", err=json)
