"""The time that a build takes and still takes: from earlier runs, the pace of now, and how far a step is."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field, replace
from itertools import pairwise
from math import isfinite
from typing import TYPE_CHECKING, NamedTuple

from xpusetup.machine.jobs import StepLoad
from xpusetup.plan.lanes import lane_of, make_startable

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from xpusetup.base.model import Event, Step


# How a counted step went the last time, and what that says of the time it still takes now.
#
# A compile is not even: small objects come first, a few large ones and the linking last. So the pace of now is
# laid over the course of an earlier run: at the same count, the same share of the time is gone.


PARTS = 100
TRUSTED = 0.2
"""The share of the time after which the pace of now is all that counts; before it the earlier seconds count as well."""


@dataclass
class Passes:
    """How far a step is that counts once or several times, as a setup.py does with an extension after the other."""

    totals: list[int] = field(default_factory=list)
    count: int = 0

    def note(self, count: int, total: int) -> bool:
        """Take in a count; say whether one that did not come to its end begins again."""
        again = False
        if not self.totals or (self.count >= self.totals[-1] and (count, total) != (self.count, self.totals[-1])):
            self.totals.append(total)
        else:
            again = count < self.count
            self.totals[-1] = total
        self.count = count
        return again

    @property
    def before(self) -> int:
        """What the passes before this one counted to."""
        return sum(self.totals[:-1])

    @property
    def done(self) -> int:
        """How much is done, over all passes."""
        return self.before + self.count


class Curve(NamedTuple):
    """A step that counted to `total` and took `seconds`; `marks`: when each hundredth of the count was done.

    `passes`: what it counted to each time, where it was more than once.
    """

    total: int
    marks: tuple[float, ...]
    seconds: float
    passes: tuple[int, ...] = ()

    def expect(self, seen: Sequence[int]) -> int:
        """Give what a run will have counted to that has begun these passes: those that came after them come again."""
        return sum(seen) + sum(self.passes[len(seen) :])

    def share(self, count: float) -> float:
        """Give the share of the time that was gone when so much was done. What follows the count has a share too."""
        at = min(max(count / self.total, 0.0), 1.0) * PARTS
        whole = min(int(at), PARTS - 1)
        time = self.marks[whole] + (self.marks[whole + 1] - self.marks[whole]) * (at - whole)
        return min(time / self.seconds, 1.0)

    def left(self, elapsed: float, count: int, total: int) -> float:
        """Give the seconds that are left of a run which has come to `count` of `total` in so many seconds.

        A smaller total goes on where an earlier run ended.
        """
        done = max(0, self.total - total) if total else 0
        start = self.share(done) if done else 0.0
        gone = (self.share(done + count * (self.total - done) / total) if total and count else start) - start
        earlier = self.seconds * (1 - start)
        weight = min(1.0, gone / TRUSTED)
        whole = earlier if not gone else weight * (elapsed / gone) * (1 - start) + (1 - weight) * earlier
        return max(0.0, whole - elapsed)


class Course:
    """Takes in how a step counts, for the next time."""

    def __init__(self) -> None:
        self._passes = Passes()
        self._times: list[tuple[float, int]] = []

    def note(self, elapsed: float, count: int, total: int) -> None:
        """Take in how far the step was after so many seconds."""
        if self._passes.note(count, total):
            self._times = [each for each in self._times if each[1] <= self._passes.before]
        if not self._times or self._passes.done > self._times[-1][1]:
            self._times.append((elapsed, self._passes.done))

    @property
    def total(self) -> int:
        """What it counted to; 0 where it did not come to the end of that."""
        totals = self._passes.totals
        return sum(totals) if totals and self._passes.count >= totals[-1] else 0

    @property
    def passes(self) -> tuple[int, ...]:
        """What it counted to each time; empty where it was only once."""
        return tuple(self._passes.totals) if self.total and len(self._passes.totals) > 1 else ()

    @property
    def marks(self) -> tuple[float, ...]:
        """When each hundredth was done, in seconds since the step began; empty where it did not come to its end."""
        if not self.total:
            return ()
        return tuple(round(_time_at(self._times, self.total * part / PARTS), 1) for part in range(PARTS + 1))


def _time_at(times: Sequence[tuple[float, int]], count: float) -> float:
    if count <= times[0][1]:
        return times[0][0]
    for (before, low), (after, high) in pairwise(times):
        if count <= high:
            return before + (after - before) * (count - low) / (high - low)
    return times[-1][0]


def parse_curve(total: object, marks: object, seconds: object, passes: object = None) -> Curve | None:
    """Read a curve from a record; None where it holds none that can be used."""
    if not (isinstance(total, int) and isinstance(marks, list) and isinstance(seconds, (int, float))):
        return None
    times = [float(mark) for mark in marks if isinstance(mark, (int, float))]
    whole = total > 0 and len(times) == PARTS + 1 and times[-1] > 0 and times == sorted(times)
    several = tuple(each for each in passes if isinstance(each, int)) if isinstance(passes, list) else ()
    known = several if sum(several) == total else ()
    return Curve(total, tuple(times), max(float(seconds), times[-1]), known) if whole else None


# What a build will cost, from what earlier ones of the same profile took; None where nothing is known.


WELL = {"ran", "no-device"}


class History(NamedTuple):
    """What a root tells of its builds: last seconds and greatest load of each step, the bytes on disk at the end.

    `curves`: how the steps that compile counted when they had the most to do.
    """

    seconds: Mapping[str, float]
    disk: int | None = None
    loads: Mapping[str, StepLoad] = {}
    curves: Mapping[str, Curve] = {}


@dataclass(frozen=True, kw_only=True)
class ExpectedCost:
    """What a whole build takes at least and at most, where it was never measured here: seconds, and bytes on disk.

    `confidence` says whether that was measured elsewhere (confirmed) or is a guess.
    """

    seconds: tuple[float, float] | None
    disk: tuple[int, int]
    source: str
    confidence: str


@dataclass(frozen=True, kw_only=True)
class Estimate:
    """What earlier builds here took: seconds, bytes on disk and of memory; `unknown`: steps never run.

    `bytes` is 0 where no step needs the network, else None: what pip and git transfer is nowhere counted. `expected`
    is what the profile says of a whole build.
    """

    seconds: float | None
    bytes: int | None
    disk: int | None
    memory: int | None
    jobs: int | None
    unknown: tuple[str, ...]
    expected: ExpectedCost | None = None


class _Line(NamedTuple):
    """A line of the journal, as far as estimates need it."""

    step: str
    key: str
    well: bool
    seconds: float
    load: StepLoad | None
    edges: int
    curve: Curve | None


def parse_journal(text: str) -> History:
    """Read what each step took when it last went well; lines that can't be read count for nothing."""
    records = [record for line in text.splitlines() if (record := _parse_record(line))]
    loads: dict[str, StepLoad] = {}
    curves: dict[str, Curve] = {}
    for one in filter(lambda record: record.well, records):  # one that went on near its end took less than it needs
        step, load, curve = one.step, one.load, one.curve
        if load and load.bytes_per_job >= (loads[step].bytes_per_job if step in loads else 0):
            loads[step] = load
        if load and curve and curve.total >= (curves[step].total if step in curves else 0):
            curves[step] = curve
    return History(seconds=_add_attempts(records), loads=loads, curves=curves)


def _add_attempts(records: Sequence[_Line]) -> dict[str, float]:
    """Give the seconds of each step, with those of the attempts at the same before it that left ninja less to do."""
    seconds: dict[str, float] = {}
    before: dict[tuple[str, str], tuple[float, int]] = {}
    for one in records:
        spent, edges = before.pop((one.step, one.key), (0.0, 0))
        took = one.seconds + (spent if one.edges < edges else 0.0)
        if one.well:
            seconds[one.step] = round(took, 3)
        elif one.edges or edges:  # without edges of its own it ended before ninja began
            before[one.step, one.key] = (took, one.edges or edges)
    return seconds


def _parse_record(line: str) -> _Line | None:
    try:
        record = json.loads(line)
        well, load, edges = record["state"] in WELL, _parse_load(record.get("load")), int(record.get("edges", 0))
        step, key, seconds = str(record["step"]), str(record.get("key", "")), float(record["seconds"])
        if not isfinite(seconds):
            return None
        curve = parse_curve(edges, record.get("marks"), seconds, record.get("passes"))
        return _Line(step=step, key=key, well=well, seconds=seconds, load=load, edges=edges, curve=curve)
    except (ValueError, KeyError, TypeError, AttributeError):  # cut off by a crash, or of another version
        return None


def _parse_load(numbers: list[int] | None) -> StepLoad | None:
    if numbers is None:
        return None
    jobs, growth, heaviest = map(int, numbers)
    return StepLoad(jobs=jobs, growth=growth, heaviest=heaviest) if jobs > 0 else None


def merge_histories(histories: Sequence[History]) -> History:
    """Take each value from the first history that has it."""
    return History(
        seconds={step: value for one in reversed(histories) for step, value in one.seconds.items()},
        disk=next((one.disk for one in histories if one.disk is not None), None),
        loads={step: load for one in reversed(histories) for step, load in one.loads.items()},
        curves={step: curve for one in reversed(histories) for step, curve in one.curves.items()},
    )


def make_estimate(
    steps: Sequence[Step], todo: Collection[str], history: History, *, jobs: int, memory_per_job: float
) -> Estimate:
    """Estimate what is still to do of a plan; `jobs` 0 means not known, `memory_per_job` is in bytes."""
    unknown = tuple(step.id for step in steps if step.id in todo and step.id not in history.seconds)
    fetches = any(lane_of(step) == "network" for step in steps if step.id in todo)
    return Estimate(
        seconds=None if unknown else round(simulate(steps, todo, history.seconds), 1),
        bytes=None if fetches else 0,
        disk=history.disk,
        memory=int(jobs * memory_per_job) if jobs else None,
        jobs=jobs or None,
        unknown=unknown,
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
FIRST_SHARE = 0.03
WINDOWS = (1.0, 0.5, 0.25)
"""Shares of the time so far whose paces are compared: the middle one is neither last minute's nor only the start's."""
COUNTED_WINDOWS = (0.5, 0.25)
"""Shares of what is done so far, likewise: large files in a row fill half of the time and are a few of a thousand."""
SMOOTHING = 60.0
"""Seconds in which a new estimate takes the place of the one that was shown."""
MOST = 512
COUNTED = re.compile(r"^\[\d+/\d+\] ?")
OBJECT = re.compile(r" -o (\S+)")
MINUTE = 60
HOUR = 3600
LONG_NAME = 40


class Pace:
    """The pace of one step that counts to a total. It says nothing while it knows too little."""

    def __init__(self) -> None:
        self._marks: list[tuple[float, int]] = []
        self._total = 0
        self._end: float | None = None
        self._asked = 0.0

    def note(self, time: float, count: int, total: int) -> None:
        """Take in how far the step is; another total, or a smaller count, is another piece of work."""
        if total != self._total or (self._marks and count < self._marks[-1][1]):
            self._marks, self._total, self._end = [], total, None
        self._marks.append((time, count))
        if len(self._marks) > MOST:
            self._marks = [*self._marks[:-1:2], self._marks[-1]]

    def left(self, time: float) -> float | None:
        """Give the seconds that are left, as seen at this time; None while too little is known."""
        rate = self._rate(time)
        if rate is None:
            return None
        end = time + (self._total - self._marks[-1][1]) / rate
        if self._end is not None:
            end = self._end + (end - self._end) * min(1.0, (time - self._asked) / SMOOTHING)
        self._end, self._asked = end, time
        return max(0.0, end - time)

    def _rate(self, time: float) -> float | None:
        from statistics import median  # noqa: PLC0415 - slow to import; a build that is done has no pace

        if not self._marks:
            return None
        (began, first), (_, count) = self._marks[0], self._marks[-1]
        spent, made = time - began, count - first
        if spent < FIRST_SECONDS or made < max(FIRST_COUNT, FIRST_SHARE * self._total):
            return None
        starts = [time - share * spent for share in WINDOWS]
        starts += [self._time_of(count - share * made) for share in COUNTED_WINDOWS]
        return max(median(self._rate_since(time, start) for start in starts), made / spent / 10)

    def _time_of(self, count: float) -> float:
        """Give when so many were done."""
        return next(mark[0] for mark in reversed(self._marks) if mark[1] <= count)

    def _rate_since(self, time: float, since: float) -> float:
        start, before = next((mark for mark in self._marks if mark[0] >= since), self._marks[-1])
        return (self._marks[-1][1] - before) / max(time - start, 1.0)


def render_left(seconds: float) -> str:
    """Say how much time is left."""
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
        one, elapsed = self._running[step], time - self._running[step].began
        if curve := self._history.curves.get(step):
            return curve.left(elapsed, one.passes.done, curve.expect(one.passes.totals) if one.passes.totals else 0)
        if one.passes.totals:
            return one.pace.left(time)
        seconds = self._history.seconds.get(step)
        return None if seconds is None else max(0.0, seconds - elapsed)

    def _left_of_all(self, time: float) -> float | None:
        here = {step: self._left(step, time) for step in self._running}
        seconds = {**self._history.seconds, **{step: left for step, left in here.items() if left is not None}}
        unknown = [step for step, left in here.items() if left is None]
        if unknown or not self._todo <= seconds.keys():
            return None
        return simulate(self._steps, self._todo, seconds)
