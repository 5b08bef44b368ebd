"""verify-wheel: what is in a wheel."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from xpusetup.cli import options
from xpusetup.cli.finish import finish

if TYPE_CHECKING:
    from xpusetup.commands.result import Result


def verify_wheel(
    wheel: Annotated[str, typer.Argument(help="The file.", metavar="WHEEL")],
    profile: options.Profile = "",
    version: Annotated[str, typer.Option("--version", help="What its version has to be.")] = "",
    arch: Annotated[str, typer.Option("--arch", help="GPUs that it has to hold code for.", metavar="LIST")] = "",
    forbid: Annotated[
        list[str] | None, typer.Option("--forbid", help="A folder that it may not name.", metavar="DIR")
    ] = None,
    json: options.Json = False,
    quiet: options.Quiet = False,
    verbose: options.Verbose = False,
) -> None:
    """Say what is in a wheel; with --profile, whether it is what the profile says."""

    def work() -> Result:
        from xpusetup.commands.wheels import Asked
        from xpusetup.commands.wheels import verify_wheel as verify
        from xpusetup.show.live import waiting

        asked = Asked(profile=profile, version=version, arch=arch, forbidden=tuple(forbid or ()))
        with waiting("reading the wheel", quiet=json or quiet):
            return verify(wheel, asked)

    finish("verify-wheel", work, json=json, quiet=quiet, verbose=verbose)
