"""doctor --paste: what ails the machine itself, by versions, ids, lists of packages and what programs lack."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from test_paste_shown import causes, findings, read
from xpusetup.commands.paste import read_paste

if TYPE_CHECKING:
    from pathlib import Path

NONE = "$ clinfo\nNumber of platforms                               0\n"
MINE = "$ id\nuid=1000(eva) gid=1000(eva) groups=1000(eva),27(sudo){}\n"
NODE = "$ ls -l /dev/dri\ncrw-rw---- 1 root render 226, 128 Mar  4 10:00 renderD128\n"
OURS = MINE.format(",44(video),109(render)") + NODE
THEIRS = MINE.format("") + NODE
I915 = "\tKernel driver in use: i915\n\tKernel modules: i915\n"
LOST = "\tKernel modules: i915\n"
OLD_LIST = (
    "$ sycl-ls\n[opencl:0] CPU : Intel(R) OpenCL 3.0 [2022.13.3.0.16_160000]\n[host:0] HOST: SYCL host"
    " platform 1.2 [1.2]\n"
)
WIN_DRIVER = (
    "PS C:\\> Get-CimInstance Win32_VideoController | fl Name,DriverVersion\n\nName          :"
    " Intel(R) {}\nDriverVersion : {}\n"
)


def vga(name: str, device: str) -> str:
    return (
        f"$ lspci -nnk -s 00:02.0\n00:02.0 VGA compatible controller [0300]: Intel Corporation {name} [8086:{device}]\n"
    )


def deb(*rows: str) -> str:
    return "".join(f"ii  {name}  {version}  amd64  a part\n" for name, version in (row.split() for row in rows))


def uevent(device: str, driver: str = "i915") -> str:
    return (
        f"$ cat /sys/class/drm/card0/device/uevent\nDRIVER={driver}\nPCI_CLASS=30000\nPCI_ID=8086:{device}\n"
        "PCI_SUBSYS_ID=17AA:22AC\nPCI_SLOT_NAME=0000:00:02.0\n"
    )


POSTS: tuple[tuple[str, str, str], ...] = (
    # the driver in user space is older than this very id
    (
        "Raptor Lake-P on a driver of 2021",
        f"{uevent('A7A0')}{NONE}$ dpkg -l | grep opencl\n{deb('intel-opencl-icd 21.52.22081')}",
        "umd.older_than_gpu",
    ),
    (
        "Twin Lake on a driver of 2023",
        f"{vga('Device', '46d4')}{I915}{NONE}$ dpkg -l | grep icd\n{deb('intel-opencl-icd 23.35.27191.42')}",
        "umd.older_than_gpu",
    ),
    (
        "B60 on a driver that knows the B580",
        (
            "$ lspci -nnk\n03:00.0 VGA compatible controller [0300]: Intel Corporation Device [8086:e211]\n"
            f"\tKernel driver in use: xe\n{NONE}$ dpkg -l\n{deb('libze-intel-gpu1 25.13.33276.16', 'libze1 1.21.9')}"
        ),
        "umd.older_than_gpu",
    ),
    (
        "Jasper Lake by intel_gpu_top",
        (
            "$ intel_gpu_top -L\ncard0                    Intel Jasperlake (Gen11)         "
            " pci:vendor=8086,device=4E71,card=0\n"
            f"└─renderD128\n{NONE}$ dpkg -l | grep opencl\n{deb('intel-opencl 19.48.14977')}"
        ),
        "umd.older_than_gpu",
    ),
    (
        "Ice Lake by sysfs",
        (
            f"$ cat /sys/class/drm/card0/device/device\n0x8a56\n{NONE}$ rpm -qa | grep"
            f" intel-opencl\nintel-opencl-19.23.13131-1.el8\n"
        ),
        "umd.older_than_gpu",
    ),
    # rights stand before graphics that older drivers serve
    (
        "UHD 620, an older driver and no group",
        (
            f"{vga('UHD Graphics 620', '5917')}{I915}{NONE}{THEIRS}$ dpkg -l | grep"
            f" icd\n{deb('intel-opencl-icd 22.14.22890-1')}"
        ),
        "perm.render_group",
    ),
    (
        "Gemini Lake, the legacy packages and no group",
        (
            f"{vga('GeminiLake [UHD Graphics 600]', '3185')}{I915}{NONE}{THEIRS}"
            f"$ dpkg -l | grep icd\n{deb('intel-opencl-icd-legacy1 24.35.30872.36')}"
        ),
        "perm.render_group",
    ),
    (
        "Skylake and a driver that has dropped it",
        (
            f"{vga('HD Graphics 530', '1912')}{I915}{NONE}{OURS}$ dpkg -l | grep"
            f" icd\n{deb('intel-opencl-icd 25.18.33578.6')}"
        ),
        "hw.legacy_gpu",
    ),
    (
        "Kaby Lake and PyTorch",
        (
            f"{vga('HD Graphics 630', '591b')}{I915}{OURS}$ dpkg -l | grep icd\n{deb('intel-opencl-icd 22.14.22890-1')}"
            "$ python -c 'import torch; print(torch.__version__, torch.xpu.is_available())'\n2.9.0+xpu False\n"
        ),
        "hw.legacy_gpu",
    ),
    # the loader against what calls it
    (
        "a loader without zeInitDrivers",
        (
            "$ python -c 'import torch; print(torch.xpu.is_available())'\nFalse\n$ SYCL_UR_TRACE=1 ./a.out\n"
            "<LOADER>[INFO]: failed to load adapter 'libur_adapter_level_zero.so.0' with error: "
            "/opt/x/libur_adapter_level_zero.so.0: undefined symbol: zeInitDrivers\n"
            f"$ dpkg -l | grep libze\n{deb('libze1 1.17.6-1', 'libze-intel-gpu1 24.39.31294.20')}"
        ),
        "umd.ze_loader",
    ),
    (
        "a loader without a function that the table does not have",
        (
            "$ sycl-ls\n[opencl:cpu][opencl:0] Intel(R) OpenCL, Intel(R) Xeon(R) OpenCL 3.0\n"
            "/usr/bin/zebench: symbol lookup error: /usr/bin/zebench: undefined symbol: zeMyOwnThing\n"
        ),
        "umd.ze_loader",
    ),
    (
        "the entry point of Windows",
        (
            "C:\\> python test.py\nThe procedure entry point zeCommandListHostSynchronize could not be located"
            " in the dynamic link"
            " library C:\\venv\\ur_adapter_level_zero.dll\n>>> torch.xpu.is_available()\nFalse\n"
        ),
        "umd.ze_loader",
    ),
    (
        "a loader newer than the driver",
        (
            f"{WIN_DRIVER.format('UHD Graphics 620', '31.0.101.2115')}"
            "ZE_LOADER_DEBUG_TRACE:Load of zeGetFabricEdgeExpProcAddrTable failed, not found in ze_intel_gpu64.dll\n"
            "zeInit: ZE_RESULT_ERROR_UNINITIALIZED\n"
        ),
        "umd.gives_up",
    ),
    (
        "a linker that asks for the loader's link",
        (
            "/usr/bin/ld: cannot find -lze_loader: No such file or directory\n$ ldconfig -p | grep ze_loader\n"
            "\tlibze_loader.so.1 (libc6,x86-64) => /lib/x86_64-linux-gnu/libze_loader.so.1\n"
        ),
        "umd.ze_loader",
    ),
    # packages that a list shows to be missing
    (
        "a driver without the loader",
        (
            f"$ sycl-ls\n[opencl:cpu][opencl:0] Intel(R) OpenCL, Intel(R) Xeon(R) OpenCL 3.0\n"
            f"$ dpkg -l | grep -E 'level-zero|libze'\n{deb('intel-level-zero-gpu 1.3.29735.20')}$"
            f" id\nuid=0(root) gid=0(root)\n"
        ),
        "umd.ze_loader",
    ),
    (
        "a driver without the graphics compiler",
        (
            f"{NONE}$ dpkg -l | grep -E 'opencl|igc|level-zero|libze'\n"
            f"{deb('intel-opencl-icd 24.45.31740.9', 'libze-intel-gpu1 24.45.31740.9', 'libze1 1.18.5')}$ uname"
            f" -r\n6.11.0-19-generic\n"
        ),
        "umd.igc_incompatible",
    ),
    # the kernel's driver does not know the platform
    (
        "Arrow Lake on an i915 of DKMS",
        (
            f"{vga('Device', '7d51')}{LOST}$ uname -r\n6.5.0-45-generic\n"
            "[    2.1] i915 0000:00:02.0: [drm] *ERROR* GT0: unknown platform, no GuC firmware defined\n"
            "[    2.2] i915: probe of 0000:00:02.0 failed with error -19\n"
        ),
        "kmd.unknown_id",
    ),
    (
        "Battlemage on a kernel that fails to start it",
        (
            "$ lspci -nnk\n03:00.0 VGA compatible controller [0300]: Intel Corporation Device"
            " [8086:e20b]\n\tKernel modules: xe\n"
            "$ uname -r\n6.8.0-60-generic\n[    3.3] xe 0000:03:00.0: probe with driver xe failed with error -19\n"
        ),
        "kmd.force_probe",
    ),
    # a container whose own driver is another one than the host's
    (
        "the host lists it and the container does not",
        (
            "me@box:~$ clinfo -l\nPlatform #0: Intel(R) OpenCL Graphics\n `-- Device #0: Intel(R) UHD Graphics 770\n"
            "me@box:~$ docker run -it --device /dev/dri media:1.2 bash\nroot@0a1b2c3d4e5f:/# clinfo -l\n"
            "root@0a1b2c3d4e5f:/# id\nuid=0(root) gid=0(root) groups=0(root)\nroot@0a1b2c3d4e5f:/# ls -l /dev/dri\n"
            "crw-rw---- 1 root 109 226, 128 Feb 12 09:40 renderD128\nroot@0a1b2c3d4e5f:/# dpkg -l | grep opencl\n"
            f"{deb('intel-opencl 22.43.24595')}"
        ),
        "container.older_than_gpu",
    ),
    # Windows
    (
        "a driver of Windows after which it crashes",
        (
            f"{WIN_DRIVER.format('Arc(TM) A750 Graphics', '32.0.101.6647')}>>> torch.xpu.is_available()\nTrue\n"
            "Since the update every run crashes with 0xC0000005. After rolling back to 32.0.101.6559 all is well.\n"
        ),
        "win.driver",
    ),
    (
        "torch 2.5 and no oneAPI",
        (
            "C:\\ai>pip list | findstr torch\ntorch                     2.5.1+xpu\n"
            "OSError: [WinError 126] The specified module could not be found. Error loading"
            ' "C:\\ai\\torch\\lib\\c10_xpu.dll"\n'
        ),
        "runtime.libraries",
    ),
    (
        "the extension without setvars",
        (
            'ERROR oneAPI is not activated\nC:\\sd>dir /b "C:\\Program Files'
            ' (x86)\\Intel\\oneAPI"\ncompiler\nmkl\nsetvars.bat\n'
            "OSError: [WinError 126] The specified module could not be found. Error loading"
            ' "C:\\sd\\bin\\intel-ext-pt-gpu.dll"\n'
        ),
        "runtime.libraries",
    ),
    (
        "Triton's header in Windows",
        (
            "C:\\tr\\include\\sycl_functions.h(13): fatal error C1083: Cannot open include file: 'level_zero/ze_api.h':"
            " No such file or directory\n>>> torch.xpu.is_available()\nTrue\n"
        ),
        "triton.ze_headers",
    ),
    (
        "operators for another Ascend chip",
        (
            "| npu-smi 24.1.0   Version: 24.1.0 |\n| 0     310P3                 | OK              | NA"
            " |\nCANN: version=8.2.RC1\n"
            "[ERROR] the socversion Ascend910B3 of bin package does not match the current device socverison"
            " Ascend310P3.\n"
        ),
        "npu.release",
    ),
)


@pytest.mark.parametrize(("post", "cause"), [each[1:] for each in POSTS], ids=[each[0] for each in POSTS])
def test_what_ails_the_machine_stands_first(post: str, cause: str) -> None:
    assert causes(post)[:1] == [cause]


WELL = {
    "a Comet Lake on a driver that serves it": (
        f"{uevent('9BCA')}{OURS}$ dpkg -l | grep -E"
        f" 'opencl|igc'\n{deb('intel-opencl-icd 22.14.22890-1', 'libigc1 1.0.10395-1')}"
        "$ clinfo -l\nPlatform #0: Intel(R) OpenCL HD Graphics\n `-- Device #0: Intel(R) UHD Graphics [0x9bca]\n"
    ),
    "an older sycl-ls that lists the GPU": (
        "$ sycl-ls\n[opencl:0] GPU : Intel(R) OpenCL HD Graphics 3.0 [21.49.21786]\n"
        "[level_zero:0] GPU : Intel(R) Level-Zero 1.2 [1.2.21786]\n[host:0] HOST: SYCL host platform 1.2 [1.2]\n"
        f"$ dpkg -l | grep -E 'level-zero'\n{deb('intel-level-zero-gpu 1.2.21786', 'level-zero 1.6.2')}"
    ),
    "a B60 on a driver of its time": (
        "$ lspci -nnk\n03:00.0 VGA compatible controller [0300]: Intel Corporation Device [8086:e211]\n\tKernel"
        " driver in use: xe\n"
        "$ sycl-ls\n[level_zero:gpu][level_zero:0] Intel(R) oneAPI Unified Runtime over Level-Zero, Intel(R)"
        " Arc(TM) Pro B60 Graphics"
        f" 20.1.0 [1.6.33578]\n$ dpkg -l | grep -E"
        f" 'libze|igc'\n{deb('libze-intel-gpu1 25.18.33578.6', 'libze1 1.22.4', 'libigc2 2.11.7')}"
    ),
    "a driver of Windows of which somebody asks": (
        f"{WIN_DRIVER.format('Arc(TM) B580 Graphics', '32.0.101.6913')}>>> torch.xpu.is_available()\nTrue\n"
        "Is it worth going from here to 32.0.101.6987? All is well with 32.0.101.6913.\n"
    ),
}


@pytest.mark.parametrize("post", WELL.values(), ids=WELL)
def test_sound_machines_get_neither_cause_nor_warning(post: str) -> None:
    assert [name for name, each in findings(post).items() if each.level in ("fail", "crash", "warn")] == []


def test_an_error_that_is_known_stands_before_a_torch_without_a_device(tmp_path: Path) -> None:
    post = (
        "$ python -c 'import torch; print(torch.__version__, torch.xpu.is_available())'\n2.9.0+xpu False\n"
        "OSError: libmkl_sycl_blas.so.5: cannot open shared object file: No such file or directory\n"
    )
    file = tmp_path / "post.txt"
    file.write_text(post)
    pasted = read_paste([str(file)])
    assert pasted.describe(tuple(findings(post).values()), ["torch.available"]).surer


@pytest.mark.parametrize(
    ("text", "device", "address"),
    [
        (uevent("7D55"), "7d55", "0000:00:02.0"),
        ("PS C:\\> Get-PnpDevice -Class Display | fl\nInstanceId : PCI\\VEN_8086&DEV_7D55&SUBSYS_1\n", "7d55", "GPU 0"),
        ("Name        : Intel(R) Arc(TM) Graphics\nPNPDeviceID : PCI\\VEN_8086&DEV_7D55&SUBSYS_1\n", "7d55", "GPU 0"),
        (
            (
                "$ inxi -Gxx\nGraphics:\n  Device-1: Intel Meteor Lake-P [Intel Arc Graphics] vendor: Lenovo"
                " driver: i915 v: kernel\n"
                "    bus-ID: 00:02.0 chip-ID: 8086:7d55 class-ID: 0300\n"
            ),
            "7d55",
            "0000:00:02.0",
        ),
    ],
)
def test_ids_where_no_lspci_is(text: str, device: str, address: str) -> None:
    hardware = read(text).hardware
    assert hardware is not None
    assert [(gpu.device, gpu.address) for gpu in hardware.gpus] == [(device, address)]


def test_the_address_of_what_is_no_display_device_is_none() -> None:
    assert read("PS C:\\> Get-PnpDevice\nInstanceId : PCI\\VEN_8086&DEV_A0ED&SUBSYS_1\nuname -r\n").hardware is None


def test_a_release_for_graphics_before_gen12_is_bounded_above() -> None:
    told = findings(f"{uevent('9BF6')}{NONE}$ dpkg -l | grep icd\n{deb('intel-opencl-icd 21.37.20939')}{OLD_LIST}")
    assert "24.31" in told["umd.older_than_gpu"].fix.say
