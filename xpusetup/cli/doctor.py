"""doctor: what is wrong on this machine, or on one that somebody describes."""

from typing import Annotated

from xpusetup.cli import options

FactFiles = Annotated[
    list[str] | None, options.value("--facts", "FILE", "Judge a machine that --save saw; several: what differs.")
]
PasteFiles = Annotated[
    list[str] | None, options.value("--paste", "FILE", "Judge what somebody posted: output of tools; - is stdin.")
]

ReportFile = Annotated[
    str, options.value("--collect-env", "FILE", "Write a report like PyTorch's collect_env; - is stdout.")
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
    only: Annotated[list[str] | None, options.value("--only", "ID", "Run this check alone.")] = None,
    skip: Annotated[list[str] | None, options.value("--skip", "ID", "Leave this check out.")] = None,
    listed: Annotated[bool, options.flag("--list", "List the checks, and run none.")] = False,
    save: Annotated[str, options.value("--save", "FILE", "Save what was seen of this machine.")] = "",
    facts: FactFiles = None,
    paste: PasteFiles = None,
    collect_env: ReportFile = "",
    prompt: options.AskOthers = False,
    told: options.LongOutput,
) -> options.Answer:
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
