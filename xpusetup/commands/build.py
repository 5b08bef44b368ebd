"""build and install: the main job, from a profile to verified wheels."""

from __future__ import annotations

import json
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from xpusetup.base.command import Advice
from xpusetup.base.document import fields_of
from xpusetup.base.errors import InterruptedRunError, NoDeviceError, NotReadyError, UsageError
from xpusetup.base.model import Event, Request, Step
from xpusetup.base.text import hide_all, name_some
from xpusetup.base.verbs import about_build
from xpusetup.commands import tuning
from xpusetup.commands.build_result import (
    BuildResult,
    InstallResult,
    RemovedPackage,
    describe_build,
    describe_failed,
    record_end,
)
from xpusetup.commands.result import Result
from xpusetup.config.settings import make_network
from xpusetup.plan.addon import purpose_of
from xpusetup.plan.environment import find_changes
from xpusetup.plan.install import (
    BUILD,
    INSTALL,
    INSTALL_STEP,
    MEMBERS_STEP,
    Purpose,
    members_without_wheels,
)
from xpusetup.run.builds import go_on
from xpusetup.run.lock import BusyError, hold_lock
from xpusetup.run.manifest import forget_after, read_document, read_keys, read_manifest, read_standing
from xpusetup.run.prepare import (
    PreparedPlan,
    find_ready,
    forget_damaged,
    forget_replaced,
    prepare,
    write_prepared,
)
from xpusetup.run.root import Root, clear_drafts, open_root
from xpusetup.run.runner import PlanRun, RunOutcome, run_plan
from xpusetup.run.step_process import MemoryWatch, keep_samples
from xpusetup.run.trees import keep_trees
from xpusetup.run.workspace import Where, Workspace, open_workspace, with_compiler
from xpusetup.system import files
from xpusetup.system.environment import now, short_path, variables

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from xpusetup.bundle.offline import AirGap, NetworkAttempt
    from xpusetup.commands.offer import InstallOffer
    from xpusetup.run.compiler_caches import Launcher
    from xpusetup.run.time_left import Forecast


# Who else is told of what happens in a build: the file of `--events`, and the forecast, which adds what is left.


def with_forecast(observe: Callable[[Event], None], prepared: PreparedPlan) -> Callable[[Event], None]:
    """Add what is left to every event, from the first step that runs: a build that is done needs no forecast."""
    ended: list[Event] = []
    forecast: Forecast | None = None

    def tell(event: Event) -> None:
        nonlocal forecast
        if forecast is None and event.kind == "start":
            from xpusetup.run.manifest import read_history  # noqa: PLC0415 - where nothing runs it is not asked
            from xpusetup.run.time_left import Forecast  # noqa: PLC0415 - same

            plan = prepared.plan
            forecast = Forecast(plan.steps, read_history(prepared.root.path, plan.profile, plan.steps))
            for each in ended:
                forecast.tell(each)
        elif forecast is None and event.kind == "end":
            ended.append(event)
        observe(forecast.tell(event) if forecast else event)

    return tell


def with_file(observe: Callable[[Event], None], file: str) -> Callable[[Event], None]:
    """Write every event into a file too, a line of JSON each; no file, no lines."""
    if not file:
        return observe
    path = Path(file)

    def tell(event: Event) -> None:
        files.append_line(path, json.dumps(hide_all(event.document())))
        observe(event)

    return tell


# build: the main job, from a profile to verified wheels.


WITHHELD = {
    *("CC", "CXX", "CFLAGS", "CXXFLAGS", "CPPFLAGS", "LDFLAGS", "LD_LIBRARY_PATH", "LD_PRELOAD", "LIBRARY_PATH"),
    *("CPATH", "PYTHONPATH", "PYTHONHOME", "CMAKE_PREFIX_PATH", "CMAKE_ARGS", "USE_XPU", "USE_CUDA"),
    "TORCH_XPU_ARCH_LIST",
}
"""Variables that change builds and stay outside of them."""


@dataclass(frozen=True, kw_only=True)
class BuildOptions:
    """How to run a plan. `jobs` 0: as many as processors and memory allow; `launcher`: a compiler cache, auto or none.

    `bundle` is the file that stands for the network. `agree` is shown what an installation would do, and says whether
    it is done; `dry`: it is not, whatever is answered.
    """

    jobs: int = 0
    launcher: str = ""
    bundle: str = ""
    events: str = ""
    observe: Callable[[Event], None] = field(default=lambda _event: None)
    agree: Callable[[InstallOffer], bool] = field(default=lambda _offer: True)
    dry: bool = False


def build(where: Where, request: Request, options: BuildOptions) -> Result[BuildResult]:
    """Build a profile, going on where the last run stopped."""
    workspace, gap = _enter(with_compiler(where, request), request, options, "build")
    if gap is None:
        workspace, request = keep_trees(workspace, request)
    purpose = BUILD if gap else purpose_of(workspace.profile, request)
    with naming_go_on(workspace):
        return run_purpose(workspace, request, options, purpose, gap)


@contextmanager
def naming_go_on(workspace: Workspace) -> Iterator[None]:
    """Name the command that goes on where the steps of a build are interrupted."""
    try:
        yield
    except InterruptedRunError as error:
        error.fix = Advice(error.fix, go_on(Root(workspace.root.resolve()), whole=False))
        raise


def _enter(
    where: Where, request: Request, options: BuildOptions, command: Literal["build", "install"]
) -> tuple[Workspace, AirGap | None]:
    if not options.bundle:
        return open_workspace(where), None
    from xpusetup.bundle.offline import enter  # noqa: PLC0415 - with a network there is no bundle

    def warn(text: str) -> None:
        options.observe(note(text))

    return enter(where, request, options.bundle, warn, lambda text: options.observe(progress(text)), command)


@dataclass(frozen=True, kw_only=True)
class ReadyRun:
    """A run that can begin: its plan is made, and nothing is written yet. `tuned` and `network` are its variables."""

    workspace: Workspace
    request: Request
    options: BuildOptions
    prepared: PreparedPlan
    gap: AirGap | None
    launcher: Launcher | None
    left_out: str
    tuned: dict[str, str]
    network: dict[str, str]


def run_purpose(
    workspace: Workspace, request: Request, options: BuildOptions, purpose: Purpose, gap: AirGap | None = None
) -> Result[BuildResult]:
    """Run the plan of a purpose, going on where its last run stopped; with a gap, from a bundle alone.

    Raises UntrustedError where files that are not the caller's alone would decide what runs.
    """
    return run_ready(make_ready(workspace, request, options, purpose, gap))


def make_ready(
    workspace: Workspace, request: Request, options: BuildOptions, purpose: Purpose, gap: AirGap | None = None
) -> ReadyRun:
    """Make ready what `run_purpose` runs. Raises as it does."""
    workspace.trust_files(request)
    observe = with_file(options.observe, options.events)
    workspace, request = _settle(workspace, request, purpose, observe)
    prepared = prepare(workspace, request, purpose)
    launcher, left_out = tuning.ready_launcher(prepared, options.launcher or "none")
    tuned = tuning.choose_tuning(workspace, prepared, options.jobs) if purpose.command == "build" else {}
    tuned |= tuning.cache_variables(prepared, launcher)
    network = gap.network if gap else make_network(workspace.settings.network, variables())
    if gap:
        gap.refuse_other_target(prepared.plan.target.python_version)
    return ReadyRun(
        workspace=workspace,
        request=request,
        options=replace(options, observe=observe, events=""),
        prepared=prepared,
        gap=gap,
        launcher=launcher,
        left_out=left_out,
        tuned=tuned,
        network=network,
    )


def run_ready(ready: ReadyRun) -> Result[BuildResult]:
    """Run what was made ready. Raises NotReadyError where a build is at work there already."""
    try:
        return _run_alone(ready)
    except BusyError as error:
        from xpusetup.commands.status import watch_command  # noqa: PLC0415 - nearly always nobody else is there

        watch = watch_command(ready.workspace.options, read_standing(ready.prepared.root))
        fix = Advice("watch it: ", watch, "\nor make another one beside it: --name NAME")
        raise NotReadyError(error.message, fix=fix, follows=watch) from error


def _run_alone(ready: ReadyRun) -> Result[BuildResult]:
    workspace, request, prepared, gap = ready.workspace, ready.request, ready.prepared, ready.gap
    purpose, tuned, launcher = prepared.purpose, ready.tuned, ready.launcher
    observe = with_forecast(ready.options.observe, prepared)
    observe(plan_event(workspace, prepared, tuned))
    told = read_document(prepared.root / TOLD)
    notes = [*prepared.notes, *filter(None, [ready.left_out]), *_worth_saying(workspace, prepared)]
    for text in notes:
        observe(replace(note(text), state="done" if text in told.get("notes", ()) else ""))
    open_root(prepared.root.path)
    with hold_lock(prepared.root / "lock", lambda text: observe(note(text))) as lock:
        clear_drafts(prepared.root)
        write_prepared(workspace, request, prepared, tuned=render_options(ready.options))
        damaged = forget_damaged(prepared.root, check=purpose is INSTALL)
        for text in (*damaged, *forget_replaced(prepared)):
            observe(note(f"{text}: it is installed again"))
        load = MemoryWatch(patience=workspace.settings.stall_seconds, keep=keep_samples(prepared.root))
        run = make_run(prepared, request, lock, {**tuned, **ready.network}, observe)
        before = gap.before if gap else run.before
        outcome = run_plan(replace(run, load=load, launcher=launcher, before=before))
        if request.until:
            forget_after(prepared.root, outcome.ran)
        if outcome.ran or read_manifest(prepared.root).get("steps") != read_keys(prepared.root):
            for text in record_end(workspace, prepared, outcome, request):
                observe(note(text))
    result = _make_result(workspace, prepared, outcome, request)
    reached = _reached_out(prepared, outcome, gap)
    return replace(result, data=_remember(prepared.root, replace(result.data, reached_out=reached), notes, told))


TOLD = "results/told.json"
"""What the last build that did not fail said beside what it did, so that the next one does not say it again."""


def _remember(root: Root, data: BuildResult, notes: list[str], told: dict[str, Any]) -> BuildResult:
    """Give a result that says whether the one before it led on in the same way, and keep how this one does."""
    if data.failed:
        return data
    wheels = [wheel.name for wheel in data.wheels]
    end = {"use": data.use, "elsewhere": asdict(data.elsewhere), "editable": data.editable, "wheels": wheels}
    files.write_text(root / TOLD, json.dumps({"notes": notes, "end": end}))
    return replace(data, repeated=told.get("end") == end)


def _settle(
    workspace: Workspace, request: Request, purpose: Purpose, observe: Callable[[Event], None]
) -> tuple[Workspace, Request]:
    """Give what is left open its place: revisions that move are pinned, what parts stand on is found."""
    if purpose.command == "build" and workspace.revs:
        from xpusetup.commands.profiles import ensure_locked  # noqa: PLC0415 - pinned profiles need no lock

        workspace = ensure_locked(
            workspace,
            lambda text: observe(note(text)),
            lambda text: observe(progress(text)),
            own=dict(request.sources),
        )
    return workspace, find_ready(workspace, request) if request.only else request


def _reached_out(prepared: PreparedPlan, outcome: RunOutcome, gap: AirGap | None) -> list[NetworkAttempt]:
    if not outcome.ran:
        return []
    from xpusetup.bundle.offline import describe_attempts  # noqa: PLC0415 - a build that is done has reached for nothing

    return describe_attempts(prepared.root, prepared.plan, outcome, gap.bundle if gap else None)


def render_options(options: BuildOptions) -> tuple[str, ...]:
    """Give the words that run a plan in the same way again."""
    jobs = ("--jobs", str(options.jobs)) if options.jobs else ()
    launcher = ("--launcher", options.launcher) if options.launcher not in {"", "auto"} else ()
    return (*jobs, *launcher)


def make_run(
    prepared: PreparedPlan, request: Request, lock: int, tuned: dict[str, str], observe: Callable[[Event], None]
) -> PlanRun:
    """Give what a run of the plan works with; `tuned` are variables that no key sees."""
    return PlanRun(
        root=prepared.root,
        plan=prepared.plan,
        scripts=prepared.scripts,
        identities=prepared.identities,
        lock=lock,
        tuning=tuned,
        observe=observe,
        require_device=request.verify == "require",
        watch=_watch,
        fewer=tuning.make_fewer(prepared.root),
    )


def _device(workspace: Workspace, prepared: PreparedPlan) -> str:
    if prepared.facts is None:
        return workspace.device.title
    from xpusetup.recommend.machine import (  # noqa: PLC0415
        choose_cards,
        find_cards,
        known,
    )

    cards = choose_cards(find_cards(prepared.facts, known()))
    ours = [card.product for card in cards if card.product.family.accelerator == workspace.profile.accelerator]
    aimed = [product for product in ours if product.family.target_in(prepared.plan.target.arch)]
    return " and ".join(dict.fromkeys(product.name or product.title() for product in aimed)) or workspace.device.title


def _watch(step: Step) -> Callable[[list[str]], str]:
    from xpusetup.commands.explain import watch_step  # noqa: PLC0415 - a build that is done runs no step

    return watch_step(step)


def plan_event(workspace: Workspace, prepared: PreparedPlan, tuned: dict[str, str]) -> Event:
    """Give the first event of a build: what is built, for which device, with what, and where."""
    target = prepared.plan.target
    jobs = f"{tuned['MAX_JOBS']} jobs" if "MAX_JOBS" in tuned else ""
    kit = target.toolkit.title if target.toolkit else ""
    arch = f" ({','.join(target.arch)})" if target.arch else ""
    device = f"{_device(workspace, prepared)}{arch}"
    why = f" ({workspace.chosen_by})" if workspace.chosen_by.startswith("the ") else ""
    words = (f"{workspace.profile.name}{why}", device, kit, jobs, short_path(str(prepared.root.path)))
    text = " · ".join(word for word in words if word)
    count = int(tuned.get("MAX_JOBS", "0"))
    return Event(kind="plan", time=now(), text=text, total=len(prepared.plan.steps), jobs=count)


def _worth_saying(workspace: Workspace, prepared: PreparedPlan) -> Iterator[str]:
    """Say once which members have no wheel, and which of the caller's variables could matter and reach no step.

    Also what happens to an environment that someone else made.
    """
    if prepared.purpose is INSTALL and (names := members_without_wheels(workspace.profile)):
        words = f"left out, for no wheel of them fits: {', '.join(names)}"
        yield f"{words}; from source: {about_build('build', workspace.options)}"
    seen = (prepared.facts.environment or {}) if prepared.facts else {}
    if names := [name for name in seen if name in WITHHELD]:
        yield f"not passed on, because steps start clean: {', '.join(names)} (--set COMPONENT.KEY=VALUE passes one on)"
    python = prepared.facts.python if prepared.facts else None
    if python is None or python.adopted is None:
        return
    version = prepared.plan.target.python_version
    changes = find_changes(prepared.purpose.pins(workspace.profile), python.adopted.installed, version)
    first = name_some(changes)
    yield f"into {short_path(python.adopted.prefix)}: {first or 'nothing there is replaced by another version'}"
    yield from python.adopted.notes


def note(text: str) -> Event:
    return Event(kind="note", time=now(), text=text)


def progress(text: str) -> Event:
    return Event(kind="progress", time=now(), text=text)


def _make_result(
    workspace: Workspace, prepared: PreparedPlan, outcome: RunOutcome, request: Request
) -> Result[BuildResult]:
    purpose = prepared.purpose
    told = describe_build(workspace, prepared, outcome, request)
    if outcome.failed:
        failure = describe_failed(workspace, prepared, outcome, request, go_on(prepared.root, whole=False))
        return Result(purpose.command, replace(told, failure=failure), code=1)
    if request.verify == "require" and outcome.no_device:
        done = "built" if purpose.command == "build" else "installed"
        message = f"{workspace.profile.name} is {done}, and there is no {workspace.device.title} here to verify it on"
        raise NoDeviceError(message, fix="verify it on a machine that has one: ", command=workspace.command("verify"))
    return Result(purpose.command, told)


# install: the published wheels of a profile's release instead of compiling, guarded and verified as a build is.


def install(where: Where, request: Request, options: BuildOptions) -> Result[InstallResult] | Result[InstallOffer]:
    """Install what was published, going on where the last run stopped, once all parts are found and that is agreed to.

    Raises UsageError where nothing was, and where a part is asked for that would be compiled.
    """
    workspace, gap = _enter(where, request, options, "install")
    if names := [name for name, how in workspace.takes.items() if how == "source"]:
        takes = (word for name, how in workspace.takes.items() for word in ("--take", f"{name}={how}"))
        line = workspace.command("build", *takes)
        raise UsageError(f"install compiles nothing, and {', '.join(names)} would be built from source", command=line)
    if workspace.profile.published is None and workspace.profile.installer is None:
        line = workspace.command("build")
        raise UsageError(f"{workspace.profile.name} names no published wheels", fix="build it instead: ", command=line)
    ready = make_ready(workspace, request, options, INSTALL, gap)
    if options.dry or any(status.state != "done" for status in ready.prepared.statuses()):
        from xpusetup.commands.offer import make_offer  # noqa: PLC0415 - an installation that is done offers nothing

        options.observe(progress("looking up sizes and versions"))
        offer = make_offer(workspace, ready.prepared, ready.network, _device(workspace, ready.prepared))
        if options.dry or not options.agree(offer):
            return Result("install", replace(offer, declined=not options.dry))
    with naming_go_on(workspace):
        result = run_ready(ready)
    told = {step: read_document(workspace.root / name) for step, name in INSTALLED.items()}
    gone = (each for step in told if step in result.data.ran for each in told[step].get("removed", []))
    last = next((told[step] for step in reversed(told) if told[step]), {})
    installed = InstallResult(
        **fields_of(result.data),
        removed=[RemovedPackage(each["name"], each["version"], each["why"]) for each in gone],
        orphans=last.get("orphans", []),
        tidy=last.get("tidy", ""),
    )
    return Result(result.command, installed, result.code)


INSTALLED = {INSTALL_STEP: "results/installed.json", MEMBERS_STEP: "results/members.json"}
"""Where the steps that install say what they did, in their order."""
