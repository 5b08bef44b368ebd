"""The bare command and setup: the shortest way on this machine, and what it takes of the system."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated, NoReturn

import typer

from xpusetup.cli import options
from xpusetup.cli.finish import finish

if TYPE_CHECKING:
    from xpusetup.commands.result import Result
    from xpusetup.commands.setup import Prepared


def bare(*, json: bool, quiet: bool, verbose: bool) -> NoReturn:
    """Show this machine and its way; ends with 0 whatever is wrong here."""

    def work() -> Result:
        from xpusetup.commands.way import show_way

        return show_way()

    finish("xpusetup", work, json=json, quiet=quiet, verbose=verbose)


def setup(
    profile: options.Profile = "",
    goal: options.Goal = "",
    apply: Annotated[bool, typer.Option("--apply", help="Run the commands, after asking.")] = False,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
    root: Annotated[bool, typer.Option("--root/--no-root", help="Without root: what a user can install.")] = True,
    out: options.Out = "",
    facts: Annotated[str, typer.Option("--facts", help="For a machine seen elsewhere.", metavar="FILE")] = "",
    json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Show what to install here, as this distribution's commands in order; --apply runs them."""

    def work() -> Result:
        from xpusetup.commands.setup import SetupOptions, prepare_setup, show_setup
        from xpusetup.errors import UsageError

        if apply and (facts or out):
            raise UsageError("--apply is for this machine, and for it alone", fix="leave --facts and --out out")
        prepared = prepare_setup(SetupOptions(profile=profile, goal=goal, root=root, facts=facts))
        if apply and prepared.setup.tasks:
            return _apply(prepared, yes=yes, json=json, quiet=quiet)
        return show_setup(prepared, out=out)

    finish("setup", work, json=json, quiet=quiet)


def _apply(prepared: Prepared, *, yes: bool, json: bool, quiet: bool) -> Result:
    from rich.markup import escape

    from xpusetup.commands.setup import apply_setup, show_setup
    from xpusetup.errors import UsageError
    from xpusetup.show.console import literal, make_console
    from xpusetup.show.setup import show_commands

    if not yes and not sys.stdin.isatty():
        raise UsageError("nobody is here to be asked", fix=f"{prepared.options} --apply --yes")
    console = make_console(stderr=json)
    if not (yes and quiet):
        show_commands(console, literal(show_setup(prepared).data))
    if not yes and not typer.confirm(" Run these commands?", err=json):
        return show_setup(prepared)
    console.quiet = quiet
    return apply_setup(prepared, lambda title: console.print(f"\n [bold]{escape(title)}[/]"), quiet=json)
