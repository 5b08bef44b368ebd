"""Reading and writing by index: what devices with many threads get wrong where several threads meet one element."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from device_bench import DEEP_LIMIT, Bench, Check, Outcome
from device_cases import Case, in_each_precision, run_cases, same

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

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


def check_indexing(bench: Bench) -> Outcome:
    torch = bench.torch
    x, index = torch.randn(120, 12), torch.randint(0, 30, (120,))
    return run_cases(bench, reading_cases(bench, x, index))


def reading_cases(bench: Bench, x: Any, index: Any) -> Iterator[Case]:
    yield from same(bench, READING, x[:30].clone(), index[:20])
    for name in ("int64", "bool", "float16"):
        some = {one: READING[one] for one in ("one list", "two lists", "mask of rows", "transposed", "roll and flip")}
        yield from same(bench, some, (x[:30] * 3).to(getattr(bench.torch, name)), index[:20], note=name)


def check_writing(bench: Bench) -> Outcome:
    torch = bench.torch
    x, index = torch.randn(120, 12), torch.randint(0, 30, (120,))

    def cases() -> Iterator[Case]:
        yield from same(bench, WRITING, x[:30].clone(), index[:20])
        yield from in_each_precision(bench, MEETING, x, index, room=4)
        # One element that thousands of threads add to: rounded each time, a float16 keeps two digits.
        many, four = torch.rand(2, 4, 64, 64), torch.arange(4).view(1, 4, 1, 1).expand(2, 4, 64, 64)
        function = {"8192 numbers into each": lambda _, x, i: x.new_zeros(4).index_put((i,), x, accumulate=True)}
        yield from same(bench, function, many, four.contiguous(), limit=DEEP_LIMIT)

    return run_cases(bench, cases())


CHECKS = (
    Check("kernels.indexing", "reading by index", check_indexing, "smoke"),
    Check("kernels.scatter", "writing by index", check_writing, "smoke"),
)
