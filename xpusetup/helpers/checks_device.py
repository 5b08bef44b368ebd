"""Whether there is a device that can be worked with: it is found, it answers, it gives memory and gets it back."""

from __future__ import annotations

import importlib
import importlib.util
from typing import TYPE_CHECKING, Any

from device_bench import Bench, Check, Outcome, describe_device, describe_error
from summary import render_size

if TYPE_CHECKING:
    from collections.abc import Iterator

KNOWN = ("xpu", "cuda", "hpu", "npu", "mps")
"""Where torch.accelerator (2.6) does not say which one is here."""
SENSIBLE = 256 << 20
ABSURD = 1 << 52
"""Bytes: 4 PiB is more than a 64-bit program can address, so no device can have it."""


def list_accelerators(torch: Any) -> Iterator[tuple[str, str]]:
    """Give each accelerator that says it is available, and who says so; torch's own choice first."""
    accelerator: Any = getattr(torch, "accelerator", None)
    if accelerator and accelerator.is_available():
        yield str(accelerator.current_accelerator().type), "torch.accelerator"
    private = getattr(getattr(torch, "_C", None), "_get_privateuse1_backend_name", lambda: "")()
    for name in (*KNOWN, private):
        module: Any = getattr(torch, name, None) if name else None
        if hasattr(module, "is_available") and module.is_available():
            yield name, f"torch.{name}"


def choose_device(torch: Any) -> tuple[str, str]:
    """Give the device that `auto` means here, and why it is that one."""
    found: dict[str, str] = {}
    for name, said_by in list_accelerators(torch):
        found.setdefault(name, said_by)
    if not found:
        return "cpu", "no accelerator is available, so the CPU"
    name, *others = found
    beside = f"; {', '.join(others)} not looked at" if others else ""
    return name, f"{name}, available by {found[name]}{beside}"


def check_import(bench: Bench) -> Outcome:
    version = str(bench.torch.__version__)
    top = bench.extension.partition(".")[0]
    if top and bench.module is None and importlib.util.find_spec(top):
        importlib.import_module(bench.extension)
    if bench.name != "auto":
        return Outcome("ok", f"torch {version}", facts={"torch": version})
    name, why = choose_device(bench.torch)
    return Outcome("ok", f"torch {version}; device: {why}", facts={"torch": version, "device": name, "why": why})


def check_available(bench: Bench) -> Outcome:
    module = bench.module
    if module is None:
        return Outcome("skip", f"this torch knows no device named {bench.name}")
    if not module.is_available() or not module.device_count():
        return Outcome("skip", f"no {bench.name} device here")
    devices = [describe_device(bench, index) for index in range(module.device_count())]
    return Outcome("ok", ", ".join(device["name"] for device in devices), facts={"devices": devices})


def check_responds(bench: Bench) -> Outcome:
    ones = bench.torch.ones(4, device=bench.device)
    sums = ones + ones
    bench.synchronize()
    got = sums.cpu().tolist()
    good = got == [2.0] * 4
    return Outcome("ok" if good else "fail", "it adds and synchronises" if good else f"1 + 1 = {got}", "1 + 1 = 2")


def measure(bench: Bench) -> int | None:
    """Give the bytes that tensors hold on the device, where it counts them."""
    counter = getattr(bench.module, "memory_allocated", None)
    return None if counter is None else int(counter())


def find_free(bench: Bench) -> int | None:
    """Give the bytes that are free on the device, where it tells."""
    tell = getattr(bench.module, "mem_get_info", None)
    try:
        return None if tell is None else int(tell()[0])
    except (NotImplementedError, RuntimeError):
        return None  # a row of its own (api.mem_get_info)


def take_and_return(bench: Bench, size: int) -> str:
    """Take memory, look whether it is counted, and give it back; say what is wrong, or nothing."""
    before = measure(bench)
    block = bench.torch.ones(size, dtype=bench.torch.uint8, device=bench.device)
    within = measure(bench)
    if int(block[-1].cpu()) != 1:
        return f"the last of {render_size(size)} reads {int(block[-1].cpu())}, written was 1"
    del block
    after = measure(bench)
    if before is None or within is None or after is None:
        return ""
    if within - before < size:
        return f"{render_size(size)} taken, {render_size(within - before)} counted"
    return f"{render_size(after - before)} of {render_size(size)} did not come back" if after > before else ""


def refuse(bench: Bench) -> str:
    """Ask for more than any device has, and give how it was refused; nothing where it was not."""
    try:
        bench.torch.empty(ABSURD, dtype=bench.torch.uint8, device=bench.device)
    except RuntimeError as error:  # torch.OutOfMemoryError is one
        return type(error).__name__
    return ""


def check_memory(bench: Bench) -> Outcome:
    free = find_free(bench)
    size = SENSIBLE if free is None else max(1, min(SENSIBLE, free // 8))
    room = "" if free is None else f", {render_size(free)} free"
    limit = f"{render_size(size)} taken, counted and given back; {render_size(ABSURD)} refused"
    try:
        trouble = take_and_return(bench, size)
    except RuntimeError as error:
        trouble = f"{render_size(size)} refused{room}: {describe_error(error)}"
    refused = "" if trouble else refuse(bench)
    if not trouble and not refused:
        trouble = f"{render_size(ABSURD)} were given: the device does not limit what is asked of it"
    if trouble:
        return Outcome("fail", trouble, limit)
    after = check_responds(bench)
    if after.level != "ok":
        return Outcome("fail", f"after a refused allocation {after.seen}", limit)
    return Outcome("ok", f"{render_size(size)} taken and given back, {render_size(ABSURD)} refused ({refused}){room}")


GATES = (
    Check("autoload.import", "import torch", check_import),
    Check("device.available", "available", check_available),
    # The first kernel of a device may have to be compiled; an answer that takes longer will not come.
    Check("device.responds", "it responds", check_responds, patience=60),
)
CHECKS = (Check("device.memory", "memory", check_memory),)
