"""Many small cases in one check, each named: what the device gives, and what is right.

A case that is wrong fails the check whatever else is found; one that the device does not support is said apart.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

from device_bench import LIMITS, Absent, Bench, Outcome, describe_error, is_unsupported

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

LACKING = "Backend doesn't support"
"""How PyTorch says that a device out of its tree left out a part of its interface."""
NAMED = 3
"""So many cases are named after the first one that is wrong."""


class Case(NamedTuple):
    """One thing that a device does. With a limit of 0 every element, the shape and the dtype have to be equal."""

    name: str
    ours: Callable[[], Any]
    right: Callable[[], Any]
    limit: float = 0.0


class Verdict(NamedTuple):
    name: str
    wrong: str = ""
    unsupported: str = ""
    relative: float = 0.0
    share: float = 0.0  # of its limit


def same(
    bench: Bench, functions: Mapping[str, Callable[..., Any]], *inputs: Any, limit: float = 0.0, note: str = ""
) -> Iterator[Case]:
    """Let the device and the CPU call functions of torch and these inputs; with a limit the CPU works in float64."""

    def ours(function: Callable[..., Any]) -> Any:
        return function(bench.torch, *(one.clone().to(bench.device) for one in inputs))

    def right(function: Callable[..., Any]) -> Any:
        return function(bench.torch, *(widen(one) if limit else one.clone() for one in inputs))

    for name, each in functions.items():
        yield Case(name + (f" {note}" if note else ""), partial(ours, each), partial(right, each), limit)


def in_each_precision(
    bench: Bench, functions: Mapping[str, Callable[..., Any]], *inputs: Any, room: float = 1.0
) -> Iterator[Case]:
    """Let the functions run in float32, float16 and bfloat16; `room` multiplies the usual limits."""
    for name, limit in LIMITS.items():
        rounded = (one.to(getattr(bench.torch, name)) if one.is_floating_point() else one for one in inputs)
        yield from same(bench, functions, *rounded, limit=limit * room, note=name)


def fact(name: str, found: Callable[[], Any], right: Any) -> Case:
    """Make a case of a value that is known beforehand."""
    return Case(name, found, lambda: right)


def widen(tensor: Any) -> Any:
    if tensor.is_complex():
        return tensor.to(tensor.new_zeros(1).cdouble().dtype)
    return tensor.double() if tensor.is_floating_point() else tensor.clone()


def run_cases(bench: Bench, cases: Iterable[Case]) -> Outcome:
    """Judge all cases. NotImplementedError tells of cases that the device lacks, where no other is wrong."""
    cases = tuple(cases)
    verdicts = [judge_case(bench, one) for one in cases]
    wrong = [one for one in verdicts if one.wrong]
    lacking = [one for one in verdicts if one.unsupported]
    limits = sorted({one.limit for one in cases})
    limit = ", ".join(f"relative {one:g}" if one else "equal" for one in limits)
    if wrong:
        return Outcome("fail", f"{describe_first(wrong, 'wrong')} of {len(verdicts)} cases", limit)
    if lacking:
        raise NotImplementedError(f"{describe_first(lacking, 'unsupported')} of {len(verdicts)} cases")
    return Outcome("ok", f"{len(verdicts)} cases{describe_worst(verdicts)}", limit)


def describe_worst(verdicts: list[Verdict]) -> str:
    worst = max(verdicts, key=lambda one: one.share)
    return f", the worst: {worst.name}, relative {worst.relative:.1e}" if worst.relative else ", all equal"


def describe_first(verdicts: list[Verdict], kind: str) -> str:
    first, *others = verdicts
    text = f"{first.name}: {first.wrong or first.unsupported}"
    if not others:
        return f"{text}; {kind}: 1"
    names = ", ".join(one.name for one in others[:NAMED]) + (", ..." if len(others) > NAMED else "")
    return f"{text}; also {names}; {kind}: {len(verdicts)}"


def judge_case(bench: Bench, case: Case) -> Verdict:
    expected = case.right()
    try:
        wrong, relative = differ(bench, case.ours(), expected, case.limit)
    except Exception as error:  # noqa: BLE001, whatever a driver throws is a finding about this case
        text = describe_error(error)
        if is_unsupported(error) or LACKING in text:
            return Verdict(case.name, unsupported=text)
        return Verdict(case.name, wrong=text)
    return Verdict(case.name, wrong, relative=relative, share=relative / (case.limit or 1.0))


def differ(bench: Bench, got: Any, expected: Any, limit: float) -> tuple[str, float]:
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


def judge_rules(rules: dict[str, bool], good: str) -> Outcome:
    broken = [text for text, holds in rules.items() if not holds]
    return Outcome("fail", "; ".join(broken)) if broken else Outcome("ok", good)


def find_function(bench: Bench, name: str, since: str) -> Callable[..., Any]:
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
