"""Which of the operators that nearly every model needs a device has, forward and backward."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from device_bench import Bench, Check, Outcome, describe_error, is_unsupported

if TYPE_CHECKING:
    from collections.abc import Callable

FEW = 8


class Inputs:
    """Small tensors on the device, and torch and its functions, for the rows of OPERATORS."""

    def __init__(self, bench: Bench) -> None:
        torch = self.torch = bench.torch
        self.f = torch.nn.functional

        def make(*shape: int) -> Any:
            return torch.rand(*shape).add(0.1).to(bench.device).requires_grad_()

        self.image, self.kernel, self.rows, self.heads = (
            make(2, 4, 8, 8),
            make(4, 4, 3, 3),
            make(6, 8),
            make(2, 2, 6, 8),
        )
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


def try_operator(bench: Bench, run: Callable[[Inputs], Any]) -> Exception | None:
    """Run one operator forward and backward, and give what it raised."""
    try:
        got = run(Inputs(bench))
        if got.requires_grad:
            got.float().sum().backward()
        bench.synchronize()
    except Exception as error:  # noqa: BLE001, whatever a kernel throws is what was asked for
        return error
    return None


def check_coverage(bench: Bench) -> Outcome:
    tried = [(kind, name, try_operator(bench, run)) for kind, rows in OPERATORS.items() for name, run in rows.items()]
    troubles = [(kind, name, error) for kind, name, error in tried if error is not None]
    limit = f"{len(tried)} operators, forward and backward"
    if not troubles:
        return Outcome("ok", limit)
    missing = [error for *_, error in troubles if is_unsupported(error)]
    kinds = ", ".join(dict.fromkeys(kind for kind, *_ in troubles))
    names = ", ".join(name for _, name, _ in troubles[:FEW]) + (" and others" if len(troubles) > FEW else "")
    what = "are not implemented" if len(missing) == len(troubles) else "fail"
    first = describe_error(troubles[0][2])
    seen = f"{len(troubles)} of {len(tried)} operators {what}, for {kinds}: {names}; the first: {first}"
    verdict = "unsupported" if len(missing) == len(troubles) else "wrong"
    return Outcome("fail", seen, limit, own_fault=bool(missing), verdict=verdict)


CHECKS = (Check("ops.coverage", "operators", check_coverage),)
