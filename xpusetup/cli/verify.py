"""verify, test, devices, verify-wheel, rebuild, sign, fits: proof of devices, suites, wheels; what fits a torch."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from xpusetup.cli import options

if TYPE_CHECKING:
    from xpusetup.commands.result import AnyResult
    from xpusetup.run.workspace import Where


# verify: proof that a device computes, and which operators it leaves to the CPU.


Release = Annotated[
    str, typer.Option("--release", help="With --fallbacks: what was published of this release.", metavar="X.Y")
]
Logs = Annotated[
    list[str] | None,
    typer.Option("--log", help="With --fallbacks: what a log tells; - is stdin.", metavar="FILE"),
]


@options.command("verify")
def verify(
    *,
    where: options.BuiltWhere,
    device: options.Device = "",
    level: options.Level = "smoke",
    only: options.OnlyChecks = None,
    skip: options.SkipChecks = None,
    listed: options.ListChecks = False,
    patience: options.Patience = 300,
    junit: options.Junit = "",
    mode: Annotated[str, typer.Option("--mode", help="A mode of the device's, such as lazy.", metavar="NAME")] = "",
    throughput: Annotated[
        bool, typer.Option("--throughput", help="Also measure how many images a second it computes.")
    ] = False,
    save: Annotated[
        str, typer.Option("--save", help="Write a record of it that can be sent in; it names nobody.", metavar="FILE")
    ] = "",
    fallbacks: Annotated[bool, typer.Option("--fallbacks", help="Say which operators run on the CPU instead.")] = False,
    codegen: Annotated[
        bool, typer.Option("--codegen", help="Compile kernels for the profile's GPUs; needs none, and runs nothing.")
    ] = False,
    release: Release = "",
    log: Logs = None,
    markdown: Annotated[bool, typer.Option("--markdown", help="With --fallbacks: Markdown on a terminal too.")] = False,
    told: options.LongOutput,
) -> AnyResult:
    """Prove that the accelerator computes the right numbers."""
    if codegen:
        return _codegen(where.find(say=told.say), quiet=told.silent)
    if fallbacks or release or log or markdown:
        tables = {"device": device, "release": release, "logs": tuple(log or ()), "markdown": markdown}
        return _fallbacks(where.find(say=told.say), **tables, whole=told.verbose, quiet=told.silent)
    if listed:
        from xpusetup.commands.verify import list_checks

        return list_checks()
    checks = {"device": device, "level": level, "only": tuple(only or ()), "skip": tuple(skip or ()), "mode": mode}
    how = {"junit": junit, "patience": patience, "throughput": throughput, "save": save}
    return _checks(where.find(say=told.say), **checks, **how, quiet=told.silent)


def _checks(where: Where, *, quiet: bool, **words: Any) -> AnyResult:
    from xpusetup.commands.verify import VerifyOptions
    from xpusetup.commands.verify import verify as make
    from xpusetup.ui.live import asking

    with asking(quiet=quiet) as say:
        return make(where, VerifyOptions(**words), say)


def _codegen(where: Where, *, quiet: bool) -> AnyResult:
    from xpusetup.commands.codegen import generate_code
    from xpusetup.ui.live import waiting

    with waiting("compiling kernels", quiet=quiet):
        return generate_code(where)


def _fallbacks(where: Where, *, quiet: bool, **words: Any) -> AnyResult:
    from xpusetup.commands.verify import FallbackOptions, show_fallbacks
    from xpusetup.ui.live import waiting

    asked = FallbackOptions(**words)
    with waiting("running operators on the device", quiet=quiet or bool(asked.release or asked.logs)):
        return show_fallbacks(where, asked)
