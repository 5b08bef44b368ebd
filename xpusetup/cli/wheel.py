"""wheel: what is in a wheel, whether it fits a torch, its signature, and whether a rebuild gives the same bytes."""

from typing import Annotated

import typer

from xpusetup.cli import options


@options.command(
    "wheel check",
    "xpusetup wheel check WHEEL",
    "xpusetup wheel check WHEEL --provenance --key pub.pem",
    common="--profile --provenance",
)
def wheel_check(
    *,
    wheel: Annotated[str, typer.Argument(help="The wheel's file.", metavar="WHEEL")],
    profile: options.Profile = "",
    version: Annotated[str, options.value("--version", "VERSION", "The version that it has to be.")] = "",
    arch: Annotated[str, options.value("--arch", "LIST", "GPUs that it has to hold code for.")] = "",
    forbid: Annotated[list[str] | None, options.value("--forbid", "DIR", "A folder that it may not name.")] = None,
    provenance: Annotated[bool, options.flag("--provenance", "Check the statement of what it was built from.")] = False,
    statement: Annotated[str, options.value("--statement", "FILE", "That statement.", "beside the wheel")] = "",
    key: Annotated[str, options.value("--key", "FILE", "The public key that must have signed the statement.")] = "",
    told: options.LongOutput,
) -> options.Answer:
    """Say what is in a wheel, and with --profile whether it is what the profile says."""
    from xpusetup.commands.wheel_check import WheelOptions, verify_wheel
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
        return verify_wheel(wheel, asked)


@options.command(
    "wheel rebuild",
    "xpusetup wheel rebuild",
    "xpusetup wheel rebuild torch-2.13 --at /scratch/again",
    takes=options.Build,
    common="--at",
)
def wheel_rebuild(
    *,
    where: options.LockWhere,
    check: Annotated[bool, options.flag("--check", "What it does in any case.", hidden=True)] = True,
    at: Annotated[str, options.value("--at", "DIR", "The folder to build in.", "beside the build")] = "",
    keep: Annotated[bool, options.flag("--keep", "Keep the second build if nothing differs.")] = False,
    jobs: Annotated[
        int | None, options.value("--jobs -j", "N", "Number of compilers at a time.", "one less than before", min=1)
    ] = None,
    launcher: options.Launcher = "none",
    told: options.LongOutput,
) -> options.Answer:
    """Build again under other conditions, and compare the wheels byte by byte."""
    from xpusetup.commands.wheel_rebuild import RebuildOptions
    from xpusetup.commands.wheel_rebuild import rebuild as make

    with told.view() as view:
        how = RebuildOptions(at=at, keep=keep, jobs=jobs or 0, launcher=launcher, observe=view.observe)
        return make(where.find(), how)


@options.command(
    "wheel sign",
    "xpusetup wheel sign WHEEL --key key.pem",
    "xpusetup wheel sign wheels/torch.whl wheels/triton.whl --key key.pem",
)
def wheel_sign(
    *,
    wheels: Annotated[list[str], typer.Argument(help="The wheels' files.", metavar="WHEEL")],
    key: Annotated[str, options.value("--key", "FILE", "A private key: ed25519, PEM.")],
    told: options.LongOutput,
) -> options.Answer:
    """Sign the statements of what wheels were built from, after checking them."""
    from xpusetup.commands.wheel_sign import sign_wheels
    from xpusetup.ui.live import waiting

    with waiting("reading the wheels", quiet=told.silent):
        return sign_wheels(wheels, key)


@options.command(
    "wheel fits",
    "xpusetup wheel fits WHEEL --into ~/ml",
    "xpusetup wheel fits WHEEL --torch torch-2.13.0-cp311-cp311-linux_x86_64.whl",
    common="--torch",
)
def wheel_fits(
    *,
    wheels: Annotated[list[str], typer.Argument(help="The wheels' files.", metavar="WHEEL")],
    where: options.ActiveWhere,
    torch: Annotated[
        str,
        options.value(
            "--torch",
            "FILE|DIR|VERSION",
            "A wheel of torch, a folder of its libraries, or a version.",
            "the one in the environment",
        ),
    ] = "",
    told: options.LongOutput,
) -> options.Answer:
    """Say whether wheels work with a torch, without loading them."""
    from xpusetup.commands.wheel_fits import judge_wheels
    from xpusetup.ui.live import waiting

    with waiting("reading wheels and torch", quiet=told.silent):
        return judge_wheels(wheels, where.find(), torch)
