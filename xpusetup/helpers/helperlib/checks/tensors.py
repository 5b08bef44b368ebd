"""Tensors of all dtypes and shapes: what makes them, and views of them."""

from collections.abc import Callable, Iterator
from typing import Any

from helperlib.verify.bench import DEEP_LIMIT, BenchCheck, DeviceBench, DeviceCase, by_cases, fact, same

# How a device makes, moves, views and changes tensors, before anything is computed with them.


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


@by_cases
def check_factories(bench: DeviceBench) -> Iterator[DeviceCase]:
    torch = bench.torch

    def make_case(name: str, make: Callable[..., Any], **options: Any) -> DeviceCase:
        right = make(torch, **options)

        def ours() -> Any:
            if hasattr(right, "dtype"):
                # Leave other numbers in the memory that it is likely to get, lest it be right by chance.
                torch.empty(right.numel() * right.itemsize, dtype=torch.uint8).fill_(93).to(bench.device)
            return make(torch, device=bench.device, **options)

        return fact(name, ours, right)

    for dtype in DTYPES:
        for name, make in FACTORIES.items():
            yield make_case(f"{name} {dtype}", make, dtype=getattr(torch, dtype))
    for name, make in RANGES.items():
        yield make_case(name, make)
    yield fact("device without an index", lambda: str(torch.zeros(1, device=bench.name).device), bench.device)


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


@by_cases
def check_copies(bench: DeviceBench) -> Iterator[DeviceCase]:
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
    yield DeviceCase("a million floats", lambda: many.to(device), many.clone)
    yield DeviceCase("a million floats, not blocking", lambda: many.to(device, non_blocking=True), many.clone)
    yield DeviceCase("back, not blocking", lambda: fetch_without_blocking(bench, many.to(device)), many.clone)
    images = torch.randn(2, 3, 5, 4).contiguous(memory_format=torch.channels_last)
    yield fact("strides of channels_last stay", lambda: images.to(device).stride(), images.stride())


def copy_case(bench: DeviceBench, name: str, run: Callable[..., Any], x: Any) -> DeviceCase:
    return DeviceCase(
        name, lambda: run(bench.torch, x.clone(), bench.device), lambda: run(bench.torch, x.clone(), "cpu")
    )


def fetch_without_blocking(bench: DeviceBench, tensor: Any) -> Any:
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


@by_cases
def check_in_place(bench: DeviceBench) -> Iterator[DeviceCase]:
    return same(bench, IN_PLACE, bench.torch.randn(8, 8), bench.torch.randn(8, 8))


# Views that stay views, and the tensors that kernels forget: empty ones, scalars, integers, complex numbers.


VIEWS: dict[str, Callable[..., Any]] = {
    "view": lambda _, x: x.view(6, 4),
    "reshape": lambda _, x: x.reshape(2, 12),
    "transpose": lambda _, x: x.transpose(0, 1)[1],
    "permute": lambda _, x: x.view(2, 3, 4).permute(2, 0, 1)[2],
    "slice": lambda _, x: x[1:, ::2],
    "select": lambda _, x: x.select(1, 3),
    "narrow": lambda _, x: x.narrow(1, 2, 3),
    "unsqueeze": lambda _, x: x.unsqueeze(1)[2],
    "squeeze": lambda _, x: x.view(1, 4, 6).squeeze(0)[3],
    "diagonal": lambda _, x: x.diagonal(1),
    "unfold": lambda _, x: x.unfold(1, 2, 2)[1],
    "as_strided": lambda _, x: x.as_strided((3, 2), (5, 1), 4),
    "split": lambda _, x: x.split(2, 1)[1],
    "chunk": lambda _, x: x.chunk(3)[1],
    "unbind": lambda _, x: x.unbind(1)[2],
    "flatten": lambda _, x: x.flatten()[5:9],
    "movedim": lambda _, x: x.view(2, 3, 4).movedim(0, 2)[1],
    "unflatten": lambda _, x: x.unflatten(1, (2, 3))[:, 1],
    "expand": lambda _, x: x[2:3, :1].expand(1, 1),
    "detach": lambda _, x: x.detach()[0],
    "view of another dtype": lambda torch, x: x.view(torch.int32)[0],
    "real part": lambda torch, x: torch.view_as_complex(x.view(4, 3, 2)).real[1],
    "imaginary part": lambda torch, x: torch.view_as_complex(x.view(4, 3, 2)).imag[2],
    "view_as_real": lambda torch, x: torch.view_as_real(torch.view_as_complex(x.view(4, 3, 2)))[3],
}


def write_through(view: Callable[..., Any]) -> Callable[..., Any]:
    def run(torch: Any, x: Any) -> Any:
        seen = view(torch, x)
        before = seen.clone()
        seen.add_(100)
        return before, x

    return run


@by_cases
def check_views(bench: DeviceBench) -> Iterator[DeviceCase]:
    functions = {name: write_through(view) for name, view in VIEWS.items()}
    return same(bench, functions, bench.torch.arange(24.0).reshape(4, 6))


EDGES: dict[str, Callable[..., Any]] = {
    "sum of nothing": lambda _, x: x[:0].sum(),
    "sum of nothing, by column": lambda _, x: x[:0].sum(0),
    "mean of nothing": lambda _, x: x[:0].mean(),
    "product of nothing": lambda _, x: x[:0].prod(),
    "all of nothing": lambda _, x: (x[:0] > 0).all(),
    "matmul without rows": lambda _, x: x[:0] @ x,
    "matmul without an inner side": lambda _, x: x[:, :0] @ x[:0],
    "linear without a batch": lambda torch, x: torch.nn.functional.linear(x[:0], x, x[0]),
    "cat with nothing": lambda torch, x: torch.cat((x[:0], x, x[:0])),
    "index by nothing": lambda torch, x: x[torch.zeros(0, dtype=torch.int64, device=x.device)],
    "mask of nothing": lambda _, x: x[x > 1e9],
    "scatter of nothing": lambda torch, x: x.scatter(0, torch.zeros(0, 5, dtype=torch.int64, device=x.device), 1.0),
    "index_add of nothing": lambda torch, x: x.index_add(0, torch.zeros(0, dtype=int, device=x.device), x[:0]),
    "sort of nothing": lambda _, x: x[:0].sort(0),
    "nonzero of nothing": lambda _, x: x[:0].nonzero(),
    "copy of nothing": lambda _, x: x[:, 5:].clone(),
    "scalar item": lambda _, x: x[1, 2].item(),
    "scalar sum": lambda _, x: x[1, 2].sum(0),
    "scalar max": lambda _, x: x[1, 2].max(0),
    "scalar times scalar": lambda _, x: x[0, 0] * x[1, 1],
    "scalar in an index": lambda _, x: x[(x[0] > 1e9).sum()],
    "scalar index_select": lambda torch, x: x[0, 0].index_select(0, torch.zeros(1, dtype=int, device=x.device)),
    "scalar cumsum": lambda _, x: x[0, 0].cumsum(0),
    "a CPU scalar": lambda torch, x: x * torch.tensor(2.0),
    "column and row": lambda _, x: x[:, :1] + x[:1],
    "four sides": lambda _, x: x.view(5, 1, 5, 1) * x.view(1, 5, 1, 5),
    "seven sides": lambda torch, x: (torch.ones(1, 2, 1, 2, 1, 1, 1, device=x.device) * x.view(5, 1, 5)).sum((1, 3, 4)),
    "expanded input": lambda _, x: x[0].expand(3, 5).contiguous() + x[1].expand(3, 5),
    "where of three shapes": lambda torch, x: torch.where(x[:, :1] > 0, x[:1], x[0, 0]),
    "int and float": lambda torch, x: (x > 0).long() + x,
    "float16 and a number": lambda _, x: x.half() + 1,
    "float16 and float32": lambda _, x: x.half() + x,
    "bool and int": lambda _, x: (x > 0) + 1,
    "int divided by int": lambda _, x: (x > 0).long() / 2,
}


@by_cases
def check_edges(bench: DeviceBench) -> Iterator[DeviceCase]:
    return same(bench, EDGES, bench.torch.randint(-8, 8, (5, 5)).float())


INTEGERS: dict[str, Callable[..., Any]] = {
    "add": lambda _, n, m, b: n + m,
    "multiply": lambda _, n, m, b: m * 3_037_000_493,
    "sum": lambda _, n, m, b: n.sum(),
    "cumsum": lambda _, n, m, b: n.cumsum(0),
    "max": lambda _, n, m, b: n.max(0),
    "sort": lambda _, n, m, b: n.sort().values,
    "compare": lambda _, n, m, b: n == n + 1,
    "floor division": lambda _, n, m, b: (m // 7, m // -7),
    "remainder": lambda _, n, m, b: (m % 7, m % -7),
    "division towards zero": lambda torch, n, m, b: torch.div(m, 7, rounding_mode="trunc"),
    "fmod": lambda torch, n, m, b: torch.fmod(m, 7),
    "bits": lambda _, n, m, b: (n & m, n | m, n ^ m, ~n),
    "shifts": lambda _, n, m, b: (n << 1, n >> 40, m >> 1),
    "absolute value": lambda _, n, m, b: (m.abs(), m.sign(), -m),
    "int8 that wraps": lambda torch, n, m, b: m.to(torch.int8) * 3,
    "uint8 that wraps": lambda torch, n, m, b: m.abs().to(torch.uint8) + 250,
    "int16 sum": lambda torch, n, m, b: m.to(torch.int16).sum(),
    "int32 maximum": lambda torch, n, m, b: torch.maximum(m.int(), -m.int()),
    "power": lambda _, n, m, b: m**3,
    "count of true": lambda _, n, m, b: (b.sum(), b.sum(0, keepdim=True), b.count_nonzero()),
    "any and all": lambda _, n, m, b: (b.any(), b.all(), b[b].all()),
    "logic": lambda _, n, m, b: (b & ~b, b ^ True, b.logical_or(~b), b.logical_and(m > 0)),
    # Other libraries hand over bytes that are true and not 1.
    "true that is 2": lambda torch, n, m, b: ((b.to(torch.uint8) * 2).view(torch.bool) == b).sum(),
    "chosen by true that is 2": lambda torch, n, m, b: m[(b.to(torch.uint8) * 2).view(torch.bool)],
}


@by_cases
def check_integers(bench: DeviceBench) -> Iterator[DeviceCase]:
    torch = bench.torch
    large = torch.randint(-64, 64, (97,)) + 2**53 + 1  # what passes through float64 loses its last bits
    return same(bench, INTEGERS, large, torch.randint(-99, 99, (97,)), torch.rand(97) > 0.4)


COMPLEX: dict[str, Callable[..., Any]] = {
    "multiply": lambda _, z, w: z * w,
    "divide": lambda _, z, w: z / w,
    "matmul": lambda _, z, w: z @ w,
    "matmul of conjugates": lambda _, z, w: z.mH @ w.conj(),
    "vdot": lambda torch, z, w: torch.vdot(z[0], w[1]),
    "absolute value": lambda _, z, w: z.abs(),
    "angle": lambda _, z, w: z.angle(),
    "exp": lambda _, z, w: z.exp(),
    "sum and mean": lambda _, z, w: (z.sum(1), w.mean()),
    "polar": lambda torch, z, w: torch.polar(z.abs(), w.angle()),
    "times a number": lambda _, z, w: z * 2j + 1,
    "real and imaginary": lambda torch, z, w: torch.complex(z.imag, w.real),
    "in place": lambda _, z, w: z.mul_(w).add_(1j),
}
CONJUGATES: dict[str, Callable[..., Any]] = {
    "a conjugate leaves the device": lambda _, z, w: z.conj(),
    "conjugate, then copy": lambda _, z, w: z.conj().clone(),
    "conjugate, then contiguous": lambda _, z, w: z.mH.contiguous(),
    "conjugate, resolved": lambda _, z, w: z.conj().resolve_conj(),
    "conjugate, in place": lambda _, z, w: w.copy_(z.conj()),
    "into a conjugate": lambda _, z, w: (w.conj().copy_(z), w)[1],
    "conjugate of a conjugate": lambda _, z, w: z.conj().conj().clone(),
    "negative view": lambda _, z, w: z.conj().imag,
    "negative view, then copy": lambda _, z, w: z.conj().imag.clone(),
    "one element": lambda _, z, w: z.conj()[1, 2].item(),
    "read as pairs": lambda torch, z, w: torch.view_as_real(z.conj().resolve_conj()),
    "a slice": lambda _, z, w: z.conj()[1:, ::2].clone(),
}


@by_cases
def check_complex(bench: DeviceBench) -> Iterator[DeviceCase]:
    torch = bench.torch
    z, w = (torch.complex(*torch.randn(2, 6, 6).unbind()) for _ in range(2))
    yield from same(bench, COMPLEX, z, w, limit=DEEP_LIMIT)
    yield from same(bench, CONJUGATES, z, w)


CHECKS = (
    BenchCheck("tensors.factories", "tensors made on the device", check_factories),
    BenchCheck("tensors.copies", "copies there and back", check_copies),
    BenchCheck("tensors.in_place", "operators in place", check_in_place, "smoke"),
    BenchCheck("tensors.views", "views share memory", check_views),
    BenchCheck("tensors.edges", "empty tensors, scalars, broadcasting", check_edges, "smoke"),
    BenchCheck("tensors.integers", "integers and truth values", check_integers, "smoke"),
    BenchCheck("tensors.complex", "complex numbers", check_complex, "smoke"),
)
