"""Streams and events: work that has to wait does, and the time between two events is a time."""

from __future__ import annotations

import time
from functools import partial
from typing import TYPE_CHECKING, Any

from device_bench import Absent, Bench, Check, Outcome
from device_cases import LACKING, Case, fact, find_function, judge_rules, run_cases

if TYPE_CHECKING:
    from collections.abc import Iterator

ROUNDS, SIDE = 8, 1024


def check_order(bench: Bench) -> Outcome:
    """Let one stream wait for another by an event, and another by its stream: too early is a wrong number."""
    if bench.name == "cpu":
        raise Absent("the CPU has one queue")
    return run_cases(bench, order_cases(bench))


def order_cases(bench: Bench) -> Iterator[Case]:
    torch = bench.torch
    start, order = (torch.arange(SIDE * SIDE) % 97).float().view(SIDE, SIDE), torch.randperm(SIDE)
    shuffle, there = torch.eye(SIDE)[order].to(bench.device), start.to(bench.device)

    def right() -> Any:
        x = start
        for _ in range(ROUNDS):
            x = x[order]
        return x * 2

    yield Case("an event is waited for", partial(wait_by_event, bench, shuffle, there), right)
    yield Case("a stream is waited for", partial(wait_by_stream, bench, shuffle, there), right)
    yield fact("the device is waited for", partial(wait_by_device, bench, shuffle, there), right=True)
    yield fact("a stream's device", lambda: str(make_stream(bench).device), bench.device)


def work(shuffle: Any, x: Any) -> Any:
    """Multiply by a permutation, which is exact in every precision, for long enough to be overtaken."""
    for _ in range(ROUNDS):
        x = shuffle @ x
    return x


def wait_by_event(bench: Bench, shuffle: Any, x: Any) -> Any:
    side, done = make_stream(bench), make_event(bench)
    side.wait_stream(current(bench))
    with on(bench, side):
        result = work(shuffle, x)
        done.record(side)
    done.wait(current(bench))
    return result * 2


def wait_by_stream(bench: Bench, shuffle: Any, x: Any) -> Any:
    side, done = make_stream(bench), make_event(bench)
    bench.synchronize()
    with on(bench, side):
        result = work(shuffle, x)
        done.record(side)
    side.synchronize()
    if not done.query():
        raise RuntimeError("its event is not done after Stream.synchronize")
    return result * 2


def wait_by_device(bench: Bench, shuffle: Any, x: Any) -> bool:
    done = make_event(bench)
    result = work(shuffle, x)
    done.record(current(bench))
    bench.synchronize()
    del result
    return bool(done.query())


def make_stream(bench: Bench) -> Any:
    make = getattr(bench.module, "Stream", None)
    return make() if make else bench.torch.Stream(device=bench.device)


def make_event(bench: Bench, **how: Any) -> Any:
    make = getattr(bench.module, "Event", None)
    return make(**how) if make else bench.torch.Event(device=bench.device, **how)


def current(bench: Bench) -> Any:
    return find_function(bench, "current_stream", "2.4")()


def on(bench: Bench, stream: Any) -> Any:
    """Enter a stream: devices have `torch.<device>.stream`, since 2.7 streams do it by themselves."""
    return bench.module.stream(stream) if hasattr(bench.module, "stream") else stream


def make_clocks(bench: Bench) -> tuple[Any, Any, Any]:
    """Make three events that know when they were recorded, or say that the device has none."""
    first, middle, last = (make_event(bench, enable_timing=True) for _ in range(3))
    first.record()
    last.record()
    bench.synchronize()
    try:
        first.elapsed_time(last)
    except RuntimeError as error:
        if LACKING in str(error):
            raise NotImplementedError(str(error)) from error
        raise
    return first, middle, last


def check_time(bench: Bench) -> Outcome:
    torch = bench.torch
    if bench.name == "cpu":
        raise Absent("the CPU has no events")
    x = torch.randn(512, 512, device=bench.device)
    first, middle, last = make_clocks(bench)
    bench.synchronize()
    began = time.perf_counter()
    first.record()
    y = x @ x
    middle.record()
    for _ in range(20):
        y = x @ x
    last.record()
    bench.synchronize()
    wall = (time.perf_counter() - began) * 1e3
    whole, part = first.elapsed_time(last), first.elapsed_time(middle)
    del y
    rules = {
        f"{whole:.3f} ms between two events, {wall:.3f} ms on the host's clock": 0 < whole <= wall * 1.05 + 0.1,
        f"{part:.3f} ms to the event between, {whole:.3f} ms in all": 0 <= part <= whole,
    }
    return judge_rules(rules, f"{whole:.2f} ms between two events, {wall:.2f} ms on the host's clock")


CHECKS = (
    Check("streams.order", "streams and events", check_order, "smoke"),
    Check("streams.time", "time between events", check_time, "smoke"),
)
