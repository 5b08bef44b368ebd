"""What a build will cost, from what earlier ones of the same profile took; None where nothing is known."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

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


def parse_journal(text: str) -> History:
    """Read what each step took when it last went well; lines that can't be read count for nothing."""
    records = [record for line in text.splitlines() if (record := _parse_record(line))]
    loads: dict[str, Load] = {}
    curves: dict[str, Curve] = {}
    for one in records:  # a build that went on near its end took less than it needs
        if one.load is not None and one.load.bytes_per_job >= (
            loads[one.step].bytes_per_job if one.step in loads else 0
        ):
            loads[one.step] = one.load
        if (
            one.load is not None
            and one.curve
            and one.curve.total >= (curves[one.step].total if one.step in curves else 0)
        ):
            curves[one.step] = one.curve
    return History(seconds={one.step: one.seconds for one in records}, loads=loads, curves=curves)


class _Line(NamedTuple):
    step: str
    seconds: float
    load: Load | None
    curve: Curve | None


def _parse_record(line: str) -> _Line | None:
    try:
        record = json.loads(line)
        if record["state"] not in WELL:
            return None
        curve = parse_curve(record.get("total"), record.get("marks"), record["seconds"])
        return _Line(str(record["step"]), float(record["seconds"]), _parse_load(record.get("load")), curve)
    except (ValueError, KeyError, TypeError):  # cut off by a crash, or of another version
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
