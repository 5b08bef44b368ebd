"""What a log tells of the machine that it was written on: where its error has many causes, a check may know which."""

from __future__ import annotations

import datetime as dt
from dataclasses import replace
from typing import TYPE_CHECKING

from xpusetup.commands.recommend import about_intel
from xpusetup.doctor.question import Question
from xpusetup.doctor.registry import SYMPTOMS, examine, root_causes
from xpusetup.explain.explanation import Cause, LogLine
from xpusetup.machine.companions import torch_there
from xpusetup.machine.known_bad import concerns
from xpusetup.machine.probe import TOLD
from xpusetup.machine.works import torch_works
from xpusetup.paste.facts import facts_from_paste
from xpusetup.recommend.setup import mend_here
from xpusetup.recommend.solve import has_own_pytorch
from xpusetup.run.tables import (
    check_texts,
    gpu_table,
    known,
    known_bad,
    load_profile,
    newest_that_fits,
    sayings,
    showings,
    versions_beside,
)
from xpusetup.run.workspace import load_device

if TYPE_CHECKING:
    from xpusetup.base.model import Finding
    from xpusetup.explain.evidence import Lines
    from xpusetup.explain.explanation import ExplainedLog
    from xpusetup.machine.companions import TorchThere
    from xpusetup.machine.facts import Facts


ELSEWHERE = (*SYMPTOMS, "torch.is_xpu_build", "perm.dri_nodes")
"""Checks that say no more than the error does, or what many a log shows that needs no GPU."""
COMPARED = 60
"""So many letters of what a check saw are looked for in the log."""


def with_machine(told: ExplainedLog, log: Lines) -> ExplainedLog:
    """Put what fails on the machine of a log before its other causes; nothing, where it tells of no such failure."""
    first = told.causes[0] if told.causes else None
    error = LogLine(first.line, first.text) if first else LogLine(told.first_error_line or 0, told.first_error)
    facts = _facts_of(log, error.text)
    failing = [each for each in _findings(facts, log) if each.id not in ELSEWHERE]
    if not failing:
        return told
    return replace(told, causes=[_cause(failing[0], error, log, facts), *told.causes])


def torch_of(log: Lines, error: str) -> TorchThere | None:
    """Give the torch of which a log tells; None where it tells of none."""
    torch = _facts_of(log, error).torch
    return torch_there(torch, versions_beside(torch.version or "") if torch else {})


def _facts_of(log: Lines, error: str) -> Facts:
    """Read a log as what somebody posts; of a long one the error need not be in what was kept."""
    taken = dt.datetime.now(dt.timezone.utc).isoformat(timespec="seconds")
    return facts_from_paste([log.whole, error], taken, gpu_table(), TOLD, sayings(), showings())[0]


def _findings(facts: Facts, log: Lines) -> list[Finding]:
    """Give what fails by itself, as `doctor --paste` would say it, the first cause first."""
    profile = load_profile(newest_that_fits(facts)[0])
    bad = tuple(each for each in known_bad() if concerns(each, log.texts, works=torch_works(facts)))
    question = Question(facts, profile, load_device(profile.accelerator, profile.device), "run", gpu_table(), bad)
    foreign = about_intel() if has_own_pytorch(facts, known()) else ()
    found = mend_here(examine(question, check_texts(), skip=foreign), facts, profile, known())
    return [each for name in root_causes(found) for each in found if each.id == name]


def _cause(finding: Finding, error: LogLine, log: Lines, facts: Facts) -> Cause:
    """Give a finding as the cause of an error, with the line of the log that it was seen in."""
    seen = finding.seen.strip().splitlines()[0][:COMPARED] if finding.seen.strip() else ""
    at = next((index for index, text in enumerate(log.texts) if seen and seen in text), None)
    shown = LogLine(log.numbers[at], log.texts[at]) if at is not None else None
    why = finding.why.rstrip(".")
    return Cause(
        id=finding.id,
        phase="machine",
        level="error",
        line=error.line,
        text=error.text,
        cause=why if shown else f"{finding.seen}: {why[:1].lower()}{why[1:]}",
        fix=finding.fix.say,
        likely=True,
        commands=list(finding.fix.commands_for(facts.system.places if facts.system else ())),
        source=finding.source,
        confidence="medium",
        caused_by=None,
        decided=shown,
    )
