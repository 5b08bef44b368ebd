"""What a build will cost, from what earlier ones of the same profile took; None where nothing is known."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

from xpusetup.curve import parse_curve
from xpusetup.jobs import Load
from xpusetup.lanes import lane_of, make_startable

if TYPE_CHECKING:
    from collections.abc import Collection, Mapping, Sequence

    from xpusetup.curve import Curve
    from xpusetup.model import Step

WELL = {"ran", "no-device"}


@dataclass(frozen=True, kw_only=True)
class History:
    """What a root tells of its builds: last seconds and greatest load of each step, the bytes on disk at the end.

    `curves`: how the steps that compile counted when they had the most to do.
    """

    seconds: Mapping[str, float]
    disk: int | None = None
    loads: Mapping[str, Load] = field(default_factory=dict)
    curves: Mapping[str, Curve] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Estimate:
    """The seconds of a build, and the bytes it will fetch, have on disk and need as memory; `unknown`: steps never run.

    `bytes` is 0 where no step needs the network, else None: what pip and git transfer is nowhere counted.
    """

    seconds: float | None
    bytes: int | None
    disk: int | None
    memory: int | None
    jobs: int | None
    unknown: tuple[str, ...]

    def document(self) -> dict[str, Any]:
        """Give the estimate as it stands in JSON."""
        return {**asdict(self), "unknown": list(self.unknown)}


@dataclass(frozen=True)
class _Line:
    """A line of the journal, as far as estimates need it."""

    step: str
    key: str
    well: bool
    seconds: float
    load: Load | None
    edges: int
    curve: Curve | None


def parse_journal(text: str) -> History:
    """Read what each step took when it last went well; lines that can't be read count for nothing."""
    records = [record for line in text.splitlines() if (record := _parse_record(line))]
    loads: dict[str, Load] = {}
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
        curve = parse_curve(edges, record.get("marks"), seconds, record.get("passes"))
        return _Line(step=step, key=key, well=well, seconds=seconds, load=load, edges=edges, curve=curve)
    except (ValueError, KeyError, TypeError, AttributeError):  # cut off by a crash, or of another version
        return None


def _parse_load(numbers: list[int] | None) -> Load | None:
    if numbers is None:
        return None
    jobs, growth, heaviest = map(int, numbers)
    return Load(jobs=jobs, growth=growth, heaviest=heaviest) if jobs > 0 else None


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
        done |= _ended(ends, time)
        ends = {step: end for step, end in ends.items() if step not in done}


def _ended(ends: Mapping[str, float], time: float) -> set[str]:
    return {step for step, end in ends.items() if end <= time}
