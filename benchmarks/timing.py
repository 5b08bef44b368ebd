"""Measuring: processes by the clock, in turns; and one process by what it alone used."""

from __future__ import annotations

import os
import subprocess
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

PAUSE = 0.02
TICKS = os.sysconf("SC_CLK_TCK")
MIB = 1024


class FailedError(RuntimeError):
    """What was to be measured did not work, so that there is nothing to compare."""


@dataclass(frozen=True)
class Command:
    """A process to measure. `before` prepares each run outside of its time."""

    argv: tuple[str, ...]
    env: Mapping[str, str]
    cwd: Path = Path("/")
    before: Callable[[], None] = lambda: None


@dataclass(frozen=True)
class Usage:
    """What one process used: seconds of processor time, its own and its children's, and its peak memory in MiB."""

    own: float
    children: float
    peak: float


def seconds_of(command: Command) -> float:
    """Run a command to its end and give how long it took."""
    command.before()
    began = time.perf_counter()
    done = subprocess.run(
        command.argv,
        env=command.env,
        cwd=command.cwd,
        check=False,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )
    seconds = time.perf_counter() - began
    if done.returncode:
        raise FailedError(f"{' '.join(command.argv)} ended with {done.returncode}:\n{done.stdout.decode()[-2000:]}")
    return seconds


def take_turns(rounds: int, *commands: tuple[Command, int]) -> tuple[list[float], ...]:
    """Time commands in turns: in each round every command that has samples left, `(command, samples)`."""
    samples: tuple[list[float], ...] = tuple([] for _ in commands)
    for turn in range(rounds):
        for (command, wanted), times in zip(commands, samples, strict=True):
            if turn < wanted:
                times.append(seconds_of(command))
    return samples


def usage_of(command: Command) -> Usage:
    """Run a command and look at what it used itself, apart from the processes it waited for.

    The kernel keeps both times of a process that has ended until it is waited for; its memory is gone by then, so the
    peak, which only grows, is read all the while.
    """
    command.before()
    process = subprocess.Popen(
        command.argv, env=command.env, cwd=command.cwd, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL
    )
    peak = 0.0
    while os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT | os.WNOHANG) is None:
        peak = _peak(process.pid) or peak
        time.sleep(PAUSE)
    own, children = _times(process.pid)
    if process.wait():
        raise FailedError(f"{' '.join(command.argv)} ended with {process.returncode}")
    return Usage(own, children, peak)


def _peak(pid: int) -> float | None:
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return next((int(line.split()[1]) / MIB for line in lines if line.startswith("VmHWM:")), None)


def _times(pid: int) -> tuple[float, float]:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    user, system, children_user, children_system = (int(field) / TICKS for field in fields[11:15])
    return user + system, children_user + children_system


def take_processor_turns(rounds: int, *commands: Command) -> tuple[list[float], ...]:
    """Take the processor time of commands in turns, with that of their children: it bears a busy machine."""
    samples: tuple[list[float], ...] = tuple([] for _ in commands)
    for _ in range(rounds):
        for command, times in zip(commands, samples, strict=True):
            usage = usage_of(command)
            times.append(usage.own + usage.children)
    return samples
