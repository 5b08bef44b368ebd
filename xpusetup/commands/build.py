"""build: the main job, from a profile to verified wheels."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from xpusetup.commands.ending import (
    describe_elsewhere,
    describe_end,
    describe_full,
    describe_going_on,
    describe_target,
    describe_time,
    describe_tried,
    record_end,
)
from xpusetup.commands.observing import with_file, with_forecast
from xpusetup.commands.prepare import Prepared, forget_damaged, forget_replaced, prepare, write_prepared
from xpusetup.commands.purpose import BUILD, INSTALL, Purpose, purpose_of_build
from xpusetup.commands.reaching import describe_attempts
from xpusetup.commands.ready import find_ready
from xpusetup.commands.result import Result
from xpusetup.commands.tuning import (
    cache_variables,
    choose_tuning,
    find_launcher,
    make_fewer,
    ready_launcher,
    write_engine,
)
from xpusetup.commands.unverified import describe_unverified
from xpusetup.commands.workspace import Workspace, open_workspace
from xpusetup.effects.clock import now
from xpusetup.effects.environment import short_path, variables
from xpusetup.effects.load import Watch
from xpusetup.effects.lock import hold_lock
from xpusetup.effects.manifest import list_wheels, read_keys, read_manifest
from xpusetup.effects.root import clear_drafts, open_root
from xpusetup.effects.runner import Outcome, Run, run_plan
from xpusetup.effects.samples import keep_samples
from xpusetup.errors import NoDeviceError
from xpusetup.events import Event
from xpusetup.model import ROOT
from xpusetup.plan.environment import find_changes
from xpusetup.settings import make_network

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from xpusetup.commands.airgap import AirGap
    from xpusetup.commands.places import Where
    from xpusetup.model import Request, Step

SHOWN_CHANGES = 4
WITHHELD = {
    *("CC", "CXX", "CFLAGS", "CXXFLAGS", "CPPFLAGS", "LDFLAGS", "LD_LIBRARY_PATH", "LD_PRELOAD", "LIBRARY_PATH"),
    *("CPATH", "PYTHONPATH", "PYTHONHOME", "CMAKE_PREFIX_PATH", "CMAKE_ARGS", "USE_XPU", "USE_CUDA"),
    "TORCH_XPU_ARCH_LIST",
}
"""Variables that change builds and stay outside of them."""


@dataclass(frozen=True, kw_only=True)
class BuildOptions:
    """How to run a plan. `jobs` 0: as many as processors and memory allow; `launcher`: a compiler cache, or auto.

    `bundle` is the file that stands for the network.
    """

    jobs: int = 0
    launcher: str = "none"
    bundle: str = ""
    events: str = ""
    observe: Callable[[Event], None] = field(default=lambda _event: None)


def build(where: Where, request: Request, options: BuildOptions) -> Result:
    """Build a profile, going on where the last run stopped."""
    if options.bundle:
        from xpusetup.commands.airgap import enter  # noqa: PLC0415 - a build with the network needs no bundle

        workspace, gap = enter(where, request, options.bundle, lambda text: options.observe(_note(text)))
        return run_purpose(workspace, request, options, BUILD, gap)
    workspace = open_workspace(where)
    return run_purpose(workspace, request, options, purpose_of_build(workspace.profile))


def run_purpose(
    workspace: Workspace, request: Request, options: BuildOptions, purpose: Purpose, gap: AirGap | None = None
) -> Result:
    """Run the plan of a purpose, going on where its last run stopped; with a gap, from a bundle alone."""
    observe = with_file(options.observe, options.events)
    if purpose is BUILD and workspace.revs:
        from xpusetup.commands.locking import ensure_locked  # noqa: PLC0415 - pinned profiles need no lock

        workspace = ensure_locked(workspace, lambda text: observe(_note(text)))
    if request.only:
        request = find_ready(workspace, request)
    prepared = prepare(workspace, request, purpose)
    launcher, engine = ready_launcher(prepared, find_launcher(options.launcher))
    tuned = choose_tuning(workspace, prepared, options.jobs) if purpose is BUILD else {}
    tuned |= cache_variables(prepared, launcher)
    network = gap.network if gap else make_network(workspace.settings.network, variables())
    if gap:
        gap.refuse_other_target(prepared.plan.target.python_version)
    observe = with_forecast(observe, prepared)
    observe(_plan_event(workspace, prepared, tuned))
    for text in (*prepared.notes, *filter(None, [engine]), *_left_out(prepared), *_adopted(workspace, prepared)):
        observe(_note(text))
    open_root(prepared.root.path)
    with hold_lock(prepared.root / "lock", lambda text: observe(_note(text))) as lock:
        clear_drafts(prepared.root)
        write_prepared(workspace, request, prepared)
        write_engine(prepared, launcher)
        damaged = forget_damaged(prepared.root) if purpose is INSTALL else []
        for text in (*damaged, *forget_replaced(prepared)):
            observe(_note(f"{text}: it is installed again"))
        load = Watch(patience=workspace.settings.stall_seconds, keep=keep_samples(prepared.root))
        run = _run(prepared, request, lock, {**tuned, **network}, observe)
        before = gap.before if gap else run.before
        outcome = run_plan(replace(run, load=load, launcher=launcher, before=before))
        if outcome.ran or read_manifest(prepared.root).get("steps") != read_keys(prepared.root):
            for text in record_end(workspace, prepared, outcome, request):
                observe(_note(text))
    reached = describe_attempts(prepared.root, prepared.plan, outcome, gap.bundle if gap else None)
    result = _make_result(workspace, prepared, outcome, request, options)
    return replace(result, data={**result.data, "reached_out": reached})


def render_options(options: BuildOptions) -> tuple[str, ...]:
    """Give the words that run a plan in the same way again."""
    jobs = ("--jobs", str(options.jobs)) if options.jobs else ()
    launcher = ("--launcher", options.launcher) if options.launcher not in {"auto", "none"} else ()
    return (*jobs, *launcher, *(("--bundle", options.bundle) if options.bundle else ()))


def _run(
    prepared: Prepared, request: Request, lock: int, tuned: dict[str, str], observe: Callable[[Event], None]
) -> Run:
    return Run(
        root=prepared.root,
        plan=prepared.plan,
        scripts=prepared.scripts,
        identities=prepared.identities,
        lock=lock,
        tuning=tuned,
        observe=observe,
        require_device=request.verify == "require",
        watch=_watch,
        fewer=make_fewer(prepared.root),
    )


def _device(workspace: Workspace, prepared: Prepared) -> str:
    """Name the GPUs that are here and that the build is aimed at."""
    from xpusetup.commands.knowledge import known  # noqa: PLC0415 - a build that is done names no GPU
    from xpusetup.way.machine import choose_cards, find_cards  # noqa: PLC0415

    facts = prepared.facts
    cards = choose_cards(find_cards(facts, known())) if facts else ()
    ours = [card.product for card in cards if card.product.family.accelerator == workspace.profile.accelerator]
    aimed = [product for product in ours if product.family.target_in(prepared.plan.target.arch)]
    return " and ".join(dict.fromkeys(product.name or product.title() for product in aimed)) or workspace.device.title


def _watch(step: Step) -> Callable[[list[str]], str]:
    from xpusetup.commands.explain import watch_step  # noqa: PLC0415 - a build that is done runs no step

    return watch_step(step)


def _plan_event(workspace: Workspace, prepared: Prepared, tuned: dict[str, str]) -> Event:
    target = prepared.plan.target
    jobs = f"{tuned['MAX_JOBS']} jobs" if "MAX_JOBS" in tuned else ""
    kit = f"oneAPI {target.toolkit.version}" if target.toolkit else ""
    arch = f" ({','.join(target.arch)})" if target.arch else ""
    device = f"{_device(workspace, prepared)}{arch}"
    why = f" ({workspace.chosen_by})" if workspace.chosen_by.startswith("the ") else ""
    words = (f"{workspace.profile.name}{why}", device, kit, jobs, short_path(str(prepared.root.path)))
    text = " · ".join(word for word in words if word)
    count = int(tuned.get("MAX_JOBS", "0"))
    return Event(kind="plan", time=now(), text=text, total=len(prepared.plan.steps), jobs=count)


def _left_out(prepared: Prepared) -> Iterator[str]:
    """Say once which of the caller's variables could matter and do not reach the steps."""
    seen = (prepared.facts.environment or {}) if prepared.facts else {}
    if names := [name for name in seen if name in WITHHELD]:
        yield f"not passed on, because steps start clean: {', '.join(names)} (--set COMPONENT.KEY=VALUE passes one on)"


def _adopted(workspace: Workspace, prepared: Prepared) -> Iterator[str]:
    """Say once what happens to an environment that someone else made."""
    python = prepared.facts.python if prepared.facts else None
    if python is None or python.adopted is None:
        return
    version = prepared.plan.target.python_version
    changes = find_changes(prepared.purpose.pins(workspace.profile), python.adopted.installed, version)
    first = ", ".join(changes[:SHOWN_CHANGES]) + (
        f" and {more} more" if (more := len(changes) - SHOWN_CHANGES) > 0 else ""
    )
    yield f"into {python.adopted.prefix}, which is changed in place: {first or 'no version of what is there'}"
    yield from python.adopted.notes


def _note(text: str) -> Event:
    return Event(kind="note", time=now(), text=text)


def _make_result(
    workspace: Workspace, prepared: Prepared, outcome: Outcome, request: Request, options: BuildOptions
) -> Result:
    purpose = prepared.purpose
    tuned = render_options(options)
    data: dict[str, Any] = {
        "profile": workspace.profile.name,
        "root": str(prepared.root.path),
        "ran": outcome.ran,
        "skipped": outcome.skipped,
        "failed": outcome.failed or None,
        "wheels": [asdict(wheel) for wheel in list_wheels(prepared.root, workspace.profile, purpose.command)],
        "editable": {name: folder for name, folder in request.sources if name in request.editable},
        "target": describe_target(prepared, request),
        **describe_end(workspace, prepared, request, tuned),
        "use": _use(workspace, prepared),
        "elsewhere": describe_elsewhere(prepared),
        "unverified": describe_unverified(workspace.profile, prepared.root, prepared.plan),
        **describe_time(outcome),
        "report": f"xpusetup report {workspace.options} --open",
        "cached": outcome.cached,
        "remote": outcome.remote,
        "sent": outcome.sent,
    }
    if outcome.failed:
        from xpusetup.commands.explain import describe_failure  # noqa: PLC0415 - failures only

        going_on = describe_going_on(workspace, request, outcome, tuned=tuned, command=purpose.command)
        told = describe_failure(prepared.root, outcome.failed, going_on)
        data["failure"] = {**told, **describe_tried(outcome), "full": describe_full(workspace, prepared, told)}
        return Result(purpose.command, data, code=1)
    if request.verify == "require" and outcome.no_device:
        done = "built" if purpose is BUILD else "installed"
        raise NoDeviceError(
            f"{workspace.profile.name} is {done}, and there is no {workspace.device.title} here to verify it on",
            fix=f"verify it on a machine that has one: xpusetup verify {workspace.options}",
        )
    return Result(purpose.command, data)


def _use(workspace: Workspace, prepared: Prepared) -> str:
    """Give the command after which torch can be used: where the toolkit brings its runtime, that is switched on too."""
    kit = prepared.plan.target.toolkit
    if kit is not None and kit.at_run_time:
        return f'eval "$(xpusetup env {workspace.options})"'
    return use_environment(Path(prepared.plan.layout.venv.replace(ROOT, str(prepared.root.path))))


def use_environment(venv: Path) -> str:
    """Give the command after which an environment is in use; conda's have no script for that, others may have none."""
    if (venv / "bin/activate").exists():
        return f"source {venv}/bin/activate"
    return f"conda activate {venv}" if (venv / "conda-meta").is_dir() else f"{venv}/bin/python"
