"""The running kernel: its accelerator drivers, what stands in their way, their firmware and their messages."""

from __future__ import annotations

import os
import platform
from typing import TYPE_CHECKING

from xpusetup.effects.notes import ask
from xpusetup.effects.probe_hardware import probe_hardware
from xpusetup.facts import Kernel
from xpusetup.outputs.kernel import parse_aliases, parse_blacklist, parse_messages, without_secrets

if TYPE_CHECKING:
    from xpusetup.effects.notes import Notes
    from xpusetup.effects.sysroot import Sysroot

DRIVERS = ("i915", "xe")
WATCHED = (
    *DRIVERS,
    *("habanalabs", "habanalabs_cn", "habanalabs_en", "habanalabs_ib", "habanalabs_compat", "ib_uverbs"),
    *("drv_davinci_intf_host", "dxgkrnl", "nvidia", "amdgpu", "vgem"),
)
FIRMWARE = {"xe": ("bmg_", "lnl_", "ptl_"), "i915": ("dg2_", "pvc_", "mtl_", "tgl_", "adlp_")}
MODPROBE = ("/etc/modprobe.d", "/run/modprobe.d", "/usr/lib/modprobe.d", "/lib/modprobe.d")


def probe_kernel(sysroot: Sysroot, notes: Notes) -> Kernel:
    """Look at the kernel; nothing here needs root, but for its messages on some systems."""
    release = (sysroot.read("/proc/sys/kernel/osrelease") or platform.release()).strip()
    cmdline = without_secrets(sysroot.read("/proc/cmdline") or "")
    return Kernel(
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
