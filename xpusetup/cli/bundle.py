"""bundle: all that a build fetches in one file, and whether such a file is whole."""

from typing import Annotated

import typer

from xpusetup.cli import options

File = Annotated[str, typer.Argument(metavar="FILE", help="The bundle.")]


@options.command(
    "bundle create",
    "xpusetup bundle create torch.tar 2.14",
    "xpusetup bundle create wheels.tar stack-cpu --from wheels",
    takes=options.ProfileName,
    common="--from",
)
def bundle_create(
    *,
    file: File,
    where: options.BundleWhere,
    only: options.Only = None,
    require_hashes: options.Hashes = False,
    origin: options.From = "source",
    installer: Annotated[bool, options.flag("--installer", "Include oneAPI's offline installer.")] = False,
    told: options.LongOutput,
) -> options.Answer:
    """Download all that a build or an installation needs into one file, for machines without a network."""
    from xpusetup.commands.bundle import CreateOptions, create
    from xpusetup.config.request import read_request

    request = read_request(only=only, require_hashes=require_hashes)
    with told.view() as view:
        how = CreateOptions(file=file, origin=origin, installer=installer, observe=view.observe)
        return create(where.find(), request, how)


@options.command("bundle verify", "xpusetup bundle verify torch.tar", "xpusetup bundle verify torch.tar -v")
def bundle_verify(*, file: File, told: options.LongOutput) -> options.Answer:
    """Check that a bundle is whole: every hash, commit and wheel."""
    from xpusetup.commands.bundle import verify_bundle

    return verify_bundle(file)
