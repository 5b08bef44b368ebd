"""install: the published wheels of a release instead of a build."""

from __future__ import annotations

import sys
from functools import partial
from typing import TYPE_CHECKING, Annotated

import typer

from xpusetup.cli import options

if TYPE_CHECKING:
    from xpusetup.commands.offer import InstallOffer
    from xpusetup.ui.live import BuildView


@options.command(
    "install",
    "xpusetup install --dry-run",
    "xpusetup install 2.14 --into ~/ml --python 3.12",
    takes=options.ProfileName,
)
def install(
    *,
    where: options.InstallWhere,
    verify: options.Verify = "",
    require_hashes: options.Hashes = False,
    bundle: options.Bundle = "",
    events: options.Events = "",
    dry: Annotated[bool, typer.Option("--dry-run", help="Show what would be fetched, and where it goes.")] = False,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask when no device is found here.")] = False,
    told: options.LongOutput,
) -> options.Answer:
    """Install the published wheels of PyTorch, and verify them. Nothing is compiled."""
    from xpusetup.commands.build import BuildOptions
    from xpusetup.commands.build import install as make
    from xpusetup.config.request import read_request

    request = read_request(verify=verify, require_hashes=require_hashes)
    with told.view() as view:
        agree = partial(_agrees, view=view, told=told, yes=yes)
        how = BuildOptions(bundle=bundle, events=events, observe=view.observe, agree=agree, dry=dry)
        return make(where.find(may_make=True), request, how)


def _agrees(offer: InstallOffer, view: BuildView, told: options.LongOutput, *, yes: bool) -> bool:
    """Show what will be done; where the device is not here ask once, if somebody is there to be asked."""
    from xpusetup.ui.console import literal
    from xpusetup.ui.offer import print_before

    with view.aside() as console:
        if console is None:
            return True
        print_before(console, literal(offer), verbose=told.verbose)
        if not offer.trouble or yes or not sys.stdin.isatty():
            return True
        return typer.confirm(" Install it all the same?", default=False, err=told.json)
