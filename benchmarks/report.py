"""The rows report_*: the page of a build of 10,000 commands, beside that of one, beside 2 s, and beside 2 MB."""

from __future__ import annotations

import json
import sys
from dataclasses import asdict
from typing import TYPE_CHECKING

from benchmarks.rows import Row, make_row
from benchmarks.timing import Command, take_processor_turns, take_turns, usage_of
from xpusetup.base.model import JournalLine

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

ROUNDS = 7
EDGES = 10_000
START = 1_790_000_000
LIMIT = 2.0
"""Seconds that are promised."""
SIZE = 2.0
"""MB that are promised."""
EACH = 0.5
"""Seconds from one command of ninja to the next."""
SAME = 1.5
"""Times the page of one command, which is nearly all the start of the program."""


def measure_report(folder: Path, env: Mapping[str, str]) -> Iterator[Row]:
    """Write the page anew each time, in turns with that of a build of one command; the processor's time of both."""
    large, small = (make_report(folder / f"report-{count}", env, count) for count in (EDGES, 1))
    usage_of(large)  # once, so that all has been compiled to bytecode
    (clock,) = take_turns(ROUNDS, (large, ROUNDS))
    ours, reference = take_processor_turns(ROUNDS, large, small)
    yield make_row("report_edges", ours, reference, goal=SAME, unit="s")
    yield make_row("report_time", clock, [LIMIT] * ROUNDS, goal=1.0, unit="s")
    size = (folder / f"report-{EDGES}/report.html").stat().st_size / 1e6
    yield make_row("report_size", [size], [SIZE], goal=1.0, unit="MB")


def make_report(root: Path, env: Mapping[str, str], edges: int) -> Command:
    """Make a root with a build of so many commands, and give the command that writes its page."""
    write_root(root, edges)
    words = ("-m", "xpusetup", "report", "--profile", "sim", "--root", str(root))
    return Command((sys.executable, *words), env, before=lambda: (root / "report.html").unlink(missing_ok=True))


def write_root(root: Path, edges: int) -> None:
    """Write what a build leaves for its report: the journal, looks at the memory, and ninja's log."""
    log = root / "src/simxpu/build/.ninja_log"
    log.parent.mkdir(parents=True)
    (root / "results").mkdir()
    seconds = edges * EACH
    record = JournalLine(step="simxpu.build", key="k", state="ran", time=START + seconds, seconds=seconds, edges=edges)
    (root / "journal.jsonl").write_text(json.dumps(asdict(record)) + "\n")
    looks = ([START + number * 5, 8 << 30, 64 << 30] for number in range(int(seconds / 5)))
    (root / "results/memory.jsonl").write_text("".join(f"{json.dumps(look)}\n" for look in looks))
    with log.open("w", encoding="utf-8") as stream:
        stream.write("# ninja log v6\n")
        for number in range(edges):
            begin = int(number * EACH * 1000)
            date = int((START + number * EACH) * 1e9)
            name = f"caffe2/CMakeFiles/torch_cpu.dir/__/aten/src/ATen/native/cpu/Kernel{number}.cpp.o"
            stream.write(f"{begin}\t{begin + 900 + number % 700}\t{date}\t{name}\t{number:x}\n")
