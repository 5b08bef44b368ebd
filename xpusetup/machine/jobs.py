"""How many compile jobs: by processors and memory, fewer after a compiler that died or a build that stands still."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from xpusetup.config.settings import STALL_S

if TYPE_CHECKING:
    from collections.abc import Iterable

    from xpusetup.machine.facts import Resources


GIB = 1 << 30
PRESSURE = 20.0
"""Per cent of the time in which some process waits for memory. Compilers that fit wait for none of it."""
HEAVIEST_TO_USUAL = 4
"""The largest compiler process is at most so many times the average one: a bound for what a noisy machine says."""


def memory_limit(resources: Resources) -> int:
    """Give the memory that a build may use in bytes: the machine's, or its control group's if that is less."""
    return min(resources.memory, resources.memory_limit or resources.memory)


def choose_jobs(resources: Resources, bytes_per_job: float) -> int:
    """Give how many compile jobs fit both the processors and the memory; at least one."""
    cpus = resources.cpus if resources.cpu_limit is None else min(resources.cpus, max(1, int(resources.cpu_limit)))
    return max(1, min(cpus, int(memory_limit(resources) / bytes_per_job)))


def fewer_jobs(jobs: int) -> int:
    """Give how many jobs to try after so many were too many; 0 after one."""
    return jobs // 2


@dataclass(frozen=True, kw_only=True)
class StepLoad:
    """What a compiling step took: its jobs, by how much the memory in use grew, its largest process, in bytes."""

    jobs: int
    growth: int
    heaviest: int

    @property
    def bytes_per_job(self) -> int:
        """Give the memory of a job. What else ran on the machine can make that neither absurdly small nor large."""
        return min(max(self.growth // self.jobs, self.heaviest // HEAVIEST_TO_USUAL), self.heaviest)


def measured_per_job(loads: Iterable[StepLoad], guess: float) -> float:
    """Give the memory of a job in bytes: the most that a step was seen to need; the profile's guess where none was."""
    seen = [load.bytes_per_job for load in loads if load.jobs and load.heaviest]
    return float(max(seen)) if seen else guess


@dataclass(kw_only=True)
class Strain:
    """Whether a step stands still for lack of memory: pressure, and nothing new, for so many seconds on end."""

    patience: float = STALL_S
    count: int = -1
    since: float = 0.0

    def lasts(self, *, count: int, pressure: float, time: float) -> bool:
        """Take one look: how far ninja is, the pressure in per cent, the time in seconds."""
        if count != self.count or pressure < PRESSURE:
            self.count, self.since = count, time
        return time - self.since >= self.patience
