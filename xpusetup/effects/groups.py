"""Control groups, version 2 and 1: the limits that are in force on this process, wherever above it they were set."""

from __future__ import annotations

from pathlib import PurePosixPath
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

    from xpusetup.effects.sysroot import Sysroot

GROUPS = "/sys/fs/cgroup"
ENDLESS = 1 << 60
"""Version 1 writes "no limit" as a number near 2**63."""


def own_groups(sysroot: Sysroot, controller: str) -> Iterator[str]:
    """Give the folders of a controller from our own group upwards: version 2 first, then version 1.

    A batch job's limits lie some levels above its processes. A container names the path of its host, and mounts its
    own group as the topmost: that comes last.
    """
    paths = {
        name: path
        for line in (sysroot.read("/proc/self/cgroup") or "").splitlines()
        for names, _, path in [line.partition(":")[2].partition(":")]
        for name in names.split(",")
    }
    for base, name in ((GROUPS, ""), (f"{GROUPS}/{controller}", controller)):
        path = PurePosixPath(paths.get(name, "/"))
        yield from (f"{base}{str(group).rstrip('/')}" for group in (path, *path.parents))


def read_number(sysroot: Sysroot, path: str) -> int | None:
    """Read a limit or a count; None where there is none, and where it says that there is no limit."""
    text = (sysroot.read(path) or "").strip()
    return int(text) if text.isdecimal() and int(text) < ENDLESS else None


def read_processors(sysroot: Sysroot) -> float | None:
    """Give how many processors' time our group may use, None without a limit."""
    quotas = (_read_quota(sysroot, group) for group in own_groups(sysroot, "cpu"))
    return min((quota for quota in quotas if quota is not None), default=None)


def _read_quota(sysroot: Sysroot, group: str) -> float | None:
    quota, _, period = (sysroot.read(f"{group}/cpu.max") or "").strip().partition(" ")
    if quota.isdecimal() and period.isdecimal():
        return int(quota) / int(period)
    microseconds = [read_number(sysroot, f"{group}/cpu.cfs_{name}_us") for name in ("quota", "period")]
    return microseconds[0] / microseconds[1] if microseconds[0] and microseconds[1] else None
