"""Machines made by hand, as Facts: whole ones, to which a test does what it is about."""

from __future__ import annotations

from typing import Any

from xpusetup.base.document import read_as
from xpusetup.machine.facts import Facts

GIB = 1 << 30
BMG = {"address": "0000:03:00.0", "vendor": "8086", "device": "e20b", "pci_class": "030000", "driver": "xe"}
NVIDIA = {"address": "0000:01:00.0", "vendor": "10de", "device": "2684", "pci_class": "030000", "driver": "nvidia"}
NODE = {"path": "/dev/dri/renderD128", "vendor": "8086", "gid": 992, "openable": True}
KIT = {
    "root": "/opt/intel/oneapi",
    "version": "2026.1.0",
    "compiler": "/opt/intel/oneapi/compiler/latest/bin/icpx",
    "setvars": "/opt/intel/oneapi/setvars.sh",
    "scripts": [
        f"/opt/intel/oneapi/{name}/latest/env/vars.sh" for name in ("compiler", "pti", "umf", "tcm", "ccl", "mpi")
    ],
}
DISK = {
    "path": "/home/me",
    "free": 500 * GIB,
    "total": 900 * GIB,
    "writable": True,
    "filesystem": "ext4",
    "mount": "/home",
    "inodes_free": 50_000_000,
}
WORKSTATION: dict[str, Any] = {
    "schema": 1,
    "taken": "2026-11-21T08:00:00+00:00",
    "system": {
        "name": "Ubuntu 24.04.1 LTS",
        "families": ["ubuntu", "debian"],
        "version": "24.04",
        "kernel": "6.14.0-33-generic",
        "machine": "x86_64",
        "user": "me",
        "uid": 1000,
        "groups": [1000],
    },
    "resources": {
        "cpus": 16,
        "memory": 64 * GIB,
        "memory_available": 60 * GIB,
        "swap": 0,
        "disks": [DISK],
    },
    "hardware": {"gpus": [BMG], "nodes": [NODE]},
    "toolkits": {"found": [KIT], "searched": ["/opt/intel/oneapi", "/home/me/intel/oneapi"]},
    "tools": [
        {"name": "g++", "path": "/usr/bin/g++", "version": "g++ (Ubuntu 13.3.0-6ubuntu2~24.04) 13.3.0"},
        {"name": "git", "path": "/usr/bin/git", "version": "git version 2.43.0"},
    ],
    "python": {"executable": "/usr/bin/python3.11", "version": "3.11.9", "headers": True, "venv": True},
    "environment": {},
}
LAPTOP: dict[str, Any] = {
    **WORKSTATION,
    "system": {**WORKSTATION["system"], "name": "Debian GNU/Linux 12 (bookworm)", "families": ["debian"]},
    "resources": {**WORKSTATION["resources"], "cpus": 2, "memory": 23 * GIB},
    "hardware": {"gpus": [], "nodes": []},
    "toolkits": {"found": [], "searched": ["/opt/intel/oneapi", "/home/me/intel/oneapi"]},
}


def machine(base: dict[str, Any] | None = None, **sections: Any) -> Facts:
    """Give facts: a section given as a dict is merged into that of the base, None is one that was not asked for."""
    found = dict(WORKSTATION if base is None else base)
    for name, value in sections.items():
        old: Any = found.get(name)
        merge = isinstance(value, dict) and isinstance(old, dict) and name != "environment"
        found[name] = {**old, **value} if merge else value
    return read_as(Facts, found)


def without_tool(name: str) -> list[dict[str, str | None]]:
    return [tool for tool in WORKSTATION["tools"] if tool["name"] != name]


def with_gcc(version: str | None, path: str = "/usr/bin/g++") -> list[dict[str, str | None]]:
    return [*without_tool("g++"), {"name": "g++", "path": path, "version": version}]
