"""The first line of a log that tells of an error, without knowing more about it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

DECISIVE = re.compile(
    r"^(xpusetup: |ERROR: |fatal: |CMake Error|FAILED: |make(\[\d+\])?: \*\*\* )"
    r"|\b(fatal error|error): |\b\w*(Error|Exception): |: command not found$"
    r"|No space left on device|^Killed$|: Killed\b|: line \d+: +\d+ (Killed|Segmentation fault|Aborted|Bus error)\b"
)


CMAKE_HEAD = re.compile(r"CMake Error at .*:$")
"""CMake says where, and what in the lines after it."""


def find_first_error(lines: Iterable[str]) -> tuple[int, str] | None:
    """Give number (from 1) and text of the first line that tells of an error; None when no line does."""
    numbered = enumerate(lines, start=1)
    for number, line in numbered:
        if DECISIVE.search(line):
            said = line.rstrip("\n")
            return number, f"{said} {_next_words(numbered)}".rstrip() if CMAKE_HEAD.match(said) else said
    return None


def _next_words(numbered: Iterator[tuple[int, str]]) -> str:
    return next((line.strip() for _number, line in numbered if line.strip()), "")
