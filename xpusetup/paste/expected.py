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
USED = re.compile(
    r"inference compute\W[^\n]*library=(?:Vulkan|oneapi|sycl)|va_openDriver\(\) returns 0\b|Driver version: Intel iHD"
    r"|generation throughput: [1-9]|^\|.*\|\s*(?:SYCL|Vulkan|XPU)\S*\s*\|.*\u00b1"
    r"|Device #\d+: .*\b(?:Arc|Iris|U?HD|Graphics)\b"
    r"|^Device: xpu:\d|\binference speed\W{1,3}\d|\[level_zero:gpu\]|^\(?True\b|xpu\.is_available\(\)\W{0,6}True"
)
"""What programs show that use the GPU."""
SETTLED = re.compile(
    r"(?i)\[solved\]|^\W*solved\b|\b(?:fixed|solved|resolved) (?:it|this|that|the (?:issue|problem))\b"
    r"|\b(?:it|this|that|which|everything|all)(?: else)? (?:now )?(?:works?|runs?) (?:just )?"
    r"(?:fine|ok|well|great|perfectly)\b"
    r"|\bnow (?:it |everything |all )?(?:works|runs)\b|\b(?:can|may) be (?:omitted|left out)\b|\bnot a bug\b"
    r"|\b(?:and|then) \w+ (?:runs|works) (?:fine|ok|well)\b"
)
COMPARED = re.compile(
    r"(?i)\b(?:kernel|host|windows|ubuntu|debian|version|release|other|previous\w*|before|as root|sudo|downgrad\w*"
    r"|until|but|except|older|outside|was|were|used to|not|n't)\b"
)
"""Words by which a sentence tells of another machine, time or way."""
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


def shows_use(lines: Sequence[str]) -> bool:
    """Say whether programs show that they use the GPU."""
    return any(USED.search(line) for line in lines)


def is_settled(lines: Sequence[str]) -> bool:
    """Say whether who posts says that all is well now, and programs show that they use the GPU."""
    said = any(SETTLED.search(line) and not COMPARED.search(line) for line in lines)
    titled = any(re.match(r"(?i)\W*solved\b", line) for line in lines)
    return (said or titled) and shows_use(lines)


def _calls(lines: Sequence[str]) -> bool:
    text = " ".join(lines)
    return EXPECTED.search(text) is not None and DENIED.search(text) is None
