"""rebuild: the same wheels again under other conditions, and what of them is not the same bytes."""

from __future__ import annotations

import json
import shlex
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from xpusetup.base.errors import NotReadyError, UsageError
from xpusetup.base.model import Event, Layout, Request, RootWheel
from xpusetup.commands import tuning
from xpusetup.commands.build import make_run, note, plan_event, with_forecast
from xpusetup.commands.build_result import describe_failed
from xpusetup.commands.result import Result
from xpusetup.config.load import read_profile
from xpusetup.config.request import read_words
from xpusetup.emit.script import render_script
from xpusetup.plan.install import purpose_of_build
from xpusetup.rebuild.compare import Conditions, MemberDifference, compare_wheels, count_members
from xpusetup.rebuild.io import OtherConditions, VariedCondition, make_elsewhere, seen_paths
from xpusetup.run.journal import JOURNAL
from xpusetup.run.lock import hold_lock
from xpusetup.run.manifest import list_wheels, read_document, read_manifest
from xpusetup.run.prepare import PreparedPlan, parse_target, write_prepared
from xpusetup.run.removal import remove_all, remove_empty
from xpusetup.run.root import (
    BESIDE,
    SECOND,
    Root,
    clear_drafts,
    find_damage,
    open_root,
    read_identities,
    read_lock,
    read_stamps,
)
from xpusetup.run.runner import RunOutcome, run_plan
from xpusetup.run.time_left import parse_journal
from xpusetup.run.workspace import Where, Workspace, open_built
from xpusetup.system import files
from xpusetup.system.environment import from_home
from xpusetup.system.files import check_folder, note_place

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from xpusetup.commands.explain import StepFailure


@dataclass(frozen=True, kw_only=True)
class RebuildOptions:
    """How to build again. `at`: the folder, empty for one beside the root; `jobs` 0: one less, or one more than one.

    `keep`: the second build stays also where nothing differs. `launcher`: a compiler cache, which answers for compiles
    that are then not tried.
    """

    at: str = ""
    jobs: int = 0
    keep: bool = False
    launcher: str = "none"
    observe: Callable[[Event], None] = field(default=lambda _event: None)


@dataclass(frozen=True, kw_only=True)
class RebuiltWheel:
    """A wheel that was built twice: where each lies, its hash, and each member that is not the same bytes."""

    name: str
    version: str
    path: str
    sha256: str
    again: str
    sha256_again: str
    same: bool
    members: int
    differences: list[MemberDifference]


@dataclass(frozen=True, kw_only=True)
class RebuildResult:
    """Whether a root's wheels are the same bytes when they are built again (null: that failed), and what was varied.

    `again` is the root of the second build, `kept` whether it is still there. `failed`: the step that failed there,
    `log` what it said, `failure` why, as far as that is known.
    """

    profile: str
    root: str
    again: str
    same: bool | None
    conditions: list[VariedCondition]
    wheels: list[RebuiltWheel]
    kept: bool
    failed: str | None
    log: str
    failure: StepFailure | None
    seconds: float


def rebuild(where: Where, options: RebuildOptions) -> Result[RebuildResult]:
    """Build again what a root holds, in another folder and under other conditions, and compare the wheels.

    Raises NotReadyError where it holds nothing that was built, UsageError for what cannot be built elsewhere.
    """
    workspace = open_built(where)
    root = Root(workspace.root.resolve())
    lock = read_lock(root) or {}
    wheels = _built(workspace, root, lock)
    _refuse_edited(workspace, root, wheels)
    again, request = _find_place(root, options.at), _request_of(lock)
    workspace.trust_files(request)
    prepared = _prepare(workspace, request, lock, wheels, again)
    if read_document(again / SECOND).get("ended"):  # else the second build that was begun there is gone on with
        _clear(again)
    open_root(again)
    _mark(again, root.path, ended=False)
    jobs = _jobs(root, options.jobs)
    elsewhere = make_elsewhere(root.path, again, jobs)
    with hold_lock(prepared.root / "lock", lambda text: options.observe(note(text))) as held:
        outcome = _run(workspace, request, prepared, replace(options, jobs=jobs[1]), elsewhere, held)
        failure = _describe(workspace, prepared, options, outcome) if outcome.failed else None
        result = RebuildResult(
            profile=prepared.plan.profile,
            root=str(root.path),
            again=str(again),
            same=None,
            conditions=[*elsewhere.told],
            wheels=[],
            kept=True,
            failed=outcome.failed or None,
            log=failure.log if failure else "",
            failure=failure,
            seconds=round(outcome.seconds, 3),
        )
        if failure:
            return Result("wheel rebuild", result, code=1)
        _require_unchanged(workspace, wheels)
        return _judge(result, wheels, prepared, elsewhere.conditions, keep=options.keep)


# What is built again, and where.


def _built(workspace: Workspace, root: Root, lock: Mapping[str, object]) -> list[RootWheel]:
    """Give the wheels that were built in a root and are as they were."""
    parts, again = workspace.profile.components, workspace.command("build")
    stamps, ours = read_stamps(root), {part.distribution for part in parts if part.kind == "source"}
    wheels = [each for each in list_wheels(root, workspace.profile) if each.name in ours] if lock else []
    made = {each.path: step for step, stamp in stamps.items() if step.endswith(".build") for each in stamp.made}
    wheels = [each for each in wheels if each.path in made]
    if not wheels:
        raise NotReadyError(f"no wheel that was built is in {root.path}", command=again)
    damaged = find_damage(root, check=True)
    for step in (made[each.path] for each in wheels):
        if step in damaged:
            raise NotReadyError(f"{damaged[step]}: there is nothing to compare with", command=again)
    return wheels


def _refuse_edited(workspace: Workspace, root: Root, wheels: list[RootWheel]) -> None:
    """Stop where a wheel is not that of its pin: nothing tells what its source was. Raises UsageError."""
    edited, names = read_manifest(root).get("edited", ()), {each.name for each in wheels}
    for part in workspace.profile.components:
        if part.kind == "source" and part.distribution in names and part.name in edited:
            stamp = shlex.quote(str(root / f"stamps/{part.name}.build"))
            fix = f"commit what you changed, and build that: --rev {part.name}=COMMIT\n"
            fix += f"or undo it, and build it anew: rm {stamp}; "
            line = workspace.command("build")
            what = f"{part.name} was built with changes of your own in {root.path}/src/{part.name}"
            raise UsageError(f"{what}, which are there alone", fix=fix, command=line)


def _require_unchanged(workspace: Workspace, wheels: list[RootWheel]) -> None:
    """Stop where the first build went or was made anew in the hours of the second. Raises NotReadyError."""
    for each in wheels:
        if not (there := Path(each.path)).is_file() or files.hash_file(there) != each.sha256:
            what = f"{each.path} was removed or changed while it was built again"
            fix, line = "the same command, which keeps the second build, after: ", workspace.command("build")
            raise NotReadyError(f"{what}: there is nothing to compare with", fix=fix, command=line)


def _request_of(lock: Mapping[str, object]) -> Request:
    """Read what was asked of the build. Raises UsageError where it stands on what is not its own."""
    words = lock.get("words")
    request = read_words(tuple(map(str, words)) if isinstance(words, list) else ())
    layout = lock.get("layout")
    if isinstance(layout, dict) and layout.get("adopted"):
        fix = "build it into an environment of its own, without --into"
        raise UsageError(f"it was built on what is in {layout.get('venv')}, which is at one place alone", fix=fix)
    if request.sources:
        name, folder = request.sources[0]
        fix = f"commit what you changed, and build that: --rev {name}=COMMIT"
        raise UsageError(f"{name} was built in your own tree {folder}, which is at one place alone", fix=fix)
    return request


def _find_place(root: Root, at: str) -> Path:
    """Give the folder of the second build: of another name and length. Raises UsageError for one that is in use."""
    beside = root.path.parent / BESIDE / f"{root.path.name}-at-a-longer-path"
    again = check_folder(from_home(at).absolute()).resolve() if at else note_place(beside, "--at DIR")
    told = read_document(again / SECOND)
    if again == root.path or root.path in again.parents:
        raise UsageError(f"{again} is in the root itself", fix="name another folder: --at DIR")
    if again.exists() and told.get("of") != str(root.path) and any(again.iterdir()):
        raise UsageError(f"{again} holds something else", fix="name a folder that is empty or not there: --at DIR")
    return again


def _mark(again: Path, root: Path, *, ended: bool) -> None:
    files.write_text(again / SECOND, json.dumps({"schema": 1, "of": str(root), "ended": ended}) + "\n")


def _clear(again: Path) -> None:
    """Take a second build away: last what says that it is one, and of the folder itself no more than may go."""
    remove_all(path for path in sorted(again.iterdir()) if path.name != SECOND)
    remove_all([again / SECOND])
    remove_empty(again)


def _jobs(root: Root, asked: int) -> tuple[int, int]:
    """Give how many jobs ran at a time in a root, as its journal says, and how many are to run now: never too many."""
    loads = parse_journal(files.read_text(root / JOURNAL) or "").loads.values()
    before = max((load.jobs for load in loads), default=0)
    return before, asked or (before - 1 if before > 1 else 2 * before)


# The second build.


def _prepare(
    workspace: Workspace, request: Request, lock: Mapping[str, object], wheels: list[RootWheel], again: Path
) -> PreparedPlan:
    """Make the plan of the root's lock again, as far as its wheels need it, for another root. Nothing is probed."""
    profile = read_profile(lock["profile"])
    seen = lock.get("target")
    target = parse_target(seen if isinstance(seen, dict) else {})
    if target is None:
        raise NotReadyError("the root is of another version of this program", command=workspace.command("build"))
    purpose = purpose_of_build(profile)
    whole = purpose.make(profile, request, target, Layout())
    names = {each.name for each in wheels}
    ids = {f"{part.name}.build" for part in profile.components if part.kind == "source" and part.distribution in names}
    for step in reversed(whole.steps):  # and all that come before them
        if step.id in ids:
            ids |= {*step.after}
    plan = replace(whole, steps=tuple(step for step in whole.steps if step.id in ids))
    return PreparedPlan(
        root=Root(again.resolve()),
        plan=plan,
        scripts={step.id: render_script(step, plan) for step in plan.steps},
        identities=read_identities(target, Root(again.resolve())),
        purpose=purpose,
    )


def _run(
    workspace: Workspace,
    request: Request,
    prepared: PreparedPlan,
    options: RebuildOptions,
    elsewhere: OtherConditions,
    held: int,
) -> RunOutcome:
    launcher, left_out = tuning.ready_launcher(prepared, options.launcher)
    tuned = {**(tuning.render_jobs(options.jobs) if options.jobs else {}), **tuning.cache_variables(prepared, launcher)}
    observe = with_forecast(options.observe, prepared)
    there = replace(workspace, root=prepared.root.path, layout=Layout())
    observe(plan_event(there, prepared, tuned))
    same = (f"{each.name}: {each.why}" for each in elsewhere.told if not each.varied)
    for text in (*filter(None, [left_out]), *same):
        observe(note(text))
    clear_drafts(prepared.root)
    write_prepared(there, request, prepared)
    run = make_run(prepared, request, held, tuned, observe)
    return run_plan(replace(run, launcher=launcher, before=elsewhere.before))


def _describe(
    workspace: Workspace, prepared: PreparedPlan, options: RebuildOptions, outcome: RunOutcome
) -> StepFailure:
    """Give why the second build failed, as of every build, and the command that goes on with it."""
    asked = {"--at": options.at, "--jobs": str(options.jobs or ""), "--launcher": options.launcher.replace("none", "")}
    words = [word for option, value in asked.items() if value for word in (option, value)]
    words += ["--keep"] if options.keep else []
    there = replace(workspace, root=prepared.root.path, layout=Layout())
    go_on = workspace.command("wheel rebuild", *words)
    return describe_failed(there, prepared, outcome, None, go_on)


# What came of it.


def _judge(
    result: RebuildResult, wheels: list[RootWheel], prepared: PreparedPlan, conditions: Conditions, *, keep: bool
) -> Result[RebuildResult]:
    root, again = Path(result.root), Path(result.again)
    profile = read_profile((read_lock(prepared.root) or {})["profile"])
    second = {each.name: each for each in list_wheels(prepared.root, profile)}
    varied = dict.fromkeys((*conditions.varied, *seen_paths(root, again)))  # where roots are seen where they lie, once
    conditions = replace(conditions, varied=tuple(varied))
    found = [_compare(each, second[each.name], conditions) for each in wheels]
    same = all(each.same for each in found)
    _mark(again, root, ended=True)
    kept = keep or not same
    if not kept:
        _clear(again)
    return Result("wheel rebuild", replace(result, wheels=found, same=same, kept=kept), code=0 if same else 1)


def _compare(one: RootWheel, other: RootWheel, conditions: Conditions) -> RebuiltWheel:
    same = one.sha256 == other.sha256
    return RebuiltWheel(
        name=one.name,
        version=one.version,
        path=one.path,
        sha256=one.sha256,
        again=other.path,
        sha256_again=other.sha256,
        same=same,
        members=count_members(Path(one.path)),
        differences=[] if same else compare_wheels(Path(one.path), Path(other.path), conditions),
    )
