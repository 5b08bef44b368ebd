"""A step at work: its process, its log, and what it takes of the memory."""

from __future__ import annotations

import json
import os
import select
import subprocess
import time
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, BinaryIO

from xpusetup.base.errors import NotReadyError
from xpusetup.base.model import Step, parse_progress, parse_summary
from xpusetup.config.settings import STALL_S
from xpusetup.machine.jobs import Strain
from xpusetup.run.time_left import Passes
from xpusetup.system import files
from xpusetup.system.environment import now
from xpusetup.system.files import cannot_write
from xpusetup.system.memory import Memory, read_kills, read_memory, read_pressure

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from xpusetup.run.compiler_caches import CacheWatch
    from xpusetup.run.root import Root


# What compiling steps do to the memory, looked at now and then: how much they take, whether they stand still.


EVERY = 5.0
"""Seconds between two looks: each reads a few small files of the kernel."""
FULL = 0.8
"""Share of the memory from which on a service such as earlyoom may have killed for lack of it, or soon would."""
STANDS_STILL = "it stands still: its processes wait for memory"


@dataclass(kw_only=True)
class MemoryWatch:
    """Looks at the memory while steps run. `patience`: seconds without a new result before one is stopped.

    `keep` is given what is in use.
    """

    patience: float = STALL_S
    looked: float = 0.0
    strains: dict[str, Strain] = field(default_factory=dict)
    keep: Callable[[Memory], None] = lambda _memory: None

    def look(self, running: Sequence[Running], time: float) -> list[Running]:
        """Note what the compiling steps take, and give those that fewer jobs would help. Now and then; else nothing."""
        if not running or time - self.looked < min(EVERY, self.patience):
            return []
        self.looked = time
        memory, pressure = read_memory(), read_pressure()
        compiling = [one for one in running if one.jobs]
        for one in compiling:
            one.mem_peak = max(one.mem_peak, memory.used if memory else 0)
            one.mem_total = memory.total if memory else 0
        if memory:
            self.keep(memory)
        return [one for one in compiling if one.jobs > 1 and self._lasts(one, pressure, time)]

    def _lasts(self, one: Running, pressure: float, time: float) -> bool:
        strain = self.strains.setdefault(f"{one.step.id} {one.jobs}", Strain(patience=self.patience))
        return strain.lasts(count=one.count, pressure=pressure, time=time)


# The memory in use while steps ran: a line now and then, in the root, for whoever asks afterwards where it went.


SAMPLES = "results/memory.jsonl"
MOST = 4 << 20
"""Bytes of samples after which the older half goes: three days of compiling."""


def keep_samples(root: Root) -> Callable[[Memory], None]:
    """Give what writes down a look at the memory."""
    path = root / SAMPLES
    if len(text := files.read_text(path) or "") > MOST:
        files.write_text(path, text[len(text) // 2 :].partition("\n")[2])

    def keep(memory: Memory) -> None:
        try:
            files.append_line(path, json.dumps([round(now(), 1), memory.used, memory.total]))
        except NotReadyError:  # it is only history; without its root nothing goes on
            if not root.path.is_dir():
                raise

    return keep


def read_samples(root: Root) -> list[tuple[float, int, int]]:
    """Give the time, the bytes in use and the bytes there are of each look; lines cut off count for nothing."""
    return [sample for line in (files.read_text(root / SAMPLES) or "").splitlines() if (sample := _parse(line))]


def _parse(line: str) -> tuple[float, int, int] | None:
    try:
        time, used, total = json.loads(line)
        return float(time), int(used), int(total)
    except (ValueError, TypeError):
        return None


# A step at work: its process, a descriptor that tells of its end, and the log that it writes itself.


KIB = 1024
PAUSE = 0.1
GRACE = 1.5


@dataclass(kw_only=True)
class Running:
    """A step that was started. `summary`, `count` and `total` are what its log has told so far.

    `watch` is told each line, and says why the step should be stopped, or nothing; `stopped`: it was, for that reason.
    `jobs` compile at a time, 0 where that is not known; `mem_at_start` and `mem_peak` are the memory in use when it
    began and at most since, `max_rss` its largest process once it has ended, in bytes; `mem_stalled`: it stood still
    for want of it; `mem_total`: the memory there is, 0 where nobody looked; `kills_before`: how many processes the
    kernel had killed for lack of memory when it began, None where it does not count them.
    `cache` counts what a compiler cache had; `passes` are the counts of ninja.
    """

    step: Step
    key: str
    process: subprocess.Popen[bytes]
    log: BinaryIO
    handle: int | None
    watch: Callable[[list[str]], str] = lambda _lines: ""
    began: float = field(default_factory=time.monotonic)
    last_output: float = field(default_factory=time.monotonic)
    summary: str = ""
    count: int = 0
    total: int = 0
    stopped: str = ""
    jobs: int = 0
    mem_at_start: int = 0
    mem_peak: int = 0
    max_rss: int = 0
    mem_stalled: bool = False
    mem_total: int = 0
    kills_before: int | None = None
    cache: CacheWatch | None = None
    passes: Passes = field(default_factory=Passes)
    _rest: bytes = b""

    @property
    def seconds(self) -> float:
        """How long it has been at work."""
        return time.monotonic() - self.began

    def poll(self) -> int | None:
        """Give the exit status once it has ended, None before; with it comes what its largest process needed."""
        if self.process.returncode is None:
            pid, status, usage = os.wait4(self.process.pid, os.WNOHANG)
            if pid:
                self.process.returncode = os.waitstatus_to_exitcode(status)
                self.max_rss = usage.ru_maxrss * KIB
        return self.process.returncode

    def read_lines(self) -> list[str]:
        """Give the whole lines that its log has got since the last call."""
        *lines, self._rest = (self._rest + self.log.read()).split(b"\n")
        texts = [line.decode(errors="replace") for line in lines]
        for text in texts:
            self.summary = parse_summary(text) or self.summary
            if (progress := parse_progress(text)) != (0, 0):
                self.count, self.total = progress
                self.passes.note(*progress)
        if texts:
            self.last_output = time.monotonic()
        return texts

    def silent_for(self, seconds: float) -> bool:
        """Say whether nothing was heard for so long; asked again, it begins to count anew."""
        silent = time.monotonic() - self.last_output >= seconds
        if silent:
            self.last_output = time.monotonic()
        return silent

    def was_spared(self) -> bool:
        """Say whether the kernel has killed nothing for lack of memory while it ran, and it was not nearly used up."""
        filled = self.mem_total > 0 and self.mem_peak > self.mem_total * FULL
        return self.kills_before is not None and read_kills() == self.kills_before and not filled

    def close(self) -> None:
        self.log.close()
        if self.handle is not None:
            os.close(self.handle)
            self.handle = None


def start_step(
    root: Root, step: Step, key: str, *, lock: int, tuning: Mapping[str, str], before: Sequence[str] = ()
) -> Running:
    """Start a step's script. It inherits the root's lock, and writes its log itself so that it can outlive us.

    `before` are the words of a command that is given the script to run.
    """
    path = root.log(step.id)
    keep_log(path, "old")
    try:
        stream = path.open("ab")
    except OSError as error:
        raise cannot_write(path, error) from error
    with stream:
        process = subprocess.Popen(
            (*before, "bash", str(root.script(step.id))),
            stdin=subprocess.DEVNULL,
            stdout=stream,
            stderr=subprocess.STDOUT,
            cwd=root.path,
            env={**os.environ, **tuning, "XPUSETUP_LOCKED": "1"},
            start_new_session=True,
            pass_fds=(lock,),
        )
    jobs = int(tuning.get("MAX_JOBS", "0")) if "compiler" in step.needs else 0
    handle, memory = _open_handle(process.pid), read_memory() if jobs else None
    used = memory.used if memory else 0
    return Running(
        step=step,
        key=key,
        process=process,
        log=path.open("rb"),
        handle=handle,
        jobs=jobs,
        mem_at_start=used,
        mem_peak=used,
        mem_total=memory.total if memory else 0,
        kills_before=read_kills(),
    )


def keep_log(path: Path, name: str) -> None:
    """Put the log of an earlier run aside, under its name and this one."""
    if path.exists():
        path.replace(path.with_suffix(f".log.{name}"))


def _open_handle(pid: int) -> int | None:
    try:
        return os.pidfd_open(pid)
    except OSError:  # a kernel before 5.3
        return None


def wait_for_any(running: Sequence[Running]) -> None:
    """Sleep until one of the steps ends or a pause is over; Popen.wait would poll all the while."""
    handles = [one.handle for one in running if one.handle is not None]
    if len(handles) == len(running):
        select.select(handles, [], [], PAUSE)
    else:
        time.sleep(PAUSE)


def end_steps(running: Sequence[Running]) -> None:
    """End steps and all that they started, within about two seconds."""
    end_trees([one.process.pid for one in running])
    for one in running:
        one.process.wait()
        one.close()


def end_trees(pids: Sequence[int]) -> None:
    """End processes and all they started: asked first, killed after a moment of grace."""
    import psutil  # noqa: PLC0415 - slow to import, and seldom needed

    tree: list[psutil.Process] = []
    for pid in pids:
        with suppress(psutil.NoSuchProcess):
            parent = psutil.Process(pid)
            tree += [*parent.children(recursive=True), parent]
    for process in tree:
        with suppress(psutil.NoSuchProcess):
            process.terminate()
    _gone, alive = psutil.wait_procs(tree, timeout=GRACE)
    for process in alive:
        with suppress(psutil.NoSuchProcess):
            process.kill()
