"""doctor --paste: what lines prove together with others, each GPU by itself, and runs held against each other."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import pytest

from data.profiles import device, shipped
from data.texts import GPUS, TEXTS
from xpusetup.commands.paste import read_paste
from xpusetup.doctor.question import Question
from xpusetup.doctor.registry import CHECKS, examine, root_causes
from xpusetup.machine.probe import TOLD
from xpusetup.paste.facts import facts_from_paste
from xpusetup.paste.kernel import plain_slot
from xpusetup.paste.runs import compare_runs, found_elsewhere
from xpusetup.run.tables import known_bad, sayings, showings

if TYPE_CHECKING:
    from pathlib import Path

    from xpusetup.base.model import Finding
    from xpusetup.machine.facts import Facts

IGPU = "00:02.0 VGA compatible controller [0300]: Intel Corporation AlderLake-S GT1 [8086:4680] (rev 0c)\n"
B580 = "04:00.0 VGA compatible controller [0300]: Intel Corporation Battlemage G21 [Arc B580] [8086:e20b]\n"
A770 = "05:00.0 VGA compatible controller [0300]: Intel Corporation DG2 [Arc A770] [8086:56a0]\n"
XE, I915 = "\tKernel driver in use: xe\n", "\tKernel driver in use: i915\n"
ZE = "[level_zero:gpu][level_zero:{}] Intel(R) oneAPI Unified Runtime over Level-Zero, Intel(R) {} 1.0 [1.6.33944]\n"
CPU = "[opencl:cpu][opencl:0] Intel(R) OpenCL, Intel(R) Core(TM) i5-12400 OpenCL 3.0\n"
NONE = "Number of platforms                               0\n"
WSL = "$ uname -r\n6.6.36.3-microsoft-standard-WSL2\n"
GROUPS = "$ docker exec media id\nuid=911 gid=911 groups={}\n$ docker exec media ls -ln /dev/dri\n"
XEON = "Platform #0: Intel(R) OpenCL\n `-- Device #0: Intel(R) Xeon(R) E-2276\n"
LOADER = "ii  ocl-icd-libopencl1:amd64  2.3.2  amd64  a loader\n"
GONE = "ls: cannot access '/etc/OpenCL/vendors': No such file or directory\n"
NODE = "crw-rw---- 1 0 {} 226, 128 Jan  2 08:00 renderD128\n"


def read(text: str) -> Facts:
    return facts_from_paste([text], "2026-11-23", GPUS, TOLD, sayings(), showings())[0]


def findings(text: str) -> dict[str, Finding]:
    question = Question(read(text), shipped("torch-2.14"), device("xpu"), "run", GPUS, known_bad())
    return {each.id: each for each in examine(question, TEXTS)}


def causes(text: str) -> list[str]:
    return list(root_causes(findings(text).values()))


POSTS: tuple[tuple[str, str, str], ...] = (
    # each GPU by itself
    (
        "card passed over",
        f"$ lspci -nnk\n{IGPU}{I915}{A770}{I915}$ sycl-ls\n{ZE.format(0, 'UHD Graphics 770')}",
        "umd.not_listed",
    ),
    (
        "the newer of two cards",
        (
            f"$ lspci -nnk\n{A770}{I915}{B580}{XE}$ dpkg -l\nii  libze-intel-gpu1  24.13.29138.7  amd64\n"
            f"$ sycl-ls\n{ZE.format(0, 'Arc(TM) A770 Graphics')}"
        ),
        "umd.older_than_gpu",
    ),
    (
        "one of the cards was given up",
        (
            f"$ lspci -nnk\n{IGPU}{I915}{B580}$ sycl-ls\n{ZE.format(0, 'UHD Graphics 770')}"
            "[    5.1] xe 0000:04:00.0: [drm] *ERROR* GT0: load failed: status = 0x800001ec\n"
            "[    5.2] xe 0000:04:00.0: [drm] *ERROR* CRITICAL: Xe has declared device 0000:04:00.0 as wedged.\n"
        ),
        "fw.gpu_wedged",
    ),
    (
        "both are listed",
        f"$ lspci -nnk\n{IGPU}{I915}{A770}{I915}$ sycl-ls\n" + ZE.format(0, "Arc(TM) A770 Graphics"),
        "",
    ),
    ("a name without a product", f"$ lspci -nnk\n{A770}{I915}$ sycl-ls\n{ZE.format(0, 'Graphics')}", ""),
    (
        "the integrated one is taken",
        (
            f"$ sycl-ls\n{ZE.format(0, 'UHD Graphics 730')}{ZE.format(1, 'Arc(TM) A380 Graphics')}"
            "main: using device 0 (Intel(R) UHD Graphics 730)\n"
        ),
        "umd.device_choice",
    ),
    # rights, by numbers, files and policies
    (
        "numbers of groups",
        GROUPS.format("911,44") + NODE.format(105),
        "perm.container_gid",
    ),
    (
        "the number is one of mine",
        GROUPS.format("911,105") + NODE.format(105),
        "",
    ),
    (
        "a folder in place of a node",
        "$ ls -l /dev/dri\ndrwxr-xr-x 2 root root 40 May  3 10:00 renderD128\n",
        "perm.not_a_device",
    ),
    (
        "a file in place of a node",
        "$ ls -l /dev/dri/renderD129\n-rw-r--r-- 1 root root 0 May  3 10:00 /dev/dri/renderD129\n",
        "perm.not_a_device",
    ),
    (
        "SELinux before groups",
        (
            f'$ ls -l /dev/dri\n{NODE.format("nogroup")}audit: avc:  denied  {{ open }} for pid=7 comm="python3"'
            ' path="/dev/dri/renderD128" tcontext=system_u:object_r:dri_device_t:s0\n'
        ),
        "perm.policy",
    ),
    (
        "AppArmor",
        'kernel: audit: apparmor="DENIED" operation="open" profile="snap.app" name="/dev/dri/renderD128"\n',
        "perm.policy",
    ),
    ("the list of devices", "cat: /dev/dri/renderD128: Operation not permitted\n", "perm.policy"),
    ("a service without devices", "$ systemctl cat ollama\nPrivateDevices=yes\n", "perm.policy"),
    (
        "privileged works",
        f"$ docker run --device /dev/dri it:1 sycl-ls\n{CPU}$ docker run --device /dev/dri --privileged it:1 sycl-ls\n"
        + ZE.format(0, "Arc(TM) A770 Graphics"),
        "perm.policy",
    ),
    # the bus and virtual machines
    (
        "no room at boot",
        (
            "[  0.4] pci 0000:03:00.0: BAR 2: can't assign; no space\n"
            "[  0.4] pci 0000:03:00.0: BAR 2 [mem size 0x400000000]: failed to assign [mem size 0x400000000]\n"
            "[  3.1] xe 0000:03:00.0: probe with driver xe failed with error -12\n"
        ),
        "hw.bar_space",
    ),
    (
        "not resized",
        "[  3.1] xe 0000:03:00.0: [drm] Failed to resize BAR2 to 8192M (-ENOSPC). Consider enabling it\n",
        "hw.bar_space",
    ),
    ("a bridge without io", "[  0.4] pci 0000:00:1c.0: BAR 13: no space for [io  size 0x1000]\n", ""),
    ("locked memory", "qemu: VFIO_MAP_DMA failed: Cannot allocate memory\n", "vm.passthrough"),
    ("an unviable group", "vfio 0000:03:00.0: group 14 is not viable\n", "vm.passthrough"),
    ("no mdev", "kernel: could not insert 'kvmgt': No such device\n", "kmd.virtual_functions"),
    (
        "no virtual functions",
        "bash: /sys/bus/pci/devices/0000:00:02.0/sriov_numvfs: No such file or directory\n",
        "kmd.virtual_functions",
    ),
    # WSL and Windows
    ("plug-in under WSL", f"{WSL}E0101 gpu_plugin.go: Can't get indices for devices\n", "wsl.no_dri"),
    ("VA-API under WSL", f"{WSL}$ vainfo\nvaInitialize failed with error code -1\n", "wsl.no_dri"),
    ("an old driver model", "WSL2, nothing is found. dxdiag: Driver Model: WDDM 2.6\n" + NONE, "wsl.windows_too_old"),
    ("WSL 1", "in my WSL\n$ uname -r\n4.4.0-19041-Microsoft\n", "wsl.windows_too_old"),
    (
        "no driver in Windows",
        "C:\\llm> sycl-ls\nC:\\llm> dir C:\\Windows\\System32\\ze_loader.dll\nze_loader.dll was not found\n",
        "win.driver",
    ),
    (
        "stopped in the device manager",
        "Windows 11. Windows has stopped this device because it has reported problems. (Code 43)\n",
        "win.driver",
    ),
    # other accelerators
    (
        "Gaudi without its runtime",
        "$ docker run -e HABANA_VISIBLE_DEVICES=all img:1 hl-smi\nDriver not loaded\n",
        "hpu.container_runtime",
    ),
    (
        "a library of another Gaudi",
        "optimum-habana v1.18.0 has been validated for SynapseAI v1.21.0 but hl v1.19.0 was found\n",
        "hpu.release",
    ),
    (
        "Ascend in use",
        "root@a:/# npu-smi info\ndcmi module initialize failed, because the device is used. ret is -8020\n",
        "npu.busy",
    ),
    (
        "an NPU without a driver",
        "NPU: not found\n[ 3.1] intel_vpu 0000:00:0b.0: ok\n$ dpkg -l | grep npu\n$ ls\n",
        "vpu.driver",
    ),
    ("an NPU that is closed", "NPU\n/dev/accel/accel0: Permission denied\n", "vpu.driver"),
    (
        "Docker without Habana's runtime",
        "$ docker run --runtime=habana it:1\ndocker: Error response: unknown or invalid runtime name: habana\n",
        "hpu.container_runtime",
    ),
    (
        "Gaudi without its network",
        "habana_frameworks: init failed to find matching Habana IB device (hlib_2)\n",
        "hpu.modules",
    ),
    (
        "a compatibility pack",
        "Windows 11, installed: OpenCL, OpenGL and Vulkan Compatibility Pack. No SYCL devices.\n",
        "win.driver",
    ),
    # versions and the driver
    (
        "kernel in one line",
        f"CPU: i5, kernel 5.15.0-91-generic, Arc A770 (DG2)\n$ ls /dev/dri\ncard0\n{A770}",
        "kmd.force_probe",
    ),
    (
        "old graphics in words",
        "UHD 630 of my NAS.\n$ sycl-ls\n$ dpkg -l\nii  intel-opencl-icd  25.18.33578.6  amd64\n",
        "hw.legacy_gpu",
    ),
    (
        "a processor's OpenCL alone",
        f"$ clinfo -l\n{XEON}$ dpkg -l | grep -iE 'opencl|libze|level-zero'\n{LOADER}",
        "umd.ze_intel_gpu",
    ),
    ("NixOS", f"NixOS 24.05\n$ clinfo\n{NONE}", "umd.unregistered"),
    (
        "no vendors",
        f"$ clinfo\n{NONE}$ ls /etc/OpenCL/vendors\n{GONE}",
        "umd.unregistered",
    ),
    (
        "a file elsewhere",
        "bash: /usr/bin/hl-smi: No such file or directory\n$ which -a hl-smi\n/opt/habanalabs/bin/hl-smi\n",
        "env.elsewhere",
    ),
)


@pytest.mark.parametrize(("text", "first"), [each[1:] for each in POSTS], ids=[each[0] for each in POSTS])
def test_what_is_named_first(text: str, first: str) -> None:
    assert next(iter(causes(text)), "") == first


def test_entries_tell_of_checks_and_fill_their_gaps() -> None:
    there = {check.id for check in CHECKS}
    assert {each.tells for each in showings()} <= there
    assert len({each.id for each in showings()}) == len(showings())
    for each in showings():
        names = {name for form in each.forms for name in form.groupindex}
        assert set(re.findall(r"<(\w+)>", each.means + each.mend)) <= names, each.id


def test_the_number_of_the_group_is_named() -> None:
    text = f"$ docker exec a id\nuid=1 gid=1 groups=1\n$ docker exec a ls -ln /dev/dri\n{NODE.format(104)}"
    assert "group 104" in findings(text)["perm.container_gid"].seen


@pytest.mark.parametrize(
    "line",
    [
        "00:02.0 Class 0300: Device 8086:46a6 (rev 0c)",
        "00:02.0 0300: 8086:46a6 (rev 0c)",
        '00:02.0 "VGA compatible controller [0300]" "Intel Corporation [8086]" "Iris Xe [46a6]" -r0c',
    ],
)
def test_other_forms_of_lspci(line: str) -> None:
    hardware = read(line + "\n").hardware
    assert hardware is not None
    assert [(gpu.vendor, gpu.device) for gpu in hardware.gpus] == [("8086", "46a6")]
    assert plain_slot("00:1f.3 0403: 8086:51c8") == "00:1f.3 0403: 8086:51c8"


def test_runs_of_other_programs_are_not_compared() -> None:
    good = ZE.format(0, "Arc(TM) A770 Graphics").strip()
    assert compare_runs(["$ sycl-ls", good, "$ ONEAPI_DEVICE_SELECTOR=opencl:cpu sycl-ls", CPU.strip()]).keys() == {
        "umd.device_filter_env"
    }
    assert compare_runs(["$ sycl-ls", CPU.strip(), "$ python a.py --device /dev/dri", "True"]) == {}


def test_a_file_that_is_nowhere_is_not_elsewhere() -> None:
    assert found_elsewhere(["ls: cannot access '/opt/a/tool': No such file or directory", "/opt/b/other"]) == {}


# What tells too little.


@pytest.mark.parametrize(
    "text",
    [
        "RuntimeError: driver (code 2013265921, ZE_RESULT_ERROR_UNINITIALIZED)\n",
        "Process finished with exit code -1073741819 (0xC0000005)\n",
        "AssertionError: Torch not compiled with CUDA enabled\n",
    ],
)
def test_a_message_alone_is_no_cause(tmp_path: Path, text: str) -> None:
    file = tmp_path / "post.txt"
    file.write_text(text)
    told = read_paste([str(file)]).describe(tuple(findings(text).values()))
    assert causes(text) == []
    assert told.causes == []
    assert told.symptoms


def test_what_a_program_lacks_is_no_cause_where_the_device_works(tmp_path: Path) -> None:
    text = "True tensor([2.], device='xpu:0')\nAttributeError: module 'torch.backends' has no attribute 'xpu'\n"
    file = tmp_path / "post.txt"
    file.write_text(text)
    assert read_paste([str(file)]).describe(tuple(findings(text).values())).causes == []


def test_nothing_untold_is_called_well() -> None:
    found = findings(f"{A770}$ sycl-ls\n{CPU}")["umd.ze_init"]
    assert "Not told: " in found.fix.say
    assert "variables" in found.fix.say.partition("Not told")[2]


def test_windows_is_asked_for_what_it_has(tmp_path: Path) -> None:
    file = tmp_path / "post.txt"
    file.write_text("PS C:\\work> python a.py\nProcess finished with exit code -1073741819 (0xC0000005)\n")
    asked = [
        each.paste for each in read_paste([str(file)]).describe(tuple(findings(file.read_text()).values())).unknown
    ]
    assert any("win32_VideoController" in each for each in asked)
    assert not any("dmesg" in each or "lspci" in each for each in asked)
