"""toolkit: a SYCL compiler made from Intel's run-time wheels."""

from typing import Annotated

import typer

from xpusetup.cli import options


@options.command(
    "toolkit", "xpusetup toolkit ~/sycl", "xpusetup toolkit ~/sycl --profile torch-2.13", common="--profile"
)
def toolkit(
    *,
    folder: Annotated[str, typer.Argument(metavar="DIR", help="A new folder, or the one to update.")],
    profile: options.Profile = "",
    told: options.LongOutput,
) -> options.Answer:
    """Make a SYCL compiler from Intel's wheels, without oneAPI. Run it again to update it."""
    from xpusetup.commands.toolkit import make_toolkit
    from xpusetup.ui.live import asking

    with asking(quiet=told.silent) as say:
        return make_toolkit(folder, profile, say)
