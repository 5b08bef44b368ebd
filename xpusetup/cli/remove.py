"""remove: a build goes."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated

import typer

from xpusetup.cli import options
from xpusetup.cli.finish import finish
from xpusetup.cli.finish import where as make_where

if TYPE_CHECKING:
    from xpusetup.commands.remove import Removal
    from xpusetup.commands.result import AnyResult


def remove(
    profile: options.Profile = "",
    root: options.Root = "",
    name: options.Name = "",
    rev: options.Rev = None,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
    json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Remove a build, after saying what goes and what that frees; never what is not ours."""

    def work() -> AnyResult:
        from xpusetup.commands import remove
        from xpusetup.ui.live import asking

        with asking(quiet=json or quiet) as say:
            say("looking at what is there")
            found = remove.look(make_where(profile=profile, root=root, name=name, rev=rev))
        if not yes and not _agrees(found, json=json):
            return remove.keep(found)
        with asking(quiet=json or quiet) as say:
            return remove.remove(found, say)

    finish("remove", work, json=json, quiet=quiet)


def _agrees(found: Removal, *, json: bool) -> bool:
    from xpusetup.base.errors import UsageError
    from xpusetup.ui.console import literal, make_console
    from xpusetup.ui.storage import show_before

    show_before(make_console(stderr=True), literal(found.describe(removed=False)))
    if not sys.stdin.isatty():
        raise UsageError("nobody is here to be asked", fix=f"xpusetup remove --root {found.root.path} --yes")
    return typer.confirm(" Remove this?", err=json)
