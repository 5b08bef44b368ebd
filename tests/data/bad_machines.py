"""A machine for each combination that is known not to work, written by hand from the thread: it has that combination.

Each row: GPUs by id, the kernel's driver, the kernel, the version of compute-runtime, and what else matters. `well` is
what changes where the thread names a version without the fault, or one thing that is outside of it.
"""

from __future__ import annotations

from typing import Any

from xpusetup.base.document import read_as
from xpusetup.machine.facts import Facts

Doc = dict[str, Any]
ROWS: dict[str, tuple[list[str], str, str, str, Doc, Doc]] = {
    "ccl-2022-on-b60": (
        ["e211"] * 8,
        "xe",
        "7.1.3",
        "26.27.39122.11-0",
        {"dist": {"torch": "2.13.0+xpu"}},
        {"env": {"CCL_ALLREDUCE": "ring"}},
    ),
    "ccl-2022-on-b60-vllm": (
        ["e211"] * 4,
        "xe",
        "7.1.3",
        "26.27.39122.14",
        {"dist": {"torch": "2.13.0+xpu", "vllm": "0.28.0"}},
        {"dist": {"torch": "2.11.0+xpu", "vllm": "0.28.0"}},
    ),
    "bindless-heaps-on-6.18": (
        ["64a0"],
        "xe",
        "6.18.5-200.fc43.x86_64",
        "25.48.36300.8",
        {},
        {"kernel": "6.17.12-300.fc43.x86_64"},
    ),
    "old-runtime-on-6.18": (["7d51"], "i915", "6.18.0-1.fc43.x86_64", "25.18.33578.15", {}, {"kernel": "6.17.9"}),
    "old-runtime-on-6.8": (["9a49"], "i915", "6.8.1-arch1-1", "24.05.28454.6-1", {"lists": []}, {"kernel": "6.7.9"}),
    "xe-forced-on-a770m": (["5690"], "xe", "6.8.0-87-generic", "25.40.35563.7", {}, {"module": "i915"}),
    "g31-ranks-on-26.14": (["e223"], "xe", "7.0.0-14-generic", "26.14.37833.4-0", {}, {"driver": "26.05.37020.3-1"}),
    "two-gpus-one-context": (["56a0", "56a0"], "xe", "6.17.0", "26.09.37435.12", {}, {"kernel": "7.1.0"}),
    "sycl-tool-on-two-gpus": (["56a0", "56a0"], "i915", "6.17.0", "26.18.38308.1-0", {}, {"driver": "25.40.35563.10"}),
    "loader-1.28-with-26.27": (
        ["e212"],
        "xe",
        "7.0.0-28-generic",
        "26.27.39122.12-1~24.04~ppa1",
        {"loader": "1.28.6"},
        {"loader": "1.32.0-1~24.04~ppa1"},
    ),
    "b70-sigsegv-on-26.27": (
        ["e223"],
        "xe",
        "7.0.0-15-generic",
        "26.27.39122.12-1~26.04~ppa1",
        {"loader": "1.28.2-2"},
        {"driver": "26.22.38646.6"},
    ),
    "small-bar-on-25.18": (["56a1"], "i915", "6.14.9-arch1-1", "25.18.33578.6", {"bar": 256 << 20}, {"bar": 8 << 30}),
    "a-series-in-jellyfin": (
        ["56a5"],
        "i915",
        "6.8.0",
        "25.18.33578.6",
        {"bar": 256 << 20},
        {"driver": "25.13.33276.16"},
    ),
    "panther-lake-on-26.14": (["b0a0"], "xe", "6.17.2-1-pve", "26.14.37833.4-0", {}, {"driver": "26.22.38646.4"}),
    "panther-lake-b03e-on-26.14": (["b03e"], "xe", "6.17.2-1-pve", "26.14.37833", {}, {"kernel": "7.0.0"}),
    "bmg-guc-70.58": (["e20b"], "xe", "7.0.0-27-generic", "26.05.37020.3", {"guc": "70.58.0"}, {"guc": "70.65.0"}),
    "b70-resets-in-llama": (
        ["e223"],
        "xe",
        "7.0.0-22-generic",
        "26.18.38308.1",
        {"guc": "70.58.0"},
        {"guc": "70.65.0"},
    ),
    "two-b70-before-7.1": (["e223", "e223"], "xe", "6.17.0-14-generic", "26.05.37020.3", {}, {"kernel": "7.1.3"}),
    "ipc-handles-on-b50": (
        ["e212", "e212"],
        "xe",
        "7.0.0-28-generic",
        "26.18.38308.1",
        {"dist": {"vllm": "0.26.0"}},
        {"env": {"CCL_ENABLE_SYCL_KERNELS": "0"}},
    ),
    "loader-newer-than-driver": (
        ["e223"],
        "xe",
        "7.0.0",
        "26.01.36711.4",
        {"loader": "1.28.2"},
        {"driver": "26.18.38308.1"},
    ),
    "several-b70-on-25.48": (
        ["e223", "e223"],
        "xe",
        "6.17.0-1009-intel",
        "25.48.36300.8",
        {"dist": {"torch": "2.12.0+xpu"}},
        {"driver": "26.22.38646.4"},
    ),
    "b70-before-its-torch": (
        ["e223"],
        "xe",
        "7.0.0",
        "26.18.38308.1",
        {"dist": {"torch": "2.8.0+xpu"}},
        {"dist": {"torch": "2.13.0+xpu"}},
    ),
    "torch-2.6-after-setvars": (
        ["46d1"],
        "i915",
        "6.8.0",
        "24.39.31294.20",
        {"dist": {"torch": "2.6.0+xpu", "intel-sycl-rt": "2025.0.2"}, "env": {"SETVARS_COMPLETED": "1"}},
        {"env": {}},
    ),
    "bitsandbytes-of-the-other-major": (
        ["0bd5"],
        "i915",
        "6.8.0",
        "25.18.33578.51",
        {"dist": {"torch": "2.13.0+xpu", "triton-xpu": "3.7.2", "bitsandbytes": "0.49.2"}},
        {"dist": {"torch": "2.13.0+xpu", "triton-xpu": "3.7.2", "bitsandbytes": "0.50.2"}},
    ),
    "cl-headers-of-2026.1.3": (
        ["0bd5"],
        "i915",
        "6.8.0",
        "25.18.33578.51",
        {"dist": {"torch": "2.15.0.dev20260901+xpu", "intel-sycl-rt": "2026.1.3"}},
        {"dist": {"torch": "2.15.0.dev20260801+xpu", "intel-sycl-rt": "2026.1.1"}},
    ),
    "main-with-2025.3-on-max": (
        ["0bd5"],
        "i915",
        "6.8.0",
        "25.18.33578.51",
        {"dist": {"torch": "2.15.0.dev20260730+xpu"}, "kit": "2025.3.1"},
        {"kit": "2026.1.0"},
    ),
    "nan-in-attention-2.15-dev": (
        ["e20b"],
        "xe",
        "6.14.0",
        "25.40.35563.7",
        {"dist": {"torch": "2.15.0.dev20260829+xpu", "diffusers": "0.36.0"}},
        {"env": {"DIFFUSERS_ATTN_BACKEND": "_native_math"}},
    ),
    "masked-index-crash-2.14-dev": (
        ["e20b"],
        "xe",
        "6.14.0",
        "25.40.35563.7",
        {"dist": {"torch": "2.14.0a0+git2f8a0d7", "triton-xpu": "3.7.2+git5fcc14d9"}},
        {"dist": {"torch": "2.14.0+xpu", "triton-xpu": "3.8.0"}},
    ),
    "gather-object-2.8": (
        ["0bd5", "0bd5"],
        "i915",
        "6.8.0-53-generic",
        "25.18.33578.15",
        {"dist": {"torch": "2.8.0+xpu"}},
        {"dist": {"torch": "2.9.1+xpu"}},
    ),
    "batch-isend-irecv-2.8-dev": (
        ["0bd5", "0bd5"],
        "i915",
        "5.14.21-150400.24.55-default",
        "25.05.32567.18",
        {"dist": {"torch": "2.8.0a0+git624be3a"}},
        {"dist": {"torch": "2.8.0+xpu"}},
    ),
    "no-loader-2.6-dev": (
        ["e20b"],
        "xe",
        "6.14.0",
        "25.40.35563.7",
        {"dist": {"torch": "2.6.0.dev20240925+xpu"}},
        {"dist": {"torch": "2.6.0.dev20241011+xpu"}},
    ),
    "a770-lost-2.8-dev": (
        ["56a0"],
        "i915",
        "6.13.0",
        "25.05.32567.18",
        {"dist": {"torch": "2.8.0.dev20250327+xpu"}},
        {"dist": {"torch": "2.8.0.dev20250321+xpu"}},
    ),
    "lightning-without-xpu": (
        ["56a0"],
        "i915",
        "7.0.0-15-generic",
        "26.05.37020.3-1",
        {"dist": {"torch": "2.12.0+xpu", "triton-xpu": "3.7.1", "lightning": "2.6.1"}},
        {"dist": {"torch": "2.12.0", "lightning": "2.6.1"}},
    ),
    "ipex-2.5-on-2.6": (
        ["56a0"],
        "i915",
        "6.8.0",
        "24.39.31294.20",
        {"dist": {"torch": "2.6.0", "intel-extension-for-pytorch": "2.5.0"}},
        {"dist": {"torch": "2.6.0", "intel-extension-for-pytorch": "2.6.10"}},
    ),
    "ipex-2.8-on-2.7": (
        ["56a0"],
        "i915",
        "6.8.0",
        "25.18.33578.15",
        {"dist": {"torch": "2.7.1", "intel-extension-for-pytorch": "2.8.0"}},
        {"dist": {"torch": "2.8.0", "intel-extension-for-pytorch": "2.8.0"}},
    ),
    "ipex-2.1-on-newer": (
        ["56a0"],
        "i915",
        "6.5.0",
        "23.43.27642.40",
        {"dist": {"torch": "2.2.0", "intel-extension-for-pytorch": "2.1.10+xpu"}},
        {"dist": {"torch": "2.1.0a0+cxx11.abi", "intel-extension-for-pytorch": "2.1.10+xpu"}},
    ),
    "ipex-2.0-on-plain-torch": (
        ["56a0"],
        "i915",
        "6.5.0",
        "23.43.27642.40",
        {"dist": {"torch": "2.1.0", "intel-extension-for-pytorch": "2.0.110+xpu"}},
        {"dist": {"torch": "2.0.1a0", "intel-extension-for-pytorch": "2.0.110+xpu"}},
    ),
    "ccl-bindings-2.1": (
        ["0bd5"],
        "i915",
        "5.14.0",
        "23.43.27642.40",
        {"dist": {"torch": "2.1.0+cpu", "oneccl-bind-pt": "2.1.0+cpu"}},
        {"dist": {"torch": "2.0.1+cpu", "oneccl-bind-pt": "2.0.0+cpu"}},
    ),
    "triton-3-on-old-torch": (
        ["56a0"],
        "i915",
        "6.5.0",
        "24.26.30049.6",
        {"dist": {"torch": "2.1.0", "pytorch-triton-xpu": "3.0.0"}},
        {"dist": {"torch": "2.5.1+xpu", "pytorch-triton-xpu": "3.1.0"}},
    ),
    "triton-with-basekit-2024": (
        ["0bd5"],
        "i915",
        "5.15.0",
        "24.26.30049.6",
        {"dist": {"pytorch-triton-xpu": "3.0.0"}, "kit": "2024.2.0"},
        {"kit": "2025.0.1"},
    ),
    "triton-2-with-oneapi-2024": (
        ["0bd5"],
        "i915",
        "5.15.0",
        "23.43.27642.40",
        {"dist": {"pytorch-triton-xpu": "2.1.0"}, "kit": "2024.0.1"},
        {"kit": "2023.2.0"},
    ),
    "loader-1.18-on-gen9": (["3e92"], "i915", "6.8.0", "24.35.30872.32", {"loader": "1.18.1"}, {"loader": "1.17.45"}),
    "loader-1.15-in-wsl": (
        [],
        "",
        "5.15.133.1-microsoft-standard-WSL2",
        "23.43.27642.40",
        {"loader": "1.15.1"},
        {"loader": "1.13.5"},
    ),
    "dkms-on-427.40": (
        ["0bd5"],
        "i915",
        "5.14.0-427.40.1.el9_4.x86_64",
        "24.39.31294.20",
        {},
        {"kernel": "5.14.0-427.37.1.el9_4.x86_64"},
    ),
    "guc-too-old-for-lunar-lake": (
        ["64a0"],
        "xe",
        "6.12.0-rc2",
        "24.35.30872.32",
        {"guc": "70.20.0"},
        {"guc": "70.29.2"},
    ),
    "xe-wedged-in-games": (
        ["64a0"],
        "xe",
        "6.19.5-2-cachyos",
        "26.05.37020.3",
        {"said": "xe 0000:00:02.0: [drm] *ERROR* GT0: GuC engine reset request failed on 0:0 because 0x00000000"},
        {"said": "xe 0000:00:02.0: [drm] GT0: GuC engine reset"},
    ),
    "firmware-without-xe-folder": (
        ["e212"],
        "xe",
        "6.17.0",
        "26.05.37020.3",
        {"said": "xe 0000:03:00.0: [drm] *ERROR* GT0: GuC firmware xe/bmg_guc_70.bin: fetch failed -ENOENT"},
        {"said": "xe 0000:03:00.0: [drm] GT0: Using GuC firmware from xe/bmg_guc_70.bin version 70.49.4"},
    ),
    "dkms-24.4-guc-load": (
        ["56a0"],
        "i915",
        "6.8.0-45-generic",
        "24.35.30872.22",
        {"said": "i915 0000:03:00.0: [drm] *ERROR* GT0: GUC: load failed: status = 0x40000056"},
        {"said": "i915 0000:03:00.0: [drm] GT0: GUC: submission enabled"},
    ),
    "guc-without-activity": (["e20b"], "xe", "6.15.0-rc2", "25.05.32567.18", {"guc": "70.40.2"}, {"guc": "70.44.1"}),
    "guc-70.2-on-oem-kernel": (["56a5"], "i915", "5.17.0-1019-oem", "22.43.24595.41", {}, {"kernel": "6.2.0"}),
    "arc-b390-engine-on-26.22": (["b080"], "xe", "7.0.0", "26.22.38646.4-0", {"igc": "2.36.3"}, {"igc": "2.38.5"}),
    "a770-primitives-on-26.14": (["56a0"], "i915", "6.17.0", "26.14.37833.4", {}, {"driver": "26.05.37020.3"}),
    "ovms-on-26.18": (["64a0"], "xe", "7.0.0", "26.18.38308.1", {}, {"driver": "26.01.36711.4"}),
    "sycl-crash-on-30714": (["56a0"], "i915", "6.8.0", "1.3.30714", {}, {"driver": "1.3.30872"}),
    "detected-by-an-old-driver": (["9a60"], "xe", "6.8.0", "23.48.27912.11", {}, {"module": "i915"}),
    "dg1-on-xe": (["4905"], "xe", "6.18.0", "26.05.37020.3", {}, {"module": "i915"}),
    "backports-on-a-desktop": (
        ["56a1"],
        "i915",
        "6.8.0-40-generic",
        "24.39.31294.20",
        {"said": "[drm] I915 BACKPORTED INIT"},
        {"said": "[drm] Initialized i915 1.6.0 for 0000:03:00.0 on minor 0"},
    ),
    "compute-engines-lost-on-6.6": (
        ["56a0"],
        "i915",
        "6.6.28-1-lts",
        "24.13.29138.7",
        {"said": "Fence expiration time out i915-0000:03:00.0:server[812]:14c!"},
        {"kernel": "6.6.35-1-lts"},
    ),
    "compute-engines-lost-on-6.8": (
        ["56a1"],
        "i915",
        "6.8.9-arch1-1",
        "24.13.29138.7",
        {"said": "Fence expiration time out i915-0000:03:00.0:clpeak[44]:2!"},
        {"kernel": "6.9.5-arch1-1"},
    ),
    "alchemist-before-6.2": (
        ["56a1"],
        "i915",
        "6.0.9-1-default",
        "22.43.24595.30",
        {"refused": "the first buffer ends with ZE_RESULT_ERROR_UNKNOWN"},
        {"kernel": "6.0.0-1013-oem"},
    ),
    "opencl-on-22.53": (["56a0"], "i915", "6.2.1-060201-generic", "22.53.25242.13", {}, {"driver": "22.49.25018.24"}),
}
"""By the id of the combination."""


def machine_of(name: str, *, well: bool = False) -> Facts:
    """Give the machine that has a combination, or the same without it."""
    ids, module, kernel, driver, more, change = ROWS[name]
    told: Doc = {"module": module, "kernel": kernel, "driver": driver, **more, **(change if well else {})}
    return make(ids, told)


def make(ids: list[str], told: Doc) -> Facts:
    """Give a machine from what matters of it."""
    gpus = [
        {
            "address": f"0000:{place + 3:02x}:00.0",
            "vendor": "8086",
            "device": device,
            "pci_class": "030000",
            "driver": told["module"] or None,
            "bar": told.get("bar", 16 << 30),
        }
        for place, device in enumerate(ids)
    ]
    name = "intel-level-zero-gpu" if told["driver"].startswith("1.") else "libze-intel-gpu1"
    packages = {name: told["driver"], "libze1": told.get("loader", "1.24.3-1"), "libigc2": told.get("igc", "2.20.3-1")}
    said = (
        [f"{told['module']} 0000:03:00.0: [drm] Using GuC firmware from xe/bmg_guc_70.bin version {told['guc']}"]
        if "guc" in told
        else []
    ) + ([told["said"]] if "said" in told else [])
    kit = told.get("kit")
    root = {"root": "/opt/intel/oneapi", "compiler": "/opt/intel/oneapi/bin/icpx", "version": kit}
    torch = {"python": "/v/bin/python", "prefix": "/v", "kind": "venv", "distributions": told.get("dist", {})}
    return read_as(
        Facts,
        {
            "schema": 1,
            "taken": "2026-11-22",
            "system": {
                "name": "Linux",
                "families": [],
                "kernel": told["kernel"],
                "machine": "x86_64",
                "user": "me",
                "uid": 1,
            },
            "hardware": {"gpus": gpus},
            "kernel": {"release": told["kernel"], "messages": said},
            "userland": {"packages": packages, "clinfo": told.get("lists")},
            "toolkits": {"found": [root] if kit else []},
            "torch": torch if "dist" in told else None,
            "environment": told.get("env", {}),
            "refused": told.get("refused", ""),
        },
    )
