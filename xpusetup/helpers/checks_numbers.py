"""What a device computes, against float64 on the CPU: single operators, gradients, a small model, autocast."""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING, Any

from device_bench import AMP_LIMIT, DEEP_LIMIT, LIMITS, Bench, Check, Outcome, compare, judge

if TYPE_CHECKING:
    from collections.abc import Iterator

SHAPES = ((64, 64, 64), (127, 33, 257), (1, 512, 8), (256, 256, 256))
CONVOLUTIONS: tuple[tuple[str, dict[str, int]], ...] = (
    ("3x3", {"kernel_size": 3, "padding": 1}),
    ("5x5 stride 2", {"kernel_size": 5, "stride": 2}),
    ("3x3 in 4 groups", {"kernel_size": 3, "groups": 4}),
    ("1x1", {"kernel_size": 1}),
)


def check_finite(bench: Bench) -> Outcome:
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
    return Outcome("fail" if bad else "ok", seen, "every element finite")


def check_matmul(bench: Bench) -> Outcome:
    torch, found = bench.torch, []
    for name, limit in LIMITS.items():
        for rows, inner, columns in SHAPES:
            left, right = (torch.randn(*shape).to(getattr(torch, name)) for shape in ((rows, inner), (inner, columns)))
            got = left.to(bench.device) @ right.to(bench.device)
            case = f"{rows}x{inner}x{columns} {name}"
            found.append(compare(case, got, left.double() @ right.double(), limit))
    return judge(found)


def check_conv(bench: Bench) -> Outcome:
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


def check_autograd(bench: Bench) -> Outcome:
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


def check_model(bench: Bench) -> Outcome:
    torch = bench.torch
    model, batch, labels = make_model(torch.nn), torch.randn(16, 3, 32, 32), torch.arange(16) % 10
    ours = list(train(torch, copy.deepcopy(model).to(bench.device), batch.to(bench.device), labels.to(bench.device)))
    right = list(train(torch, model.double(), batch.double(), labels))
    worst = max(abs(one - other) / abs(other) for one, other in zip(ours, right, strict=True))
    good = worst <= DEEP_LIMIT  # False also for nan
    shown = ", ".join(f"{loss:.5f}" for loss in ours) + ("" if good else f" instead of {right[0]:.5f}, {right[1]:.5f}")
    return Outcome("ok" if good else "fail", f"losses {shown}", f"relative {DEEP_LIMIT:g}")


def check_amp(bench: Bench) -> Outcome:
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
        return Outcome("fail", f"output of {', '.join(wrong)}: {effect}", "bfloat16", own_fault=True)
    right = {name: layer.double()(inputs[name].double()) for name, layer in layers.items()}
    right["matmul"] = inputs["matmul"].double() @ inputs["matmul"].double()
    return judge([compare(f"{name} under autocast", got[name], right[name], AMP_LIMIT) for name in got])


# First among the numbers: a nan spoils every comparison, and finding it is more than finding a difference.
CHECKS = (
    Check("numbers.finite", "no nan", check_finite),
    Check("numbers.matmul", "matmul", check_matmul),
    Check("numbers.conv", "convolution", check_conv),
    Check("numbers.autograd", "gradients", check_autograd),
    Check("numbers.model", "train a small model", check_model),
    Check("amp.dtype", "bfloat16 autocast", check_amp),
)
