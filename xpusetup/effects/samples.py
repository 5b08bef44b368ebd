"""The memory in use while steps ran: a line now and then, in the root, for whoever asks afterwards where it went."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from xpusetup.effects import files
from xpusetup.effects.clock import now

if TYPE_CHECKING:
    from collections.abc import Callable

    from xpusetup.effects.memory import Memory
    from xpusetup.effects.root import Root

SAMPLES = "results/memory.jsonl"
MOST = 4 << 20
"""Bytes of samples after which the older half goes: three days of compiling."""


def keep_samples(root: Root) -> Callable[[Memory], None]:
    """Give what writes down a look at the memory."""
    path = root / SAMPLES
    if len(text := files.read_text(path) or "") > MOST:
        files.write_text(path, text[len(text) // 2 :].partition("\n")[2])
    return lambda memory: files.append_line(path, json.dumps([round(now(), 1), memory.used, memory.total]))


def read_samples(root: Root) -> list[tuple[float, int, int]]:
    """Give the time, the bytes in use and the bytes there are of each look; lines cut off count for nothing."""
    return [sample for line in (files.read_text(root / SAMPLES) or "").splitlines() if (sample := _parse(line))]


def _parse(line: str) -> tuple[float, int, int] | None:
    try:
        time, used, total = json.loads(line)
        return float(time), int(used), int(total)
    except (ValueError, TypeError):
        return None
