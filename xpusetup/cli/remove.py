"""remove: a build goes."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated

import typer

from xpusetup.cli import options

if TYPE_CHECKING:
    from xpusetup.commands.remove import Removal
    from xpusetup.commands.result import AnyResult


@options.spread
def remove(
    *,
    where: options.LockWhere,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
    told: options.Output,
) -> None:
    """Remove a build, after saying what goes and what that frees; never what is not ours."""

    def work() -> AnyResult:
        from xpusetup.commands import remove
        from xpusetup.ui.live import asking

        with asking(quiet=told.silent) as say:
            say("looking at what is there")
            found = remove.look(where.find())
        if not yes and not _agrees(found, json=told.json):
            return remove.keep(found)
        with asking(quiet=told.silent) as say:
            return remove.remove(found, say)

    told.finish("remove", work)


def _agrees(found: Removal, *, json: bool) -> bool:
    from xpusetup.base.errors import UsageError
    from xpusetup.ui.console import literal, make_console
    from xpusetup.ui.storage import show_before

    show_before(make_console(stderr=True), literal(found.describe(removed=False)))
    if not sys.stdin.isatty():
        raise UsageError("nobody is here to be asked", fix=f"xpusetup remove --root {found.root.path} --yes")
    return typer.confirm(" Remove this?", err=json)
