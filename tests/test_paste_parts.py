"""doctor --paste: parts that a listing shows to be missing, too old, or of another release of the system."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from test_paste_shown import A770, CPU, I915, LOADER, NODE, NONE, XE, ZE, causes, findings, read
from xpusetup.commands.paste import read_paste

if TYPE_CHECKING:
    from pathlib import Path

COUNT = "UserWarning: XPU device count is zero! (Triggered internally at XPUFunctions.cpp:56.)\n"
OUTSIDE = f"jo@box:~$ sycl-ls\n{ZE.format(0, 'Arc(TM) A750 Graphics')}"
ENV = "/home/jo/miniforge3/envs/llm/lib/libstdc++.so.6"
ICD = "ii  intel-opencl-icd  {}  amd64  Intel graphics compute runtime for OpenCL\n"
BLIND = "jo@box:~$ sycl-ls\n[opencl:cpu][opencl:0] Intel(R) OpenCL, Intel(R) Core(TM) i7 OpenCL 3.0\n"
GREPPED = (
    "jo@box:~$ dpkg -l | grep -i level-zero\njo@box:~$ id\nuid=1000(jo) gid=1000(jo) groups=1000(jo),109(render)\n"
)
UNMET = " {} : Depends: {} (>= {}) but {} is installed\n"
VIRTIO = "Ubuntu 24.04 cloud image\n$ sudo dmesg | grep {}\n[    3.1] {}: Unknown symbol {} (err -2)\n"
MEI = "# CONFIG_INTEL_MEI_GSC is not set\n# CONFIG_INTEL_MEI_PXP is not set\n"
NO_DRI = "ls: cannot access '/dev/dri': No such file or directory\n"
STRINGS = f"(llm) jo@box:~$ strings {ENV} | grep GLIBCXX\nGLIBCXX_3.4\nGLIBCXX_3.4.28\nGLIBCXX_3.4.29\n"
INXI = """  Kernel: 5.15.0-91-generic arch: x86_64
  Device-1: Intel driver: N/A bus-ID: 03:00.0 chip-ID: 8086:e20c class-ID: 0300
"""
IHD = "/usr/lib/dri/iHD_drv_video.so"
BOTH = f"{ZE.format(0, 'UHD Graphics 770')}{ZE.format(1, 'Arc A770')}"
TWO_TRIED = f"""Trying to open {IHD}
libva info: va_openDriver() returns -1
Trying to open /usr/lib/dri/i965_drv_video.so
libva info: va_openDriver() returns 0
vainfo: Driver version: Intel i965 driver for Intel(R) Coffee Lake
"""
I965 = "libva error: /usr/lib/dri/i965_drv_video.so init failed\n"


@pytest.mark.parametrize(
    ("text", "cause"),
    [
        (f"{OUTSIDE}{COUNT}{ENV}.0.29\n/usr/lib/x86_64-linux-gnu/libstdc++.so.6.0.30\n", "setvars.conda_libstdcxx"),
        (
            f"{OUTSIDE}{COUNT}{ENV}.0.28\nii  libstdc++6:amd64  14.2.0-4ubuntu2  amd64  GNU library\n",
            "setvars.conda_libstdcxx",
        ),
        (
            f"{OUTSIDE}{STRINGS}(llm) jo@box:~$ python t.py\n{COUNT}",
            "setvars.conda_libstdcxx",
        ),
        (
            f"{OUTSIDE}{COUNT}Description: Ubuntu 24.04.1 LTS\nlibstdcxx-ng  11.2.0  h1234567_1\n",
            "setvars.conda_libstdcxx",
        ),
        (BLIND + ICD.format("21.37.20939") + GREPPED, "umd.ze_intel_gpu"),
        (
            f"{BLIND}[jo@fed ~]$ rpm -qa | grep level-zero\n[jo@fed ~]$ id\nintel-opencl-23.43.1-1.fc40\n",
            "umd.ze_intel_gpu",
        ),
        (
            BLIND + ICD.format("23.30.26918.50") + "dpkg-query: no packages found matching intel-level-zero-gpu\n",
            "umd.ze_intel_gpu",
        ),
        (UNMET.format("intel-igc-core-2", "libc6", "2.38", "2.36-9+deb12u9"), "sys.glibc"),
        (UNMET.format("libze1", "libstdc++6", "13.1", "12.3.0-1ubuntu1~22.04"), "sys.glibc"),
        (UNMET.format("libigdgmm12", "libc6", "2.34", "2.31-0ubuntu9.16"), "sys.glibc"),
        (VIRTIO.format("i915", "i915", "drm_dp_dpcd_read"), "kmd.other_kernel"),
        (VIRTIO.format("xe", "xe", "drm_buddy_block_trim"), "kmd.other_kernel"),
        (
            f"$ zgrep MEI /proc/config.gz\n{MEI}HuC firmware: i915/dg2_huc_gsc.bin\n  status: INIT FAIL\n",
            "kmd.other_kernel",
        ),
        ("[   14.2] i915 0000:03:00.0: [drm] HuC: timed out waiting for MEI GSC\n", "kmd.other_kernel"),
        (f"$ lspci -nnk\n{A770}{I915}$ vainfo\n{I965}", "umd.video"),
        (f"the card is an Arc A380\n$ vainfo\n{I965}", "umd.video"),
        (
            "$ vainfo\nlibva info: Trying to open /d/iHD_drv_video.so\nlibva info: va_openDriver() returns -1\n",
            "umd.video",
        ),
        (f"$ printenv | grep OCL\nOCL_ICD_VENDORS=/opt/conda/etc/OpenCL/vendors\n$ clinfo\n{NONE}", "umd.opencl_icd"),
        (
            "$ uname -r\n6.8.7-arch1-1\nkernel: Fence expiration time out i915-0000:03:00.0:blender[99]:2!\n",
            "known.bad",
        ),
        (
            "libze-intel-gpu1 depends on libc6 (>= 2.38); however:\n  Version of libc6:amd64 on system is 2.35-0u3.\n",
            "sys.glibc",
        ),
        (f"$ uname -r\n6.1.0-18-cloud-amd64\n$ lspci -nn\n{A770}$ ls /dev/dri\n{NO_DRI}", "kmd.other_kernel"),
        (
            f"$ dpkg -l | grep linux-modules\nii  linux-modules-5.15.0-9-generic  5.15\n$ ls /dev/dri\n{NO_DRI}",
            "kmd.other_kernel",
        ),
        (f"$ clinfo\n{NONE}$ dpkg -l | grep -E 'opencl|icd'\n{LOADER}$ id\n", "umd.unregistered"),
        (f"$ clinfo\n{NONE}$ pacman -Qs opencl\nlocal/ocl-icd 2.3.2-2\n", "umd.unregistered"),
        (f"WARNING: Small BAR detected for device 0000:03:00.0\n{CPU}", "hw.small_bar"),
        (
            f"it uses the UHD 770 and not the A770\n{ZE.format(0, 'UHD Graphics 770')}{ZE.format(1, 'Arc(TM) A770')}",
            "umd.device_choice",
        ),
        (
            f"In an LXC, no VA display found\n$ ls -ln /dev/dri\n{NODE.format(993)}render:x:104:media\n",
            "perm.container_gid",
        ),
        (f"jellyfin in a Proxmox LXC fails\n$ ls -l /dev/dri\n{NODE.format('postfix')}", "perm.container_gid"),
        (f"an LXC\nunprivileged: 1\nostype: debian\nroot@media:~# ls /dev/dri\n{NO_DRI}", "container.no_device"),
        (
            'docker run --device /dev/dri ollama/ollama:0.6.5\nmsg="no compatible GPUs were discovered"\nan Arc A770\n',
            "container.older_than_gpu",
        ),
        (f"$ clinfo\n{NONE}$ apt list --installed | grep intel-opencl\n$ uname -r\n", "umd.unregistered"),
        (
            "8086:46d4\nii  intel-media-va-driver:amd64  23.1.1  amd64  x\nvaInitialize failed with error code -1\n",
            "umd.video",
        ),
        (f"00:02.0 VGA controller: Intel Haswell [8086:0412]\nlibva error: {IHD} init failed\n", "umd.video"),
        (f"libva error: {IHD} has no function __vaDriverInit_1_0\n", "umd.video"),
        ("the card is an Arc B580\nlibva info: User environment variable requested driver 'i965'\n", "umd.video"),
        (
            f"cmdline: i915.force_probe=!56a0 xe.force_probe=56a0\n$ clinfo\n{NONE}{A770}{XE}",
            "kmd.xe_on_dg2_old_kernel",
        ),
        (
            "3 Insufficient gpu.intel.com/i915\n$ kubectl get pods -A | grep intel-gpu-plugin\n$ \n",
            "container.no_device",
        ),
        (
            f"Ubuntu 24.04 on Lunar Lake\n$ sudo apt install intel-opencl-icd\n$ clinfo\n{NONE}",
            "umd.stock_ubuntu_too_old",
        ),
        (
            "i7-1355U\ndocker run --device /dev/dri openvino/ubuntu20_runtime:2021.4\nclGetPlatformIDs error -1001\n",
            "container.older_than_gpu",
        ),
        ("$ hl-smi -L\nModule ID : 0\nModuleNotFoundError: No module named 'habana_frameworks'\n", "hpu.torch_fork"),
        (
            "intel_extension_for_pytorch==2.1.10+xpu\nOSError: libmkl_sycl_blas.so.4: cannot open shared object file\n",
            "runtime.libraries",
        ),
        (
            "OSError: libmkl_sycl.so.3: cannot open shared object file: No such file or directory (ipex 1.13.10+xpu)\n",
            "runtime.libraries",
        ),
        (
            f"Linux Mint 21.3, it is not detected\n{INXI}",
            "kmd.force_probe",
        ),
        (
            "$ uname -r\n6.8.4-arch1-1\n$ clinfo\n" + NONE + ICD.format("24.09.28717.12"),
            "known.bad",
        ),
    ],
)
def test_a_part_is_the_cause(text: str, cause: str) -> None:
    assert causes(text)[0] == cause


@pytest.mark.parametrize(
    "text",
    [
        f"{OUTSIDE}{ENV}.0.29\n/usr/lib/x86_64-linux-gnu/libstdc++.so.6.0.30\n>>> torch.xpu.is_available()\nTrue\n",
        f"{OUTSIDE}{ENV}.0.33\n/usr/lib/x86_64-linux-gnu/libstdc++.so.6.0.30\n",
        ICD.format("25.18.33578") + "ii  libze-intel-gpu1  25.18.33578  amd64  driver\n" + GREPPED,
        f"{MEI}CONFIG_DRM_I915=m\n",
        "$ vainfo\nDriver version: Intel i965 driver for Intel(R) Haswell Mobile - 2.4.1\n",
        "$ vainfo\niHD_drv_video.so\nDriver version: Intel iHD driver for Intel(R) Gen Graphics - 24.1.0\n",
        f"OCL_ICD_VENDORS=/opt/conda/etc/OpenCL/vendors\n{OUTSIDE}",
        f"Ubuntu 24.04, an Arc B580\n$ sudo apt install intel-opencl-icd\n{ICD.format('25.18.1-0')}$ clinfo\n{NONE}",
        f"UHD Graphics 630\n{TWO_TRIED}",
        f"I am using the iGPU for the display and not the A770\n{BOTH}",
        f"$ dpkg -l | grep linux-modules\nii  linux-modules-7.0.0-9-generic  7\n$ lspci\n{A770}",
        f"an LXC, something else fails\n{NODE.format(104)}host: render:x:993:\nrender:x:104:media\n",
        f"docker, fails\nuid=1000(a) gid=1000(a) groups=1000(a),993\n{NODE.format(993)}render:x:104:\n",
        "$ uname -r\n6.9.7-arch1-1\nkernel: Fence expiration time out i915-0000:03:00.0:blender[99]:2!\n",
    ],
)
def test_what_is_well_or_says_nothing_is_no_cause(text: str) -> None:
    assert causes(text) == []


def test_what_mends_opencls_variable_is_to_unset_it() -> None:
    found = findings(f"OCL_ICD_VENDORS=/opt/conda/etc/OpenCL/vendors\n$ clinfo\n{NONE}")["umd.opencl_icd"]
    assert found.fix.commands[0][1][0].startswith("unset OCL_ICD_VENDORS")


def test_an_error_that_the_title_says_too_is_explained_where_it_ends_the_import(tmp_path: Path) -> None:
    """The first line that tells of it is the title then, and not the one with which the import ended."""
    end = "ImportError: /home/jo/envs/a/lib/python3.11/site-packages/torch/lib/libtorch_cpu.so: undefined symbol: "
    text = f"undefined symbol: iJIT_NotifyEvent since yesterday\n\n$ python -c 'import torch'\n{end}iJIT_NotifyEvent\n"
    file = tmp_path / "post"
    file.write_text(text)
    found = {each.id: each for each in read_paste([str(file)]).explain(tuple(findings(text).values()))}
    assert "MKL" in found["torch.import"].why


@pytest.mark.parametrize(
    "line",
    [
        "$ echo $ONEAPI_DEVICE_SELECTOR\nopencl:cpu",
        '$env:ONEAPI_DEVICE_SELECTOR = "opencl:cpu"',
        'os.environ["ONEAPI_DEVICE_SELECTOR"] = "opencl:cpu"',
        'os.environ.setdefault("ONEAPI_DEVICE_SELECTOR", "opencl:cpu")',
        'Environment="ONEAPI_DEVICE_SELECTOR=opencl:cpu"',
        'setx ONEAPI_DEVICE_SELECTOR "opencl:cpu"',
        "set -gx ONEAPI_DEVICE_SELECTOR opencl:cpu",
        '"ONEAPI_DEVICE_SELECTOR": "opencl:cpu",',
        "ONEAPI_DEVICE_SELECTOR=opencl:cpu python t.py",
        "      - ONEAPI_DEVICE_SELECTOR=opencl:cpu",
    ],
)
def test_a_variable_in_any_form(line: str) -> None:
    assert read(f"{line}\n").environment == {"ONEAPI_DEVICE_SELECTOR": "opencl:cpu"}


def test_a_system_named_linux_is_no_kernel() -> None:
    system = read("Linux Mint 21.3, my card is not detected\n$ sycl-ls\n").system
    assert system is None or system.kernel == "0"


@pytest.mark.parametrize(
    "text",
    [
        (
            "B580 not found by ollama\nSystem:\n  Host: box Kernel: 6.8.0-51-generic arch: x86_64\n"
            "Graphics:\n  Device-1: Intel Battlemage G21 [Arc B580] driver: N/A bus-ID: 0b:00.0 chip-ID: 8086:e20b\n"
        ),
        "No GPU detected\n\nKernel: 6.6.10-76060610-generic\nGPU: Intel Device e20b\n",
        (
            "uname -r: 6.5.0-45-generic\n00:02.0 VGA compatible controller: Intel Corporation Meteor Lake-P [Intel Arc "
            "Graphics] (rev 08)\nThere is no render node, level zero finds no device.\n"
        ),
    ],
    ids=["inxi", "neofetch", "words"],
)
def test_a_kernel_and_a_gpu_as_people_show_them(text: str) -> None:
    assert causes(text) == ["kmd.force_probe"]


@pytest.mark.parametrize(
    ("title", "fails"),
    [
        ("GPU not found", True),
        ("OpenCL not available", True),
        ("Arc B580 isn't detected", True),
        ("GPU detected fine", False),
        ("GPU not found?", False),
    ],
)
def test_the_title_of_a_post_tells_too(title: str, fails: bool) -> None:
    assert ("fails" in read(f"{title}\n\n$ uname -r\n6.1.0\n").said) == fails


def test_opencls_variable_is_no_warning_where_it_lists_the_gpu() -> None:
    shown = "$ clinfo -l\nPlatform #0: Intel(R) OpenCL Graphics\n `-- Device #0: Intel(R) Arc(TM) A770 Graphics\n"
    found = findings(f"OCL_ICD_VENDORS=/opt/conda/etc/OpenCL/vendors\n{shown}")
    assert found["umd.opencl_icd"].level in ("ok", "info")


def test_graphics_by_the_name_of_their_chip() -> None:
    text = "Ice Lake (Iris Plus G7) on Fedora 42: sycl-ls lists only cpu\n"
    assert causes(f"{text}intel-compute-runtime-25.18.33578.6-1.fc42.x86_64\n") == ["hw.legacy_gpu"]
