"""Accelerators as the kernel shows them, its drivers and their messages, and those of other makers."""

import os
import platform
import shutil
from collections.abc import Iterator
from pathlib import Path

from xpusetup.machine.facts import Ascend, Gaudi, Gpu, Hardware, LinuxKernel, Node
from xpusetup.machine.parsers import (
    parse_aliases,
    parse_blacklist,
    parse_hl_smi,
    parse_messages,
    parse_npu_smi,
    parse_resource,
    without_secrets,
)
from xpusetup.system.files import Sysroot
from xpusetup.system.process import Notes, ask

# Accelerators as the kernel shows them: PCI devices, their drivers, and render nodes. Needs no tool and no
# root.


PCI = "/sys/bus/pci/devices"
DISPLAY = ("0x03", "0x12")
"""PCI classes of display controllers and of processing accelerators, as in the kernel's `class` file."""


def probe_hardware(sysroot: Sysroot) -> Hardware:
    """List display and compute devices, and the render nodes."""
    fakes = [f"/dev/dri/{path.name}" for path in sysroot.listing("/dev/dri") if _is_fake(path)]
    return Hardware(gpus=list(_probe_gpus(sysroot)), nodes=list(_probe_nodes(sysroot)), fakes=fakes)


def _is_fake(path: Path) -> bool:
    """Say whether a folder stands where a node should: Docker makes one where it is to mount what is not there."""
    return path.name.startswith("renderD") and path.is_dir()


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
        if path.name.startswith("renderD") and not _is_fake(path):
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


# The running kernel: its accelerator drivers, what stands in their way, their firmware and their messages.


DRIVERS = ("i915", "xe")
WATCHED = (
    *DRIVERS,
    *("habanalabs", "habanalabs_cn", "habanalabs_en", "habanalabs_ib", "habanalabs_compat", "ib_uverbs"),
    *("drv_davinci_intf_host", "dxgkrnl", "nvidia", "amdgpu", "vgem"),
)
FIRMWARE = {"xe": ("bmg_", "lnl_", "ptl_"), "i915": ("dg2_", "pvc_", "mtl_", "tgl_", "adlp_")}
MODPROBE = ("/etc/modprobe.d", "/run/modprobe.d", "/usr/lib/modprobe.d", "/lib/modprobe.d")


def probe_kernel(sysroot: Sysroot, notes: Notes) -> LinuxKernel:
    """Look at the kernel; nothing here needs root, but for its messages on some systems."""
    release = (sysroot.read("/proc/sys/kernel/osrelease") or platform.release()).strip()
    cmdline = without_secrets(sysroot.read("/proc/cmdline") or "")
    return LinuxKernel(
        release=release,
        version=(sysroot.read("/proc/version") or "").strip(),
        cmdline=cmdline,
        modules=_modules(sysroot),
        dkms=_dkms(sysroot, release),
        blacklisted=parse_blacklist(_modprobe_texts(sysroot), cmdline, DRIVERS),
        claims=_claims(sysroot, release, notes),
        force_probe=_force_probe(sysroot),
        firmware=_firmware(sysroot),
        messages=_messages(sysroot, notes),
    )


def _modules(sysroot: Sysroot) -> dict[str, str | None]:
    there = [name for name in WATCHED if sysroot.path(f"/sys/module/{name}").is_dir()]
    versions = ((name, sysroot.read(f"/sys/module/{name}/version")) for name in there)
    return {name: version.strip() if version else None for name, version in versions}


def _dkms(sysroot: Sysroot, release: str) -> list[str]:
    folders = (f"/lib/modules/{release}/{name}" for name in ("updates/dkms", "updates", "extra", "weak-updates"))
    names = {path.name.split(".ko")[0] for folder in folders for path in sysroot.listing(folder) if ".ko" in path.name}
    return sorted(names & set(WATCHED))


def _modprobe_texts(sysroot: Sysroot) -> list[str]:
    paths = [f"{folder}/{path.name}" for folder in MODPROBE for path in sysroot.listing(folder)]
    return [sysroot.read(path) or "" for path in paths if path.endswith(".conf")]


def _claims(sysroot: Sysroot, release: str, notes: Notes) -> dict[str, list[str]] | None:
    text = sysroot.read(f"/lib/modules/{release}/modules.alias")
    if text is None:
        notes["kernel.claims"] = f"/lib/modules/{release}/modules.alias cannot be read here"
        return None
    ids = [gpu.device for gpu in probe_hardware(sysroot).gpus if gpu.vendor == "8086"]
    return parse_aliases(text, ids, DRIVERS)


def _force_probe(sysroot: Sysroot) -> dict[str, str]:
    values = ((name, sysroot.read(f"/sys/module/{name}/parameters/force_probe")) for name in DRIVERS)
    return {name: value.strip() for name, value in values if value and value.strip() not in ("", "(null)")}


def _firmware(sysroot: Sysroot) -> list[str] | None:
    places = [place for place in ("/lib/firmware", "/usr/lib/firmware") if sysroot.path(place).is_dir()]
    if not places:
        return None
    found: set[str] = set()
    for driver, prefixes in FIRMWARE.items():
        names = (path.name for path in sysroot.listing(f"{places[0]}/{driver}"))
        found.update(f"{driver}/{name}" for name in names if name.startswith(prefixes))
    return sorted(found)


def _messages(sysroot: Sysroot, notes: Notes) -> list[str] | None:
    if sysroot.text:  # another machine's, as it was written down
        text = sysroot.read("/var/log/dmesg")
        return None if text is None else parse_messages(text)
    if (sysroot.read("/proc/sys/kernel/dmesg_restrict") or "").strip() == "1" and os.getuid() != 0:
        notes["kernel.messages"] = "kernel.dmesg_restrict is 1: only root may read the kernel's messages"
        return None
    text = ask(notes, "kernel.messages", ("dmesg",))
    return None if text is None else parse_messages(text)


# Accelerators of other makers: Intel Gaudi and Huawei Ascend. What is not there is empty, never a fault.


GAUDI_VENDOR = "0x1da3"
QUERY = "index,name,driver_version,memory.used,memory.total"
CANN = ("/usr/local/Ascend/ascend-toolkit/set_env.sh", "/usr/local/Ascend/cann/set_env.sh")
ASCEND_NODES = ("davinci", "devmm_svm", "hisi_hdc")


def probe_gaudi(sysroot: Sysroot, notes: Notes) -> Gaudi:
    """Look at Gaudi's nodes and driver, and ask hl-smi. /sys/class/accel holds other makers' devices too."""
    nodes = [
        f"/dev/accel/{path.name}"
        for path in sysroot.listing("/sys/class/accel")
        if (sysroot.read(f"/sys/class/accel/{path.name}/device/vendor") or "").strip() == GAUDI_VENDOR
    ]
    old = [f"/dev/{path.name}" for path in sysroot.listing("/sys/class/habanalabs")]
    path = shutil.which("hl-smi")
    text = ask(notes, "gaudi.hl-smi", (path, "-Q", QUERY, "-f", "csv,noheader")) if path else None
    driver, cards = parse_hl_smi(text) if text is not None else (None, None)
    version = (sysroot.read("/sys/module/habanalabs/version") or "").strip()
    return Gaudi(nodes=nodes or old, driver=version or driver, cards=cards)


def probe_ascend(sysroot: Sysroot, notes: Notes) -> Ascend:
    """Look at Ascend's nodes, driver and toolkits, and ask npu-smi."""
    path = shutil.which("npu-smi")
    text = ask(notes, "ascend.npu-smi", (path, "info")) if path else None
    driver, cards = parse_npu_smi(text) if text is not None else (None, None)
    said = sysroot.read("/usr/local/Ascend/driver/version.info") or ""
    version = next((line.partition("=")[2] for line in said.splitlines() if line.startswith("Version=")), driver)
    nodes = [path.name for path in sysroot.listing("/dev") if path.name.startswith(ASCEND_NODES)]
    return Ascend(
        nodes=[f"/dev/{name}" for name in nodes],
        driver=version,
        scripts=[script for script in CANN if sysroot.path(script).exists()],
        cards=cards,
    )
