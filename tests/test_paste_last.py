"""doctor --paste: what was said last of torch, what a filter did not show, and names of what is not there."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from test_paste_shown import causes, findings, read
from xpusetup.commands.paste import read_paste
from xpusetup.machine.paste_runs import built_elsewhere, hidden_cards

if TYPE_CHECKING:
    from pathlib import Path

    from xpusetup.machine.facts import Torch

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
DAVINCI = "crw-rw---- 1 HwHiAiUser HwHiAiUser 236, 0 Nov 3 08:30 /dev/davinci0\n"


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
