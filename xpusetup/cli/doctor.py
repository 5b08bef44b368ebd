"""The bare command, setup, doctor, explain, skill and self: the shortest way, what is wrong, what this program is."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated, Any

import typer

from xpusetup.cli import options

if TYPE_CHECKING:
    from collections.abc import Iterator

    from xpusetup.commands.result import AnyResult
    from xpusetup.commands.setup import SetupPlan


# The bare command and setup: the shortest way on this machine, and what it takes of the system.


@options.command("xpusetup")
def bare(*, told: options.LongOutput) -> AnyResult:
    """Show this machine and its way; ends with 0 whatever is wrong here."""
    from xpusetup.commands.recommend import show_way

    return show_way()


@options.command("setup")
def setup(
    *,
    words: Annotated[
        list[str] | None,
        typer.Argument(help="Write the site file of this place, asking what is not given.", metavar="site KEY=VALUE"),
    ] = None,
    profile: options.Profile = "",
    toolkit: options.Toolkit = "",
    goal: options.Goal = "",
    apply: Annotated[bool, typer.Option("--apply", help="Run the commands, after asking.")] = False,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
    no_root: Annotated[bool, typer.Option("--no-root", help="What a user can install without root.")] = False,
    out: Annotated[str, typer.Option("--out", "-o", help="Write them as a script for root.", metavar="FILE")] = "",
    facts: Annotated[str, typer.Option("--facts", help="For a machine that doctor --save saw.", metavar="FILE")] = "",
    told: options.ResultOutput,
) -> AnyResult:
    """Show what to install here, as this distribution's commands in order; --apply runs them."""
    from xpusetup.base.errors import UsageError
    from xpusetup.commands.setup import SetupOptions, prepare_setup, show_setup

    if words:
        from xpusetup.cli.site import make_site

        return make_site(words, out, err=told.json)
    if apply and (facts or out):
        raise UsageError("--apply is for this machine, and for it alone", fix="leave --facts and --out out")
    prepared = prepare_setup(SetupOptions(profile=profile, toolkit=toolkit, goal=goal, root=not no_root, facts=facts))
    if apply and prepared.setup.tasks:
        return _apply(prepared, told, yes=yes)
    return show_setup(prepared, out=out)


def _apply(prepared: SetupPlan, told: options.ResultOutput, *, yes: bool) -> AnyResult:
    from rich.markup import escape

    from xpusetup.base.errors import UsageError
    from xpusetup.commands.setup import apply_setup, show_setup
    from xpusetup.ui.console import literal, make_console
    from xpusetup.ui.doctor import show_commands

    if not yes and not sys.stdin.isatty():
        raise UsageError("nobody is here to be asked", fix=f"{prepared.options} --apply --yes")
    console = make_console(stderr=told.json)
    if not (yes and told.quiet):
        show_commands(console, literal(show_setup(prepared).data))
    if not yes and not typer.confirm(" Run these commands?", err=told.json):
        return show_setup(prepared)
    console = make_console(stderr=told.json, progress=True)
    console.quiet = told.quiet
    return apply_setup(prepared, lambda title: console.print(f"\n [bold]{escape(title)}[/]"), quiet=told.json)


# doctor and explain: what is wrong here, and what went wrong there.

FactFiles = Annotated[
    list[str] | None,
    typer.Option("--facts", help="Judge what --save wrote, on any machine; several: what differs.", metavar="FILE"),
]
PasteFiles = Annotated[
    list[str] | None,
    typer.Option("--paste", help="Judge what someone posted: outputs of tools; - is stdin.", metavar="FILE"),
]

ReportFile = Annotated[
    str,
    typer.Option("--collect-env", help="A report in the form of PyTorch's collect_env; - is stdout.", metavar="FILE"),
]

AskOthers = Annotated[
    bool, typer.Option("--prompt", help="Print it as a text for an assistant, a colleague or an issue.")
]


@options.command("doctor")
def doctor(
    *,
    where: options.MachineWhere,
    goal: options.Goal = "",
    only: Annotated[list[str] | None, typer.Option("--only", help="This check alone.", metavar="ID")] = None,
    skip: Annotated[list[str] | None, typer.Option("--skip", help="Leave this check out.", metavar="ID")] = None,
    listed: Annotated[bool, typer.Option("--list", help="List the checks.")] = False,
    save: Annotated[str, typer.Option("--save", help="Write all that was seen of this machine.", metavar="FILE")] = "",
    facts: FactFiles = None,
    paste: PasteFiles = None,
    collect_env: ReportFile = "",
    prompt: AskOthers = False,
    told: options.LongOutput,
) -> AnyResult:
    """Say what is wrong here, and the command that mends it."""
    from xpusetup.commands.doctor import DoctorOptions, examine_machine, list_checks, redact_result

    if listed:
        return list_checks()
    asked = DoctorOptions(
        goal=goal,
        only=tuple(only or ()),
        skip=tuple(skip or ()),
        save=save,
        facts=tuple(facts or ()),
        paste=tuple(paste or ()),
        collect_env=collect_env,
    )
    if prompt:
        from xpusetup.commands.prompt import prompt_of_machine

        return prompt_of_machine(where.find(may_make=True), asked)
    result = examine_machine(where.find(may_make=True), asked)
    return redact_result(result) if told.json else result


@options.command("explain")
def explain(
    *,
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
    prompt: AskOthers = False,
    told: options.LongOutput,
) -> AnyResult:
    """Say which line of a log matters, why, and what to do."""
    if prompt:
        from xpusetup.commands.prompt import prompt_of_log

        return prompt_of_log(log, good)
    from xpusetup.commands.explain import explain as make

    return make(log, good)


# skill and self: one page for agents, and what this program is.


@options.command("skill")
def skill(*, context: typer.Context, told: options.ResultOutput) -> AnyResult:
    """Print one page for agents: how to ask, which way to go, what not to do, all commands."""
    from xpusetup.commands.self import make_skill

    return make_skill(dict(_summaries(context.find_root().command)))


@options.command("self")
def show_self(*, told: options.ResultOutput) -> AnyResult:
    """Say which xpusetup this is, how a newer one comes, and where builds, sources and settings lie."""
    from xpusetup.commands.self import describe

    return describe()


def _summaries(command: Any, words: tuple[str, ...] = ()) -> Iterator[tuple[str, str]]:
    """Give what each command does, by its name, groups opened."""
    below = getattr(command, "commands", {})
    for name, each in below.items():
        yield from _summaries(each, (*words, name))
    if not below:
        yield " ".join(words), (command.help or "").partition("\n\n")[0].replace("\n", " ").strip()
