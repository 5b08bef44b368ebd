"""Asks all checks of facts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from data.profiles import device, shipped
from data.texts import GPUS, TEXTS
from xpusetup.doctor.question import Question
from xpusetup.doctor.registry import examine

if TYPE_CHECKING:
    from xpusetup.base.model import Finding
    from xpusetup.machine.facts import Facts


def findings(facts: Facts, goal: Any = "build", profile: str = "torch-2.14", **choice: Any) -> dict[str, Finding]:
    """Give what was found by the id of the check."""
    wanted = shipped(profile)
    question = Question(facts, wanted, device(wanted.accelerator), goal, GPUS)
    return {finding.id: finding for finding in examine(question, TEXTS, **choice)}
