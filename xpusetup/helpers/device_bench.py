"""What the checks of verify_device.py are written with: a device, an outcome, the distance from the right numbers."""

from __future__ import annotations

import importlib
import math
import platform
import re
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Callable

LIMITS = {"float32": 1e-5, "float16": 2e-3, "bfloat16": 1.6e-2}
"""Relative difference of one operator: rounding of the result, with room for another order of summation."""
DEEP_LIMIT = 1e-4
"""Several float32 operators in a row, Winograd convolutions among them."""
AMP_LIMIT = 2e-2
COSINE = 0.9999


@dataclass(frozen=True)
class Outcome:
    """What a check found. Where `verdict` is not given it follows from the level, or from what the check raised."""

    level: str
    seen: str
    limit: str | None = None
    facts: dict[str, Any] = field(default_factory=dict)
    own_fault: bool = False  # whatever failed before, this does not follow from it
    verdict: str = ""
    since: str = ""


class Absent(Exception):  # noqa: N818, a finding
    """What this torch or this device does not have; the text says what, `since` which release of torch brought it.

    Without `since`, nor "since 2.6" in the text, there is nothing to try, which is never a fault.
    """

    def __init__(self, text: str, since: str = "") -> None:
        super().__init__(text)
        named = re.search(r"\bsince (?:torch |release )?(\d+\.\d+)", text)
        self.since = since or (named[1] if named else "")


class Difference(NamedTuple):
    case: str
    relative: float
    cosine: float
    limit: float


@dataclass(frozen=True)
class Bench:
    """The device under test. Importing torch is the first check, so it cannot come any earlier than its first use.

    `compile_backend` is that of torch.compile ("" where the device file names none, so torch's own default),
    `collectives` that of torch.distributed ("" where the device has none). `extension` is the module that teaches torch
    the device where torch does not load it by itself, `loader` the device's class of data loaders, as module:Class.
    """

    name: str
    compile_backend: str = ""
    collectives: str = ""
    extension: str = ""
    loader: str = ""

    @property
    def torch(self) -> Any:
        return importlib.import_module("torch")

    @property
    def module(self) -> Any:
        found = getattr(self.torch, self.name, None)
        return found if hasattr(found, "is_available") else None

    @property
    def device(self) -> str:
        return "cpu" if self.name == "cpu" else f"{self.name}:0"

    def synchronize(self) -> None:
        if hasattr(self.module, "synchronize"):
            self.module.synchronize()

    def reset_peak(self) -> None:
        with suppress(Exception):  # a device without the counter is a row of its own (api.*)
            self.module.reset_peak_memory_stats()

    def find_peak(self) -> int | None:
        """Give the most bytes that were allocated at once since reset_peak, where the device tells."""
        with suppress(Exception):
            return int(self.module.max_memory_allocated()) or None
        return None


class Check(NamedTuple):
    """One thing to find out, and from which level of verification on it is asked.

    `run` may raise: Absent where there is nothing to try, NotImplementedError where the device does not support it.
    `patience` in seconds, where it should end earlier than other checks do.
    """

    id: str
    title: str
    run: Callable[[Bench], Outcome]
    level: str = "quick"
    patience: float | None = None


def compare(case: str, got: Any, expected: Any, limit: float) -> Difference:
    ours, right = (tensor.detach().cpu().double().flatten() for tensor in (got, expected))
    if ours.shape != right.shape:
        raise ValueError(f"{case}: {tuple(got.shape)} instead of {tuple(expected.shape)}")
    size, tiny = float(right.norm()), 1e-30
    relative = float((ours - right).norm()) / max(size, tiny)
    return Difference(case, relative, float(ours @ right) / max(float(ours.norm()) * size, tiny), limit)


def judge(found: list[Difference]) -> Outcome:
    """Name the case that is worst for its own limit; what is not a number is worse than any number."""

    def badness(one: Difference) -> float:
        return math.inf if math.isnan(one.relative + one.cosine) else one.relative / one.limit

    worst = max(found, key=badness)
    good = badness(worst) <= 1 and worst.cosine >= COSINE
    where = f"{len(found)} cases, the worst: {worst.case}" if good else f"at {worst.case}"
    seen = f"relative difference {worst.relative:.1e}, cosine {worst.cosine:.6f} ({where})"
    return Outcome("ok" if good else "fail", seen, f"relative {worst.limit:g}, cosine {COSINE}")


def describe_device(bench: Bench, index: int) -> dict[str, Any]:
    module, name, memory = bench.module, None, None
    if hasattr(module, "get_device_properties"):
        properties = module.get_device_properties(index)
        name, memory = getattr(properties, "name", None), getattr(properties, "total_memory", None)
    if name is None and hasattr(module, "get_device_name"):
        name = module.get_device_name(index)
    return {"index": index, "name": str(name or platform.machine()), "total_memory": memory}


def is_unsupported(error: Exception) -> bool:
    """Say whether an error means that this device lacks it; before torch 2.3 a missing dtype was a RuntimeError."""
    return isinstance(error, NotImplementedError) or "\" not implemented for '" in str(error)


def describe_error(error: BaseException) -> str:
    """Give the first line of the error and of what it came from, which for an extension that breaks is the reason."""
    root = error
    while root.__cause__ is not None:
        root = root.__cause__
    texts = [f"{type(one).__name__}: {first_words(str(one))[:300]}" for one in (error, root)]
    return " because ".join(dict.fromkeys(texts))


def first_words(text: str) -> str:
    """Give the first line, and the next where it only announces that: torch.compile names the cause nowhere else."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return " ".join(lines[: 2 if lines and lines[0].endswith(":") else 1])
