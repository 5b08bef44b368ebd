"""The inference examples of PyTorch's Intel GPU guide, on any device, each against float64 on the CPU.

ResNet-50 of our own with random weights and synthetic pictures: execution and numbers are checked, accuracy is not.
"""

import copy
import math
import os
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from functools import lru_cache, partial
from typing import Any, NamedTuple

from helperlib.output import count
from helperlib.verify.bench import (
    Absent,
    BenchCheck,
    BenchOutcome,
    DeviceBench,
    NumericDifference,
    compare,
    run_measured,
)

# What autocast really lowers: the dtypes that come out of the layers it is for.


def watch_dtypes(torch: Any, model: Any) -> Counter[str]:
    """Count, from now on, the dtypes that come out of convolutions and linear layers."""
    kinds: Counter[str] = Counter()

    def note(_layer: Any, _inputs: Any, output: Any) -> None:
        kinds[str(output.dtype).removeprefix("torch.")] += 1

    for layer in model.modules():
        if isinstance(layer, (torch.nn.Conv2d, torch.nn.Linear)):
            layer.register_forward_hook(note)
    return kinds


def refuse_dtype(bench: DeviceBench, dtype: str) -> None:
    """Raise NotImplementedError where the device itself says that its autocast does not have the dtype."""
    tell = getattr(bench.module, "get_amp_supported_dtype", None)
    if tell and getattr(bench.torch, dtype) not in tell():
        raise NotImplementedError(f"autocast to {dtype}: torch.{bench.name} does not list it")


def judge_dtypes(kinds: Counter[str], dtype: str) -> BenchOutcome | None:
    """Give the failure where layers came out in another dtype than autocast's, None where all did in that."""
    others = {kind: number for kind, number in kinds.items() if kind != dtype}
    if kinds and not others:
        return None
    shown = ", ".join(f"{number} in {kind}" for kind, number in sorted(others.items())) or "none ran"
    effect = "autocast misses some" if kinds[dtype] else "autocast has no effect"
    seen = f"of {kinds.total()} results of convolutions and linear layers {shown}: {effect}"
    return BenchOutcome("fail", seen, dtype)


# torch.compile, observed: whether compiled code ran, or only what it was compiled from.


INDUCTOR = "inductor"
CACHE = "TORCHINDUCTOR_CACHE_DIR"
SWITCHES = ("TORCHDYNAMO_DISABLE", "TORCH_COMPILE_DISABLE")
NO_COMPILER = "InvalidCxxCompiler"


@dataclass
class Compiled:
    """Counts of one compiled model: its calls, its graphs, and how often the code made from a graph ran.

    `kernels` is how many inductor wrote itself, None where another back end compiles or torch does not tell.
    """

    backend: str
    calls: int = 0
    graphs: int = 0
    runs: int = 0
    breaks: int = 0
    kernels: int | None = None

    def find_trouble(self) -> str:
        """Say why this was not compiled code, or nothing."""
        if not self.graphs:
            off = [f"{name}={os.environ[name]}" for name in SWITCHES if os.environ.get(name)]
            return " ".join(("nothing was compiled", *(f"({one})" for one in off)))
        if self.runs < self.calls:
            return f"compiled code ran in {self.runs} of {self.calls} calls"
        return "inductor wrote no kernel" if self.kernels == 0 else ""

    def __str__(self) -> str:
        kernels = "" if self.kernels is None else f", {count(self.kernels, 'kernel')}"
        return f"{self.backend}: {count(self.graphs, 'graph')}{kernels}, {count(self.breaks, 'graph break')}"


def choose_backend(bench: DeviceBench) -> str:
    """Give the device's back end. Raises NotImplementedError where it names none, or inductor cannot compile for it."""
    if not bench.compile_backend and not knows_device(bench.name):
        raise NotImplementedError(f"no compile backend: {INDUCTOR} does not know {bench.name}")
    chosen = bench.compile_backend or INDUCTOR
    if chosen == INDUCTOR and (why := lacks_triton(bench.name)):
        raise NotImplementedError(why)
    return chosen


def knows_device(name: str) -> bool:
    """Ask inductor before it fails for a reason that it does not tell; where its registry moved, let it try."""
    try:
        from torch._inductor.codegen.common import (  # noqa: PLC0415, importing torch is the first check
            get_scheduling_for_device,
            init_backend_registration,
        )
    except ImportError:
        return True
    init_backend_registration()
    return get_scheduling_for_device(name) is not None


TRITON = {"xpu": "intel"}
"""What Triton calls its back end for a device whose kernels inductor writes in Triton's language."""


def lacks_triton(name: str) -> str:
    """Say that the Triton that is installed is another device's; where there is none, inductor says so itself."""
    try:
        from triton.backends import backends  # noqa: PLC0415, torch may come without it
    except ImportError:
        return ""
    wanted = TRITON.get(name, "")
    if wanted in {"", *backends}:
        return ""
    return f"Triton is installed for {', '.join(sorted(backends))} and not for {wanted}"


def count_kernels() -> int | None:
    """Give how many kernels inductor wrote in this process, where this torch counts them."""
    try:
        from torch._inductor import metrics  # noqa: PLC0415, as above
    except ImportError:
        return None
    found: int | None = getattr(metrics, "generated_kernel_count", None)
    return found


def count_breaks(torch: Any) -> int:
    return sum(torch._dynamo.utils.counters["graph_break"].values())  # noqa: SLF001, no public way


def compile_counted(bench: DeviceBench, model: Any, compiled: Compiled) -> Callable[..., Any]:
    """Give the model compiled by a back end that counts what it compiles and every run of that."""
    torch = bench.torch
    backend = torch._dynamo.lookup_backend(compiled.backend)  # noqa: SLF001, as above

    def compile_graph(graph: Any, inputs: list[Any]) -> Callable[..., Any]:
        compiled.graphs += 1
        made = backend(graph, inputs)

        def run(*arguments: Any) -> Any:
            compiled.runs += 1
            return made(*arguments)

        return run

    optimised = torch.compile(model, backend=compile_graph)

    def call(*arguments: Any) -> Any:
        compiled.calls += 1
        return optimised(*arguments)

    return call


@contextmanager
def fresh_cache() -> Iterator[None]:
    """Compile anew, whatever is in the user's cache: code that was compiled once proves nothing about now."""
    before = os.environ.get(CACHE)
    with tempfile.TemporaryDirectory(prefix="compiled-", ignore_cleanup_errors=True) as folder:
        os.environ[CACHE] = folder
        try:
            yield
        finally:
            os.environ.pop(CACHE)
            if before is not None:
                os.environ[CACHE] = before


@contextmanager
def run_compiled(bench: DeviceBench, model: Any) -> Iterator[tuple[Callable[..., Any], Compiled]]:
    """Give a model that compiles at its first call, and its counts, which are complete at the end.

    Errors of the compiler come through; one that is not installed is Absent.
    """
    compiled = Compiled(choose_backend(bench))
    dynamo, before = bench.torch._dynamo, count_kernels()  # noqa: SLF001, no public way
    with ExitStack() as stack:
        stack.enter_context(fresh_cache())
        stack.enter_context(dynamo.config.patch(suppress_errors=False))
        stack.callback(dynamo.reset)
        breaks = count_breaks(bench.torch)
        try:
            yield compile_counted(bench, model, compiled), compiled
        except Exception as error:
            refuse_missing_compiler(error)
            raise
        compiled.breaks = count_breaks(bench.torch) - breaks
        after = count_kernels() if compiled.backend == INDUCTOR else None
        compiled.kernels = None if after is None or before is None else after - before


def refuse_missing_compiler(error: BaseException) -> None:
    """Raise Absent where what failed is that there is no C++ compiler: that is this machine, not the device."""
    chain: list[BaseException] = [error]
    while following := chain[-1].__cause__ or chain[-1].__context__:
        chain.append(following)
    if any(NO_COMPILER in f"{type(one).__name__}: {one}" for one in chain):
        raise Absent("no C++ compiler here (CXX, g++ or clang++), which torch.compile needs") from error


# The examples.


NOTE = "random weights, synthetic data"
LIMITS = {"float32": (1e-4, 0.9999), "float16": (1e-2, 0.9999), "bfloat16": (4e-2, 0.999)}
"""Relative norm and cosine of the logits. Rounding after each of 53 layers adds up to 1e-6, 2e-3 and 1e-2 on CPUs;
the limits leave room for other algorithms, Winograd among them, and none for a wrong operator."""
SIZE = 224
"""Pixels a side, as in the guide."""


class ModelCase(NamedTuple):
    """A model in eval mode, a batch for it, and the logits that float64 gives."""

    model: Any
    batch: Any
    right: Any


@lru_cache(maxsize=1)
def make_case(torch: Any) -> ModelCase:
    """Make one case for all checks of a process: building it takes longer than running it."""
    from helperlib.checks.resnet import make_resnet50, settle  # noqa: PLC0415, it imports torch, which is the first check

    torch.default_generator.manual_seed(50)
    with torch.no_grad():
        model = settle(make_resnet50(), torch.rand(4, 3, 64, 64))
        batch = torch.rand(1, 3, SIZE, SIZE)
        return ModelCase(model, batch, copy.deepcopy(model).double()(batch.double()))


def move_case(bench: DeviceBench) -> tuple[Any, Any]:
    """Give model and batch on the device. TF32 is no fault, but its three digits are not what is asked for here."""
    if hasattr(bench.torch.backends, "cudnn"):
        bench.torch.backends.cudnn.allow_tf32 = False
    case = make_case(bench.torch)
    return copy.deepcopy(case.model).to(bench.device), case.batch.to(bench.device)


def judge_logits(found: list[NumericDifference], cosine: float) -> BenchOutcome:
    """Say whether every run gave the right logits; what is not a number is worse than any difference."""
    worst = max(found, key=lambda one: math.inf if math.isnan(one.relative) else one.relative)
    good = worst.relative <= worst.limit and worst.cosine >= cosine  # False also for nan
    seen = f"relative difference {worst.relative:.1e}, cosine {worst.cosine:.5f}{'' if good else f' in {worst.case}'}"
    return BenchOutcome("ok" if good else "fail", seen, f"relative {worst.limit:g}, cosine {cosine:g}")


def infer(bench: DeviceBench, run: Callable[[Any], Any], batch: Any, dtype: str, times: int = 2) -> BenchOutcome:
    """Run a model on the device, more than once: the first run may take another way than all others."""
    with bench.torch.no_grad():
        results, cost = run_measured(bench, partial(run, batch), times)
    (limit, cosine), right = LIMITS[dtype], make_case(bench.torch).right
    outcome = judge_logits([compare(f"run {at}", one, right, limit) for at, one in enumerate(results, 1)], cosine)
    return BenchOutcome(outcome.level, f"{outcome.seen}; {cost}; {NOTE}", outcome.limit)


def check_inference(bench: DeviceBench) -> BenchOutcome:
    return infer(bench, *move_case(bench), "float32")


def check_amp(bench: DeviceBench, dtype: str) -> BenchOutcome:
    refuse_dtype(bench, dtype)
    torch = bench.torch
    model, batch = move_case(bench)
    kinds = watch_dtypes(torch, model)

    def run(batch: Any) -> Any:
        with torch.autocast(bench.name, dtype=getattr(torch, dtype)):
            return model(batch)

    outcome = infer(bench, run, batch, dtype)
    return judge_dtypes(kinds, dtype) or outcome


def check_inference_compiled(bench: DeviceBench) -> BenchOutcome:
    model, batch = move_case(bench)
    with run_compiled(bench, model) as (run, compiled):
        outcome = infer(bench, run, batch, "float32", times=3)
    trouble = compiled.find_trouble()
    if trouble:
        return BenchOutcome("fail", f"{trouble} ({compiled})", "compiled code in every call", own_fault=True)
    return BenchOutcome(outcome.level, f"{outcome.seen}; {compiled}", outcome.limit)


CHECKS = (
    BenchCheck("models.infer_fp32", "ResNet-50 inference fp32", check_inference, "smoke"),
    BenchCheck("models.infer_amp_bf16", "ResNet-50 inference AMP bf16", partial(check_amp, dtype="bfloat16"), "smoke"),
    BenchCheck("models.infer_amp_fp16", "ResNet-50 inference AMP fp16", partial(check_amp, dtype="float16"), "smoke"),
    BenchCheck("models.infer_compiled", "ResNet-50 torch.compile", check_inference_compiled, "smoke"),
)
