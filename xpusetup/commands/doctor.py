"""doctor: what is wrong here for a profile, its root causes, and what could be built and run instead."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

from pydantic import ValidationError

from xpusetup.catalog import parse_check_texts
from xpusetup.checks.question import Question
from xpusetup.checks.registry import BAD, CHECKS, examine, root_causes
from xpusetup.commands.gate import probe_for
from xpusetup.commands.result import Result
from xpusetup.commands.workspace import load_device, load_profile, open_workspace, profile_names
from xpusetup.effects import files
from xpusetup.errors import UsageError
from xpusetup.facts import Facts
from xpusetup.model import Goal

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from xpusetup.catalog import CheckText
    from xpusetup.commands.workspace import Where, Workspace
    from xpusetup.model import Finding


@dataclass(frozen=True, kw_only=True)
class Asked:
    """What doctor was asked; an empty goal means both, building here and running here."""

    goal: str = ""
    only: tuple[str, ...] = ()
    skip: tuple[str, ...] = ()
    save: str = ""
    facts: str = ""


def list_checks() -> Result:
    """List the checks."""
    texts = _texts()
    rows = [{"id": check.id, "area": texts[check.id].area, "title": texts[check.id].title} for check in CHECKS]
    return Result("doctor", {"checks": rows})


def _texts() -> dict[str, CheckText]:
    return parse_check_texts(files.package_text("data/checks.toml"))


def examine_machine(where: Where, asked: Asked) -> Result:
    """Judge this machine, or the facts of another."""
    if asked.goal not in ("", *get_args(Goal)):
        raise UsageError(f"--for {asked.goal!r} means nothing", fix="one of build, run")
    _must_be_checks((*asked.only, *asked.skip))
    workspace = open_workspace(where)
    facts = read_facts(asked.facts) if asked.facts else probe_for(workspace)
    if asked.save:
        files.write_text(Path(asked.save), facts.model_dump_json(by_alias=True, indent=2) + "\n")
    by_goal = _findings(workspace, facts, asked)
    findings = _merge(by_goal)
    data = _data(workspace, facts, findings)
    stops = {goal: list(root_causes(found)) for goal, found in by_goal.items()}
    return Result("doctor", {**data, "stops": stops}, code=1 if root_causes(findings) else 0)


def _must_be_checks(names: Iterable[str]) -> None:
    known = {check.id for check in CHECKS}
    if unknown := sorted(set(names) - known):
        raise UsageError(f"there is no check {unknown[0]!r}", fix="xpusetup doctor --list")


def read_facts(name: str) -> Facts:
    """Read facts that were saved. Raises UsageError for a file that is none."""
    text = files.read_text(Path(name))
    if text is None:
        raise UsageError(f"there is no file {name} that can be read", fix="xpusetup doctor --save FILE writes one")
    try:
        return Facts.model_validate_json(text)
    except ValidationError as error:
        first = error.errors()[0]
        where = ".".join(map(str, first["loc"])) or "(file)"
        raise UsageError(f"{name}: {where}: {first['msg']}", fix="xpusetup doctor --save FILE writes one") from error


def _findings(workspace: Workspace, facts: Facts, asked: Asked) -> dict[Goal, tuple[Finding, ...]]:
    goals: tuple[Goal, ...] = tuple(goal for goal in get_args(Goal) if asked.goal in ("", goal))
    texts = _texts()
    questions = {goal: Question(facts, workspace.profile, workspace.device, goal) for goal in goals}
    return {goal: examine(each, texts, only=asked.only, skip=asked.skip) for goal, each in questions.items()}


def _merge(by_goal: Mapping[Goal, tuple[Finding, ...]]) -> tuple[Finding, ...]:
    """Take of each check its worse answer."""
    found: dict[str, Finding] = {}
    for finding in (each for findings in by_goal.values() for each in findings):
        if finding.id not in found or (found[finding.id].level not in BAD and finding.level in BAD):
            found[finding.id] = finding
    order = {check.id: place for place, check in enumerate(CHECKS)}
    return tuple(sorted(found.values(), key=lambda finding: order[finding.id]))


def _data(workspace: Workspace, facts: Facts, findings: tuple[Finding, ...]) -> dict[str, Any]:
    families = tuple(facts.system.families) if facts.system else ()
    can_build, can_run = _fitting(facts, "build"), _fitting(facts, "run")
    return {
        "profile": workspace.profile.name,
        "chosen_by": workspace.chosen_by,
        "machine": _machine(facts),
        "findings": [_row(finding, families) for finding in findings],
        "root_causes": list(root_causes(findings)),
        "way": _way(workspace, findings, can_build),
        "can_build": can_build,
        "can_run": can_run,
    }


def _row(finding: Finding, families: tuple[str, ...]) -> dict[str, Any]:
    fix = {"say": finding.fix.say, "commands": list(finding.fix.commands_for(families))}
    return {**asdict(finding), "fix": fix}


def _machine(facts: Facts) -> str:
    system, resources = facts.system, facts.resources
    words = [system.name, f"Linux {system.kernel}"] if system else []
    if resources:
        words += [f"{resources.cpus} cores", f"{resources.memory / (1 << 30):.0f} GiB"]
    if facts.python:
        words.append(f"Python {facts.python.version}")
    return " · ".join(words)


def _fitting(facts: Facts, goal: Goal) -> list[str]:
    texts = _texts()
    profiles = [load_profile(name) for name in profile_names()]
    questions = {each.name: Question(facts, each, load_device(each.accelerator), goal) for each in profiles}
    return [name for name, question in questions.items() if not _fails(question, texts)]


def _fails(question: Question, texts: Mapping[str, CheckText]) -> bool:
    return any(finding.level in BAD for finding in examine(question, texts))


def _way(workspace: Workspace, findings: tuple[Finding, ...], can_build: list[str]) -> dict[str, Any]:
    name = workspace.profile.name
    if name in can_build:
        commands, why = [f"xpusetup build {workspace.options}"], "everything that its build needs is here"
        return {"route": "build", "profile": name, "commands": commands, "why": why}
    causes = [finding.id for finding in findings if finding.level in BAD and not finding.caused_by]
    return {"route": "none", "profile": name, "commands": [], "why": f"missing: {', '.join(causes)}"}
