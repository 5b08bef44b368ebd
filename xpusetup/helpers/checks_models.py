"""The inference examples of PyTorch's Intel GPU guide, on any device, each against float64 on the CPU.

ResNet-50 of our own with random weights and synthetic pictures: execution and numbers are checked, accuracy is not.
"""

from __future__ import annotations

import copy
import math
from functools import lru_cache, partial
from typing import TYPE_CHECKING, Any, NamedTuple

from autocast_dtypes import judge_dtypes, refuse_dtype, watch_dtypes
from compiled_run import run_compiled
from device_bench import Bench, Check, Difference, Outcome, compare
from device_cost import run_measured

if TYPE_CHECKING:
    from collections.abc import Callable

NOTE = "random weights, synthetic data"
LIMITS = {"float32": (1e-4, 0.9999), "float16": (1e-2, 0.9999), "bfloat16": (4e-2, 0.999)}
"""Relative norm and cosine of the logits. Rounding after each of 53 layers adds up to 1e-6, 2e-3 and 1e-2 on CPUs;
the limits leave room for other algorithms, Winograd among them, and none for a wrong operator."""
SIZE = 224
"""Pixels a side, as in the guide."""


class Case(NamedTuple):
    """A model in eval mode, a batch for it, and the logits that float64 gives."""

    model: Any
    batch: Any
    right: Any


@lru_cache(maxsize=1)
def make_case(torch: Any) -> Case:
    """Make one case for all checks of a process: building it takes longer than running it."""
    from resnet import make_resnet50, settle  # noqa: PLC0415, it imports torch, which is the first check

    torch.default_generator.manual_seed(50)
    with torch.no_grad():
        model = settle(make_resnet50(), torch.rand(4, 3, 64, 64))
        batch = torch.rand(1, 3, SIZE, SIZE)
        return Case(model, batch, copy.deepcopy(model).double()(batch.double()))


def move_case(bench: Bench) -> tuple[Any, Any]:
    """Give model and batch on the device. TF32 is no fault, but its three digits are not what is asked for here."""
    if hasattr(bench.torch.backends, "cudnn"):
        bench.torch.backends.cudnn.allow_tf32 = False
    case = make_case(bench.torch)
    return copy.deepcopy(case.model).to(bench.device), case.batch.to(bench.device)


def judge_logits(found: list[Difference], cosine: float) -> Outcome:
    """Say whether every run gave the right logits; what is not a number is worse than any difference."""
    worst = max(found, key=lambda one: math.inf if math.isnan(one.relative) else one.relative)
    good = worst.relative <= worst.limit and worst.cosine >= cosine  # False also for nan
    seen = f"relative difference {worst.relative:.1e}, cosine {worst.cosine:.5f}{'' if good else f' in {worst.case}'}"
    return Outcome("ok" if good else "fail", seen, f"relative {worst.limit:g}, cosine {cosine:g}")


def infer(bench: Bench, run: Callable[[Any], Any], batch: Any, dtype: str, times: int = 2) -> Outcome:
    """Run a model on the device, more than once: the first run may take another way than all others."""
    with bench.torch.no_grad():
        results, cost = run_measured(bench, partial(run, batch), times)
    (limit, cosine), right = LIMITS[dtype], make_case(bench.torch).right
    outcome = judge_logits([compare(f"run {at}", one, right, limit) for at, one in enumerate(results, 1)], cosine)
    return Outcome(outcome.level, f"{outcome.seen}; {cost}; {NOTE}", outcome.limit)


def check_inference(bench: Bench) -> Outcome:
    return infer(bench, *move_case(bench), "float32")


def check_inference_amp(bench: Bench, dtype: str) -> Outcome:
    refuse_dtype(bench, dtype)
    torch = bench.torch
    model, batch = move_case(bench)
    kinds = watch_dtypes(torch, model)

    def run(batch: Any) -> Any:
        with torch.autocast(bench.name, dtype=getattr(torch, dtype)):
            return model(batch)

    outcome = infer(bench, run, batch, dtype)
    return judge_dtypes(kinds, dtype) or outcome


def check_inference_compiled(bench: Bench) -> Outcome:
    model, batch = move_case(bench)
    with run_compiled(bench, model) as (run, compiled):
        outcome = infer(bench, run, batch, "float32", times=3)
    trouble = compiled.find_trouble()
    if trouble:
        return Outcome("fail", f"{trouble} ({compiled})", "compiled code in every call", own_fault=True)
    return Outcome(outcome.level, f"{outcome.seen}; {compiled}", outcome.limit)


CHECKS = (
    Check("models.infer_fp32", "ResNet-50 inference fp32", check_inference, "smoke"),
    Check(
        "models.infer_amp_bf16",
        "ResNet-50 inference AMP bf16",
        partial(check_inference_amp, dtype="bfloat16"),
        "smoke",
    ),
    Check(
        "models.infer_amp_fp16",
        "ResNet-50 inference AMP fp16",
        partial(check_inference_amp, dtype="float16"),
        "smoke",
    ),
    Check("models.infer_compiled", "ResNet-50 torch.compile", check_inference_compiled, "smoke"),
)
