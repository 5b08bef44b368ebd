"""The memory that a build may use: that of its control group where there is a limit, else the machine's."""

from __future__ import annotations

from pathlib import PurePosixPath
from typing import NamedTuple

from xpusetup.effects.sysroot import Sysroot

KIB = 1024
GROUPS = "/sys/fs/cgroup"


class Memory(NamedTuple):
    """What is in use and what there is, in bytes. Files that the kernel would drop when asked do not count as used."""

    used: int
    total: int


def read_memory(sysroot: Sysroot | None = None) -> Memory | None:
    """Look at the memory as it is now; None where the kernel does not say."""
    sysroot = sysroot or Sysroot.from_environment()
    machine = _read_machine(sysroot)
    group = _read_group(sysroot)
    if machine is None or (group is not None and group.total < machine.total):
        return group
    return machine


def _read_machine(sysroot: Sysroot) -> Memory | None:
    fields = (line.split() for line in (sysroot.read("/proc/meminfo") or "").splitlines())
    sizes = {words[0]: int(words[1]) * KIB for words in fields if len(words) > 1 and words[1].isdigit()}
    if "MemTotal:" not in sizes or "MemAvailable:" not in sizes:
        return None
    return Memory(sizes["MemTotal:"] - sizes["MemAvailable:"], sizes["MemTotal:"])


def _read_group(sysroot: Sysroot) -> Memory | None:
    """Find the tightest limit from our own group upwards: a batch job's lies some levels above its processes."""
    lines = (sysroot.read("/proc/self/cgroup") or "").splitlines()
    own = PurePosixPath(next((line.removeprefix("0::") for line in lines if line.startswith("0::")), "/"))
    found = [_read_limit(sysroot, f"{GROUPS}{str(group).rstrip('/')}") for group in (own, *own.parents)]
    return min((memory for memory in found if memory), key=lambda memory: memory.total, default=None)


def _read_limit(sysroot: Sysroot, folder: str) -> Memory | None:
    limit, used = ((sysroot.read(f"{folder}/memory.{name}") or "").strip() for name in ("max", "current"))
    if not (limit.isdigit() and used.isdigit()):
        return None
    stat = dict(
        line.split(" ", 1) for line in (sysroot.read(f"{folder}/memory.stat") or "").splitlines() if " " in line
    )
    return Memory(int(used) - int(stat.get("inactive_file", 0)), int(limit))
