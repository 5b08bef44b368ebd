"""Looks at this machine and writes down Facts, only the sections that are asked for."""

from __future__ import annotations

import datetime as dt
import os
import platform
from types import MappingProxyType
from typing import TYPE_CHECKING

import distro
import psutil

from xpusetup.effects import probe_disk, probe_hardware, probe_python, probe_tools
from xpusetup.effects.sysroot import Sysroot
from xpusetup.facts import Facts, Resources, Section, System

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence
    from pathlib import Path

    from xpusetup.facts import Held

EVERYTHING: tuple[Section, ...] = (
    "system",
    "resources",
    "hardware",
    "toolkits",
    "tools",
    "python",
    "environment",
)
TOLD = (
    *("SETVARS_COMPLETED", "ONEAPI_ROOT", "CMPLR_ROOT", "MKLROOT", "PTI_ROOT", "VIRTUAL_ENV", "CONDA_PREFIX"),
    *("CC", "CXX", "CFLAGS", "CXXFLAGS", "CPPFLAGS", "LDFLAGS", "LD_LIBRARY_PATH", "LD_PRELOAD", "LIBRARY_PATH"),
    *("CPATH", "PYTHONPATH", "PYTHONHOME", "CMAKE_PREFIX_PATH", "CMAKE_ARGS", "MAX_JOBS", "USE_XPU", "USE_CUDA"),
    *("TORCH_XPU_ARCH_LIST", "TORCH_DEVICE_BACKEND_AUTOLOAD"),
)
"""Variables that decide builds and runs; no other is written down."""


def probe(
    sections: Iterable[Section] = EVERYTHING,
    *,
    places: Mapping[Path, Sequence[Held]] = MappingProxyType({}),
    python: str = "",
    toolkit: str = "",
    adopted: bool = False,
) -> Facts:
    """Probe this machine. `places` are folders that a build writes to with what each holds, `toolkit` one more place.

    `adopted`: `python` is the interpreter of an environment into which a build installs.
    """
    sysroot = Sysroot.from_environment()
    probes: dict[Section, Callable[[], object]] = {
        "system": lambda: _probe_system(sysroot),
        "resources": lambda: _probe_resources(sysroot, places),
        "hardware": lambda: probe_hardware.probe_hardware(sysroot),
        "toolkits": lambda: probe_tools.probe_toolkits(sysroot, toolkit),
        "tools": probe_tools.probe_programs,
        "python": lambda: probe_python.probe_adopted(python) if adopted else probe_python.probe_python(python),
        "environment": lambda: {name: os.environ[name] for name in TOLD if name in os.environ},
    }
    seen = {section: probes[section]() for section in sections}
    taken = dt.datetime.now(dt.timezone.utc).isoformat(timespec="seconds")
    return Facts.model_validate({"schema": 1, "taken": taken, **seen})


def _probe_system(sysroot: Sysroot) -> System:
    info = distro.LinuxDistribution(root_dir=sysroot.text or None) if sysroot.text else distro
    like = (info.like() or "").split()
    return System(
        name=info.name(pretty=True) or "Linux",
        families=[info.id() or "linux", *like],
        version=info.version() or None,
        kernel=platform.release(),
        machine=platform.machine(),
        user=_user_name(),
        uid=os.getuid(),
        groups=sorted({os.getgid(), *os.getgroups()}),
    )


def _user_name() -> str:
    import pwd  # noqa: PLC0415 - absent from some static interpreters

    try:
        return pwd.getpwuid(os.getuid()).pw_name
    except KeyError:  # a container's numeric user
        return str(os.getuid())


def _probe_resources(sysroot: Sysroot, places: Mapping[Path, Sequence[Held]]) -> Resources:
    memory, swap = psutil.virtual_memory(), psutil.swap_memory()
    return Resources(
        cpus=len(os.sched_getaffinity(0)),
        cpu_limit=_cpu_limit(sysroot),
        memory=memory.total,
        memory_available=memory.available,
        memory_limit=_memory_limit(sysroot),
        swap=swap.total,
        disks=probe_disk.probe_disks(places, sysroot.read("/proc/self/mounts") or ""),
    )


def _cpu_limit(sysroot: Sysroot) -> float | None:
    quota, _, period = (sysroot.read("/sys/fs/cgroup/cpu.max") or "").strip().partition(" ")
    if quota.isdigit() and period.isdigit():
        return int(quota) / int(period)
    quota = (sysroot.read("/sys/fs/cgroup/cpu/cpu.cfs_quota_us") or "").strip()
    period = (sysroot.read("/sys/fs/cgroup/cpu/cpu.cfs_period_us") or "").strip()
    return int(quota) / int(period) if quota.isdigit() and period.isdigit() else None


def _memory_limit(sysroot: Sysroot) -> int | None:
    for path in ("/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"):
        text = (sysroot.read(path) or "").strip()
        if text.isdigit() and int(text) < 1 << 60:  # version 1 writes "no limit" as a number near 2**63
            return int(text)
    return None
