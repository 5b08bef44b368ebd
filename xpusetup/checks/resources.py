"""Disk, memory and the limits of a container or batch job."""

from __future__ import annotations

from typing import TYPE_CHECKING

from xpusetup.checks.question import Answer, Question

if TYPE_CHECKING:
    from xpusetup.facts import Resources

GIB = 1 << 30
TEMPORARY_GIB = 2
FILES = 400_000
"""As many as the sources of a release and what is built from them, roughly doubled."""


def memory_limit(resources: Resources) -> int:
    """Give the memory that a build may use in bytes: the machine's, or its control group's if that is less."""
    return min(resources.memory, resources.memory_limit or resources.memory)


def choose_jobs(resources: Resources, gib_per_job: float) -> int:
    """Give how many compile jobs fit both the processors and the memory; at least one."""
    cpus = resources.cpus if resources.cpu_limit is None else min(resources.cpus, max(1, int(resources.cpu_limit)))
    return max(1, min(cpus, int(memory_limit(resources) / (gib_per_job * GIB))))


def check_disk(question: Question) -> Answer | None:
    """Look for room where the build writes; how much a release needs is often not known."""
    resources, needed = question.facts.resources, question.profile.disk_gib
    if resources is None or not resources.disks or question.goal == "run":
        return None
    closed = [disk.path for disk in resources.disks if not disk.writable]
    if closed:
        return Answer("fail", f"{closed[0]} may not be written to")
    least = min(disk.free for disk in resources.disks)
    seen = f"{least / GIB:.0f} GiB free (needed: {'unknown' if needed is None else f'{needed:g} GiB'})"
    return Answer("fail" if needed is not None and least < needed * GIB else "ok", seen)


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


def check_temporary(question: Question) -> Answer | None:
    """Look at the folder for temporary files, which compilers fill."""
    place = question.facts.resources.temporary if question.facts.resources else None
    if place is None:
        return None
    seen = f"{place.free / GIB:.1f} GiB free in {place.path}"
    if not place.writable:
        return Answer("fail", f"{place.path} may not be written to")
    return Answer("warn" if place.free < TEMPORARY_GIB * GIB else "ok", seen)


def check_files(question: Question) -> Answer | None:
    """Look for file systems on which no more files fit, though there is room."""
    resources = question.facts.resources
    counted = [disk for disk in (resources.disks if resources else []) if disk.files_free is not None]
    if not counted:
        return None
    least = min(counted, key=lambda disk: disk.files_free or 0)
    bad = (least.files_free or 0) < FILES
    return Answer("warn" if bad else "ok", f"{least.files_free:,} more files fit into {least.path}")
