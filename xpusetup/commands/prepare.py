"""From a workspace to a plan: first without looking at the machine, then with it.

A build in which no step will run probes nothing but keys and stamps: the target of the last build is taken from
the root's lock, and only when something turns out to be stale is the machine probed, examined and aimed at anew.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from xpusetup.effects import files
from xpusetup.effects.environment import variable
from xpusetup.effects.root import (
    Root,
    helper_files,
    lock_document,
    read_identities,
    read_lock,
    see,
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
    """A plan with its scripts, and what of it is done. `facts` is None when nothing had to be probed.

    `missing` names the checks that a build would fail here; it is empty for a plan that passed the gate.
    """

    root: Root
    plan: Plan
    scripts: Mapping[str, str]
    identities: Mapping[str, str]
    facts: Facts | None = None
    missing: tuple[str, ...] = ()

    def statuses(self) -> tuple[Status, ...]:
        """Judge every step by what is on disk now."""
        return make_statuses(self.plan.steps, see(self.root, self.plan, self.scripts, self.identities))


def prepare(workspace: Workspace, request: Request) -> Prepared:
    """Make the plan of a build, writing nothing. Raises NotReadyError when the machine can't build it."""
    target = _target_of_lock(workspace, request)
    if target is not None:
        prepared = _prepare(workspace, request, target)
        if all(status.state == "done" for status in prepared.statuses()):
            return prepared
    prepared = preview(workspace, request)
    if prepared.missing and prepared.facts is not None:
        from xpusetup.commands.gate import gate  # noqa: PLC0415 - a build that is done probes nothing

        gate(workspace, prepared.facts)
    return prepared


def preview(workspace: Workspace, request: Request) -> Prepared:
    """Make a plan for this machine, also where it could not be built, writing nothing."""
    from xpusetup.aim import make_target  # noqa: PLC0415 - a build that is done probes nothing
    from xpusetup.commands.gate import failing, probe_for  # noqa: PLC0415

    facts = probe_for(workspace)
    target = make_target(workspace.profile, facts, workspace.device, request, workspace.settings)
    missing = tuple(finding.id for finding in failing(workspace, facts))
    return replace(_prepare(workspace, request, target), facts=facts, missing=missing)


def _prepare(workspace: Workspace, request: Request, target: Target) -> Prepared:
    plan = make_plan(workspace.profile, request, target, workspace.layout)
    return Prepared(
        root=Root(workspace.root.resolve()),
        plan=plan,
        scripts={step.id: render_script(step, plan) for step in plan.steps},
        identities=read_identities(target),
    )


def write_prepared(workspace: Workspace, request: Request, prepared: Prepared) -> None:
    """Write scripts, helpers and lock into the root, whose lock the caller holds."""
    write_plan(prepared.root, prepared.scripts, helper_files(workspace.profile))
    plan = prepared.plan
    document = lock_document(workspace.profile, plan.target, plan.layout, _asked(workspace, request))
    files.write_text(prepared.root / "profile.lock.json", document)


def _target_of_lock(workspace: Workspace, request: Request) -> Target | None:
    lock = read_lock(Root(workspace.root))
    if lock is None or lock.get("profile") != workspace.profile.model_dump(by_alias=True, mode="json"):
        return None
    if lock.get("asked") != json.loads(json.dumps(_asked(workspace, request))):
        return None
    return parse_target(lock.get("target", {}))


def _asked(workspace: Workspace, request: Request) -> dict[str, object]:
    """Give what a target follows from beside the profile and the machine."""
    settings = workspace.settings.model_dump(mode="json", exclude={"network"})  # it may hold a password
    oneapi = variable("ONEAPI_ROOT") if workspace.profile.toolkit else ""
    return {"arch": request.arch, "python": workspace.python, "settings": settings, "oneapi": oneapi}


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
