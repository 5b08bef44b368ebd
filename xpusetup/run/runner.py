"""Runs the steps of a plan here, network beside work (plan/lanes.py), a log for each; what is done is skipped.

A step writes its log itself and holds the root's lock, so that it goes on to its stamp even when this program is
killed; this program only decides what starts next, and follows the logs.
"""

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from xpusetup.base.errors import InterruptedRunError, NotReadyError
from xpusetup.base.model import Event, Plan, State, Step
from xpusetup.plan.lanes import lane_of, make_startable
from xpusetup.run.compiler_caches import Launcher, watch_cache
from xpusetup.run.journal import write_began, write_ended
from xpusetup.run.keys import NO_DEVICE as NO_DEVICE_HERE
from xpusetup.run.keys import current_key, make_statuses
from xpusetup.run.root import Root, read_state, write_absent
from xpusetup.run.step_process import (
    STANDS_STILL,
    MemoryWatch,
    Running,
    end_steps,
    end_trees,
    keep_log,
    start_step,
    wait_for_any,
)

NO_DEVICE = 4
JOBS = ("MAX_JOBS", "CMAKE_BUILD_PARALLEL_LEVEL")
"""How many compile at a time: read by setup.py and by CMake, handed on by steps that compile."""
NOTE = "note: "
"""What a helper's line begins with that people have to see, not only who reads the log."""
SILENCE = 60.0
"""Seconds of silence after which watchers are told that a step is still at work."""


@dataclass(kw_only=True)
class RunOutcome:
    """What a run did: the steps that ran, those that were done already, and how it ended.

    `took` holds the seconds of each step that ran, `reached` how far the failed one came, as ninja counts. `tried`:
    with how many jobs a step ran into the limits of the memory; `heaviest`: bytes of the failed one's largest process.
    `cached`: how many compiles of a step a compiler cache had, and how many not.
    """

    ran: list[str] = field(default_factory=list)
    skipped: list[str] = field(default_factory=list)
    failed: str = ""
    no_device: bool = False
    seconds: float = 0.0
    took: dict[str, float] = field(default_factory=dict)
    reached: tuple[int, int] = (0, 0)
    tried: dict[str, list[int]] = field(default_factory=dict)
    heaviest: int = 0
    cached: dict[str, tuple[int, int]] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class PlanRun:
    """What one run of a plan works with. `tuning` are variables that no key sees, such as MAX_JOBS.

    `watch` gives, for a step, what is told its lines and says why it should be stopped. `fewer` says with how many jobs
    a step that failed is tried again, 0 for not at all. `load` looks at the memory. `before` gives the words of a
    command that runs a step's script, such as one that takes the network away.
    """

    root: Root
    plan: Plan
    scripts: Mapping[str, str]
    identities: Mapping[str, str]
    lock: int
    tuning: Mapping[str, str]
    observe: Callable[[Event], None]
    require_device: bool = False
    watch: Callable[[Step], Callable[[list[str]], str]] = lambda _step: lambda _lines: ""
    fewer: Callable[[Running], int] = lambda _one: 0
    load: MemoryWatch = field(default_factory=MemoryWatch)
    launcher: Launcher | None = None
    before: Callable[[Step], tuple[str, ...]] = lambda _step: ()


@dataclass(kw_only=True)
class RunProgress:
    """Where a run stands: the steps that nothing has to wait for any more, those at work, and what came of the rest.

    `place`: the inode of the root when the run began.
    """

    place: int
    done: set[str] = field(default_factory=set)
    running: list[Running] = field(default_factory=list)
    outcome: RunOutcome = field(default_factory=RunOutcome)


def run_plan(run: PlanRun) -> RunOutcome:
    """Run what is not done until all is, or something fails. Raises InterruptedRunError on Ctrl-C."""
    work, began = RunProgress(place=run.root.path.stat().st_ino), time.monotonic()
    try:
        _advance(run, work)
        while work.running:
            wait_for_any(work.running)
            for one in run.load.look(work.running, time.monotonic()):
                one.mem_stalled = True
                _stop(run, one, STANDS_STILL)
            ended = [one for one in work.running if _has_ended(run, one)]
            _hold_root(run, work, work.running)
            for one in ended:
                work.running.remove(one)
            for one in ended:
                _finish(run, work, one)
            _hold_root(run, work, ended)  # again: it may have gone while their logs were read
            if ended and not work.outcome.failed:
                _advance(run, work)
    except KeyboardInterrupt as error:
        raise InterruptedRunError(f"interrupted{_during(work.running)}", fix="it goes on there with: ") from error
    except NotReadyError as error:
        _hold_root(run, work, work.running, error)
        raise
    finally:
        _end_all(run, work, "")  # something is at work here only when this run is given up
    place = {step.id: number for number, step in enumerate(run.plan.steps)}
    work.outcome.ran.sort(key=place.__getitem__)
    work.outcome.seconds = time.monotonic() - began
    return work.outcome


def _during(running: Sequence[Running]) -> str:
    names = " and ".join(one.step.id for one in running)
    return f" during {names}" if names else ""


def _hold_root(run: PlanRun, work: RunProgress, running: Sequence[Running], error: Exception | None = None) -> None:
    """End a run whose root is not there any more: what its steps and this program say of files of it tells nothing.

    A folder of the same name is another one: to write into what was moved away makes its folders anew.
    """
    path = run.root.path
    if not path.is_dir() or path.stat().st_ino != work.place:
        gone = f"{path} was removed or moved away{_during(running)}"
        raise NotReadyError(gone, fix="the same command begins anew there") from error


def _advance(run: PlanRun, work: RunProgress) -> None:
    """Settle what is done already, and start what may start now."""
    seen = read_state(run.root, run.plan, run.scripts, run.identities)
    statuses = {status.id: status for status in make_statuses(run.plan.steps, seen)}
    running = {one.step.id for one in work.running}
    for step in run.plan.steps:
        absent = statuses[step.id].why == NO_DEVICE_HERE
        settled = statuses[step.id].state == "done" and not (run.require_device and absent)
        if settled and step.id not in work.done | running and set(step.after) <= work.done:
            work.done.add(step.id)
            work.outcome.skipped.append(step.id)
            work.outcome.no_device |= absent
            _observe(run, "end", step, state="no-device" if absent else "done")
    for step in make_startable(run.plan.steps, done=work.done, running=running):
        _observe(run, "start", step, text=statuses[step.id].why)
        key = current_key(step, seen)
        work.running.append(_begin(run, step, key, run.tuning))


def _begin(run: PlanRun, step: Step, key: str, tuning: Mapping[str, str]) -> Running:
    cache = (
        watch_cache(run.launcher, run.root.log(f"{step.id}.cache"))
        if run.launcher and "compiler" in step.needs
        else None
    )
    tuned = {**tuning, **(cache.variables if cache else {})}
    _journal(run, step, lambda: write_began(run.root, step, key))
    one = start_step(run.root, step, key, lock=run.lock, tuning=tuned, before=run.before(step))
    one.watch, one.cache = run.watch(step), cache
    return one


def _has_ended(run: PlanRun, one: Running) -> bool:
    ended = one.poll() is not None
    lines = one.read_lines()  # after the question, so that the last lines are among them
    if lines:
        for note in [line.removeprefix(NOTE) for line in lines if line.startswith(NOTE)]:
            _observe(run, "note", one.step, text=f"{one.step.id}: {note}")
        for command in [line for line in lines[:-1] if line.startswith("+ ")]:
            _observe(run, "output", one.step, text=command)
        last = next((line for line in reversed(lines) if line.strip()), "")
        _observe(run, "output", one.step, text=last, count=one.count, total=one.total)
        if not ended and (why := one.watch(lines)):
            _stop(run, one, why)
            ended = True
    elif one.silent_for(SILENCE):
        _observe(run, "output", one.step, count=one.count, total=one.total)
    return ended


def _stop(run: PlanRun, one: Running, why: str) -> None:
    """End a step whose log says that going on is a waste; it counts as failed, whatever its exit status."""
    _observe(run, "note", one.step, text=f"{one.step.id} is stopped: {why}")
    one.stopped = why
    end_trees([one.process.pid])
    one.process.wait()


def _finish(run: PlanRun, work: RunProgress, one: Running) -> None:
    one.close()
    step, seconds, code = one.step, one.seconds, one.process.returncode
    absent = code == NO_DEVICE and "device" in step.needs
    state: State = "failed" if one.stopped or (code and not absent) else "no-device" if absent else "ran"
    if state == "failed" and (jobs := run.fewer(one)):
        _try_again(run, work, one, jobs)
        return
    if state == "no-device":
        write_absent(run.root, step.id, one.key)
        work.outcome.no_device = True
    work.outcome.ran.append(step.id)
    work.outcome.took[step.id] = round(seconds + work.outcome.took.get(step.id, 0), 3)
    text = " · ".join(word for word in (one.summary, _cached(run, work, one)) if word)
    _observe(run, "end", step, state=state, seconds=seconds, text=text, count=one.count, total=one.total)
    _journal(run, step, lambda: write_ended(run.root, one, state))
    if state == "failed":
        # a compile goes on to its end, so that nothing of it is lost; a download ends, and resumes
        if not work.outcome.failed:
            work.outcome.failed, work.outcome.reached = one.step.id, (one.count, one.total)
            work.outcome.heaviest = one.max_rss
        if lane_of(one.step) == "work":
            _end_all(run, work, f"{one.step.id} failed")
        for other in work.running:
            _observe(run, "note", one.step, text=f"{other.step.id} goes on to its end, so that nothing of it is lost")
    else:
        work.done.add(step.id)


def _cached(run: PlanRun, work: RunProgress, one: Running) -> str:
    """Say what the compiler cache had, and keep it for the result."""
    counts = one.cache.counts() if one.cache else None
    if counts is None or run.launcher is None or not counts.hits + counts.misses:
        return ""
    work.outcome.cached[one.step.id] = (counts.hits, counts.misses)
    return f"{run.launcher.name} had {counts}" if counts.hits else ""  # nobody may have asked for one


def _try_again(run: PlanRun, work: RunProgress, one: Running, jobs: int) -> None:
    """Start a step anew where the memory was too small for its jobs: what was compiled stays, so it goes on there."""
    step, were = one.step, f"{one.jobs}-jobs"
    said = f"it goes on with {jobs}, and what it said lies in {step.id}.log.{were}"
    _observe(run, "note", step, text=f"{step.id}: too little memory for {one.jobs} jobs; {said}")
    _journal(run, step, lambda: write_ended(run.root, one, "short"))
    work.outcome.took[step.id] = work.outcome.took.get(step.id, 0) + one.seconds
    work.outcome.tried.setdefault(step.id, []).append(one.jobs)
    keep_log(run.root.log(step.id), were)
    tuning = {name: str(jobs) if name in JOBS else value for name, value in run.tuning.items()}
    work.running.append(_begin(run, step, one.key, tuning))


def _end_all(run: PlanRun, work: RunProgress, why: str) -> None:
    ended, work.running = work.running, []
    if ended:
        end_steps(ended)
    for one in ended:
        _observe(run, "end", one.step, state="interrupted", seconds=one.seconds, text=why)


def _observe(run: PlanRun, kind: str, step: Step, **values: object) -> None:
    run.observe(Event(kind=kind, time=time.time(), step=step.id, title=step.title, **values))  # type: ignore[arg-type]


def _journal(run: PlanRun, step: Step, write: Callable[[], None]) -> None:
    try:
        write()
    except NotReadyError as error:  # it is only history: that must not hide how the step ended
        _observe(run, "note", step, text=error.message)
