"""doctor --paste: what people post most, made up in the forms of their tools."""

from __future__ import annotations

import pytest

from test_paste_shown import A770, CPU, NONE, WSL, XE, causes, findings, read
from xpusetup.doctor.pytorch import _is_of_another
from xpusetup.machine.gpus import age_of

LNL = "00:02.0 VGA compatible controller [0300]: Intel Corporation Lunar Lake [8086:64a0] (rev 04)\n"
B580 = "03:00.0 VGA compatible controller [0300]: Intel Corporation Battlemage G21 [8086:e20b]\n"
OLD_ICD = "ii  intel-opencl-icd  23.43.27642.40-1ubuntu3  amd64  Intel graphics compute runtime for OpenCL\n"
TRACE = (
    "ZE_LOADER_DEBUG_TRACE:Load Library of libze_intel_gpu.so.1 failed with libze_intel_gpu.so.1: "
    "cannot open shared object file: No such file or directory\n"
)
OPENCL = (
    "[opencl:gpu][opencl:1] Intel(R) OpenCL Graphics, Intel(R) Arc(TM) A770 Graphics OpenCL 3.0 NEO  [23.17.26241.33]\n"
)
RUNTIME = "[opencl:cpu][opencl:0] Intel(R) OpenCL, Intel(R) Core(TM) i9 OpenCL 3.0 (Build 0) [2024.18.6.0.02_160000]\n"
NEWEST = (
    "intel-level-zero-gpu is already the newest version (1.3.26241.33-647~22.04).\n"
    "intel-opencl-icd is already the newest version (23.17.26241.33-647~22.04).\n"
)
TAKEN = (
    "docker run --device=/dev/davinci7 --device /dev/davinci_manager IMAGE\n# npu-smi info\n"
    "dcmi module initialize failed. ret is -8005\n"
)
NO_DXG = "ls: cannot access '/dev/dxg': No such file or directory\n"
FORCED = "$ cat /proc/cmdline\nBOOT_IMAGE=/vmlinuz root=/dev/sda1 i915.force_probe=!56a0 xe.force_probe=56a0\n"


@pytest.mark.parametrize(
    ("text", "cause"),
    [
        (
            f"$ uname -r\n6.11.0-29-generic\n$ lspci -nnk\n{LNL}{XE}$ clinfo\n{NONE}{OLD_ICD}",
            "umd.stock_ubuntu_too_old",
        ),
        (f"$ lspci -nnk\n{B580}{XE}WARNING: Small BAR detected for device 0000:03:00.0\n{NONE}", "hw.small_bar"),
        (f"$ uname -r\n6.17.13-1-pve\n$ lspci -nnk\n{A770}{XE}{FORCED}$ clinfo\n{NONE}", "kmd.xe_on_dg2_old_kernel"),
        (f"$ sycl-ls\n{RUNTIME}{OPENCL}{TRACE}", "umd.ze_intel_gpu"),
        (f"$ sycl-ls\n{RUNTIME}{OPENCL}$ sudo apt install intel-opencl-icd\n{NEWEST}", "umd.only_opencl_gpu"),
        (f"{WSL}$ docker run --rm -it IMAGE\nIn the container:\n# ls /dev/dxg\n{NO_DXG}", "wsl.dxg"),
        ("# dmesg\nhabanalabs_ib: Unknown symbol ib_uverbs_get_ucontext_file (err -2)\n/dev/hl0\n", "hpu.modules"),
        (TAKEN, "npu.busy"),
        ("GPU: Intel(R) Iris(R) Plus Graphics (driver 27.20)\npip list: torch 2.9.1+xpu\n", "hw.legacy_gpu"),
    ],
    ids=lambda value: value if "\n" not in value else "post",
)
def test_the_cause(text: str, cause: str) -> None:
    assert causes(text)[:1] == [cause], causes(text)


def test_a_kind_of_device_in_a_sentence_is_no_device() -> None:
    facts = read(f"No [level_zero:gpu] (only [opencl:gpu]) here\n$ sycl-ls\n{CPU}")
    assert facts.userland is not None
    assert facts.userland.sycl == [CPU.strip()]


def test_the_name_of_a_release_in_brackets_is_no_processor() -> None:
    head = "Collecting environment information...\nPyTorch version: 2.9.0+xpu\n"
    text = f"{head}OS: Debian GNU/Linux 12 (bookworm) (x86_64)\n"
    system = read(text).system
    assert system is not None
    assert (system.name, system.machine, system.version) == ("Debian GNU/Linux 12 (bookworm)", "x86_64", "12")


def test_a_kernel_that_nobody_told_of_is_not_said() -> None:
    assert "kmd.bound" not in causes(f"{NEWEST}")


@pytest.mark.parametrize(
    ("vision", "torch", "other"),
    [
        ("0.27.0.dev20260420+xpu", "2.13.0.dev20260420+xpu", False),
        ("0.27.0.dev20260101+xpu", "2.13.0.dev20260420+xpu", True),
        ("0.28.0.dev20260231+xpu", "2.13.0.dev20260420+xpu", False),  # a day that no calendar has
        ("0.27.0+xpu", "2.13.0+xpu", True),
        ("0.28.0+xpu", "2.13.0+xpu", False),
    ],
)
def test_nightlies_belong_together_by_their_days(vision: str, torch: str, other: bool) -> None:
    assert _is_of_another("torchvision", vision, torch) is other


@pytest.mark.parametrize("name", ["Intel(R) Iris(R) Plus Graphics", "Iris Plus Graphics 655"])
def test_how_graphics_are_called_in_windows(name: str) -> None:
    assert age_of("", name) == "legacy"


def test_alchemist_on_i915_is_not_blamed() -> None:
    text = f"$ uname -r\n6.17.13-1-pve\n$ lspci -nnk\n{A770}\tKernel driver in use: i915\n$ clinfo\n{NONE}"
    assert "kmd.xe_on_dg2_old_kernel" not in findings(text)
