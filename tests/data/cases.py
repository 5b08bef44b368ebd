"""What the checks of devices, drivers and environments say: (check, changes to a well workstation, build, run).

A text is how the answer begins, "level: what was seen"; empty where the check does not apply.
"""

from __future__ import annotations

from typing import Any

from data.machines import DISK, GIB, KIT, NODE, with_gcc, without_tool
from data.well import (
    ALCHEMIST,
    ASCEND,
    CARD,
    GAUDI,
    INTEGRATED,
    LADDER,
    MAX,
    REPORT,
    TORCH,
    TREE,
    USERLAND,
)
from xpusetup.machine.facts import NO_COMPILER, NOT_THERE

Case = tuple[str, dict[str, Any], str, str]
CLOSED = {**NODE, "openable": False}
LOST = {**CARD, "driver": None}
DOCKER = {"kind": "docker"}
WSL = {"kind": "wsl2", "details": {"/dev/dxg": "there", "/usr/lib/wsl/lib/libdxcore.so": "there"}}
CONDA = {"prefix": "/opt/conda", "kind": "conda", "pip": True, "installed": {"pip": "26.0"}}
OLD_KERNEL = {"release": "6.8.0-31-generic", "claims": {"e20b": []}}
REFUSED = "xe 0000:03:00.0: Your graphics device e20b is not properly supported by xe in this"
NPU = [{"name": "torch_npu", "value": "torch_npu:_autoload", "distribution": "torch_npu", "version": "2.13.0"}]
SIM = [{"name": "simxpu", "value": "simxpu:_autoload", "distribution": "simxpu", "version": "0.1.0"}]
VENV, ONEAPI = "/home/me/venv/lib", "/opt/intel/oneapi/compiler/2025.3/lib"
HIDES = {
    "kind": "symbol",
    "level": "fail",
    "library": f"{VENV}/libsycl.so.9",
    "names": ["urDeviceWaitExp"],
    "count": 7,
    "first": f"{ONEAPI}/libur_loader.so.0",
    "has": f"{VENV}/libur_loader.so.0",
    "owners": {"library": "intel-sycl-rt 2026.1.0", "first": "oneAPI compiler 2025.3"},
}
OFFERS = {
    "kind": "offered",
    "level": "warn",
    "names": ["libsycl.so.8"],
    "count": 1,
    "first": f"{ONEAPI}/libsycl.so.8",
    "has": f"{VENV}/libsycl.so.9",
}
INSIDE = {**HIDES, "first": f"{VENV}/libur_loader.so.0", "has": ""}
MAJORS = {
    "kind": "majors",
    "level": "fail",
    "library": f"{VENV}/python3.12/site-packages/dpctl/libDPCTLSyclInterface.so",
    "names": ["libsycl.so.9"],
    "count": 1,
    "first": f"{VENV}/libsycl.so.8",
    "owners": {"library": "dpctl 0.22.1", "first": "intel-sycl-rt 2025.3.1"},
}
OTHER_ABI = {
    "kind": "abi",
    "level": "fail",
    "library": f"{VENV}/python3.12/site-packages/acme/_C.so",
    "names": ["_ZN3c106detail14torchCheckFailEPKcS2_jRKSs"],
    "count": 1,
    "first": f"{VENV}/python3.12/site-packages/torch/lib/libc10.so",
    "owners": {"library": "acme 1.0", "first": "torch 2.14.1+xpu"},
}
OLD_CXX = {
    "kind": "version",
    "level": "fail",
    "library": "/usr/lib/x86_64-linux-gnu/libze_intel_gpu.so.1",
    "names": ["GLIBCXX_3.4.32"],
    "count": 1,
    "first": f"{VENV}/libstdc++.so.6",
    "has": "/usr/lib/x86_64-linux-gnu/libstdc++.so.6",
}
OVERWRITTEN = {
    "kind": "files",
    "level": "fail",
    "names": ["triton/__init__.py"],
    "count": 234,
    "owners": {"library": "triton 3.5.0", "first": "triton-xpu 3.6.0"},
}
LEFT = {
    "kind": "gone",
    "level": "fail",
    "names": ["triton/__init__.py"],
    "count": 34,
    "owners": {"library": "triton-ascend 3.2.0"},
}
BROKEN = "RuntimeError: Failed to load the backend extension: simxpu. You can disable; because OSError: libx.so"


def gpu(*cards: dict[str, Any]) -> dict[str, Any]:
    return {"hardware": {"gpus": list(cards)}}


def nodeless(*cards: dict[str, Any]) -> dict[str, Any]:
    return {"hardware": {"gpus": list(cards), "nodes": []}}


def torch(**changes: Any) -> dict[str, Any]:
    return {"torch": changes}


def installed(**versions: str) -> dict[str, Any]:
    names = {name.replace("_", "-"): version for name, version in versions.items()}
    return {"torch": {"distributions": {**TORCH["distributions"], **names}}}


def said(**changes: Any) -> dict[str, Any]:
    return {"torch": {"report": {**REPORT, **changes}}}


def ladder(**changes: Any) -> dict[str, Any]:
    return {"userland": {"level_zero": {**LADDER, **changes}}}


def packages(**versions: str) -> dict[str, Any]:
    names = {name.replace("_", "-"): version for name, version in versions.items()}
    return {"userland": {"packages": {**USERLAND["packages"], **names}}}


def shell(**variables: str) -> dict[str, Any]:
    return {"environment": variables}


def kit(*parts: str) -> dict[str, Any]:
    return {"toolkits": {"found": [{**KIT, "parts": list(parts)}]}}


JAMMY = {"name": "Ubuntu 22.04", "families": ["ubuntu", "debian"], "version": "22.04"}
UNSEEN = {"userland": {"level_zero": {**LADDER, "devices": []}, "packages": None}}
OLD_IMAGE = {"kind": "docker", "details": {"image": "intel/oneapi-basekit:2023.2.1-devel-ubuntu22.04"}}


LOST_BY_BUS = "pcieport 0000:00:01.0: AER: Uncorrectable (Fatal) error message received from 0000:03:00.0"
NEWER_SYCL = {"userland": {"packages": {"libze-intel-gpu1": "25.18.33578.15"}}}
UNKNOWN = {**REPORT, "available": False, "count": 0, "error": "level_zero backend failed with error: 2147483646"}
DEVICES: list[Case] = [
    ("sys.older_than_gpu", {}, "", ""),
    (
        "sys.older_than_gpu",
        {"system": JAMMY, "kernel": {"release": "0"}, **torch(report=None), **UNSEEN},
        "",
        "fail: Ubuntu 22.04 has no kernel newer than 6.8, and Arc B580 (Battlemage) at 0000:03:00.0 needs Linux 6.12 (",
    ),
    (
        "sys.older_than_gpu",
        {"system": JAMMY, "kernel": {"release": "0"}, **torch(report=None), "userland": {"level_zero": None}},
        "",
        "warn: Ubuntu 22.04 has no kernel newer",
    ),
    ("container.older_than_gpu", {"container": OLD_IMAGE}, "", ""),
    (
        "container.older_than_gpu",
        {"container": OLD_IMAGE, **torch(report=None), **UNSEEN},
        "",
        "fail: the driver in intel/oneapi-basekit:2023.2.1-devel-ubuntu22.04 (of 2024.0 or before) is older",
    ),
    (
        "container.older_than_gpu",
        {"container": OLD_IMAGE, **torch(report=None), **UNSEEN, **gpu(ALCHEMIST)},
        "",
        "",
    ),
    ("hw.intel_gpu_present", {}, "ok: Arc B580 (Battlemage) at 0000:03:00.0", "ok: Arc B580 (Battlemage)"),
    ("hw.intel_gpu_present", {"container": WSL}, "info: WSL2 hides it", "info: WSL2 hides it"),
    ("hw.legacy_gpu", {}, "", ""),
    ("hw.legacy_gpu", gpu({**INTEGRATED, "device": "3e92"}), "", "fail: 8086:3e92"),
    ("hw.legacy_gpu", gpu(CARD, {**INTEGRATED, "device": "3e92"}), "", "info: 8086:3e92"),
    (
        "hw.gpu_supported_by_driver",
        {},
        "ok: the table of its current release has it",
        "ok: the table of its current release has it",
    ),
    ("hw.gpu_supported_by_driver", gpu({**CARD, "device": "fffe"}), "warn: not in the table", "warn: not in the table"),
    ("hw.release_has_code", {}, "", "ok: torch-2.14 has it"),
    (
        "hw.release_has_code",
        gpu({**INTEGRATED, "device": "9a49"}),
        "",
        "warn: torch-2.14 compiles its kernels for Iris Xe",
    ),
    (
        "hw.release_has_code",
        gpu(CARD, {**INTEGRATED, "device": "9a49"}),
        "",
        "info: torch-2.14 compiles its kernels for Iris",
    ),
    ("hw.release_has_code", gpu({**CARD, "device": "fffe"}), "", ""),
    ("hw.no_native_fp64", {}, "", ""),
    ("hw.no_native_fp64", gpu(ALCHEMIST), "", "info: Arc A770"),
    ("hw.small_bar", {}, "", "ok: 16384 MiB"),
    (
        "hw.small_bar",
        {**gpu({**CARD, "bar": 256 << 20}), "userland": {"level_zero": {**LADDER, "devices": []}}},
        "",
        "fail: 256 MiB at 0000:03:00.0 (xe)",
    ),
    ("hw.small_bar", gpu({**CARD, "bar": 256 << 20}), "", "warn: 256 MiB at 0000:03:00.0 (xe)"),
    ("hw.small_bar", gpu({**ALCHEMIST, "bar": 256 << 20}), "", "warn: 256 MiB at 0000:04:00.0 (i915)"),
    ("hw.small_bar", gpu({**INTEGRATED, "bar": 256 << 20}), "", ""),
    ("hw.multi_bmg_enum", {}, "", ""),
    ("hw.multi_bmg_enum", gpu(CARD, {**CARD, "address": "0000:04:00.0"}), "", "warn: 1 of 2"),
    (
        "hw.multi_bmg_enum",
        {**gpu(CARD, {**CARD, "address": "0000:04:00.0"}), **ladder(devices=LADDER["devices"] * 2)},
        "",
        "ok: 2 of 2",
    ),
    ("fw.guc_missing", {}, "", "ok: nothing is missing"),
    ("fw.guc_missing", {**nodeless(LOST), "kernel": {"firmware": []}}, "", "fail: no /lib/firmware/xe/bmg_guc*"),
    (
        "fw.guc_missing",
        {**nodeless(LOST), "kernel": {"messages": ["xe: [drm] GuC firmware xe/bmg_guc_70.bin: fetch failed -ENOENT"]}},
        "",
        "fail: xe: [drm] GuC firmware",
    ),
    ("fw.guc_missing", {"kernel": {"messages": ["i915: fetch failed with error -ENOENT"]}}, "", "info: i915"),
    (
        "fw.guc_missing",
        {
            "kernel": {
                "messages": ["i915 0000:03:00.0: GuC firmware i915/dg2_guc_70.2.0.bin: fetch failed with error -2"]
            }
        },
        "",
        "info: i915",
    ),
    (
        "fw.guc_missing",
        {
            "kernel": {"messages": ["xe: [drm] GuC firmware xe/bmg_guc_70.bin: fetch failed -ENOENT"]},
            **ladder(devices=[]),
        },
        "",
        "fail: xe: [drm] GuC firmware",
    ),
    (
        "fw.guc_missing",
        {
            "kernel": {
                "messages": [
                    "i915 0000:00:02.0: [drm] *ERROR* GT0: GuC firmware i915/icl_guc_70.1.1.bin: fetch failed -ENOENT",
                    "i915 0000:00:02.0: [drm] GT0: GuC firmware is not available, submission by execution lists",
                    "[drm] Initialized i915 1.6.0 20230929 for 0000:00:02.0 on minor 0",
                ]
            },
            **ladder(devices=[]),
        },
        "",
        "info: i915 0000:00:02.0",
    ),
    (
        "fw.guc_missing",
        {
            "kernel": {
                "messages": [
                    "i915 0000:03:00.0: [drm] *ERROR* GT0: GuC firmware i915/dg2_guc_70.bin: fetch failed -ENOENT",
                    "i915 0000:03:00.0: [drm] *ERROR* GT0: Failed to initialize GPU, declaring it wedged!",
                    "[drm] Initialized i915 1.6.0 20230929 for 0000:03:00.0 on minor 0",
                ]
            },
            **ladder(devices=[]),
        },
        "",
        "fail: i915 0000:03:00.0: [drm] *ERROR* GT0: GuC firmware",
    ),
    ("fw.bus_errors", {}, "", ""),
    ("fw.bus_errors", {"kernel": {"messages": [LOST_BY_BUS.replace("03:00", "04:00")]}}, "", ""),
    ("fw.bus_errors", {"kernel": {"messages": [LOST_BY_BUS]}}, "", "warn: 1, the last: pcieport"),
    (
        "fw.bus_errors",
        {
            "kernel": {"messages": ["DMAR: [DMA Read] Request device [03:00.0] fault addr 0x0"]},
            **torch(report=None),
            **UNSEEN,
        },
        "",
        "fail: 1, the last: DMAR",
    ),
    ("fw.gpu_wedged", {}, "", "ok: none"),
    ("fw.gpu_wedged", {"kernel": {"messages": None}}, "", ""),
    (
        "fw.gpu_wedged",
        {
            "kernel": {
                "messages": [
                    "i915 0000:00:02.0: [drm] *ERROR* GT0: GuC initialization failed -ENXIO",
                    "i915 0000:00:02.0: [drm] *ERROR* GT0: Failed to initialize GPU, declaring it wedged!",
                ]
            },
            **ladder(devices=[]),
        },
        "",
        "fail: i915 0000:00:02.0: [drm] *ERROR* GT0: GuC initialization failed -ENXIO",
    ),
    (
        "fw.gpu_wedged",
        {"kernel": {"messages": ["xe 0000:00:02.0: [drm] CRITICAL: Xe has declared device 0000:00:02.0 as wedged."]}},
        "",
        "warn: xe 0000:00:02.0",
    ),
    (
        "fw.gpu_wedged",
        {"kernel": {"messages": ["xe 0000:00:02.0: probe with driver xe failed with error -22"]}, **ladder(devices=[])},
        "",
        "fail: xe 0000:00:02.0: probe",
    ),
    ("fw.gpu_hang", {}, "", "ok: none recorded"),
    ("fw.gpu_hang", {"kernel": {"messages": ["i915: [drm] GPU HANG: ecode 12"]}}, "", "warn: 1, the last: i915"),
    ("fw.gpu_hang", {"kernel": {"messages": ["xe 0: [drm] GT0: reset started"]}}, "", "warn: 1, the last: xe 0"),
    (
        "fw.gpu_hang",
        {"kernel": {"messages": ["xe 0: [drm] *ERROR* GT0: GuC CT: timed out"]}},
        "",
        "warn: 1, the last: xe 0",
    ),
    ("fw.gpu_hang", {"kernel": {"messages": None}}, "", ""),
    ("kmd.pvc_needs_backports", {}, "", ""),
    ("kmd.pvc_needs_backports", gpu({**CARD, "device": "56c0", "driver": None}), "", "fail: Data Center GPU Flex 170"),
    (
        "kmd.pvc_needs_backports",
        {**gpu(MAX), "kernel": {"modules": {"i915": "1.25.2"}}},
        "",
        "ok: i915 1.25.2",
    ),
    ("kmd.pvc_needs_backports", gpu({**MAX, "driver": None}), "", "fail: "),
    ("kmd.force_probe", {}, "", "ok: Linux 6.14.0-33-generic knows it"),
    (
        "kmd.force_probe",
        {**gpu(LOST), "kernel": OLD_KERNEL},
        "",
        "fail: Linux 6.8.0-31-generic has no driver for Arc B580",
    ),
    ("kmd.force_probe", {**gpu(LOST), "kernel": {"claims": None, "messages": [REFUSED]}}, "", f"fail: {REFUSED}"),
    ("kmd.force_probe", gpu(LOST), "", ""),
    ("kmd.blacklisted", {}, "", ""),
    ("kmd.blacklisted", {**gpu(LOST), "kernel": {"blacklisted": ["xe"]}}, "", "fail: xe may not load"),
    ("kmd.blacklisted", {**gpu(LOST), "kernel": {"blacklisted": ["i915"]}}, "", ""),
    ("kmd.blacklisted", {**gpu({**LOST, "device": "0000"}), "kernel": {"blacklisted": ["i915"]}}, "", "fail: i915 may"),
    ("kmd.blacklisted", {**gpu(LOST), "kernel": {"cmdline": "ro nomodeset"}}, "", "fail: the kernel was started with"),
    ("kmd.blacklisted", gpu(LOST), "", ""),
    ("kmd.bound", {}, "", "ok: 0000:03:00.0: xe"),
    (
        "kmd.bound",
        {"kernel": {"cmdline": "ro xe.force_probe=56a0 i915.force_probe=!56a0 quiet"}},
        "",
        "ok: 0000:03:00.0: xe; the kernel's command line decides it: xe.force_probe=56a0 i915.force_probe=!56a0",
    ),
    ("kmd.bound", gpu({**CARD, "driver": "vfio-pci"}), "", "fail: 0000:03:00.0: vfio-pci"),
    ("kmd.bound", gpu(LOST, INTEGRATED), "", "warn: 0000:03:00.0: no driver, 0000:00:02.0: i915"),
    ("kmd.xe_on_dg2_old_kernel", {}, "", ""),
    (
        "kmd.xe_on_dg2_old_kernel",
        {**gpu({**ALCHEMIST, "driver": "xe"}), "kernel": OLD_KERNEL},
        "",
        "warn: xe has Arc A770",
    ),
    ("kmd.compute_runtime_vs_kernel", {}, "", "ok: 25.18.33578.15-1~24.04 on Linux 6.14"),
    ("kmd.compute_runtime_vs_kernel", {"kernel": {"release": "6.18.2"}}, "", "warn: 25.18.33578.15-1~24.04"),
    (
        "kmd.compute_runtime_vs_kernel",
        {
            "userland": {**USERLAND, "packages": {"intel-compute-runtime": "25.31.34666.3-1.fc43"}},
            "kernel": {"release": "6.18.5-200.fc43"},
        },
        "",
        "warn: 25.31.34666.3-1.fc43 on Linux 6.18.5-200.fc43",
    ),
    (
        "kmd.compute_runtime_vs_kernel",
        {"userland": {**USERLAND, "packages": {"intel-compute-runtime": "23.48.27912.11-1"}}},
        "",
        "fail: 23.48.27912.11-1 on Linux 6.14",
    ),
    (
        "kmd.compute_runtime_vs_kernel",
        {"userland": {**USERLAND, "packages": {"intel-level-zero-gpu": "1.3.27912.11"}}, **gpu(ALCHEMIST)},
        "",
        "warn: 1.3.27912.11 on Linux 6.14",
    ),
    ("container.no_device", {}, "", ""),
    ("container.no_device", {"container": DOCKER}, "", "ok: docker with 1 node"),
    ("container.no_device", {**nodeless(CARD), "container": DOCKER}, "", "fail: docker without /dev/dri"),
    ("wsl.dxg", {}, "", ""),
    ("wsl.dxg", {"container": WSL}, "", "ok: /dev/dxg"),
    ("wsl.dxg", {"container": {**WSL, "details": {"/dev/dxg": "not there"}}}, "", "fail: no /dev/dxg"),
    ("wsl.neo_old", {"container": WSL}, "", "ok: sycl-ls runs"),
    (
        "wsl.neo_old",
        {"container": WSL, "userland": {"sycl": ["Abort was called at 44 line in file: os_interface.h"]}},
        "",
        "fail: Abort was called at 44",
    ),
    ("wsl.neo_old", {}, "", ""),
    ("wsl.alloc_limit", {"container": WSL}, "", "info: WSL2"),
    ("wsl.alloc_limit", {}, "", ""),
    ("perm.dri_nodes", {"container": WSL}, "", ""),
    ("perm.container_gid", {}, "", ""),
    ("perm.container_gid", {"container": DOCKER}, "", "ok: "),
    (
        "perm.container_gid",
        {"container": DOCKER, "hardware": {"nodes": [CLOSED]}},
        "",
        "fail: /dev/dri/renderD128 belongs to group 992 of the host",
    ),
    ("perm.session", {}, "", ""),
    ("perm.session", {"hardware": {"nodes": [CLOSED]}}, "", ""),
    (
        "perm.session",
        {"hardware": {"nodes": [CLOSED]}, "system": {"joined": [992]}},
        "",
        "fail: me is in group 992; this session began before",
    ),
    ("perm.sysman_perfmon", {}, "", ""),
    (
        "perm.sysman_perfmon",
        said(messages=["The device doesn't support querying the available free memory."]),
        "",
        "info: The device",
    ),
]
DRIVER: list[Case] = [
    ("umd.ze_loader", {}, "", "ok: /usr/lib"),
    ("umd.ze_loader", {"userland": {"libraries": {}}}, "", "fail: no libze_loader.so.1"),
    ("umd.ze_loader", {"userland": {"libraries": None}}, "", ""),
    ("umd.ze_intel_gpu", {}, "", "ok: /usr/lib"),
    ("umd.ze_intel_gpu", {"userland": {"libraries": {}}}, "", "fail: no libze_intel_gpu.so.1"),
    ("umd.stock_ubuntu_too_old", {}, "", ""),
    ("umd.stock_ubuntu_too_old", packages(libze_intel_gpu1="23.43.27642.40-1ubuntu3"), "", "fail: 23.43.27642.40"),
    (
        "umd.stock_ubuntu_too_old",
        {**packages(libze_intel_gpu1="23.43.27642.40-1ubuntu3"), **gpu(ALCHEMIST)},
        "",
        "warn: 23.43.27642.40-1ubuntu3, of 2023",
    ),
    ("umd.older_than_gpu", {}, "", "ok: build 33578 knows it"),
    (
        "umd.older_than_gpu",
        {
            "userland": {
                "packages": {"intel-opencl-icd": "24.39.31294.20", "intel-level-zero-gpu": "1.3.29735.27"},
                "level_zero": {**LADDER, "devices": []},
            },
            **torch(report=None),
        },
        "",
        "fail: the driver 24.39.31294.20 (build 29735) is older than Arc B580 (Battlemage) at 0000:03:00.0",
    ),
    (
        "umd.older_than_gpu",
        {
            "userland": {"packages": {"libze-intel-gpu1": "22.43.24595.30"}, "level_zero": None},
            **gpu({**CARD, "device": "fd80"}),
            **torch(report=None),
        },
        "",
        "warn: the driver 22.43.24595.30 (build 24595) is older than Intel Graphics (Wildcat Lake)",
    ),
    ("umd.older_than_sycl", NEWER_SYCL, "", ""),
    (
        "umd.older_than_sycl",
        {**NEWER_SYCL, **torch(report=UNKNOWN), **gpu(CARD, {**CARD, "address": "0000:04:00.0"})},
        "",
        "fail: the driver of build 33578 is older than",
    ),
    (
        "umd.older_than_sycl",
        {"userland": {**NEWER_SYCL["userland"], "level_zero": None}, **torch(report=UNKNOWN)},
        "",
        "warn: the driver of build 33578 is older than",
    ),
    ("umd.older_than_sycl", {**NEWER_SYCL, **torch(report={**UNKNOWN, "error": ""})}, "", ""),
    (
        "umd.older_than_sycl",
        {"userland": {"packages": {"libze-intel-gpu1": "26.27.39122.1"}}, **torch(report=UNKNOWN)},
        "",
        "",
    ),
    ("umd.mixed_driver_packages", {}, "", "ok: none"),
    (
        "umd.mixed_driver_packages",
        {"userland": {"broken": ["libigc1"], "level_zero": {**LADDER, "init": 0x70020000}}},
        "",
        "fail: libigc1 half installed",
    ),
    (
        "umd.mixed_driver_packages",
        packages(intel_level_zero_gpu="1.3.29735"),
        "",
        "warn: intel-level-zero-gpu with libze-intel-gpu1",
    ),
    ("umd.mixed_driver_packages", {"userland": {"broken": ["libigc1"]}}, "", "warn: libigc1 half installed"),
    ("umd.igc_incompatible", {}, "", "ok: libigc.so.2"),
    ("umd.igc_incompatible", {**packages(libigc2="1:2.36.3-1"), **torch(report=None)}, "", "ok: "),
    (
        "umd.igc_incompatible",
        {**packages(libigc2="2.5.6-1"), **torch(report=None)},
        "",
        "warn: the graphics compiler 2.5.6-1 is older than the driver (build 33578): it wants 2.10 or newer",
    ),
    (
        "umd.igc_incompatible",
        ladder(init=0x70020000),
        "",
        "fail: zeInit: 0x70020000 DEPENDENCY_UNAVAILABLE, with libigc",
    ),
    (
        "umd.igc_incompatible",
        {"userland": {"libraries": {"libze_intel_gpu.so.1": "/x"}}},
        "",
        "fail: no libigc.so",
    ),
    ("umd.ze_init", {}, "", "ok: Intel(R) Arc(TM) B580 Graphics"),
    ("umd.ze_init", ladder(init=0x78000001), "", "fail: zeInit: 0x78000001 UNINITIALIZED"),
    ("umd.ze_init", ladder(init=None), "", "fail: zeInit did not return"),
    ("umd.ze_init", ladder(error="the driver ended the process: -11"), "", "fail: the driver ended the process: -11"),
    ("umd.ze_init", ladder(devices=[]), "", "fail: zeInit succeeds, 1 driver(s), no GPU"),
    ("umd.ze_init", {"userland": {"level_zero": None}}, "", ""),
    ("umd.opencl_icd", {}, "", "ok: intel.icd"),
    (
        "umd.opencl_icd",
        {"userland": {"opencl": {"mesa.icd": "libRusticlOpenCL.so.1"}}},
        "",
        "info: registered: mesa.icd",
    ),
    ("umd.only_opencl_gpu", {}, "", "ok: level_zero:gpu, opencl:gpu"),
    ("umd.only_opencl_gpu", {"userland": {"sycl": USERLAND["sycl"][1:]}}, "", "fail: sycl-ls lists opencl:gpu"),
    ("umd.only_opencl_gpu", {"userland": {"sycl": None}}, "", ""),
    ("umd.loader_version", {}, "", "info: 1.24.0-1"),
    ("known.bad", {}, "", "ok: none here"),
    (
        "known.bad",
        {
            "kernel": {"release": "6.18.5"},
            **gpu({**CARD, "device": "64a0"}),
            "userland": {**USERLAND, "packages": {"libze-intel-gpu1": "25.48.36300.8-1"}},
        },
        "",
        "warn: compute-runtime 25.48 on Linux 6.18",
    ),
    ("umd.ending_variables", {}, "", "ok: none set"),
    ("umd.ending_variables", shell(SYCL_PI_TRACE=""), "", "fail: SYCL_PI_TRACE=: each program ends with 1"),
    (
        "umd.ending_variables",
        shell(ONEAPI_DEVICE_SELECTOR=""),
        "",
        "fail: ONEAPI_DEVICE_SELECTOR=: it is set",
    ),
    ("umd.ending_variables", shell(SYCL_CACHE_PERSISTENT="true"), "", "fail: SYCL_CACHE_PERSISTENT=true: 0 and 1"),
    ("umd.ending_variables", shell(SYCL_CACHE_PERSISTENT="1"), "", "ok: none set"),
    (
        "umd.ending_variables",
        shell(SYCL_DUMP_IMAGES="0", ONEAPI_DEVICE_SELECTOR="level_zero:0"),
        "",
        "warn: SYCL_DUMP_IMAGES=0: device images are written",
    ),
    ("umd.ending_variables", shell(SYCL_DEVICE_ALLOWLIST="garbage"), "", "fail: SYCL_DEVICE_ALLOWLIST=garbage: SYCL"),
    ("umd.ending_variables", shell(UR_ADAPTERS_FORCE_LOAD="/x.so"), "", "warn: UR_ADAPTERS_FORCE_LOAD=/x.so: no other"),
    ("umd.ending_variables", shell(ZE_ENABLE_NULL_DRIVER="1"), "", "warn: ZE_ENABLE_NULL_DRIVER=1: Level Zero's test"),
    ("umd.ending_variables", shell(ZE_ENABLE_NULL_DRIVER="true"), "", "ok: none set"),
    ("umd.ending_variables", shell(ZE_ENABLE_ALT_DRIVERS="/x.so"), "", "warn: ZE_ENABLE_ALT_DRIVERS=/x.so: Level Zero"),
    ("umd.ending_variables", shell(OCL_ICD_FILENAMES="/a.so:b.so"), "", "warn: OCL_ICD_FILENAMES=/a.so:b.so: a name"),
    ("umd.ending_variables", shell(OCL_ICD_FILENAMES="/a.so:/b.so"), "", "ok: none set"),
    (
        "umd.device_filter_env",
        {**shell(ONEAPI_DEVICE_SELECTOR="opencl:cpu"), "torch": {"distributions": {"intel-sycl-rt": "2026.2.0"}}},
        "",
        "fail: ONEAPI_DEVICE_SELECTOR=opencl:cpu (intel-sycl-rt 2026.2 finds not even a processor",
    ),
    ("umd.device_filter_env", {}, "", "ok: none set"),
    ("umd.device_filter_env", shell(ONEAPI_DEVICE_SELECTOR="opencl:*"), "", "fail: ONEAPI_DEVICE_SELECTOR=opencl:*"),
    ("umd.device_filter_env", shell(ONEAPI_DEVICE_SELECTOR="level_zero:0"), "", "info: level_zero:0"),
    (
        "umd.device_filter_env",
        shell(ONEAPI_DEVICE_SELECTOR="level_zero"),
        "",
        "fail: ONEAPI_DEVICE_SELECTOR=level_zero (level_zero names no",
    ),
    (
        "umd.device_filter_env",
        shell(ONEAPI_DEVICE_SELECTOR="levelzero:0"),
        "",
        "fail: ONEAPI_DEVICE_SELECTOR=levelzero:0 ('levelzero' is no",
    ),
    (
        "umd.device_filter_env",
        shell(ONEAPI_DEVICE_SELECTOR="level_zero:x"),
        "",
        "fail: ONEAPI_DEVICE_SELECTOR=level_zero:x ('x' names no",
    ),
    (
        "umd.device_filter_env",
        shell(ONEAPI_DEVICE_SELECTOR="level_zero:0;opencl:"),
        "",
        "fail: ONEAPI_DEVICE_SELECTOR=level_zero:0;opencl:",
    ),
    ("umd.device_filter_env", shell(ONEAPI_DEVICE_SELECTOR="*:gpu"), "", "info: *:gpu"),
    ("umd.device_filter_env", shell(ONEAPI_DEVICE_SELECTOR="!opencl:*"), "", "info: !opencl:*"),
    (
        "umd.device_filter_env",
        shell(ONEAPI_DEVICE_SELECTOR="level_zero:0.1,2.*;!level_zero:2.1"),
        "",
        "info: level_zero:0.1",
    ),
    ("umd.opencl_icd", shell(OCL_ICD_VENDORS="/opt/conda/etc/OpenCL/vendors"), "", "warn: OCL_ICD_VENDORS=/opt/conda"),
    ("umd.opencl_icd", shell(OCL_ICD_VENDORS="/etc/OpenCL/vendors"), "", "ok: "),
    (
        "umd.opencl_icd",
        {"notes": {"userland.opencl": f"intel64.icd names /opt/x/libintelocl.so{NOT_THERE}"}},
        "",
        "warn: intel64.icd names /opt/x/libintelocl.so, which is not there",
    ),
    (
        "umd.ze_init",
        {
            "userland": {
                **USERLAND,
                "level_zero": None,
                "sycl": ["Abort was called at 70 line in file: bindless_heaps_helper.cpp"],
            }
        },
        "",
        "fail: a program that uses the driver ends: Abort was called",
    ),
    ("umd.device_filter_env", shell(SYCL_DEVICE_FILTER="cpu"), "", "warn: SYCL_DEVICE_FILTER=cpu"),
    ("umd.device_filter_env", {**shell(ZE_AFFINITY_MASK="7"), **ladder(devices=[])}, "", "fail: ZE_AFFINITY_MASK=7"),
    ("umd.igpu_dgpu_mix", {}, "", ""),
    ("umd.igpu_dgpu_mix", gpu(CARD, INTEGRATED), "", "info: Arc B580"),
]
BUILDING: list[Case] = [
    ("dpclang.compiler", {}, "", ""),
    ("oneapi.prelude", {}, "", ""),
    (
        "oneapi.prelude",
        {"toolkits": {"found": []}, "notes": {"toolkits.prelude": "`module load x` ended with 127: module: not found"}},
        "fail: `module load x` ended with 127: module: not found",
        "",
    ),
    ("oneapi.mkl", {}, "ok: /opt/intel/oneapi/mkl", ""),
    ("oneapi.mkl", kit("compiler"), "warn: no /opt/intel/oneapi/mkl", ""),
    ("oneapi.pti", {}, "ok: /opt/intel/oneapi/pti", ""),
    ("oneapi.pti", kit("compiler"), "warn: no /opt/intel/oneapi/pti", ""),
    ("oneapi.pti", {"toolkits": {"found": [KIT]}}, "", ""),
    ("oneapi.ccl", {}, "ok: /opt/intel/oneapi/ccl", ""),
    ("oneapi.ccl", kit("compiler", "pti"), "info: no /opt/intel/oneapi/ccl", ""),
    ("oneapi.ccl", {**kit("compiler"), **gpu(CARD, INTEGRATED)}, "info: no /opt/intel/oneapi/ccl", ""),
    ("oneapi.ccl", {**kit("compiler"), **gpu(CARD, CARD)}, "warn: no /opt/intel/oneapi/ccl", ""),
    ("oneapi.ocloc", {}, "ok: /usr/bin/ocloc", ""),
    ("oneapi.ocloc", {"toolkits": {"ocloc": None}}, "fail: no ocloc on PATH or in the toolkit", ""),
    ("oneapi.ocloc", {"toolkits": {"ocloc": None, "found": [KIT]}}, "", ""),
    (
        "oneapi.ocloc",
        {"notes": {"toolkits.ocloc": NO_COMPILER}},
        "fail: /usr/bin/ocloc, and its graphics compiler is not here",
        "",
    ),
    ("oneapi.ocloc_knows_arch", {}, "ok: all that are built for", ""),
    ("oneapi.ocloc_knows_arch", {"toolkits": {"targets": ["pvc", "dg2"]}}, "warn: it does not know bmg, arl-h", ""),
    ("oneapi.ocloc_knows_arch", {"toolkits": {"targets": None}}, "", ""),
    ("oneapi.no_space_left_cache", {}, "", "ok: /home/me/.cache"),
    (
        "oneapi.no_space_left_cache",
        {"caches": [{"name": "driver", "path": "/c", "writable": False}]},
        "",
        "warn: /c may not be written to",
    ),
    (
        "oneapi.no_space_left_cache",
        {"caches": [{"name": "driver", "path": "/c", "writable": True, "free": GIB // 2}]},
        "",
        "warn: less than 1 GiB for /c",
    ),
    ("setvars.with_wheel", {}, "", "ok: none; intel-sycl-rt 2026.1.0"),
    (
        "setvars.with_wheel",
        shell(LD_LIBRARY_PATH="/opt/intel/oneapi/compiler/2025.3/lib"),
        "",
        "warn: /opt/intel/oneapi/compiler/2025.3/lib comes before intel-sycl-rt",
    ),
    (
        "setvars.with_wheel",
        {**shell(LD_LIBRARY_PATH="/opt/intel/oneapi/compiler/2025.3/lib"), **said(available=False, count=0)},
        "",
        "fail: /opt/intel/oneapi",
    ),
    ("runtime.ur_mixed", {}, "", ""),
    ("runtime.ur_mixed", torch(conflicts=[]), "", "ok: they fit together"),
    ("runtime.ur_mixed", torch(conflicts=[INSIDE, OVERWRITTEN]), "", "ok: they fit together"),
    (
        "runtime.ur_mixed",
        torch(conflicts=[OFFERS, HIDES]),
        "",
        (
            "fail: libsycl.so.9 (intel-sycl-rt 2026.1.0) needs urDeviceWaitExp and 6 more\n"
            f"found first: {ONEAPI}/libur_loader.so.0 (oneAPI compiler 2025.3), which lacks them\n"
            f"exported by: {VENV}/libur_loader.so.0\nand 1 more like it"
        ),
    ),
    (
        "runtime.ur_mixed",
        torch(conflicts=[OFFERS]),
        "",
        f"warn: the library path offers libsycl.so.8 beside libsycl.so.9\nfound first: {ONEAPI}/libsycl.so.8\n",
    ),
    ("runtime.libraries", {}, "", ""),
    ("runtime.libraries", torch(conflicts=[HIDES]), "", "ok: they fit together"),
    (
        "runtime.libraries",
        torch(conflicts=[{**HIDES, "first": "/opt/other/libpng16.so.16"}]),
        "",
        "fail: libsycl.so.9 (intel-sycl-rt 2026.1.0) needs urDeviceWaitExp and 6 more\nfound first: /opt/other/libpng",
    ),
    ("runtime.packages", {}, "", ""),
    ("runtime.packages", torch(conflicts=[HIDES, OLD_CXX]), "", "ok: they fit together"),
    (
        "runtime.packages",
        torch(conflicts=[INSIDE]),
        "",
        "fail: libsycl.so.9 (intel-sycl-rt 2026.1.0) needs urDeviceWaitExp and 6 more",
    ),
    (
        "runtime.packages",
        torch(conflicts=[MAJORS]),
        "",
        (
            "fail: libDPCTLSyclInterface.so (dpctl 0.22.1) needs libsycl.so.9, and another major of it is here\n"
            f"found first: {VENV}/libsycl.so.8 (intel-sycl-rt 2025.3.1)"
        ),
    ),
    (
        "runtime.packages",
        torch(conflicts=[OTHER_ABI]),
        "",
        "fail: _C.so (acme 1.0) is built for the other C++ ABI: it needs _ZN3c106detail14torchCheckFailEPKcS2_jRKSs",
    ),
    (
        "runtime.packages",
        torch(conflicts=[OTHER_ABI], misfits=[{"name": "acme", "version": "1.0", "reason": "was made for another"}]),
        "",
        "ok: they fit together",
    ),
    ("torch.fits", {}, "", ""),
    ("torch.fits", torch(misfits=[]), "", "ok: all that is linked with torch 2.14.1+xpu can be loaded"),
    (
        "torch.fits",
        torch(misfits=[{"name": name, "version": "1.0", "reason": "was made for another torch: no"} for name in "ab"]),
        "",
        "fail: a 1.0 was made for another torch: no\nb 1.0 too",
    ),
    ("runtime.files", {}, "", ""),
    ("runtime.files", torch(conflicts=[HIDES]), "", "ok: they fit together"),
    (
        "runtime.files",
        torch(conflicts=[OVERWRITTEN]),
        "",
        "fail: triton 3.5.0 and triton-xpu 3.6.0 both wrote triton/__init__.py and 233 more",
    ),
    ("runtime.gone", {}, "", ""),
    ("runtime.gone", torch(conflicts=[HIDES, OVERWRITTEN]), "", "ok: all that they list is there"),
    (
        "runtime.gone",
        torch(conflicts=[HIDES, LEFT]),
        "",
        "fail: triton-ascend 3.2.0 lists triton/__init__.py and 33 more, and that is not there",
    ),
    ("setvars.set_u", {}, "", ""),
    ("setvars.set_u", shell(SHELLOPTS="braceexpand:nounset"), "info: SHELLOPTS", ""),
    ("setvars.ld_duplicates", {}, "ok: at most one", "ok: at most one"),
    (
        "setvars.ld_duplicates",
        shell(LD_LIBRARY_PATH="/o/compiler/2025.3/lib:/o/compiler/2026.1/lib"),
        "warn: LD_LIBRARY_PATH holds 2025.3 and 2026.1",
        "warn: LD_LIBRARY_PATH holds 2025.3 and 2026.1",
    ),
    ("setvars.preinstalled_onednn", {}, "", ""),
    ("setvars.preinstalled_onednn", shell(DNNLROOT="/o/dnnl"), "info: DNNLROOT=/o/dnnl", ""),
    ("setvars.conda_libstdcxx", {}, "", ""),
    ("setvars.conda_libstdcxx", torch(glibcxx=29, glibcxx_system=33), "", "fail: GLIBCXX_3.4.29 in /home/me/venv"),
    ("setvars.conda_libstdcxx", torch(glibcxx=33, glibcxx_system=33), "", "ok: GLIBCXX_3.4.33"),
    ("setvars.conda_libstdcxx", torch(conflicts=[OLD_CXX]), "", "fail: libze_intel_gpu.so.1 needs GLIBCXX_3.4.32"),
    ("cc.libstdcxx_dev", {}, "ok: not set", ""),
    ("cc.libstdcxx_dev", shell(CXX="/opt/intel/bin/icpx"), "info: CXX=/opt/intel/bin/icpx: not passed on", ""),
    ("cc.libstdcxx_dev", shell(CXX="g++-13"), "ok: CXX=g++-13", ""),
    ("cmake.version", {}, "ok: the build brings 3.31.10", ""),
    ("cmake.version", {"tools": []}, "ok: the build brings 3.31.10", ""),
    ("cmake.version", {"tools": None}, "", ""),
    ("cmake.pip_vs_conda", {}, "", ""),
    ("cmake.pip_vs_conda", {"python": {"adopted": CONDA}}, "info: CMAKE_PREFIX_PATH does not hold /opt/conda", ""),
    (
        "cmake.pip_vs_conda",
        {"python": {"adopted": CONDA}, **shell(CMAKE_PREFIX_PATH="/opt/conda")},
        "ok: CMAKE_PREFIX_PATH holds /opt/conda",
        "",
    ),
    ("py.build_deps", {}, "", ""),
    ("py.build_deps", {"python": {"adopted": CONDA}}, "info: the build installs ", ""),
    ("py.numpy_abi", {}, "", "ok: numpy 2.3.1, torch 2.14.1+xpu"),
    ("py.numpy_abi", torch(version="2.1.0"), "", "warn: numpy 2.3.1, torch 2.1.0"),
    ("net.git_reach", {}, "", ""),
    ("net.git_reach", {"network": {"reach": {"github.com": True}}}, "ok: github.com", ""),
    (
        "net.git_reach",
        {"network": {"reach": {"github.com": False, "a.org": True}}},
        "fail: no answer from github.com",
        "",
    ),
    ("net.git_reach", {"network": {"routed": False}}, "fail: no route leads out of this machine", ""),
    ("net.git_reach", {"network": {"routed": False, "indexes": {"PIP_INDEX_URL": "file:///m"}}}, "fail: no route", ""),
    (
        "net.git_reach",
        {
            "network": {
                "routed": False,
                "indexes": {"PIP_INDEX_URL": "file:///m"},
                "redirects": {"file:///g/": "https://github.com/"},
            }
        },
        "warn: no route leads out of this machine; all has to come from PIP_INDEX_URL",
        "",
    ),
    (
        "net.git_reach",
        {
            "network": {
                "routed": False,
                "indexes": {"PIP_INDEX_URL": "https://mirror.example/simple"},
                "redirects": {"https://mirror.example/": "https://github.com/"},
            }
        },
        "fail: no route",
        "",
    ),
    ("net.git_reach", {"network": {"routed": False, "proxies": {"https_proxy": "http://localhost:9"}}}, "", ""),
    ("res.wheels_disk", {"torch": None}, "", "ok: 500 GiB free at /home/me (wheels need 4 to 8 GiB, a guess)"),
    (
        "res.wheels_disk",
        {"torch": None, "resources": {"disks": [{**DISK, "free": GIB}]}},
        "",
        "fail: 1 GiB free at /home/me (wheels need 4 to 8 GiB, a guess)",
    ),
    (
        "res.wheels_disk",
        {
            "torch": None,
            "resources": {
                "disks": [
                    {**DISK, "path": "/src", "mount": "/src", "holds": ["sources"], "free": 0},
                    {**DISK, "holds": ["environment"], "free": 3 * GIB},
                    {**DISK, "path": "/local", "mount": "/local", "holds": ["temporary"], "free": 3 * GIB},
                ]
            },
        },
        "",
        "warn: 3 GiB free at /home/me (wheels need 2.4 to 4.8 GiB, a guess)",
    ),
    ("res.wheels_disk", {}, "", ""),
    ("net.wheels_reach", {"network": {"routed": False}}, "", ""),
    ("net.wheels_reach", {"network": {"routed": False}, "torch": None}, "", "fail: no route leads out of this machine"),
    ("net.wheels_reach", {"network": {"reach": {"github.com": False}}, "torch": None}, "", ""),
    (
        "net.wheels_reach",
        {"network": {"reach": {"pypi.org": False}, "redirects": {"a": "b"}}, "torch": None},
        "",
        "fail: no",
    ),
    (
        "net.wheels_reach",
        {"network": {"reach": {"pypi.org": False}, "indexes": {"PIP_INDEX_URL": "https://m/"}}, "torch": None},
        "",
        "warn: no",
    ),
    ("net.proxy", {}, "", ""),
    ("net.proxy", {"network": {"proxies": {"no_proxy": "x"}}}, "", ""),
    ("net.proxy", {"network": {"proxies": {"HTTPS_PROXY": "http://p"}}}, "warn: set in capital letters alone", ""),
    ("net.proxy", {"network": {"proxies": {"http_proxy": "http://p"}}}, "warn: set for http and not for https", ""),
    ("net.proxy", {"network": {"proxies": {"https_proxy": "http://p"}}}, "info: https_proxy", ""),
    ("net.credentials", {}, "", ""),
    ("net.credentials", {"network": {"credentials": ["https_proxy"]}}, "info: https_proxy", ""),
    ("net.redirects", {}, "", ""),
    (
        "net.redirects",
        {"network": {"redirects": {"https://m/": "https://github.com/"}, "indexes": {"PIP_INDEX_URL": "https://i"}}},
        "info: https://github.com/ is https://m/, PIP_INDEX_URL = https://i",
        "",
    ),
    ("net.submodules", {"tree": TREE}, "ok: complete", ""),
    ("net.submodules", {"tree": {**TREE, "submodules": ["third_party/kineto"]}}, "warn: 1 are empty", ""),
    ("net.submodules", {}, "", ""),
    ("net.tarball_checkout", {"tree": TREE}, "", ""),
    ("net.tarball_checkout", {"tree": {**TREE, "git": False}}, "warn: /home/me/pytorch has no .git", ""),
    ("cmake.stale_cache", {"tree": TREE}, "ok: of this folder", ""),
    (
        "cmake.stale_cache",
        {"tree": {**TREE, "cache": {"CMAKE_HOME_DIRECTORY": "/old"}}},
        "warn: /home/me/pytorch/build was configured for /old",
        "",
    ),
    ("cmake.stale_cache", {}, "", ""),
    ("src.dir_name", {"tree": TREE}, "ok: /home/me/pytorch", ""),
    ("src.dir_name", {"tree": {**TREE, "path": "/s/pytorch-2.4.1", "version": "2.4.1"}}, "warn: /s/pytorch-2.4.1", ""),
    ("src.dir_name", {"tree": {**TREE, "path": "/s/py3.11/pt", "version": "2.4.0"}}, "warn: /s/py3.11/pt", ""),
    ("src.dir_name", {"tree": {**TREE, "path": "/s/pytorch-2.5.1", "version": "2.5.1"}}, "ok: /s/pytorch-2.5.1", ""),
    ("src.path", {}, "", ""),
    ("cc.gcc_fault", {}, "", ""),
    ("cc.gcc_fault", {"tools": with_gcc("g++ (GCC) 16.1.1 20260430")}, "warn: 16.1.1", ""),
    ("cc.gcc_warning", {}, "", ""),
    ("src.frontend", {"tree": TREE}, "info: /home/me/pytorch is 2.14.0a0", ""),
    ("src.frontend", {"tree": {**TREE, "version": "2.5.1"}}, "", ""),
    ("src.torch_dir_shadow", {"tree": TREE}, "", ""),
    ("src.torch_dir_shadow", {"tree": {**TREE, "in_use": True}}, "", "warn: /home/me/pytorch"),
]
MODULES = dict.fromkeys(("habanalabs", "habanalabs_cn", "habanalabs_en", "habanalabs_ib"), "1.24.1-3bf9e81")
HABANA = {**gpu(GAUDI), "kernel": {"modules": MODULES}, "gaudi": {"nodes": ["/dev/accel/accel0"], "driver": "1.24.1"}}
ENVIRONMENTS: list[Case] = [
    ("autoload.entry_points", {}, "", ""),
    ("autoload.entry_points", torch(entry_points=SIM), "", "ok: simxpu of simxpu 0.1.0"),
    ("autoload.entry_points", torch(entry_points=NPU), "", "warn: torch_npu serves hardware that is not here"),
    (
        "autoload.entry_points",
        torch(entry_points=SIM, report={"seconds": 1, "error": BROKEN}),
        "",
        "fail: simxpu of simxpu: OSError: libx.so",
    ),
    (
        "autoload.entry_points",
        torch(entry_points=NPU, report={"seconds": 1, "error": BROKEN.replace("libx.so", "libhccl.so")}),
        "",
        "fail: simxpu of simxpu: OSError: libhccl.so",
    ),
    (
        "autoload.entry_points",
        {**torch(entry_points=NPU), **shell(TORCH_DEVICE_BACKEND_AUTOLOAD="0")},
        "",
        "info: switched off by TORCH_DEVICE_BACKEND_AUTOLOAD=0",
    ),
    ("autoload.build_time", {}, "", ""),
    ("autoload.build_time", torch(entry_points=SIM), "", "info: builds switch it off"),
    ("hpu.present", {}, "", ""),
    ("hpu.present", HABANA, "info: 1 x ", "info: 1 x "),
    ("hpu.modules", {}, "", ""),
    ("hpu.modules", HABANA, "", "ok: 1.24.1"),
    ("hpu.modules", {**HABANA, "kernel": {"modules": {}}}, "", "fail: not loaded: habanalabs, habanalabs_cn"),
    ("hpu.modules", {**HABANA, "gaudi": {"nodes": []}}, "", "fail: no device node"),
    (
        "hpu.modules",
        {**HABANA, "kernel": {"modules": {k: v for k, v in MODULES.items() if k != "habanalabs_ib"}}},
        "",
        "warn: not loaded: habanalabs_ib",
    ),
    (
        "hpu.modules",
        {
            **HABANA,
            "gaudi": {"nodes": []},
            "kernel": {"modules": MODULES, "messages": ["habanalabs hl0: Failed to load firmware file"]},
        },
        "",
        "fail: no device node; the kernel says: habanalabs hl0: Failed to load firmware file",
    ),
    ("hpu.release", {}, "", ""),
    ("hpu.release", {**HABANA, "gaudi": {"nodes": []}}, "", ""),
    ("hpu.release", HABANA, "", "ok: driver 1.24.1"),
    ("hpu.release", {**HABANA, **installed(habana_torch_plugin="1.24.1.482")}, "", "ok: driver 1.24.1"),
    (
        "hpu.release",
        {**HABANA, **installed(habana_torch_plugin="1.23.0.695")},
        "",
        "fail: driver 1.24.1, habana-torch-plugin 1.23.0.695",
    ),
    ("hpu.acquire", {}, "", ""),
    ("hpu.acquire", HABANA, "", "ok: no failure"),
    (
        "hpu.acquire",
        {**HABANA, **said(error="RuntimeError: synStatus=20 [Device already acquired] Device acquire failed.")},
        "",
        "fail: synStatus=20",
    ),
    ("hpu.lazy_mode", {}, "", ""),
    ("hpu.lazy_mode", HABANA, "", "info: PT_HPU_LAZY_MODE is not set"),
    (
        "hpu.lazy_mode",
        {**HABANA, **installed(habana_torch_plugin="1.20.1.97")},
        "",
        "info: PT_HPU_LAZY_MODE is not set: lazy mode",
    ),
    (
        "hpu.lazy_mode",
        {**HABANA, **installed(habana_torch_plugin="1.24.1.482")},
        "",
        "info: PT_HPU_LAZY_MODE is not set: eager mode",
    ),
    ("hpu.lazy_mode", {**HABANA, **shell(PT_HPU_LAZY_MODE="2")}, "", "warn: PT_HPU_LAZY_MODE=2"),
    ("hpu.torch_fork", {}, "", ""),
    ("hpu.torch_fork", installed(habana_torch_plugin="1.24.1"), "", "fail: torch 2.14.1+xpu"),
    ("npu.present", {}, "", ""),
    ("npu.present", gpu(ASCEND), "info: 1 x ", "info: 1 x "),
    ("npu.cann_env", {}, "", ""),
    ("npu.cann_env", gpu(ASCEND), "", "fail: ASCEND_HOME_PATH is not set"),
    ("npu.cann_env", {**gpu(ASCEND), **shell(ASCEND_HOME_PATH="/a")}, "", "ok: /a"),
    ("npu.torch", {}, "", ""),
    ("npu.torch", installed(torch_npu="2.14.0.post1"), "", "ok: torch-npu 2.14.0.post1 beside torch 2.14.1+xpu"),
    ("npu.torch", installed(torch_npu="2.8.0.post2"), "", "fail: torch-npu 2.8.0.post2 beside torch 2.14.1+xpu"),
    ("npu.two_accelerators", {}, "", ""),
    ("npu.two_accelerators", installed(torch_npu="2.14.0"), "", "fail: torch-npu 2.14.0 beside torch 2.14.1+xpu"),
    (
        "npu.two_accelerators",
        {**installed(torch_npu="2.14.0"), **shell(TORCH_DEVICE_BACKEND_AUTOLOAD="0")},
        "",
        "ok: torch-npu",
    ),
    ("torch.is_xpu_build", {}, "", "ok: 2.14.1+xpu in /home/me/venv, XPU 20260100"),
    ("torch.is_xpu_build", torch(version=None), "", "info: no torch in /home/me/venv"),
    (
        "torch.is_xpu_build",
        {**torch(version="2.13.0+cpu", xpu="", report=None, distributions={"torch-npu": "2.13.0"}), **gpu(ASCEND)},
        "",
        "info: 2.13.0+cpu in /home/me/venv is a CPU build, as torch-npu wants it",
    ),
    (
        "torch.is_xpu_build",
        torch(version="2.13.0+cpu", xpu="", report=None),
        "",
        "fail: 2.13.0+cpu in /home/me/venv is a CPU",
    ),
    (
        "torch.is_xpu_build",
        torch(version="2.13.0", xpu="", cuda="13.0", report=None),
        "",
        "fail: 2.13.0 in /home/me/venv is a CUDA 13.0 build",
    ),
    ("torch.pip_sycl_wheels", {}, "", "ok: 2 as pinned"),
    (
        "torch.pip_sycl_wheels",
        installed(intel_sycl_rt="2026.2.0"),
        "",
        "fail: intel-sycl-rt 2026.2.0 instead of 2026.1.0",
    ),
    ("torch.pip_sycl_wheels", torch(requires=[]), "", ""),
    ("torch.libsycl_links", {}, "", "ok: /home/me/venv/lib/libsycl.so.9"),
    ("torch.libsycl_links", torch(libraries={}), "", "fail: libsycl.so.9 is neither in /home/me/venv"),
    ("torch.libsycl_links", torch(sycl=["libsycl.so.8", "libsycl.so.9"]), "", "fail: torch asks for libsycl.so.8 and"),
    ("torch.ipex", {}, "", ""),
    ("torch.ipex", installed(intel_extension_for_pytorch="2.8.10"), "", "warn: 2.8.10 beside torch 2.14.1+xpu"),
    ("torch.ipex", installed(intel_extension_for_pytorch="2.14.10"), "", "info: 2.14.10"),
    (
        "torch.ipex",
        torch(distributions={"intel-extension-for-pytorch": "2.1.40+xpu"}, version="2.5.1", report=None),
        "",
        "fail: 2.1.40+xpu beside torch 2.5.1",
    ),
    ("torch.companions", {}, "", ""),
    ("torch.companions", installed(torchvision="0.29.1+xpu"), "", "ok: torchvision"),
    (
        "torch.companions",
        installed(torchvision="0.29.1+cpu"),
        "",
        "warn: torchvision 0.29.1+cpu beside torch",
    ),
    (
        "torch.companions",
        torch(distributions={"torchvision": "0.23.0+xpu"}, report=None),
        "",
        "fail: torchvision 0.23.0+xpu beside torch 2.14.1+xpu",
    ),
    (
        "torch.companions",
        torch(version="2.15.0+xpu", distributions={"torchvision": "0.29.2+xpu"}),
        "",
        "ok: torchvision",
    ),
    (
        "torch.companions",
        torch(version="2.10.0+xpu", distributions={"torchaudio": "2.11.0+xpu"}, report=None),
        "",
        "fail: torchaudio 2.11.0+xpu beside torch 2.10.0+xpu",
    ),
    (
        "torch.companions",
        torch(distributions={"torchaudio": "2.12.0+xpu"}, asked={"torchaudio": ">=2.15"}, report=None),
        "",
        "fail: torchaudio 2.12.0+xpu beside torch 2.14.1+xpu",
    ),
    ("torch.older_than_gpu", {}, "", ""),
    (
        "torch.older_than_gpu",
        torch(version="2.5.1+xpu", report={**REPORT, "available": False, "count": 0}),
        "",
        "fail: torch 2.5.1+xpu is older than Arc B580 (Battlemage) at 0000:03:00.0: the first that serves it is 2.7",
    ),
    (
        "torch.older_than_gpu",
        torch(version="2.5.1+xpu", report=None),
        "",
        "warn: torch 2.5.1+xpu is older than Arc B580",
    ),
    ("torch.abi", {}, "", "ok: C++11 ABI"),
    ("torch.abi", said(cxx11_abi=False), "", "warn: the old C++ ABI"),
    ("torch.abi", shell(_GLIBCXX_USE_CXX11_ABI="0"), "", "warn: _GLIBCXX_USE_CXX11_ABI=0 is set"),
    ("torch.fallback_env", {}, "", ""),
    ("torch.fallback_env", shell(PYTORCH_DEBUG_XPU_FALLBACK="1"), "", "info: PYTORCH_DEBUG_XPU_FALLBACK=1"),
    ("torch.fallback_env", shell(PYTORCH_DEBUG_XPU_FALLBACK="yes"), "", "fail: PYTORCH_DEBUG_XPU_FALLBACK=yes"),
    ("torch.import", {}, "", "ok: torch 2.14.1+xpu imports"),
    ("torch.import", said(error="ImportError: libsycl.so.9: no version"), "", "fail: ImportError: libsycl.so.9"),
    (
        "torch.import",
        said(error="ModuleNotFoundError: No module named 'einops'"),
        "",
        "info: torch 2.14.1+xpu imports and lists a device; another module does not: ModuleNotFoundError: No module",
    ),
    ("torch.import", torch(report=None), "", ""),
    ("torch.available", {}, "", "ok: Intel(R) Arc(TM) B580 Graphics"),
    ("torch.available", said(available=False, count=0), "", "fail: torch.xpu.is_available() is False"),
    (
        "torch.available",
        said(available=False, count=0, messages=["XPU device count is zero!"]),
        "",
        "fail: no device: XPU device count is zero!",
    ),
    ("torch.available", said(compiled=False), "", ""),
    ("triton.package", {}, "", "ok: triton-xpu 3.8.0"),
    ("triton.package", installed(triton="3.7.0"), "", "fail: triton 3.7.0, triton-xpu 3.8.0"),
    (
        "triton.package",
        torch(distributions={"triton": "3.7.0", "torch": "2.14.1+xpu"}),
        "",
        "warn: triton 3.7.0, wanted: triton-xpu",
    ),
    ("triton.compiler", {}, "", "ok: /usr/bin/g++"),
    ("triton.compiler", {"tools": without_tool("g++")}, "", f"ok: {KIT['compiler']}"),
    ("triton.compiler", {"tools": without_tool("g++"), "toolkits": {"found": []}}, "", "fail: neither g++"),
    ("triton.ze_headers", {}, "", "ok: /usr/include/level_zero/ze_api.h"),
    ("triton.ze_headers", {"userland": {"headers": []}}, "", "warn: no level_zero/ze_api.h"),
]
SHOWN: list[Case] = [
    ("sys.glibc", {}, "", ""),
    ("sys.glibc", {"system": {"families": ["alpine"]}, "torch": None}, "fail: Ubuntu", "fail: Ubuntu"),
    ("perm.not_a_device", {}, "", ""),
    (
        "perm.not_a_device",
        {"hardware": {"fakes": ["/dev/dri/renderD128"], "nodes": []}},
        "",
        "fail: /dev/dri/renderD128",
    ),
    ("perm.not_a_device", {"hardware": {"fakes": ["/dev/dri/renderD129"]}}, "", "warn: /dev/dri/renderD129"),
    ("umd.not_listed", {}, "", ""),
    ("umd.not_listed", gpu(CARD, ALCHEMIST), "", "fail: Level Zero lists"),
    ("umd.not_listed", gpu(CARD, INTEGRATED), "", ""),
]
CASES = [*DEVICES, *DRIVER, *BUILDING, *ENVIRONMENTS, *SHOWN]
