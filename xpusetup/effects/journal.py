"""The journal of a root: one line for each time that a step ended. It is history alone; stamps say what is done."""

from __future__ import annotations

import json
import time
from dataclasses import asdict
from typing import TYPE_CHECKING

from xpusetup.effects.files import append_line
from xpusetup.lanes import lane_of
from xpusetup.model import Record

if TYPE_CHECKING:
    from xpusetup.effects.root import Root
    from xpusetup.effects.running import Running

JOURNAL = "journal.jsonl"


def append_record(root: Root, one: Running, state: str) -> None:
    """Write down how a step ended, what it took and what it made."""
    counts = one.cache.counts() if one.cache else None
    record = Record(
        step=one.step.id,
        key=one.key,
        state=state,
        time=time.time(),
        seconds=round(one.seconds, 3),
        made=one.step.makes,
        load=(one.jobs, max(0, one.most - one.before), one.heaviest) if one.jobs else None,
        lane=lane_of(one.step),
        total=one.course.total,
        marks=one.course.marks,
        cached=(counts.hits, counts.misses) if counts else None,
    )
    append_line(root / JOURNAL, json.dumps(asdict(record)))
