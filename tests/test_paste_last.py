"""doctor --paste: what was said last of torch, what a filter did not show, and names of what is not there."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from packaging.specifiers import SpecifierSet

from data.profiles import shipped
from test_paste_shown import causes, findings, read
from xpusetup.commands.paste import read_paste
from xpusetup.paste.runs import built_elsewhere, hidden_cards

if TYPE_CHECKING:
    from pathlib import Path

    from xpusetup.machine.environments import Torch

B580 = "04:00.0 VGA compatible controller [0300]: Intel Corporation Battlemage G21 [Arc B580] [8086:e20b]\n"
A380 = "06:00.0 VGA compatible controller [0300]: Intel Corporation DG2 [Arc A380] [8086:56a5]\n"
MODULES = "\tKernel modules: i915, xe\n"
LISTED = (
    "[level_zero:gpu][level_zero:0] Intel(R) oneAPI Unified Runtime over Level-Zero, Intel(R) Arc(TM) B580 Graphics\n"
)
ONE_NODE = "$ ls /dev/dri\nby-path card0 renderD128\n"
BLIND = "$ python -c 'import torch; print(torch.__version__, torch.xpu.is_available())'\n2.8.0+xpu False\n"
WSL = "$ uname -r\n6.6.87.2-microsoft-standard-WSL2\n$ ls -l /dev/dxg\ncrw-rw-rw- 1 0 0 10, 125 Jul 2 10:00 /dev/dxg\n"
SMI = "$ xpu-smi discovery | grep -E 'Name|BDF'\n" + "".join(
    f"| Device Name: Intel(R) Data Center GPU Max 1100 |\n| PCI BDF Address: 0000:{bus}:00.0 |\n" for bus in (29, 30)
)
UV = "Uninstalled 1 package in 9ms\nInstalled 1 package in 8ms\n - torch==2.9.0+xpu\n + torch==2.9.1+cpu\n"
PIP = "    Found existing installation: torch 2.9.0+xpu\n      Successfully uninstalled torch-2.9.0+xpu\n"
CANN = "package_name=Ascend-cann-toolkit\nversion=8.3.RC1\n"
NPU = "$ python -c 'import torch_npu; print(torch.npu.is_available())'\nFalse\n"
REFUSED = "[    4.5] xe 0000:06:00.0: Your graphics device 56a5 is not officially supported\n"
ACCEL = "$ ls /dev/accel\naccel0  accel1\nRuntimeError: synStatus=8 [Device not found] Device acquire failed.\n"
NODE = "crw-rw---- 1 nobody nogroup 226, 128 Oct  1 07:00 renderD128\n"
A770 = "0000:03:00.0"
BY_XE = f"[    2.9] xe {A770}: Your graphics device 56a0 is not officially supported\n"
BLOCKED = f"[    2.7] i915 {A770}: I915 probe blocked for Device ID 56a0.\n"
ARC = f"[    0.3] pci {A770}: [8086:56a0] type 00 class 0x030000 PCIe Endpoint\n"
CMDLINE = "$ cat /proc/cmdline\nBOOT_IMAGE=/vmlinuz-6.15.9 root=UUID=0f7e rw quiet i915.force_probe=!56a0{}\n$ dmesg\n"
SEAT = "$ getfacl /dev/dri/renderD128\n# file: dev/dri/renderD128\n# owner: root\n# group: render\nuser::rw-\n"
MINE = "$ id\nuid=1000(ann) gid=1000(ann) groups=1000(ann),27(sudo){}\n"
NO_MATCH = "ERROR: Could not find a version that satisfies the requirement {} (from versions: 2.5.0, 2.9.0)\n"
NPU_LIST = "$ pip list\ntorch      2.{}.0\ntorch_npu  2.8.0.post2\n"
C10 = "ImportError: /usr/lib/python3/torch_npu/lib/libtorch_npu.so: undefined symbol: _ZNK3c1010TensorImpl1aEv\n"
NO_LOADER = "ImportError: libze_loader.so.1: cannot open shared object file: No such file or directory\n"
IPEX = "$ pip list\ntorch  2.9.0+xpu\nintel_extension_for_pytorch  2.8.10+xpu\n>>> torch.xpu.is_available()\nTrue\n"
DRI = 'Error response from daemon: error gathering device information while adding custom device "/dev/dri"\n'
DAVINCI = "crw-rw---- 1 HwHiAiUser HwHiAiUser 236, 0 Nov 3 08:30 /dev/davinci0\n"

RELEASES = ("torch-2.4", "torch-2.5", "torch-2.6", "torch-2.7", "torch-2.8")


def torch_of(text: str) -> Torch:
    told = read(text).torch
    assert told is not None
    return told


@pytest.mark.parametrize(
    ("text", "version"),
    [
        (f"It was torch 2.9.0+xpu.\n{PIP}Successfully installed torch-2.9.1 triton-3.5.1\n", "2.9.1"),
        (UV, "2.9.1+cpu"),
        (" - torch==2.9.0+xpu\n", "2.9.0+xpu"),
        ("  - Updating torch (2.7.0+xpu -> 2.7.1+cpu)\n", "2.7.1+cpu"),
        ("  pytorch  conda-forge/linux-64::pytorch-2.6.0-cpu_mkl_h1_100\n", "2.6.0"),
        ("  pytorch    2.5.1-py3.11_xpu_0 --> 2.6.0-cpu_mkl_h1_100\n", "2.6.0"),
        ("torch 2.9.0+xpu worked\n$ pip list\ntorch    2.8.0\n", "2.8.0"),
        ("$ pip list\ntorch    2.8.0+xpu\n>>> torch.__version__\n'2.9.0+cpu'\n", "2.9.0+cpu"),
        (
            f"$ python -c 'import torch; print(torch.__version__, torch.version.cuda)'\n2.9.1+cu128 12.8\n{PIP}",
            "2.9.1+cu128",
        ),
    ],
)
def test_the_torch_that_is_there_in_the_end(text: str, version: str) -> None:
    assert torch_of(text).version == version


def test_one_print_says_for_what_it_was_built() -> None:
    asked = "print(torch.__version__, torch.version.cuda, torch.xpu.is_available(), torch.cuda.get_device_name(0))"
    told = torch_of(f">>> {asked}\n2.9.1+cu128 12.8 False some card of a name\n")
    assert (told.version, told.cuda, told.xpu) == ("2.9.1+cu128", "12.8", "")
    assert told.report is not None
    assert told.report.available is False


def test_a_run_with_another_variable_answers_for_itself() -> None:
    mended = "$ ONEAPI_DEVICE_SELECTOR=level_zero:0 python -c 'import torch; print(torch.xpu.is_available())'\nTrue\n"
    facts = read(f"ONEAPI_DEVICE_SELECTOR=level_zero:1\n{BLIND}{mended}")
    assert facts.environment == {"ONEAPI_DEVICE_SELECTOR": "level_zero:1"}
    assert torch_of(f"{BLIND}{mended}").report == torch_of(BLIND).report


def test_an_import_that_fails_later_counts() -> None:
    worked = "$ python -c 'import torch; print(torch.xpu.is_available())'\nTrue\n"
    broken = "ImportError: /opt/intel/oneapi/lib/libsycl.so.7: undefined symbol: urDeviceGet\n"
    assert causes(f"torch 2.8.0+xpu\n{worked}$ python a.py\n{broken}") == ["runtime.ur_mixed"]
    assert causes(f"torch 2.8.0+xpu\n$ python a.py\n{broken}{worked}") == []


POSTS: tuple[tuple[str, str, str], ...] = (
    (
        "a driver that may not load, as grep tells it",
        f"$ lspci -nnk\n{A380}{MODULES}$ grep -rn . /etc/modprobe.d\n/etc/modprobe.d/b:3:blacklist i915\n{REFUSED}",
        "kmd.blacklisted",
    ),
    (
        "a line that a command wrote",
        f"$ lspci -nnk\n{A380}{MODULES}$ echo 'blacklist i915' | sudo tee /etc/modprobe.d/x.conf\n{REFUSED}",
        "kmd.blacklisted",
    ),
    (
        "the other driver barred",
        (
            f"$ lspci -nnk\n{A380}{MODULES}blacklist xe\n[    4.0] i915 0000:06:00.0: Your graphics device 56a5 is not"
            " officially supported\n"
        ),
        "kmd.force_probe",
    ),
    (
        "barred, and nothing told of its driver",
        f"{A380}blacklist i915\nls: cannot access '/dev/dri': No such file or directory\n{BLIND}",
        "kmd.blacklisted",
    ),
    ("no driver in WSL, by grep", f"{WSL}$ ldconfig -p | grep -E 'libze_|libze_intel'\n{BLIND}", "umd.ze_intel_gpu"),
    (
        "no driver in WSL, by columns",
        f"{WSL}$ dpkg -l | grep -E 'level-zero|libze' | awk '{{print $2,$3}}'\nocl-icd-libopencl1 2.3.2\n{BLIND}",
        "umd.ze_intel_gpu",
    ),
    ("no module loaded", f"$ lspci -nn\n{B580}$ lsmod | grep -E 'i915|xe'\n{BLIND}", "kmd.bound"),
    (
        "a mask beyond the cards",
        f"export ZE_AFFINITY_MASK=2,3\nXPU device count is zero!\n{SMI}{BLIND}",
        "umd.device_filter_env",
    ),
    ("a mask beyond the nodes", f"ZE_AFFINITY_MASK=1.0\n{ONE_NODE}{BLIND}{B580}", "umd.device_filter_env"),
    ("a mask among the cards", f"ZE_AFFINITY_MASK=1\n{SMI}{BLIND}", "torch.available"),
    (
        "a compiler held back",
        (
            "$ dpkg -l | grep igc\nhi intel-igc-core 1.0.15770.11\nii intel-level-zero-gpu 1.6.31294.20\n"
            ">>> torch.xpu.device_count()\n2\nInstalled Compiler Library libigc.so.1 is incompatible\n"
        ),
        "umd.igc_incompatible",
    ),
    (
        "OpenCL looks elsewhere",
        f"{LISTED}OCL_ICD_VENDORS=/home/a/conda/envs/x/etc/OpenCL/vendors\nRuntimeError: could not create an engine\n",
        "umd.opencl_elsewhere",
    ),
    (
        "a glibc of before",
        "pip install torch\nERROR: No matching distribution found for torch==2.7.1\nldd (GNU libc) 2.17\n",
        "sys.glibc",
    ),
    (
        "a driver of a newer release",
        "B580\nsycl-ls: /lib64/libc.so.6: version `GLIBC_2.38' not found (required by /usr/lib/libigdfcl.so.2)\n",
        "sys.glibc",
    ),
    ("a card in no group of the user's", f"{NPU}{DAVINCI}$ id\nuid=7(wei) gid=7(wei) groups=7(wei)\n", "npu.access"),
    ("no node of an NPU", f"{NPU}$ ls /dev/davinci*\n/dev/davinci_manager\n$ npu-smi info\n", "npu.no_node"),
    (
        "no variable of CANN",
        "$ env | grep ASCEND\n$ python -c 'import torch_npu'\nImportError: libhccl.so: cannot open shared object\n",
        "npu.cann_env",
    ),
    (
        "another Python under Windows",
        (
            "PS C:\\ai> where python\nC:\\Users\\p\\Python\\Python313\\python.exe\nC:\\ai\\.venv\\Scripts\\python.exe\n"
            "ModuleNotFoundError: No module named 'torch'\n2.8.0+xpu\n"
        ),
        "env.other_python",
    ),
    ("an NPU's driver of before", f"Version=24.1.rc2\n{CANN}EZ9999: Inner Error!\n{NPU}", "npu.release"),
    ("cards of Gaudi that are not there", f"HABANA_VISIBLE_MODULES=4,5\n{ACCEL}", "env.hidden_cards"),
    (
        "a job without a GPU",
        (
            "$ srun -N1 python -c 'import torch; print(torch.xpu.device_count())'\n0\n"
            "$ srun -N1 --gres=gpu:1 python -c 'import torch; print(torch.xpu.device_count())'\n1\n"
        ),
        "perm.policy",
    ),
    (
        "a pod without a GPU",
        (
            "B580\n$ kubectl exec a -- ls /dev/dri\nls: cannot access '/dev/dri': No such file\n"
            "$ kubectl exec a -- python -c 'import torch; print(torch.xpu.is_available())'\nFalse\n"
        ),
        "container.no_device",
    ),
    (
        "a container of which the group is not mapped, by number",
        (
            "root@ct9:~# ls -ln /dev/dri\ncrw-rw---- 1 65534 65534 226, 128 Nov 10 10:01 renderD128\n"
            f"root@ct9:~# id\nuid=0(root) gid=0(root) groups=0(root)\n{BLIND}"
        ),
        "perm.container_gid",
    ),
    (
        "a container of which the group has another's name",
        (
            "$ ls -l /dev/dri\ncrw-rw---- 1 root kvm 226, 128 Nov 10 10:01 renderD128\n"
            f"$ id\nuid=1000(ai) gid=1000(ai) groups=1000(ai),44(video),993(render)\n{BLIND}"
        ),
        "perm.container_gid",
    ),
    (
        "a module with another version",
        "B580\nxe: version magic '6.14.0-29-generic SMP' should be '6.17.0-5-generic SMP'\n",
        "kmd.other_kernel",
    ),
    (
        "a kernel of clouds",
        f"{A380}modprobe: FATAL: Module i915 not found in directory /lib/modules/6.8.0-1021-kvm\n{BLIND}",
        "kmd.other_kernel",
    ),
    (
        "an extension that says it itself",
        "A770\nERROR! Intel Extension for PyTorch* needs to work with PyTorch 2.3.*, but PyTorch 2.5.1 is found.\n",
        "torch.ipex",
    ),
    (
        "a card given up, in a log of another language",
        f"[Sa 18. Okt 14:02:40 2025] xe 0000:04:00.0: [drm] *ERROR* CRITICAL: Xe has declared it wedged.\n{BLIND}",
        "fw.gpu_wedged",
    ),
)


CAUSES: tuple[tuple[str, str, str], ...] = (
    ("torch_npu of another torch", f"{NPU_LIST.format(12)}{C10}", "npu.torch"),
    (
        "torch replaced by an installer",
        f"torch_npu  2.8.0.post2\nSuccessfully installed torch-2.12.0 torchvision-0.27.0\n{C10}",
        "npu.torch",
    ),
    ("torch_npu and its torch", f"{NPU_LIST.format(8)}{C10}", "torch.import"),
    (
        "an extension that ends the program",
        (
            f"{IPEX}>>> import intel_extension_for_pytorch\nERROR! Intel Extension for PyTorch* needs to work with"
            " PyTorch 2.8.*, but PyTorch 2.9.0+xpu is found. Please switch.\n"
        ),
        "torch.ipex",
    ),
    (
        "an extension that does not load",
        f"{IPEX}ImportError: /a/intel_extension_for_pytorch/lib/libintel-ext-pt-gpu.so: undefined symbol: _ZN3c104a\n",
        "torch.ipex",
    ),
    (
        "a seat's access, by its ACL",
        f"Over ssh there is no XPU:\n{SEAT}user:gdm:rw-\n{MINE.format('')}B580\n{BLIND}At the screen it works.\n",
        "perm.render_group",
    ),
    (
        "a seat's access, and a service",
        (
            f"As a systemd service it is False, on the desktop True.\n$ ls -l /dev/dri\ncrw-rw----+ 1 root render 226,"
            f" 128 Oct 1 07:00 renderD128\n$ groups\nann adm video\n{LISTED}{BLIND}"
        ),
        "perm.render_group",
    ),
    ("i915 told to leave it, as it says", f"A770\n{ARC}{BLOCKED}{BY_XE}{BLIND}", "kmd.blacklisted"),
    ("i915 told to leave it, by the command line", f"{CMDLINE.format('')}{ARC}{BY_XE}{BLIND}", "kmd.blacklisted"),
    ("i915 told to leave all", f"{CMDLINE.format('').replace('!56a0', '!*')}{ARC}{BLIND}", "kmd.blacklisted"),
    (
        "i915 told to leave it, in the file of GRUB",
        f'GRUB_CMDLINE_LINUX="quiet i915.force_probe=!56a0"\n{ARC}{BLIND}',
        "kmd.blacklisted",
    ),
    (
        "a module that the command line bars",
        f'GRUB_CMDLINE_LINUX="quiet module_blacklist=i915"\n$ lspci -nnk\n{A380}{MODULES}{BLIND}',
        "kmd.blacklisted",
    ),
    (
        "xe told to leave it",
        f"$ cat /proc/cmdline\nroot=/dev/sda xe.force_probe=!e20b\n$ lspci -nnk\n{B580}{MODULES}{BLIND}",
        "kmd.blacklisted",
    ),
    ("no loader in a container", f"A770\n$ docker run --device /dev/dri a/b:1\n{NO_LOADER}", "umd.ze_loader"),
    ("no loader", f"torch 2.5.1+xpu, A770\n$ python -c 'import torch'\n{NO_LOADER}", "umd.ze_loader"),
    (
        "a Python after the release",
        f"{NO_MATCH.format('torch==2.5.1+cxx11.abi')}$ pip --version\npip 25.0 from /v/pip (python 3.13)\nA580\n",
        "py.version",
    ),
    (
        "a Python after a newer release",
        f"{NO_MATCH.format('torch==2.8.0+xpu')}$ python --version\nPython 3.14.0\nA580\n",
        "py.version",
    ),
    (
        "a wheel of an older Python",
        (
            "ERROR: torch-2.5.1+cxx11.abi-cp312-cp312-linux_x86_64.whl is not a supported wheel on this platform.\n"
            "$ python --version\nPython 3.13.1\nA580\n"
        ),
        "py.version",
    ),
    (
        "a compose file in WSL",
        f"{WSL}{DRI}services:\n  sd:\n    devices:\n      - /dev/dri:/dev/dri\nNo XPU devices are available\n",
        "wsl.dxg",
    ),
    ("a container in WSL", f"{WSL}$ docker run --device /dev/dri a/b:1 sycl-ls\n{DRI}A770\n{BLIND}", "wsl.dxg"),
)


@pytest.mark.parametrize(("text", "first"), [each[1:] for each in CAUSES], ids=[each[0] for each in CAUSES])
def test_what_does_not_belong_together_or_is_kept_away(text: str, first: str) -> None:
    assert next(iter(causes(text)), "") == first
    assert "container.no_device" not in causes(text)
    assert "kmd.force_probe" not in causes(text)


def test_a_driver_that_leaves_a_gpu_to_the_other_is_no_cause() -> None:
    both = CMDLINE.format(" xe.force_probe=56a0")
    taken = f"[    3.0] [drm] Initialized xe 1.1.0 for {A770} on minor 0\n"
    assert causes(f"{both}{ARC}{BLOCKED}{taken}{BLIND}") != ["kmd.blacklisted"]
    assert "kmd.blacklisted" not in causes(f"{CMDLINE.format('').replace('!56a0', '!7d55')}{ARC}{BY_XE}{BLIND}")


def test_who_is_in_the_group_needs_no_seat() -> None:
    assert causes(f"Over ssh there is no XPU:\n{SEAT}user:gdm:rw-\n{MINE.format(',992(render)')}B580\n{BLIND}") != [
        "perm.render_group"
    ]


@pytest.mark.parametrize("asked", ["torch==2.5.1+cxx11.abi", "torch==2.8.0+xpu"])
def test_a_python_that_the_release_is_for(asked: str) -> None:
    told = f"{NO_MATCH.format(asked)}$ python --version\nPython 3.12.3\nA580\n"
    assert "py.version" not in causes(told)


@pytest.mark.parametrize(
    ("release", "minor"), [(each.name.partition("-2.")[2], each.python) for each in map(shipped, RELEASES)]
)
def test_the_pythons_of_releases_are_those_of_their_profiles(release: str, minor: str) -> None:
    pythons = SpecifierSet(minor)
    for each in range(11, 16):
        told = f"{NO_MATCH.format(f'torch==2.{release}.0')}$ python --version\nPython 3.{each}.0\nA580\n"
        assert ("py.version" in causes(told)) == (f"3.{each}.0" not in pythons), each


@pytest.mark.parametrize(("text", "first"), [each[1:] for each in POSTS], ids=[each[0] for each in POSTS])
def test_what_is_named_first(text: str, first: str) -> None:
    assert next(iter(causes(text)), "") == first


def test_a_driver_that_serves_another_gpu_may_be_barred() -> None:
    text = f"$ lspci -nnk\n{B580}\tKernel modules: xe\nblacklist i915\n"
    assert causes(text) == ["kmd.bound"]


def test_a_window_of_a_device_that_the_command_names() -> None:
    asked = "$ lspci -vvs 06:00.0 | grep Region\n\tRegion 2: Memory at 90000000 (64-bit, prefetchable) [size=256M]\n"
    for text in (f"{asked}$ lspci -nn\n{A380}", f"$ lspci -nn\n{A380}{asked}"):
        hardware = read(text).hardware
        assert hardware is not None
        assert [gpu.bar for gpu in hardware.gpus] == [256 << 20]


def test_podman_keeps_groups() -> None:
    asked = f"$ podman run --device /dev/dri a/b:1 ls -l /dev/dri\n{NODE}"
    text = f"{asked}$ podman run a/b:1 id\nuid=1000 gid=1000 groups=1000\n{BLIND}"
    assert "keep-groups" in str(findings(text)["perm.container_gid"].fix.commands)


def test_a_module_is_held_against_the_kernel_that_runs() -> None:
    built = "habanalabs/1.20.0-543, 5.15.0-130-generic, x86_64: installed"
    assert built_elsewhere([built], "5.15.0-144-generic").keys() == {"kmd.other_kernel"}
    assert built_elsewhere([built], "5.15.0-130-generic") == {}
    assert built_elsewhere([built], "") == {}
    assert built_elsewhere([built, "\tKernel driver in use: habanalabs"], "5.15.0-144-generic") == {}


def test_cards_are_hidden_only_where_none_is_found() -> None:
    assert hidden_cards(["ASCEND_RT_VISIBLE_DEVICES=3", "/dev/davinci0"]) == {}
    assert hidden_cards(["ASCEND_RT_VISIBLE_DEVICES=0", "/dev/davinci0", "False"]) == {}
    assert hidden_cards(["ASCEND_RT_VISIBLE_DEVICES=3", "/dev/davinci0", "False"]).keys() == {"env.hidden_cards"}


def test_the_reason_of_an_import_is_found_with_its_quotes(tmp_path: Path) -> None:
    file = tmp_path / "post.txt"
    line = "ImportError: /lib64/libc.so.6: version `GLIBC_2.28' not found (required by /opt/a/libx.so)\n"
    file.write_text(f"torch 2.7.1+xpu\n{line}")
    pasted = read_paste([str(file)])
    assert [each.id for each in pasted.causes] == ["import.glibc"]


def test_what_the_kernel_calls_an_error_is_no_all_clear(tmp_path: Path) -> None:
    unheard = "xe 0000:04:00.0: [drm] *ERROR* GT0: Frobnication of the fuse box failed (-EIO)"
    works = "$ python -c 'import torch; print(torch.__version__, torch.xpu.is_available())'\n2.12.0+xpu True\n"
    post = f"$ sudo dmesg | grep xe\n[   22.1] {unheard}\n$ lspci -nn\n{B580}{works}"
    (tmp_path / "post").write_text(post)
    paste, found = read_paste([str(tmp_path / "post")]), findings(post)
    assert paste.describe(tuple(found.values())).kernel == [unheard]
    assert paste.describe((replace(found["kmd.bound"], seen=unheard),)).kernel == []
