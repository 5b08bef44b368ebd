"""What inductor, the code generator of torch.compile, makes of a small model for a GPU that need not be here.

The model's tensors are fake, so nothing is computed. What inductor asks of a GPU is answered by a description, where
its XPU interface would ask the driver. It begins with the graph: before that torch.compile traces patterns on the
device, and without one that ends with "PyTorch is not linked with support for xpu devices".
"""

from __future__ import annotations

import ast
import importlib
import importlib.util
import os
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NamedTuple

from helperlib.output import end_of

CORES = 20
"""Xe cores, which ocloc does not tell: inductor splits a reduction over them where one is larger than those here."""
ROWS, WIDTH, INNER = 32, 64, 256
SHAPES = ((ROWS, WIDTH), (INNER, WIDTH), (INNER,), (INNER,), (INNER,), (WIDTH, INNER), (WIDTH,))


class Model(NamedTuple):
    """What inductor made: its kernels as Triton sources, by their names; what it leaves to libraries (`calls`).

    `why` says, where there are no kernels, what is missing or where it stopped; `torch` is its version, or empty.
    """

    torch: str
    why: str
    kernels: dict[str, str]
    calls: list[str]


class Enough(BaseException):
    """What was wanted is there: what comes after it needs the device. No `except Exception` on the way takes it."""


def generate_model(gpu: dict[str, Any]) -> Model:
    if importlib.util.find_spec("torch") is None:
        return Model("", "there is no torch in this environment", {}, [])
    os.environ |= {"TORCHINDUCTOR_COMPILE_THREADS": "1", "TORCHINDUCTOR_FORCE_DISABLE_CACHES": "1"}
    version = ""
    try:
        import torch  # noqa: PLC0415 - it may not be there, and what it reads are variables

        version = str(torch.__version__)
        pretend(gpu)
        kernels, calls = read_code(write_code())
    except Exception as error:  # noqa: BLE001 - whatever it stops with is what there is to say
        return Model(version, f"inductor stopped: {end_of(error)}", {}, [])
    return Model(version, "" if kernels else "inductor made no Triton kernel of the model", kernels, calls)


def model(*tensors: Any) -> Any:
    """Give two linear layers with an activation and a normalisation between them, then probabilities."""
    from torch.nn import functional  # noqa: PLC0415 - torch may not be there

    x, first, first_bias, scale, shift, second, second_bias = tensors
    hidden = functional.gelu(functional.linear(x, first, first_bias))
    normal = functional.layer_norm(hidden, (INNER,), scale, shift)
    return functional.softmax(functional.linear(normal, second, second_bias), dim=-1)


def pretend(gpu: dict[str, Any]) -> None:
    """Answer what inductor and Triton ask of the GPU; torch.xpu itself stays without one, so that nobody starts it."""
    import torch  # noqa: PLC0415 - it may not be there
    import triton  # noqa: PLC0415 - same
    from torch._dynamo.device_interface import XpuInterface  # noqa: PLC0415 - nothing public answers for it
    from torch._inductor.runtime import triton_helpers  # noqa: PLC0415 - same
    from triton.backends.compiler import GPUTarget  # noqa: PLC0415 - triton may not be there

    known = SimpleNamespace(**gpu, gpu_subslice_count=CORES, max_threads_per_block=gpu["max_work_group_size"])
    told: dict[str, Callable[..., Any]] = {
        "device_count": lambda: 1,
        "current_device": lambda: 0,
        "get_device_properties": lambda *_, **_named: known,
        "is_bf16_supported": lambda *_, **_named: gpu["has_bfloat16_conversion"],
    }
    for name, answer in told.items():
        setattr(torch.xpu, name, answer)
    torch.xpu.is_available = lambda: False
    more: dict[str, Callable[..., Any]] = {
        "is_available": lambda: True,
        "get_compute_capability": lambda *_, **_named: gpu,
    }
    for holder, answers in ((XpuInterface, {**told, **more}), (XpuInterface.Worker, told)):
        for name, each in answers.items():
            setattr(holder, name, staticmethod(each))
    triton_helpers.set_driver_to_gpu = lambda: None
    target = GPUTarget("xpu", gpu, 32)
    triton.runtime.driver.set_active(SimpleNamespace(get_current_target=lambda: target))


def write_code() -> str:
    """Let inductor compile the model's graph, and give the Python that it writes."""
    import torch  # noqa: PLC0415 - it may not be there
    from torch._inductor import config  # noqa: PLC0415 - nothing public stops before the device
    from torch._inductor.compile_fx import compile_fx_inner  # noqa: PLC0415 - same
    from torch._inductor.decomposition import select_decomp_table  # noqa: PLC0415 - same
    from torch._inductor.graph import GraphLowering  # noqa: PLC0415 - same
    from torch._subclasses.fake_tensor import FakeTensorMode  # noqa: PLC0415 - same
    from torch.fx.experimental.proxy_tensor import make_fx  # noqa: PLC0415 - torch may not be there

    written: list[str] = []

    def keep(code: str) -> None:
        written.append(code)
        raise Enough

    GraphLowering.save_output_code = staticmethod(keep)
    with config.patch(pattern_matcher=False), FakeTensorMode(allow_non_fake_inputs=True), suppress(Enough):
        tensors = [torch.empty(shape, device="xpu") for shape in SHAPES]
        graph = make_fx(lambda *given: (model(*given),), decomposition_table=select_decomp_table())(*tensors)
        compile_fx_inner(graph, tensors)
    return written[0]


def read_code(code: str) -> tuple[dict[str, str], list[str]]:
    """Give the Triton sources in what inductor wrote, by the names of kernels, and the library functions it calls."""
    kernels, calls = {}, []
    for node in ast.walk(ast.parse(code)):
        if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
            continue
        words = [word.value for word in node.args if isinstance(word, ast.Constant) and isinstance(word.value, str)]
        if node.func.attr == "triton" and len(words) > 1:
            kernels[words[0]] = words[1]
        if isinstance(node.func.value, ast.Name) and node.func.value.id == "extern_kernels":
            calls.append(node.func.attr)
    return kernels, sorted(set(calls))


def compile_source(name: str, source: str, folder: Path) -> Any:
    """Let Triton make SPIR-V of a kernel of inductor's, as inductor would for the first of its configurations."""
    import triton  # noqa: PLC0415 - it may not be there

    (folder / f"{name}.py").write_text(source, encoding="utf-8")
    sys.path.insert(0, str(folder))
    kernel = getattr(importlib.import_module(name), name)
    compile_it, made = triton.compile, []

    def keep(*given: Any, **told: Any) -> None:
        made.append(compile_it(*given, **told))
        raise Enough

    triton.compile = keep
    try:
        kernel._precompile_config(kernel.configs[0])  # noqa: SLF001 - what is public needs the driver
    except Enough:
        return made[0]
    finally:
        triton.compile = compile_it
    raise RuntimeError("inductor did not call Triton")
