"""Operators by kinds: arithmetic, reading and writing by index, attention."""

import copy
import math
from collections.abc import Callable, Iterator
from typing import Any

from helperlib.verify.bench import (
    DEEP_LIMIT,
    LIMITS,
    Absent,
    BenchCheck,
    DeviceBench,
    DeviceCase,
    by_cases,
    fact,
    in_each_precision,
    same,
)

# Operators in every precision against float64 on the CPU: elementwise ones, reductions, sorting, float64 itself.


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
    "gelu": lambda torch, x, y: (torch.nn.functional.gelu(x), torch.nn.functional.gelu(x, approximate="tanh")),
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


@by_cases
def check_elementwise(bench: DeviceBench) -> Iterator[DeviceCase]:
    torch = bench.torch
    yield from in_each_precision(bench, ELEMENTWISE, torch.randn(37, 54), torch.rand(37, 54) + 0.1)
    yield from same(bench, SPECIAL, torch.tensor(SPECIALS), note="with nan and infinity")


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


@by_cases
def check_reductions(bench: DeviceBench) -> Iterator[DeviceCase]:
    torch = bench.torch
    x = torch.rand(32, 1001) + torch.arange(32.0)[:, None] / 64
    numbers = torch.stack([torch.randperm(1001) * 2 for _ in range(32)])
    yield from in_each_precision(bench, REDUCTIONS, x)
    # Added up in its own precision a float16 stops growing at 2048.
    ones = torch.ones(20_000, dtype=torch.float16, device=bench.device)
    yield fact("sum of 20000 ones in float16", lambda: float(ones.sum()), 20_000.0)
    yield from same(bench, {"cumulative": lambda _, x: x.cumsum(1)}, x, limit=1e-5)
    yield from same(bench, EXTREMES, numbers)


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


@by_cases
def check_sorting(bench: DeviceBench) -> Iterator[DeviceCase]:
    torch = bench.torch
    # Longer than one group of threads sorts alone, and no two alike: which of them comes first nobody promises.
    numbers = torch.randperm(8 * 5003).view(8, 5003)
    specials = torch.tensor(SPECIALS)
    yield from same(bench, SORTING, numbers)
    yield from same(bench, {"with nan": lambda _, x: (x[4:].sort().values, x.topk(3).values)}, specials)
    yield from same(bench, {"a hundred thousand": lambda _, x: x.sort().values}, torch.randperm(100_003))


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


@by_cases
def check_float64(bench: DeviceBench) -> Iterator[DeviceCase]:
    torch = bench.torch
    properties = getattr(bench.module, "get_device_properties", lambda _: None)(0)
    if not getattr(properties, "has_fp64", True):
        raise Absent("this device has no float64 arithmetic")
    x, y = torch.randn(65, 65, dtype=torch.float64), torch.randn(65, 65, dtype=torch.float64)
    return same(bench, DOUBLE, x, y, limit=DOUBLE_LIMIT)


# Reading and writing by index: what devices with many threads get wrong where several threads meet one element.


READING: dict[str, Callable[..., Any]] = {
    "gather": lambda torch, x, i: torch.gather(x, 0, i.view(-1, 1).expand(-1, 12)),
    "gather along rows": lambda torch, x, i: x.t().gather(1, i.expand(12, -1)),
    "index_select": lambda _, x, i: (x.index_select(0, i), x.index_select(1, i[i < 12])),
    "take": lambda _, x, i: x.take(i * 7),
    "take_along_dim": lambda torch, x, i: torch.take_along_dim(x, x.argsort(1), 1),
    "one list": lambda _, x, i: x[i],
    "two lists": lambda _, x, i: x[i, i % 12],
    "list and slice": lambda _, x, i: x[i, 2:9:3],
    "slice and list": lambda _, x, i: x[::5, i % 12],
    "lists around a slice": lambda _, x, i: x.view(30, 3, 4)[i, :, i % 4],
    "negative": lambda _, x, i: x[-i - 1],
    "broadcast lists": lambda _, x, i: x[i[:6, None], i[None, :6] % 12],
    "mask": lambda _, x, i: x[x > 0],
    "mask of rows": lambda _, x, i: x[x[:, 0] > 0, 1:3],
    "masked_select": lambda _, x, i: x.masked_select(x < 0),
    "nonzero": lambda _, x, i: (x > 1).nonzero(),
    "transposed": lambda _, x, i: x.t()[:, i],
    "new side": lambda _, x, i: x[None, i, None, ..., 0],
    "embedding": lambda torch, x, i: torch.nn.functional.embedding(i, x),
    "roll and flip": lambda torch, x, i: (x.roll((3, -2), (0, 1)), x.flip((0, 1)), torch.rot90(x)),
    "triangles": lambda _, x, i: (x.tril(-1), x.triu(2)),
    "repeat": lambda torch, x, i: (x.repeat(2, 3), x.repeat_interleave(3, 1), torch.tile(x[0], (2,))),
    "cat and stack": lambda torch, x, i: (torch.cat((x, x[::2], x[:0]), 0), torch.stack((x, x.flip(0)), 1)),
    "pad": lambda torch, x, i: torch.nn.functional.pad(x, (1, 2, 0, 3), value=7.0),
    "reflection": lambda torch, x, i: torch.nn.functional.pad(x[None], (3, 2), mode="reflect"),
}
WRITING: dict[str, Callable[..., Any]] = {
    "index_put": lambda _, x, i: x.index_put((i.unique(),), x[i.unique()] * 2),
    "index_put of two lists": lambda _, x, i: x.index_put((i.unique(), i.unique() % 12), x.new_tensor(5.0)),
    "index_put by mask": lambda torch, x, i: x.index_put((x > 0,), x.new_tensor(-3.0)),
    "index_put, not contiguous": lambda torch, x, i: x.t().index_put((i.unique() % 12,), x.new_tensor(2.0)),
    "index_copy": lambda _, x, i: x.index_copy(0, i.unique(), x[i.unique()].flip(1)),
    "index_copy of columns": lambda torch, x, i: x.index_copy(1, torch.arange(4, device=x.device), x[:, 8:]),
    "index_fill": lambda _, x, i: x.index_fill(0, i, 4.0),
    "scatter": lambda _, x, i: x.scatter(1, x.argsort(1), x),
    "scatter a number": lambda _, x, i: x.scatter(0, i[:, None], 9.0),
    "masked_scatter": lambda _, x, i: x.masked_scatter(x > 0, x.flip(0)),
    "masked_fill": lambda _, x, i: x.masked_fill(x[:, :1] > 0, 2.5),
    "into a slice": lambda torch, x, i: torch.slice_scatter(x, x[:5].flip(1), 0, 2, 12, 2),
    "one_hot": lambda torch, x, i: torch.nn.functional.one_hot(i % 9, 9),
}
MEETING: dict[str, Callable[..., Any]] = {
    "index_put that adds": lambda torch, x, i: x[:30].index_put((i % 30,), x, accumulate=True),
    "index_put that adds, to a column": lambda torch, x, i: x[:, 0].index_put((i % 4,), x[:, 1], accumulate=True),
    "index_put that adds, not contiguous": lambda torch, x, i: x.t()[:, :30].index_put(
        (i[:12] % 12,), x.t()[:, 5:35], accumulate=True
    ),
    "index_add": lambda _, x, i: x[:30].index_add(0, i % 30, x, alpha=-0.5),
    "index_add of columns": lambda _, x, i: x[:, :3].index_add(1, i[:12] % 3, x),
    "scatter_add": lambda _, x, i: x[:30].scatter_add(0, (i % 30)[:, None].expand(-1, 12), x),
    "scatter_reduce": lambda _, x, i: x[:9].scatter_reduce(0, (i % 9)[:, None].expand(-1, 12), x, "amax"),
    "mean by index": lambda _, x, i: x[:9].scatter_reduce(0, (i % 9)[:, None].expand(-1, 12), x, "mean"),
    "embedding bag": lambda torch, x, i: torch.nn.functional.embedding_bag(
        i % 30, x, torch.arange(0, 100, 20, device=x.device), mode="mean"
    ),
    "gradient of an embedding": lambda torch, x, i: gradient(
        x, lambda leaf: torch.nn.functional.embedding(i % 7, leaf, padding_idx=3)
    ),
    "gradient of an index": lambda _, x, i: gradient(x, lambda leaf: leaf[i % 5, 2:8]),
    "gradient of gather": lambda _, x, i: gradient(x, lambda leaf: leaf.gather(0, (i % 3)[:, None])),
    "gradient of repeat": lambda _, x, i: gradient(x, lambda leaf: leaf[:, :2].repeat_interleave(5, 0)),
}


def gradient(x: Any, function: Callable[[Any], Any]) -> Any:
    leaf = x.detach().clone().requires_grad_()
    result = function(leaf)
    (result * result.detach()).sum().backward()
    return leaf.grad


@by_cases
def check_indexing(bench: DeviceBench) -> Iterator[DeviceCase]:
    torch = bench.torch
    x, index = torch.randn(120, 12), torch.randint(0, 30, (120,))
    yield from same(bench, READING, x[:30].clone(), index[:20])
    some = {one: READING[one] for one in ("one list", "two lists", "mask of rows", "transposed", "roll and flip")}
    for name in ("int64", "bool", "float16"):
        yield from same(bench, some, (x[:30] * 3).to(getattr(torch, name)), index[:20], note=name)


@by_cases
def check_writing(bench: DeviceBench) -> Iterator[DeviceCase]:
    torch = bench.torch
    x, index = torch.randn(120, 12), torch.randint(0, 30, (120,))
    yield from same(bench, WRITING, x[:30].clone(), index[:20])
    yield from in_each_precision(bench, MEETING, x, index, room=4)
    # One element that thousands of threads add to: rounded each time, a float16 keeps two digits.
    many, four = torch.rand(2, 4, 64, 64), torch.arange(4).view(1, 4, 1, 1).expand(2, 4, 64, 64)
    function = {"8192 numbers into each": lambda _, x, i: x.new_zeros(4).index_put((i,), x, accumulate=True)}
    yield from same(bench, function, many, four.contiguous(), limit=DEEP_LIMIT)


# Attention against its formula in float64, and a linear layer in 8 bits against exact integers.


SHAPES = ((2, 3, 33, 33, 16), (1, 4, 128, 128, 64), (2, 2, 70, 16, 72), (1, 2, 1, 200, 128), (3, 1, 17, 5, 40))
"""Batch, heads, queries, keys, head size: also those that fused kernels have to fill up or leave a part of."""


def attend(query: Any, key: Any, value: Any, mask: Any = None) -> Any:
    scores = query @ key.mT / math.sqrt(query.shape[-1])
    if mask is not None:
        scores = scores.masked_fill(~mask, -math.inf) if not mask.is_floating_point() else scores + mask
    return scores.softmax(-1) @ value


def make_mask(torch: Any, kind: str, queries: int, keys: int) -> Any:
    """Make a mask under which every row may look at something."""
    allowed = torch.rand(queries, keys) > 0.5
    allowed[:, 0] = True
    if kind == "causal":
        return torch.ones(queries, keys, dtype=torch.bool).tril()
    return allowed if kind == "bool" else torch.zeros(queries, keys).masked_fill(~allowed, -math.inf)


@by_cases
def check_attention(bench: DeviceBench) -> Iterator[DeviceCase]:
    yield from shape_cases(bench)
    yield from layout_cases(bench)


def shape_cases(bench: DeviceBench) -> Iterator[DeviceCase]:
    torch = bench.torch
    for batch, heads, queries, keys, size in SHAPES:
        tensors = [torch.randn(batch, heads, length, size) for length in (queries, keys, keys)]
        for kind in ("none", "causal", "bool", "float"):
            mask = None if kind == "none" else make_mask(torch, kind, queries, keys)
            for name, limit in LIMITS.items():
                rounded = [one.to(getattr(torch, name)) for one in tensors]
                case = f"{queries}x{keys}x{size} {name}, mask {kind}"
                yield attention_case(bench, case, rounded, mask, limit * 2, causal=kind == "causal")


def attention_case(
    bench: DeviceBench, name: str, tensors: list[Any], mask: Any, limit: float, *, causal: bool
) -> DeviceCase:
    torch = bench.torch

    def ours() -> Any:
        query, key, value = (one.to(bench.device) for one in tensors)
        there = None if causal or mask is None else mask.to(bench.device)
        if there is not None and there.is_floating_point():
            there = there.to(query.dtype)
        # Leave nan in the memory that the result is likely to get: a kernel that leaves out a part shows it.
        filled = [torch.full_like(query, math.nan) for _ in range(3)]
        del filled
        return torch.nn.functional.scaled_dot_product_attention(query, key, value, there, is_causal=causal)

    def right() -> Any:
        query, key, value = (one.double() for one in tensors)
        return attend(query, key, value, mask)

    return DeviceCase(name, ours, right, limit)


def layout_cases(bench: DeviceBench) -> Iterator[DeviceCase]:
    """Give what models do with it: heads that are a transposed view, gradients, attention as a layer."""
    torch, sdpa = bench.torch, bench.torch.nn.functional.scaled_dot_product_attention
    x = torch.randn(2, 24, 3, 4, 16)
    functions: dict[str, Callable[..., Any]] = {
        "heads transposed": lambda _, x: sdpa(*(x[:, :, i].transpose(1, 2) for i in range(3))),
        "mask for each head": lambda torch, x: sdpa(*x.transpose(1, 3).unbind(2), head_mask(torch, x)),
        "gradients": attention_gradients,
        "dropout of 0 in training": lambda _, x: sdpa(*x.transpose(1, 3).unbind(2), dropout_p=0.0),
        "beside a row that may look at nothing": beside_masked_row,
        "its own scale": lambda _, x: sdpa(*x.transpose(1, 3).unbind(2), scale=0.3),
    }
    yield from same(bench, functions, x, limit=DEEP_LIMIT)
    layer = torch.nn.MultiheadAttention(32, 4, batch_first=True).eval()
    wide, rows = copy.deepcopy(layer).double(), torch.randn(2, 9, 32)
    yield DeviceCase(
        "MultiheadAttention",
        lambda: copy.deepcopy(layer).to(bench.device)(*[rows.to(bench.device)] * 3)[0],
        lambda: wide(*[rows.double()] * 3)[0],
        1e-5,
    )


def head_mask(torch: Any, x: Any) -> Any:
    own = torch.eye(24, dtype=torch.bool, device=x.device)
    return (x[:, :, 0, :, 0] > 0).transpose(1, 2)[:, :, None, :] | own


def beside_masked_row(torch: Any, x: Any) -> Any:
    """Leave out the row itself, which was nan before PyTorch 2.5 and is zero since: it must not spread."""
    mask = torch.ones(24, 24, dtype=torch.bool, device=x.device)
    mask[5] = False
    result = torch.nn.functional.scaled_dot_product_attention(*x.transpose(1, 3).unbind(2), mask)
    return torch.cat((result[:, :, :5], result[:, :, 6:]), 2)


def attention_gradients(torch: Any, x: Any) -> Any:
    leaf = x.detach().clone().requires_grad_()
    result = torch.nn.functional.scaled_dot_product_attention(*leaf.transpose(1, 3).unbind(2), is_causal=True)
    (result * torch.arange(16, device=x.device)).sum().backward()
    return leaf.grad


def quantise(torch: Any, x: Any) -> tuple[Any, Any]:
    """Round each row to 8 bits, and give its scale."""
    scale = x.abs().amax(1, keepdim=True) / 127
    return (x / scale).round().to(torch.int8), scale


@by_cases
def check_quantised(bench: DeviceBench) -> Iterator[DeviceCase]:
    torch = bench.torch
    if not hasattr(torch, "_int_mm"):
        raise Absent("torch._int_mm, since 2.2")
    x, weight = torch.randn(64, 128), torch.randn(96, 128)
    rows, scales = quantise(torch, x)
    columns, _ = quantise(torch, weight)

    def linear() -> Any:
        (left, left_scale), (right, right_scale) = (quantise(torch, one.to(bench.device)) for one in (x, weight))
        return torch._int_mm(left, right.t()).float() * left_scale * right_scale.t()  # noqa: SLF001, torchao's kernel

    def multiply() -> Any:
        return torch._int_mm(rows.to(bench.device), columns.to(bench.device).t())  # noqa: SLF001, as above

    yield fact("product of int8", multiply, (rows.long() @ columns.long().t()).int())
    yield DeviceCase("linear in 8 bits", linear, lambda: x.double() @ weight.double().t(), 0.02)
    functions: dict[str, Callable[..., Any]] = {
        "fake quantised": lambda torch, x, _: torch.fake_quantize_per_tensor_affine(x, 0.05, 3, -128, 127),
        "fake quantised by row": lambda torch, x, scale: torch.fake_quantize_per_channel_affine(
            x, scale, torch.zeros(64, dtype=torch.int32, device=x.device), 0, -128, 127
        ),
    }
    yield from same(bench, functions, x, scales.flatten())


CHECKS = (
    BenchCheck("kernels.reductions", "reductions", check_reductions),
    BenchCheck("kernels.elementwise", "elementwise operators", check_elementwise, "smoke"),
    BenchCheck("kernels.sorting", "sorting and searching", check_sorting, "smoke"),
    BenchCheck("kernels.float64", "float64", check_float64, "smoke"),
    BenchCheck("kernels.indexing", "reading by index", check_indexing, "smoke"),
    BenchCheck("kernels.scatter", "writing by index", check_writing, "smoke"),
    BenchCheck("kernels.attention", "attention", check_attention, "smoke"),
    BenchCheck("kernels.quantised", "linear layers in 8 bits", check_quantised, "smoke"),
)
