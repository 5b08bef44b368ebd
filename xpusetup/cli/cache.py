"""cache: what is kept on the disk for all builds."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from xpusetup.cli import options

if TYPE_CHECKING:
    from xpusetup.commands.result import AnyResult


@options.command("cache size")
def cache_size(*, told: options.LongOutput) -> AnyResult:
    """Say what fetched sources and the roots of builds take on the disk."""
    from xpusetup.commands.cache import size
    from xpusetup.ui.live import waiting

    with waiting("counting files", quiet=told.silent):
        return size()


@options.command("cache prune")
def cache_prune(
    *,
    everything: Annotated[bool, typer.Option("--all", help="Also what trees still use; they keep it.")] = False,
    site: Annotated[bool, typer.Option("--site", help="From the store that the site file names.")] = False,
    told: options.ResultOutput,
) -> AnyResult:
    """Remove fetched sources that no tree uses any more."""
    from xpusetup.commands.cache import prune

    return prune(everything=everything, site=site)
