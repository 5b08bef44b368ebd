"""From a workspace to a plan in its root: first without looking at the machine, then with it.

A build in which no step will run probes nothing but keys and stamps: the target of the last build is taken from
the root's lock, and only when something turns out to be stale is the machine probed, examined and aimed at anew.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from xpusetup.aim import make_target
from xpusetup.catalog import parse_check_texts
from xpusetup.checks.question import Question
from xpusetup.checks.registry import BAD, examine
from xpusetup.effects import files
from xpusetup.effects.root import Root, helper_files, open_root, read_lock, see, write_lock, write_plan
from xpusetup.emit.script import render_script
from xpusetup.errors import NotReadyError
from xpusetup.keys import Status, make_statuses
from xpusetup.model import Finding, Plan, Target, Toolkit
from xpusetup.plan import make_plan

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from xpusetup.commands.workspace import Workspace
    from xpusetup.facts import Facts
    from xpusetup.model import Goal, Request


@dataclass(frozen=True, kw_only=True)
class Prepared:
    """A plan that lies in its root, ready to run. `facts` is None when nothing had to be probed."""

    root: Root
    plan: Plan
    scripts: Mapping[str, str]
    facts: Facts | None

    def statuses(self) -> tuple[Status, ...]:
        """Judge every step by what is on disk now."""
        return make_statuses(self.plan.steps, see(self.root, self.plan, self.scripts))


def prepare(workspace: Workspace, request: Request, *, fresh: bool = False) -> Prepared:
    """Write the plan into its root. Raises NotReadyError when the machine can't build it."""
    target = None if fresh else _target_of_lock(workspace, request)
    if target is not None:
        prepared = _write(workspace, request, target, None)
        if _nothing_to_do(prepared):
            return prepared
    facts = probe_for(workspace)
    gate(workspace, facts)
    target = make_target(workspace.profile, facts, workspace.device, request, workspace.settings)
    return _write(workspace, request, target, facts)


def preview(workspace: Workspace, request: Request) -> tuple[Plan, tuple[Status, ...]]:
    """Give a plan and the state of its steps without writing anything."""
    target = _target_of_lock(workspace, request)
    if target is None:
        facts = probe_for(workspace)
        gate(workspace, facts)
        target = make_target(workspace.profile, facts, workspace.device, request, workspace.settings)
    plan = make_plan(workspace.profile, request, target, workspace.layout)
    root = Root(workspace.root.resolve())
    scripts = {step.id: render_script(step, plan) for step in plan.steps}
    return plan, make_statuses(plan.steps, see(root, plan, scripts))


def _nothing_to_do(prepared: Prepared) -> bool:
    return all(status.state == "done" for status in prepared.statuses())


def _write(workspace: Workspace, request: Request, target: Target, facts: Facts | None) -> Prepared:
    plan = make_plan(workspace.profile, request, target, workspace.layout)
    root = open_root(workspace.root)
    scripts = write_plan(root, plan, helper_files(workspace.profile))
    write_lock(root, workspace.profile, target)
    return Prepared(root=root, plan=plan, scripts=scripts, facts=facts)


def _target_of_lock(workspace: Workspace, request: Request) -> Target | None:
    lock = read_lock(Root(workspace.root))
    if lock is None or lock.get("profile") != workspace.profile.model_dump(by_alias=True, mode="json"):
        return None
    if request.arch or workspace.python or workspace.settings.origins:
        return None
    return parse_target(lock.get("target", {}))


def parse_target(values: dict[str, object]) -> Target | None:
    """Read a Target as the lock holds it; None when it is of another version of this program."""
    try:
        kit = values.get("toolkit")
        toolkit = Toolkit(**_tuples(kit)) if isinstance(kit, dict) else None  # type: ignore[arg-type]
        return Target(**{**_tuples(values), "toolkit": toolkit})  # type: ignore[arg-type]
    except TypeError:
        return None


def _tuples(values: dict[str, object]) -> dict[str, object]:
    return {name: tuple(value) if isinstance(value, list) else value for name, value in values.items()}


def probe_for(workspace: Workspace) -> Facts:
    """Probe what the checks of a profile ask for."""
    from xpusetup.effects.probe import probe  # noqa: PLC0415 - a build that is done probes nothing
    from xpusetup.effects.probe_tools import with_toolkit_of_shell  # noqa: PLC0415

    places = [workspace.root, *([] if workspace.layout.src.startswith("@") else [Path(workspace.layout.src)])]
    facts = probe(places=places, python=workspace.python, toolkit=workspace.settings.toolkit.root)
    return with_toolkit_of_shell(facts, workspace.settings)


def findings_of(workspace: Workspace, facts: Facts, goal: Goal) -> tuple[Finding, ...]:
    """Ask all checks for one profile."""
    texts = parse_check_texts(files.package_file("data/checks.toml").read_text())
    return examine(Question(facts, workspace.profile, workspace.device, goal), texts)


def gate(workspace: Workspace, facts: Facts) -> None:
    """Stop before the first step when a check that the build needs fails."""
    failing = [finding for finding in findings_of(workspace, facts, "build") if finding.level in BAD]
    if failing:
        families = tuple(facts.system.families) if facts.system else ()
        raise NotReadyError(_gate_message(workspace, failing), fix=_gate_fix(failing, families))


def _gate_message(workspace: Workspace, failing: Sequence[Finding]) -> str:
    lines = [f"this machine is not ready to build {workspace.profile.name}"]
    lines += [f"{finding.id}: {finding.seen}. {finding.why}" for finding in failing]
    return "\n".join(lines)


def _gate_fix(failing: Sequence[Finding], families: tuple[str, ...]) -> str:
    lines: list[str] = []
    for finding in failing:
        lines += finding.fix.commands_for(families)
        lines += [finding.fix.say] if finding.fix.say else []
    return "\n  ".join(lines)
