"""Which operators autocast lowers and which it keeps, where it begins and ends, and the numbers that come out."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from device_bench import AMP_LIMIT, Bench, Check, Outcome
from device_cases import Case, fact, run_cases

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

LOWERED: dict[str, Callable[..., Any]] = {
    "linear": lambda torch, x: torch.nn.functional.linear(x, x),
    "matmul": lambda _, x: x @ x,
    "bmm": lambda torch, x: torch.bmm(x[None], x[None]),
    "addmm": lambda torch, x: torch.addmm(x, x, x),
    "baddbmm": lambda torch, x: torch.baddbmm(x[None], x[None], x[None]),
    "conv1d": lambda torch, x: torch.nn.functional.conv1d(x[None], x[:8, :, None]),
    "conv2d": lambda torch, x: torch.nn.functional.conv2d(x[None, None], x[None, None, :3, :3]),
}
KEPT: dict[str, Callable[..., Any]] = {
    "mse_loss": lambda torch, x: torch.nn.functional.mse_loss(x, x + 1),
    "cdist": lambda torch, x: torch.cdist(x, x * 0.5 + 1),
}
KEPT_BY_DEVICES: dict[str, Callable[..., Any]] = {
    "exp": lambda _, x: x.exp(),
    "log": lambda _, x: (x.abs() + 1).log(),
    "softmax": lambda _, x: x.softmax(1),
    "log_softmax": lambda _, x: x.log_softmax(1),
}
"""On the CPU these stay as they come."""


def check_lists(bench: Bench) -> Outcome:
    return run_cases(bench, [*dtype_cases(bench), *scope_cases(bench)])


def dtype_cases(bench: Bench) -> Iterator[Case]:
    torch, x = bench.torch, bench.torch.randn(16, 16)
    kept = {**KEPT, **({} if bench.name == "cpu" else KEPT_BY_DEVICES)}

    def dtype_of(run: Callable[..., Any], kind: Any, low: Any) -> Any:
        with torch.autocast(bench.name, dtype=low):
            return run(torch, x.to(bench.device, kind)).dtype

    for low in (torch.bfloat16, torch.float16):
        for name, run in LOWERED.items():
            yield fact(f"{name} to {low}", partial(dtype_of, run, torch.float32, low), low)
        for name, run in kept.items():
            yield fact(f"{name} of {low}", partial(dtype_of, run, low, low), torch.float32)
    for name, run in LOWERED.items():
        yield Case(f"numbers of {name}", partial(lowered, bench, run, x), partial(run, torch, x.double()), AMP_LIMIT)


def lowered(bench: Bench, run: Callable[..., Any], x: Any) -> Any:
    with bench.torch.autocast(bench.name, dtype=bench.torch.bfloat16):
        return run(bench.torch, x.to(bench.device))


def scope_cases(bench: Bench) -> Iterator[Case]:
    """Give where autocast begins and ends, and that gradients keep the dtype of their parameters."""
    torch = bench.torch
    x = torch.randn(16, 16).to(bench.device)

    def kinds() -> list[Any]:
        with torch.autocast(bench.name, dtype=torch.bfloat16):
            inside = (x @ x).dtype
            with torch.autocast(bench.name, enabled=False):
                nested = (x @ x).dtype
            after = (x @ x).dtype
        return [inside, nested, after, (x @ x).dtype]

    def gradient() -> Any:
        layer = torch.nn.Linear(16, 4).to(bench.device)
        with torch.autocast(bench.name, dtype=torch.bfloat16):
            loss = layer(x).sum()
        loss.backward()
        return layer.weight.grad.dtype

    low, full = torch.bfloat16, torch.float32
    yield fact("in, off within, in again, out", kinds, [low, full, low, full])
    yield fact("dtype of gradients", gradient, full)


CHECKS = (Check("amp.lists", "what autocast lowers and keeps", check_lists, "smoke"),)
