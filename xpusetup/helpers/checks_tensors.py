"""How a device makes, moves, views and changes tensors, before anything is computed with them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from device_bench import Bench, Check, Outcome
from device_cases import Case, fact, run_cases, same

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

DTYPES = ("bool", "uint8", "int8", "int16", "int32", "int64", "float16", "bfloat16", "float32", "complex64")
FACTORIES: dict[str, Callable[..., Any]] = {
    "zeros": lambda torch, **to: torch.zeros(3, 5, **to),
    "ones": lambda torch, **to: torch.ones((2, 3), **to),
    "full": lambda torch, **to: torch.full((4, 3), 1, **to),
    "eye": lambda torch, **to: torch.eye(4, 6, **to),
    "tensor": lambda torch, **to: torch.tensor([[0, 1, 1], [1, 0, 1]], **to),
    "zeros_like": lambda torch, **to: torch.zeros_like(torch.empty(3, 5, **to).t()),
    "new_full": lambda torch, **to: torch.empty(1, **to).new_full((3, 2), 1),
    "fill_": lambda torch, **to: torch.empty(5, 7, **to)[:, ::2].fill_(1),
}
RANGES: dict[str, Callable[..., Any]] = {
    "arange": lambda torch, **to: torch.arange(3, 1000, 7, **to),
    "arange of fractions": lambda torch, **to: torch.arange(0.0, 1.0, 0.125, **to),
    "linspace": lambda torch, **to: torch.linspace(-1.0, 1.0, 65, **to),
    "tril_indices": lambda torch, **to: torch.tril_indices(5, 4, -1, **to),
    "strides of channels_last": lambda torch, **to: torch.empty(
        2, 3, 4, 5, memory_format=torch.channels_last, **to
    ).stride(),
    "empty_strided": lambda torch, **to: torch.empty_strided((2, 3), (1, 2), **to).fill_(4.0),
}


def check_factories(bench: Bench) -> Outcome:
    torch = bench.torch

    def cases() -> Iterator[Case]:
        for dtype in DTYPES:
            for name, make in FACTORIES.items():
                yield make_case(f"{name} {dtype}", make, dtype=getattr(torch, dtype))
        for name, make in RANGES.items():
            yield make_case(name, make)
        yield fact("device without an index", lambda: str(torch.zeros(1, device=bench.name).device), bench.device)

    def make_case(name: str, make: Callable[..., Any], **options: Any) -> Case:
        right = make(torch, **options)

        def ours() -> Any:
            if hasattr(right, "dtype"):
                leave_behind(bench, right.numel() * right.itemsize)
            return make(torch, device=bench.device, **options)

        return fact(name, ours, right)

    return run_cases(bench, cases())


def leave_behind(bench: Bench, size: int) -> None:
    """Leave other numbers in the memory that the next tensor is likely to get, lest it be right by chance."""
    filled = bench.torch.empty(size, dtype=bench.torch.uint8).fill_(93).to(bench.device)
    del filled


def make_values(torch: Any, dtype: str, *shape: int) -> Any:
    """Make numbers that every dtype holds exactly."""
    count = torch.Size(shape).numel()
    return (torch.arange(count) % 97).reshape(shape).to(getattr(torch, dtype))


COPIES: dict[str, Callable[..., Any]] = {
    "there and back": lambda _, x, device: x.to(device),
    "of a transposed tensor": lambda _, x, device: x.t().to(device),
    "of every second column": lambda _, x, device: x[:, ::2].to(device),
    "of a slice in the middle": lambda _, x, device: x[3:9, 2:5].to(device),
    "of an expanded row": lambda _, x, device: x[:1].expand(6, -1).to(device),
    "on the device, transposed": lambda _, x, device: x.to(device).t().contiguous(),
    "back, every second column": lambda _, x, device: x.to(device)[:, 1::2].cpu(),
    "back, transposed": lambda _, x, device: x.to(device).t().cpu(),
    "into every third row": lambda torch, x, device: put(torch.zeros_like(x, device=device), x),
    "back into every third row": lambda torch, x, device: put(torch.zeros_like(x), x.to(device)),
    "onto itself, reversed": lambda _, x, device: x.to(device).flip(0).clone(),
    "of one element": lambda _, x, device: x.to(device)[4, 3].item(),
    "to a list": lambda _, x, device: x.to(device)[5].tolist(),
}
CONVERSIONS = (
    *(("float32", other) for other in ("float16", "bfloat16", "int64", "int32", "uint8", "bool", "complex64")),
    *(("int64", other) for other in ("float32", "int16", "bool")),
    *(("bool", "float32"), ("float16", "bfloat16"), ("bfloat16", "int32")),
)


def put(target: Any, source: Any) -> Any:
    target[::3].copy_(source[::3])
    return target


def check_copies(bench: Bench) -> Outcome:
    return run_cases(bench, copy_cases(bench))


def copy_cases(bench: Bench) -> Iterator[Case]:
    torch, device = bench.torch, bench.device
    for dtype in DTYPES:
        x = make_values(torch, dtype, 13, 7)
        for name, run in COPIES.items():
            yield copy_case(bench, f"{name} {dtype}", run, x)
    for source, other in CONVERSIONS:
        x, to = make_values(torch, source, 13, 7), getattr(torch, other)
        yield copy_case(bench, f"{source} to {other}", lambda _, x, device, to=to: x.to(device, to), x)
        yield copy_case(bench, f"{source} to {other} there", lambda _, x, device, to=to: x.to(device).to(to), x)
    many = torch.randn(1_000_003)
    yield Case("a million floats", lambda: many.to(device), many.clone)
    yield Case("a million floats, not blocking", lambda: many.to(device, non_blocking=True), many.clone)
    yield Case("back, not blocking", lambda: fetch_without_blocking(bench, many.to(device)), many.clone)
    images = torch.randn(2, 3, 5, 4).contiguous(memory_format=torch.channels_last)
    yield fact("strides of channels_last stay", lambda: images.to(device).stride(), images.stride())


def copy_case(bench: Bench, name: str, run: Callable[..., Any], x: Any) -> Case:
    return Case(name, lambda: run(bench.torch, x.clone(), bench.device), lambda: run(bench.torch, x.clone(), "cpu"))


def fetch_without_blocking(bench: Bench, tensor: Any) -> Any:
    host = tensor.to("cpu", non_blocking=True)
    bench.synchronize()
    return host


IN_PLACE: dict[str, Callable[..., Any]] = {
    "add_": lambda _, x, y: x.add_(y, alpha=2),
    "add_ of a row": lambda _, x, y: x.add_(y[0]),
    "mul_ transposed": lambda _, x, y: x.t().mul_(y.t()),
    "sub_ at every second column": lambda _, x, y: (x[:, ::2].sub_(y[:, 1::2]), x),
    "+= at a slice": lambda _, x, y: add_to_slice(x, y),
    "clamp_": lambda _, x, y: x.clamp_(-0.5, 0.5),
    "relu_": lambda _, x, y: x.relu_(),
    "masked_fill_": lambda _, x, y: x.masked_fill_(y > 0, 7.0),
    "copy_ of a row": lambda _, x, y: x.copy_(y[3]),
    "zero_ of a diagonal": lambda _, x, y: (x.diagonal().zero_(), x),
    "itself": lambda _, x, y: x.add_(x.t()[: x.shape[0], : x.shape[1]].clone()),
    "out": lambda torch, x, y: torch.add(x, y, out=torch.empty_like(x)),
    "out, transposed": lambda torch, x, y: torch.mul(x, y, out=torch.zeros_like(x).t().contiguous().t()),
    "out at every second row": lambda torch, x, y: (torch.sub(x[::2], y[::2], out=x[1::2]), x),
    "set by a mask": lambda _, x, y: set_at(x, y > 0, -1.0),
    "set by a list": lambda _, x, y: set_at(x, [0, -1, 3], y[:3]),
    "same memory": lambda _, x, y: x.data_ptr() == x.add_(y).data_ptr(),
}


def add_to_slice(x: Any, y: Any) -> Any:
    x[2:7, 1:4] += y[3:8, 3:6]
    return x


def set_at(x: Any, where: Any, value: Any) -> Any:
    x[where] = value
    return x


def check_in_place(bench: Bench) -> Outcome:
    x, y = bench.torch.randn(8, 8), bench.torch.randn(8, 8)
    return run_cases(bench, same(bench, IN_PLACE, x, y))


CHECKS = (
    Check("tensors.factories", "tensors made on the device", check_factories),
    Check("tensors.copies", "copies there and back", check_copies),
    Check("tensors.in_place", "operators in place", check_in_place, "smoke"),
)
