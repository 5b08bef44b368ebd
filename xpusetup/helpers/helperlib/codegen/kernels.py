"""What generate_kernels.py compiles: an addition of vectors, a softmax and a multiplication of matrices, in Triton.

Triton reads their source, so they lie in a file; it reads annotations too, and knows no names there but its own.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import triton
import triton.language as tl

BLOCK = {"size": 1024}
HALF = "*half"
"""The 16 bits of a matrix: bf16 where a GPU has it, else fp16."""
TILE = {"rows": 64, "columns": 64, "depth": 32}


class TritonKernel(NamedTuple):
    """A kernel, the types of what it is called with, its constants and what Triton is told besides.

    `aligned`: its arguments are multiples of 16, as those of whole tensors are.
    """

    function: Any
    types: dict[str, str]
    constants: dict[str, int]
    options: dict[str, int]
    aligned: bool = False


def add(x: tl.tensor, y: tl.tensor, out: tl.tensor, n: tl.tensor, size: tl.constexpr) -> None:
    at = tl.program_id(0) * size + tl.arange(0, size)
    within = at < n
    tl.store(out + at, tl.load(x + at, mask=within) + tl.load(y + at, mask=within), mask=within)


def softmax(x: tl.tensor, out: tl.tensor, n: tl.tensor, size: tl.constexpr) -> None:
    row = tl.program_id(0)
    at = tl.arange(0, size)
    within = at < n
    values = tl.load(x + row * n + at, mask=within, other=-float("inf"))
    powers = tl.exp(values - tl.max(values, 0))
    tl.store(out + row * n + at, powers / tl.sum(powers, 0), mask=within)


def matmul(  # noqa: PLR0913, PLR0917 - a kernel takes what the device needs
    a: tl.tensor,
    b: tl.tensor,
    c: tl.tensor,
    n: tl.tensor,
    k: tl.tensor,
    rows: tl.constexpr,
    columns: tl.constexpr,
    depth: tl.constexpr,
) -> None:
    down = tl.program_id(0) * rows + tl.arange(0, rows)
    across = tl.program_id(1) * columns + tl.arange(0, columns)
    inner = tl.arange(0, depth)
    left = a + down[:, None] * k + inner[None, :]
    right = b + inner[:, None] * n + across[None, :]
    total = tl.zeros((rows, columns), dtype=tl.float32)
    for _ in range(0, k, depth):
        total = tl.dot(tl.load(left), tl.load(right), total)
        left += depth
        right += depth * n
    tl.store(c + down[:, None] * n + across[None, :], total)


VECTORS = {"x": "*fp32", "y": "*fp32", "out": "*fp32", "n": "i32", "size": "constexpr"}
ROWS = {"x": "*fp32", "out": "*fp32", "n": "i32", "size": "constexpr"}
MATRICES = {"a": HALF, "b": HALF, "c": "*fp32", "n": "i32", "k": "i32", **dict.fromkeys(TILE, "constexpr")}
KERNELS = {
    "add": TritonKernel(triton.jit(add), VECTORS, BLOCK, {}),
    "softmax": TritonKernel(triton.jit(softmax), ROWS, BLOCK, {}),
    "matmul": TritonKernel(triton.jit(matmul), MATRICES, TILE, {"num_warps": 8}, aligned=True),
}
