"""Random numbers: one seed gives the same ones, another seed others, and they are distributed as they should be."""

import math
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

from helperlib.verify.bench import BenchCheck, DeviceBench, DeviceCase, by_cases, fact

COUNT = 200_000
SIGMAS = 6
"""One of a thousand million honest runs is further away."""
DRAWS: dict[str, Callable[..., Any]] = {
    "rand": lambda torch, **to: torch.rand(1000, **to),
    "randn": lambda torch, **to: torch.randn(1000, **to),
    "randint": lambda torch, **to: torch.randint(0, 1 << 20, (1000,), **to),
    "randperm": lambda torch, **to: torch.randperm(1000, **to),
    "bernoulli_": lambda torch, **to: torch.empty(1000, **to).bernoulli_(0.5),
    "normal_": lambda torch, **to: torch.empty(1000, **to).normal_(1.0, 2.0),
    "uniform_": lambda torch, **to: torch.empty(1000, **to).uniform_(-1.0, 1.0),
    "exponential_": lambda torch, **to: torch.empty(1000, **to).exponential_(),
    "multinomial": lambda torch, **to: torch.multinomial(torch.ones(50, **to), 1000, replacement=True),
    "dropout": lambda torch, **to: torch.nn.functional.dropout(torch.ones(1000, **to), 0.5),
    "rand in float16": lambda torch, **to: torch.rand(1000, dtype=torch.float16, **to),
}


@by_cases
def check_seed(bench: DeviceBench) -> Iterator[DeviceCase]:
    torch = bench.torch

    def draw(make: Callable[..., Any], *, again: bool = False, seed: int = 7) -> Any:
        torch.manual_seed(seed)
        drawn = make(torch, device=bench.device)
        return (make(torch, device=bench.device) if again else drawn).cpu()

    def is_drawn(make: Callable[..., Any], **how: Any) -> bool:
        return bool(torch.equal(draw(make), draw(make, **how)))

    for name, make in DRAWS.items():
        yield fact(f"{name}, the same seed", partial(is_drawn, make), right=True)
        yield fact(f"{name}, another seed", partial(is_drawn, make, seed=8), right=False)
        yield fact(f"{name}, drawn again", partial(is_drawn, make, again=True), right=False)
    for name in ("rand", "randn", "randint", "randperm"):
        yield fact(f"{name}, a generator of its own", partial(draw_by_generator, bench, DRAWS[name]), right=True)


def draw_by_generator(bench: DeviceBench, make: Callable[..., Any]) -> bool:
    torch = bench.torch
    generator = torch.Generator(device=bench.device).manual_seed(11)
    before = make(torch, device=bench.device, generator=generator).cpu()
    make(torch, device=bench.device)  # what others draw is none of its business
    generator.manual_seed(11)
    return bool(torch.equal(before, make(torch, device=bench.device, generator=generator).cpu()))


@by_cases
def check_state(bench: DeviceBench) -> Iterator[DeviceCase]:
    torch = bench.torch
    module = torch if bench.name == "cpu" else bench.module
    if not hasattr(module, "get_rng_state") or not hasattr(module, "set_rng_state"):
        raise NotImplementedError(f"torch.{bench.name} has no get_rng_state and set_rng_state")

    def draw() -> Any:
        return torch.rand(100, device=bench.device).cpu()

    def restore() -> bool:
        state = module.get_rng_state().clone()
        first = draw()
        draw()
        module.set_rng_state(state)
        return bool(torch.equal(first, draw()))

    def fork() -> bool:
        state = module.get_rng_state().clone()
        kind = {} if bench.name == "cpu" else {"device_type": bench.name}
        with torch.random.fork_rng(devices=[] if bench.name == "cpu" else [0], **kind):
            draw()
        return bool(torch.equal(state, module.get_rng_state()))

    yield fact("restored", restore, right=True)
    yield fact("kept by fork_rng", fork, right=True)
    yield fact(
        "moves on", lambda: torch.equal(module.get_rng_state(), (draw(), module.get_rng_state())[1]), right=False
    )
    yield fact("lives on the CPU", lambda: module.get_rng_state().device.type, "cpu")


@by_cases
def check_distributions(bench: DeviceBench) -> Iterator[DeviceCase]:
    bench.torch.manual_seed(20)
    yield from moment_cases(bench)
    yield from range_cases(bench)


def moment_cases(bench: DeviceBench) -> Iterator[DeviceCase]:
    """Compare means of many draws with what theory says, in its own standard errors."""
    torch, to = bench.torch, {"device": bench.device}
    many = torch.empty(COUNT, **to)
    means: dict[str, tuple[Callable[[], Any], float, float]] = {
        "mean of rand": (lambda: torch.rand(COUNT, **to), 0.5, math.sqrt(1 / 12)),
        "square of rand": (lambda: torch.rand(COUNT, **to) ** 2, 1 / 3, math.sqrt(4 / 45)),
        "mean of randn": (lambda: torch.randn(COUNT, **to), 0.0, 1.0),
        "square of randn": (lambda: torch.randn(COUNT, **to) ** 2, 1.0, math.sqrt(2)),
        "fourth power of randn": (lambda: torch.randn(COUNT, **to) ** 4, 3.0, math.sqrt(96)),
        "neighbours of randn": (lambda: neighbours(torch.randn(COUNT, **to)), 0.0, 1.0),
        "normal_": (lambda: many.normal_(3.0, 2.0), 3.0, 2.0),
        "exponential_": (lambda: many.exponential_(2.0), 0.5, 0.5),
        "bernoulli_": (lambda: many.bernoulli_(0.3), 0.3, math.sqrt(0.21)),
        "randint": (lambda: torch.randint(0, 10, (COUNT,), **to), 4.5, math.sqrt(8.25)),
        "dropout": (lambda: torch.nn.functional.dropout(torch.ones(COUNT, **to), 0.25), 1.0, math.sqrt(1 / 3)),
        "multinomial": (
            lambda: torch.multinomial(torch.tensor([1.0, 3.0], **to), COUNT, True),
            0.75,
            math.sqrt(3 / 16),
        ),
    }

    def neighbours(drawn: Any) -> Any:
        return drawn * drawn.roll(1)

    def judge(draw: Callable[[], Any], mean: float, deviation: float) -> str:
        found = float(draw().cpu().double().mean())
        away = abs(found - mean) / (deviation / math.sqrt(COUNT))
        return "as expected" if away <= SIGMAS else f"mean {found:.4f} instead of {mean:.4f}, {away:.0f} sigma away"

    for name, expected in means.items():
        yield fact(name, partial(judge, *expected), "as expected")


def range_cases(bench: DeviceBench) -> Iterator[DeviceCase]:
    torch, to = bench.torch, {"device": bench.device}

    def rand_inside(dtype: Any) -> bool:
        host = torch.rand(COUNT, dtype=dtype, **to).cpu()
        return bool((host >= 0).all()) and bool((host < 1).all())

    for name in ("float32", "float16", "bfloat16"):
        yield fact(f"rand in {name} below 1", partial(rand_inside, getattr(torch, name)), right=True)
    yield fact(
        "randint from -3 to 4", lambda: torch.randint(-3, 5, (COUNT,), **to).cpu().unique().tolist(), [*range(-3, 5)]
    )
    yield fact(
        "randint beyond 32 bits", lambda: int(torch.randint(0, 1 << 50, (COUNT,), **to).max()) > 1 << 40, right=True
    )
    yield DeviceCase(
        "randperm is a permutation", lambda: torch.randperm(30_011, **to).sort().values, lambda: torch.arange(30_011)
    )
    yield fact(
        "dropout in eval", lambda: bool((torch.nn.Dropout(0.5).eval()(torch.ones(99, **to)) == 1).all()), right=True
    )


CHECKS = (
    BenchCheck("random.seed", "random numbers by seed", check_seed),
    BenchCheck("random.state", "state of random numbers", check_state, "smoke"),
    BenchCheck("random.distributions", "distributions of random numbers", check_distributions, "smoke"),
)
