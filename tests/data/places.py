"""Machines of the world, by name, as far as the way is found from them."""

from __future__ import annotations

from typing import Any

from data.machines import BMG, GIB, KIT, LAPTOP, NODE, WORKSTATION, machine

CLIENT = {"packages": {"libze-intel-gpu1": "25.40.35563.7", "libze1": "1.24.3"}}
LTS = {"packages": {"intel-level-zero-gpu": "1.6.33578", "level-zero": "1.21"}}
NONE: dict[str, Any] = {"packages": {}, "libraries": {}}
MINI = {"address": "0000:00:02.0", "vendor": "8086", "pci_class": "030000"}
LNL = {**MINI, "device": "64a0", "driver": "xe"}
TGL = {**MINI, "device": "9a49", "driver": "i915"}
MAX = {"address": "0000:29:00.0", "vendor": "8086", "device": "0bd5", "pci_class": "038000", "driver": "i915"}
A770 = {**BMG, "device": "56a0", "driver": "i915"}
GAUDI = {"address": "0000:33:00.0", "vendor": "1da3", "device": "1020", "pci_class": "120000", "driver": "habanalabs"}
NPU = {"address": "0000:c1:00.0", "vendor": "19e5", "device": "d802", "pci_class": "120000", "driver": None}
OLD_KIT = {**KIT, "version": "2025.3.1"}
NO_KIT: dict[str, Any] = {"found": [], "searched": ["/opt/intel/oneapi"]}


def _system(name: str, families: list[str], version: str, kernel: str, **more: Any) -> dict[str, Any]:
    return {"name": name, "families": families, "version": version, "kernel": kernel, **more}


def _ubuntu(version: str, kernel: str) -> dict[str, Any]:
    return _system(f"Ubuntu {version} LTS", ["ubuntu", "debian"], version, kernel)


def _place(system: dict[str, Any], *gpus: dict[str, Any], userland: Any = None, **sections: Any) -> Any:
    bound = [gpu for gpu in gpus if gpu["driver"]]
    nodes = [NODE] if bound and bound[0]["vendor"] == "8086" else []
    sections = {"toolkits": NO_KIT, "hardware": {"gpus": list(gpus), "nodes": nodes}, **sections}
    base = {**WORKSTATION, "userland": None, "container": None, "torch": None}
    return machine(base, system=system, userland=userland, **sections)


NO_TORCH = {"python": "/usr/bin/python3", "prefix": "/usr", "kind": "interpreter"}
NEW_B580 = {**BMG, "driver": None}
PLACES: dict[str, Any] = {
    "b580-new": _place(_ubuntu("24.04", "6.8.0-31-generic"), NEW_B580, userland=NONE, torch=NO_TORCH),
    "b580-healthy": _place(_ubuntu("24.04", "6.14.0-33-generic"), BMG, userland=CLIENT, torch=NO_TORCH),
    "b580-old-driver": _place(
        _ubuntu("24.04", "6.11.0-19-generic"), BMG, userland={"packages": {"libze-intel-gpu1": "23.43.27642.40"}}
    ),
    "b580-ubuntu-22.04": _place(_ubuntu("22.04", "6.8.0-60-generic"), NEW_B580, userland=NONE),
    "b580-ubuntu-26.04": _place(_ubuntu("26.04", "7.0.0-10-generic"), BMG, userland=NONE),
    "b580-debian-12": _place(
        _system("Debian GNU/Linux 12 (bookworm)", ["debian"], "12", "6.1.0-40-amd64"), NEW_B580, userland=NONE
    ),
    "b580-debian-13": _place(
        _system("Debian GNU/Linux 13 (trixie)", ["debian"], "13", "6.12.57-amd64"), BMG, userland=NONE
    ),
    "b580-in-docker": _place(
        _ubuntu("24.04", "6.8.0-31-generic"), NEW_B580, userland=NONE, container={"kind": "docker"}
    ),
    "b580-closed": _place(
        _ubuntu("24.04", "6.14.0-33-generic"),
        BMG,
        userland=CLIENT,
        hardware={"gpus": [BMG], "nodes": [{**NODE, "openable": False}]},
    ),
    "b580-python-3.9": _place(
        _ubuntu("24.04", "6.14.0-33-generic"), BMG, userland=CLIENT, python={"version": "3.9.19"}
    ),
    "b580-arch-linux": _place(_system("Arch Linux", ["arch"], "", "6.17.8-arch1-1"), BMG, userland=NONE),
    "b580-proxmox-8": _place(
        _system("Debian GNU/Linux 12 (bookworm)", ["debian"], "12", "6.8.12-4-pve"), NEW_B580, userland=NONE
    ),
    "b580-lxc-on-proxmox": _place(
        _system("Debian GNU/Linux 12 (bookworm)", ["debian"], "12", "6.8.12-4-pve"),
        NEW_B580,
        userland=NONE,
        container={"kind": "lxc"},
    ),
    "b580-nixos-closed": _place(
        _system("NixOS 25.11 (Xantusia)", ["nixos"], "25.11", "6.18.5"),
        BMG,
        userland=NONE,
        hardware={"gpus": [BMG], "nodes": [{**NODE, "openable": False}]},
    ),
    "b580-nixos": _place(_system("NixOS 24.11 (Vicuna)", ["nixos"], "24.11", "6.6.63"), NEW_B580, userland=NONE),
    "b580-rhel-9.7": _place(
        _system("Red Hat Enterprise Linux 9.7 (Plow)", ["rhel", "fedora"], "9.7", "5.14.0-611.el9.x86_64"),
        BMG,
        userland=NONE,
    ),
    "b580-centos-stream-9": _place(
        _system("CentOS Stream 9", ["centos", "rhel", "fedora"], "9", "5.14.0-640.el9.x86_64"), BMG, userland=NONE
    ),
    "a770-ubuntu-22.04": _place(_ubuntu("22.04", "5.15.0-140-generic"), {**A770, "driver": None}, userland=NONE),
    "two-a770": _place(
        _ubuntu("24.04", "6.8.0-31-generic"), A770, {**A770, "address": "0000:04:00.0"}, TGL, userland=CLIENT
    ),
    "max1550-sles-15": _place(
        _system("SUSE Linux Enterprise Server 15 SP6", ["sles", "suse"], "15.6", "6.4.0-150600.23-default"),
        MAX,
        userland=LTS,
        toolkits={"found": [OLD_KIT], "searched": ["/opt/intel/oneapi"]},
    ),
    "max1550-sles-15-new": _place(
        _system("SUSE Linux Enterprise Server 15 SP6", ["sles", "suse"], "15.6", "6.4.0-150600.23-default"),
        {**MAX, "driver": None},
        userland=NONE,
    ),
    "max1550-ubuntu-22.04": _place(_ubuntu("22.04", "5.15.0-140-generic"), {**MAX, "driver": None}, userland=NONE),
    "max1550-alma-9": _place(
        _system(
            "AlmaLinux 9.6 (Sage Margay)", ["almalinux", "rhel", "centos", "fedora"], "9.6", "5.14.0-570.el9.x86_64"
        ),
        {**MAX, "driver": None},
        userland=NONE,
    ),
    "max1550-rhel-9.5": _place(
        _system("Red Hat Enterprise Linux 9.5 (Plow)", ["rhel", "fedora"], "9.5", "5.14.0-503.el9.x86_64"),
        {**MAX, "driver": None},
        userland=NONE,
    ),
    "lunar-lake": _place(_ubuntu("24.04", "6.14.0-33-generic"), LNL, userland=NONE, torch=NO_TORCH),
    "coffee-lake": _place(_ubuntu("22.04", "6.8.0-60-generic"), {**MINI, "device": "3e92", "driver": "i915"}),
    "tiger-lake": _place(_ubuntu("24.04", "6.8.0-31-generic"), TGL, userland=NONE),
    "wsl2": _place(_ubuntu("24.04", "6.6.87.2-microsoft-standard-WSL2"), userland=NONE, container={"kind": "wsl2"}),
    "gaudi2": _place(_ubuntu("22.04", "5.15.0-140-generic"), GAUDI),
    "ascend": _place(_ubuntu("22.04", "5.15.0-140-generic"), NPU),
    "no-gpu-debian-12": machine(
        LAPTOP, system={"version": "12", "kernel": "6.18.5-amd64"}, resources={"memory": 23 * GIB}
    ),
    "arm": _place(_ubuntu("24.04", "6.14.0-33-generic") | {"machine": "aarch64"}, BMG, userland=CLIENT),
}
