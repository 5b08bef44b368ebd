"""From a workspace to a plan in its root: first without looking at the machine, then with it.

A build in which no step will run probes nothing but keys and stamps: the target of the last build is taken from
the root's lock, and only when something turns out to be stale is the machine probed, examined and aimed at anew.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING

from xpusetup.effects.root import (
    Root,
    helper_files,
    lock_document,
    open_root,
    read_identities,
    read_lock,
    see,
    write_lock,
    write_plan,
)
from xpusetup.emit.script import render_script
from xpusetup.keys import Status, make_statuses
from xpusetup.model import Plan, Target, Toolkit
from xpusetup.plan import make_plan

if TYPE_CHECKING:
    from collections.abc import Mapping

    from xpusetup.commands.workspace import Workspace
    from xpusetup.facts import Facts
    from xpusetup.model import Request


@dataclass(frozen=True, kw_only=True)
class Prepared:
    """A plan that lies in its root, ready to run. `facts` is None when nothing had to be probed."""

    root: Root
    plan: Plan
    scripts: Mapping[str, str]
    identities: Mapping[str, str]
    facts: Facts | None

    def statuses(self) -> tuple[Status, ...]:
        """Judge every step by what is on disk now."""
        return make_statuses(self.plan.steps, see(self.root, self.plan, self.scripts, self.identities))


def prepare(workspace: Workspace, request: Request, *, fresh: bool = False) -> Prepared:
    """Write the plan into its root. Raises NotReadyError when the machine can't build it."""
    target = None if fresh else _target_of_lock(workspace, request)
    if target is not None:
        prepared = _write(workspace, request, target, None)
        if _nothing_to_do(prepared):
            return prepared
    target, facts = _aim(workspace, request)
    return _write(workspace, request, target, facts)


def _aim(workspace: Workspace, request: Request) -> tuple[Target, Facts]:
    from xpusetup.aim import make_target  # noqa: PLC0415 - a build that is done probes nothing
    from xpusetup.commands.gate import gate, probe_for  # noqa: PLC0415

    facts = probe_for(workspace)
    gate(workspace, facts)
    return make_target(workspace.profile, facts, workspace.device, request, workspace.settings), facts


@dataclass(frozen=True, kw_only=True)
class Preview:
    """A plan and the state of its steps, and the checks that this machine would fail if it were built here."""

    plan: Plan
    statuses: tuple[Status, ...]
    missing: tuple[str, ...]


def preview(workspace: Workspace, request: Request) -> Preview:
    """Make a plan without writing anything; also where it could not be built."""
    from xpusetup.aim import make_target  # noqa: PLC0415 - a build that is done probes nothing
    from xpusetup.commands.gate import failing, probe_for  # noqa: PLC0415

    facts = probe_for(workspace)
    target = make_target(workspace.profile, facts, workspace.device, request, workspace.settings)
    plan = make_plan(workspace.profile, request, target, workspace.layout)
    root = Root(workspace.root.resolve())
    scripts = {step.id: render_script(step, plan) for step in plan.steps}
    statuses = make_statuses(plan.steps, see(root, plan, scripts, read_identities(target)))
    return Preview(plan=plan, statuses=statuses, missing=tuple(each.id for each in failing(workspace, facts)))


def _nothing_to_do(prepared: Prepared) -> bool:
    return all(status.state == "done" for status in prepared.statuses())


def _write(workspace: Workspace, request: Request, target: Target, facts: Facts | None) -> Prepared:
    plan = make_plan(workspace.profile, request, target, workspace.layout)
    root = open_root(workspace.root)
    scripts = write_plan(root, plan, helper_files(workspace.profile))
    write_lock(root, lock_document(workspace.profile, target, _asked(workspace, request)))
    return Prepared(root=root, plan=plan, scripts=scripts, identities=read_identities(target), facts=facts)


def _target_of_lock(workspace: Workspace, request: Request) -> Target | None:
    lock = read_lock(Root(workspace.root))
    if lock is None or lock.get("profile") != workspace.profile.model_dump(by_alias=True, mode="json"):
        return None
    if lock.get("asked") != json.loads(json.dumps(_asked(workspace, request))):
        return None
    return parse_target(lock.get("target", {}))


def _asked(workspace: Workspace, request: Request) -> dict[str, object]:
    """Give what a target follows from beside the profile and the machine."""
    return {"arch": request.arch, "python": workspace.python, "settings": workspace.settings.model_dump(mode="json")}


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
