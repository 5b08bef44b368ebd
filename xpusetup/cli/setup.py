"""The bare command and setup: the shortest way on this machine, and what it takes of the system."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated

import typer

from xpusetup.cli import options

if TYPE_CHECKING:
    from xpusetup.commands.setup import SetupPlan


@options.command("xpusetup")
def bare(*, told: options.LongOutput) -> options.Answer:
    """Show this machine and its way; ends with 0 whatever is wrong here."""
    from xpusetup.commands.recommend import show_way

    return show_way()


@options.command(
    "setup", "xpusetup setup", "xpusetup setup --apply", takes=options.ProfileName, common="--apply --for --out"
)
def setup(
    *,
    profile: options.Profile = "",
    toolkit: options.Toolkit = "",
    goal: options.SetupGoal = "",
    apply: Annotated[bool, options.flag("--apply", "Run the commands. Asks first.")] = False,
    yes: Annotated[bool, options.flag("--yes -y", "Do not ask.")] = False,
    no_root: Annotated[bool, options.flag("--no-root", "Show what a user can install without root.")] = False,
    out: Annotated[str, options.value("--out -o", "FILE", "Write the commands as a script for root.")] = "",
    facts: Annotated[str, options.value("--facts", "FILE", "For the machine that doctor --save saw.")] = "",
    told: options.LongOutput,
) -> options.Answer:
    """Show what this machine lacks, as commands to run. --apply runs them.

    It asks what the shortest way to PyTorch needs; --for build asks what a build from source needs.

    `xpusetup setup site` writes down a cluster's own modules, folders and mirrors.
    """
    from xpusetup.base.errors import UsageError
    from xpusetup.commands.setup import SetupOptions, prepare_setup, show_setup

    if apply and (facts or out):
        raise UsageError("--apply is for this machine, and for it alone", fix="leave --facts and --out out")
    prepared = prepare_setup(SetupOptions(profile=profile, toolkit=toolkit, goal=goal, root=not no_root, facts=facts))
    if apply and prepared.setup.tasks:
        return _apply(prepared, told, yes=yes)
    return show_setup(prepared, out=out, apply=apply)


def _apply(prepared: SetupPlan, told: options.ResultOutput, *, yes: bool) -> options.Answer:
    from rich.markup import escape

    from xpusetup.base.errors import UsageError
    from xpusetup.commands.setup import apply_setup, show_setup
    from xpusetup.ui.console import literal, make_console
    from xpusetup.ui.setup import show_commands

    if not yes and not sys.stdin.isatty():
        raise UsageError("there is no terminal to ask on", command=f"{prepared.options} --apply --yes")
    console = make_console(stderr=told.json)
    if not (yes and told.quiet):
        show_commands(console, literal(show_setup(prepared).data))
    if not yes and not typer.confirm(" Run these commands?", err=told.json):
        console.print(" [yellow]![/] nothing was changed")
        if told.json:
            return show_setup(prepared)
        raise typer.Exit
    console = make_console(stderr=told.json, progress=True)
    console.quiet = told.quiet
    return apply_setup(prepared, lambda title: console.print(f"\n [bold]{escape(title)}[/]"), quiet=told.json)


# setup site: what a place has of its own, asked or given, and written for all builds.


HEAD = "What this place has of its own"
PLACE = (
    f"{HEAD}. Without it each thing is asked. KEY: modules, toolkit, root, prefix, scratch,"
    " account, partition, gpu_partition, gres, index, mirror, ca, or one of the site file, as qos, time or"
    " toolkit.provider."
)


@options.command("setup site", "xpusetup setup site", "xpusetup setup site modules=intel-oneapi/2026.1 account=proj")
def setup_site(
    *,
    words: Annotated[list[str] | None, typer.Argument(help=PLACE, metavar="KEY=VALUE")] = None,
    out: Annotated[
        str,
        typer.Option(
            "--out",
            "-o",
            help="Write another file: /etc/xpusetup/site.toml is for all users.",
            metavar="FILE",
            show_default="that of this user",
        ),
    ] = "",
    told: options.ResultOutput,
) -> options.Answer:
    """Write the site file: modules, folders, mirrors, and what a cluster's jobs need."""
    from xpusetup.base.command import Command
    from xpusetup.base.errors import UsageError
    from xpusetup.commands.site import FOR_ALL, KEYS, find_place, find_wrong, list_questions, write_site
    from xpusetup.ui.console import make_console, prose

    if words:
        return write_site(words, out)
    if not sys.stdin.isatty():
        fix = f"give what applies of {', '.join(KEYS)}, as in: "
        example = "xpusetup setup site root=/shared/xpusetup partition=cpu"
        raise UsageError(
            "setup site asks questions, and its input is no terminal",
            fix=fix,
            command=Command(example, gaps=(example,)),
        )
    more = "" if out else f" For all users: --out {FOR_ALL}."
    prose(make_console(stderr=told.json), " ", f"{HEAD}, for {find_place(out)}.{more} Enter leaves a thing out.")
    given = []
    for name, question in list_questions():
        answer = typer.prompt(f" {question}", default="", show_default=False, err=told.json)
        while answer and (wrong := find_wrong(name, answer)):
            answer = typer.prompt(f"   it {wrong}", default="", show_default=False, err=told.json)
        given.append(f"{name}={answer}")
    return write_site(given, out)
