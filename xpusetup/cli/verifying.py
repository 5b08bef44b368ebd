"""verify: proof that a device computes, and which operators it leaves to the CPU."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from xpusetup.cli import options
from xpusetup.cli.finish import finish
from xpusetup.cli.finish import where as make_where

if TYPE_CHECKING:
    from xpusetup.commands.places import Where
    from xpusetup.commands.result import Result


def verify(
    profile: options.Profile = "",
    root: options.Root = "",
    name: options.Name = "",
    rev: options.Rev = None,
    into: options.Into = "",
    device: options.Device = "",
    level: options.Level = "smoke",
    only: options.OnlyChecks = None,
    skip: options.SkipChecks = None,
    listed: options.ListChecks = False,
    patience: options.Patience = 300,
    junit: options.Junit = "",
    mode: Annotated[str, typer.Option("--mode", help="A mode of the device's, such as lazy.", metavar="NAME")] = "",
    throughput: Annotated[bool, typer.Option("--throughput", help="Also images a second.")] = False,
    fallbacks: Annotated[bool, typer.Option("--fallbacks", help="Which operators run on the CPU instead.")] = False,
    release: Annotated[str, typer.Option("--release", help="As published of this release.", metavar="R")] = "",
    log: Annotated[list[str] | None, typer.Option("--log", help="As a log tells; -: stdin.", metavar="FILE")] = None,
    markdown: Annotated[bool, typer.Option("--markdown", help="Tables as Markdown on a terminal too.")] = False,
    json: options.Json = False,
    quiet: options.Quiet = False,
    verbose: options.Verbose = False,
) -> None:
    """Prove that the accelerator computes the right numbers."""
    where = make_where(profile=profile, root=root, name=name, into=into, rev=rev)

    def work() -> Result:
        if fallbacks or release or log or markdown:
            tables = {"device": device, "release": release, "logs": tuple(log or ()), "markdown": markdown}
            return _fallbacks(where, **tables, whole=verbose, quiet=json or quiet)
        checks = {"device": device, "level": level, "only": tuple(only or ()), "skip": tuple(skip or ()), "mode": mode}
        return (
            _list()
            if listed
            else _checks(where, **checks, junit=junit, patience=patience, throughput=throughput, quiet=json or quiet)
        )

    finish("verify", work, json=json, quiet=quiet, verbose=verbose)


def _list() -> Result:
    from xpusetup.commands.verifying import list_checks

    return list_checks()


def _checks(where: Where, *, quiet: bool, **words: Any) -> Result:
    from xpusetup.commands.verifying import Asked
    from xpusetup.commands.verifying import verify as make
    from xpusetup.show.live import asking

    with asking(quiet=quiet) as say:
        return make(where, Asked(**words), say)


def _fallbacks(where: Where, *, quiet: bool, **words: Any) -> Result:
    from xpusetup.commands.fallbacks import Asked, show_fallbacks
    from xpusetup.show.live import waiting

    asked = Asked(**words)
    with waiting("running operators on the device", quiet=quiet or bool(asked.release or asked.logs)):
        return show_fallbacks(where, asked)
