"""Variables that end a program with SYCL, or write files, by being set at all or to a value that reads well."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from xpusetup.doctor.question import CheckAnswer, Question, is_xpu

if TYPE_CHECKING:
    from xpusetup.base.model import Level


class EndingVariable(NamedTuple):
    """A variable, the values that do it, how bad that is and what happens.

    The first two were run with intel-sycl-rt 2025.3.3, 2026.1.2 and 2026.2.0, the others with 2026.2.0.
    """

    name: str
    values: str
    level: Level
    happens: str


ENDINGS = (
    EndingVariable(
        "SYCL_PI_TRACE", r".*", "fail", "each program ends with 1 when it asks for devices, whatever the value"
    ),
    EndingVariable("ONEAPI_DEVICE_SELECTOR", r"", "fail", "it is set and empty, which SYCL takes for an error"),
    EndingVariable("SYCL_CACHE_PERSISTENT", r"true", "fail", "0 and 1 alone are read"),
    EndingVariable(
        "SYCL_DUMP_IMAGES", r".*", "warn", "device images are written into the current folder, whatever the value"
    ),
)


def check_endings(question: Question) -> CheckAnswer | None:
    """Look for variables by which a program with SYCL ends, or litters its folder."""
    there = question.facts.environment
    if not is_xpu(question) or there is None:
        return None
    found = [one for one in ENDINGS if one.name in there and re.fullmatch(one.values, there[one.name], re.DOTALL)]
    if not found:
        return CheckAnswer("ok", "none set")
    worst = min(found, key=lambda one: one.level != "fail")
    seen = "\n".join(f"{one.name}={there[one.name]}: {one.happens}" for one in found)
    return CheckAnswer(worst.level, seen, {"names": " ".join(one.name for one in found)})
