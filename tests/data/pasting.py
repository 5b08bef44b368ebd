"""What `doctor --paste` makes of a text: its facts, what the checks find in them, and the whole diagnosis."""

from __future__ import annotations

from typing import TYPE_CHECKING

from data.diagnosis import diagnose
from data.profiles import device, shipped
from data.texts import GPUS, TEXTS
from xpusetup.commands.doctor import Diagnosis, DoctorOptions
from xpusetup.commands.paste import read_paste
from xpusetup.doctor.question import Question
from xpusetup.doctor.registry import examine, root_causes
from xpusetup.machine.probe import TOLD
from xpusetup.machine.tables import known_bad
from xpusetup.paste.facts import facts_from_paste
from xpusetup.run.workspace import Where

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from xpusetup.base.model import Finding
    from xpusetup.machine.facts import Facts


def read(text: str) -> Facts:
    return facts_from_paste([text], "2026-11-23", GPUS, TOLD)[0]


def findings(text: str) -> dict[str, Finding]:
    question = Question(read(text), shipped("torch-2.14"), device("xpu"), "run", GPUS, known_bad())
    return {each.id: each for each in examine(question, TEXTS)}


def causes(text: str) -> list[str]:
    return list(root_causes(findings(text).values()))


def warned(text: str) -> list[str]:
    return [name for name, each in findings(text).items() if each.level == "warn"]


def errors(tmp_path: Path, text: str) -> list[str]:
    """Return what `explain` says of the error lines, without what the checks refute."""
    file = tmp_path / "post.txt"
    file.write_text(text)
    return [each.id for each in read_paste([str(file)]).describe(tuple(findings(text).values())).causes]


def look(text: str, tmp_path: Path) -> Diagnosis:
    file = tmp_path / "post.txt"
    file.write_text(text)
    return diagnose(Where(), DoctorOptions(paste=(str(file),)))


def commands(text: str, check: str, tmp_path: Path) -> Sequence[str]:
    return next(each.fix.commands for each in look(text, tmp_path).findings if each.id == check)
