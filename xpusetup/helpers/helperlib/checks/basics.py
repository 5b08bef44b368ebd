"""What all else follows from: the device answers, has its operators, and computes the right numbers."""

import copy
import importlib
import importlib.util
import os
import re
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import replace
from typing import Any

from helperlib.env.distributions import AUTOLOAD
from helperlib.output import render_size
from helperlib.verify.bench import (
    AMP_LIMIT,
    DEEP_LIMIT,
    LIMITS,
    BenchCheck,
    BenchOutcome,
    DeviceBench,
    compare,
    describe_device,
    describe_error,
    is_unsupported,
    judge,
)

# Whether there is a device that can be worked with: it is found, it answers, it gives memory and gets it back.


KNOWN = ("xpu", "cuda", "hpu", "npu", "mps")
"""Where torch.accelerator (2.6) does not say which one is here."""
SENSIBLE = 256 << 20
ABSURD = 1 << 52
"""Bytes: 4 PiB is more than a 64-bit program can address, so no device can have it."""


def choose_device(torch: Any) -> tuple[str, str]:
    """Give the device that `auto` means here, and why it is that one: torch's own choice first."""
    found: dict[str, str] = {}  # each accelerator that is available, and who says so
    accelerator: Any = getattr(torch, "accelerator", None)
    if accelerator and accelerator.is_available():
        found[str(accelerator.current_accelerator().type)] = "torch.accelerator"
    private = getattr(getattr(torch, "_C", None), "_get_privateuse1_backend_name", lambda: "")()
    for name in filter(None, (*KNOWN, private)):
        module: Any = getattr(torch, name, None)
        if hasattr(module, "is_available") and module.is_available():
            found.setdefault(name, f"torch.{name}")
    if not found:
        return "cpu", "no accelerator is available, so the CPU"
    name, *others = found
    beside = f"; {', '.join(others)} not looked at" if others else ""
    return name, f"{name}, available by {found[name]}{beside}"


def check_import(bench: DeviceBench) -> BenchOutcome:
    version = str(bench.torch.__version__)
    top = bench.extension.partition(".")[0]
    if top and bench.module is None and importlib.util.find_spec(top):
        importlib.import_module(bench.extension)
    if bench.name != "auto":
        return BenchOutcome("ok", f"torch {version}", facts={"torch": version})
    name, why = choose_device(bench.torch)
    return BenchOutcome("ok", f"torch {version}; device: {why}", facts={"torch": version, "device": name, "why": why})


def check_available(bench: DeviceBench) -> BenchOutcome:
    module = bench.module
    if module is None:
        return BenchOutcome("skip", f"this torch knows no device named {bench.name}")
    if not module.is_available() or not module.device_count():
        return BenchOutcome("skip", f"no {bench.name} device here")
    devices = [describe_device(bench, index) for index in range(module.device_count())]
    return BenchOutcome("ok", ", ".join(device["name"] for device in devices), facts={"devices": devices})


FULL = re.compile(r"(?i)out of memory|OUT_OF_(?:DEVICE_)?MEMORY")


def check_responds(bench: DeviceBench) -> BenchOutcome:
    try:
        ones = bench.torch.ones(4, device=bench.device)
    except RuntimeError as error:
        if not FULL.search(str(error)):
            raise
        seen = f"{describe_error(error)}: even 16 bytes are not free, so another process holds its memory"
        return BenchOutcome("fail", seen, "1 + 1 = 2")
    sums = ones + ones
    bench.synchronize()
    got = sums.cpu().tolist()
    good = got == [2.0] * 4
    return BenchOutcome("ok" if good else "fail", "it adds and synchronises" if good else f"1 + 1 = {got}", "1 + 1 = 2")


def measure(bench: DeviceBench) -> int | None:
    """Give the bytes that tensors hold on the device, where it counts them."""
    counter = getattr(bench.module, "memory_allocated", None)
    return None if counter is None else int(counter())


def take_and_return(bench: DeviceBench, size: int) -> str:
    """Take memory, look whether it is counted, and give it back; say what is wrong, or nothing."""
    before = measure(bench)
    block = bench.torch.ones(size, dtype=bench.torch.uint8, device=bench.device)
    within = measure(bench)
    if int(block[-1].cpu()) != 1:
        return f"the last of {render_size(size)} reads {int(block[-1].cpu())}, written was 1"
    del block
    after = measure(bench)
    if before is None or within is None or after is None:
        return ""
    if within - before < size:
        return f"{render_size(size)} taken, {render_size(within - before)} counted"
    return f"{render_size(after - before)} of {render_size(size)} did not come back" if after > before else ""


def refuse(bench: DeviceBench) -> str:
    """Ask for more than any device has, and give how it was refused; nothing where it was not."""
    try:
        bench.torch.empty(ABSURD, dtype=bench.torch.uint8, device=bench.device)
    except RuntimeError as error:  # torch.OutOfMemoryError is one
        return type(error).__name__
    return ""


def check_memory(bench: DeviceBench) -> BenchOutcome:
    tell, free = getattr(bench.module, "mem_get_info", None), None
    with suppress(NotImplementedError, RuntimeError):  # a row of its own (api.mem_get_info)
        free = int(tell()[0]) if tell else None
    size = SENSIBLE if free is None else max(1, min(SENSIBLE, free // 8))
    room = "" if free is None else f", {render_size(free)} free"
    limit = f"{render_size(size)} taken, counted and given back; {render_size(ABSURD)} refused"
    try:
        trouble = take_and_return(bench, size)
    except RuntimeError as error:
        trouble = f"{render_size(size)} refused{room}: {describe_error(error)}"
    refused = "" if trouble else refuse(bench)
    if not trouble and not refused:
        trouble = f"{render_size(ABSURD)} were given: the device does not limit what is asked of it"
    if trouble:
        return BenchOutcome("fail", trouble, limit)
    after = check_responds(bench)
    if after.level != "ok":
        return BenchOutcome("fail", f"after a refused allocation {after.seen}", limit)
    return BenchOutcome(
        "ok", f"{render_size(size)} taken and given back, {render_size(ABSURD)} refused ({refused}){room}"
    )


GATES = (
    BenchCheck("autoload.import", "import torch", check_import),
    BenchCheck("device.available", "available", check_available),
    # The first kernel of a device may have to be compiled; an answer that takes longer will not come.
    BenchCheck("device.responds", "it responds", check_responds, patience=60),
)


# Which of the operators that nearly every model needs a device has, forward and backward.


FEW = 8


class Inputs:
    """Small tensors on the device, and torch and its functions, for the rows of OPERATORS."""

    def __init__(self, bench: DeviceBench) -> None:
        torch = self.torch = bench.torch
        self.f = torch.nn.functional

        def make(*shape: int) -> Any:
            return torch.rand(*shape).add(0.1).to(bench.device).requires_grad_()

        self.image, self.kernel = make(2, 4, 8, 8), make(4, 4, 3, 3)
        self.rows, self.heads = make(6, 8), make(2, 2, 6, 8)
        self.square, self.weight, self.scale = make(8, 8), make(8), make(4)
        self.labels = (torch.arange(6) % 4).to(bench.device)
        self.mask = (torch.arange(48).reshape(6, 8) % 3 == 0).to(bench.device)


VISION: dict[str, Callable[[Inputs], Any]] = {
    "conv2d": lambda i: i.f.conv2d(i.image, i.kernel),
    "conv_transpose2d": lambda i: i.f.conv_transpose2d(i.image, i.kernel),
    "batch_norm": lambda i: i.f.batch_norm(i.image, None, None, i.scale, i.scale, training=True),
    "group_norm": lambda i: i.f.group_norm(i.image, 2),
    "max_pool2d": lambda i: i.f.max_pool2d(i.image, 2),
    "avg_pool2d": lambda i: i.f.avg_pool2d(i.image, 2),
    "adaptive_avg_pool2d": lambda i: i.f.adaptive_avg_pool2d(i.image, 1),
    "interpolate": lambda i: i.f.interpolate(i.image, scale_factor=2, mode="bilinear"),
    "upsample_nearest": lambda i: i.f.interpolate(i.image, scale_factor=2),
    "pad": lambda i: i.f.pad(i.image, (1, 1, 1, 1), mode="reflect"),
    "relu": lambda i: i.image.relu(),
    "silu": lambda i: i.f.silu(i.image),
    "hardswish": lambda i: i.f.hardswish(i.image),
    "sigmoid": lambda i: i.image.sigmoid(),
    "permute": lambda i: i.image.permute(0, 2, 3, 1).contiguous(),
}
TRANSFORMERS: dict[str, Callable[[Inputs], Any]] = {
    "embedding": lambda i: i.f.embedding(i.labels, i.square),
    "linear": lambda i: i.f.linear(i.rows, i.square, i.weight),
    "matmul": lambda i: i.heads @ i.heads.transpose(-1, -2),
    "einsum": lambda i: i.torch.einsum("bhqd,bhkd->bhqk", i.heads, i.heads),
    "softmax": lambda i: i.rows.softmax(-1),
    "layer_norm": lambda i: i.f.layer_norm(i.rows, (8,), i.weight),
    "gelu": lambda i: i.f.gelu(i.rows),
    "tanh": lambda i: i.rows.tanh(),
    "rsqrt": lambda i: i.rows * i.rows.square().mean(-1, keepdim=True).rsqrt(),
    "scaled_dot_product_attention": lambda i: i.f.scaled_dot_product_attention(i.heads, i.heads, i.heads),
    "masked_fill": lambda i: i.rows.masked_fill(i.mask, -1.0),
    "where": lambda i: i.torch.where(i.mask, i.rows, i.rows.neg()),
    "tril": lambda i: i.square.tril(),
    "cat": lambda i: i.torch.cat((i.rows, i.rows.flip(0)), -1),
    "split": lambda i: i.rows.split(4, -1)[1],
    "stack": lambda i: i.torch.stack((i.rows.cos(), i.rows.sin())),
    "index_select": lambda i: i.rows.index_select(0, i.labels),
    "indexing": lambda i: i.rows[i.labels],
}
DECODING: dict[str, Callable[[Inputs], Any]] = {
    "argmax": lambda i: i.rows.argmax(-1),
    "topk": lambda i: i.rows.topk(2).values,
    "sort": lambda i: i.rows.sort(descending=True).values,
    "cumsum": lambda i: i.rows.cumsum(-1),
    "gather": lambda i: i.rows.gather(1, i.labels.unsqueeze(1)),
    "scatter": lambda i: i.rows.scatter(1, i.labels.unsqueeze(1), 0.5),
    "multinomial": lambda i: i.torch.multinomial(i.rows.detach(), 2),
    "repeat_interleave": lambda i: i.rows.repeat_interleave(2, 0),
    "nonzero": lambda i: i.mask.nonzero(),
    "unique": lambda i: i.labels.unique(),
    "isin": lambda i: i.torch.isin(i.labels, i.labels[:2]),
    "comparison": lambda i: (i.labels == 1).any(),
}
TRAINING: dict[str, Callable[[Inputs], Any]] = {
    "cross_entropy": lambda i: i.f.cross_entropy(i.rows, i.labels),
    "nll_loss": lambda i: i.f.nll_loss(i.rows, i.labels),
    "mse_loss": lambda i: i.f.mse_loss(i.rows, i.rows.detach().flip(0)),
    "binary_cross_entropy_with_logits": lambda i: i.f.binary_cross_entropy_with_logits(i.rows, i.mask.float()),
    "dropout": lambda i: i.f.dropout(i.rows, 0.5),
    "index_put": lambda i: i.square.clone().index_put((i.labels,), i.rows, accumulate=True),
    "vector_norm": lambda i: i.torch.linalg.vector_norm(i.rows),
    "addcdiv": lambda i: i.torch.addcdiv(i.rows, i.rows, i.rows + 1),
    "addcmul": lambda i: i.torch.addcmul(i.rows, i.rows, i.rows),
    "lerp": lambda i: i.rows.lerp(i.rows.flip(0), 0.1),
    "var": lambda i: i.rows.var(-1),
    "max": lambda i: i.rows.max(),
    "clamp": lambda i: i.rows.clamp(0.2, 0.8),
    "foreach_add": lambda i: i.torch._foreach_add([i.rows, i.square], 1.0)[0],  # noqa: SLF001, optimisers' own
}
OPERATORS = {"vision": VISION, "transformers": TRANSFORMERS, "decoding": DECODING, "training": TRAINING}


def try_operator(bench: DeviceBench, run: Callable[[Inputs], Any]) -> Exception | None:
    try:
        got = run(Inputs(bench))
        if got.requires_grad:
            got.float().sum().backward()
        bench.synchronize()
    except Exception as error:  # noqa: BLE001, whatever a kernel throws is what was asked for
        return error
    return None


def find_rival(bench: DeviceBench) -> str:
    """Give what torch.accelerator means where that is another accelerator than this one; empty where it is not.

    Beside a loaded extension CUDA's backward passes ended with an internal assertion (torch 2.11, seen).
    """
    accelerator: Any = getattr(bench.torch, "accelerator", None)
    current = accelerator.current_accelerator() if accelerator and bench.name != "cpu" else None
    return str(current.type) if current is not None and current.type != bench.name else ""


def check_coverage(bench: DeviceBench) -> BenchOutcome:
    tried = [(kind, name, try_operator(bench, run)) for kind, rows in OPERATORS.items() for name, run in rows.items()]
    troubles = [(kind, name, error) for kind, name, error in tried if error is not None]
    limit = f"{len(tried)} operators, forward and backward"
    if not troubles:
        return BenchOutcome("ok", limit)
    missing = [error for *_, error in troubles if is_unsupported(error)]
    kinds = ", ".join(dict.fromkeys(kind for kind, *_ in troubles))
    names = ", ".join(name for _, name, _ in troubles[:FEW]) + (" and others" if len(troubles) > FEW else "")
    what = "are not implemented" if len(missing) == len(troubles) else "fail"
    first = describe_error(troubles[0][2])
    if rival := find_rival(bench):
        first = (
            f"{first}; torch.accelerator is {rival} in this process, and autograd waits for its streams alone: with "
        )
        first += f"{AUTOLOAD}=0 it is not loaded"
    seen = f"{len(troubles)} of {len(tried)} operators {what}, for {kinds}: {names}; the first: {first}"
    verdict = "unsupported" if len(missing) == len(troubles) else "wrong"
    return BenchOutcome("fail", seen, limit, own_fault=bool(missing), verdict=verdict)


# What a device computes, against float64 on the CPU: single operators, gradients, a small model, autocast.


SHAPES = ((64, 64, 64), (127, 33, 257), (1, 512, 8), (256, 256, 256))
CONVOLUTIONS: tuple[tuple[str, dict[str, int]], ...] = (
    ("3x3", {"kernel_size": 3, "padding": 1}),
    ("5x5 stride 2", {"kernel_size": 5, "stride": 2}),
    ("3x3 in 4 groups", {"kernel_size": 3, "groups": 4}),
    ("1x1", {"kernel_size": 1}),
)


def check_finite(bench: DeviceBench) -> BenchOutcome:
    function = bench.torch.nn.functional
    x = bench.torch.randn(4, 8, 16, 16).to(bench.device)
    results = {
        "matmul": x @ x,
        "convolution": function.conv2d(x, x[:, :, :3, :3]),
        "softmax": x.softmax(-1),
        "layer norm": function.layer_norm(x, (16,)),
        "gelu": function.gelu(x),
        "mean": x.mean(),
        "standard deviation": x.std(),
    }
    bad = [name for name, result in results.items() if not bool(result.cpu().isfinite().all())]
    seen = f"nan or infinite: {', '.join(bad)}" if bad else f"{len(results)} operators"
    return BenchOutcome("fail" if bad else "ok", seen, "every element finite")


def check_matmul(bench: DeviceBench) -> BenchOutcome:
    torch, found = bench.torch, []
    for name, limit in LIMITS.items():
        for rows, inner, columns in SHAPES:
            left, right = (torch.randn(*shape).to(getattr(torch, name)) for shape in ((rows, inner), (inner, columns)))
            got = left.to(bench.device) @ right.to(bench.device)
            case = f"{rows}x{inner}x{columns} {name}"
            found.append(compare(case, got, left.double() @ right.double(), limit))
    outcome, lowered = judge(found), find_lowered()
    if outcome.level == "ok" or not lowered:
        return outcome
    seen = f"{outcome.seen}; {lowered} is set, which lets float32 be computed with fewer digits"
    return replace(outcome, seen=seen)


LOWERING = {
    "ONEDNN_DEFAULT_FPMATH_MODE": "strict",
    "DNNL_DEFAULT_FPMATH_MODE": "strict",
    "TORCH_ALLOW_TF32_CUBLAS_OVERRIDE": "0",
    "NVIDIA_TF32_OVERRIDE": "0",
}
"""Variables by which float32 products lose digits, and the value with which they do not."""


def find_lowered() -> str:
    """Give a variable of these as it is set; empty where none lowers anything."""
    there = ((name, os.environ.get(name, "")) for name in LOWERING)
    return next((f"{name}={value}" for name, value in there if value and value.lower() != LOWERING[name]), "")


def check_conv(bench: DeviceBench) -> BenchOutcome:
    torch, found = bench.torch, []
    if hasattr(torch.backends, "cudnn"):
        torch.backends.cudnn.allow_tf32 = False  # its default, and three digits are not a fault
    for case, options in CONVOLUTIONS:
        layers = torch.nn.Sequential(torch.nn.Conv2d(8, 16, **options), torch.nn.BatchNorm2d(16)).train()
        batch = torch.randn(4, 8, 17, 19)
        ours, right = copy.deepcopy(layers).to(bench.device), layers.double()
        found.append(compare(case, ours(batch.to(bench.device)), right(batch.double()), DEEP_LIMIT))
        found.append(compare(f"{case}, running variance", ours[1].running_var, right[1].running_var, DEEP_LIMIT))
    return judge(found)


def check_autograd(bench: DeviceBench) -> BenchOutcome:
    nn = bench.torch.nn
    layers = nn.Sequential(nn.Linear(48, 96), nn.GELU(), nn.LayerNorm(96), nn.Linear(96, 10))
    batch, labels = bench.torch.randn(32, 48), bench.torch.arange(32) % 10
    ours, right = copy.deepcopy(layers).to(bench.device), layers.double()
    nn.functional.cross_entropy(ours(batch.to(bench.device)), labels.to(bench.device)).backward()
    nn.functional.cross_entropy(right(batch.double()), labels).backward()
    pairs = zip(ours.named_parameters(), right.parameters(), strict=True)
    return judge([compare(f"gradient of {name}", one.grad, other.grad, DEEP_LIMIT) for (name, one), other in pairs])


def make_model(nn: Any) -> Any:
    first = (nn.Conv2d(3, 16, 3, padding=1), nn.BatchNorm2d(16), nn.ReLU(), nn.MaxPool2d(2))
    return nn.Sequential(*first, nn.Conv2d(16, 32, 3, stride=2), nn.ReLU(), nn.Flatten(), nn.Linear(32 * 49, 10))


def train(torch: Any, model: Any, batch: Any, labels: Any) -> Iterator[float]:
    """Give the loss before one SGD step and that after it."""
    optimizer = torch.optim.SGD(model.train().parameters(), lr=0.05, momentum=0.9)
    for _ in range(2):
        optimizer.zero_grad()
        loss = torch.nn.functional.cross_entropy(model(batch), labels)
        loss.backward()
        optimizer.step()
        yield float(loss.detach().cpu())


def check_model(bench: DeviceBench) -> BenchOutcome:
    torch = bench.torch
    model, batch, labels = make_model(torch.nn), torch.randn(16, 3, 32, 32), torch.arange(16) % 10
    ours = list(train(torch, copy.deepcopy(model).to(bench.device), batch.to(bench.device), labels.to(bench.device)))
    right = list(train(torch, model.double(), batch.double(), labels))
    worst = max(abs(one - other) / abs(other) for one, other in zip(ours, right, strict=True))
    good = worst <= DEEP_LIMIT  # False also for nan
    shown = ", ".join(f"{loss:.5f}" for loss in ours) + ("" if good else f" instead of {right[0]:.5f}, {right[1]:.5f}")
    return BenchOutcome("ok" if good else "fail", f"losses {shown}", f"relative {DEEP_LIMIT:g}")


def check_amp(bench: DeviceBench) -> BenchOutcome:
    torch, nn = bench.torch, bench.torch.nn
    layers = {"linear": nn.Linear(64, 32), "convolution": nn.Conv2d(8, 16, 3)}
    inputs = {"linear": torch.randn(48, 64), "convolution": torch.randn(2, 8, 16, 16), "matmul": torch.randn(64, 64)}
    sent = {name: one.to(bench.device) for name, one in inputs.items()}
    with torch.autocast(bench.name, dtype=torch.bfloat16):
        got = {name: copy.deepcopy(layer).to(bench.device)(sent[name]) for name, layer in layers.items()}
        got["matmul"] = sent["matmul"] @ sent["matmul"]
    kinds = {name: str(one.dtype).removeprefix("torch.") for name, one in got.items()}
    wrong = [f"{name} {kind}" for name, kind in kinds.items() if kind != "bfloat16"]
    if wrong:
        effect = "autocast has no effect" if len(wrong) == len(got) else "autocast misses these"
        return BenchOutcome("fail", f"output of {', '.join(wrong)}: {effect}", "bfloat16", own_fault=True)
    right = {name: layer.double()(inputs[name].double()) for name, layer in layers.items()}
    right["matmul"] = inputs["matmul"].double() @ inputs["matmul"].double()
    return judge([compare(f"{name} under autocast", got[name], right[name], AMP_LIMIT) for name in got])


CHECKS = (
    BenchCheck("device.memory", "memory", check_memory),
    BenchCheck("ops.coverage", "operators", check_coverage),
    # First among the numbers: a nan spoils every comparison, and finding it is more than finding a difference.
    BenchCheck("numbers.finite", "no nan", check_finite),
    BenchCheck("numbers.matmul", "matmul", check_matmul),
    BenchCheck("numbers.conv", "convolution", check_conv),
    BenchCheck("numbers.autograd", "gradients", check_autograd),
    BenchCheck("numbers.model", "train a small model", check_model),
    BenchCheck("amp.dtype", "bfloat16 autocast", check_amp),
)
