"""toolkit: a SYCL compiler made from Intel's run-time wheels."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from xpusetup.cli import options

if TYPE_CHECKING:
    from xpusetup.commands.result import AnyResult


@options.command("toolkit")
def toolkit(
    *,
    folder: Annotated[str, typer.Argument(metavar="DIR", help="A new folder, or one of before.")],
    profile: options.Profile = "",
    told: options.LongOutput,
) -> AnyResult:
    """Make a SYCL tool chain in a folder from the run-time wheels of a release, without oneAPI; again: update it."""
    from xpusetup.commands.toolkit import make_toolkit
    from xpusetup.ui.live import asking

    with asking(quiet=told.silent) as say:
        return make_toolkit(folder, profile, say)
