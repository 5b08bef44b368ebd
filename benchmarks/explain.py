"""The rows explain_*: how fast a log is explained and in how much memory, with the program's start in it.

Times are of the processor: they bear a busy machine.
"""

from __future__ import annotations

import itertools
import random
import sys
from typing import TYPE_CHECKING

from benchmarks.rows import Row, make_row
from benchmarks.timing import Command, take_processor_turns, usage_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

ROUNDS = 5
SIZE = 100_000_000
"""Bytes of each log."""

SPEED = 50_000_000
"""Bytes a second that are promised."""

MEMORY = 64.0
"""MiB that are promised."""

KILLED = "icpx: error: unable to execute command: Killed"
KINDS = (
    "[{n}/7561] Building CXX object caffe2/CMakeFiles/torch_cpu.dir/__/aten/src/ATen/native/cpu/Kernel{n}.cpp.o",
    "[{n}/7561] Building SYCL (Device) object torch_xpu_ops_sycl_kernels_gen_ErrorKernel{n}.cpp.o",
    "[{n}/7561] /usr/bin/c++ -DUSE_XPU -Werror=return-type -Wno-error=pedantic -I/src/pytorch/aten/src -O2 -c x{n}.cpp",
    "/src/pytorch/aten/src/ATen/x{n}.cpp:12:3: warning: unused parameter ‘self’ [-Wunused-parameter]",
    "   12 | Tensor add(const Tensor& self, const Tensor& other) {{",
    "      |            ~~~~~~~~~~~~~~^~~~",
    "copying torch/errors.py -> build/lib.linux-x86_64-cpython-312/torch",
)
ERRORS = 200_000
WRONG = "/src/a{n}.cpp:{n}:7: error: use of undeclared identifier 'x{n}'\n"
READ = "import sys\nfor line in open(sys.argv[1], 'rb'):\n    b'error: ' in line\n"
"""What anyone would write first, in the same language: every line once, one word."""


def measure_explain(folder: Path, env: Mapping[str, str]) -> Iterator[Row]:
    """Explain a long build's log in turns with reading it, and a single line of the same size."""
    log, line = folder / "build.log", folder / "line.log"
    write_log(log)
    line.write_bytes(b"x" * (SIZE // 2) + b" " + KILLED.encode() + b" " + b"y" * (SIZE // 2))
    ours = Command((sys.executable, "-m", "xpusetup", "explain", str(log)), env)
    reading = Command((sys.executable, "-c", READ, str(log)), env)
    mine, other = take_processor_turns(ROUNDS, ours, reading)
    promised = log.stat().st_size / SPEED
    yield make_row("explain_speed", mine, [promised] * ROUNDS, goal=1, unit="s")
    yield make_row("explain_reading", mine, other, goal=4, unit="s")
    yield from measure_growth(folder, env)
    for name, path in (("explain_memory", log), ("explain_line_memory", line)):
        command = Command((sys.executable, "-m", "xpusetup", "explain", str(path)), env)
        peaks = [usage_of(command).peak for _ in range(ROUNDS)]
        yield make_row(name, peaks, [MEMORY] * ROUNDS, goal=1, unit="MiB")


def measure_growth(folder: Path, env: Mapping[str, str]) -> Iterator[Row]:
    """Explain a log in which every line is an error of its own, and one with twice as many."""
    words = []
    for count in (ERRORS, 2 * ERRORS):
        path = folder / f"{count}.log"
        path.write_text("".join(WRONG.format(n=number) for number in range(count)))
        words.append(Command((sys.executable, "-m", "xpusetup", "explain", str(path)), env))
    once, twice = take_processor_turns(ROUNDS, *words)
    yield make_row("explain_growth", twice, once, goal=2.2, unit="s")


def write_log(path: Path) -> None:
    """Write what a build of PyTorch says, with the line that matters before its end."""
    chance = random.Random(1)  # noqa: S311 - noise, no secret
    written = 0
    with path.open("w", encoding="utf-8") as stream:
        for number in itertools.count():
            written += stream.write(chance.choice(KINDS).format(n=number) + "\n")
            if written >= SIZE:
                break
        stream.write(f"FAILED: x.o\n{KILLED}\nninja: build stopped: subcommand failed.\n")
