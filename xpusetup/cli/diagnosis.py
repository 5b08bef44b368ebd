"""doctor and explain: what is wrong here, and what went wrong there."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from xpusetup.cli import options
from xpusetup.cli.finish import finish
from xpusetup.cli.finish import where as make_where

if TYPE_CHECKING:
    from xpusetup.commands.result import Result


def doctor(
    profile: options.Profile = "",
    root: options.Root = "",
    name: options.Name = "",
    build_dir: options.BuildDir = "",
    prefix: options.Prefix = "",
    python: options.Python = "",
    into: options.Into = "",
    goal: options.Goal = "",
    only: Annotated[list[str] | None, typer.Option("--only", help="This check alone.", metavar="ID")] = None,
    skip: Annotated[list[str] | None, typer.Option("--skip", help="Leave this check out.", metavar="ID")] = None,
    listed: Annotated[bool, typer.Option("--list", help="List the checks.")] = False,
    save: Annotated[str, typer.Option("--save", help="Write what was seen.", metavar="FILE")] = "",
    facts: Annotated[
        list[str] | None,
        typer.Option("--facts", help="Judge what was seen elsewhere; several: what differs.", metavar="FILE"),
    ] = None,
    json: options.Json = False,
    quiet: options.Quiet = False,
    verbose: options.Verbose = False,
) -> None:
    """Say what is wrong here, and the command that mends it."""

    def work() -> Result:
        from xpusetup.commands.doctor import Asked, examine_machine, list_checks, redact_result

        if listed:
            return list_checks()
        asked = Asked(goal=goal, only=tuple(only or ()), skip=tuple(skip or ()), save=save, facts=tuple(facts or ()))
        folders = {"build_dir": build_dir, "prefix": prefix, "into": into}
        where = make_where(profile=profile, root=root, name=name, python=python, rev=None, may_make=True, **folders)
        result = examine_machine(where, asked)
        return redact_result(result) if json else result

    finish("doctor", work, json=json, quiet=quiet, verbose=verbose)


def explain(
    log: Annotated[str, typer.Argument(help="The log; - or nothing: stdin.", metavar="LOG", show_default=False)] = "",
    good: Annotated[
        str,
        typer.Option(
            "--good",
            help="A log that went well: what both say counts for nothing.",
            metavar="OTHER",
            show_default=False,
        ),
    ] = "",
    json: options.Json = False,
    quiet: options.Quiet = False,
    verbose: options.Verbose = False,
) -> None:
    """Say which line of a log matters, why, and what to do."""

    def work() -> Result:
        from xpusetup.commands.explain import explain as make

        return make(log, good)

    finish("explain", work, json=json, quiet=quiet, verbose=verbose)
