"""doctor --paste: what is asked often, in the mixtures in which it comes, and what looks like it and is well."""

from __future__ import annotations

import pytest

from test_paste_shown import causes, findings, read

ZE = "[level_zero:gpu][level_zero:{}] Intel(R) oneAPI Unified Runtime over Level-Zero, Intel(R) {} 1.0 [1.6.33944]\n"
CPU = "[opencl:cpu][opencl:0] Intel(R) OpenCL, Intel(R) Core(TM) i5-12400 OpenCL 3.0\n"
BOTH = ZE.format(0, "Arc(TM) A750 Graphics") + ZE.format(1, "UHD Graphics 730")
CONFIG = "Arc A750\n>>> print(torch.__config__.show())\nPyTorch built with:\n  - GCC 11.2\n{}"
SETTINGS = "  - Build settings: BLAS_INFO=mkl, BUILD_TYPE=Release, {}\n"
MISSING = "./app: error while loading shared libraries: libsycl.so.8: cannot open shared object file: No such file\n"
KIT = "$ ls /opt/intel/oneapi\n2025.1  compiler  mkl  setvars.sh\n"
DLL = 'OSError: [WinError 126] not found. Error loading "C:\\e\\torch\\lib\\backend_with_compiler.dll"\n'
NIGHT = 'OSError: [WinError 1114] initialization routine failed. Error loading "C:\\e\\torch\\lib\\c10.dll" or\n'
DKMS = "$ dkms status\nintel-i915-dkms/1.23.10.54, 6.5.0-44-generic, x86_64: installed\n"
MTL = "00:02.0 VGA compatible controller [0300]: Intel Corporation Device [8086:7d55]\n"
HABANA = "habanalabs-1.18.0-5.el9.noarch\nhabanalabs-firmware-1.18.0-5.el9.x86_64\n"
HOOK = "OCI runtime create failed: error running hook #0: exit status 1\n"
GUEST = "ann@vm:~$ lspci\n00:01.0 VGA compatible controller: Device 1234:1111 (rev 02)\nann@vm:~$ sycl-ls\n"
HELD = "root@pve:~# lspci -nnk\n03:00.0 VGA compatible controller [0300]: Intel Corporation DG2 [8086:56a5]\n"
VFIO = "\tKernel driver in use: vfio-pci\n"
ABC = "abc@0123456789ab:/$ id\nuid=1000(abc) gid=1000(abc) groups=1000(abc)\nabc@0123456789ab:/$ ls -l /dev/dri\n"
POD = "Flex 170\n$ kubectl exec ov-0 -- id\nuid=1000 gid=1000 groups=1000\n$ kubectl exec ov-0 -- ls -ln /dev/dri\n"
ARC = "Platform #0: Intel(R) OpenCL Graphics\n `-- Device #0: Intel(R) Arc(TM) B580 Graphics\n"
IRIS = "Intel(R) Iris(R) Xe Graphics"
NODE = "crw-rw---- 1 0 993 226, 128 Jan  2 08:00 renderD128\n"

FOUND: tuple[tuple[str, str, str], ...] = (
    ("settings with CUDA", CONFIG.format(SETTINGS.format("CUDA_VERSION=12.1")), "torch.is_xpu_build"),
    ("CUDA's runtime", CONFIG.format("  - CUDA Runtime 12.8\n"), "torch.is_xpu_build"),
    (
        "settings without XPU",
        CONFIG.format(
            SETTINGS.format("CXX_FLAGS= " + "-Wall " * 300 + ", TORCH_VERSION=2.8.0, USE_CUDA=0, USE_XPU=OFF")
        ),
        "torch.is_xpu_build",
    ),
    (
        "selector of the integrated one",
        f"It never uses the Arc\n$ sycl-ls\n{BOTH}ONEAPI_DEVICE_SELECTOR=level_zero:1\n",
        "umd.device_choice",
    ),
    ("mask of the integrated one", f"uses the iGPU\n{BOTH}$ echo $ZE_AFFINITY_MASK\n1\n", "umd.device_choice"),
    (
        "drivers of others",
        f"Arc A750\n$ sycl-ls\n{CPU}$ ls /etc/OpenCL/vendors\nintel64.icd  pocl.icd\n$ id\nuid=1000(a) gid=1000(a)\n",
        "umd.ze_intel_gpu",
    ),
    (
        "the loader alone",
        f"Arc A750\n$ sycl-ls\n{CPU}$ ls /usr/lib64/libze*\n/usr/lib64/libze_loader.so.1\n",
        "umd.ze_intel_gpu",
    ),
    ("oneAPI not active", f"Arc A750\n$ ./app\n{MISSING}{KIT}", "runtime.libraries"),
    ("oneAPI not active in Windows", f"Arc A750, I have oneAPI 2024.0 installed\n{DLL}", "runtime.libraries"),
    ("a DLL of oneAPI", "Arc A750\nThe program cannot start because sycl8.dll was not found.\n", "runtime.libraries"),
    ("backport and Meteor Lake", f"{MTL}{DKMS}i915 0000:00:02.0: *ERROR* GT0: timed out\n", "kmd.other_kernel"),
    (
        "not logged in again",
        f"Arc A380\nrender:x:992:max\n$ id\nuid=1000(max) gid=1000(max) groups=1000(max)\n$ sycl-ls\n{CPU}",
        "perm.session",
    ),
    (
        "CUDA by its attribute",
        "Arc A750\n>>> torch.version.cuda\n'12.6'\n>>> torch.xpu.is_available()\nFalse\n",
        "torch.is_xpu_build",
    ),
    (
        "variable of a run",
        f"Arc A750\nann@box:~$ docker run --device /dev/dri -e ONEAPI_DEVICE_SELECTOR=opencl:cpu kit sycl-ls\n{CPU}",
        "umd.device_filter_env",
    ),
    (
        "no driver in a report",
        "Arc A750\nIs XPU available: False\n* intel-opencl-icd:\tN/A\n* libze1:\tN/A\n* level-zero:\tN/A\n",
        "umd.ze_intel_gpu",
    ),
    (
        "took Iris",
        f"{ZE.format(0, 'Iris(R) Xe Graphics')}{ZE.format(1, 'Arc(TM) A370M Graphics')}using device SYCL0 ({IRIS})\n",
        "umd.device_choice",
    ),
    (
        "backport that is loaded",
        f"{MTL}$ modinfo -n i915\n/lib/modules/6.8.0-60-generic/updates/dkms/i915.ko\n$ sycl-ls\n{CPU}",
        "kmd.other_kernel",
    ),
    ("runtime of Gaudi", f"{HABANA}habanalabs-container-runtime-1.5.1-1.x86_64\n{HOOK}", "hpu.container_runtime"),
    ("guest beside its host", f"{GUEST}{HELD}{VFIO}", "hw.intel_gpu_present"),
    (
        "kernel in words",
        f"Ubuntu 24.04 HWE 6.14.0-29-generic\n{MTL.replace('7d55', 'b080')}ls: cannot access '/dev/dri': No such\n",
        "kmd.force_probe",
    ),
    (
        "basic display",
        "ffmpeg: Using device 8086:5912 (Intel(R) HD Graphics 630).\nCard name: Microsoft Basic Display Adapter\n",
        "win.driver",
    ),
)


@pytest.mark.parametrize(("text", "cause"), [pair[1:] for pair in FOUND], ids=[pair[0] for pair in FOUND])
def test_causes_that_are_asked_for_often(text: str, cause: str) -> None:
    assert causes(text)[:1] == [cause]


WELL: tuple[tuple[str, str], ...] = (
    ("settings with XPU", CONFIG.format(SETTINGS.format("TORCH_VERSION=2.8.0, USE_CUDA=OFF, USE_XPU=ON"))),
    (
        "XPU named before the settings",
        CONFIG.format("XPU backend" + SETTINGS.format("TORCH_VERSION=2.6.0, USE_CUDA=0")),
    ),
    ("settings of an older one of Intel's", CONFIG.format(SETTINGS.format("TORCH_VERSION=2.1.0, USE_CUDA=OFF"))),
    (
        "CUDA that works",
        f"UHD Graphics 770\n{CONFIG.format('  - CUDA Runtime 12.8')}\n>>> torch.cuda.is_available()\nTrue\n",
    ),
    (
        "the integrated one on purpose",
        f"I want the iGPU for small models, not the Arc\n{BOTH}ONEAPI_DEVICE_SELECTOR=level_zero:1\n",
    ),
    (
        "each its own",
        f"not one GPU for both\n{BOTH}ONEAPI_DEVICE_SELECTOR=level_zero:1\nONEAPI_DEVICE_SELECTOR=level_zero:0\n",
    ),
    ("the card chosen", f"never idle GPU\n{BOTH}ONEAPI_DEVICE_SELECTOR=level_zero:0\n"),
    ("no GPU of Intel's wanted", "$ ls /etc/OpenCL/vendors\nintel64.icd\n$ clinfo -l\nPlatform #0: Intel(R) OpenCL\n"),
    (
        "a backport that is for the card",
        f"Meteor Lake and an A770 that works\n{DKMS}{ZE.format(0, 'Arc(TM) A770 Graphics')}",
    ),
    ("Gaudi's packages of one release", f"{HABANA}habanalabs-container-runtime-1.18.0-5.x86_64\n{HOOK}"),
    (
        "B580 and a driver of its time",
        f"$ clinfo -l\n{ARC}ii  libze-intel-gpu1  25.09.32961.5-1  amd64  driver\n",
    ),
    (
        "xpu-smi under WSL",
        f"WSL2\n$ sycl-ls\n{ZE.format(0, 'Graphics [0x56a0]')}$ xpu-smi discovery\nNo device discovered\n",
    ),
)


@pytest.mark.parametrize("text", [pair[1] for pair in WELL], ids=[pair[0] for pair in WELL])
def test_what_is_like_it_and_well(text: str) -> None:
    assert causes(text) == []


def test_the_card_is_named_to_choose() -> None:
    found = findings(f"It never uses the Arc\n$ sycl-ls\n{BOTH}ONEAPI_DEVICE_SELECTOR=level_zero:1\n")
    assert ("any", ("export ONEAPI_DEVICE_SELECTOR=level_zero:0", "sycl-ls")) in found["umd.device_choice"].fix.commands


def test_both_groups_are_in_the_session() -> None:
    text = (
        f"Arc A380\nrender:x:992:max\n$ id\nuid=1000(max) gid=1000(max) groups=1000(max),992(render)\n$ sycl-ls\n{CPU}"
    )
    assert "perm.session" not in causes(text)


def test_root_sees_it_so_that_the_driver_knows_it() -> None:
    text = (
        f"$ sycl-ls\n{CPU}$ sudo sycl-ls\n{ZE.format(0, 'Arc(TM) B70 Graphics [0xe223]')}intel-opencl-icd 25.09.32961\n"
    )
    assert causes(text) == ["perm.render_group"]


def test_abc_is_made_a_member_inside() -> None:
    found = findings(f"{ABC}{NODE}Arc A380\n")["perm.container_gid"]
    assert "usermod -aG" in str(found.fix.commands)
    assert "abc" in found.fix.say


def test_a_pod_is_given_the_group_in_its_spec() -> None:
    found = findings(f"{POD}{NODE}no devices found\n")["perm.container_gid"]
    assert "supplementalGroups: [993]" in str(found.fix.commands)


def test_two_kernels_in_words_are_none() -> None:
    kernel = read("Arc A750 on Ubuntu 24.04 6.8.0-45-generic\nthe other host: Debian 6.1.0-28-amd64\n").kernel
    assert kernel is None


def test_where_each_of_the_packages_is_told() -> None:
    runtime = "habanalabs-container-runtime"
    text = f"== one\n{HABANA}{runtime}-1.18.0-5.x86_64\n== two\n{HABANA}{runtime}-1.5.1-1.x86_64\n{HOOK}"
    assert "on two" in findings(text)["hpu.container_runtime"].seen
