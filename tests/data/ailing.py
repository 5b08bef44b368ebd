"""Whole machines by name: well ones, and what ails the others. Their causes are in `data.outcomes`."""

from __future__ import annotations

import copy
from dataclasses import replace
from typing import Any

from data.fleet import (
    A770,
    ARCH,
    B60,
    B580,
    CLIENT,
    COFFEE,
    DEBIAN_12,
    LUNAR,
    MAX,
    METEOR,
    NO_TORCH,
    PANTHER,
    RHEL_9,
    SLES_15,
    TIGER,
    UBUNTU_22,
    UBUNTU_24,
    UBUNTU_26,
    Doc,
    healthy,
    kit,
    nodes_of,
    toolkits,
)
from data.machines import GIB, NVIDIA
from data.well import ASCEND, GAUDI

UNINITIALIZED = 0x78000001
NO_DEVICE = "XPU device count is zero! (Triggered internally at /pytorch/c10/xpu/XPUFunctions.cpp:117.)"
NO_DRIVER: Doc = {
    "userland.packages": {},
    "userland.libraries": {"libstdc++.so.6": "/usr/lib/x86_64-linux-gnu/libstdc++.so.6"},
    "userland.level_zero": {
        "loader": None,
        "error": "libze_loader.so.1: cannot open shared object file: No such file or directory",
        "init": None,
        "drivers": None,
        "devices": [],
    },
    "userland.opencl": {},
    "userland.sycl": None,
    "userland.clinfo": None,
    "userland.headers": [],
}
NO_DRIVER_RPM: Doc = {**NO_DRIVER, "userland.libraries": {"libstdc++.so.6": "/usr/lib64/libstdc++.so.6"}}
NO_GPU_SEEN: Doc = {
    "userland.level_zero.init": UNINITIALIZED,
    "userland.level_zero.drivers": None,
    "userland.level_zero.devices": [],
    "userland.sycl": [],
    "userland.clinfo": [],
}
NO_GPU_IN_TORCH: Doc = {
    "torch.report.available": False,
    "torch.report.count": 0,
    "torch.report.devices": [],
    "torch.report.messages": [NO_DEVICE],
}
BLIND: Doc = {**NO_GPU_SEEN, **NO_GPU_IN_TORCH}
NO_KIT: Doc = {"toolkits": toolkits(ocloc=None)}
BARE: Doc = {"torch": None, "notes": {"torch": NO_TORCH}, **NO_KIT}
"""Nothing of PyTorch or oneAPI was ever installed."""
UNOPENED: Doc = {"hardware.nodes": [{**nodes_of(B580)[0], "openable": False}], **BLIND}
ONE_LIB = "/opt/intel/oneapi/compiler/2025.3/lib"
TREE: Doc = {
    "path": "/home/me/pytorch",
    "version": "2.14.0a0",
    "git": True,
    "in_use": False,
    "submodules": [],
    "cache": None,
    "setup_py": True,
}
DKMS: Doc = {"kernel.modules": {"i915": "1.25.2.25.2523"}, "kernel.dkms": ["i915"]}
WSL: Doc = {
    "system.kernel": "6.6.87.2-microsoft-standard-WSL2",
    "kernel.release": "6.6.87.2-microsoft-standard-WSL2",
    "kernel.modules": {"dxgkrnl": None},
    "kernel.claims": None,
    "kernel.firmware": None,
    "kernel.messages": None,
    "hardware": {"gpus": [], "nodes": []},
    "container": {"kind": "wsl2", "details": {"/dev/dxg": "there", "/usr/lib/wsl/lib/libdxcore.so": "there"}},
}
GONE: Doc = {"kernel.claims": {}, "kernel.messages": []}
ICD = "/usr/lib/x86_64-linux-gnu/intel-opencl/libigdrcl.so"


def but(machine: Doc, *changes: Doc) -> Doc:
    """Give a machine with other values, named by their path: {"kernel.modules": {}}."""
    made = copy.deepcopy(machine)
    for path, value in (pair for change in changes for pair in change.items()):
        *folders, name = path.split(".")
        place = made
        for folder in folders:
            place = place[folder]
        place[name] = copy.deepcopy(value)
    return made


def _torch(machine: Doc, *changes: Doc, distributions: dict[str, str | None]) -> Doc:
    """Give a machine whose environment holds other distributions; None takes one away."""
    merged: dict[str, Any] = {**machine["torch"]["distributions"], **distributions}
    there = {name: version for name, version in sorted(merged.items()) if version}
    return but(machine, {"torch.distributions": there}, *changes)


def _published(version: str, local: str) -> Doc:
    """Give another index's torch: nothing of Intel's beside it."""
    cuda = f"{local[2:-1]}.{local[-1]}" if local.startswith("cu") else ""
    return {
        "torch.version": f"{version}+{local}",
        "torch.xpu": "",
        "torch.cuda": cuda,
        "torch.requires": [],
        "torch.sycl": [],
        "torch.libraries": {},
        "torch.report.version": f"{version}+{local}",
        "torch.report.xpu": None,
        "torch.report.cuda": cuda or None,
        "torch.report.compiled": False,
        "torch.report.available": False,
        "torch.report.count": 0,
        "torch.report.devices": [],
    }


STATION = healthy(UBUNTU_24, B580)
NEW = but(healthy(UBUNTU_24, B580), BARE)
OLD_KERNEL = replace(UBUNTU_24, kernel="6.8.0-31-generic")
INTEL_NPU = {**B580, "address": "0000:00:0b.0", "device": "7d1d", "pci_class": "120000", "driver": "intel_vpu"}
"""Its node is /dev/accel/accel0, where Gaudi's are."""
LOST = {**B580, "driver": None}
ALONE: dict[str, str | None] = {"intel-sycl-rt": None, "intel-cmplr-lib-ur": None, "triton-xpu": None}
NPU = {"name": "torch_npu", "value": "torch_npu:_autoload", "distribution": "torch-npu", "version": "2.14.0"}
HPU = {
    "name": "device_backend",
    "value": "habana_frameworks:__autoload",
    "distribution": "habana-torch-plugin",
    "version": "1.24.1.14",
}
NOT_LOADED = "RuntimeError: Failed to load the backend extension: {0}. You can disable; because {1}"

WELL: dict[str, Doc] = {
    "max1550-ubuntu-22.04": but(healthy(UBUNTU_22, *MAX, release="2.12.1", oneapi="2025.3.1"), DKMS),
    "max1550-sles-15": but(healthy(SLES_15, *MAX, release="2.12.1", oneapi="2025.3.1"), DKMS),
    "max1550-asked-for-2.14": but(healthy(RHEL_9, *MAX, release="2.12.1", oneapi="2025.3.1"), DKMS),
    "b580-ubuntu-24.04": STATION,
    "b580-without-oneapi": healthy(UBUNTU_24, B580, oneapi=""),
    "b580-asked-for-2.5": STATION,
    "b580-asked-for-2.6": NEW,
    "a770-ubuntu-24.04": healthy(UBUNTU_24, A770),
    "four-b60": healthy(UBUNTU_24, *B60),
    "igpu-and-b580": healthy(UBUNTU_24, METEOR, B580),
    "lunar-lake": but(healthy(UBUNTU_24, LUNAR, oneapi=""), {"resources.memory": 32 * GIB, "resources.cpus": 8}),
    "meteor-lake": healthy(UBUNTU_24, METEOR, oneapi=""),
    "panther-lake": healthy(UBUNTU_26, PANTHER, oneapi=""),
    "wsl2": but(healthy(UBUNTU_24, B580, oneapi=""), WSL),
    "cluster-modules": but(
        healthy(SLES_15, *MAX, release="2.12.1", oneapi=""),
        DKMS,
        {
            "toolkits.found": [kit("2025.3.1", "/apps/intel/2025.3")],
            "toolkits.searched": ["/apps/intel/2025.3"],
            "environment": {"LOADEDMODULES": "oneapi/2025.3:cmake/3.30", "ONEAPI_ROOT": "/apps/intel/2025.3"},
        },
    ),
    "gcc-16": but(
        healthy(ARCH, B580),
        {
            "tools": [
                {"name": "g++", "path": "/usr/bin/g++", "version": "g++ (GCC) 16.1.1 20260430"},
                {"name": "git", "path": "/usr/bin/git", "version": "git version 2.53.0"},
            ]
        }
        | {"system.kernel": "7.0.1-arch1-1"},
    ),
}

KERNEL: dict[str, Doc] = {
    "b580-kernel-6.8": but(
        healthy(OLD_KERNEL, LOST), BARE, NO_DRIVER, {"kernel.claims": {"e20b": []}, "kernel.messages": []}
    ),
    "b580-small-bar": but(healthy(UBUNTU_24, {**B580, "bar": 256 << 20}), BLIND),
    "a770-small-bar": healthy(UBUNTU_24, {**A770, "bar": 256 << 20}),
    "i915-blacklisted": but(
        healthy(UBUNTU_24, {**A770, "driver": None}), BLIND, {"kernel.blacklisted": ["i915"], "kernel.messages": []}
    ),
    "force-probe-missing": but(
        healthy(replace(UBUNTU_24, kernel="6.11.0-29-generic"), {**PANTHER, "driver": None}, oneapi=""),
        BLIND,
        {
            "kernel.claims": {"b080": ["xe"]},
            "kernel.messages": [
                "xe 0000:00:02.0: Your graphics device b080 is not properly supported by xe in this kernel version."
            ],
        },
    ),
    "max1550-without-dkms": but(
        healthy(UBUNTU_22, *({**each, "driver": None} for each in MAX), release="2.12.1", oneapi="2025.3.1"),
        BLIND,
        {"kernel.modules": {"i915": None}, "kernel.claims": {"0bd5": []}, "kernel.messages": []},
    ),
    "firmware-missing": but(
        healthy(UBUNTU_24, LOST),
        BLIND,
        {
            "kernel.modules": {"xe": None},
            "kernel.firmware": ["i915/dg2_guc_70.bin"],
            "kernel.messages": [
                "xe 0000:03:00.0: Direct firmware load for xe/bmg_guc_70.bin failed with error -2",
                "xe 0000:03:00.0: [drm] *ERROR* GuC firmware xe/bmg_guc_70.bin: fetch failed with error -ENOENT",
            ],
        },
    ),
    "guc-fails": but(
        healthy(UBUNTU_24, A770),
        BLIND,
        {
            "kernel.messages": [
                "i915 0000:03:00.0: [drm] GT0: GuC firmware i915/dg2_guc_70.bin version 70.20.0",
                "i915 0000:03:00.0: [drm] GT0: GUC: load failed: status = 0x40000056, time = 0ms",
                "i915 0000:03:00.0: [drm] *ERROR* GT0: GuC initialization failed -ENOEXEC",
                "i915 0000:03:00.0: [drm] *ERROR* GT0: Failed to initialize GPU, declaring it wedged!",
            ]
        },
    ),
    "wedged-and-closed": but(
        healthy(UBUNTU_24, B580),
        UNOPENED,
        {
            "kernel.messages": [
                "xe 0000:03:00.0: [drm] *ERROR* Tile0: GT0: reset failed (-ETIMEDOUT)",
                "xe 0000:03:00.0: [drm] *ERROR* CRITICAL: Xe has declared device 0000:03:00.0 as wedged.",
            ]
        },
    ),
    "arch-driver-of-2023": but(
        healthy(ARCH, B580, release="2.14.1"),
        BLIND,
        {"userland.packages": {"intel-compute-runtime": "23.48.27912.11-1", "level-zero-loader": "1.15.8-1"}},
    ),
    "program-aborts": but(
        healthy(UBUNTU_24, B580),
        BLIND,
        {
            "userland.level_zero": None,
            "userland.sycl": ["Abort was called at 15 line in file: ./shared/source/gmm_helper/resource_info.cpp"],
        },
    ),
    "selector-without-devices": but(
        healthy(UBUNTU_24, B580),
        NO_GPU_IN_TORCH,
        {"environment": {"ONEAPI_DEVICE_SELECTOR": "level_zero"}, "userland.sycl": None},
    ),
    "loader-of-another-release": but(
        healthy(UBUNTU_24, B580),
        {
            "torch.report": {
                **dict.fromkeys(("version", "xpu", "cuda", "compiled", "available", "count", "cxx11_abi")),
                "error": "ImportError: /home/me/venv/lib/libsycl.so.9: version `LIBUR_LOADER_0.12' not found",
                "messages": [],
                "seconds": 1.1,
                "devices": [],
            },
            "environment": {"LD_LIBRARY_PATH": "/opt/intel/compiler/2025.0/lib"},
        },
    ),
    "gpu-given-to-a-guest": but(
        healthy(UBUNTU_24, {**B580, "driver": "vfio-pci"}), BLIND, {"kernel.modules": {"xe": None}}
    ),
    "coffee-lake": but(healthy(UBUNTU_22, COFFEE), BARE, NO_DRIVER),
    "tiger-lake": but(healthy(UBUNTU_24, TIGER), BARE),
}

ACCESS: dict[str, Doc] = {
    "container-without-node": but(STATION, {"container.kind": "docker", "hardware.nodes": []}, BLIND),
    "container-wrong-gid": but(
        STATION, UNOPENED, {"container.kind": "docker", "system.groups": [1000], "system.joined": []}
    ),
    "render-group-missing": but(STATION, UNOPENED, {"system.groups": [27, 1000], "system.joined": [27]}),
    "session-older": but(STATION, UNOPENED, {"system.groups": [27, 1000]}),
    "wsl2-without-dxg": but(
        healthy(UBUNTU_24, B580, oneapi=""),
        WSL,
        BLIND,
        {"container.details": {"/dev/dxg": "not there", "/usr/lib/wsl/lib/libdxcore.so": "there"}},
    ),
    "wsl2-old-driver": but(
        healthy(UBUNTU_24, B580, oneapi=""),
        WSL,
        BLIND,
        {
            "userland.sycl": ["Abort was called at 44 line in file: ../shared/source/os_interface/os_interface.h"],
            "userland.level_zero.init": None,
            "userland.level_zero.error": "the process ended by signal 6",
        },
    ),
    "driver-mixed": but(
        STATION,
        {
            "userland.packages": {
                "intel-level-zero-gpu": "1.3.29735.27-914~22.04",
                "intel-opencl-icd": CLIENT,
                "libigc1": "1.0.17791.16-1032~22.04",
                "libigc2": "2.20.3-1",
                "libze-intel-gpu1": CLIENT,
                "libze1": "1.24.3-1",
            },
            "userland.broken": ["intel-level-zero-gpu"],
            "userland.level_zero.init": 0x70020000,
            "userland.level_zero.drivers": None,
            "userland.level_zero.devices": [],
        },
        NO_GPU_IN_TORCH,
    ),
    "stock-driver": but(
        STATION,
        {
            "userland.packages": {
                "intel-opencl-icd": "23.43.27642.40-1ubuntu3",
                "libigc1": "1.0.15468.25-2build1",
                "libze-intel-gpu1": "23.43.27642.40-1ubuntu3",
                "libze1": "1.16.1-1",
            },
            "userland.libraries": {
                "libigc.so.1": "/usr/lib/x86_64-linux-gnu/libigc.so.1",
                "libze_intel_gpu.so.1": "/usr/lib/x86_64-linux-gnu/libze_intel_gpu.so.1",
                "libze_loader.so.1": "/usr/lib/x86_64-linux-gnu/libze_loader.so.1",
            },
        },
        BLIND,
    ),
    "zeinit-fails": but(STATION, BLIND),
    "only-opencl": but(
        STATION,
        {
            "userland.packages": {"intel-opencl-icd": CLIENT, "libigc2": "2.20.3-1", "libze1": "1.24.3-1"},
            "userland.libraries": {
                "libigc.so.2": "/usr/lib/x86_64-linux-gnu/libigc.so.2",
                "libze_loader.so.1": "/usr/lib/x86_64-linux-gnu/libze_loader.so.1",
            },
        },
        BLIND,
        {"userland.sycl": ["[opencl:gpu][opencl:0] Intel(R) OpenCL Graphics, Intel(R) Arc(TM) B580 Graphics"]},
        {"userland.opencl": {"intel.icd": ICD}},
    ),
    "filter-hides-it": but(
        STATION,
        NO_GPU_IN_TORCH,
        {
            "environment": {"ONEAPI_DEVICE_SELECTOR": "opencl:gpu"},
            "userland.sycl": ["[opencl:gpu][opencl:0] Intel(R) OpenCL Graphics, Intel(R) Arc(TM) B580 Graphics"],
        },
    ),
}

SOFTWARE: dict[str, Doc] = {
    "setvars-beside-wheels": but(
        STATION,
        {
            "environment": {"LD_LIBRARY_PATH": f"{ONE_LIB}:/opt/intel/oneapi/tbb/2022.3/lib", "SETVARS_COMPLETED": "1"},
            "userland.libraries": {
                **STATION["userland"]["libraries"],
                "libur_loader.so.0": f"{ONE_LIB}/libur_loader.so.0",
            },
            "torch.report": {
                **dict.fromkeys(("version", "xpu", "cuda", "compiled", "available", "count", "cxx11_abi")),
                "error": "ImportError: libsycl.so.9: undefined symbol: urDeviceWaitExp, version LIBUR_LOADER_0.12",
                "messages": [],
                "seconds": 1.1,
                "devices": [],
            },
        },
    ),
    "two-sycl-runtimes": but(
        STATION,
        {
            "environment": {"LD_LIBRARY_PATH": ONE_LIB, "SETVARS_COMPLETED": "1"},
            "torch.libraries": {
                **STATION["torch"]["libraries"],
                "libur_loader.so.0": "/home/me/venv/lib/libur_loader.so.0",
            },
            "torch.conflicts": [
                {
                    "kind": "symbol",
                    "level": "fail",
                    "library": "/home/me/venv/lib/libsycl.so.9",
                    "names": ["urDeviceWaitExp", "urEnqueueKernelLaunchWithArgsExp"],
                    "count": 7,
                    "first": f"{ONE_LIB}/libur_loader.so.0",
                    "has": "/home/me/venv/lib/libur_loader.so.0",
                    "owners": {
                        "library": "intel-sycl-rt 2026.1.0",
                        "first": "oneAPI compiler 2025.3",
                        "has": "intel-cmplr-lib-ur 2026.1.0",
                    },
                }
            ],
            "torch.report": {
                **dict.fromkeys(("version", "xpu", "cuda", "compiled", "available", "count", "cxx11_abi")),
                "error": "ImportError: libsycl.so.9: undefined symbol: urDeviceWaitExp, version LIBUR_LOADER_0.12",
                "messages": [],
                "seconds": 1.1,
                "devices": [],
            },
        },
    ),
    "two-oneapi-on-the-path": but(
        healthy(UBUNTU_24, B580, release=""),
        {
            "toolkits.found": [kit(), kit("2025.3.1", "/opt/intel/oneapi-2025.3")],
            "environment": {
                "SETVARS_COMPLETED": "1",
                "LD_LIBRARY_PATH": f"{ONE_LIB}:/opt/intel/oneapi/compiler/2026.1/lib",
            },
        },
    ),
    "conda-libstdcxx": but(
        STATION,
        NO_GPU_IN_TORCH,
        {
            "torch.prefix": "/home/me/miniforge3/envs/xpu",
            "torch.python": "/home/me/miniforge3/envs/xpu/bin/python3",
            "torch.kind": "conda",
            "torch.glibcxx": 29,
            "environment": {"CONDA_PREFIX": "/home/me/miniforge3/envs/xpu"},
        },
    ),
    "cpu-torch": _torch(STATION, _published("2.14.1", "cpu"), distributions={**ALONE, "torch": "2.14.1+cpu"}),
    "cuda-torch": _torch(
        STATION, _published("2.14.1", "cu128"), distributions={**ALONE, "torch": "2.14.1+cu128", "triton": "3.8.0"}
    ),
    "two-tritons": _torch(STATION, distributions={"triton": "3.5.0"}),
    "broken-autoload": but(
        STATION,
        {
            "torch.entry_points": [
                {"name": "simxpu", "value": "simxpu:_autoload", "distribution": "simxpu", "version": "0.1.0"}
            ],
            "torch.report": {
                **dict.fromkeys(("version", "xpu", "cuda", "compiled", "available", "count", "cxx11_abi")),
                "error": NOT_LOADED.format("simxpu", "ImportError: libsimxpu.so: undefined symbol: _ZN3c104impl"),
                "messages": [],
                "seconds": 1.9,
                "devices": [],
            },
        },
    ),
    "torch-npu-beside": _torch(
        STATION,
        {
            "torch.entry_points": [NPU],
            "torch.report": {
                **dict.fromkeys(("version", "xpu", "cuda", "compiled", "available", "count", "cxx11_abi")),
                "error": NOT_LOADED.format("torch_npu", "ImportError: libhccl.so: cannot open shared object file"),
                "messages": [],
                "seconds": 1.8,
                "devices": [],
            },
        },
        distributions={"torch-npu": "2.14.0"},
    ),
    "ipex-left-over": _torch(STATION, distributions={"intel-extension-for-pytorch": "2.8.10+xpu"}),
    "old-fallback-variable": but(
        STATION,
        {
            "environment": {"PYTORCH_ENABLE_XPU_FALLBACK": "true"},
            "torch.report": {
                **dict.fromkeys(("version", "xpu", "cuda", "compiled", "available", "count", "cxx11_abi")),
                "error": "the process ended by signal 6: terminate called after throwing 'std::invalid_argument'",
                "messages": [],
                "seconds": 1.6,
                "devices": [],
            },
        },
    ),
    "runtime-updated-alone": _torch(STATION, NO_GPU_IN_TORCH, distributions={"intel-cmplr-lib-ur": "2026.2.0"}),
    "toolkit-too-old": but(NEW, {"toolkits": toolkits(kit("2024.1.4"))}),
    "toolkit-too-new": but(NEW, {"toolkits": toolkits(kit("2026.3.0"))}),
    "gcc-missing": but(STATION, {"tools": STATION["tools"][2:]}),
    "gcc-too-old": but(
        healthy(replace(UBUNTU_22, kernel="6.8.0-60-generic"), A770, release=""),
        {
            "tools": [
                {"name": "g++", "path": "/usr/bin/g++", "version": "g++ (Ubuntu 9.5.0-1ubuntu1~22.04) 9.5.0"},
                {"name": "git", "path": "/usr/bin/git", "version": "git version 2.34.1"},
            ]
        },
    ),
    "cxx-icpx": but(
        healthy(UBUNTU_24, B580, release=""), {"environment": {"CXX": "icpx", "CC": "icx", "SETVARS_COMPLETED": "1"}}
    ),
    "python-3.9": but(
        healthy(RHEL_9, A770, release=""), {"python.version": "3.9.21", "python.executable": "/usr/bin/python3.9"}
    ),
    "no-venv-module": but(healthy(UBUNTU_24, B580, release=""), {"python.venv": False}),
    "stale-cmake-cache": but(
        STATION, {"tree": {**TREE, "cache": {"CMAKE_HOME_DIRECTORY": "/scratch/me/pytorch", "USE_XPU": "ON"}}}
    ),
    "tarball-checkout": but(STATION, {"tree": {**TREE, "path": "/home/me/pytorch-2.14.1", "git": False}}),
}

_DISK = STATION["resources"]["disks"][0]
PLACES: dict[str, Doc] = {
    "cgroup-4-gib": but(
        STATION,
        {
            "resources.memory_limit": 4 * GIB,
            "resources.memory_available": 3 * GIB,
            "resources.cpu_limit": 2.0,
            "container.kind": "kubernetes",
        },
    ),
    "disk-full": but(STATION, {"resources.disks": [{**_DISK, "free": 2 * GIB}]}),
    "quota-full": but(
        healthy(SLES_15, *MAX, release="2.12.1", oneapi="2025.3.1"),
        DKMS,
        {"resources.disks": [{**_DISK, "filesystem": "lustre", "free": 90_000 * GIB, "quota_free": 3 * GIB}]},
    ),
    "proxy-with-password": but(
        STATION,
        {
            "network.proxies": {"HTTPS_PROXY": "http://***@proxy.example:8080"},
            "network.credentials": ["HTTPS_PROXY"],
        },
    ),
    "offline": but(NEW, {"network.reach": {"github.com": False, "pypi.org": False, "download.pytorch.org": False}}),
    "no-gpu-debian-12": but(healthy(DEBIAN_12), BARE, NO_DRIVER, GONE),
    "no-gpu-rhel-9": but(healthy(RHEL_9), BARE, NO_DRIVER_RPM, GONE),
    "no-gpu-arch-linux": but(healthy(ARCH), BARE, NO_DRIVER_RPM, GONE, {"userland.packages": None}),
    "nvidia-only": but(healthy(UBUNTU_24, NVIDIA), BARE, NO_DRIVER, GONE, {"kernel.modules": {"nvidia": "570.1"}}),
    "nvidia-and-its-torch": _torch(
        but(STATION, {"hardware.gpus": [NVIDIA], "kernel.modules": {"nvidia": "580.159"}, **NO_KIT}, NO_DRIVER, GONE),
        _published("2.11.0", "cu130"),
        distributions={**ALONE, "torch": "2.11.0", "triton": "3.6.0"},
    ),
    "amd-only": but(
        healthy(UBUNTU_24, {**NVIDIA, "vendor": "1002", "device": "744c", "driver": "amdgpu"}),
        BARE,
        NO_DRIVER,
        GONE,
        {"kernel.modules": {"amdgpu": None}},
    ),
}


def _gaudi(release: str, driver: str) -> Doc:
    plugin = f"{release}.14"
    return _torch(
        but(
            healthy(UBUNTU_22, *({**GAUDI, "address": f"0000:{bus}:00.0"} for bus in ("19", "1a", "b3", "b4"))),
            NO_DRIVER,
            _published("2.11.0a0", "git8d3c2a1"),
            {
                "kernel.modules": dict.fromkeys(
                    ("habanalabs", "habanalabs_cn", "habanalabs_en", "habanalabs_ib", "ib_uverbs"), driver
                ),
                "kernel.dkms": ["habanalabs"],
                "gaudi": {
                    "nodes": [f"/dev/accel/accel{number}" for number in range(4)],
                    "driver": driver,
                    "packages": {"habanalabs-dkms": driver},
                    "cards": [{"index": str(n), "name": "HL-225", "health": "", "used_by": ""} for n in range(4)],
                },
                "torch.prefix": "/usr",
                "torch.python": "/usr/bin/python3.10",
                "torch.kind": "interpreter",
                "torch.entry_points": [HPU],
                "torch.report.compiled": False,
                "toolkits": toolkits(ocloc=None),
            },
        ),
        distributions={**ALONE, "torch": "2.11.0a0+git8d3c2a1", "habana-torch-plugin": plugin},
    )


def _ascend(**environment: str) -> Doc:
    return _torch(
        but(
            healthy(UBUNTU_22, ASCEND),
            NO_DRIVER,
            _published("2.12.0", "cpu"),
            {
                "kernel.modules": {"drv_davinci_intf_host": None},
                "ascend": {
                    "nodes": ["/dev/davinci0", "/dev/davinci_manager"],
                    "driver": "25.3.rc1",
                    "scripts": ["/usr/local/Ascend/ascend-toolkit/set_env.sh"],
                    "cards": [{"index": "0", "name": "910B3", "health": "OK", "used_by": ""}],
                },
                "torch.entry_points": [{**NPU, "version": "2.12.0"}],
                "toolkits": toolkits(ocloc=None),
                "environment": environment,
            },
        ),
        distributions={**ALONE, "torch": "2.12.0+cpu", "torch-npu": "2.12.0"},
    )


OTHERS: dict[str, Doc] = {
    "gaudi2": _gaudi("1.24.1", "1.24.1-dbcf0e3"),
    "gaudi2-old-driver": but(
        _gaudi("1.24.1", "1.21.3-ae5cc4b"),
        {
            "torch.report.error": "RuntimeError: synStatus=8 [Device not found] Device acquire failed.",
            "torch.report.available": None,
        },
    ),
    "gaudi2-without-module": but(
        _gaudi("1.24.1", "1.24.1-dbcf0e3"),
        BARE,
        {
            "kernel.modules": {"ib_uverbs": None},
            "kernel.messages": ["habanalabs 0000:19:00.0: Failed to load firmware file, code -2"],
            "gaudi.nodes": [],
            "gaudi.driver": None,
            "gaudi.cards": None,
        },
    ),
    "gaudi2-asked-for-1.22": but(_gaudi("1.24.1", "1.24.1-dbcf0e3"), BARE),
    "intel-npu-asked-for-gaudi": but(
        healthy(UBUNTU_24, METEOR, INTEL_NPU), BARE, {"kernel.modules": {"i915": None, "intel_vpu": None}}
    ),
    "ascend-910b": _ascend(ASCEND_HOME_PATH="/usr/local/Ascend/ascend-toolkit/latest"),
    "ascend-without-cann": but(
        _ascend(),
        {
            "torch.report.error": NOT_LOADED.format(
                "torch_npu", "ImportError: libhccl.so: cannot open shared object file: No such file or directory"
            ),
            "torch.report.available": None,
        },
    ),
}
MACHINES: dict[str, Doc] = {**WELL, **KERNEL, **ACCESS, **SOFTWARE, **PLACES, **OTHERS}
