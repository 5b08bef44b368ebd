"""doctor --paste: who may do what where, by the commands that people type and what these show or leave out."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from data.profiles import device, shipped
from data.texts import GPUS, TEXTS
from xpusetup.commands.paste import read_paste
from xpusetup.doctor.question import Question
from xpusetup.doctor.registry import examine, root_causes
from xpusetup.machine.facts import VGA_ALONE, Facts
from xpusetup.machine.gpus import age_of
from xpusetup.machine.probe import TOLD
from xpusetup.paste.commands import handed_over, image_of, lists_displays, parts_shown
from xpusetup.paste.facts import facts_from_paste
from xpusetup.paste.places import heading, inner_command
from xpusetup.run.tables import known_bad, sayings

if TYPE_CHECKING:
    from pathlib import Path

    from xpusetup.base.model import Finding

RADEON = (
    "0a:00.0 VGA compatible controller [0300]: Advanced Micro Devices, Inc. [AMD/ATI] Navi 21 [1002:73bf] (rev c1)\n"
)
XE_SPEAKS = "xe 0000:03:00.0: Your graphics device 56a0 is not officially supported\n"
I915_HAS = "[drm] Initialized i915 1.6.0 20230929 for 0000:03:00.0 on minor 1\n"
BLIND = "[opencl:cpu][opencl:0] Intel(R) OpenCL, Intel(R) Core(TM) i5 OpenCL 3.0\n"
BY_OPENCL = "[opencl:gpu][opencl:1] Intel(R) OpenCL Graphics, Intel(R) Arc(TM) A380 Graphics OpenCL 3.0 NEO\n"
NONE = "Number of platforms                               0\n"
ONE = "Number of platforms                               1\n  Device Name           Intel(R) Arc(TM) A380 Graphics\n"
NOT_LINKED = "$ python a.py\nRuntimeError: PyTorch is not linked with support for xpu devices\n"
WSL = "$ uname -r\n5.15.90.1-microsoft-standard-WSL2\n"


def read(text: str) -> Facts:
    return facts_from_paste([text], "2026-11-23", GPUS, TOLD, sayings())[0]


def findings(text: str) -> dict[str, Finding]:
    question = Question(read(text), shipped("torch-2.14"), device("xpu"), "run", GPUS, known_bad())
    return {each.id: each for each in examine(question, TEXTS)}


def causes(text: str) -> list[str]:
    return list(root_causes(findings(text).values()))


def warned(text: str) -> list[str]:
    return [name for name, each in findings(text).items() if each.level == "warn"]


def errors(tmp_path: Path, text: str) -> list[str]:
    """Give what `explain` says of the error lines, less what the checks refute."""
    file = tmp_path / "post.txt"
    file.write_text(text)
    return [each.id for each in read_paste([str(file)]).describe(tuple(findings(text).values())).causes]


# What root is shown, and the user is not.


def test_what_root_alone_is_shown_is_a_matter_of_rights() -> None:
    text = f"jo@box:~$ clinfo\n{NONE}jo@box:~$ sudo clinfo\n{ONE}"
    facts = read(text)
    assert facts.userland is not None
    assert facts.userland.as_root == ["Intel(R) Arc(TM) A380 Graphics"]
    assert causes(text) == ["perm.render_group"]


def test_the_same_by_sycl() -> None:
    assert causes(f"jo@box:~$ sycl-ls\n{BLIND}jo@box:~$ sudo sycl-ls\n{BY_OPENCL}")[0] == "perm.render_group"


@pytest.mark.parametrize(
    ("told", "cause"),
    [
        ("jo@box:~$ groups\njo adm render\n", []),
        ("OCL_ICD_VENDORS=/opt/conda/etc/OpenCL/vendors\n", ["umd.opencl_icd"]),
    ],
    ids=["in the group", "a variable hides it"],
)
def test_rights_are_not_blamed_where_something_else_is_known(told: str, cause: list[str]) -> None:
    assert causes(f"jo@box:~$ clinfo\n{NONE}jo@box:~$ sudo clinfo\n{ONE}{told}") == cause


def test_what_both_are_shown_says_nothing() -> None:
    text = f"jo@box:~$ clinfo\n{ONE}jo@box:~$ sudo clinfo\n{ONE}"
    facts = read(text)
    assert facts.userland is not None
    assert facts.userland.as_root == []
    assert causes(text) == []


@pytest.mark.parametrize(
    "line",
    [
        'openat(AT_FDCWD, "/dev/dri/renderD129", O_RDWR|O_CLOEXEC) = -1 EACCES (Permission denied)',
        'openat(AT_FDCWD, "/dev/dri/by-path/pci-0000:0a:00.0-render", O_RDWR) = -1 EACCES (Permission denied)',
        "failed to open /dev/dri/renderD128: errno 13",
    ],
)
def test_a_node_that_was_refused(line: str) -> None:
    assert causes(line + "\n") == ["perm.render_group"]
    assert "group ?" in findings(line + "\n")["perm.render_group"].seen


def test_a_node_that_was_opened_is_not_refused() -> None:
    assert causes('openat(AT_FDCWD, "/dev/dri/renderD128", O_RDWR|O_CLOEXEC) = 4\n') == []


# OpenCL without a platform.


@pytest.mark.parametrize("line", [NONE, "main: clGetPlatformIDs(n, ids, &found) error -1001 at run.cpp:7\n"])
def test_no_platform_is_a_warning(line: str) -> None:
    assert causes(line) == []
    assert "umd.opencl_icd" in warned(line)


def test_a_platform_elsewhere_is_not_this_containers() -> None:
    text = f"jo@box:~$ clinfo\n{ONE}jo@box:~$ docker run --device /dev/dri it\nroot@0123456789ab:/# clinfo\n{NONE}"
    facts = read(text)
    assert facts.userland is not None
    assert facts.userland.clinfo == []
    assert facts.userland.as_root == []
    assert facts.container is not None
    assert facts.container.kind == "docker"
    assert "umd.opencl_icd" in warned(text)


# What filters let through, and what follows from what is not there.


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


LISTED = "ii  intel-opencl-icd  22.43.24595  amd64  Intel graphics compute runtime for OpenCL\n"
BOTH = "ii  libze-intel-gpu1  24.35.30872  amd64  a driver\nii  libze1  1.17.6  amd64  a loader\n"


def test_a_driver_that_a_list_would_show_is_not_there() -> None:
    text = f"$ sycl-ls\n{BLIND}$ dpkg -l | grep -E 'opencl|libze|level-zero'\n{LISTED}"
    assert causes(text) == ["umd.ze_intel_gpu"]


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


def test_opencl_lists_it_and_the_driver_is_there_is_a_riddle() -> None:
    there = "ii  libze-intel-gpu1  25.05.32567.19  amd64  Level Zero\n"
    assert causes(BY_OPENCL) == ["umd.only_opencl_gpu"]
    assert causes(BY_OPENCL + there) == []
    assert "umd.only_opencl_gpu" in warned(BY_OPENCL + there)


# Containers, and WSL.


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


def test_a_container_of_wsl_without_its_device() -> None:
    inside = f"root@0123456789ab:/# sycl-ls\n{BLIND}root@0123456789ab:/# uname -r\n{WSL.splitlines()[1]}\n"
    text = f"$ docker run --device=/dev/dri it bash\n{inside}"
    assert causes(text) == ["wsl.dxg"]
    assert "--device /dev/dxg" in findings(text)["wsl.dxg"].fix.say
    assert "wsl.dxg" not in causes(f"$ docker run --device=/dev/dxg it bash\n{inside}")
    assert "wsl.dxg" not in causes(inside)


# Devices by what lshw, inxi and the kernel say of them.


LSHW = """\
  *-display{}
       description: VGA compatible controller
       product: {}
       vendor: Intel Corporation
       bus info: pci@0000:00:02.0
       configuration: {}
"""


def test_a_device_that_no_driver_claims() -> None:
    lost = LSHW.format(" UNCLAIMED", "RocketLake-S GT1 [UHD Graphics 750]", "latency=0")
    (gpu,) = read(lost).hardware.gpus  # type: ignore[union-attr]
    assert (gpu.address, gpu.vendor, gpu.driver) == ("0000:00:02.0", "8086", None)
    assert causes(lost) == ["kmd.bound"]
    named = f"{lost}00:02.0 VGA compatible controller [0300]: Intel Corporation Device [8086:4c8a] (rev 04)\n"
    assert causes(f"{named}$ uname -r\n5.4.0-100-generic\n") == ["kmd.force_probe"]
    assert causes(f"{named}$ uname -r\n6.1.0-17-amd64\n") == ["kmd.bound"]


def test_a_device_that_a_driver_has() -> None:
    text = LSHW.format("", "DG2 [Arc A380]", "driver=i915 latency=0")
    (gpu,) = read(text).hardware.gpus  # type: ignore[union-attr]
    assert (gpu.driver, causes(text)) == ("i915", [])


def test_graphics_of_inxi() -> None:
    (gpu,) = read("  Device-1: Intel HD Graphics 4600 vendor: Dell driver: i915 v: kernel\n").hardware.gpus  # type: ignore[union-attr]
    assert (gpu.vendor, gpu.driver, age_of(gpu.device, gpu.name)) == ("8086", "i915", "oldest")
    assert read("  Device-1: Intel Sunrise Point HD Audio driver: snd_hda_intel v: kernel\n").hardware is None


@pytest.mark.parametrize(
    ("name", "age"),
    [
        ("Xeon E3-1200 v3/4th Gen Core Processor Integrated Graphics Controller", "oldest"),
        ("Atom Processor Z36xxx/Z37xxx Series Graphics & Display", "oldest"),
        ("HD Graphics 5500", "legacy"),
        ("CoffeeLake-S GT2 [UHD Graphics 630]", "legacy"),
        ("GeminiLake [UHD Graphics 605]", "legacy"),
        ("Iris Plus Graphics G7", "legacy"),
        ("RocketLake-S GT1 [UHD Graphics 750]", ""),
        ("AlderLake-S GT1 [UHD Graphics 770]", ""),
        ("TigerLake-LP GT2 [Iris Xe Graphics]", ""),
        ("DG2 [Arc A770]", ""),
        ("14th Gen Core Processor Graphics", ""),
        ("Meteor Lake-P [Intel Arc Graphics]", ""),
    ],
)
def test_how_old_graphics_are_by_name(name: str, age: str) -> None:
    assert age_of("", name) == age
    line = f"00:02.0 VGA compatible controller: Intel Corporation {name} (rev 06)\n"
    assert ("hw.legacy_gpu" in causes(f"{line}>>> torch.xpu.is_available()\nFalse\n")) == bool(age)


def test_a_processor_for_networks_is_no_gpu() -> None:
    facts = read("00:0b.0 Processing accelerators [1200]: Intel Corporation Meteor Lake NPU [8086:7d1d] (rev 04)\n")
    assert facts.hardware is None


def test_that_xe_leaves_to_i915_what_i915_has_is_well(tmp_path: Path) -> None:
    for text in (XE_SPEAKS + I915_HAS, XE_SPEAKS):
        assert causes(text) == []
        assert errors(tmp_path, text) == []
    assert causes(XE_SPEAKS.replace("56a0", "e20b")) == ["kmd.force_probe"]
    asked = "[    0.000000] Kernel command line: quiet xe.force_probe='56a0'\n"
    assert causes(asked + XE_SPEAKS) == ["kmd.force_probe"]


@pytest.mark.parametrize(
    ("line", "cause"),
    [
        ("i915 0000:00:02.0: [drm] *ERROR* GuC initialization failed -2", "fw.guc_missing"),
        ("i915 0000:00:02.0: [drm] *ERROR* GuC initialization failed -5", "fw.gpu_wedged"),
        ("i915: probe of 0000:00:02.0 failed with error -22", "fw.gpu_wedged"),
        ("i915 0000:03:00.0: [drm] *ERROR* Device initialization failed (-6)", "fw.gpu_wedged"),
    ],
)
def test_what_the_kernel_gives_up(line: str, cause: str) -> None:
    device = "i915 0000:00:02.0: [drm] VT-d active for gfx access\n"
    assert causes(f"{device}{line}\n") == [cause]


@pytest.mark.parametrize(
    "line",
    [
        "xe 0000:03:00.0: [drm] Tile0: GT0: Engine reset: engine_class=ccs, logical_mask: 0x1, guc_id=7",
        "xe 0000:03:00.0: [drm] GT0: Timedout job: seqno=42, guc_id=3, flags=0x0 in python [4711]",
        "i915 0000:03:00.0: [drm] Resetting rcs0 for stopped heartbeat on rcs0",
    ],
)
def test_a_reset_is_a_warning(line: str) -> None:
    assert "fw.gpu_hang" in warned(f"{line}\n")


# Ages of drivers.


OLD = "$ lspci -nnk\n{}\n\tKernel driver in use: {}\n$ uname -r\n{}\nii  intel-opencl-icd  {}  amd64  OpenCL\n"
MTL = "00:02.0 VGA compatible controller [0300]: Intel Corporation Meteor Lake-P [8086:7d55] (rev 08)"
DG2 = "03:00.0 VGA compatible controller [0300]: Intel Corporation DG2 [Arc A770] [8086:56a0] (rev 08)"


@pytest.mark.parametrize(
    ("gpu", "kernel", "driver", "named"),
    [
        (MTL, "6.7.0", "22.43.24595.30", ["umd.older_than_gpu"]),
        (MTL, "6.7.0", "23.22.26516.18", []),
        (DG2, "6.5.0", "21.45.21574", ["umd.older_than_gpu"]),
        (DG2, "6.5.0", "22.43.24595.30", []),
    ],
)
def test_a_driver_before_the_gpu(gpu: str, kernel: str, driver: str, named: list[str]) -> None:
    assert causes(OLD.format(gpu, "i915", kernel, driver)) == named


def test_a_driver_before_the_kernel() -> None:
    assert "kmd.compute_runtime_vs_kernel" in warned(OLD.format(DG2, "i915", "6.8.0", "23.13.26032.30-1"))
    assert "kmd.compute_runtime_vs_kernel" not in warned(OLD.format(DG2, "i915", "6.5.0", "23.13.26032.30-1"))


# What a log alone tells.


@pytest.mark.parametrize(
    ("text", "cause"),
    [
        ("Error! Bad return status for module build on kernel: 6.9.1-arch1-1 (x86_64)", "dkms.build"),
        ("E: Unable to correct problems, you have held broken packages.", "pkg.unmet"),
    ],
)
def test_lines_of_a_log_are_enough(text: str, cause: str, tmp_path: Path) -> None:
    assert errors(tmp_path, f"{text}\n") == [cause]
    assert causes(f"{text}\n") == []


def test_a_compiler_that_the_driver_could_not_load() -> None:
    text = "Abort was called at 40 line in file:\n/build/shared/source/built_ins/built_ins.cpp\nAborted (core dumped)\n"
    assert causes(text) == ["umd.igc_incompatible"]
    assert causes(text.replace("built_ins.cpp", "drm_neo.cpp")) == ["umd.ze_init"]


def test_torch_that_works_is_not_blamed_for_a_library_that_a_program_lacks(tmp_path: Path) -> None:
    asked = ">>> torch.xpu.is_available(), torch.xpu.device_count()\n(True, 1)\n"
    lacking = "OSError: libocloc.so: cannot open shared object file: No such file or directory\n"
    assert causes(asked + lacking) == []
    assert errors(tmp_path, asked + lacking) == ["import.gpu_driver_lib"]


def test_an_npu_that_is_not_there_is_no_cause(tmp_path: Path) -> None:
    line = "ZE_LOADER_DEBUG_TRACE:Load Library of {0} failed with {0}: cannot open shared object file\n"
    assert errors(tmp_path, BY_OPENCL + line.format("libze_intel_vpu.so")) == []
    assert errors(tmp_path, BY_OPENCL + line.format("libze_intel_gpu.so.1")) == ["ze.loader_trace"]


# What one print says, indented prompts, and what came up later.


def test_one_print_answers_several_questions() -> None:
    ask = 'python -c "import torch; print(torch.__version__, torch.xpu.is_available())"'
    facts = read(f"    jo@box:~$ {ask}\n    2.9.1+xpu False\n")
    assert facts.torch is not None
    assert facts.torch.report is not None
    assert (facts.torch.version, facts.torch.report.available) == ("2.9.1+xpu", False)
    other = read(f"$ {ask}\n2.9.1+xpu it works\n").torch
    assert other is not None
    assert (other.version, other.report) == ("2.9.1+xpu", None)


def test_nomodeset_where_no_gpu_was_told_of() -> None:
    dark = "$ cat /proc/cmdline\nroot=/dev/sda2 ro quiet nomodeset rd.luks=0\n"
    gone = "ls: cannot access '/dev/dri': No such file or directory\n"
    assert causes(dark + gone) == ["kmd.blacklisted"]
    assert causes(dark) == []
    assert causes(gone) == ["perm.dri_nodes"]


def test_a_driver_that_is_loaded_and_has_nothing() -> None:
    gone = "ls: cannot access '/dev/dri': No such file or directory\n"
    assert "i915 is loaded" in findings(f"$ lsmod | grep i915\ni915   1691648  0\n{gone}")["perm.dri_nodes"].seen


def test_a_probe_that_failed_before_one_that_did_not() -> None:
    failed = "i915 0000:01:00.0: Device initialization failed (-5)\n"
    well = "[drm] Initialized i915 1.6.0 20230929 for 0000:01:00.0 on minor 1\n"
    assert causes(failed) == ["fw.gpu_wedged"]
    assert causes(failed + well) == []
    wedged = "i915 0000:01:00.0: [drm] *ERROR* Failed to initialize GPU, declaring it wedged!\n"
    assert causes(wedged + well) == ["fw.gpu_wedged"]


def test_packages_alone_are_no_proof_that_level_zero_fails() -> None:
    text = f"$ dpkg -l | grep -E 'opencl|libze|level-zero'\n{LISTED}"
    assert causes(text) == []
    assert "umd.ze_intel_gpu" in warned(text)


# Silence: what a command tells that shows nothing, where a prompt stands after it.


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


# Host, container, guest and other machines.


WELL = (
    "[level_zero:gpu][level_zero:0] Intel(R) oneAPI Unified Runtime over Level-Zero, Intel(R) Arc(TM) A770 Graphics\n"
)
NOBLE = "ii  libze-intel-gpu1  23.43.27642.40-1ubuntu3  amd64  Level Zero\n"
NEWER = "ii  libze-intel-gpu1  25.35.35096.9-1  amd64  Level Zero\n"
B580 = "03:00.0 VGA compatible controller [0300]: Intel Corporation Battlemage G21 [Arc B580] [8086:e20b]\n"


@pytest.mark.parametrize(
    ("line", "place"),
    [
        ("On the host:", "host"),
        ("## Host", "host"),
        ("**Inside the container**:".replace("*", ""), "container"),
        ("and in the LXC container it says:", "container"),
        ("In the VM:", "guest"),
        ("Output on my working machine:", "other"),
        ("Broken machine:", ""),
        ("me@host:~$ ls", None),
        ("I have a container somewhere, and it is fine. What now?", None),
        ("the host has 64 GB of memory and a Ryzen in it", None),
    ],
)
def test_headings_of_places(line: str, place: str | None) -> None:
    assert heading(line) == place


@pytest.mark.parametrize(
    ("command", "inner"),
    [
        ("docker exec -it web sycl-ls", "sycl-ls"),
        ("docker compose exec web ls -l /dev/dri", "ls -l /dev/dri"),
        ("pct exec 104 -- clinfo -l", "clinfo -l"),
        ("docker run --rm -it --device /dev/dri it bash", ""),
        ("docker run -d ollama/ollama", None),
        ("sycl-ls", None),
    ],
)
def test_what_runs_inside(command: str, inner: str | None) -> None:
    assert inner_command(command) == inner


def test_what_the_host_has_does_not_excuse_the_container() -> None:
    listed = WELL.replace("A770", "B580")
    text = f"On the host:\n{listed}{NEWER}{B580}Inside the container:\n{BLIND}{NOBLE}"
    assert causes(text) == ["umd.stock_ubuntu_too_old"]
    assert causes(text.replace("Inside the container:", "And now")) == []


def test_one_command_in_a_container_and_the_next_outside() -> None:
    text = (
        f"$ docker exec web sycl-ls\n{BLIND}$ dpkg -l | grep ze\n{NOBLE}$ docker exec web id\nuid=0(root) gid=0(root)\n"
    )
    facts = read(text)
    assert facts.userland is not None
    assert facts.userland.packages is None
    assert facts.container is not None


def test_a_guest_has_no_gpu_of_its_host() -> None:
    host = f"root@pve:~# lspci -nnk\n{B580}\tKernel driver in use: vfio-pci\n"
    guest = f"In the VM:\n$ lspci -nn | grep -E 'VGA|3D|Display'\n{RADEON}"
    assert causes(host + guest) == ["hw.intel_gpu_present"]


def test_the_machine_that_works_is_left_aside() -> None:
    text = f"{B580}Working machine:\n{NEWER}{WELL}Broken machine:\n{NOBLE}{BLIND}"
    assert causes(text) == ["umd.stock_ubuntu_too_old"]


# An older C++ library, and builds of torch.


@pytest.mark.parametrize(
    ("library", "needs", "named"),
    [
        ("/opt/conda/lib/libstdc++.so.6", "/lib/x86_64-linux-gnu/libze_loader.so.1", ["setvars.conda_libstdcxx"]),
        ("/home/a/m/envs/b/lib/libstdc++.so.6", "/home/a/m/envs/b/lib/x/torch/lib/t.so", ["setvars.conda_libstdcxx"]),
        ("/lib/x86_64-linux-gnu/libstdc++.so.6", "/home/a/v/lib/torch/lib/libtorch.so", []),
    ],
)
def test_a_cxx_library_that_is_older_than_what_asks_it(library: str, needs: str, named: list[str]) -> None:
    assert causes(f"{library}: version `GLIBCXX_3.4.30' not found (required by {needs})\n") == named


def test_a_list_with_a_cpu_torch_is_aside_where_nobody_asked_torch() -> None:
    text = f"$ sycl-ls\n{BLIND}torch  2.9.1+cpu\n"
    assert causes(text) == ["umd.ze_init"]
    assert causes(f"{text}torch.xpu.is_available() False\n")[0] == "torch.is_xpu_build"


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


@pytest.mark.parametrize(
    ("post", "surer"),
    [
        pytest.param(
            "$ sycl-ls\n" + BLIND + NOT_LINKED,
            True,
            id="a symptom and an error that is known",
        ),
        pytest.param(
            "$ id\nuid=1000(r) gid=1000(r) groups=1000(r)\n$ ls -l /dev/dri\n"
            "crw-rw---- 1 root render 226, 128 Sep  3 18:22 renderD128\n" + NOT_LINKED,
            False,
            id="a cause that was seen and an error",
        ),
    ],
)
def test_an_error_that_is_known_stands_before_symptoms(tmp_path: Path, post: str, surer: bool) -> None:
    file = tmp_path / "post.txt"
    file.write_text(post)
    assert read_paste([str(file)]).describe(tuple(findings(post).values()), causes(post)).surer is surer


def test_a_torch_without_a_version_is_named_in_no_command() -> None:
    post = "$ python a.py\nAssertionError: Torch not compiled with XPU enabled\n"
    told = findings(post)["torch.is_xpu_build"]
    assert told.level == "fail"
    assert "was not told" not in f"{told.seen}{told.fix.commands}"
