"""A step at work: its process, a descriptor that tells of its end, and the log that it writes itself."""

from __future__ import annotations

import os
import select
import subprocess
import time
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from xpusetup.curve import Course
from xpusetup.effects.faults import cannot_write
from xpusetup.effects.memory import read_memory
from xpusetup.events import parse_progress, parse_summary

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path
    from typing import BinaryIO

    from xpusetup.effects.caches import CacheWatch
    from xpusetup.effects.root import Root
    from xpusetup.model import Step

KIB = 1024
PAUSE = 0.1
GRACE = 1.5


@dataclass(kw_only=True)
class Running:
    """A step that was started. `summary`, `count` and `total` are what its log has told so far.

    `watch` is told each line, and says why the step should be stopped, or nothing; `stopped`: it was, for that reason.
    `jobs` compile at a time, 0 where that is not known; `before` and `most` are the memory in use when it began and at
    most since, `heaviest` its largest process once it has ended, in bytes; `strained`: it stood still for want of it.
    `cache` counts what a compiler cache had; `course` is how it came to where it is.
    """

    step: Step
    key: str
    process: subprocess.Popen[bytes]
    log: BinaryIO
    handle: int | None
    watch: Callable[[list[str]], str] = lambda _lines: ""
    began: float = field(default_factory=time.monotonic)
    heard: float = field(default_factory=time.monotonic)
    summary: str = ""
    count: int = 0
    total: int = 0
    stopped: str = ""
    jobs: int = 0
    before: int = 0
    most: int = 0
    heaviest: int = 0
    strained: bool = False
    cache: CacheWatch | None = None
    course: Course = field(default_factory=Course)
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
                self.heaviest = usage.ru_maxrss * KIB
        return self.process.returncode

    def read_lines(self) -> list[str]:
        """Give the whole lines that its log has got since the last call."""
        *lines, self._rest = (self._rest + self.log.read()).split(b"\n")
        texts = [line.decode(errors="replace") for line in lines]
        for text in texts:
            self.summary = parse_summary(text) or self.summary
            if (progress := parse_progress(text)) != (0, 0):
                self.count, self.total = progress
                self.course.note(self.seconds, *progress)
        if texts:
            self.heard = time.monotonic()
        return texts

    def silent_for(self, seconds: float) -> bool:
        """Say whether nothing was heard for so long; asked again, it begins to count anew."""
        silent = time.monotonic() - self.heard >= seconds
        if silent:
            self.heard = time.monotonic()
        return silent

    def close(self) -> None:
        """Let go of the log and the descriptor, once the process has ended."""
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
        step=step, key=key, process=process, log=path.open("rb"), handle=handle, jobs=jobs, before=used, most=used
    )


def keep_log(path: Path, name: str) -> None:
    """Put the log of an earlier run aside, under its name and this one."""
    if path.exists():
        path.replace(path.with_suffix(f".log.{name}"))


def keep_good(path: Path) -> None:
    """Keep the log of a step that went well beside it, to compare that of a failure with; costs no room."""
    good = good_log(path)
    with suppress(OSError):  # a file system without links: then there is nothing to compare with
        good.unlink(missing_ok=True)
        os.link(path, good)


def good_log(path: Path) -> Path:
    """Give where the last good log of a step lies, whose log this is."""
    return path.with_suffix(".log.good")


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
