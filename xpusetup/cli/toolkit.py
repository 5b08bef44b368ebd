"""toolkit: a SYCL compiler made from Intel's run-time wheels."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from xpusetup.cli import options

if TYPE_CHECKING:
    from xpusetup.commands.result import AnyResult


@options.command(
    "toolkit", "xpusetup toolkit ~/sycl", "xpusetup toolkit ~/sycl --profile torch-2.13", common="--profile"
)
def toolkit(
    *,
    folder: Annotated[str, typer.Argument(metavar="DIR", help="A new folder, or the one to update.")],
    profile: options.Profile = "",
    told: options.LongOutput,
) -> AnyResult:
    """Make a SYCL compiler from Intel's wheels, without oneAPI. Run it again to update it."""
    from xpusetup.commands.toolkit import make_toolkit
    from xpusetup.ui.live import asking

    with asking(quiet=told.silent) as say:
        return make_toolkit(folder, profile, say)
