"""torch.compile, observed: whether compiled code ran, or only what it was compiled from."""

from __future__ import annotations

import os
import tempfile
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from device_bench import Absent
from summary import count

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from device_bench import Bench

INDUCTOR = "inductor"
CACHE = "TORCHINDUCTOR_CACHE_DIR"
SWITCHES = ("TORCHDYNAMO_DISABLE", "TORCH_COMPILE_DISABLE")
NO_COMPILER = ("InvalidCxxCompiler",)


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


def choose_backend(bench: Bench) -> str:
    """Give the device's back end. Raises NotImplementedError where it names none and inductor does not know it."""
    if bench.compile_backend:
        return bench.compile_backend
    if not knows_device(bench.name):
        raise NotImplementedError(f"no compile backend: {INDUCTOR} does not know {bench.name}")
    return INDUCTOR


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


def compile_counted(bench: Bench, model: Any, compiled: Compiled) -> Callable[..., Any]:
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
def run_compiled(bench: Bench, model: Any) -> Iterator[tuple[Callable[..., Any], Compiled]]:
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
    if any(type(one).__name__ in NO_COMPILER or NO_COMPILER[0] in str(one) for one in chain):
        raise Absent("no C++ compiler here (CXX, g++ or clang++), which torch.compile needs") from error
