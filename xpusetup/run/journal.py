"""The journal of a root: what became of each attempt at a step, those included that nobody saw the end of."""

from __future__ import annotations

import json
from dataclasses import asdict, replace
from typing import TYPE_CHECKING

from xpusetup.base.model import JournalLine, Step, parse_journal_line, parse_progress
from xpusetup.plan.lanes import lane_of
from xpusetup.system import files
from xpusetup.system.environment import now

if TYPE_CHECKING:
    from pathlib import Path

    from xpusetup.run.root import Root
    from xpusetup.run.step_process import Running


JOURNAL = "journal.jsonl"
BEGAN, CUT = "began", "cut"
TAIL = 1 << 17
"""Bytes at the end of a log in which ninja's last count is looked for; a command of PyTorch has about two thousand."""


def write_ended(root: Root, one: Running, state: str) -> None:
    """Write down how an attempt ended, what it took and what it made."""
    counts = one.cache.counts() if one.cache else None
    record = JournalLine(
        step=one.step.id,
        key=one.key,
        state=state,
        time=now(),
        seconds=round(one.seconds, 3),
        made=one.step.makes,
        needs=one.step.needs,
        load=(one.jobs, max(0, one.mem_peak - one.mem_at_start), one.max_rss) if one.jobs else None,
        edges=one.passes.total or one.total,
        lane=lane_of(one.step),
        cached=(counts.hits, counts.misses) if counts else None,
    )
    _write(root, record)


def write_began(root: Root, step: Step, key: str) -> None:
    """Write down that a compile begins, before its log does; first what an earlier one took that was killed."""
    if "compiler" not in step.needs:
        return
    last = next((record for record in reversed(read_records(root)) if record.step == step.id), None)
    if last is not None and last.state == BEGAN:
        _write(root, _make_cut(root.log(step.id), last))
    _write(root, JournalLine(step=step.id, key=key, state=BEGAN, time=now(), lane=lane_of(step), needs=step.needs))


def _make_cut(log: Path, began: JournalLine) -> JournalLine:
    """Give what an attempt took: until the last word of its log, of which there is none where it was killed at once."""
    until = max(log.stat().st_mtime if log.exists() else 0.0, began.time)
    took, edges = round(until - began.time, 3), read_progress(log)[1] if until > began.time else 0
    return replace(began, state=CUT, time=until, seconds=took, edges=edges)


def read_progress(log: Path) -> tuple[int, int]:
    """Give ninja's last count and total in a log; (0, 0) where it has none."""
    with log.open("rb") as stream:
        stream.seek(max(0, stream.seek(0, 2) - TAIL))
        lines = stream.read().decode(errors="replace").splitlines()
    return next((found for line in reversed(lines) if (found := parse_progress(line))[1]), (0, 0))


def read_records(root: Root) -> list[JournalLine]:
    """Give the lines of the journal, the oldest first; what a crash cut off counts for nothing."""
    lines = (files.read_text(root / JOURNAL) or "").splitlines()
    return [record for line in lines if (record := parse_journal_line(line))]


def _write(root: Root, record: JournalLine) -> None:
    files.append_line(root / JOURNAL, json.dumps(asdict(record)))
