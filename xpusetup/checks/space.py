"""Room for a build: bytes, quotas and files of every place it writes to, and what kind of file system that is."""

from __future__ import annotations

from typing import TYPE_CHECKING

from xpusetup.checks.question import Answer, Question

if TYPE_CHECKING:
    from xpusetup.facts import Disk, Held

GIB = 1 << 30
SHARES: dict[Held, float] = {"sources": 0.8, "environment": 0.1, "wheels": 0.1}
"""How what a release needs is spread over its places: an estimate, for objects and sources are most of it."""
SIDE_GIB = 4.0
"""What pip unpacks and caches beside a build: an estimate."""
FEWEST_FILES = 20_000
"""An environment with a torch in it has about as many files."""
NETWORK = {
    "nfs",
    "nfs4",
    "lustre",
    "gpfs",
    "beegfs",
    "cifs",
    "smb3",
    "ceph",
    "panfs",
    "9p",
    "afs",
    "wekafs",
    "glusterfs",
}


def check_disk(question: Question) -> Answer | None:
    """Look for room where the build writes; how much a release needs is often not known."""
    resources = question.facts.resources
    if resources is None or not resources.disks or question.goal == "run":
        return None
    disks = resources.disks
    closed = next((answer for disk in disks if (answer := _closed(disk))), None)
    if closed is not None:
        return closed
    needed = question.profile.disk_gib
    groups = _by_filesystem(disks)
    tightest = min(groups, key=lambda group: _free(group) - _needed(group, needed))
    wanted = _needed(tightest, needed)
    where = " and ".join(disk.path for disk in tightest)
    told = "unknown" if needed is None else f"{wanted / GIB:.3g} GiB"
    seen = f"{_free(tightest) / GIB:.0f} GiB {_whose(tightest)} at {where} (needed: {told})"
    return Answer("fail" if _free(tightest) < wanted else "ok", seen)


def check_filesystem(question: Question) -> Answer | None:
    """Say where compiling will be slow; it is no fault."""
    resources = question.facts.resources
    if resources is None or not resources.disks or question.goal == "run":
        return None
    disk = next((each for each in resources.disks if "sources" in each.holds), resources.disks[0])
    kind = disk.filesystem or "unknown"
    slow = kind in NETWORK or kind.startswith("fuse.")
    return Answer("info" if slow else "ok", f"{kind} at {disk.path}")


def _closed(disk: Disk) -> Answer | None:
    if disk.read_only:
        return Answer("fail", f"{disk.path} is on a file system that is mounted read-only")
    if not disk.writable:
        return Answer("fail", f"{disk.path} may not be written to")
    if disk.inodes_free is not None and disk.inodes_free < FEWEST_FILES:
        return Answer("fail", f"{disk.path} has room for {disk.inodes_free} more files, whatever their size")
    return None


def _by_filesystem(disks: list[Disk]) -> list[list[Disk]]:
    groups: dict[str, list[Disk]] = {}
    for disk in disks:
        groups.setdefault(disk.mount or disk.path, []).append(disk)
    return list(groups.values())


def _free(group: list[Disk]) -> int:
    """Give in bytes what may still be written, by disk and quota, and what an earlier build has written already."""
    left = min(disk.free if disk.quota_free is None else min(disk.free, disk.quota_free) for disk in group)
    return left + sum(disk.used or 0 for disk in group)


def _whose(group: list[Disk]) -> str:
    limited = any(disk.quota_free is not None and disk.quota_free < disk.free for disk in group)
    return "left of the quota" if limited else "free"


def _needed(group: list[Disk], gib: float | None) -> float:
    """Give what a file system has to hold in bytes: all the shares of the places that lie on it."""
    held = [name for disk in group for name in disk.holds]
    if gib is None:
        return 0.0
    share = sum(SHARES.get(name, 0.0) for name in held)
    return round(share * gib, 6) * GIB if share else min(SIDE_GIB, gib) * GIB
