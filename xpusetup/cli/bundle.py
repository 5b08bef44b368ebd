"""bundle and cache: what is fetched in one file, and what is kept on the disk."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from xpusetup.cli import options
from xpusetup.cli.finish import finish
from xpusetup.cli.finish import request as make_request
from xpusetup.cli.finish import where as make_where

if TYPE_CHECKING:
    from xpusetup.commands.result import AnyResult


# cache: what is kept on the disk for all builds.


def cache_size(json: options.Json = False, quiet: options.Quiet = False, verbose: options.Verbose = False) -> None:
    """Say what fetched sources and the roots of builds take on the disk."""

    def work() -> AnyResult:
        from xpusetup.commands.cache import size
        from xpusetup.ui.live import waiting

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

    def work() -> AnyResult:
        from xpusetup.commands.cache import prune

        return prune(everything=everything, site=site)

    finish("cache prune", work, json=json, quiet=quiet)


# bundle: all that a build fetches in one file, and whether such a file is whole.


File = Annotated[str, typer.Argument(metavar="FILE", help="The bundle.")]


def bundle_create(
    file: File,
    profile: options.Profile = "",
    root: options.Root = "",
    name: options.Name = "",
    build_dir: options.BuildDir = "",
    python: options.Python = "",
    rev: options.Rev = None,
    only: options.Only = None,
    require_hashes: options.Hashes = False,
    toolkit: Annotated[bool, typer.Option("--toolkit", help="With oneAPI's offline installer.")] = False,
    json: options.Json = False,
    quiet: options.Quiet = False,
    verbose: options.Verbose = False,
) -> None:
    """Fetch all that a build of a profile fetches, and write it into one file for machines without a network."""
    where = make_where(profile=profile, root=root, name=name, build_dir=build_dir, python=python, rev=rev)

    def work() -> AnyResult:
        from xpusetup.commands.bundle import CreateOptions, create
        from xpusetup.ui.live import BuildView

        more = {"verify": "auto", "require_hashes": require_hashes}
        request = make_request(only=only, until="", arch="auto", variables=None, **more)  # type: ignore[arg-type]
        with BuildView(json=json, quiet=quiet, verbose=verbose) as view:
            return create(where, request, CreateOptions(file=file, toolkit=toolkit, observe=view.observe))

    finish("bundle create", work, json=json, quiet=quiet, verbose=verbose)


def bundle_verify(
    file: File, json: options.Json = False, quiet: options.Quiet = False, verbose: options.Verbose = False
) -> None:
    """Check every hash of a bundle, every commit with its whole tree, and every wheel that its lock asks for."""

    def work() -> AnyResult:
        from xpusetup.commands.bundle import verify_bundle

        return verify_bundle(file)

    finish("bundle verify", work, json=json, quiet=quiet, verbose=verbose)
