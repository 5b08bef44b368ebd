"""What the passes of SYCL's compiler took, as its driver wrote it down (helpers/helperlib/sycl/work.py)."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

PASSES = ("device", "host", "ocloc", "link")
NUMBERS = ("processor", "memory")
HEAVIEST = 10


@dataclass(frozen=True, kw_only=True)
class SyclPass:
    """All calls of a pass: how many, their seconds of processors, and the most memory of one, in bytes."""

    name: str
    count: int
    processor: float
    memory: int


@dataclass(frozen=True, kw_only=True)
class SyclSource:
    """A source, or the first object of a link: seconds of processors by pass, and the most memory of one, in bytes."""

    name: str
    processor: dict[str, float]
    memory: int


def parse_passes(text: str) -> list[dict[str, Any]]:
    """Give the calls that went well; of a pass of a source those of the last time. Damaged lines count for nothing."""
    calls: dict[tuple[str, str], list[dict[str, Any]]] = defaultdict(list)
    for line in _lines(text):
        name = line["pass"].split(" ")[0]
        known = calls[name, "".join(line["source"])]
        if known and known[0].get("process") != line.get("process"):
            known.clear()
        known.append({**line, "pass": name})
    return [call for known in calls.values() for call in known]


def _lines(text: str) -> Iterator[dict[str, Any]]:
    for each in text.splitlines():
        with suppress(ValueError, LookupError, TypeError, AttributeError):
            line = json.loads(each)
            well = line["code"] == 0 and line["pass"].split(" ")[0] in PASSES
            if well and all(isinstance(line[name], int | float) for name in NUMBERS) and "".join(line["source"]):
                yield line


def sum_passes(calls: Iterable[Mapping[str, Any]]) -> list[SyclPass]:
    """Sum up the passes that ran."""
    of = {name: [call for call in calls if call["pass"] == name] for name in PASSES}
    return [
        SyclPass(name=name, count=len(found), processor=_sum(found), memory=max(call["memory"] for call in found))
        for name, found in of.items()
        if found
    ]


def find_heaviest(calls: Iterable[Mapping[str, Any]]) -> list[SyclSource]:
    """Give the sources that took the most seconds of processors."""
    of: dict[str, list[Mapping[str, Any]]] = defaultdict(list)
    for call in calls:
        of["".join(call["source"])].append(call)
    heaviest = sorted(of, key=lambda name: -_sum(of[name]))[:HEAVIEST]
    return [
        SyclSource(
            name=name,
            processor={one: took for one in PASSES if (took := _sum(call for call in of[name] if call["pass"] == one))},
            memory=max(call["memory"] for call in of[name]),
        )
        for name in heaviest
    ]


def _sum(calls: Iterable[Mapping[str, Any]]) -> float:
    return round(sum(float(call["processor"]) for call in calls), 2)
