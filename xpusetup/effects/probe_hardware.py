"""Accelerators as the kernel shows them: PCI devices, their drivers, and render nodes. Needs no tool and no root."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from xpusetup.facts import Gpu, Hardware, Node
from xpusetup.outputs.kernel import parse_resource

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from xpusetup.effects.sysroot import Sysroot

PCI = "/sys/bus/pci/devices"
DISPLAY = ("0x03", "0x12")
"""PCI classes of display controllers and of processing accelerators, as in the kernel's `class` file."""


def probe_hardware(sysroot: Sysroot) -> Hardware:
    """List display and compute devices, and the render nodes."""
    return Hardware(gpus=list(_probe_gpus(sysroot)), nodes=list(_probe_nodes(sysroot)))


def _probe_gpus(sysroot: Sysroot) -> Iterator[Gpu]:
    for folder in sysroot.listing(PCI):
        kind = _attribute(sysroot, folder, "class")
        if kind.startswith(DISPLAY):
            yield Gpu(
                address=folder.name,
                vendor=_attribute(sysroot, folder, "vendor").removeprefix("0x"),
                device=_attribute(sysroot, folder, "device").removeprefix("0x"),
                pci_class=kind.removeprefix("0x"),
                driver=_link_name(folder / "driver"),
                bar=parse_resource(sysroot.read(f"{PCI}/{folder.name}/resource") or ""),
                boot_vga=_flag(_attribute(sysroot, folder, "boot_vga")),
                subsystem=_subsystem(sysroot, folder),
            )


def _probe_nodes(sysroot: Sysroot) -> Iterator[Node]:
    for path in sysroot.listing("/dev/dri"):
        if path.name.startswith("renderD"):
            vendor = sysroot.read(f"/sys/class/drm/{path.name}/device/vendor")
            yield Node(
                path=f"/dev/dri/{path.name}",
                vendor=vendor.strip().removeprefix("0x") if vendor else None,
                gid=path.stat().st_gid,
                openable=os.access(path, os.R_OK | os.W_OK),
                address=_link_name(sysroot.path(f"/sys/class/drm/{path.name}/device")),
            )


def _attribute(sysroot: Sysroot, folder: Path, name: str) -> str:
    return (sysroot.read(f"{PCI}/{folder.name}/{name}") or "").strip().lower()


def _flag(text: str) -> bool | None:
    return {"0": False, "1": True}.get(text)


def _subsystem(sysroot: Sysroot, folder: Path) -> str | None:
    ids = [_attribute(sysroot, folder, f"subsystem_{part}").removeprefix("0x") for part in ("vendor", "device")]
    return ":".join(ids) if all(ids) else None


def _link_name(path: Path) -> str | None:
    try:
        return path.readlink().name
    except OSError:
        return None
