"""What whole machines are made from: cards, distributions, and a whole machine of both, in order.

A machine is a plain JSON document. The ailing ones are well ones with changes (`data.ailing`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from data.machines import DISK, GIB
from data.well import CARD, PARTS

Doc = dict[str, Any]
UUID = "8680{0}-0000-0000-0000-00000000{1:04x}"
FIRMWARE = ["i915/dg2_guc_70.bin", "i915/mtl_guc_70.bin", "i915/pvc_guc_70.bin", "i915/tgl_guc_70.bin"]
NEW_FIRMWARE = ["xe/bmg_guc_70.bin", "xe/lnl_guc_70.bin", "xe/ptl_guc_70.bin"]
TARGETS = ["pvc", "bmg", "dg2", "arl-h", "mtl-h", "lnl-m", "ptl-h", "ptl-u"]
NO_TORCH = "no Python environment is active or built here"


@dataclass(frozen=True)
class Os:
    """A distribution as it is installed, with its compiler and its Python."""

    name: str
    families: tuple[str, ...]
    version: str
    kernel: str
    gcc: str
    python: str
    rpm: bool = False

    @property
    def libraries(self) -> str:
        return "/usr/lib64" if self.rpm or "arch" in self.families else "/usr/lib/x86_64-linux-gnu"


UBUNTU_22 = Os(
    "Ubuntu 22.04.5 LTS",
    ("ubuntu", "debian"),
    "22.04",
    "5.15.0-140-generic",
    "g++ (Ubuntu 11.4.0-1ubuntu1~22.04) 11.4.0",
    "3.10.12",
)
UBUNTU_24 = Os(
    "Ubuntu 24.04.3 LTS",
    ("ubuntu", "debian"),
    "24.04",
    "6.14.0-33-generic",
    "g++ (Ubuntu 13.3.0-6ubuntu2~24.04) 13.3.0",
    "3.12.3",
)
UBUNTU_26 = Os(
    "Ubuntu 26.04 LTS",
    ("ubuntu", "debian"),
    "26.04",
    "7.0.0-10-generic",
    "g++ (Ubuntu 15.2.0-16ubuntu1) 15.2.0",
    "3.14.3",
)
DEBIAN_12 = Os(
    "Debian GNU/Linux 12 (bookworm)",
    ("debian",),
    "12",
    "6.1.0-40-amd64",
    "g++ (Debian 12.2.0-14+deb12u1) 12.2.0",
    "3.11.2",
)
RHEL_9 = Os(
    "Red Hat Enterprise Linux 9.6 (Plow)",
    ("rhel", "fedora"),
    "9.6",
    "5.14.0-570.el9.x86_64",
    "g++ (GCC) 11.5.0 20240719 (Red Hat 11.5.0-5)",
    "3.11.11",
    rpm=True,
)
SLES_15 = Os(
    "SUSE Linux Enterprise Server 15 SP6",
    ("sles", "suse"),
    "15.6",
    "6.4.0-150600.23.42-default",
    "g++-13 (SUSE Linux) 13.3.1 20240807",
    "3.11.10",
    rpm=True,
)
ARCH = Os("Arch Linux", ("arch",), "", "6.17.8-arch1-1", "g++ (GCC) 15.2.1 20251112", "3.13.9")


def card(device: str, driver: str | None, address: str = "0000:03:00.0", bar: int = 16 * GIB, **more: Any) -> Doc:
    return {**CARD, "device": device, "driver": driver, "address": address, "bar": bar, **more}


def integrated(device: str, driver: str | None) -> Doc:
    return card(device, driver, "0000:00:02.0", 256 << 20, subsystem="17aa:2234")


B580, A770 = card("e20b", "xe"), card("56a0", "i915")
B60 = [card("e211", "xe", f"0000:{bus:02x}:00.0", 32 * GIB, boot_vga=bus == 3) for bus in (3, 8, 13, 18)]
MAX = [card("0bd5", "i915", f"0000:{bus}:00.0", 128 * GIB, pci_class="038000", boot_vga=False) for bus in ("29", "3a")]
LUNAR, METEOR, PANTHER = integrated("64a0", "xe"), integrated("7d55", "i915"), integrated("b080", "xe")
TIGER, COFFEE = integrated("9a49", "i915"), integrated("3e92", "i915")
NAMES = {
    "e20b": "Intel(R) Arc(TM) B580 Graphics",
    "e211": "Intel(R) Arc(TM) Pro B60 Graphics",
    "56a0": "Intel(R) Arc(TM) A770 Graphics",
    "0bd5": "Intel(R) Data Center GPU Max 1550",
    "64a0": "Intel(R) Arc(TM) Graphics",
    "7d55": "Intel(R) Arc(TM) Graphics",
    "b080": "Intel(R) Arc(TM) B390 Graphics",
    "9a49": "Intel(R) Iris(R) Xe Graphics",
    "3e92": "Intel(R) UHD Graphics 630",
}
CLAIMS = {"e20b": ["xe"], "e211": ["xe"], "64a0": ["xe"], "b080": ["xe"], "56a0": ["i915", "xe"]}
MEMORY = {"e20b": 12 * GIB, "e211": 24 * GIB, "56a0": 16 * GIB, "0bd5": 64 * GIB}
CLIENT = "25.40.35563.7-1~24.04~ppa1"
LTS = "25.18.33578.51-1146~22.04"


def _system(os: Os) -> Doc:
    return {
        "name": os.name,
        "families": list(os.families),
        "version": os.version or None,
        "kernel": os.kernel,
        "machine": "x86_64",
        "user": "me",
        "uid": 1000,
        "groups": [27, 44, 992, 1000],
        "joined": [27, 44, 992],
        "named": {"render": 992, "video": 44},
    }


def _resources() -> Doc:
    disk = {**DISK, "holds": ["wheels", "sources", "environment"], "read_only": False, "quota_free": None, "used": 0}
    shared = {"cpu_limit": None, "memory_limit": None, "swap": 8 * GIB}
    return {"cpus": 16, "memory": 64 * GIB, "memory_available": 58 * GIB, "disks": [disk], **shared}


def nodes_of(*cards: Doc) -> list[Doc]:
    driven = [each for each in cards if each["vendor"] == "8086" and each["driver"] in ("i915", "xe")]
    return [
        {
            "path": f"/dev/dri/renderD{128 + place}",
            "vendor": "8086",
            "gid": 992,
            "openable": True,
            "address": each["address"],
        }
        for place, each in enumerate(driven)
    ]


def kernel_of(os: Os, *cards: Doc) -> Doc:
    drivers = {each["driver"]: None for each in cards if each["driver"] in ("i915", "xe")}
    ours = [each for each in cards if each["vendor"] == "8086"]
    firmware = FIRMWARE if os.kernel.startswith(("5.", "6.1.")) else [*FIRMWARE, *NEW_FIRMWARE]
    ready = "[drm] GuC firmware loaded"
    return {
        "release": os.kernel,
        "version": f"Linux version {os.kernel} (builder@build) #1 SMP PREEMPT_DYNAMIC",
        "cmdline": f"BOOT_IMAGE=/boot/vmlinuz-{os.kernel} root=/dev/nvme0n1p2 ro quiet",
        "modules": drivers,
        "dkms": [],
        "blacklisted": [],
        "claims": {each["device"]: CLAIMS.get(each["device"], ["i915"]) for each in ours},
        "force_probe": {},
        "firmware": firmware,
        "messages": [f"{each['driver']} {each['address']}: {ready}" for each in ours if each["driver"]],
    }


def _packages(os: Os, *cards: Doc) -> dict[str, str]:
    server = any(each["device"] == "0bd5" for each in cards)
    if os.rpm:
        names = ("intel-level-zero-gpu", "intel-opencl", "intel-igc-core", "level-zero", "intel-gmmlib")
        return dict(zip(names, ("1.6.33578.51", "25.18.33578.51", "2.11.7", "1.21.9", "22.7.2"), strict=True))
    version = LTS if server else CLIENT
    named = dict.fromkeys(("libze-intel-gpu1", "intel-opencl-icd"), version)
    return {**named, "libigc2": "2.20.3-1", "libze1": "1.24.3-1", "libigdgmm12": "22.8.2", "libze-dev": "1.24.3-1"}


def devices_of(*cards: Doc) -> list[Doc]:
    return [
        {
            "name": NAMES[each["device"]],
            "uuid": UUID.format(each["device"], place),
            "vendor": "8086",
            "device": each["device"],
            "kind": "gpu",
            "driver_version": 17204891,
            "memory": MEMORY.get(each["device"], 16 * GIB),
        }
        for place, each in enumerate(each for each in cards if each["device"] in NAMES)
    ]


def userland_of(os: Os, *cards: Doc) -> Doc:
    place, devices = os.libraries, devices_of(*cards)
    names = ("libze_loader.so.1", "libze_intel_gpu.so.1", "libigc.so.2", "libigdgmm.so.12", "libstdc++.so.6")
    titles = [device["name"] for device in devices]
    return {
        "packages": _packages(os, *cards),
        "broken": [],
        "libraries": {name: f"{place}/{name}" for name in names},
        "level_zero": {
            "loader": f"{place}/libze_loader.so.1.24.3",
            "error": "",
            "init": 0,
            "drivers": 1,
            "devices": devices,
        },
        "opencl": {"intel.icd": f"{place}/intel-opencl/libigdrcl.so"},
        "sycl": [f"[level_zero:gpu][level_zero:{n}] {title}" for n, title in enumerate(titles)]
        + [f"[opencl:gpu][opencl:{n}] Intel(R) OpenCL Graphics, {title}" for n, title in enumerate(titles)],
        "clinfo": [f"Platform #{n}: Intel(R) OpenCL Graphics" for n in range(min(1, len(titles)))],
        "headers": ["/usr/include/level_zero/ze_api.h"],
    }


def kit(version: str = "2026.1.0", root: str = "/opt/intel/oneapi") -> Doc:
    release = ".".join(version.split(".")[:2])
    names = ("compiler", "pti", "umf", "tcm", "ccl", "mpi")
    return {
        "root": root,
        "version": version,
        "compiler": f"{root}/compiler/{release}/bin/icpx",
        "setvars": f"{root}/setvars.sh",
        "scripts": [f"{root}/{name}/latest/env/vars.sh" for name in names],
        "parts": list(PARTS),
    }


def toolkits(*found: Doc, ocloc: str | None = "/usr/bin/ocloc") -> Doc:
    searched = ["/opt/intel/oneapi", "/home/me/intel/oneapi"]
    return {"found": list(found), "searched": searched, "ocloc": ocloc, "targets": TARGETS if ocloc else None}


RUNTIMES = {"2.14.1": ("2026.1.0", "libsycl.so.9", "3.8.0"), "2.12.1": ("2025.3.2", "libsycl.so.8", "3.7.1")}


def torch_of(release: str, *cards: Doc) -> Doc:
    """Give an environment with the published wheels, which sees the cards (none: no device)."""
    runtime, sycl, triton = RUNTIMES[release]
    version, prefix = f"{release}+xpu", "/home/me/venv"
    names = [device["name"] for device in devices_of(*cards)]
    return {
        "python": f"{prefix}/bin/python3",
        "prefix": prefix,
        "kind": "venv",
        "distributions": {
            "intel-cmplr-lib-ur": runtime,
            "intel-sycl-rt": runtime,
            "numpy": "2.3.5",
            "torch": version,
            "triton-xpu": triton,
        },
        "doubled": [],
        "requires": [f"intel-cmplr-lib-ur=={runtime}", f"intel-sycl-rt=={runtime}", f"triton-xpu=={triton}"],
        "entry_points": [],
        "version": version,
        "xpu": f"{runtime[:4]}0{runtime[5]}00",
        "cuda": "",
        "sycl": [sycl],
        "libraries": {sycl: f"{prefix}/lib/{sycl}", "libur_loader.so.0": f"{prefix}/lib/libur_loader.so.0"},
        "glibcxx": None,
        "glibcxx_system": 33,
        "report": {
            "error": "",
            "messages": [],
            "seconds": 2.4,
            "version": version,
            "xpu": f"{runtime[:4]}0{runtime[5]}00",
            "cuda": None,
            "compiled": True,
            "available": bool(names),
            "count": len(names),
            "devices": names,
            "cxx11_abi": True,
        },
    }


def _tools(os: Os) -> list[Doc]:
    return [
        {"name": "gcc", "path": "/usr/bin/gcc", "version": os.gcc.replace("g++", "gcc", 1)},
        {"name": "g++", "path": "/usr/bin/g++", "version": os.gcc},
        {"name": "git", "path": "/usr/bin/git", "version": "git version 2.43.0"},
        {"name": "cmake", "path": "/usr/bin/cmake", "version": "cmake version 3.28.3"},
    ]


def healthy(os: Os, *cards: Doc, release: str = "2.14.1", oneapi: str = "2026.1.0") -> Doc:
    """Give a machine on which everything is well, all sections seen. Without a release or oneAPI it has none."""
    homes = {"driver": "/home/me/.cache/neo_compiler_cache", "triton": "/home/me/.triton"}
    caches = [{"name": name, "path": path, "writable": True, "free": 500 * GIB} for name, path in homes.items()]
    return {
        "schema": 1,
        "taken": "2026-11-21T08:00:00+00:00",
        "system": _system(os),
        "resources": _resources(),
        "hardware": {"gpus": list(cards), "nodes": nodes_of(*cards)},
        "kernel": kernel_of(os, *cards),
        "userland": userland_of(os, *cards),
        "container": {"kind": "", "details": {}},
        "network": {"proxies": {}, "credentials": [], "redirects": {}, "indexes": {}, "reach": None},
        "toolkits": toolkits(*([kit(oneapi)] if oneapi else [])),
        "tools": _tools(os),
        "python": {
            "executable": f"/usr/bin/python{'.'.join(os.python.split('.')[:2])}",
            "version": os.python,
            "headers": True,
            "venv": True,
            "free_threaded": False,
            "adopted": None,
        },
        "torch": torch_of(release, *cards) if release else None,
        "tree": None,
        "caches": caches,
        "gaudi": {"nodes": [], "driver": None, "packages": {}, "cards": None},
        "ascend": {"nodes": [], "driver": None, "scripts": [], "cards": None},
        "environment": {},
        "notes": {} if release else {"torch": NO_TORCH},
    }
