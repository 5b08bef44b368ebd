"""A workstation on which everything that can be looked at was looked at, and is well."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from data.machines import BMG, GIB, KIT, NODE, WORKSTATION, machine

if TYPE_CHECKING:
    from xpusetup.machine.facts import Facts

LIB = "/usr/lib/x86_64-linux-gnu"
CARD = {**BMG, "bar": 16 * GIB, "boot_vga": True, "subsystem": "8086:1100"}
INTEGRATED = {**BMG, "address": "0000:00:02.0", "device": "7d67", "driver": "i915", "bar": None}
ALCHEMIST = {**CARD, "address": "0000:04:00.0", "device": "56a0", "driver": "i915"}
MAX = {**CARD, "address": "0000:18:00.0", "device": "0bd5", "pci_class": "038000", "driver": "i915"}
GAUDI = {"address": "0000:b3:00.0", "vendor": "1da3", "device": "1020", "pci_class": "120000", "driver": "habanalabs"}
ASCEND = {"address": "0000:c1:00.0", "vendor": "19e5", "device": "d802", "pci_class": "120000", "driver": "devdrv"}
PARTS = ["compiler", "mkl", "pti", "ccl", "mpi", "umf", "tcm"]
LADDER: dict[str, Any] = {
    "loader": f"{LIB}/libze_loader.so.1.24.0",
    "init": 0,
    "drivers": 1,
    "devices": [{"name": "Intel(R) Arc(TM) B580 Graphics", "kind": "gpu", "vendor": "8086", "device": "e20b"}],
}
REPORT: dict[str, Any] = {
    "seconds": 2.1,
    "version": "2.14.1+xpu",
    "xpu": "20260100",
    "compiled": True,
    "available": True,
    "count": 1,
    "devices": ["Intel(R) Arc(TM) B580 Graphics"],
    "cxx11_abi": True,
}
TORCH: dict[str, Any] = {
    "python": "/home/me/venv/bin/python3",
    "prefix": "/home/me/venv",
    "kind": "venv",
    "version": "2.14.1+xpu",
    "xpu": "20260100",
    "cuda": "",
    "distributions": {
        "intel-cmplr-lib-ur": "2026.1.0",
        "intel-sycl-rt": "2026.1.0",
        "numpy": "2.3.1",
        "torch": "2.14.1+xpu",
        "triton-xpu": "3.8.0",
    },
    "requires": ["intel-sycl-rt==2026.1.0", "intel_cmplr_lib_ur==2026.1.0", "sympy==1.13.3"],
    "sycl": ["libsycl.so.9"],
    "libraries": {"libsycl.so.9": "/home/me/venv/lib/libsycl.so.9"},
    "report": REPORT,
}
USERLAND: dict[str, Any] = {
    "packages": {
        "intel-opencl-icd": "25.18.33578.15-1~24.04",
        "libigc2": "2.11.7-1",
        "libze-intel-gpu1": "25.18.33578.15-1~24.04",
        "libze1": "1.24.0-1",
    },
    "libraries": {name: f"{LIB}/{name}" for name in ("libze_loader.so.1", "libze_intel_gpu.so.1", "libigc.so.2")},
    "level_zero": LADDER,
    "opencl": {"intel.icd": f"{LIB}/intel-opencl/libigdrcl.so"},
    "sycl": [
        "[level_zero:gpu][level_zero:0] Intel(R) oneAPI Unified Runtime over Level-Zero, Intel(R) Arc(TM) B580",
        "[opencl:gpu][opencl:0] Intel(R) OpenCL Graphics, Intel(R) Arc(TM) B580 Graphics OpenCL 3.0 NEO",
    ],
    "headers": ["/usr/include/level_zero/ze_api.h"],
}
KERNEL: dict[str, Any] = {
    "release": "6.14.0-33-generic",
    "cmdline": "BOOT_IMAGE=/vmlinuz root=/dev/sda2 quiet splash",
    "modules": {"xe": None, "i915": None},
    "claims": {"e20b": ["xe"]},
    "firmware": ["i915/dg2_guc_70.bin", "xe/bmg_guc_70.bin"],
    "messages": ["xe 0000:03:00.0: [drm] Using GuC firmware from xe/bmg_guc_70.bin version 70.44.1"],
}
WELL: dict[str, Any] = {
    **WORKSTATION,
    "hardware": {"gpus": [CARD], "nodes": [{**NODE, "address": "0000:03:00.0"}]},
    "kernel": KERNEL,
    "userland": USERLAND,
    "container": {},
    "network": {},
    "toolkits": {
        "found": [{**KIT, "parts": PARTS}],
        "searched": ["/opt/intel/oneapi"],
        "ocloc": "/usr/bin/ocloc",
        "targets": ["pvc", "bmg", "dg2", "arl-h", "mtl-h", "lnl-m", "ptl-h", "ptl-u"],
    },
    "torch": TORCH,
    "caches": [{"name": "driver", "path": "/home/me/.cache/neo_compiler_cache", "writable": True, "free": 9 * GIB}],
    "gaudi": {},
    "ascend": {},
}
TREE: dict[str, Any] = {
    "path": "/home/me/pytorch",
    "version": "2.14.0a0",
    "git": True,
    "in_use": False,
    "cache": {"CMAKE_HOME_DIRECTORY": "/home/me/pytorch"},
    "setup_py": True,
}


def well(**sections: Any) -> Facts:
    """Give the workstation; a section given as a dict is merged into its own, None is one that was not asked for."""
    return machine(WELL, **sections)
