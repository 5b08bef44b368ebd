"""The report as one HTML page that needs no network and no script: times and amounts become places and words here."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil
from typing import TYPE_CHECKING, Any

from xpusetup.amounts import render_duration, render_size
from xpusetup.report.timeline import Scale, Span

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

WIDTH = 1000.0
LANES = ("network", "work")
LETTER = 6.3
"""About the width of a letter of a label, in the drawing's own units."""
LEAST = 1.5
ROUGH = 0.1
"""By so much an average of jobs may be off, as coarse as dates of files are."""
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


def make_page(report: Mapping[str, Any], template: str) -> str:
    """Give the page. What comes from logs and file names is text in it, never markup."""
    import jinja2  # noqa: PLC0415 - this page alone needs it

    spans = [Span(**{**step, "cached": _pair(step["cached"])}) for step in report["steps"]]
    scale = Scale(spans)
    made = jinja2.Environment(autoescape=True, trim_blocks=True, lstrip_blocks=True)
    made.filters.update(duration=render_duration, size=render_size, name=last_parts, sign=SIGNS.get)
    peak = max((value for _, value in report["memory"]), default=None)
    most = max(1, *(ceil(value - ROUGH) for _, value in report["jobs"]), 1)
    return made.from_string(template).render(
        report=report,
        lanes=LANES,
        width=WIDTH,
        seconds=scale.seconds,
        bars=list(_bars(spans, scale)),
        ticks=[(render_duration(time), place * WIDTH) for time, place in scale.ticks()],
        pauses=[place * WIDTH for place in scale.pauses],
        jobs=draw_area(report["jobs"], scale, most, 60.0, steps=True),
        most_jobs=most,
        memory=draw_area(report["memory"], scale, peak or 0.0, 80.0),
        memory_peak=peak,
        longest=max((edge["seconds"] for edge in report["longest"]), default=1.0),
        slowest=max((span.seconds for span in spans), default=1.0),
    )


def _pair(values: Sequence[int] | None) -> tuple[int, int] | None:
    return (values[0], values[1]) if values else None


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
    points: Sequence[Sequence[float]], scale: Scale, top: float, height: float, *, steps: bool = False
) -> str:
    """Give the path of an area under points (time, value), `top` at full height; `steps`: each holds until the next."""
    placed = [
        (place * WIDTH, height - height * value / top)
        for time, value in points
        if (place := scale.place(time)) is not None
    ]
    if not placed or not top:
        return ""
    path = [f"M{placed[0][0]:.1f} {height:.1f}"]
    for x, y in placed:
        path.append(f"H{x:.1f}V{y:.1f}" if steps else f"L{x:.1f} {y:.1f}")
    return "".join([*path, f"L{placed[-1][0]:.1f} {height:.1f}Z"])


def last_parts(path: str) -> str:
    """Give a file with its folder: torchvision has three nms_kernel.o."""
    return "/".join(path.split("/")[-2:])
