"""What the checks of verify_device.py are written with: a device, an outcome, the distance from the right numbers."""

from __future__ import annotations

import importlib
import math
import platform
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
    level: str
    seen: str
    limit: str | None = None
    facts: dict[str, Any] = field(default_factory=dict)
    own_fault: bool = False  # whatever failed before, this does not follow from it


class Absent(Exception):  # noqa: N818, a finding
    """What this torch or this device does not have; the text says what, and since which release others have it."""


class Difference(NamedTuple):
    case: str
    relative: float
    cosine: float
    limit: float


@dataclass(frozen=True)
class Bench:
    """The device under test. Importing torch is the first check, so it cannot come any earlier than its first use."""

    name: str

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


class Check(NamedTuple):
    """One thing to find out, and from which level of verification on it is asked.

    `run` may raise: Absent where there is nothing to try, NotImplementedError where the device does not support it.
    """

    id: str
    title: str
    run: Callable[[Bench], Outcome]
    level: str = "quick"


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


def describe_error(error: BaseException) -> str:
    """Give the first line of the error and of what it came from, which for an extension that breaks is the reason."""
    root = error
    while root.__cause__ is not None:
        root = root.__cause__
    texts = [f"{type(one).__name__}: {(str(one).splitlines() or [''])[0][:300]}" for one in (error, root)]
    return " because ".join(dict.fromkeys(texts))
