"""doctor --paste: what people type: what filters let through, what silence tells, and variables."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from data.pasting import causes, look, read, warned
from xpusetup.machine.facts import VGA_ALONE
from xpusetup.paste.commands import handed_over, image_of, lists_displays, parts_shown, variables_of, whole_commands

if TYPE_CHECKING:
    from pathlib import Path

    from xpusetup.machine.environments import InstalledTorch


@pytest.mark.parametrize(
    ("command", "shown"),
    [
        ("lspci -nnk | grep -A3 -E 'VGA|Display|3D'", "all"),
        ('lspci | egrep -i "vga|3d|display"', "all"),
        (r"lspci -nn | grep 'VGA\|3D\|Display'", "all"),
        ("lspci | grep -i -e vga -e 3d -e display", "all"),
        ("lspci | grep -i vga", "vga"),
        ("lspci -nn | grep -i nvidia", ""),
        ("lspci -s 00:02.0 | grep -E 'VGA|3D|Display'", ""),
        ("lspci | grep -E 'VGA|3D|Display' | head -1", ""),
        ("lspci | grep -v Intel", ""),
        ("lspci | grep -E '(.*)*x'", ""),
        ("lspci | grep 'VGA", ""),
        ("lspci", ""),
        ("ls /dev/dri", ""),
    ],
)
def test_what_an_lspci_lists(command: str, shown: str) -> None:
    assert lists_displays(command) == shown


RADEON = (
    "0a:00.0 VGA compatible controller [0300]: Advanced Micro Devices, Inc. [AMD/ATI] Navi 21 [1002:73bf] (rev c1)\n"
)


def test_no_gpu_among_all_display_devices() -> None:
    assert causes(f"$ lspci -nn | grep -E 'VGA|3D|Display'\n{RADEON}") == ["hw.intel_gpu_present"]


def test_one_class_of_them_is_a_warning() -> None:
    text = f"$ lspci -nn | grep VGA\n{RADEON}"
    assert read(text).notes["hardware.gpus"] == VGA_ALONE
    assert causes(text) == []
    assert warned(text)[0] == "hw.intel_gpu_present"


@pytest.mark.parametrize("before", ["", "$ lspci | grep -i amd\n", "$ lspci -s 0a:00.0 | grep VGA\n"])
def test_an_excerpt_proves_no_absence(before: str) -> None:
    assert causes(before + RADEON) == []
    assert "hw.intel_gpu_present" not in warned(before + RADEON)


@pytest.mark.parametrize(
    ("command", "shown"),
    [
        ("dpkg -l | grep -E 'libze|level-zero'", True),
        ("dpkg -l | egrep -i 'opencl|level-zero|ze-'", True),
        ("dpkg -l | grep level-zero", False),
        ("dpkg -l | grep opencl", False),
        ("dpkg -l libze1", False),
        ("pacman -Q | grep intel", True),
        ("dpkg -l | grep -v ze", False),
    ],
)
def test_which_lists_would_show_the_driver(command: str, shown: bool) -> None:
    assert bool(parts_shown(command)) == shown


BLIND = "[opencl:cpu][opencl:0] Intel(R) OpenCL, Intel(R) Core(TM) i5 OpenCL 3.0\n"


LISTED = "ii  intel-opencl-icd  22.43.24595  amd64  Intel graphics compute runtime for OpenCL\n"


def test_a_driver_that_a_list_would_show_is_not_there() -> None:
    text = f"$ sycl-ls\n{BLIND}$ dpkg -l | grep -E 'opencl|libze|level-zero'\n{LISTED}"
    assert causes(text) == ["umd.ze_intel_gpu"]


BOTH = "ii  libze-intel-gpu1  24.35.30872  amd64  a driver\nii  libze1  1.17.6  amd64  a loader\n"


@pytest.mark.parametrize(
    "text",
    [
        f"$ dpkg -l | grep opencl\n{LISTED}",
        "$ dpkg -l | grep -E 'opencl|libze|level-zero'\n",
        f"$ dpkg -l | grep -E 'opencl|libze|zero'\n{LISTED}{BOTH}",
    ],
    ids=["another list", "cut off", "there"],
)
def test_else_nothing_is_known_of_it(text: str) -> None:
    facts = read(text)
    assert facts.userland is None or facts.userland.lacking == []
    assert "umd.ze_intel_gpu" not in causes(text)


def test_packages_alone_are_no_proof_that_level_zero_fails() -> None:
    text = f"$ dpkg -l | grep -E 'opencl|libze|level-zero'\n{LISTED}"
    assert causes(text) == []
    assert "umd.ze_intel_gpu" in warned(text)


@pytest.mark.parametrize(
    ("text", "named"),
    [
        (f"$ sycl-ls\n{BLIND}$ dpkg -l | grep -E 'opencl|libze|level-zero'\n$\n", "umd.ze_intel_gpu"),
        (f"a@b:~> rpm -qa | grep -iE 'level.?zero|compute-runtime'\na@b:~> sycl-ls\n{BLIND}", "umd.ze_intel_gpu"),
        ("$ ls -l /dev/dri\n$\n", "perm.dri_nodes"),
        ("$ lspci -nn | grep -E 'VGA|3D|Display'\n$ exit\n", "hw.intel_gpu_present"),
    ],
)
def test_nothing_shown_between_two_prompts_is_an_answer(text: str, named: str) -> None:
    assert causes(text)[0] == named


@pytest.mark.parametrize("command", ["ls -l /dev/dri", "lspci -nn | grep -E 'VGA|3D|Display'", "dpkg -l | grep opencl"])
def test_a_command_at_the_end_may_have_been_cut_off(command: str) -> None:
    assert causes(f"$ {command}\n") == []


@pytest.mark.parametrize(
    ("command", "handed"),
    [
        ("docker run -it --device=/dev/dri image", ("/dev/dri",)),
        ("docker run --device /dev/dxg -v /usr/lib/wsl:/usr/lib/wsl image", ("/dev/dxg",)),
        ("podman run --privileged image", ("/dev/dri", "/dev/dxg")),
        ("docker run image", ()),
        ("docker ps", None),
    ],
)
def test_what_a_container_is_given(command: str, handed: tuple[str, ...] | None) -> None:
    assert handed_over(command) == handed


@pytest.mark.parametrize(
    ("command", "image"),
    [
        (
            "docker run -it --device=/dev/dri -p 8080:80 -v /a:/b intel/oneapi-basekit:2023.2.1 bash",
            "intel/oneapi-basekit:2023.2.1",
        ),
        ("docker run --rm ubuntu", ""),
    ],
)
def test_the_image_of_a_container(command: str, image: str) -> None:
    assert image_of(command) == image


def test_variables_and_commands_on_several_lines() -> None:
    assert variables_of("docker run -e ZE_AFFINITY_MASK=3 it") == {"ZE_AFFINITY_MASK": "3"}
    assert list(whole_commands(["docker run \\", "  --rm it", "next"])) == ["docker run --rm it", "next"]


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


WIN_ERROR = (
    'PS C:\\t> python -c "import torch"\nOSError: [WinError 126] The specified module could not be found. Error loading'
    ' "C:\\t\\torch\\lib\\c10_xpu.dll" or one of its dependencies.\n'
)


def test_a_script_that_is_only_told_of_was_not_run(tmp_path: Path) -> None:
    found = look(f'It printed ":: oneAPI environment initialized ::" yesterday.\n{WIN_ERROR}', tmp_path)
    assert "setvars.completed" not in {each.id for each in found.findings if each.level == "warn"}


NO_XPU = "$ python -c 'import torch; print(torch.__version__, torch.xpu.is_available())'\n2.8.0+xpu False\n"


def torch_of(text: str) -> InstalledTorch:
    told = read(text).torch
    assert told is not None
    return told


def test_a_run_with_another_variable_answers_for_itself() -> None:
    mended = "$ ONEAPI_DEVICE_SELECTOR=level_zero:0 python -c 'import torch; print(torch.xpu.is_available())'\nTrue\n"
    facts = read(f"ONEAPI_DEVICE_SELECTOR=level_zero:1\n{NO_XPU}{mended}")
    assert facts.environment == {"ONEAPI_DEVICE_SELECTOR": "level_zero:1"}
    assert torch_of(f"{NO_XPU}{mended}").report == torch_of(NO_XPU).report
