"""cache: what is kept on the disk for all builds."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from xpusetup.cli import options
from xpusetup.cli.finish import finish

if TYPE_CHECKING:
    from xpusetup.commands.result import Result


def cache_size(json: options.Json = False, quiet: options.Quiet = False, verbose: options.Verbose = False) -> None:
    """Say what fetched sources and the roots of builds take on the disk."""

    def work() -> Result:
        from xpusetup.commands.cache import size
        from xpusetup.show.live import waiting

        with waiting("counting files", quiet=json or quiet):
            return size()

    finish("cache size", work, json=json, quiet=quiet, verbose=verbose)


def cache_prune(
    everything: Annotated[bool, typer.Option("--all", help="Also what trees still use; they keep it.")] = False,
    site: Annotated[bool, typer.Option("--site", help="From the store that the site file names.")] = False,
    json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Remove fetched sources that no tree uses any more."""

    def work() -> Result:
        from xpusetup.commands.cache import prune

        return prune(everything=everything, site=site)

    finish("cache prune", work, json=json, quiet=quiet)
