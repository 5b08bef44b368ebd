"""The gate before a build: probe what the checks ask for, and stop where one that the build needs fails."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from xpusetup.catalog import parse_check_texts
from xpusetup.checks.question import Question
from xpusetup.checks.registry import BAD, examine, sections_for
from xpusetup.commands.knowledge import gpu_table
from xpusetup.effects import files
from xpusetup.effects.environment import variable
from xpusetup.effects.probe import EVERYTHING, Ask, probe
from xpusetup.effects.probe_tools import with_toolkit_of_shell
from xpusetup.errors import NotReadyError
from xpusetup.model import ROOT

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from xpusetup.commands.workspace import Workspace
    from xpusetup.facts import Facts, Section
    from xpusetup.model import Finding, Goal
    from xpusetup.profile import Profile


SHOWN: tuple[Section, ...] = ("system", "resources", "python")
"""What the first line of a diagnosis is made of."""


def probe_for(workspace: Workspace, goals: Iterable[Goal] = ("build",), only: Sequence[str] = ()) -> Facts:
    """Probe what the checks read that are asked for these goals; a check that is named asks the network too."""
    sections = {*sections_for(goals, only), *SHOWN}
    hosts = hosts_of(workspace.profile) if "net.git_reach" in only else ()
    return probe_all(workspace, [section for section in EVERYTHING if section in sections], hosts)


def probe_all(workspace: Workspace, sections: Sequence[Section] = EVERYTHING, hosts: tuple[str, ...] = ()) -> Facts:
    """Probe sections of the facts, about the folders and interpreters of a workspace."""
    places = (workspace.root, *(() if workspace.layout.src.startswith("@") else (Path(workspace.layout.src),)))
    about = Ask(
        places=places,
        python=workspace.python,
        toolkit=workspace.settings.toolkit.root,
        adopted=workspace.layout.adopted,
        environments=_environments(workspace),
        hosts=hosts,
    )
    return with_toolkit_of_shell(probe(sections, about), workspace.settings)


def _environments(workspace: Workspace) -> tuple[str, ...]:
    """Give the environments whose torch is in question: the one that is named, else the active one, else the built."""
    if workspace.layout.adopted:
        return (str(Path(workspace.python).parent.parent),)
    active = [path for name in ("VIRTUAL_ENV", "CONDA_PREFIX") if (path := variable(name))]
    return (*active, workspace.layout.venv.replace(ROOT, str(workspace.root)))


def hosts_of(profile: Profile) -> tuple[str, ...]:
    """Give the hosts that a build of a profile fetches from."""
    repos = [part.repo for part in profile.components if part.kind == "source"]
    names = [urlsplit(repo).hostname for repo in repos]
    return tuple(dict.fromkeys(name for name in names if name))


def findings_of(workspace: Workspace, facts: Facts, goal: Goal) -> tuple[Finding, ...]:
    """Ask all checks for one profile."""
    texts = parse_check_texts(files.package_text("data/checks.toml"))
    return examine(Question(facts, workspace.profile, workspace.device, goal, gpu_table()), texts)


def gate(workspace: Workspace, facts: Facts) -> None:
    """Stop before the first step when a check that the build needs fails."""
    found = failing(workspace, facts)
    if found:
        families = tuple(facts.system.families) if facts.system else ()
        raise NotReadyError(_gate_message(workspace, found), fix=_gate_fix(found, families))


def failing(workspace: Workspace, facts: Facts) -> list[Finding]:
    """Give the checks that a build of this profile would need and that fail here."""
    return [finding for finding in findings_of(workspace, facts, "build") if finding.level in BAD]


def _gate_message(workspace: Workspace, found: Sequence[Finding]) -> str:
    lines = [f"this machine is not ready to build {workspace.profile.name}"]
    lines += [f"{finding.id}: {finding.seen}. {finding.why}" for finding in found]
    return "\n".join(lines)


def _gate_fix(found: Sequence[Finding], families: tuple[str, ...]) -> str:
    lines: list[str] = []
    for finding in found:  # what is prose becomes a comment, so that all of it can be pasted
        lines += [f"# {finding.id}"] if len(found) > 1 else []
        lines += finding.fix.commands_for(families)
        lines += [f"# {finding.fix.say}"] if finding.fix.say else []
    return "\n  ".join(lines)
