"""The memory that a build may use: the limits of its control group where there are any, else the machine's."""

import re
from collections.abc import Iterator
from pathlib import PurePosixPath
from typing import NamedTuple

from xpusetup.system.files import Sysroot

# Control groups, version 2 and 1: the limits that are in force on this process, wherever above it they were set.


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


# The memory that a build may use.


KIB = 1024
LIMITS = ("memory.max", "memory.high", "memory.limit_in_bytes")
"""Above `high` processes are not killed but slowed until nothing moves: for a build that is a limit as well."""
IN_USE = ("memory.current", "memory.usage_in_bytes")
PRESSURE = re.compile(r"^some avg10=([\d.]+)", re.MULTILINE)


class Memory(NamedTuple):
    """What is in use and what there is, in bytes. Files that the kernel would drop when asked do not count as used."""

    used: int
    total: int


def read_memory(sysroot: Sysroot | None = None) -> Memory | None:
    """Look at the memory as it is now; None where the kernel does not say."""
    sysroot = sysroot or Sysroot.from_environment()
    machine = _read_machine(sysroot)
    found = (_memory_of(sysroot, group) for group in own_groups(sysroot, "memory"))
    group = min((memory for memory in found if memory), key=lambda memory: memory.total, default=None)
    if machine is None or (group is not None and group.total < machine.total):
        return group
    return machine


def read_pressure(sysroot: Sysroot | None = None) -> float:
    """Give the share of the last ten seconds, in per cent, in which some process waited for memory.

    That of the nearest control group that keeps count, else the machine's; 0 where the kernel does not count.
    """
    sysroot = sysroot or Sysroot.from_environment()
    places = (*(f"{group}/memory.pressure" for group in own_groups(sysroot, "memory")), "/proc/pressure/memory")
    texts = (sysroot.read(place) for place in places)
    found = next((match for text in texts if text and (match := PRESSURE.search(text))), None)
    return float(found[1]) if found else 0.0


def read_kills(sysroot: Sysroot | None = None) -> int | None:
    """Give how many processes the kernel has killed for lack of memory since the machine was started, in any group.

    None where it does not count them: before 4.13.
    """
    words = (line.split() for line in ((sysroot or Sysroot.from_environment()).read("/proc/vmstat") or "").splitlines())
    found = next((pair[1] for pair in words if len(pair) == 2 and pair[0] == "oom_kill"), "")  # noqa: PLR2004 - a pair
    return int(found) if found.isdecimal() else None


def read_limit(sysroot: Sysroot) -> int | None:
    """Give the tightest limit from our own control group upwards, in bytes; None where there is none."""
    limits = (_limit_of(sysroot, group) for group in own_groups(sysroot, "memory"))
    return min((limit for limit in limits if limit is not None), default=None)


def _read_machine(sysroot: Sysroot) -> Memory | None:
    fields = (line.split() for line in (sysroot.read("/proc/meminfo") or "").splitlines())
    sizes = {words[0]: int(words[1]) * KIB for words in fields if len(words) > 1 and words[1].isdigit()}
    if "MemTotal:" not in sizes or "MemAvailable:" not in sizes:
        return None
    return Memory(sizes["MemTotal:"] - sizes["MemAvailable:"], sizes["MemTotal:"])


def _memory_of(sysroot: Sysroot, group: str) -> Memory | None:
    limit = _limit_of(sysroot, group)
    used = next((count for name in IN_USE if (count := read_number(sysroot, f"{group}/{name}")) is not None), None)
    if limit is None or used is None:
        return None
    lines = (sysroot.read(f"{group}/memory.stat") or "").splitlines()
    stat = dict(line.split(" ", 1) for line in lines if " " in line)
    dropped = int(stat.get("total_inactive_file", stat.get("inactive_file", 0)))
    return Memory(max(0, used - dropped), limit)


def _limit_of(sysroot: Sysroot, group: str) -> int | None:
    limits = (read_number(sysroot, f"{group}/{name}") for name in LIMITS)
    return min((limit for limit in limits if limit is not None), default=None)
