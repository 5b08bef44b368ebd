"""A line of a log with the lines around it, cleaned."""

from __future__ import annotations

import re
from dataclasses import dataclass

from xpusetup.explain.clean import clean

UP = 8
DOWN = 8
REACH = 3000

FRAME = re.compile(r'^\s*(?:\|\s+)?File "[^"]+", line \d+')
RAISED = re.compile(r"^\s*(?:[A-Za-z_][\w.]*\.)?[A-Z]\w*(?:Error|Exception|Interrupt)(?:: |$)")
QUOTED_SOURCE = re.compile(r"^\s*\d*\s*\|")
ECHOED = re.compile(r"^\++ ")
STATUS = re.compile(r"^--\s")
IGNORED = re.compile(r"\(ignored\)\s*$")
PASSED = re.compile(
    r"^\s*(?:PASSED|SKIPPED|XFAIL|XPASS)\b|\b(?:PASSED|SKIPPED|XFAIL|XPASS)\s*(?:\[\s*\d+%\])?\s*$"
    r"|\b(?:SKIPPED|XFAIL)\s*\(.*\)\s*(?:\[\s*\d+%\])?$"
    r"|\.{3}\s*(?:ok|expected failure|skipped\b.*)$|\.{3,}\s+(?:Passed|Skipped)\b|^\[ +(?:OK|RUN|SKIPPED) +\]"
)
WARNING = re.compile(r"(?<!level=)(?:\b|[a-z])warning\b[:\s(]|^W\d{4}\b|^\[W\d{3}", re.IGNORECASE)
TELLING = re.compile(r"error|fatal|fail|killed|not found", re.IGNORECASE)
ERROR = re.compile(r"^\s*(?:[\w.]*Error: |ERROR\b|CMake Error)|(?:^|\s)(?:fatal )?error: ")
CMAKE_HEAD = re.compile(r"^CMake (?P<kind>[\w ()]*?)(?:Error|Warning)\b")


@dataclass(frozen=True)
class Window:
    """Lines with their numbers; `at` is the index of the one in question.

    A line of several parts, as progress bars write it, stands as several with one number.
    """

    lines: tuple[str, ...]
    numbers: tuple[int, ...]
    at: int

    @property
    def line(self) -> str:
        """The line in question."""
        return self.lines[self.at] if self.at < len(self.lines) else ""

    @property
    def is_speech(self) -> bool:
        """Whether a tool says this; not source that is quoted, a command that is echoed, or a test that passed."""
        before = self.lines[self.at - 1] if self.at else ""
        unsaid = (QUOTED_SOURCE, ECHOED, STATUS, IGNORED, PASSED)
        if FRAME.match(before) and not RAISED.match(self.line):
            return False
        return not any(pattern.search(self.line) for pattern in unsaid)

    @property
    def is_warning(self) -> bool:
        """Whether it is said as a warning, by the line itself or by the head of CMake's message."""
        return bool(WARNING.search(self.line)) or "warning" in self.cmake_head.lower()

    @property
    def is_error(self) -> bool:
        """Whether it is said as an error, by the line itself or by the head of CMake's message."""
        return not self.is_warning and bool(ERROR.search(self.line) or "Error" in self.cmake_head)

    @property
    def cmake_head(self) -> str:
        """The first line of CMake's message that this line is part of, or nothing."""
        for line in reversed(self.lines[: self.at + 1]):
            if CMAKE_HEAD.match(line):
                return line
            if line and not line.startswith(" "):
                return ""
        return ""

    def context(self, lines: int) -> list[tuple[int, str]]:
        """Give the line and some around it, with their numbers."""
        return list(zip(self.numbers, self.lines, strict=True))[max(0, self.at - lines) : self.at + lines + 1]


def make_window(data: bytes, begin: int, number: int) -> Window:
    """Cut the lines around the one that begins there, which is line `number` of the log."""
    above = data[max(0, begin - REACH) : begin].split(b"\n")[-UP - 1 : -1] if begin else []
    below = data[begin : begin + REACH].split(b"\n")[: DOWN + 1]
    lines: list[str] = []
    numbers: list[int] = []
    at = 0
    for offset, raw in enumerate([*above, *below], start=-len(above)):
        parts = [clean(part) for part in raw.decode("utf-8", "replace").split("\r")]
        said = [part for part in parts if part] or [""]
        if offset == 0:
            at = len(lines) + _telling(said)
        lines += said
        numbers += [number + offset] * len(said)
    return Window(tuple(lines), tuple(numbers), at)


def _telling(parts: list[str]) -> int:
    return next((index for index, part in enumerate(parts) if TELLING.search(part)), len(parts) - 1)
