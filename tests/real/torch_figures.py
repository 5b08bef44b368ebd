"""What a long build tells of itself, as figures and as a table: pure functions of its events, journal and results.

A build may have had several attempts; each but the last was killed. Their times are put one after the other, without
the pauses between them.
"""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

from xpusetup.machine.jobs import StepLoad
from xpusetup.run.time_left import Pace

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

Document = dict[str, Any]
STEP = "torch.build"
SHARES = (0.2, 0.4, 0.6, 0.8)
LEAST = 20
"""Fewer edges are those that CMake runs while it configures."""
SHOWN_EVERY = 1.0
"""Seconds between two looks of the live view at the pace, which smooths what it said before."""
GIB = 1 << 30
MIB = 1 << 20


class Attempt(NamedTuple):
    """One run of the program: how it ended (None: not yet), when, and the processor seconds of all it started."""

    name: str
    code: int | None = None
    began: float = 0.0
    ended: float = 0.0
    processor: float = 0.0


class Built(NamedTuple):
    """What one build left: its attempts, the events of each, the journal, the result, what was found in the wheel.

    `members` are the check sums of the wheel's files.
    """

    attempts: Sequence[Attempt]
    events: Sequence[Sequence[Document]]
    journal: Sequence[Document]
    result: Document
    inspected: Document
    verified: Document
    members: Mapping[str, int]


class Mark(NamedTuple):
    """How far ninja was: seconds of compiling since the start, edges done of all, seconds left as the pace said."""

    time: float
    done: int
    left: float | None


def reached(events: Sequence[Document], step: str = STEP) -> tuple[int, int]:
    """Give ninja's last count and total of a step; (0, 0) before its first. CMake's own few steps are left aside."""
    counted = [event for event in events if event.get("step") == step and event.get("total", 0) >= LEAST]
    return (counted[-1].get("count", 0), counted[-1]["total"]) if counted else (0, 0)


def share_done(runs: Sequence[Sequence[Document]]) -> float:
    """Give the share of ninja's whole work that is done; 0 while the last attempt has not come to ninja."""
    whole = max((reached(events)[1] for events in runs), default=0)
    count, total = reached(runs[-1])
    return (whole - total + count) / whole if total else 0.0


def make_marks(runs: Sequence[Sequence[Document]]) -> tuple[list[Mark], int]:
    """Give the marks of a step through all attempts, and the edges of the whole: ninja counts what is left anew."""
    whole = max((reached(events)[1] for events in runs), default=0)
    marks: list[Mark] = []
    before = 0.0
    for events in runs:
        found = list(_marks_of([event for event in events if event.get("step") == STEP], before, whole))
        marks += found
        before = found[-1].time if found else before
    return marks, whole


def _marks_of(events: Sequence[Document], before: float, whole: int) -> Iterator[Mark]:
    """Ask the pace about once a second, as the live view does."""
    if not events:
        return
    pace, began, asked = Pace(), events[0]["time"], 0.0
    total = reached(events)[1]
    left: float | None = None
    for event in events:
        if event.get("total"):
            pace.note(event["time"], event.get("count", 0), event["total"])
        if event["time"] - asked >= SHOWN_EVERY:
            asked, left = event["time"], pace.left(event["time"])
        done = whole - total + event.get("count", 0) if event.get("total", 0) == total > 0 else 0
        yield Mark(before + event["time"] - began, done, left)


def make_guesses(runs: Sequence[Sequence[Document]]) -> list[Document]:
    """Compare, at shares of ninja's work, the seconds that the pace said are left with those that it took."""
    marks, whole = make_marks(runs)
    guesses = []
    for share in SHARES:
        mark = next((mark for mark in marks if mark.done >= share * whole > 0), None)
        if mark is not None:
            truth = marks[-1].time - mark.time
            guesses.append({"share": share, "at": mark.time, "left": mark.left, "truth": truth})
    return guesses


def make_trace(runs: Sequence[Sequence[Document]]) -> list[tuple[int, int]]:
    """Give how many edges were done after so many seconds of compiling: what an estimate can be tried on."""
    last = {mark.done: round(mark.time) for mark in reversed(make_marks(runs)[0]) if mark.done}
    return sorted((seconds, done) for done, seconds in last.items())


def count_lost(runs: Sequence[Sequence[Document]]) -> list[Document]:
    """Say for each kill how many edges were done, and how many of these the next attempt did again."""
    ends = [reached(events) for events in runs if reached(events)[1]]
    return [
        {"done": done, "total": total, "again": max(0, after - (total - done))}
        for (done, total), (_, after) in pairwise(ends)
    ]


def step_seconds(runs: Sequence[Sequence[Document]]) -> dict[str, float]:
    """Add up the seconds of each step; of one that was killed, up to its last event."""
    seconds: dict[str, float] = {}
    for events in runs:
        for step in dict.fromkeys(event["step"] for event in events if event["kind"] == "start"):
            times = [event["time"] for event in events if event.get("step") == step]
            seconds[step] = round(seconds.get(step, 0) + times[-1] - times[0], 1)
    return seconds


def describe_build(built: Built) -> Document:
    """Give the figures of one build."""
    result = built.result
    records = [record["load"] for record in built.journal if record["step"] == STEP and record.get("load")]
    loads = [StepLoad(jobs=jobs, growth=growth, heaviest=heaviest) for jobs, growth, heaviest in records]
    return {
        "attempts": [one._asdict() for one in built.attempts],
        "wall": round(sum(map(lasted, built.attempts, built.events)), 1),
        "processor": round(sum(one.processor for one in built.attempts), 1),
        "jobs": next((event["jobs"] for event in built.events[-1] if event.get("jobs")), 0),
        "edges": make_marks(built.events)[1],
        "kills": count_lost(built.events),
        "steps": step_seconds(built.events),
        "heaviest": max((load.heaviest for load in loads), default=0),
        "growth": max((load.growth for load in loads), default=0),
        "bytes_per_job": max((load.bytes_per_job for load in loads), default=0),
        "cached": result["cached"],
        "wheel": result["wheels"][0],
        "verified": result["verified"],
        "guesses": make_guesses(built.events),
        "trace": make_trace(built.events),
        "inspected": {check["title"]: [check["level"], check["seen"]] for check in built.inspected["checks"]},
        "checks": count_levels(built.verified["checks"]),
        "size": built.inspected["size"],
    }


def lasted(attempt: Attempt, events: Sequence[Document]) -> float:
    """Give the seconds of an attempt; one that ended with who followed it lasted until its last event."""
    return (attempt.ended or events[-1]["time"]) - attempt.began


def count_levels(checks: Sequence[Document]) -> dict[str, int]:
    """Count checks by their level."""
    levels = [check["level"] for check in checks]
    return {level: levels.count(level) for level in dict.fromkeys(levels)}


def make_figures(builds: Mapping[str, Built], used: Document) -> Document:
    """Give all figures; each build is compared with the first one."""
    first = next(iter(builds.values())).members
    described = {
        name: {**describe_build(built), "differs": find_differences(first, built.members)}
        for name, built in builds.items()
    }
    return {"builds": described, **used}


def find_differences(one: Mapping[str, int], other: Mapping[str, int]) -> list[str]:
    """Name the files of two wheels that are not the same in both."""
    return sorted(name for name in one.keys() | other.keys() if one.get(name) != other.get(name))


def render_figures(figures: Document) -> str:
    """Give the figures as tables in Markdown."""
    builds = figures["builds"]
    head = ["| | " + " | ".join(builds) + " |", "|---|" + "---|" * len(builds)]
    rows = [f"| {title} | " + " | ".join(show(build) for build in builds.values()) + " |" for title, show in ROWS]
    return "\n".join([*head, *rows, "", *render_guesses(builds["cold"]["guesses"]), "", *render_rest(figures)]) + "\n"


def render_guesses(guesses: Sequence[Document]) -> list[str]:
    """Give the table of what was said of the time left."""
    rows = []
    for guess in guesses:
        said, truth = guess["left"], guess["truth"]
        words = ("nothing yet", "") if said is None else (minutes(said), f"{said / truth - 1:+.0%}")
        rows.append(f"| {guess['share']:.0%} | {words[0]} | {minutes(truth)} | {words[1]} |")
    return ["| of ninja's work | said to be left | truly left | error |", "|---|---|---|---|", *rows]


def render_rest(figures: Document) -> list[str]:
    """Say the rest in lines."""
    cold, machine = figures["builds"]["cold"], figures["machine"]
    versions = ", ".join(f"{name} {version}" for name, version in machine["versions"].items())
    kills = [f"- killed at {k['done']} of {k['total']} edges; {k['again']} were done again" for k in cold["kills"]]
    inspected = [f"- {title}: {level}: {seen}" for title, (level, seen) in cold["inspected"].items()]
    return [
        f"- {machine['cpus']} processors ({machine['model']}), {machine['memory'] / GIB:.1f} GiB; {versions}",
        *(f"- {title}: {minutes(seconds)}" for title, seconds in figures["prepared"].items()),
        *kills,
        f"- a build after that: {figures['noop']:.2f} s, nothing ran",
        f"- used: {figures['used']}",
        *inspected,
    ]


def minutes(seconds: float) -> str:
    """Say a time: 41 s, 7 min 05 s, 1 h 12 min."""
    whole = round(seconds)
    if whole < 60:
        return f"{whole} s"
    if whole < 3600:
        return f"{whole // 60} min {whole % 60:02} s"
    return f"{whole // 3600} h {whole % 3600 // 60} min"


def _processor(build: Document) -> str:
    unseen = any(not one["ended"] for one in build["attempts"])
    return f"{'more than ' * unseen}{minutes(build['processor'])}"


def _cached(build: Document) -> str:
    had, lacked = build["cached"].get(STEP, (0, 0))
    return f"{had} of {had + lacked}" if had + lacked else "not compiled by the last attempt"


ROWS = (
    ("all, by the clock", lambda build: minutes(build["wall"])),
    ("processor time", _processor),
    ("configure", lambda build: minutes(build["steps"].get("torch.configure", 0))),
    ("compile and pack", lambda build: minutes(build["steps"].get(STEP, 0))),
    ("verify", lambda build: minutes(build["steps"].get("verify.smoke", 0))),
    ("ninja's edges", lambda build: str(build["edges"])),
    ("jobs", lambda build: str(build["jobs"])),
    ("memory of a job, for the next build", lambda build: f"{build['bytes_per_job'] / GIB:.2f} GiB"),
    ("the largest process", lambda build: f"{build['heaviest'] / MIB:.0f} MiB"),
    ("memory in use grew by", lambda build: f"{build['growth'] / GIB:.1f} GiB"),
    ("found by ccache", _cached),
    ("the wheel", lambda build: f"{build['size'] / 1e6:.1f} MB"),
    ("its sha256", lambda build: f"`{build['wheel']['sha256'][:16]}…`"),
    ("other bytes than the first in", lambda build: ", ".join(map("`{}`".format, build["differs"])) or "nothing"),
    ("verified", lambda build: f"{build['verified']}: {build['checks']}"),
)
