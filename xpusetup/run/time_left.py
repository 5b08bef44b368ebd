"""The time that a build takes and still takes: from earlier runs, the pace of now, and how far a step is."""

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from xpusetup.base.model import Event, JournalLine, Step, parse_journal_line
from xpusetup.machine.jobs import StepLoad
from xpusetup.plan.lanes import lane_of, make_startable


@dataclass
class Passes:
    """How far a step has counted. A setup.py that builds several extensions counts once for each of them."""

    totals: list[int] = field(default_factory=list)
    count: int = 0

    def note(self, count: int, total: int) -> None:
        """Take in a count: a new pass begins after the last one came to its end."""
        if not self.totals or (self.count >= self.totals[-1] and (count, total) != (self.count, self.totals[-1])):
            self.totals.append(total)
        self.totals[-1] = total
        self.count = count

    @property
    def done(self) -> int:
        """The commands that have run, over all passes."""
        return sum(self.totals[:-1]) + self.count

    @property
    def total(self) -> int:
        """The commands of all passes so far; 0 where the last pass did not come to its end."""
        return sum(self.totals) if self.totals and self.count >= self.totals[-1] else 0


# What a build will cost, from what earlier ones of the same profile took; None where nothing is known.


WELL = {"ran", "no-device"}


class History(NamedTuple):
    """What a root tells of its builds: last seconds and greatest load of each step, the bytes on disk at the end.

    `edges`: the most commands that ninja ran in each step.
    """

    seconds: Mapping[str, float]
    disk: int | None = None
    loads: Mapping[str, StepLoad] = {}
    edges: Mapping[str, int] = {}


@dataclass(frozen=True, kw_only=True)
class ExpectedCost:
    """What a whole build takes at least and at most, where it was never measured here: seconds, and bytes on disk.

    `confidence` says whether that was measured elsewhere (confirmed) or is a guess.
    """

    seconds: tuple[float, float] | None
    disk: tuple[int, int]
    whole: bool
    source: str
    confidence: str


@dataclass(frozen=True, kw_only=True)
class Estimate:
    """What earlier builds here took: seconds, bytes on disk and of memory; `unknown`: steps never run.

    `bytes` is 0 where no step needs the network, else None: what pip and git transfer is nowhere counted. `as_wheel`:
    what will be installed editable, and was measured as a wheel. `expected` is what the profile says of a whole build.
    """

    seconds: float | None
    bytes: int | None
    disk: int | None
    memory: int | None
    jobs: int | None
    unknown: tuple[str, ...]
    as_wheel: tuple[str, ...] = ()
    expected: ExpectedCost | None = None


def parse_journal(text: str, steps: Sequence[Step] = (), *, whole: bool = False) -> History:
    """Read what each step took when it last went well; lines that can't be read count for nothing.

    Of `steps` only what was done in the same way counts, with the same needs: one that installs a wheel may compile
    when it is editable. `whole`: a run that compiled less than another one says nothing.
    """
    needs = {step.id: step.needs for step in steps}
    records = [record for line in text.splitlines() if (record := parse_journal_line(line))]
    records = [one for one in records if one.needs is None or needs.get(one.step, one.needs) == one.needs]
    loads: dict[str, StepLoad] = {}
    edges: dict[str, int] = {}
    for one in (each for each in records if each.state in WELL):
        load = StepLoad(jobs=one.load[0], growth=one.load[1], heaviest=one.load[2]) if one.load else None
        # one that went on near its end took less than it needs
        if load and load.bytes_per_job >= (loads[one.step].bytes_per_job if one.step in loads else 0):
            loads[one.step] = load
        if one.edges > edges.get(one.step, 0):
            edges[one.step] = one.edges
    return History(seconds=_add_attempts(records, edges if whole else {}), loads=loads, edges=edges)


def _add_attempts(records: Sequence[JournalLine], least: Mapping[str, int]) -> dict[str, float]:
    """Give the seconds of each step, with those of the attempts at the same before it that left ninja less to do.

    `least`: the commands of ninja below which a step was done in part.
    """
    seconds: dict[str, float] = {}
    before: dict[tuple[str, str], tuple[float, int]] = {}
    for one in records:
        spent, edges = before.pop((one.step, one.key), (0.0, 0))
        took = one.seconds + (spent if one.edges < edges else 0.0)
        if one.state in WELL:
            if max(one.edges, edges) >= least.get(one.step, 0):
                seconds[one.step] = round(took, 3)
        elif one.edges or edges:  # without edges of its own it ended before ninja began
            before[one.step, one.key] = (took, one.edges or edges)
    return seconds


def merge_histories(histories: Sequence[History]) -> History:
    """Take each value from the first history that has it."""
    return History(
        seconds={step: value for one in reversed(histories) for step, value in one.seconds.items()},
        disk=next((one.disk for one in histories if one.disk is not None), None),
        loads={step: load for one in reversed(histories) for step, load in one.loads.items()},
        edges={step: edges for one in reversed(histories) for step, edges in one.edges.items()},
    )


def make_estimate(
    steps: Sequence[Step], todo: Collection[str], history: History, *, jobs: int, memory_per_job: float
) -> Estimate:
    """Estimate what is still to do of a plan; `jobs` 0 means not known, `memory_per_job` is in bytes."""
    near = {step.id: f"{step.component}.build" for step in steps if step.id in todo and "compiler" in step.needs}
    near = {step: build for step, build in near.items() if step not in history.seconds and build in history.seconds}
    seconds = {**history.seconds, **{step: history.seconds[build] for step, build in near.items()}}
    unknown = tuple(step.id for step in steps if step.id in todo and step.id not in seconds)
    fetches = any(lane_of(step) == "network" for step in steps if step.id in todo)
    return Estimate(
        seconds=None if unknown else round(simulate(steps, todo, seconds), 1),
        bytes=None if fetches else 0,
        disk=history.disk,
        memory=int(jobs * memory_per_job) if jobs else None,
        jobs=jobs or None,
        unknown=unknown,
        as_wheel=tuple(build.removesuffix(".build") for build in near.values()),
    )


def simulate(steps: Sequence[Step], todo: Collection[str], seconds: Mapping[str, float]) -> float:
    """Give how long the steps take in their two lanes, each as long as it took before."""
    done = {step.id for step in steps if step.id not in todo}
    ends: dict[str, float] = {}
    time = 0.0
    while True:
        for step in make_startable(steps, done=done, running=ends):
            ends[step.id] = time + seconds[step.id]
        if not ends:
            return time
        time = min(ends.values())
        done |= {step for step, end in ends.items() if end <= time}
        ends = {step: end for step, end in ends.items() if step not in done}


# How far a step has come: the time that is left by its own pace, and what it is at, in words.


FIRST_SECONDS = 20.0
FIRST_COUNT = 10
FIRST_SHARE = 0.15
"""Share of the commands before which the pace says nothing: the first files of a project are smaller than the rest."""
COUNTED = re.compile(r"^ *\[\d+/\d+\] ?")
OBJECT = re.compile(r" -o (\S+)")
OTHER_WORK = 1.2
"""A step with so many times the commands of any earlier run does other work, of which those runs say nothing."""
MINUTE = 60
HOUR = 3600
LONG_NAME = 40


class Pace:
    """The even pace of a step that counts to a total."""

    def __init__(self) -> None:
        self._began = 0.0
        self._first = self._count = self._total = 0

    def note(self, time: float, count: int, total: int) -> None:
        """Take in how far the step is; another total, or a smaller count, is another piece of work."""
        if total != self._total or count < self._count:
            self._began, self._first, self._total = time, count, total
        self._count = count

    def left(self, time: float) -> float | None:
        """Give the seconds that are left; None while too little is known."""
        spent, made = time - self._began, self._count - self._first
        if spent < FIRST_SECONDS or made < max(FIRST_COUNT, FIRST_SHARE * self._total):
            return None
        return spent / made * (self._total - self._count)


def blend(earlier: float, elapsed: float, share: float) -> float:
    """Give the seconds that are left by an earlier run and by the pace of now, which counts as far as the step is.

    `earlier`: the seconds of that run; `share`: how much is done, from 0 to 1.
    """
    by_pace = elapsed / share * (1 - share) if share else 0.0
    return share * by_pace + (1 - share) * max(0.0, earlier - elapsed)


def render_left(seconds: float) -> str:
    return "under a minute left" if seconds < MINUTE else f"{render_about(seconds)} left"


def render_about(seconds: float) -> str:
    """Say a time that is not known exactly: about 40 s, about 41 min, about 2 h 40 min."""
    if seconds < MINUTE:
        return f"about {max(10, round(seconds, -1)):.0f} s"
    if seconds < HOUR:
        return f"about {round(seconds / MINUTE)} min"
    hours, minutes = divmod(round(seconds / MINUTE, -1), MINUTE)
    return f"about {hours:.0f} h {minutes:.0f} min" if minutes else f"about {hours:.0f} h"


def describe_line(line: str) -> str:
    """Say what a line of a log is about, without ninja's count and without the folders of what it names.

    Empty for what is shown elsewhere: a step's summary, and its notes.
    """
    if line.startswith(("= ", "note: ")):
        return ""
    text = COUNTED.sub("", line.rstrip("\r").rpartition("\r")[2]).strip()
    made = OBJECT.search(text)
    if made and len(text) > LONG_NAME:
        return f"{'Compiling' if ' -c ' in text else 'Linking'} {_last_part(made[1])}"
    return " ".join(_last_part(word) for word in text.split())


def _last_part(word: str) -> str:
    """Give the last part of a path; what is no path, as an address or a share, stays as it is."""
    is_path = "://" not in word and (word.startswith(("/", "./")) or word.count("/") > 1)
    return word.rstrip("/").rpartition("/")[2] or word if is_path else word


# The time that a build still takes: what is at work by its pace, what is to come by what it took before.


EVERY = 1.0
"""Seconds for which an answer holds: a compile says several lines a second."""


@dataclass
class _AtWork:
    began: float
    passes: Passes = field(default_factory=Passes)
    pace: Pace = field(default_factory=Pace)


class Forecast:
    """Adds to the events of a build what is left of their step and of all. It is silent while too little is known."""

    def __init__(self, steps: Sequence[Step], history: History) -> None:
        self._steps, self._history = steps, history
        self._todo = {step.id for step in steps}
        self._running: dict[str, _AtWork] = {}
        self._told = 0.0
        self._answer: float | None = None

    def tell(self, event: Event) -> Event:
        """Take in an event, and give it with the seconds that are left."""
        if event.kind == "start":
            self._running[event.step] = _AtWork(event.time)
        elif event.kind == "output" and event.total and event.step in self._running:
            one = self._running[event.step]
            one.passes.note(event.count, event.total)
            one.pace.note(event.time, event.count, event.total)
        elif event.kind == "end":
            self._running.pop(event.step, None)
            self._todo.discard(event.step)
        if event.kind not in {"start", "output", "end"} or not self._running:
            return event
        if event.kind != "output" or event.time - self._told >= EVERY:
            self._told, self._answer = event.time, self._left_of_all(event.time)
        here = self._left(event.step, event.time) if event.step in self._running else None
        return replace(event, left=round(here or 0.0, 1), left_of_all=round(self._answer or 0.0, 1))

    def _left(self, step: str, time: float) -> float | None:
        """Give the seconds that are left of a step at work; None while they are not known."""
        one, elapsed, seconds = self._running[step], time - self._running[step].began, self._history.seconds.get(step)
        if seconds is None:
            return one.pace.left(time) if one.passes.totals else None
        if not (counted := sum(one.passes.totals)):
            return max(0.0, seconds - elapsed)
        rest = counted / (self._history.edges.get(step) or counted)  # a build that goes on has less to do
        if rest > OTHER_WORK:
            return one.pace.left(time)
        return blend(seconds * min(1.0, rest), elapsed, one.passes.done / counted)

    def _left_of_all(self, time: float) -> float | None:
        here = {step: self._left(step, time) for step in self._running}
        seconds = {**self._history.seconds, **{step: left for step, left in here.items() if left is not None}}
        unknown = [step for step, left in here.items() if left is None]
        if unknown or not self._todo <= seconds.keys():
            return None
        return simulate(self._steps, self._todo, seconds)
