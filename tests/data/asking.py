"""Asks all checks of facts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from data.profiles import device, shipped
from data.texts import GPUS, TEXTS
from xpusetup.checks.question import Question
from xpusetup.checks.registry import examine

if TYPE_CHECKING:
    from xpusetup.facts import Facts
    from xpusetup.model import Finding


def findings(facts: Facts, goal: Any = "build", profile: str = "torch-2.14", **choice: Any) -> dict[str, Finding]:
    """Give what was found by the id of the check."""
    wanted = shipped(profile)
    question = Question(facts, wanted, device(wanted.accelerator), goal, GPUS)
    return {finding.id: finding for finding in examine(question, TEXTS, **choice)}
