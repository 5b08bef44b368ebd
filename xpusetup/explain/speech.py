"""The lines of a block that may hold a complaint: most of a long log only tells what is at work."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass

WORK = (
    *(b"building ", b"linking ", b"generating ", b"running ", b"compiling ", b"copying ", b"performing ", b"scanning "),
    *(b"creating ", b"built ", b"completed ", b"re-running ", b"/", b"cd ", b": && ", b"install "),
)
"""How ninja and CMake's make begin to tell what is at work, after [12/345]."""


@dataclass(frozen=True)
class Speech:
    """The lines of a block that may hold a complaint, without those that only tell what is at work."""

    text: bytes
    starts: list[int]
    origins: list[int]

    def origin(self, place: int) -> int:
        """Give where a place of the text is in the block."""
        line = bisect_right(self.starts, place) - 1
        return self.origins[line] + place - self.starts[line]


def cut_speech(low: bytes, start: int, end: int) -> Speech:
    """Leave out lines of progress, CMake's status lines and quoted source: most of a long log, and never a complaint."""
    kept: list[bytes] = []
    starts: list[int] = []
    origins: list[int] = []
    place, length = start, 0
    for line in low[start:end].split(b"\n"):
        if not _is_work(line):
            kept.append(line)
            starts.append(length)
            origins.append(place)
            length += len(line) + 1
        place += len(line) + 1
    return Speech(b"\n".join(kept), starts, origins)


def _is_work(line: bytes) -> bool:
    if line.startswith(b"["):
        told = line.find(b"] ", 0, 20)
        return told > 0 and line.startswith(WORK, told + 2) and b"\r" not in line[:-1]
    if line.startswith(b" "):
        return line.lstrip(b" 0123456789").startswith(b"|") and b"\r" not in line[:-1]
    return line.startswith(b"-- ") and b"\r" not in line[:-1]
