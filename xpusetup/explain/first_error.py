"""The first line of a log that tells of an error, without knowing more about it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

DECISIVE = re.compile(
    r"^(xpusetup: |ERROR: |fatal: |CMake Error|FAILED: |make(\[\d+\])?: \*\*\* )"
    r"|\b(fatal error|error): |\b\w*(Error|Exception): |: command not found$"
    r"|No space left on device|^Killed$|: Killed\b|: line \d+: +\d+ (Killed|Segmentation fault|Aborted|Bus error)\b"
)


def find_first_error(lines: Iterable[str]) -> tuple[int, str] | None:
    """Give number (from 1) and text of the first line that tells of an error; None when no line does."""
    for number, line in enumerate(lines, start=1):
        if DECISIVE.search(line):
            return number, line.rstrip("\n")
    return None
