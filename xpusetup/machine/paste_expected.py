"""Errors that a post shows and that are no failure of its machine: expected ones, and other programs' own. Pure."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence


EXPECTED = re.compile(
    r"(?i)\b(?:is|was|are|were|(?:which|this|that|it)['\u2019]s|as|of course|both|all|also)"
    r" (?:all |fully |quite |to be )?expected\b"
    r"|^\W*expected(?:,|\.|\)| since\b| because\b| here\b| there\b)"
    r"|\b(?:is|are|was|were|it's|that's) (?:harmless|intended|intentional|by design|on purpose|no problem)\b"
    r"|\b(?:can|may) be (?:safely )?ignored\b|\bworks? as (?:designed|documented|intended)\b"
)
DENIED = re.compile(
    r"(?i)\b(?:not|isn['\u2019]t|wasn['\u2019]t|un|than|what|why|if|whether)\W?(?:is |was |as )?expected\b"
    r"|\bexpected\b[^.]{0,40}\?"
)
AFTER, BEFORE = 3, 2
"""As many lines after an error, and before it, are about it; empty ones do not count."""
OWN_PART = re.compile(r"No module named [`'\"](?P<package>\w+)(?:\.\w+)*\._\w+[`'\"]")
OF_TORCH = re.compile(r"torch|intel_extension|triton|habana|vllm")


def is_of_another(error: str) -> bool:
    """Say whether an error is of a compiled part of a package that is not torch's: built for another device."""
    found = OWN_PART.search(error)
    return found is not None and not OF_TORCH.search(found["package"])


def is_expected(error: str, lines: Sequence[str]) -> bool:
    """Say whether who posted an error calls it expected, in a sentence right before or after each place it stands."""
    seen = error.strip()[:100]
    told = [line for line in lines if line.strip()]
    places = [place for place, line in enumerate(told) if seen and seen in line]
    return bool(places) and all(_calls(told[max(0, each - BEFORE) : each + AFTER + 1]) for each in places)


def _calls(lines: Sequence[str]) -> bool:
    text = " ".join(lines)
    return EXPECTED.search(text) is not None and DENIED.search(text) is None
