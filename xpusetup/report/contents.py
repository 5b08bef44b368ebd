"""What the hours of a build went into: a document, its times, and one HTML page."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate
from math import ceil
from typing import Any, TypeVar

from xpusetup.base.document import fields_of, read_as
from xpusetup.base.model import JournalLine, RootWheel, Target
from xpusetup.base.text import render_duration, render_size
from xpusetup.report.passes import SyclPass, SyclSource, find_heaviest, sum_passes
from xpusetup.run.manifest import describe_machine
from xpusetup.verify.outcomes import Verification

T = TypeVar("T")


# What ninja wrote down: how long each of its commands took, and when it began.


DATED = 6
"""Logs of this version on hold when a command began; before, they hold the date of what it made, or nothing."""
FIELDS = 5
NANO = 1e9


@dataclass(frozen=True, kw_only=True)
class Edge:
    """One command of ninja: what it made, when it began (seconds since the epoch, 0 where unknown), what it took."""

    output: str
    began: float
    seconds: float


def parse_ninja_log(text: str) -> tuple[Edge, ...]:
    """Read a .ninja_log; of an output that was made several times the last counts. Lines cut off count for nothing."""
    head, *lines = text.splitlines() or [""]
    version = head.rpartition(" v")[2]
    dated = version.isdigit() and int(version) >= DATED
    commands: dict[tuple[str, str], Edge] = {}
    for line in lines:
        fields = line.split("\t")
        if len(fields) == FIELDS and all(field.isdigit() for field in fields[:3]):
            begin, end, date = map(int, fields[:3])
            edge = Edge(output=fields[3], began=date / NANO if dated else 0.0, seconds=(end - begin) / 1000)
            commands[fields[4], f"{begin} {end}"] = edge  # one command may make several files
    return tuple({command: edge for (command, _), edge in commands.items()}.values())


def average_jobs(edges: Iterable[Edge], since: float, until: float, pieces: int) -> list[tuple[float, float]]:
    """Give how many commands were at work on average in each of so many equal pieces of a time, with its beginning.

    Empty where no command is dated. Their dates are as coarse as the clock of the file system, so that a single moment
    would show more or fewer than there were.
    """
    width = (until - since) / pieces
    busy = [0.0] * pieces
    dated = [edge for edge in edges if edge.began and since <= edge.began < until]
    for edge in dated:
        end = min(edge.began + edge.seconds, until)
        for piece in range(int((edge.began - since) / width), min(int((end - since) / width), pieces - 1) + 1):
            begin = since + piece * width
            busy[piece] += max(0.0, min(end, begin + width) - max(edge.began, begin))
    return [(since + piece * width, round(seconds / width, 2)) for piece, seconds in enumerate(busy)] if dated else []


# The steps of a build in time: what ran when, and a scale on which nothing takes room while nothing ran.


IDLE = 30.0
"""Seconds without a step after which a build has been left and taken up again later."""
PAUSE = 0.015
"""The share of the whole width that stands for such a pause."""
PAUSES = 0.3
"""The most that all pauses together take of it: a tree of one's own is built many times."""
BEGAN = "began"
"""The state of a line that only says when a compile began."""


@dataclass(frozen=True, kw_only=True)
class Span:
    """A step at work, as its journal tells: from when to when in seconds since the epoch, and what it took.

    `state` is ran, failed, short (the memory was, for so many jobs), cut (it was killed) or no-device. None where
    something was not counted.
    """

    step: str
    lane: str
    state: str
    began: float
    seconds: float
    jobs: int | None = None
    growth: int | None = None
    heaviest: int | None = None
    objects: int | None = None
    cached: tuple[int, int] | None = None

    @property
    def ended(self) -> float:
        return self.began + self.seconds


def parse_spans(records: Iterable[JournalLine]) -> tuple[Span, ...]:
    """Give every run of a step that ended, whatever became of it, in the order in which they began."""
    return tuple(sorted((_make_span(one) for one in records if one.state != BEGAN), key=lambda span: span.began))


def _make_span(one: JournalLine) -> Span:
    jobs, growth, heaviest = one.load or (None, None, None)
    return Span(
        step=one.step,
        lane=one.lane,
        state=one.state,
        began=one.time - one.seconds,
        seconds=one.seconds,
        jobs=jobs,
        growth=growth,
        heaviest=heaviest,
        objects=None if one.step.endswith(".fetch") else one.edges or None,  # of a fetch git's objects were counted
        cached=one.cached,
    )


class Scale:
    """Places moments between 0 and 1, with the pauses of a build made small. `pieces`: when something ran."""

    def __init__(self, spans: Sequence[Span]) -> None:
        self.pieces = _merge(sorted((span.began, span.ended) for span in spans))
        self.seconds = sum(end - begin for begin, end in self.pieces)
        pauses = max(1, len(self.pieces) - 1)
        self._pause = min(PAUSE, PAUSES / pauses)
        self._room = 1 - self._pause * (len(self.pieces) - 1)

    def place(self, time: float) -> float | None:
        """Give where a moment lies; None for one in which nothing ran."""
        gone = 0.0
        for number, (begin, end) in enumerate(self.pieces):
            if begin <= time <= end:
                return self._at(gone + time - begin, number)
            gone += end - begin
        return None

    def share(self, points: int) -> tuple[tuple[float, float, int], ...]:
        """Give the pieces, each with its share of so many points."""
        return tuple(
            (begin, end, max(1, round(points * (end - begin) / self.seconds)))
            for begin, end in self.pieces
            if end > begin
        )

    @property
    def pauses(self) -> tuple[float, ...]:
        """Where the build was left and taken up again: the middle of each pause."""
        gone = accumulate(end - begin for begin, end in self.pieces[:-1])
        return tuple(self._at(seconds, number) + self._pause / 2 for number, seconds in enumerate(gone))

    def ticks(self, most: int = 8) -> tuple[tuple[float, float], ...]:
        """Give round times of work since the beginning, with their places: at most so many."""
        step = next((size for size in STEPS if self.seconds / size <= most), STEPS[-1])
        times = [step * number for number in range(int(self.seconds // step) + 1)]
        ends = [*accumulate(end - begin for begin, end in self.pieces[:-1])]
        return tuple((time, self._at(time, sum(time > end for end in ends))) for time in times)

    def _at(self, seconds: float, pauses: int) -> float:
        return pauses * self._pause + self._room * (seconds / self.seconds if self.seconds else 0.0)


def thin(points: Sequence[tuple[float, float]], since: float, until: float, most: int) -> list[tuple[float, float]]:
    """Give at most so many of the points within a time, each the greatest of an equal piece of it."""
    width = (until - since) / most
    greatest: dict[int, tuple[float, float]] = {}
    for time, value in points:
        piece = min(int((time - since) / width), most - 1)
        if since <= time <= until and value >= greatest.get(piece, (0.0, 0.0))[1]:
            greatest[piece] = (time, value)
    return [greatest[piece] for piece in sorted(greatest)]


STEPS = (1, 2, 5, 10, 20, 30, 60, 120, 300, 600, 1200, 1800, 3600, 7200, 14400, 28800, 86400)


def _merge(spans: Sequence[tuple[float, float]]) -> tuple[tuple[float, float], ...]:
    pieces: list[tuple[float, float]] = []
    for begin, end in spans:
        if pieces and begin - pieces[-1][1] <= IDLE:
            pieces[-1] = (pieces[-1][0], max(pieces[-1][1], end))
        else:
            pieces.append((begin, end))
    return tuple(pieces)


# The report as one HTML page that needs no network and no script: times and amounts become places and words here.


WIDTH = 1000.0
LANES = ("network", "work")
LETTER = 6.3
"""About the width of a letter of a label, in the drawing's own units."""
LEAST = 1.5
ROUGH = 0.1
"""Possible error of an average number of jobs: dates of files are coarse."""
MARGIN = 10
SIGNS = {"ok": "✓", "info": "·", "warn": "!", "fail": "✗", "crash": "✗", "skip": "-"}


@dataclass(frozen=True, kw_only=True)
class Bar:
    """A step in the drawing."""

    lane: int
    x: float
    width: float
    state: str
    label: str
    title: str


def make_page(report: BuildReport, template: str) -> str:
    """Give the page. What comes from logs and file names is text in it, never markup."""
    import jinja2  # noqa: PLC0415 - this page alone needs it

    spans = report.steps
    scale = Scale(spans)
    made = jinja2.Environment(autoescape=True, trim_blocks=True, lstrip_blocks=True)
    made.filters.update(duration=render_duration, size=render_size, name=last_parts, sign=SIGNS.get)
    peak = max((value for _, value in report.memory), default=None)
    most = max(1, *(ceil(value - ROUGH) for _, value in report.jobs), 1)
    return made.from_string(template).render(
        report=report,
        lanes=LANES,
        width=WIDTH,
        seconds=scale.seconds,
        bars=list(_bars(spans, scale)),
        ticks=[(render_duration(time), place * WIDTH) for time, place in scale.ticks()],
        pauses=[place * WIDTH for place in scale.pauses],
        jobs=draw_area(report.jobs, scale, most, 60.0, steps=True),
        most_jobs=most,
        memory=draw_area(report.memory, scale, peak or 0.0, 80.0),
        memory_peak=peak,
        longest=max((edge.seconds for edge in report.longest), default=0.0) or 1.0,
        slowest=max((span.seconds for span in spans), default=0.0) or 1.0,
    )


def _bars(spans: Sequence[Span], scale: Scale) -> Iterator[Bar]:
    for span in spans:
        begin, end = scale.place(span.began), scale.place(span.ended)
        if begin is None or end is None:
            continue
        width = max((end - begin) * WIDTH, LEAST)
        label = span.step if len(span.step) * LETTER + MARGIN < width else ""
        title = f"{span.step}: {render_duration(span.seconds)}{'' if span.state == 'ran' else f', {span.state}'}"
        lane = LANES.index(span.lane) if span.lane in LANES else 1
        yield Bar(lane=lane, x=begin * WIDTH, width=width, state=span.state, label=label, title=title)


def draw_area(
    points: Sequence[tuple[float, float]], scale: Scale, top: float, height: float, *, steps: bool = False
) -> str:
    """Give the path of an area under points (time, value), `top` at full height; `steps`: each holds until the next."""
    placed = [
        (place * WIDTH, height - height * value / top)
        for time, value in points
        if (place := scale.place(time)) is not None
    ]
    if not placed or not top:
        return ""
    path = (f"H{x:.1f}V{y:.1f}" if steps else f"L{x:.1f} {y:.1f}" for x, y in placed)
    return "".join((f"M{placed[0][0]:.1f} {height:.1f}", *path, f"L{placed[-1][0]:.1f} {height:.1f}Z"))


def last_parts(path: str) -> str:
    """Give a file with its folder: torchvision has three nms_kernel.o."""
    return "/".join(path.split("/")[-2:])


# The report as a document: what the page draws, and what programs read.


LONGEST = 40
POINTS = 400


@dataclass(frozen=True, kw_only=True)
class Material:
    """What lies in a root. `edges` by step, `memory` as moments with bytes in use, `sizes` of the wheels by path.

    `passes` are calls of SYCL's compiler.
    """

    root: str
    manifest: Mapping[str, Any]
    spans: tuple[Span, ...]
    edges: Mapping[str, tuple[Edge, ...]]
    memory: Sequence[tuple[float, float]]
    memory_total: int | None
    sizes: Mapping[str, int]
    passes: Sequence[Mapping[str, Any]] = ()


@dataclass(frozen=True, kw_only=True)
class Compile:
    """A command of ninja, of which step, and its seconds."""

    step: str
    output: str
    seconds: float


@dataclass(frozen=True)
class CompileTotals:
    """How many commands ninja ran, and the seconds of all of them."""

    count: int
    seconds: float


@dataclass(frozen=True, kw_only=True)
class SizedWheel(RootWheel):
    """A wheel of the root with its size; None where it is gone."""

    bytes: int | None


@dataclass(frozen=True, kw_only=True)
class BuildReport:
    """What the hours of a build went into: moments are seconds since the epoch, the rest is in seconds and bytes.

    `jobs` are the commands of ninja that were at work on average from each moment on, `memory` what was in use at each,
    of `memory_total`. `own` are the user's trees by component. `passes` are those of SYCL's compiler from wheels, and
    `heaviest` the sources that took the most of its time.
    """

    profile: str
    root: str
    made_by: str
    machine: str
    target: Target | None
    began: float
    ended: float
    failed: str | None
    verified: bool | None
    verification: Verification | None
    steps: list[Span]
    compiles: CompileTotals
    longest: list[Compile]
    passes: list[SyclPass]
    heaviest: list[SyclSource]
    jobs: list[tuple[float, float]]
    memory: list[tuple[float, float]]
    memory_total: int | None
    wheels: list[SizedWheel]
    pins: list[dict[str, object]]
    own: dict[str, dict[str, object]]


def make_report(material: Material) -> BuildReport:
    """Give the report. What the manifest holds of another form is left out: another version may have written it."""
    manifest, spans = material.manifest, material.spans
    pieces = Scale(spans).share(POINTS)
    began = {span.step: span.began for span in reversed(spans)}  # ninja's log also has what earlier builds compiled
    edges = [
        (step, edge)
        for step, found in material.edges.items()
        for edge in found
        if not edge.began or edge.began >= began.get(step, 0) - 1
    ]
    longest = sorted(edges, key=lambda one: -one[1].seconds)[:LONGEST]
    wheels = _read(list[RootWheel], manifest.get("wheels")) or []
    return BuildReport(
        profile=manifest.get("profile", ""),
        root=material.root,
        made_by=manifest.get("made_by", "build"),
        machine=describe_machine(manifest.get("facts") or {}),
        target=_read(Target, manifest.get("target")),
        began=min(span.began for span in spans),
        ended=max(span.ended for span in spans),
        failed=manifest.get("failed"),
        verified=manifest.get("verified"),
        verification=_read(Verification, manifest.get("verification")),
        steps=list(spans),
        compiles=CompileTotals(len(edges), round(sum(edge.seconds for _, edge in edges), 1)),
        longest=[Compile(step=step, output=edge.output, seconds=round(edge.seconds, 2)) for step, edge in longest],
        passes=sum_passes(material.passes),
        heaviest=find_heaviest(material.passes),
        jobs=[one for piece in pieces for one in average_jobs([edge for _, edge in edges], *piece)],
        memory=[one for piece in pieces for one in thin(material.memory, *piece)],
        memory_total=material.memory_total,
        wheels=[SizedWheel(**fields_of(wheel), bytes=material.sizes.get(wheel.path)) for wheel in wheels],
        pins=manifest.get("pins", []),
        own=manifest.get("own", {}),
    )


def _read(kind: type[T], found: object) -> T | None:
    try:
        return read_as(kind, found)
    except ValueError:
        return None
