"""The bare command, setup, doctor, explain, skill and self: the shortest way, what is wrong, what this program is."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from xpusetup.cli import options

if TYPE_CHECKING:
    from xpusetup.commands.result import AnyResult


# doctor and explain: what is wrong here, and what went wrong there.

FactFiles = Annotated[
    list[str] | None,
    typer.Option("--facts", help="Judge a machine that --save saw; several: what differs.", metavar="FILE"),
]
PasteFiles = Annotated[
    list[str] | None,
    typer.Option("--paste", help="Judge what somebody posted: output of tools; - is stdin.", metavar="FILE"),
]

ReportFile = Annotated[
    str,
    typer.Option("--collect-env", help="Write a report like PyTorch's collect_env; - is stdout.", metavar="FILE"),
]


@options.command(
    "doctor",
    "xpusetup doctor --for run",
    "xpusetup doctor --paste post.txt",
    takes=options.ProfileName,
    common="--for --paste --prompt",
)
def doctor(
    *,
    where: options.MachineWhere,
    goal: options.Goal = "",
    only: Annotated[list[str] | None, typer.Option("--only", help="Run this check alone.", metavar="ID")] = None,
    skip: Annotated[list[str] | None, typer.Option("--skip", help="Leave this check out.", metavar="ID")] = None,
    listed: Annotated[bool, typer.Option("--list", help="List the checks, and run none.")] = False,
    save: Annotated[str, typer.Option("--save", help="Save what was seen of this machine.", metavar="FILE")] = "",
    facts: FactFiles = None,
    paste: PasteFiles = None,
    collect_env: ReportFile = "",
    prompt: options.AskOthers = False,
    told: options.LongOutput,
) -> AnyResult:
    """Say what is wrong on this machine, and how to fix it."""
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
