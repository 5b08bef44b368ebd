"""Operators in every precision against float64 on the CPU: elementwise ones, reductions, sorting, float64 itself."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from device_bench import Bench, Check, Outcome
from device_cases import Case, fact, in_each_precision, run_cases, same

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

ELEMENTWISE: dict[str, Callable[..., Any]] = {
    "exp": lambda _, x, y: x.exp(),
    "log": lambda _, x, y: y.log(),
    "log1p": lambda _, x, y: y.log1p(),
    "sqrt and rsqrt": lambda _, x, y: (y.sqrt(), y.rsqrt()),
    "reciprocal": lambda _, x, y: y.reciprocal(),
    "sin and cos": lambda _, x, y: (x.sin(), x.cos()),
    "tanh and sigmoid": lambda _, x, y: (x.tanh(), x.sigmoid()),
    "erf": lambda _, x, y: x.erf(),
    "power": lambda _, x, y: (y**1.5, x**2),
    "atan2": lambda torch, x, y: torch.atan2(x, y),
    "divide": lambda _, x, y: x / y,
    "addcmul and lerp": lambda torch, x, y: (torch.addcmul(y, x, x, value=0.5), torch.lerp(x, y, 0.25)),
    "clamp": lambda _, x, y: x.clamp(-0.5, 0.75),
    "where": lambda torch, x, y: torch.where(x > 0, x, y),
    "gelu": lambda torch, x, y: (
        torch.nn.functional.gelu(x),
        torch.nn.functional.gelu(x, approximate="tanh"),
    ),
    "silu": lambda torch, x, y: torch.nn.functional.silu(x),
    "softplus": lambda torch, x, y: torch.nn.functional.softplus(x),
    "hardswish": lambda torch, x, y: torch.nn.functional.hardswish(x),
    "transposed": lambda _, x, y: x.t() * y.t(),
    "every second column": lambda _, x, y: x[:, ::2] + y[:, 1::2],
}
SPECIAL: dict[str, Callable[..., Any]] = {
    "isnan": lambda _, x: x.isnan(),
    "isinf": lambda _, x: (x.isinf(), x.isposinf(), x.isneginf(), x.isfinite()),
    "sign of zero": lambda torch, x: torch.signbit(x),
    "reciprocal of zero": lambda _, x: x[2:4].reciprocal(),
    "relu": lambda _, x: x.relu(),
    "clamp": lambda _, x: x.clamp(-1, 1),
    "maximum": lambda torch, x: (torch.maximum(x, x.flip(0)), torch.minimum(x, x.flip(0))),
    "fmax": lambda torch, x: (torch.fmax(x, x.flip(0)), torch.fmin(x, x.flip(0))),
    "max and min": lambda _, x: (x.max(), x.min(), x.argmax()),
    "nan_to_num": lambda _, x: x.nan_to_num(0.0, 1.0, -1.0),
    "compare": lambda _, x: (x == x, x < x.flip(0), x >= 0),  # noqa: PLR0124, not so for a nan
    "exp": lambda _, x: x[:6].exp().isinf(),
    "log": lambda _, x: x.log().isnan(),
    "rounding": lambda torch, x: (x.round(), x.floor(), x.ceil(), x.trunc()),
    "remainder": lambda torch, x: torch.remainder(x[6:], -0.75),
}
SPECIALS = (math.inf, -math.inf, 0.0, -0.0, math.nan, 3e38, 0.5, 1.5, 2.5, -0.5, -2.5, 7.25)


def check_elementwise(bench: Bench) -> Outcome:
    torch = bench.torch
    x, y = torch.randn(37, 54), torch.rand(37, 54) + 0.1

    def cases() -> Iterator[Case]:
        yield from in_each_precision(bench, ELEMENTWISE, x, y)
        yield from same(bench, SPECIAL, torch.tensor(SPECIALS), note="with nan and infinity")

    return run_cases(bench, cases())


REDUCTIONS: dict[str, Callable[..., Any]] = {
    "sum": lambda _, x: x.sum(),
    "sum by column": lambda _, x: x.sum(0),
    "sum by row": lambda _, x: x.sum(1, keepdim=True),
    "sum over two sides": lambda _, x: x.view(32, 77, 13).sum((0, 2)),
    "mean of long rows": lambda _, x: x.mean(1),
    "mean transposed": lambda _, x: x.t().mean(1),
    "mean of every second": lambda _, x: x[::2, ::3].mean(0),
    "product": lambda _, x: (x[:4] * 1.9).prod(0),
    "variance": lambda _, x: (x.var(1), x.std(0), x.var(unbiased=False)),
    "norms": lambda _, x: (x.norm(), x.norm(1, 0), x.norm(math.inf, 1)),
    "logsumexp": lambda torch, x: torch.logsumexp(x, 1),
    "softmax": lambda _, x: (x.softmax(1), x.softmax(0)),
    "log_softmax": lambda _, x: x.log_softmax(1),
    "layer norm": lambda torch, x: torch.nn.functional.layer_norm(x, (1001,)),
    "group norm": lambda torch, x: torch.nn.functional.group_norm(x.view(4, 8, 1001), 4),
    "expanded": lambda _, x: x[:1].expand(300, -1).mean(0),
}
EXTREMES: dict[str, Callable[..., Any]] = {
    "amax and amin": lambda _, n: (n.amax(1), n.amin((0, 1))),
    "max by row": lambda _, n: n.max(1).values,
    "argmax and argmin": lambda _, n: (n.argmax(1), n.argmin(0), n.argmax()),
    "median": lambda _, n: (n.median(), n.median(1).values),
    "kthvalue": lambda _, n: n.kthvalue(9, 1).values,
    "cummax": lambda _, n: n.cummax(1).values,
    "cumsum": lambda _, n: (n.cumsum(0), n.cumsum(1)),
    "count": lambda _, n: (n.count_nonzero(), (n > 7).sum(1)),
    "any and all": lambda _, n: ((n > 1995).any(1), (n >= 0).all()),
    "bincount": lambda _, n: (n.flatten() % 97).bincount(),
    "histogram": lambda _, n: n.float().histc(16, 0, 2048),
}


def check_reductions(bench: Bench) -> Outcome:
    torch = bench.torch
    x = torch.rand(32, 1001) + torch.arange(32.0)[:, None] / 64
    numbers = torch.stack([torch.randperm(1001) * 2 for _ in range(32)])

    def cases() -> Iterator[Case]:
        yield from in_each_precision(bench, REDUCTIONS, x)
        # Added up in its own precision a float16 stops growing at 2048.
        ones = torch.ones(20_000, dtype=torch.float16, device=bench.device)
        yield fact("sum of 20000 ones in float16", lambda: float(ones.sum()), 20_000.0)
        yield from same(bench, {"cumulative": lambda _, x: x.cumsum(1)}, x, limit=1e-5)
        yield from same(bench, EXTREMES, numbers)

    return run_cases(bench, cases())


SORTING: dict[str, Callable[..., Any]] = {
    "sort": lambda _, n: n.sort(1),
    "descending": lambda _, n: n.sort(0, descending=True),
    "stable": lambda torch, n: torch.sort(n % 5, dim=1, stable=True),
    "stable, descending": lambda torch, n: torch.sort(n % 5, dim=1, stable=True, descending=True),
    "argsort": lambda _, n: n.argsort(1),
    "transposed": lambda _, n: n.t().sort(1),
    "every second": lambda _, n: n[::2, ::3].sort(1),
    "into every second": lambda torch, n: torch.sort(n[0, :6], out=(torch.zeros_like(n[0, :12])[::2], n[1, :6]))[0],
    "topk": lambda _, n: (*n.topk(7, 1), *n.topk(5, 0, largest=False)),
    "float16": lambda _, n: (n[:, :512].half() - 3).sort(1).values,
    "msort": lambda _, n: n.float().msort(),
    "unique": lambda _, n: (n % 31).unique(return_inverse=True, return_counts=True),
    "unique consecutive": lambda _, n: (n // 100).flatten().unique_consecutive(return_counts=True),
    "searchsorted": lambda torch, n: torch.searchsorted(n.sort(1).values, n.flip(0)),
    "bucketize": lambda torch, n: torch.bucketize(n, torch.arange(0, 40_000, 100, device=n.device), right=True),
    "isin": lambda torch, n: torch.isin(n, n[3, :20]),
}


def check_sorting(bench: Bench) -> Outcome:
    torch = bench.torch
    # Longer than one group of threads sorts alone, and no two alike: which of them comes first nobody promises.
    numbers = torch.randperm(8 * 5003).view(8, 5003)
    specials = torch.tensor(SPECIALS)

    def cases() -> Iterator[Case]:
        yield from same(bench, SORTING, numbers)
        yield from same(bench, {"with nan": lambda _, x: (x[4:].sort().values, x.topk(3).values)}, specials)
        yield from same(bench, {"a hundred thousand": lambda _, x: x.sort().values}, torch.randperm(100_003))

    return run_cases(bench, cases())


DOUBLE: dict[str, Callable[..., Any]] = {
    "matmul": lambda _, x, y: x @ y,
    "sum": lambda _, x, y: (x.sum(), x.mean(0)),
    "exp and log": lambda _, x, y: (x.exp(), (x.abs() + 0.5).log()),
    "divide": lambda _, x, y: x / (y.abs() + 0.5),
    "softmax": lambda _, x, y: x.softmax(1),
    "cumsum": lambda _, x, y: x.cumsum(1),
    "from float32": lambda _, x, y: x.float().double(),
    "linear": lambda torch, x, y: torch.nn.functional.linear(x, y, y[0]),
}
DOUBLE_LIMIT = 1e-13


def check_float64(bench: Bench) -> Outcome:
    torch = bench.torch
    properties = getattr(bench.module, "get_device_properties", lambda _: None)(0)
    if not getattr(properties, "has_fp64", True):
        return Outcome("skip", "this device has no float64 arithmetic")
    x, y = torch.randn(65, 65, dtype=torch.float64), torch.randn(65, 65, dtype=torch.float64)
    return run_cases(bench, same(bench, DOUBLE, x, y, limit=DOUBLE_LIMIT))


CHECKS = (
    Check("kernels.reductions", "reductions", check_reductions),
    Check("kernels.elementwise", "elementwise operators", check_elementwise, "smoke"),
    Check("kernels.sorting", "sorting and searching", check_sorting, "smoke"),
    Check("kernels.float64", "float64", check_float64, "smoke"),
)
