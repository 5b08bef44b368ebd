"""What happens while a plan runs, as values: show draws them, `--events` writes them, tests read them."""

from __future__ import annotations

import re
from dataclasses import asdict, dataclass
from typing import Any, Literal

Kind = Literal["plan", "note", "start", "output", "end"]
State = Literal["done", "ran", "failed", "no-device", "interrupted", ""]
PROGRESS = re.compile(r"^\[(\d+)/(\d+)\] ?")
SUMMARY = "= "
"""How a line begins in which a step says what it found; the last such line counts."""


@dataclass(frozen=True, kw_only=True)
class Event:
    """One thing that happened. `time` is in seconds since the epoch, `seconds` how long a step took.

    `text` of an end is what the step said it found; `count` of `total` is how far a step or a plan has come; `jobs`
    how many compilers a plan runs at once; `left` and `left_of_all` are the seconds that a step and the whole plan
    still take, 0 where that is not known.
    """

    kind: Kind
    time: float
    step: str = ""
    title: str = ""
    text: str = ""
    state: State = ""
    seconds: float = 0.0
    count: int = 0
    total: int = 0
    jobs: int = 0
    left: float = 0.0
    left_of_all: float = 0.0

    def document(self) -> dict[str, Any]:
        """Give the event without what it does not say, for one line of JSON."""
        return {name: value for name, value in asdict(self).items() if value not in ("", 0, 0.0)}


def parse_progress(line: str) -> tuple[int, int]:
    """Read ninja's [n/m] at the start of a line; (0, 0) when there is none."""
    found = PROGRESS.match(line)
    return (int(found[1]), int(found[2])) if found else (0, 0)


def parse_summary(line: str) -> str:
    """Read what a step says that it found; empty when the line is none of that kind."""
    return line.removeprefix(SUMMARY).strip().replace(" | ", " · ") if line.startswith(SUMMARY) else ""
