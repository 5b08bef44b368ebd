"""What the checks of verify_device.py are written with: a device, cases, outcomes, and what work costs."""

import importlib
import math
import platform
import re
import resource
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from helperlib.output import render_size

# A device, an outcome, the distance from the right numbers.


LIMITS = {"float32": 1e-5, "float16": 2e-3, "bfloat16": 1.6e-2}
"""Relative difference of one operator: rounding of the result, with room for another order of summation."""
DEEP_LIMIT = 1e-4
"""Several float32 operators in a row, Winograd convolutions among them."""
AMP_LIMIT = 2e-2
COSINE = 0.9999
FRAME = re.compile(r'^  File "(.+)", line (\d+) in (.+)$')
"""A call in a stack that faulthandler writes: file, line, function."""


@dataclass(frozen=True)
class BenchOutcome:
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


class NumericDifference(NamedTuple):
    case: str
    relative: float
    cosine: float
    limit: float


@dataclass(frozen=True)
class DeviceBench:
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


class BenchCheck(NamedTuple):
    """One thing to find out, and from which level of verification on it is asked.

    `run` may raise: Absent where there is nothing to try, NotImplementedError where the device does not support it.
    `patience` in seconds, where it should end earlier than other checks do.
    """

    id: str
    title: str
    run: Callable[[DeviceBench], BenchOutcome]
    level: str = "quick"
    patience: float | None = None


def compare(case: str, got: Any, expected: Any, limit: float) -> NumericDifference:
    ours, right = (tensor.detach().cpu().double().flatten() for tensor in (got, expected))
    if ours.shape != right.shape:
        raise ValueError(f"{case}: {tuple(got.shape)} instead of {tuple(expected.shape)}")
    size, tiny = float(right.norm()), 1e-30
    relative = float((ours - right).norm()) / max(size, tiny)
    return NumericDifference(case, relative, float(ours @ right) / max(float(ours.norm()) * size, tiny), limit)


def judge(found: list[NumericDifference]) -> BenchOutcome:
    """Name the case that is worst for its own limit; what is not a number is worse than any number."""

    def badness(one: NumericDifference) -> float:
        return math.inf if math.isnan(one.relative + one.cosine) else one.relative / one.limit

    worst = max(found, key=badness)
    good = badness(worst) <= 1 and worst.cosine >= COSINE
    where = f"{len(found)} cases, the worst: {worst.case}" if good else f"at {worst.case}"
    seen = f"relative difference {worst.relative:.1e}, cosine {worst.cosine:.6f} ({where})"
    return BenchOutcome("ok" if good else "fail", seen, f"relative {worst.limit:g}, cosine {COSINE}")


def describe_device(bench: DeviceBench, index: int) -> dict[str, Any]:
    module, name, memory, kind = bench.module, None, None, None
    if hasattr(module, "get_device_properties"):
        properties = module.get_device_properties(index)
        name, memory = getattr(properties, "name", None), getattr(properties, "total_memory", None)
        kind = getattr(properties, "type", None)
    if name is None and hasattr(module, "get_device_name"):
        name = module.get_device_name(index)
    told = {"index": index, "name": str(name or platform.machine()), "total_memory": memory}
    return {**told, "kind": kind_of(bench.name, kind, str(name))}


def kind_of(device: str, kind: object, name: str = "") -> str:
    """Say what computes: gpu, which stands for every device of its own, processor or simulated.

    `kind` is the type that the device's properties name: `cpu` on XPU where a build is for the processor. A simulated
    device says so in its name.
    """
    if "simulated" in name:
        return "simulated"
    return "processor" if "cpu" in {device, kind} else "gpu"


def is_unsupported(error: Exception) -> bool:
    """Say whether an error means that this device lacks it; before torch 2.3 a missing dtype was a RuntimeError."""
    return isinstance(error, NotImplementedError) or "\" not implemented for '" in str(error)


def describe_error(error: BaseException) -> str:
    """Give the first line of the error and of what it came from, which for an extension that breaks is the reason."""
    root = error
    while root.__cause__ is not None:
        root = root.__cause__
    texts = []
    for one in (error, root):
        lines = [line.strip() for line in str(one).splitlines() if line.strip()]
        # The next line too where the first only announces it: torch.compile names the cause nowhere else.
        words = " ".join(lines[: 2 if lines and lines[0].endswith(":") else 1])
        texts.append(f"{type(one).__name__}: {words[:300]}")
    return " because ".join(dict.fromkeys(texts))


# Many small cases in one check, each named: what the device gives, and what is right.
#
# A case that is wrong fails the check whatever else is found; one that the device does not support is said apart.


LACKING = "Backend doesn't support"
"""How PyTorch says that a device out of its tree left out a part of its interface."""
NAMED = 3
"""Maximum number of wrong cases that are named after the first."""


class DeviceCase(NamedTuple):
    """One thing that a device does. With a limit of 0 every element, the shape and the dtype have to be equal."""

    name: str
    ours: Callable[[], Any]
    right: Callable[[], Any]
    limit: float = 0.0


class CaseVerdict(NamedTuple):
    name: str
    wrong: str = ""
    unsupported: str = ""
    relative: float = 0.0
    share: float = 0.0  # of its limit


def same(
    bench: DeviceBench, functions: Mapping[str, Callable[..., Any]], *inputs: Any, limit: float = 0.0, note: str = ""
) -> Iterator[DeviceCase]:
    """Let the device and the CPU call functions of torch and these inputs; with a limit the CPU works in float64."""

    def ours(function: Callable[..., Any]) -> Any:
        return function(bench.torch, *(one.clone().to(bench.device) for one in inputs))

    def right(function: Callable[..., Any]) -> Any:
        return function(bench.torch, *(widen(one) if limit else one.clone() for one in inputs))

    for name, each in functions.items():
        yield DeviceCase(name + (f" {note}" if note else ""), partial(ours, each), partial(right, each), limit)


def in_each_precision(
    bench: DeviceBench, functions: Mapping[str, Callable[..., Any]], *inputs: Any, room: float = 1.0
) -> Iterator[DeviceCase]:
    """Let the functions run in float32, float16 and bfloat16; `room` multiplies the usual limits."""
    for name, limit in LIMITS.items():
        rounded = (one.to(getattr(bench.torch, name)) if one.is_floating_point() else one for one in inputs)
        yield from same(bench, functions, *rounded, limit=limit * room, note=name)


def fact(name: str, found: Callable[[], Any], right: Any) -> DeviceCase:
    """Make a case of a value that is known beforehand."""
    return DeviceCase(name, found, lambda: right)


def widen(tensor: Any) -> Any:
    if tensor.is_complex():
        return tensor.to(tensor.new_zeros(1).cdouble().dtype)
    return tensor.double() if tensor.is_floating_point() else tensor.clone()


def run_cases(bench: DeviceBench, cases: Iterable[DeviceCase]) -> BenchOutcome:
    """Judge all cases. NotImplementedError tells of cases that the device lacks, where no other is wrong."""
    cases = tuple(cases)
    verdicts = [judge_case(bench, one) for one in cases]
    wrong = [one for one in verdicts if one.wrong]
    lacking = [one for one in verdicts if one.unsupported]
    limits = sorted({one.limit for one in cases})
    limit = ", ".join(f"relative {one:g}" if one else "equal" for one in limits)
    if wrong:
        return BenchOutcome("fail", f"{describe_first(wrong, 'wrong')} of {len(verdicts)} cases", limit)
    if lacking:
        raise NotImplementedError(f"{describe_first(lacking, 'unsupported')} of {len(verdicts)} cases")
    return BenchOutcome("ok", f"{len(verdicts)} cases{describe_worst(verdicts)}", limit)


def by_cases(cases: Callable[[DeviceBench], Iterable[DeviceCase]]) -> Callable[[DeviceBench], BenchOutcome]:
    """Make a check of what gives its cases; that may raise, as a check may."""
    return lambda bench: run_cases(bench, cases(bench))


def describe_worst(verdicts: list[CaseVerdict]) -> str:
    worst = max(verdicts, key=lambda one: one.share)
    return f", the worst: {worst.name}, relative {worst.relative:.1e}" if worst.relative else ", all equal"


def describe_first(verdicts: list[CaseVerdict], kind: str) -> str:
    first, *others = verdicts
    names = ", ".join(one.name for one in others[:NAMED]) + (", ..." if len(others) > NAMED else "")
    also = f"; also {names}" if others else ""
    return f"{first.name}: {first.wrong or first.unsupported}{also}; {kind}: {len(verdicts)}"


def judge_case(bench: DeviceBench, case: DeviceCase) -> CaseVerdict:
    expected = case.right()
    try:
        wrong, relative = differ(bench, case.ours(), expected, case.limit)
    except Exception as error:  # noqa: BLE001, whatever a driver throws is a finding about this case
        text = describe_error(error)
        if is_unsupported(error) or LACKING in text:
            return CaseVerdict(case.name, unsupported=text)
        return CaseVerdict(case.name, wrong=text)
    return CaseVerdict(case.name, wrong, relative=relative, share=relative / (case.limit or 1.0))


def differ(bench: DeviceBench, got: Any, expected: Any, limit: float) -> tuple[str, float]:
    """Say what is wrong, or an empty text, and how far the numbers are apart."""
    if isinstance(expected, (tuple, list)):
        if len(got) != len(expected):
            return f"{len(got)} results instead of {len(expected)}", 0.0
        parts = [differ(bench, one, other, limit) for one, other in zip(got, expected, strict=True)]
        return next((text for text, _ in parts if text), ""), max((one for _, one in parts), default=0.0)
    if not hasattr(expected, "dtype"):
        return ("" if got == expected else f"{got!r} instead of {expected!r}"), 0.0
    if expected.device.type == "cpu" and got.device.type not in {"cpu", bench.name}:
        return f"on {got.device}", 0.0
    if got.shape != expected.shape:
        return f"shape {tuple(got.shape)} instead of {tuple(expected.shape)}", 0.0
    return measure(got.cpu(), expected, limit) if limit else compare_exactly(got, expected)


def compare_exactly(got: Any, expected: Any) -> tuple[str, float]:
    if got.dtype != expected.dtype:
        return f"{got.dtype} instead of {expected.dtype}", 0.0
    ours = got.cpu()
    equal = (ours == expected) | ((ours != ours) & (expected != expected))  # noqa: PLR0124, a nan is not itself
    if bool(equal.all()):
        return "", 0.0
    places = (~equal).nonzero()
    at = tuple(places[0].tolist())
    shown = f"{ours[at].item()} instead of {expected[at].item()}"
    return f"{len(places)} of {equal.numel()} elements, first {list(at)}: {shown}", 0.0


def measure(got: Any, expected: Any, limit: float) -> tuple[str, float]:
    """Compare by norm. What is not finite has to be the same at the same places."""
    ours, right = spread(got), spread(expected)
    finite = right.isfinite()
    text, _ = compare_exactly(ours[~finite], right[~finite])
    if text:
        return f"of those that are not finite, {text}", 0.0
    ours, right = ours[finite], right[finite]
    relative = float((ours - right).norm()) / max(float(right.norm()), 1e-30)
    return ("" if relative <= limit else f"relative difference {relative:.1e}"), relative  # nan is no smaller


def spread(tensor: Any) -> Any:
    """Give one row of float64: of complex numbers both parts."""
    wide = widen(tensor.detach().resolve_conj())
    return (wide.view(wide.real.dtype) if wide.is_complex() and wide.dim() else wide).flatten()


def judge_rules(rules: dict[str, bool], good: str) -> BenchOutcome:
    broken = [text for text, holds in rules.items() if not holds]
    return BenchOutcome("fail", "; ".join(broken)) if broken else BenchOutcome("ok", good)


def find_function(bench: DeviceBench, name: str, since: str) -> Callable[..., Any]:
    """Find a function in the device's module or in torch.accelerator; Absent where neither has it.

    `since` is the first release whose torch.xpu has it; other devices can have it by torch.accelerator since 2.9.
    """
    if bench.name == "cpu":
        raise Absent(f"the CPU has no {name}")
    for place in (bench.module, getattr(bench.torch, "accelerator", None)):
        found: Callable[..., Any] | None = getattr(place, name, None)
        if found is not None:
            return found
    raise Absent(f"torch.{bench.name}.{name}, since {since if bench.name == 'xpu' else '2.9'}")


# What a piece of work costs on a device: seconds until it is really done, and the most memory at once.


PROCESS = Path("/proc/self")
RESET_PEAK = "5"
"""What Linux takes in clear_refs as the wish to count the peak anew."""


@dataclass(frozen=True)
class Cost:
    """Seconds of each run, the first with whatever is loaded or compiled once, and the peak in bytes.

    The peak is that of the device's allocator, or, where it counts none, that of this process.
    """

    seconds: tuple[float, ...]
    peak: int
    of_device: bool

    def __str__(self) -> str:
        first, *others = self.seconds
        again = f", then {min(others):.2f} s" if others else ""
        return f"{first:.2f} s{again}, peak {render_size(self.peak)}{'' if self.of_device else ' of the process'}"


def find_host_peak() -> int:
    """Give the most bytes of memory that this process held at once."""
    with suppress(OSError, StopIteration, ValueError):
        lines = (PROCESS / "status").read_text(encoding="utf-8").splitlines()
        line = next(line for line in lines if line.startswith("VmHWM:"))
        return int(line.split()[1]) * 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def run_measured(bench: DeviceBench, run: Callable[[], Any], times: int = 1) -> tuple[list[Any], Cost]:
    """Run something several times; give what each run returned, and what it cost.

    A device works on after the call has returned, so the clock stops when it has nothing left to do.
    """
    results, seconds = [], []
    bench.synchronize()
    bench.reset_peak()
    with suppress(OSError):  # without the right to it the peak of the process is that since it began
        (PROCESS / "clear_refs").write_text(RESET_PEAK, encoding="ascii")
    for _ in range(times):
        began = time.perf_counter()
        results.append(run())
        bench.synchronize()
        seconds.append(time.perf_counter() - began)
    peak = bench.find_peak()
    return results, Cost(tuple(seconds), peak or find_host_peak(), of_device=bool(peak))
