"""A device's memory, its streams and events, and what is stored of tensors."""

import copy
import io
import logging
import pickle
import tempfile
import time
import warnings
from collections.abc import Iterator
from functools import partial
from typing import Any

from helperlib.verify.bench import (
    LACKING,
    Absent,
    BenchCheck,
    BenchOutcome,
    DeviceBench,
    DeviceCase,
    by_cases,
    fact,
    find_function,
    judge_rules,
)

# What a device says of its memory, and the host's memory that it reads by itself.


MIB = 1 << 20
BLOCK = 24 * MIB
SLACK = 4 * MIB
"""Allocators round up, in steps of 2 MiB on most devices."""


def check_counters(bench: DeviceBench) -> BenchOutcome:
    allocated = find_function(bench, "memory_allocated", "2.5")
    peak = find_function(bench, "max_memory_allocated", "2.5")
    reset = find_function(bench, "reset_peak_memory_stats", "2.5")
    reserved = find_function(bench, "memory_reserved", "2.5")
    bench.synchronize()
    before = allocated()
    reset()
    block = bench.torch.empty(BLOCK, dtype=bench.torch.uint8, device=bench.device)
    during, held = allocated() - before, reserved()
    del block
    bench.synchronize()
    after, highest = allocated() - before, peak() - before
    reset()
    again = peak() - before
    rules = {
        f"{during} bytes more after {BLOCK} were allocated": BLOCK <= during <= BLOCK + SLACK,
        f"{after} bytes more after they were freed": after == 0,
        f"a peak of {highest} bytes": BLOCK <= highest <= BLOCK + SLACK,
        f"a peak of {again} bytes after it was reset": again == 0,
        f"{held} bytes reserved, less than allocated": held >= before + during,
    }
    return judge_rules(rules, f"{BLOCK // MIB} MiB counted when allocated, at the peak and when freed")


def check_info(bench: DeviceBench) -> BenchOutcome:
    free, total = find_function(bench, "mem_get_info", "2.6")()
    properties = getattr(bench.module, "get_device_properties", lambda _: None)(0)
    stated = getattr(properties, "total_memory", None) or total
    block = bench.torch.ones(BLOCK, dtype=bench.torch.uint8, device=bench.device)
    bench.synchronize()
    left, _ = find_function(bench, "mem_get_info", "2.6")()
    del block
    rules = {
        f"{free} bytes free of {total}": 0 < free <= total,
        f"{total} bytes in all, while the device's properties say {stated}": abs(total - stated) <= stated / 5,
        f"{left} bytes free with {BLOCK} more in use, {free} before": 0 <= left <= total - BLOCK,
    }
    return judge_rules(rules, f"{free / 2**30:.1f} of {total / 2**30:.1f} GiB free")


@by_cases
def check_pinned(bench: DeviceBench) -> Iterator[DeviceCase]:
    if bench.name == "cpu":
        raise Absent("the CPU has no memory to pin")
    torch = bench.torch
    numbers = torch.randn(100_003)

    def send() -> Any:
        sent = numbers.pin_memory().to(bench.device, non_blocking=True)
        bench.synchronize()
        return sent

    def fetch() -> Any:
        target = torch.zeros(100_003, pin_memory=True)
        target.copy_(numbers.to(bench.device), non_blocking=True)
        bench.synchronize()
        return target

    def fetch_conjugate() -> Any:
        # Blocking: without it PyTorch itself loses the conjugate on CUDA (pytorch/pytorch#146286).
        target = torch.zeros(500, dtype=torch.complex64, pin_memory=True)
        return target.copy_(torch.view_as_complex(numbers[:1000].view(500, 2)).to(bench.device).conj())

    yield fact("what was pinned says so", lambda: numbers.pin_memory().is_pinned(), right=True)
    yield fact("what was not says so", numbers.is_pinned, right=False)
    yield fact("made pinned", lambda: torch.empty(1000, pin_memory=True).is_pinned(), right=True)
    yield DeviceCase("the same numbers", numbers.pin_memory, numbers.clone)
    yield DeviceCase("sent without blocking", send, numbers.clone)
    yield DeviceCase("fetched without blocking", fetch, numbers.clone)
    yield DeviceCase(
        "a conjugate, fetched",
        fetch_conjugate,
        lambda: torch.view_as_complex(numbers[:1000].view(500, 2)).conj().clone(),
    )


# Streams and events: work that has to wait does, and the time between two events is a time.


ROUNDS, SIDE = 8, 1024


@by_cases
def check_order(bench: DeviceBench) -> Iterator[DeviceCase]:
    """Let one stream wait for another by an event, and another by its stream: too early is a wrong number."""
    if bench.name == "cpu":
        raise Absent("the CPU has one queue")
    torch = bench.torch
    start, order = (torch.arange(SIDE * SIDE) % 97).float().view(SIDE, SIDE), torch.randperm(SIDE)
    shuffle, there = torch.eye(SIDE)[order].to(bench.device), start.to(bench.device)

    def right() -> Any:
        x = start
        for _ in range(ROUNDS):
            x = x[order]
        return x * 2

    yield DeviceCase("an event is waited for", partial(wait_by_event, bench, shuffle, there), right)
    yield DeviceCase("a stream is waited for", partial(wait_by_stream, bench, shuffle, there), right)
    yield fact("the device is waited for", partial(wait_by_device, bench, shuffle, there), right=True)
    yield fact("a stream's device", lambda: str(make_stream(bench).device), bench.device)


def work(shuffle: Any, x: Any) -> Any:
    """Multiply by a permutation, which is exact in every precision, for long enough to be overtaken."""
    for _ in range(ROUNDS):
        x = shuffle @ x
    return x


def wait_by_event(bench: DeviceBench, shuffle: Any, x: Any) -> Any:
    side, done = make_stream(bench), make_event(bench)
    side.wait_stream(current(bench))
    with on(bench, side):
        result = work(shuffle, x)
        done.record(side)
    done.wait(current(bench))
    return result * 2


def wait_by_stream(bench: DeviceBench, shuffle: Any, x: Any) -> Any:
    side, done = make_stream(bench), make_event(bench)
    bench.synchronize()
    with on(bench, side):
        result = work(shuffle, x)
        done.record(side)
    side.synchronize()
    if not done.query():
        raise RuntimeError("its event is not done after Stream.synchronize")
    return result * 2


def wait_by_device(bench: DeviceBench, shuffle: Any, x: Any) -> bool:
    done = make_event(bench)
    result = work(shuffle, x)
    done.record(current(bench))
    bench.synchronize()
    del result
    return bool(done.query())


def make_stream(bench: DeviceBench) -> Any:
    make = getattr(bench.module, "Stream", None)
    return make() if make else bench.torch.Stream(device=bench.device)


def make_event(bench: DeviceBench, **how: Any) -> Any:
    make = getattr(bench.module, "Event", None)
    return make(**how) if make else bench.torch.Event(device=bench.device, **how)


def current(bench: DeviceBench) -> Any:
    return find_function(bench, "current_stream", "2.4")()


def on(bench: DeviceBench, stream: Any) -> Any:
    """Enter a stream: devices have `torch.<device>.stream`, since 2.7 streams do it by themselves."""
    return bench.module.stream(stream) if hasattr(bench.module, "stream") else stream


def make_clocks(bench: DeviceBench) -> tuple[Any, Any, Any]:
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


def check_time(bench: DeviceBench) -> BenchOutcome:
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


# Tensors of a device on disk and from a DataLoader: what is saved comes back, wherever it is loaded to.


KINDS = ("float32", "float16", "bfloat16", "int64", "uint8", "bool", "complex64")


def save_and_load(torch: Any, value: Any, **how: Any) -> Any:
    buffer = io.BytesIO()
    torch.save(value, buffer)
    buffer.seek(0)
    return torch.load(buffer, weights_only=True, **how)


@by_cases
def check_saving(bench: DeviceBench) -> Iterator[DeviceCase]:
    torch, device = bench.torch, bench.device
    for name in KINDS:
        yield from kind_cases(bench, name, (torch.arange(60) % 7).view(12, 5).to(getattr(torch, name)))
    x = torch.randn(6, 8)
    there = x.to(device)
    yield fact("device of what is loaded", lambda: str(save_and_load(torch, there).device), device)
    yield fact("device of what is mapped", lambda: str(save_and_load(torch, x, map_location=device).device), device)
    yield DeviceCase("every second column", lambda: save_and_load(torch, x.to(device)[:, ::2]), lambda: x[:, ::2])
    yield fact("two views of one memory", lambda: loaded_views_are_one(torch, x.to(device)), right=True)
    yield DeviceCase("a model and its optimiser", lambda: resume(bench, device), lambda: resume(bench, "cpu"), 1e-5)


def kind_cases(bench: DeviceBench, name: str, x: Any) -> Iterator[DeviceCase]:
    torch, device = bench.torch, bench.device
    yield fact(f"{name} to where it was", lambda: save_and_load(torch, x.to(device)), x)
    yield fact(f"{name} to the CPU", lambda: save_and_load(torch, x.to(device), map_location="cpu"), x)
    yield fact(f"{name} from the CPU", lambda: save_and_load(torch, x, map_location=device), x)
    yield fact(f"{name} pickled", lambda: pickle.loads(pickle.dumps(x.to(device))), x)  # noqa: S301, ours
    yield fact(f"{name} copied deeply", lambda: copy.deepcopy(x.to(device)), x)


def loaded_views_are_one(torch: Any, x: Any) -> bool:
    first, second = save_and_load(torch, (x, x[1:3]))
    first.zero_()
    return not bool(second.cpu().any())


def resume(bench: DeviceBench, device: str) -> Any:
    """Train two steps, save all, load it into another model, and train it one step more."""
    torch, nn = bench.torch, bench.torch.nn
    torch.default_generator.manual_seed(3)
    start, batch = nn.Linear(8, 4), torch.randn(16, 8).to(device)
    first = copy.deepcopy(start).to(device)
    optimizer = torch.optim.Adam(first.parameters(), lr=0.05)
    for _ in range(2):
        step(first, optimizer, batch)
    saved = save_and_load(torch, {"model": first.state_dict(), "optimizer": optimizer.state_dict()}, map_location="cpu")
    second = nn.Linear(8, 4).to(device)
    again = torch.optim.Adam(second.parameters(), lr=0.05)
    second.load_state_dict(saved["model"])
    again.load_state_dict(saved["optimizer"])
    step(second, again, batch)
    return second.weight.detach()


def step(model: Any, optimizer: Any, batch: Any) -> None:
    optimizer.zero_grad()
    model(batch).square().mean().backward()
    optimizer.step()


@by_cases
def check_checkpoint(bench: DeviceBench) -> Iterator[DeviceCase]:
    torch = bench.torch
    if not torch.distributed.is_available():
        raise Absent("torch.distributed: this torch was built without it")
    model = torch.nn.Sequential(torch.nn.Linear(6, 5), torch.nn.BatchNorm1d(5))
    right = {name: one.clone() for name, one in model.state_dict().items()}
    places = {"cpu": "on the CPU", bench.device: f"on {bench.device}"}
    with tempfile.TemporaryDirectory() as folder:
        loaded = {place: write_and_read(torch, model.to(bench.device), folder, place) for place in places}
    for place, words in places.items():
        for name, expected in right.items():
            yield fact(f"{name} {words}", partial(loaded[place].get, name), expected)
        devices = {str(one.device) for one in loaded[place].values()}
        yield fact(f"devices {words}", partial(set, devices), {place})


def write_and_read(torch: Any, model: Any, folder: str, place: str) -> dict[str, Any]:
    """Save a model's state by torch.distributed.checkpoint and load it to a place. One process needs no group."""
    from torch.distributed import checkpoint  # noqa: PLC0415, half a second

    empty = {name: torch.zeros_like(one, device=place) for name, one in model.state_dict().items()}
    previous = logging.root.manager.disable
    logging.disable()  # it prints tracebacks of what it raises
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # that it is not distributed is the point
            checkpoint.save(model.state_dict(), checkpoint_id=folder)
            checkpoint.load(empty, checkpoint_id=folder)
    except checkpoint.CheckpointException as error:
        raise next(iter(error.failures.values()))[0] from None  # what happened, in its only process
    finally:
        logging.disable(previous)
    return empty


@by_cases
def check_loader(bench: DeviceBench) -> Iterator[DeviceCase]:
    torch, data = bench.torch, bench.torch.utils.data
    images, labels = torch.randn(50, 3, 8, 8), torch.arange(50)
    dataset = data.TensorDataset(images, labels)

    def load(workers: int, *, pin: bool) -> Any:
        batches = list(data.DataLoader(dataset, batch_size=8, num_workers=workers, pin_memory=pin))
        sent = [[one.to(bench.device, non_blocking=pin) for one in batch] for batch in batches]
        bench.synchronize()
        return tuple(torch.cat([one[i] for one in sent]) for i in range(2))

    def pinned() -> bool:
        # torch 2.6 pins for CUDA alone where no device is named; newer ones need no name, and warn of it.
        ways: tuple[dict[str, str], ...] = ({}, {"pin_memory_device": bench.name})
        loaders = (data.DataLoader(dataset, 25, pin_memory=True, **way) for way in ways)
        return any(all(one.is_pinned() for batch in loader for one in batch) for loader in loaders)

    pinning = (False,) if bench.name == "cpu" else (False, True)
    for workers in (0, 2):
        for pin in pinning:
            name = f"{workers} workers{', pinned' if pin else ''}"
            yield fact(name, partial(load, workers, pin=pin), (images, labels))
    if True in pinning:
        yield fact("its batches are pinned", pinned, right=True)


CHECKS = (
    BenchCheck("memory.counters", "counters of memory", check_counters, "smoke"),
    BenchCheck("memory.info", "free and total memory", check_info, "smoke"),
    BenchCheck("memory.pinned", "pinned memory", check_pinned, "smoke"),
    BenchCheck("streams.order", "streams and events", check_order, "smoke"),
    BenchCheck("streams.time", "time between events", check_time, "smoke"),
    BenchCheck("storage.save", "save and load", check_saving, "smoke"),
    BenchCheck("storage.checkpoint", "distributed checkpoint", check_checkpoint, "smoke"),
    BenchCheck("storage.loader", "DataLoader", check_loader, "smoke"),
)
