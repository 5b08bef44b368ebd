"""plan: build's steps, why each would run, and what is left out."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from xpusetup.base.errors import NotReadyError
from xpusetup.base.model import NONE, ROOT, Request, Step, Target
from xpusetup.commands.build_result import UnverifiedOrigin, describe_unverified, render_command
from xpusetup.commands.members import StackMember, WhyPackage, explain_package, list_members
from xpusetup.commands.result import Result
from xpusetup.commands.tuning import ELSEWHERE, choose_tuning, memory_per_job
from xpusetup.config.profile import BuildCost, Profile, Start
from xpusetup.emit.script import recipe_of
from xpusetup.machine.jobs import GIB
from xpusetup.machine.tables import target_costs
from xpusetup.plan.addon import ADDON, purpose_of
from xpusetup.run.compiler_caches import Launcher, choose_launcher, find_closed
from xpusetup.run.keys import Status
from xpusetup.run.manifest import read_history
from xpusetup.run.prepare import PreparedPlan, find_done, find_ready, preview
from xpusetup.run.time_left import Estimate, ExpectedCost, make_estimate
from xpusetup.run.trees import keep_trees
from xpusetup.run.workspace import Where, Workspace, open_workspace, origins_of, with_compiler
from xpusetup.system.environment import variable, variables, which

# Less to build: what a plan leaves out or need not do again, what that saves, and what it gives up.


LINKERS = ("mold", "lld")
NO_CACHE = ("no compiler cache is on PATH", "install ccache")
CACHED = "a rebuild of torch-xpu-ops went from 983 to 348 s (torch-xpu-ops#5154)"


@dataclass(frozen=True, kw_only=True)
class Saving:
    """One way to build less. `on`: this plan does so; else `how` says what to ask for. `saves`: as far as known."""

    id: str
    on: bool
    what: str
    saves: str
    gives_up: str
    how: str = ""


def make_savings(
    profile: Profile,
    target: Target,
    *,
    launcher: Launcher | None,
    linkers: Sequence[str],
    compiles: bool,
    closed: str = "",
) -> tuple[Saving, ...]:
    """List the ways that matter to this plan; `linkers` are those on PATH, `compiles`: something is to compile yet.

    `closed` is the folder that the compiler cache cannot write, because of which it is left out.
    """
    if not compiles:
        return ()
    return (*_targets(profile, target), *_tests(profile), _cache(launcher, closed), *_linker(target, linkers))


def _targets(profile: Profile, target: Target) -> Iterator[Saving]:
    whole = len(profile.arch.default) if profile.arch else 0
    if whole < 2 or not target.arch:  # noqa: PLR2004 - of one there is nothing to leave out
        return
    some, names = len(target.arch) < whole, ",".join(target.arch)
    what = f"device code for {names} alone, of {whole} targets" if some else f"device code for all {whole} targets"
    told = target_costs().describe(profile.arch.default if profile.arch else ())
    if target.arch == (NONE,):
        what = "no ahead-of-time device code: the driver compiles each kernel on first use"
    yield Saving(
        id="arch",
        on=some,
        what=what,
        saves=f"the device compiler runs once for each target; {told or 'what each costs was not measured'}",
        gives_up="other GPUs compile it when it is first used, or cannot use it",
        how="" if some else "--arch TARGET, or --arch auto on the machine with the GPU",
    )


def _tests(profile: Profile) -> Iterator[Saving]:
    variables = [profile.environment, *(part.environment for part in profile.components if part.kind == "source")]
    if any(told.get("BUILD_TEST") == "0" for told in variables):
        yield Saving(
            id="tests",
            on=True,
            what="PyTorch's own C++ tests and benchmarks are left out",
            saves="some hundred programs that nobody installs",
            gives_up="build/bin/test_*, for those who change PyTorch: --set torch.BUILD_TEST=1",
        )


def _cache(launcher: Launcher | None, closed: str) -> Saving:
    what, how = (f"{launcher.name} for every compile except SYCL", "") if launcher else NO_CACHE
    if launcher and closed:
        what, how = f"{launcher.name} cannot write {closed}", ELSEWHERE
    return Saving(
        id="cache",
        on=not how,
        what=what,
        saves=f"what was compiled once, in any root: {CACHED}",
        gives_up="room for its files: some GiB for PyTorch",
        how=how,
    )


def _linker(target: Target, linkers: Sequence[str]) -> Iterator[Saving]:
    name = target.linker or next(iter(linkers), "")
    if name:
        yield Saving(
            id="linker",
            on=bool(target.linker),
            what=f"{name} links" if target.linker else f"{name} is here and not used",
            saves="a part of each link; not tried with oneAPI",
            gives_up="the same bytes as a build with the usual linker",
            how="" if target.linker else f'[compilers] linker = "{name}" in the site file',
        )


# plan: build's steps and why each would run.


@dataclass(frozen=True, kw_only=True)
class PlannedStep:
    """A step with its state in the root, and what changed of its inputs since it was done."""

    id: str
    title: str
    needs: list[str]
    after: list[str]
    run: list[list[str]]
    env: dict[str, str]
    recipe: list[str]
    makes: list[str]
    state: str
    why: str
    changed: list[str]


@dataclass(frozen=True, kw_only=True)
class PlanResult:
    """The steps of a build in order, what they will cost, what is missing here, and where each setting came from.

    `build` is the command that does it.
    `members` and `starts` are those of a stack, empty for any other profile; `why` explains a package that was asked
    about.
    """

    profile: str
    root: str
    steps: list[PlannedStep]
    explain: bool
    notes: list[str]
    unverified: list[UnverifiedOrigin]
    missing: list[str]
    fix: str
    build: str
    estimate: Estimate
    savings: tuple[Saving, ...]
    chosen_by: dict[str, str]
    members: list[StackMember]
    starts: list[Start]
    why: WhyPackage | None


def plan(where: Where, asked: Request, *, explain: bool = False, why: str = "") -> Result[PlanResult]:
    """Give the steps in order, with their state in the root and what changed of their inputs; writes nothing.

    `why` names a package whose place in the plan is to be explained. Raises UsageError for one that is not in it.
    """
    notes: list[str] = []
    workspace, request = keep_trees(open_workspace(with_compiler(where, asked)), asked)
    if workspace.revs:
        from xpusetup.commands.profiles import ensure_locked  # noqa: PLC0415 - pinned profiles need no lock

        workspace = ensure_locked(workspace, notes.append, own=dict(request.sources))
    purpose = purpose_of(workspace.profile, request)
    if request.only:
        try:
            request = find_ready(workspace, request)
        except NotReadyError as error:
            notes.append(f"{error.message}; {error.fix}")
    seen = find_done(workspace, request, purpose) or preview(workspace, request, purpose)
    root = str(workspace.root)
    rows = zip(seen.plan.steps, seen.statuses(), strict=True)
    found = PlanResult(
        profile=workspace.profile.name,
        root=root,
        steps=[_row(step, status, seen.plan.target, root) for step, status in rows],
        explain=explain,
        notes=[*notes, *seen.notes],
        unverified=describe_unverified(workspace.profile, seen.root, seen.plan),
        missing=[*seen.missing, *_unreached(workspace, seen)],
        fix=workspace.command("doctor", "--for", purpose.goal),
        build=render_command(workspace, asked, command=purpose.command),
        estimate=_estimate(workspace, request, seen),
        savings=_savings(workspace, seen),
        chosen_by=_origins(workspace, where, request, seen.plan.target),
        members=list_members(workspace.profile, seen.root),
        starts=workspace.profile.starts,
        why=explain_package(workspace.profile, why) if why else None,
    )
    return Result("plan", found)


def _unreached(workspace: Workspace, seen: PreparedPlan) -> list[str]:
    """Name the check of the network, where steps to come need it and there is none."""
    todo = {status.id for status in seen.statuses() if status.state != "done"}
    fetches = any("network" in step.needs for step in seen.plan.steps if step.id in todo)
    if seen.facts is None or not fetches:
        return []
    from xpusetup.run.preflight import find_unreached  # noqa: PLC0415 - a plan that is done looks at no machine

    return [each.id for each in find_unreached(workspace, seen.facts, seen.purpose)]


def _origins(workspace: Workspace, where: Where, request: Request, target: Target) -> dict[str, str]:
    found = origins_of(workspace, where, request)
    arch = workspace.profile.arch
    aimed = arch is not None and found.get("arch") == "the profile" and target.arch != tuple(arch.default)
    return {**found, "arch": "the GPUs here"} if aimed else found


def _estimate(workspace: Workspace, request: Request, seen: PreparedPlan) -> Estimate:
    """Estimate what is still to do, from builds of the same profile in this root and those beside it."""
    profile = workspace.profile
    todo = {status.id for status in seen.statuses() if status.state != "done"}
    history = read_history(seen.root.path, profile.name, seen.plan.steps)
    jobs, each = int(choose_tuning(workspace, seen, 0).get("MAX_JOBS", "0")), memory_per_job(workspace, seen)
    told = make_estimate(seen.plan.steps, todo, history, jobs=jobs, memory_per_job=each)
    whole = all(step.id in todo for step in seen.plan.steps if "compiler" in step.needs)
    if profile.cost is None or seen.purpose is ADDON:  # of one part that says nothing
        return told
    return replace(
        told, expected=_expected(profile.cost, jobs if whole else 0, whole=is_usual(workspace, request, seen))
    )


def is_usual(workspace: Workspace, request: Request, seen: PreparedPlan) -> bool:
    """Say whether all of a profile is built as it says: all parts, with its tool chain, for all of its targets."""
    arch = workspace.profile.arch
    fewer = arch is not None and {*seen.plan.target.arch} != {*arch.default}
    chosen = request.only or request.until or request.target or workspace.takes or "toolkit" in workspace.known
    return not (fewer or chosen)


HOUR = 3600


def _expected(cost: BuildCost, jobs: int, *, whole: bool) -> ExpectedCost:
    """Give what a profile says of its build, with so many jobs; 0: not known, or a part of it is done."""
    least, most = (int(gib * GIB) for gib in cost.disk_gib)
    seconds = (cost.core_hours[0] * HOUR / jobs, cost.core_hours[1] * HOUR / jobs) if jobs else None
    return ExpectedCost(
        seconds=seconds, disk=(least, most), whole=whole, source=cost.source, confidence=cost.confidence
    )


def _savings(workspace: Workspace, seen: PreparedPlan) -> tuple[Saving, ...]:
    """Say how less is built, or could be, from what is on PATH here."""
    todo = {status.id for status in seen.statuses() if status.state != "done"}
    compiles = any("compiler" in step.needs for step in seen.plan.steps if step.id in todo)
    linkers = [name for name in LINKERS if which(name)]
    launcher = choose_launcher(variable("XPUSETUP_BUILD_LAUNCHER") or "auto", which)
    closed = find_closed(launcher, variables()) if launcher and compiles else ""
    profile, target = workspace.profile, seen.plan.target
    if seen.purpose is ADDON:
        return ()
    return make_savings(profile, target, launcher=launcher, closed=closed, linkers=linkers, compiles=compiles)


def _row(step: Step, status: Status, target: Target, root: str) -> PlannedStep:
    return PlannedStep(
        id=step.id,
        title=step.title,
        needs=list(step.needs),
        after=list(step.after),
        run=[[word.replace(ROOT, root) for word in argv] for argv in step.run],
        env={name: value.replace(ROOT, root) for name, value in step.env},
        recipe=[line.replace(ROOT, root) for line in recipe_of(step, target)],
        makes=[path.replace(ROOT, root) for path in step.makes],
        state=status.state,
        why=status.why,
        changed=list(status.changed),
    )
