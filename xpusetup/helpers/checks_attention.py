"""Attention against its formula in float64, and a linear layer in 8 bits against exact integers."""

from __future__ import annotations

import copy
import math
from typing import TYPE_CHECKING, Any

from device_bench import DEEP_LIMIT, LIMITS, Absent, Bench, Check, Outcome
from device_cases import Case, fact, run_cases, same

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

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


def check_attention(bench: Bench) -> Outcome:
    return run_cases(bench, [*shape_cases(bench), *layout_cases(bench)])


def shape_cases(bench: Bench) -> Iterator[Case]:
    torch = bench.torch
    for batch, heads, queries, keys, size in SHAPES:
        tensors = [torch.randn(batch, heads, length, size) for length in (queries, keys, keys)]
        for kind in ("none", "causal", "bool", "float"):
            mask = None if kind == "none" else make_mask(torch, kind, queries, keys)
            for name, limit in LIMITS.items():
                rounded = [one.to(getattr(torch, name)) for one in tensors]
                case = f"{queries}x{keys}x{size} {name}, mask {kind}"
                yield attention_case(bench, case, rounded, mask, limit * 2, causal=kind == "causal")


def attention_case(bench: Bench, name: str, tensors: list[Any], mask: Any, limit: float, *, causal: bool) -> Case:
    torch = bench.torch

    def ours() -> Any:
        query, key, value = (one.to(bench.device) for one in tensors)
        there = None if causal or mask is None else mask.to(bench.device)
        if there is not None and there.is_floating_point():
            there = there.to(query.dtype)
        poison(bench, query)
        return torch.nn.functional.scaled_dot_product_attention(query, key, value, there, is_causal=causal)

    def right() -> Any:
        query, key, value = (one.double() for one in tensors)
        return attend(query, key, value, mask)

    return Case(name, ours, right, limit)


def poison(bench: Bench, like: Any) -> None:
    """Leave nan in the memory that the next result is likely to get: a kernel that leaves out a part shows it."""
    filled = [bench.torch.full_like(like, math.nan) for _ in range(3)]
    del filled


def layout_cases(bench: Bench) -> Iterator[Case]:
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
    yield Case(
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


def check_quantised(bench: Bench) -> Outcome:
    torch = bench.torch
    if not hasattr(torch, "_int_mm"):
        raise Absent("torch._int_mm, since 2.2")
    return run_cases(bench, quantised_cases(bench))


def quantised_cases(bench: Bench) -> Iterator[Case]:
    torch = bench.torch
    x, weight = torch.randn(64, 128), torch.randn(96, 128)
    rows, scales = quantise(torch, x)
    columns, _ = quantise(torch, weight)

    def linear() -> Any:
        (left, left_scale), (right, right_scale) = (quantise(torch, one.to(bench.device)) for one in (x, weight))
        return torch._int_mm(left, right.t()).float() * left_scale * right_scale.t()  # noqa: SLF001, torchao's kernel

    def multiply() -> Any:
        return torch._int_mm(rows.to(bench.device), columns.to(bench.device).t())  # noqa: SLF001, as above

    yield fact("product of int8", multiply, (rows.long() @ columns.long().t()).int())
    yield Case("linear in 8 bits", linear, lambda: x.double() @ weight.double().t(), 0.02)
    functions: dict[str, Callable[..., Any]] = {
        "fake quantised": lambda torch, x, _: torch.fake_quantize_per_tensor_affine(x, 0.05, 3, -128, 127),
        "fake quantised by row": lambda torch, x, scale: torch.fake_quantize_per_channel_affine(
            x, scale, torch.zeros(64, dtype=torch.int32, device=x.device), 0, -128, 127
        ),
    }
    yield from same(bench, functions, x, scales.flatten())


CHECKS = (
    Check("kernels.attention", "attention", check_attention, "smoke"),
    Check("kernels.quantised", "linear layers in 8 bits", check_quantised, "smoke"),
)
