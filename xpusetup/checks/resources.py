"""Disk, memory and the limits of a container or batch job."""

from __future__ import annotations

from typing import TYPE_CHECKING

from xpusetup.checks.question import Answer, Question

if TYPE_CHECKING:
    from xpusetup.facts import Resources

GIB = 1 << 30


def memory_limit(resources: Resources) -> int:
    """Give the memory that a build may use in bytes: the machine's, or its control group's if that is less."""
    return min(resources.memory, resources.memory_limit or resources.memory)


def choose_jobs(resources: Resources, gib_per_job: float) -> int:
    """Give how many compile jobs fit both the processors and the memory; at least one."""
    cpus = resources.cpus if resources.cpu_limit is None else min(resources.cpus, max(1, int(resources.cpu_limit)))
    return max(1, min(cpus, int(memory_limit(resources) / (gib_per_job * GIB))))


def check_memory(question: Question) -> Answer | None:
    """Count jobs by memory."""
    resources, each = question.facts.resources, question.profile.memory_per_job_gib
    if resources is None or question.goal == "run":
        return None
    limit = memory_limit(resources)
    seen = f"{choose_jobs(resources, each)} jobs at {each:g} GiB each, {limit / GIB:.0f} GiB of memory"
    return Answer("warn" if limit < each * GIB else "ok", seen)


def check_cgroup(question: Question) -> Answer | None:
    """Say which limits are in force; they are no fault."""
    resources = question.facts.resources
    if resources is None or question.goal == "run":
        return None
    parts = []
    if resources.memory_limit is not None and resources.memory_limit < resources.memory:
        parts.append(f"memory {resources.memory_limit / GIB:.1f} of {resources.memory / GIB:.0f} GiB")
    if resources.cpu_limit is not None and resources.cpu_limit < resources.cpus:
        parts.append(f"{resources.cpu_limit:g} of {resources.cpus} processors")
    return Answer("info", ", ".join(parts)) if parts else Answer("ok", "none below the machine's own")
