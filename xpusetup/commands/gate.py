"""The gate before a build: probe what the checks ask for, and stop where one that the build needs fails."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from xpusetup.catalog import parse_check_texts
from xpusetup.checks.question import Question
from xpusetup.checks.registry import BAD, examine
from xpusetup.commands.purpose import BUILD, Purpose
from xpusetup.effects import files
from xpusetup.effects.probe import probe
from xpusetup.effects.probe_tools import with_toolkit_of_shell
from xpusetup.errors import NotReadyError
from xpusetup.model import ROOT

if TYPE_CHECKING:
    from collections.abc import Sequence

    from xpusetup.commands.workspace import Workspace
    from xpusetup.facts import Facts, Held
    from xpusetup.model import Finding, Goal, VerifyMode

OF_DEVICE = ("hardware", "permissions", "driver")
"""Areas of checks that are about a device on this machine."""


def probe_for(workspace: Workspace) -> Facts:
    """Probe what the checks of a profile ask for."""
    facts = probe(
        places=_places(workspace),
        python=workspace.python,
        toolkit=workspace.settings.toolkit.root,
        adopted=workspace.layout.adopted,
    )
    return with_toolkit_of_shell(facts, workspace.settings)


def _places(workspace: Workspace) -> dict[Path, list[Held]]:
    """Give the folders that a build writes to, and what each holds; of a root without folders elsewhere all of it."""
    found: dict[Path, list[Held]] = {workspace.root: ["wheels"]}
    parts: tuple[tuple[Held, str], ...] = (("sources", workspace.layout.src), ("environment", workspace.layout.venv))
    for held, place in parts:
        inside = place.startswith(ROOT)
        found.setdefault(workspace.root if inside else Path(place), []).append(held)
    return found


def findings_of(workspace: Workspace, facts: Facts, goal: Goal) -> tuple[Finding, ...]:
    """Ask all checks for one profile."""
    texts = parse_check_texts(files.package_text("data/checks.toml"))
    return examine(Question(facts, workspace.profile, workspace.device, goal), texts)


def gate(workspace: Workspace, facts: Facts, purpose: Purpose = BUILD, verify: VerifyMode = "auto") -> None:
    """Stop before the first step when a check that it needs fails."""
    found = failing(workspace, facts, purpose, verify)
    if found:
        families = tuple(facts.system.families) if facts.system else ()
        raise NotReadyError(_gate_message(workspace, found, purpose), fix=_gate_fix(found, families))


def failing(workspace: Workspace, facts: Facts, purpose: Purpose = BUILD, verify: VerifyMode = "auto") -> list[Finding]:
    """Give the checks that the purpose needs and that fail here.

    Nobody needs a device to install for it (images, login nodes): its checks count where verification is required.
    """
    found = [finding for finding in findings_of(workspace, facts, purpose.goal) if finding.level in BAD]
    return [finding for finding in found if verify == "require" or finding.area not in OF_DEVICE]


def _gate_message(workspace: Workspace, found: Sequence[Finding], purpose: Purpose) -> str:
    lines = [f"this machine is not ready to {purpose.command} {workspace.profile.name}"]
    lines += [f"{finding.id}: {finding.seen}. {finding.why}" for finding in found]
    return "\n".join(lines)


def _gate_fix(found: Sequence[Finding], families: tuple[str, ...]) -> str:
    lines: list[str] = []
    for finding in found:  # what is prose becomes a comment, so that all of it can be pasted
        lines += [f"# {finding.id}"] if len(found) > 1 else []
        lines += finding.fix.commands_for(families)
        lines += [f"# {finding.fix.say}"] if finding.fix.say else []
    return "\n  ".join(lines)
