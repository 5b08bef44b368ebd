"""bundle, cache, toolkit: what is fetched in one file, what is kept on the disk, a tool chain made from wheels."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from xpusetup.cli import options

if TYPE_CHECKING:
    from xpusetup.commands.result import AnyResult


# cache: what is kept on the disk for all builds.


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


# bundle: all that a build fetches in one file, and whether such a file is whole.


File = Annotated[str, typer.Argument(metavar="FILE", help="The bundle.")]


@options.command("bundle create")
def bundle_create(
    *,
    file: File,
    where: options.BundleWhere,
    only: options.Only = None,
    require_hashes: options.Hashes = False,
    origin: options.From = "source",
    installer: Annotated[bool, typer.Option("--installer", help="With oneAPI's offline installer.")] = False,
    told: options.LongOutput,
) -> AnyResult:
    """Fetch all that a build, or an installation, of a profile fetches into one file for machines without a network."""
    from xpusetup.commands.bundle import CreateOptions, create
    from xpusetup.config.request import read_request

    request = read_request(only=only, require_hashes=require_hashes)
    with told.view() as view:
        how = CreateOptions(file=file, origin=origin, installer=installer, observe=view.observe)
        return create(where.find(), request, how)


@options.command("bundle verify")
def bundle_verify(*, file: File, told: options.LongOutput) -> AnyResult:
    """Check every hash of a bundle, every commit with its whole tree, and every wheel that its lock asks for."""
    from xpusetup.commands.bundle import verify_bundle

    return verify_bundle(file)


# toolkit: a SYCL tool chain made from Intel's run-time wheels.


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
