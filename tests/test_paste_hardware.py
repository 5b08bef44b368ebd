"""doctor --paste: GPUs and nodes by lspci and the kernel, and what follows."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from data.pasting import causes, errors, findings, read, warned
from xpusetup.commands.paste import read_paste
from xpusetup.machine.gpus import age_of
from xpusetup.paste.kernel import plain_slot

if TYPE_CHECKING:
    from pathlib import Path


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


NONE = "Number of platforms                               0\n"


@pytest.mark.parametrize("line", [NONE, "main: clGetPlatformIDs(n, ids, &found) error -1001 at run.cpp:7\n"])
def test_no_platform_is_a_warning(line: str) -> None:
    assert causes(line) == []
    assert "umd.opencl_icd" in warned(line)


BY_OPENCL = "[opencl:gpu][opencl:1] Intel(R) OpenCL Graphics, Intel(R) Arc(TM) A380 Graphics OpenCL 3.0 NEO\n"


def test_opencl_lists_it_and_the_driver_is_there_is_a_riddle() -> None:
    there = "ii  libze-intel-gpu1  25.05.32567.19  amd64  Level Zero\n"
    assert causes(BY_OPENCL) == ["umd.only_opencl_gpu"]
    assert causes(BY_OPENCL + there) == []
    assert "umd.only_opencl_gpu" in warned(BY_OPENCL + there)


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


XE_SPEAKS = "xe 0000:03:00.0: Your graphics device 56a0 is not officially supported\n"


I915_HAS = "[drm] Initialized i915 1.6.0 20230929 for 0000:03:00.0 on minor 1\n"


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


MTL = "00:02.0 VGA compatible controller [0300]: Intel Corporation Meteor Lake-P [8086:7d55] (rev 08)"


DG2 = "03:00.0 VGA compatible controller [0300]: Intel Corporation DG2 [Arc A770] [8086:56a0] (rev 08)"


OLD = "$ lspci -nnk\n{}\n\tKernel driver in use: {}\n$ uname -r\n{}\nii  intel-opencl-icd  {}  amd64  OpenCL\n"


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


CMDLINE = "$ cat /proc/cmdline\nBOOT_IMAGE=/vmlinuz-6.15.9 root=UUID=0f7e rw quiet i915.force_probe=!56a0{}\n$ dmesg\n"


A770 = "0000:03:00.0"


ARC = f"[    0.3] pci {A770}: [8086:56a0] type 00 class 0x030000 PCIe Endpoint\n"


BLOCKED = f"[    2.7] i915 {A770}: I915 probe blocked for Device ID 56a0.\n"


BLIND = "$ python -c 'import torch; print(torch.__version__, torch.xpu.is_available())'\n2.8.0+xpu False\n"


BY_XE = f"[    2.9] xe {A770}: Your graphics device 56a0 is not officially supported\n"


def test_a_driver_that_leaves_a_gpu_to_the_other_is_no_cause() -> None:
    both = CMDLINE.format(" xe.force_probe=56a0")
    taken = f"[    3.0] [drm] Initialized xe 1.1.0 for {A770} on minor 0\n"
    assert causes(f"{both}{ARC}{BLOCKED}{taken}{BLIND}") != ["kmd.blacklisted"]
    assert "kmd.blacklisted" not in causes(f"{CMDLINE.format('').replace('!56a0', '!7d55')}{ARC}{BY_XE}{BLIND}")


B580 = "04:00.0 VGA compatible controller [0300]: Intel Corporation Battlemage G21 [Arc B580] [8086:e20b]\n"


def test_a_driver_that_serves_another_gpu_may_be_barred() -> None:
    text = f"$ lspci -nnk\n{B580}\tKernel modules: xe\nblacklist i915\n"
    assert causes(text) == ["kmd.bound"]


def test_a_kernel_is_asked_in_its_own_drivers_words() -> None:
    refused = "[ 3.6] i915 0000:00:02.0: Your graphics device 46a6 is not properly supported by the driver\n"
    text = f"$ uname -r\n5.15.39-1-pve\n{refused}$ ls /dev/dri\ncard0\n"
    fix = findings(text)["kmd.force_probe"].fix
    assert "i915.force_probe=46a6" in fix.say
    assert "xe.force_probe" not in fix.say
    assert "linux-image-amd64" not in str(fix.commands)


@pytest.mark.parametrize(
    ("owner", "words"),
    [("videodriver", "usermod -aG videodriver kim"), ("root", "chmod 666"), ("render", "usermod -aG render,video kim")],
)
def test_the_group_of_the_node_is_the_one_that_is_joined(owner: str, words: str) -> None:
    node = f"crw-rw---- 1 root {owner} 226, 128 Jun  3 07:10 renderD128\n"
    found = findings(f"{node}$ id\nuid=1000(kim) gid=1000(kim) groups=1000(kim)\n")["perm.render_group"]
    assert found.level == "fail"
    assert words in str(found.fix.commands)


def test_a_release_that_runs_already_is_not_advised() -> None:
    refused = "[ 4.7] i915 0000:03:00.0: Your graphics device 4908 is not properly supported by i915\n"
    said = findings(f"$ uname -r\n6.12.30-amd64\n{refused}$ ls /dev/dri\ncard0\n")["kmd.force_probe"].fix.say
    assert "6.9" not in said
    assert "i915.force_probe=4908" in said


CPU = "[opencl:cpu][opencl:0] Intel(R) OpenCL, Intel(R) Core(TM) i5-12400 OpenCL 3.0\n"


def test_a_kind_of_device_in_a_sentence_is_no_device() -> None:
    facts = read(f"No [level_zero:gpu] (only [opencl:gpu]) here\n$ sycl-ls\n{CPU}")
    assert facts.userland is not None
    assert facts.userland.sycl == [CPU.strip()]


NEWEST = (
    "intel-level-zero-gpu is already the newest version (1.3.26241.33-647~22.04).\n"
    "intel-opencl-icd is already the newest version (23.17.26241.33-647~22.04).\n"
)


def test_a_kernel_that_nobody_told_of_is_not_said() -> None:
    assert "kmd.bound" not in causes(f"{NEWEST}")


@pytest.mark.parametrize("name", ["Intel(R) Iris(R) Plus Graphics", "Iris Plus Graphics 655"])
def test_how_graphics_are_called_in_windows(name: str) -> None:
    assert age_of("", name) == "legacy"


AN_A770 = "05:00.0 VGA compatible controller [0300]: Intel Corporation DG2 [Arc AN_A770] [8086:56a0]\n"


def test_alchemist_on_i915_is_not_blamed() -> None:
    text = f"$ uname -r\n6.17.13-1-pve\n$ lspci -nnk\n{AN_A770}\tKernel driver in use: i915\n$ clinfo\n{NONE}"
    assert "kmd.xe_on_dg2_old_kernel" not in findings(text)


@pytest.mark.parametrize("code", ["-12", "-22", "-EINVAL", "-2"])
def test_firmware_that_was_not_fetched_comes_before_the_gpu_that_was_given_up(code: str) -> None:
    told = "i915 0000:00:02.0: {}\n"
    lines = (f"GuC firmware i915/tgl_guc_70.1.1.bin: fetch failed with error {code}", "GuC initialization failed -8")
    text = "$ dmesg\n" + "".join(f"[    3.1] {told.format(line)}" for line in lines)
    assert causes(text)[:1] == ["fw.guc_missing"]


LSPCI = "$ lspci -nnk\n"


B70 = (
    "03:00.0 VGA compatible controller [0300]: Intel Corporation Device [8086:e223]\n"
    "\tSubsystem: Intel Corporation Device [8086:1700]\n"
)


LOADED = "$ lsmod | grep -E '^(xe|i915)'\n{}   2457600  0\n"


BARE_B580 = B70.replace("e223", "e20b")


def test_a_driver_that_is_loaded_is_not_to_be_loaded() -> None:
    asked = f"{LSPCI}{B70}{LOADED.format('xe')}$ uname -r\n"
    late = findings(f"{asked}6.12.25\n")["kmd.bound"]
    assert "older than this GPU" in late.why
    assert "modprobe" not in str(late.fix)
    known = findings(f"{LSPCI}{BARE_B580}{LOADED.format('xe')}$ uname -r\n6.17.1\n")["kmd.bound"]
    assert "has not taken" in known.why
    assert "dmesg" in str(known.fix)
    absent = findings(f"{LSPCI}{BARE_B580}$ uname -r\n6.17.1\n")["kmd.bound"]
    assert "modprobe" in str(absent.fix)


@pytest.mark.parametrize(("name", "device"), [("Arc(TM) 140V GPU (16GB)", "64a0"), ("Arc(TM) 130T GPU (8GB)", "7d51")])
def test_graphics_that_a_report_names_are_not_those_of_another_machine(name: str, device: str) -> None:
    seen = f"* [0] _XpuDeviceProperties(name='Intel(R) {name}', platform_name='Level-Zero', type='gpu')"
    text = f"Intel GPU models onboard:\n* Intel(R) {name}\nIntel GPU models detected:\n{seen}\n"
    hardware = read(f"{text}On an A770 box the same script is ok.\n").hardware
    assert hardware is not None
    assert [gpu.device for gpu in hardware.gpus] == [device]


CARDS = (
    "00:02.0 VGA compatible controller [0300]: Intel Corporation AlderLake-S GT1 [8086:4680]\n"
    "03:00.0 VGA compatible controller [0300]: Intel Corporation DG2 [Arc A770] [8086:56a0]\n"
)


def test_of_two_gpus_the_newer_decides_on_the_kernel() -> None:
    text = (
        f"$ uname -r\n5.15.0-67-generic\n$ lspci -nn\n{CARDS}$ clinfo\n"
        f"Number of platforms                               0\n"
    )
    assert "6.2" in findings(text)["kmd.force_probe"].seen


@pytest.mark.parametrize("text", ["/dev/dri", "/dev/dxg"])
def test_a_file_that_is_not_there_in_another_language(text: str) -> None:
    assert causes(f"ls: Zugriff auf '{text}' nicht möglich: Datei oder Verzeichnis nicht gefunden\n")


def test_what_the_kernel_calls_an_error_is_no_all_clear(tmp_path: Path) -> None:
    unheard = "xe 0000:04:00.0: [drm] *ERROR* GT0: Frobnication of the fuse box failed (-EIO)"
    works = "$ python -c 'import torch; print(torch.__version__, torch.xpu.is_available())'\n2.12.0+xpu True\n"
    post = f"$ sudo dmesg | grep xe\n[   22.1] {unheard}\n$ lspci -nn\n{B580}{works}"
    (tmp_path / "post").write_text(post)
    paste, found = read_paste([str(tmp_path / "post")]), findings(post)
    assert paste.describe(tuple(found.values())).kernel == [unheard]
    assert paste.describe((replace(found["kmd.bound"], seen=unheard),)).kernel == []


LISTED = "[level_zero:gpu][level_zero:{}] Intel(R) Level-Zero, Intel(R) Arc(TM) B580 Graphics 20.1.0 [1.6.{}]\n"
COUNTED = "RuntimeError: level_zero backend failed with error: 2147483646 (UR_RESULT_ERROR_UNKNOWN)\n"


@pytest.mark.parametrize(("build", "expected"), [(33578, ["umd.older_than_sycl"]), (38646, [])])
def test_a_driver_older_than_torchs_sycl_that_lists_and_fails(build: int, expected: list[str]) -> None:
    """It was said that what was told does not say why."""
    listed = "".join(LISTED.format(number, build) for number in range(2))
    text = f"{B580}{B580.replace('04:', '83:')}$ sycl-ls\n{listed}$ pip list\ntorch 2.12.0+xpu\n"
    assert causes(text) == []
    assert causes(text + COUNTED) == expected
    assert "2 cards of one kind" in findings(text + COUNTED)["umd.older_than_sycl"].seen if expected else True


def test_what_the_bus_lost_is_no_all_clear() -> None:
    fault = "DMAR: [DMA Read NO_PASID] Request device [04:00.0] fault addr 0x0 [fault reason 0x06] PTE"
    assert "fw.bus_errors" in warned(f"{B580}$ sudo dmesg\n[    5.1] {fault}\n")


def test_the_firmware_that_xe_names_counts() -> None:
    """i915 says "GuC firmware FILE version", xe "Using GuC firmware from FILE version"."""
    card = "0b:00.0 VGA compatible controller [0300]: Intel Corporation Battlemage G21 [8086:e211]\n"
    kernel = card + "\tKernel driver in use: xe\n$ uname -r\n7.0.0-29-generic\n$ sudo dmesg\n"
    loaded = "[    4.1] xe 0000:0b:00.0: [drm] Using GuC firmware from xe/bmg_guc_70.bin version 70.{}\n"
    assert "bmg-guc-70.58" in findings(kernel + loaded.format("58.0"))["known.bad"].seen
    assert "bmg-guc-70.58" not in findings(kernel + loaded.format("72.1"))["known.bad"].seen


def test_a_gaudi_that_two_programs_tell_of_is_one() -> None:
    listed = "19:00.0 Processing accelerators [1200]: Habana Labs Ltd. Gaudi3 [1da3:1060] (rev 01)\n"
    told = "$ hl-smi -L\nDriver Version: 1.19.0-2427ed8\n"
    assert findings("$ lspci -nn\n" + listed + told)["hpu.present"].seen == "1 x Gaudi3"
