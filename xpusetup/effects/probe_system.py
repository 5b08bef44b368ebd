"""The operating system, who asks, and what a build may use of the machine."""

from __future__ import annotations

import os
import platform
from typing import TYPE_CHECKING

import psutil

from xpusetup.effects import probe_disk
from xpusetup.effects.groups import read_processors
from xpusetup.effects.memory import read_limit
from xpusetup.facts import Resources, System

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from xpusetup.effects.sysroot import Sysroot
    from xpusetup.facts import Held

OWNERS = ("render", "video", "HwHiAiUser")
"""Groups that own devices."""


def read_machine() -> str:
    """Give the processors' architecture as the kernel names it."""
    return platform.machine()


def probe_system(sysroot: Sysroot) -> System:
    """Say which system this is, and as whom this runs."""
    import distro  # noqa: PLC0415 - a build in which no step runs has no need of it

    info = distro.LinuxDistribution(root_dir=sysroot.text or None) if sysroot.text else distro
    like = (info.like() or "").split()
    user = _user_name()
    named, joined = _groups(sysroot, user)
    return System(
        name=info.name(pretty=True) or "Linux",
        families=[info.id() or "linux", *like],
        version=info.version() or None,
        kernel=(sysroot.read("/proc/sys/kernel/osrelease") or platform.release()).strip(),
        machine=read_machine(),
        user=user,
        uid=os.getuid(),
        groups=sorted({os.getgid(), *os.getgroups()}),
        joined=joined,
        named=named,
    )


def read_families() -> list[str]:
    """Give this distribution's name and those of what it is made from, as os-release has them."""
    import distro  # noqa: PLC0415 - a build in which no step fails has no need of it

    return [distro.id() or "linux", *distro.like().split()]


def _user_name() -> str:
    import pwd  # noqa: PLC0415 - absent from some static interpreters

    try:
        return pwd.getpwuid(os.getuid()).pw_name
    except KeyError:  # a container's numeric user
        return str(os.getuid())


def _groups(sysroot: Sysroot, user: str) -> tuple[dict[str, int], list[int]]:
    named: dict[str, int] = {}
    joined: list[int] = []
    for line in (sysroot.read("/etc/group") or "").splitlines():
        name, _, gid, members = [*line.split(":"), "", "", ""][:4]
        if gid.isdecimal():
            named |= {name: int(gid)} if name in OWNERS else {}
            joined += [int(gid)] if user in members.split(",") else []
    return named, joined


def probe_resources(sysroot: Sysroot, places: Mapping[Path, Sequence[Held]]) -> Resources:
    """Count processors, memory and room, with the limits of a control group."""
    memory, swap = psutil.virtual_memory(), psutil.swap_memory()
    return Resources(
        cpus=len(os.sched_getaffinity(0)),
        cpu_limit=read_processors(sysroot),
        memory=memory.total,
        memory_available=memory.available,
        memory_limit=read_limit(sysroot),
        swap=swap.total,
        disks=probe_disk.probe_disks(places, sysroot.read("/proc/self/mounts") or ""),
    )
