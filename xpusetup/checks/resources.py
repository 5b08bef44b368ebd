"""Disk, memory and the limits of a container or batch job."""

from __future__ import annotations

from xpusetup.checks.question import Answer, Question
from xpusetup.jobs import GIB, choose_jobs, memory_limit


def check_memory(question: Question) -> Answer | None:
    """Count jobs by memory; where one alone fits, the heaviest steps may still be killed."""
    resources, each = question.facts.resources, question.profile.memory_per_job_gib
    if resources is None or question.goal == "run":
        return None
    limit, jobs = memory_limit(resources), choose_jobs(resources, each * GIB)
    seen = f"{jobs} job{'' if jobs == 1 else 's'} at {each:g} GiB each, {limit / GIB:.0f} GiB of memory"
    return Answer("warn" if limit < 2 * each * GIB else "ok", seen)


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
