"""A line of a log with the lines around it, cleaned."""

from __future__ import annotations

import re
from dataclasses import dataclass

from xpusetup.explain.clean import LOUD, clean, clean_shown, time_of

UP = 8
DOWN = 8
REACH = 3000

FRAME = re.compile(r'^\s*(?:\|\s+)?File "[^"]+", line \d+')
RAISED = re.compile(r"^\s*(?:[A-Za-z_][\w.]*\.)?[A-Z]\w*(?:Error|Exception|Interrupt)(?:: |$)")
QUOTED_SOURCE = re.compile(r"^\s*\d*\s*\|(?!\w+\|)")
ECHOED = re.compile(r"^\++ ")
ECHO = re.compile(r"^\++ (?:echo|printf) ")
HARMLESS = re.compile(
    r"^HEAD is now at|^hint: "
    r"|^\s*--?[a-z][\w-]*(?:[ =][A-Z]+)?(?:, --?[a-z][\w-]*)*(?: [A-Z]+)?\s{2,}|^ACPI (?:BIOS )?(?:Error|Exception)"
    r"|^ERROR: pip's dependency resolver does not currently"
    r"|^Solving environment: failed with |^debconf: |^invoke-rc\.d: "
    r"|: module verification failed: signature|^\[OSDC\] |^\s*(?:adding|copying|removing|creating) '?\S+"
)
"""What reads like an error and is none: notes of git and pip, a program's help, what every kernel says."""
STATUS = re.compile(r"^--\s")
IGNORED = re.compile(r"\(ignored\)\s*$")
PASSED = re.compile(
    r"^\s*(?:PASSED|SKIPPED|XFAIL|XPASS)\b|\b(?:PASSED|SKIPPED|XFAIL|XPASS)\s*(?:\[\s*\d+%\])?\s*$"
    r"|\b(?:SKIPPED|XFAIL)\s*\(.*\)\s*(?:\[\s*\d+%\])?$"
    r"|^\[gw\d+\] \[ *\d+%\] (?:PASSED|SKIPPED|XFAIL|XPASS)\b"
    r"|\.{3}\s*(?:ok|expected failure|skipped\b.*)$|\.{3,}\s+(?:Passed|Skipped)\b|^\[ +(?:OK|RUN|SKIPPED) +\]"
)
WARNING = re.compile(
    r"(?<!level=)(?:\b|[a-z])warning\b[:\s(]|^W\d{4}\b|^\[W\d{3}"
    r"|\blevel=WARN\b|\|CCL_WARN\||^npm warn\b|^N: |warnings\.warn\(|<warn>",
    re.IGNORECASE,
)
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
    shown: tuple[str, ...] = ()
    raw: str = ""

    @property
    def text(self) -> str:
        """The line in question as people should see it: with the rank or process that says it."""
        return self.show(self.at)

    def show(self, index: int) -> str:
        """Give a line as people should see it."""
        return (self.shown or self.lines)[index].strip()

    @property
    def when(self) -> str:
        """The time at which it was said, where the log tells."""
        return time_of(self.raw)

    @property
    def is_loud(self) -> bool:
        """Whether the logger that wrote it calls it an error."""
        return bool(LOUD.search(self.raw))

    @property
    def line(self) -> str:
        """The line in question."""
        return self.lines[self.at] if self.at < len(self.lines) else ""

    @property
    def is_speech(self) -> bool:
        """Whether a tool says this; not source that is quoted, a command that is echoed, or a test that passed."""
        before = self.lines[self.at - 1] if self.at else ""
        unsaid = (QUOTED_SOURCE, ECHOED, STATUS, IGNORED, PASSED, HARMLESS)
        if FRAME.match(before) and not RAISED.match(self.line):
            return False
        if ECHO.match(before) and self.line and self.line in before:
            return False
        return not any(pattern.search(self.line) for pattern in unsaid)

    @property
    def is_warning(self) -> bool:
        """Whether it is said as a warning, by the line itself or by the head of CMake's message."""
        said = WARNING.search(self.line) or WARNING.search(self.show(self.at) if self.lines else "")
        return bool(said) or "warning" in self.cmake_head.lower()

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
        told = zip(self.numbers, self.shown or self.lines, strict=True)
        return list(told)[max(0, self.at - lines) : self.at + lines + 1]


def make_window(data: bytes, begin: int, number: int) -> Window:
    """Cut the lines around the one that begins there, which is line `number` of the log."""
    above = data[max(0, begin - REACH) : begin].split(b"\n")[-UP - 1 : -1] if begin else []
    below = data[begin : begin + REACH].split(b"\n")[: DOWN + 1]
    lines: list[str] = []
    shown: list[str] = []
    numbers: list[int] = []
    at, here = 0, ""
    for offset, raw in enumerate([*above, *below], start=-len(above)):
        text = raw.decode("utf-8", "replace")
        said = [(clean(part), clean_shown(part)) for part in text.split("\r")]
        kept = [both for both in said if both[0]] or [("", said[-1][1])]
        if offset == 0:
            at, here = len(lines) + _telling([line for line, _shown in kept]), text
        lines += [line for line, _shown in kept]
        shown += [line for _line, line in kept]
        numbers += [number + offset] * len(kept)
    return Window(tuple(lines), tuple(numbers), at, tuple(shown), here)


def _telling(parts: list[str]) -> int:
    return next((index for index, part in enumerate(parts) if TELLING.search(part)), len(parts) - 1)
