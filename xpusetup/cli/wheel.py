"""wheel: what is in wheels, whether they work with a torch, their signatures, and the same bytes again."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from xpusetup.cli import options

if TYPE_CHECKING:
    from xpusetup.commands.result import AnyResult


@options.command("verify-wheel")
def verify_wheel(
    *,
    wheel: Annotated[str, typer.Argument(help="The file.", metavar="WHEEL")],
    profile: options.Profile = "",
    version: Annotated[str, typer.Option("--version", help="What its version has to be.")] = "",
    arch: Annotated[str, typer.Option("--arch", help="GPUs that it has to hold code for.", metavar="LIST")] = "",
    forbid: Annotated[
        list[str] | None, typer.Option("--forbid", help="A folder that it may not name.", metavar="DIR")
    ] = None,
    provenance: Annotated[
        bool, typer.Option("--provenance", help="Also hold its statement of what it was built from against it.")
    ] = False,
    statement: Annotated[
        str,
        typer.Option(
            "--statement", help="Where that statement is, if not beside it (.provenance.json).", metavar="FILE"
        ),
    ] = "",
    key: Annotated[
        str, typer.Option("--key", help="The public key that has to have signed the statement.", metavar="FILE")
    ] = "",
    told: options.LongOutput,
) -> AnyResult:
    """Say what is in a wheel; with --profile, whether it is what the profile says."""
    from xpusetup.commands.wheel_check import WheelOptions
    from xpusetup.commands.wheel_check import verify_wheel as verify
    from xpusetup.ui.live import waiting

    asked = WheelOptions(
        profile=profile,
        version=version,
        arch=arch,
        forbidden=tuple(forbid or ()),
        provenance=provenance,
        statement=statement,
        key=key,
    )
    with waiting("reading the wheel", quiet=told.silent):
        return verify(wheel, asked)


# rebuild: the same bytes again.


@options.command("rebuild")
def rebuild(
    *,
    where: options.LockWhere,
    check: Annotated[
        bool, typer.Option("--check", help="Compare the wheels: what it does in any case.", show_default=False)
    ] = True,
    at: Annotated[str, typer.Option("--at", help="The folder to build in.", metavar="DIR")] = "",
    keep: Annotated[bool, typer.Option("--keep", help="Keep the second build if nothing differs.")] = False,
    jobs: Annotated[
        int, typer.Option("--jobs", "-j", min=0, help="Compile jobs; 0: one less than before.", metavar="N")
    ] = 0,
    launcher: options.Launcher = "none",
    told: options.LongOutput,
) -> AnyResult:
    """Build again what is built, in another folder and under other conditions, and compare the wheels byte by byte."""
    from xpusetup.commands.wheel_rebuild import RebuildOptions
    from xpusetup.commands.wheel_rebuild import rebuild as make

    with told.view() as view:
        how = RebuildOptions(at=at, keep=keep, jobs=jobs, launcher=launcher, observe=view.observe)
        return make(where.find(), how)


# sign: the statements of wheels, by a key of the user's own.


@options.command("sign")
def sign(
    *,
    wheels: Annotated[list[str], typer.Argument(help="The files.", metavar="WHEEL")],
    key: Annotated[str, typer.Option("--key", help="A private key of ed25519, in PEM.", metavar="FILE")],
    told: options.LongOutput,
) -> AnyResult:
    """Sign the statements of wheels (what each was built from), once they were held against the wheels."""
    from xpusetup.commands.wheel_sign import sign_wheels
    from xpusetup.ui.live import waiting

    with waiting("reading the wheels", quiet=told.silent):
        return sign_wheels(wheels, key)


# fits: whether wheels work with a torch.


@options.command("fits")
def fits(
    *,
    wheels: Annotated[list[str], typer.Argument(help="The files.", metavar="WHEEL")],
    where: options.ActiveWhere,
    torch: Annotated[
        str,
        typer.Option(
            "--torch", help="A wheel of torch, a folder of its libraries, or a version.", metavar="FILE|DIR|VERSION"
        ),
    ] = "",
    told: options.LongOutput,
) -> AnyResult:
    """Say of each wheel whether it works with a torch, without loading anything."""
    from xpusetup.commands.wheel_fits import judge_wheels
    from xpusetup.ui.live import waiting

    with waiting("reading wheels and torch", quiet=told.silent):
        return judge_wheels(wheels, where.find(), torch)
