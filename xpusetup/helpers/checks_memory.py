"""What a device says of its memory, and the host's memory that it reads by itself."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from device_bench import Absent, Bench, Check, Outcome
from device_cases import Case, fact, find_function, judge_rules, run_cases

if TYPE_CHECKING:
    from collections.abc import Iterator

MIB = 1 << 20
BLOCK = 24 * MIB
SLACK = 4 * MIB
"""Allocators round up, in steps of 2 MiB on most devices."""


def check_counters(bench: Bench) -> Outcome:
    allocated = find_function(bench, "memory_allocated", "2.5")
    peak, reset = (
        find_function(bench, "max_memory_allocated", "2.5"),
        find_function(bench, "reset_peak_memory_stats", "2.5"),
    )
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


def check_info(bench: Bench) -> Outcome:
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


def check_pinned(bench: Bench) -> Outcome:
    if bench.name == "cpu":
        raise Absent("the CPU has no memory to pin")
    return run_cases(bench, pinned_cases(bench))


def pinned_cases(bench: Bench) -> Iterator[Case]:
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
    yield Case("the same numbers", numbers.pin_memory, numbers.clone)
    yield Case("sent without blocking", send, numbers.clone)
    yield Case("fetched without blocking", fetch, numbers.clone)
    yield Case(
        "a conjugate, fetched",
        fetch_conjugate,
        lambda: torch.view_as_complex(numbers[:1000].view(500, 2)).conj().clone(),
    )


CHECKS = (
    Check("memory.counters", "counters of memory", check_counters, "smoke"),
    Check("memory.info", "free and total memory", check_info, "smoke"),
    Check("memory.pinned", "pinned memory", check_pinned, "smoke"),
)
