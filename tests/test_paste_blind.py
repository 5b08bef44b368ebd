"""doctor --paste: what is no failure, what a project or a hypervisor holds on to, and whose machine a post is about."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from data.diagnosis import diagnose
from xpusetup.commands.doctor import Diagnosis, DoctorOptions
from xpusetup.machine.known_bad import concerns
from xpusetup.paste.system import of_ubuntu
from xpusetup.run.tables import known_bad
from xpusetup.run.workspace import Where

if TYPE_CHECKING:
    from pathlib import Path


WORKS = "$ python -c 'import torch; print(torch.__version__, torch.xpu.is_available())'\n{} True\n"
BLIND = WORKS.replace("True", "False")
NO_PART = "ModuleNotFoundError: No module named 'quantlib{}'\n"
LIGHTNING = f"$ pip list\nlightning    2.6.3\ntriton-xpu   3.7.1\ntorch   2.12.0+xpu\n{WORKS.format('2.12.0+xpu')}"
MAX = "4d:00.0 Display controller [0380]: Intel Corporation Ponte Vecchio XT [Data Center GPU Max 1100] [8086:0bda]\n"
ARC = "03:00.0 VGA compatible controller [0300]: Intel Corporation DG2 [Arc A770] [8086:56a0]\n"
B580 = "07:00.0 VGA compatible controller [0300]: Intel Corporation Battlemage G21 [Arc B580] [8086:e20b]\n"
XE = "\tKernel driver in use: xe\n"
TWO = f"$ lspci -nnk\n{B580}{XE}{B580.replace('07', '08')}{XE}$ dpkg -l\nii  intel-opencl-icd  26.09.37435.12-1\n"
TWO_MAX = f"$ lspci -nnk\n{MAX}{MAX.replace('4d', '4e')}{WORKS.format('2.8.0+xpu')}"
NPU = (
    "libze_intel_vpu.so.1 libze_intel_gpu.so.1\nIt worked before I installed intel-npu-driver.\n"
    "    return torch._C._xpu_getDeviceCount()\n"
    "RuntimeError: Native API failed. Native API returns: 65 (UR_RESULT_ERROR_INVALID_ENUMERATION)\n"
)
WIN_ERROR = (
    'PS C:\\t> python -c "import torch"\nOSError: [WinError 126] The specified module could not be found. Error loading'
    ' "C:\\t\\torch\\lib\\c10_xpu.dll" or one of its dependencies.\n'
)
MKL = (
    "$ conda list\nmkl   2024.2.0  intel_1\npytorch   2.0.1   cpu_mkl_py310h9d_1\nA770\n"
    "ImportError: /c/envs/x/lib/python3.10/torch/lib/libtorch_cpu.so: undefined symbol: iJIT_NotifyEvent\n"
)
PROJECT = (
    "A750\nPS D:\\w> uv run python -c 'import torch; print(torch.__version__)'\n2.8.0+cpu\n"
    "AssertionError: Torch not compiled with XPU enabled\n[tool.uv.sources]\n"
    """torch = [{ index = "xpu-wheels", marker = "sys_platform == 'linux' and extra == 'gpu'" }]\n"""
)
RESIZE = (
    f"$ lspci -nnk\n{B580}{XE}$ dmesg\n[ 4.1] xe 0000:07:00.0: [drm] Failed to resize BAR2 to 8192M (-ENOSPC)."
    " Consider enabling 'Resizable BAR' support in your BIOS\n$ clinfo -l\nWARNING: Small BAR detected for device"
    f" 0000:07:00.0\n{BLIND.format('2.9.0+xpu')}"
)
FIRMWARE = (
    f"$ lspci -nnk\n{MAX}\tKernel driver in use: i915\n$ uname -r\n5.15.0-107-generic\n$ ls -l /dev/dri\ncrw-rw-rw- 1"
    " root render 226, 128 Oct 1 10:40 renderD128\n$ dmesg\n[ 9.1] i915 0000:4d:00.0: GT0: GuC firmware"
    f" i915/pvc_guc_70.29.2.bin: fetch failed -ENOENT\n{BLIND.format('2.8.0+xpu')}"
)
OLD_KERNEL = (
    "$ uname -a\nLinux hx 6.8.0-60-generic #63-Ubuntu SMP PREEMPT_DYNAMIC Tue Apr 15 19:04:15 UTC 2025 x86_64\n"
    f"$ lspci -nnk\n{B580}$ ls -l /dev/dri\ntotal 0\n{BLIND.format('2.8.0+xpu')}"
    "The same card in another machine (Fedora 42, 6.14) is fine.\n"
)
LXC = (
    "Proxmox VE 8.0, unprivileged: 1\nroot@pve:~# lspci -nnk\n{}\tKernel driver in use: i915\nroot@pve:~# cat"
    " /etc/pve/lxc/103.conf\nunprivileged: 1\nlxc.mount.entry: /dev/dri dev/dri none bind\nai@ct:~$ ls -l /dev/dri\n"
    "crw-rw---- 1 nobody nogroup 226, 128 Dec 6 20:03 renderD128\nai@ct:~$ id\nuid=1000(ai) gid=1000(ai)"
    " groups=1000(ai),105(render)\n{}"
)
GUEST = (
    "root@pve:~# lspci -nnk\n{}\tKernel driver in use: vfio-pci\nroot@pve:~# ls /etc/modprobe.d\n"
    "pve-blacklist.conf  vfio.conf\nroot@pve:~# ls /dev/dri\nls: cannot access '/dev/dri': No such file or directory\n"
)
EXTENSION = (
    "$ pip list\nintel-extension-for-pytorch  {}\ntorch  2.3.1\n    import intel_extension_for_pytorch as ipex\n"
    "ImportError: /e/intel_extension_for_pytorch/lib/libintel-ext-pt-gpu.so: undefined symbol: _ZNK5torch8autograd\n"
)


def look(tmp_path: Path, text: str) -> Diagnosis:
    file = tmp_path / "post.txt"
    file.write_text(text)
    return diagnose(Where(), DoctorOptions(paste=(str(file),)))


def warned(found: Diagnosis) -> list[str]:
    return [each.seen for each in found.findings if each.id == "known.bad" and each.level == "warn"]


QUIET: tuple[tuple[str, str], ...] = (
    ("a compiled part of another program", f"{NO_PART.format('._cuda')}{WORKS.format('2.8.0+xpu')}A770\n"),
    ("an error that is expected", f"{NO_PART.format('')}\nThat's expected on XPU.\n{WORKS.format('2.8.0+xpu')}A770\n"),
    ("what was solved", f"A770\n{LIGHTNING}Lightning has no accelerator for XPU, I worked around that with my own.\n"),
    ("a list of what was solved", f"A770\n{LIGHTNING}\nAll solved by now:\n\n1. Lightning knows no XPU\n"),
    ("another operation", f"{TWO_MAX}I want is_available() without a context.\n"),
    ("a kernel that was not told", f"{TWO}{WORKS.format('2.13.0+xpu')}"),
)


@pytest.mark.parametrize(("name", "text"), QUIET, ids=[name for name, _ in QUIET])
def test_what_is_no_failure(name: str, text: str, tmp_path: Path) -> None:
    found = look(tmp_path, text)
    assert not found.stops["run"], name
    assert warned(found) == []
    assert found.pasted is not None
    assert found.pasted.causes == []


LOUD: tuple[tuple[str, str], ...] = (
    ("not solved", f"A770\n{LIGHTNING}Lightning has no accelerator for XPU: how can this be solved?\n"),
    ("that operation", f"{TWO_MAX}all_gather_object crashes under torchrun.\n"),
    ("a kernel that was told", f"$ uname -r\n6.17.0\n{TWO}OUT_OF_DEVICE_MEMORY\n"),
)


@pytest.mark.parametrize(("name", "text"), LOUD, ids=[name for name, _ in LOUD])
def test_what_is_known_is_told(name: str, text: str, tmp_path: Path) -> None:
    assert warned(look(tmp_path, text)), name


def test_a_missing_module_that_nobody_expected_is_told(tmp_path: Path) -> None:
    for said in ("", "That is not expected.\n", "Is that expected?\n"):
        found = look(tmp_path, f"{NO_PART.format('')}{said}{WORKS.format('2.8.0+xpu')}A770\n")
        assert found.pasted is not None
        assert [each.id for each in found.pasted.causes] == ["import.no_module"]


def test_what_helps_and_is_set_already_is_not_asked_for() -> None:
    entry = next(each for each in known_bad() if each.id == "ccl-2022-on-b60")
    assert concerns(entry, ["torchrun --nproc-per-node 2 t.py"], works=True)
    assert not concerns(entry, ["$ CCL_ALLREDUCE=ring torchrun t.py"], works=True)
    assert not concerns(entry, ["a = torch.ones(2, device='xpu')"], works=True)


AILING: tuple[tuple[str, str, str, str], ...] = (
    ("the NPU's driver", f"Core Ultra 7 155H\n{NPU}", "umd.gives_up", "ZE_ENABLE_ALT_DRIVERS=libze_intel_gpu.so.1"),
    ("a DLL of oneAPI 2024", f"{WIN_ERROR}sycl7.dll (NOT_FOUND)\n", "runtime.libraries", "setvars.bat"),
    ("a DLL of the wheels", f"{WIN_ERROR}pti_view-0-10.dll was not found\n", "runtime.libraries", "whl/xpu"),
    ("MKL before the build", MKL, "torch.import", "mkl<2024.1"),
    ("a marker in the project", PROJECT, "torch.is_xpu_build", "uv sync --reinstall-package torch"),
    ("a small window", RESIZE, "hw.bar_space", "Above 4G Decoding and Resizable BAR"),
    ("firmware of Max", FIRMWARE, "fw.guc_missing", "intel-fw-gpu"),
    ("the machine of the post", OLD_KERNEL, "kmd.force_probe", "linux-generic-hwe-"),
    ("Proxmox before 8.2", LXC.format(ARC, BLIND.format("2.8.0+xpu")), "perm.container_gid", "lxc.mount.entry"),
    ("kept for a guest", GUEST.format(ARC), "kmd.bound", "update-initramfs -u -k all"),
    ("an extension of 1.13", f"A770\n{EXTENSION.format('1.13.120+xpu')}", "torch.ipex", "torch==1.13.0a0"),
    ("an extension of 2", f"A770\n{EXTENSION.format('2.1.40+xpu')}", "torch.ipex", "torch==2.1.0.post3"),
)


@pytest.mark.parametrize(("name", "text", "cause", "mend"), AILING, ids=[row[0] for row in AILING])
def test_what_mends_it(name: str, text: str, cause: str, mend: str, tmp_path: Path) -> None:
    found = look(tmp_path, text)
    assert found.stops["run"][:1] == [cause], name
    fix = next(each.fix for each in found.findings if each.id == cause)
    assert mend in "\n".join([*fix.commands, fix.say])


def test_a_marker_that_holds_is_not_blamed(tmp_path: Path) -> None:
    found = look(tmp_path, PROJECT.replace("PS D:\\w>", "ann@box:~/w$"))
    assert found.stops["run"] == ["torch.is_xpu_build"]
    assert "marker" not in next(each.why for each in found.findings if each.id == "torch.is_xpu_build")
    text = PROJECT.replace("PS D:\\w>", "ann@box:~/w$").replace("'linux'", "'win32'")
    found = look(tmp_path, text)
    assert "marker" in next(each.why for each in found.findings if each.id == "torch.is_xpu_build")


def test_a_switch_that_is_on_is_not_asked_for(tmp_path: Path) -> None:
    found = look(tmp_path, f"{RESIZE}Resizable BAR is enabled in the BIOS.\n")
    assert "newest firmware" in next(each.fix.say for each in found.findings if each.id == "hw.bar_space")


def test_a_script_that_is_only_told_of_was_not_run(tmp_path: Path) -> None:
    found = look(tmp_path, f'It printed ":: oneAPI environment initialized ::" yesterday.\n{WIN_ERROR}')
    assert "setvars.completed" not in {each.id for each in found.findings if each.level == "warn"}


def test_ubuntu_by_its_kernel() -> None:
    said = "Linux h 6.8.0-57-generic #59{}-Ubuntu SMP x86_64"
    assert of_ubuntu("6.8.0-57-generic", [said.format("~22.04.1")], ())["VERSION_ID"] == "22.04"
    assert of_ubuntu("6.8.0-57-generic", [said.format("")], ())["VERSION_ID"] == "24.04"
    assert of_ubuntu("6.8.0-57-generic", [said.format("")], ("1.2-3~24.04~ppa1",))["VERSION_ID"] == "24.04"
    assert of_ubuntu("6.8.0-57-generic", ["Linux h 6.8.0-57-generic #1 SMP"], ()) == {}
