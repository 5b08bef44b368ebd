"""What a piece of work costs on a device: seconds until it is really done, and the most memory at once."""

from __future__ import annotations

import resource
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from summary import render_size

if TYPE_CHECKING:
    from collections.abc import Callable

    from device_bench import Bench

PROCESS = Path("/proc/self")
RESET_PEAK = "5"
"""What Linux takes in clear_refs as the wish to count the peak anew."""


@dataclass(frozen=True)
class Cost:
    """Seconds of each run, the first with whatever is loaded or compiled once, and the peak in bytes.

    The peak is that of the device's allocator, or, where it counts none, that of this process.
    """

    seconds: tuple[float, ...]
    peak: int
    of_device: bool

    def __str__(self) -> str:
        first, *others = self.seconds
        again = f", then {min(others):.2f} s" if others else ""
        return f"{first:.2f} s{again}, peak {render_size(self.peak)}{'' if self.of_device else ' of the process'}"


def reset_host_peak() -> None:
    with suppress(OSError):  # without the right to it the peak is that since the process began
        (PROCESS / "clear_refs").write_text(RESET_PEAK, encoding="ascii")


def find_host_peak() -> int:
    """Give the most bytes of memory that this process held at once."""
    with suppress(OSError, StopIteration, ValueError):
        lines = (PROCESS / "status").read_text(encoding="utf-8").splitlines()
        line = next(line for line in lines if line.startswith("VmHWM:"))
        return int(line.split()[1]) * 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def run_measured(bench: Bench, run: Callable[[], Any], times: int = 1) -> tuple[list[Any], Cost]:
    """Run something several times; give what each run returned, and what it cost.

    A device works on after the call has returned, so the clock stops when it has nothing left to do.
    """
    results, seconds = [], []
    bench.synchronize()
    bench.reset_peak()
    reset_host_peak()
    for _ in range(times):
        began = time.perf_counter()
        results.append(run())
        bench.synchronize()
        seconds.append(time.perf_counter() - began)
    peak = bench.find_peak()
    return results, Cost(tuple(seconds), peak or find_host_peak(), of_device=bool(peak))
