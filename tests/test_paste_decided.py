"""doctor --paste: what other parts of a post decide, where one line alone has several causes."""

from __future__ import annotations

import pytest

from test_paste_shown import causes, findings

NPU = "$ ls -l /dev/accel\ncrw-rw---- 1 root render 261, 0 Oct  4 08:30 accel0\n"
DEVICES = ">>> ov.Core().available_devices\n['CPU', 'GPU']\n"
USER = "$ id\nuid=1000(eve) gid=1000(eve) groups=1000(eve),44(video){}\n"
PINS = (
    '[tool.uv.sources]\ntorch = [{{ index = "pytorch-cpu"{} }}]\n'
    '$ uv run python -c "import torch; print(torch.xpu.is_available(), torch.__version__)"\n'
)
CPU_TORCH = ">>> torch.__version__\n'2.8.0+cpu'\n>>> torch.xpu.is_available()\nFalse\n"
POD = (
    "$ kubectl exec -it web -- ls /dev/dri\nls: cannot access '/dev/dri': No such file or directory\n"
    "$ kubectl get deploy web -o yaml\n        resources:\n          limits:\n            memory: 2Gi\n"
    "{}          requests:\n            cpu: 1\n$ kubectl describe node one\n  gpu.intel.com/i915: 1\n"
)
SESSION = (
    "[AVHWDeviceContext @ 0x1] Error creating a MFX session: -9.\n# lspci -nn\n"
    "00:02.0 VGA compatible controller [0300]: Intel Corporation AlderLake-S GT1 [8086:4680]\n# dpkg -l\n"
    "ii  libmfx1:amd64 22.3.0-1 amd64 x\n"
)
HUC = "N5105, low power encoding fails\n$ cat huc_info\nHuC firmware: i915/icl_huc_9.0.0.bin\n\tstatus: DISABLED\n"
PLEX = "libva: /config/Plex Media Server/Drivers/imd-74/dri/iHD_drv_video.so init failed\nCore Ultra 7 265K\n"
UPGRADE = (
    "[ALPM] upgraded intel-compute-runtime ({} -> 25.05.32567.17-1)\n$ clinfo\n"
    "Number of platforms                               0\n"
)
OPENCL = (
    "[AVHWDeviceContext @ 0x1] Failed to get number of OpenCL platforms: -1001.\n"
    "# dpkg -l | grep -E 'opencl|intel'\nii  intel-media-va-driver:amd64 23.1.1 amd64 x\n"
    "ii  ocl-icd-libopencl1:amd64 2.3.1-1 amd64 x\n{}"
)
OV = (
    "It is slow and takes the wrong GPU with -d GPU\n['CPU', 'GPU.0', 'GPU.1']\n"
    "('Intel(R) UHD Graphics 770 (iGPU)', 'Intel(R) Arc(TM) A770 Graphics (dGPU)')\n"
)
BAR = (
    "WARNING: Small BAR detected for device 0000:01:00.0\n"
    "Number of platforms                               0\nii  intel-opencl-icd {} amd64 x\n"
)
CONDA = (
    "(ai) $ clinfo -l\n(ai) $ /usr/bin/clinfo -l\nPlatform #0: Intel(R) OpenCL Graphics\n"
    " `-- Device #0: Intel(R) Arc(TM) Graphics\n(ai) $ conda list\n"
    "khronos-opencl-icd-loader 2024.10.24 h5 conda-forge\n"
)
ASCEND = (
    "| npu-smi 23.0.rc2       Version: 23.0.rc2 |\n| 0     910B3  | OK |\n"
    "runtime_running_version=[7.3.0.1:8.0.0]\nRuntimeError: aclInit, error code is 500000\n"
)
PREBOOT = "hl-smi\n[ 61.1] habanalabs 0000:33:00.0: Unsupported preboot version, expected 53\n"
CARDS = (
    "00:02.0 VGA compatible controller [0300]: Intel Corporation AlderLake-S GT1 [8086:4680]\n"
    "03:00.0 VGA compatible controller [0300]: Intel Corporation DG2 [Arc A770] [8086:56a0]\n"
)
NO_CARD = (
    f"$ lspci -nn\n{CARDS}$ clinfo -l\nPlatform #0: Intel(R) OpenCL HD Graphics\n"
    f" `-- Device #0: Intel(R) UHD Graphics 770 [0x4680]\n"
)
PROCESSOR = (
    'trying jellyfin on an i5-13400F\ngathering device information: "/dev/dri/renderD128": no such file or directory\n'
)


@pytest.mark.parametrize(
    ("text", "cause", "words"),
    [
        (NPU + USER.format("") + DEVICES, "vpu.driver", "not in it"),
        (
            (
                "$ docker run --rm --device /dev/dri ov python3 x.py\n['CPU', 'GPU']\non the host:\n"
                "['CPU', 'GPU', 'NPU']\n"
            ),
            "vpu.driver",
            "a node of its own",
        ),
        (PINS.format("") + CPU_TORCH, "torch.is_xpu_build", "pins torch"),
        (PINS.format(", marker = \"sys_platform != 'darwin'\"") + CPU_TORCH, "torch.is_xpu_build", "pins torch"),
        (POD.format(""), "container.no_device", "the pod asks for none"),
        (SESSION, "umd.video", "libmfx-gen"),
        (HUC, "umd.video", "HuC"),
        (PLEX, "umd.video", "brings itself"),
        (UPGRADE.format("24.31.30508.7-1") + "i7-8550U\n", "hw.legacy_gpu", "24.31"),
        (OPENCL.format(""), "umd.ze_intel_gpu", "OpenCL driver is not installed"),
        (OV, "umd.device_choice", "GPU.0"),
        (BAR.format("25.18.33578.6-0"), "hw.small_bar", "25.18"),
        (CONDA, "umd.opencl_elsewhere", "OpenCL loader of its own"),
        (ASCEND, "npu.release", "CANN"),
        (PREBOOT, "hpu.release", "preboot"),
        (NO_CARD, "umd.not_listed", "passes over"),
        (PROCESSOR, "hw.intel_gpu_present", "end in F"),
    ],
)
def test_facts_elsewhere_decide(text: str, cause: str, words: str) -> None:
    assert causes(text)[0] == cause
    assert words in findings(text)[cause].why


@pytest.mark.parametrize(
    "text",
    [
        NPU + USER.format(",993(render)") + DEVICES,
        NPU + USER.format("") + "['CPU', 'GPU', 'NPU']\n",
        UPGRADE.format("24.39.31294.12-1") + "i7-8550U\n",
        UPGRADE.format("24.31.30508.7-1") + "Core Ultra 7 155H\n",
        "['CPU', 'GPU.0', 'GPU.1']\n" + OV.splitlines()[-1],
        SESSION + "ii  libmfx-gen1.2:amd64 22.1 amd64 x\n",
        HUC + "i915.enable_guc=2\n",
        NO_CARD + " `-- Device #1: Intel(R) Arc(TM) A770 Graphics [0x56a0]\n",
    ],
)
def test_what_is_well_gets_no_such_cause(text: str) -> None:
    assert causes(text) == []


def test_a_pod_that_asks_for_a_gpu_is_not_told_so() -> None:
    why = findings(POD.format("            gpu.intel.com/i915: 1\n"))["container.no_device"].why
    assert "the pod asks for none" not in why


def test_of_two_gpus_the_newer_decides_on_the_kernel() -> None:
    text = (
        f"$ uname -r\n5.15.0-67-generic\n$ lspci -nn\n{CARDS}$ clinfo\n"
        f"Number of platforms                               0\n"
    )
    assert "6.2" in findings(text)["kmd.force_probe"].seen
