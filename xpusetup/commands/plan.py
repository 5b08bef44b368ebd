"""plan: build's steps and why each would run."""

from __future__ import annotations

from dataclasses import asdict, replace
from typing import TYPE_CHECKING, Any

from xpusetup.commands.locking import ensure_locked
from xpusetup.commands.prepare import preview
from xpusetup.commands.purpose import purpose_of_build
from xpusetup.commands.ready import find_ready
from xpusetup.commands.result import Result
from xpusetup.commands.tuning import choose_tuning, find_launcher, memory_per_job
from xpusetup.commands.unverified import describe_unverified
from xpusetup.commands.workspace import open_workspace, origins_of
from xpusetup.effects.environment import variable, which
from xpusetup.effects.history import read_history
from xpusetup.emit.recipe import recipe_of
from xpusetup.errors import NotReadyError
from xpusetup.estimate import make_estimate
from xpusetup.jobs import GIB
from xpusetup.model import ROOT
from xpusetup.plan.savings import LINKERS, make_savings

if TYPE_CHECKING:
    from xpusetup.commands.places import Where
    from xpusetup.commands.prepare import Prepared
    from xpusetup.commands.workspace import Workspace
    from xpusetup.estimate import Estimate
    from xpusetup.keys import Status
    from xpusetup.model import Request, Step, Target
    from xpusetup.plan.savings import Saving


def plan(where: Where, request: Request, *, explain: bool = False) -> Result:
    """Give the steps in order, with their state in the root and what changed of their inputs; writes nothing."""
    notes: list[str] = []
    workspace = ensure_locked(open_workspace(where), notes.append)
    if request.only:
        try:
            request = find_ready(workspace, request)
        except NotReadyError as error:
            notes.append(f"{error.message}; {error.fix}")
    seen = preview(workspace, request, purpose_of_build(workspace.profile))
    root = str(workspace.root)
    steps = [
        _row(step, status, seen.plan.target, root)
        for step, status in zip(seen.plan.steps, seen.statuses(), strict=True)
    ]
    data = {
        "profile": workspace.profile.name,
        "root": root,
        "steps": steps,
        "explain": explain,
        "notes": [*notes, *seen.notes],
        "unverified": describe_unverified(workspace.profile, seen.root, seen.plan),
        "missing": list(seen.missing),
        "fix": f"xpusetup doctor {workspace.options} --for build",
        "estimate": _estimate(workspace, seen).document(),
        "savings": [asdict(saving) for saving in _savings(workspace, seen)],
        "chosen_by": _origins(workspace, where, request, seen.plan.target),
    }
    return Result("plan", data)


def _origins(workspace: Workspace, where: Where, request: Request, target: Target) -> dict[str, str]:
    found = origins_of(workspace, where, request)
    arch = workspace.profile.arch
    aimed = arch is not None and found.get("arch") == "the profile" and target.arch != tuple(arch.default)
    return {**found, "arch": "the GPUs here"} if aimed else found


def _estimate(workspace: Workspace, seen: Prepared) -> Estimate:
    """Estimate what is still to do, from builds of the same profile in this root and those beside it."""
    profile = workspace.profile
    todo = {status.id for status in seen.statuses() if status.state != "done"}
    known = read_history(seen.root.path, profile.name)
    expected = int(profile.disk_gib * GIB) if profile.disk_gib is not None else None
    history = replace(known, disk=expected if known.disk is None else known.disk)
    jobs, each = int(choose_tuning(workspace, seen, 0).get("MAX_JOBS", "0")), memory_per_job(workspace, seen)
    return make_estimate(seen.plan.steps, todo, history, jobs=jobs, memory_per_job=each)


def _savings(workspace: Workspace, seen: Prepared) -> tuple[Saving, ...]:
    """Say how less is built, or could be, from what is on PATH here."""
    todo = {status.id for status in seen.statuses() if status.state != "done"}
    compiles = any("compiler" in step.needs for step in seen.plan.steps if step.id in todo)
    linkers = [name for name in LINKERS if which(name)]
    launcher = find_launcher(variable("XPUSETUP_BUILD_LAUNCHER") or "auto")
    return make_savings(workspace.profile, seen.plan.target, launcher=launcher, linkers=linkers, compiles=compiles)


def _row(step: Step, status: Status, target: Target, root: str) -> dict[str, Any]:
    return {
        "id": step.id,
        "title": step.title,
        "needs": list(step.needs),
        "after": list(step.after),
        "run": [[word.replace(ROOT, root) for word in argv] for argv in step.run],
        "env": {name: value.replace(ROOT, root) for name, value in step.env},
        "recipe": [line.replace(ROOT, root) for line in recipe_of(step, target)],
        "makes": [path.replace(ROOT, root) for path in step.makes],
        "state": status.state,
        "why": status.why,
        "changed": list(status.changed),
    }
