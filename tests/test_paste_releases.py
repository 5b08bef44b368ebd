"""doctor --paste: parts of two releases, what is loaded and passes a GPU over, and nodes that only root opens."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from test_paste_shown import causes, findings, read
from xpusetup.commands.paste import read_paste
from xpusetup.run.tables import showings

if TYPE_CHECKING:
    from pathlib import Path

NONE = "$ clinfo | head -1\nNumber of platforms   0\n"
ARC = "04:00.0 VGA compatible controller [0300]: Intel Corporation DG2 [Arc A380] [8086:56a5]\n"
I915, XE = "\tKernel driver in use: i915\n", "\tKernel driver in use: xe\n"
LSPCI = "$ lspci -nnk\n"
OLD = "00:02.0 VGA compatible controller [0300]: Intel Corporation {} [8086:{}]\n"
GEN9 = (
    "onednn_verbose,info,oneDNN v{} (commit 1a)\nonednn_verbose,info,gpu,engine,0,name:Intel(R) {},driver_version:1\n"
)
PRIMITIVE = "RuntimeError: could not create a primitive descriptor for a matmul primitive\n"
SPIRV = "error: InvalidModule: Invalid SPIR-V module: input SPIR-V module uses unknown extension 'SPV_INTEL_{}'\n"
OCLOC = "`ocloc` failed with error code 245\n"
SHARED = "ffmpeg -init_hw_device d3d11va=dx -init_hw_device opencl=o@dx -vf tonemap_opencl\nThe picture is all green\n"
NVTOP = f"{LSPCI}{ARC}{{}}$ nvtop --version\nnvtop version {{}}\n$ nvtop\nNo GPU to monitor.\n"
EXACT = (
    "dpkg: dependency problems prevent configuration of {0}:\n {0} depends on {1} (= 22.0.1); however:\n"
    "  Version of {1}:amd64 on system is {2}.\n video depends on {1} (>= 22.1.0).\n"
)
LDD = "$ ldd /opt/gpu/{}\n\tlinux-vdso.so.1 (0x01)\n\tlibdl.so.2 => /lib/libdl.so.2 (0x02)\n\t{} => not found\n"
PIN = (
    "Collecting torch==2.{0}.0+xpu\nERROR: Could not find a version that satisfies the requirement {1} (from versions:"
    " 3.1.0)\nERROR: No matching distribution found for {1}\n"
)
HANG = "[   81.2] i915 0000:00:02.0: [drm] GPU HANG: ecode 9:1:e7, in bench [77]\n"
LOADER = (
    "$ dpkg -l | grep -E 'level-zero|libze'\nii  {}  1.9.2  amd64  loader\n{}$ ./app\nZE_RESULT_ERROR_UNINITIALIZED\n"
)
ROOTS = "User uid:    1001\nNo VA display found for device /dev/dri/renderD128.\nDevice creation failed: -22.\n"
NODE = "$ ls -l /dev/dri\ncrw{} 1 root {} 226, 128 Mar 3 09:00 renderD128\n"
VA = (
    "libva error: dlopen of /usr/lib/dri/iHD_drv_video.so failed: /usr/lib/dri/iHD_drv_video.so: undefined symbol: {}\n"
)
OF_2020 = "$ apt list --installed | grep intel\nintel-opencl-icd/focal,now 20.{}.18021 amd64 [installed]\n"
IN_WSL = "$ uname -r\n5.4.72-microsoft-standard-WSL2\n$ ls /dev/dxg\n/dev/dxg\n"

PACMAN = "$ pacman -Q\nintel-compute-runtime 23.48.27912.11-1\n"

POSTS: tuple[tuple[str, str, str], ...] = (
    ("oneDNN and UHD 630", GEN9.format("3.5.3", "UHD Graphics 630") + PRIMITIVE, "hw.legacy_gpu"),
    ("oneDNN and HD 530", GEN9.format("3.4", "HD Graphics 530") + PRIMITIVE, "hw.legacy_gpu"),
    ("oneDNN and Iris Plus 655", GEN9.format("3.10.1", "Iris(R) Plus Graphics 655") + PRIMITIVE, "hw.legacy_gpu"),
    ("oneDNN of the time", GEN9.format("3.3.6", "UHD Graphics 630") + PRIMITIVE, ""),
    ("oneDNN and Xe", GEN9.format("3.5", "Iris(R) Xe Graphics") + PRIMITIVE, ""),
    (
        "clDNN's own list",
        f"{LSPCI}{OLD.format('Device', '9bc8')}Device lookup failed - unsupported device id: 0x9BC8. Note\n",
        "hw.legacy_gpu",
    ),
    (
        "Mesa",
        "MESA: warning: Driver does not support the 0xe20b PCI ID.\nfailed to load driver: iris\n",
        "umd.gives_up",
    ),
    *(
        (
            f"an unserved GPU beside the card: {name}",
            f"{LSPCI}{OLD.format(name, ids)}{I915}{ARC}{I915}{NONE}",
            "umd.gives_up",
        )
        for name, ids in (
            ("Xeon E3-1200 v3/4th Gen Core Processor Integrated Graphics Controller", "0402"),
            ("3rd Gen Core processor Graphics Controller", "0166"),
            ("Haswell-ULT Integrated Graphics Controller", "0a16"),
        )
    ),
    ("a served GPU beside the card", f"{LSPCI}{OLD.format('CometLake-S GT2', '9bc8')}{I915}{ARC}{I915}{NONE}", ""),
    *(
        (
            f"a program that names the kernel: {line}",
            f"It worked under 6.7.9.\n{LSPCI}{ARC}{I915}{line}\n{PACMAN}{NONE}",
            "known.bad",
        )
        for line in (
            "12-Mar-2025 10:00:00 [---] OS: Linux Arch: Arch Linux [6.8.2-arch2-1|libc 2.39]",
            "Platform: Linux-6.8.2-arch2-1-x86_64-with-glibc2.39",
            "Operating system: Linux-6.9.1-zen1-1-zen-x86_64-with-glibc2.39 64 Bits",
        )
    ),
    ("Windows' compiler", f"Windows 11\n{OCLOC}{SPIRV.format('2d_block_io')}", "win.driver"),
    ("Linux' compiler", f"$ uname -r\n6.11.0\n{OCLOC}{SPIRV.format('split_barrier')}", "umd.igc_incompatible"),
    ("sharing 5333", f"DriverVersion : 31.0.101.5333\n{SHARED}", "win.driver"),
    ("sharing 5186", f"Intel(R) Iris(R) Xe Graphics, driver 31.0.101.5186\n{SHARED}", "win.driver"),
    ("sharing 5534", f"Driver Version: 31.0.101.5534\n{SHARED}", "win.driver"),
    ("sharing 5590", f"DriverVersion : 31.0.101.5590\n{SHARED}", ""),
    ("iHD and gmmlib", VA.format("_ZN6GmmLib16GmmClientContext9GetThingsEv"), "umd.video"),
    ("iHD and another gmmlib", VA.format("OpenGmm_GMM_Init"), "umd.video"),
    (
        "iHD without gmmlib",
        "/x/iHD_drv_video.so: libigdgmm.so.12: cannot open shared object file: No such\n",
        "umd.video",
    ),
    ("iHD and libva", VA.format("vaMapBuffer2"), "umd.video"),
    ("iHD and libdrm", VA.format("drmGetDeviceFromDevId"), "umd.video"),
    *(
        (f"one exact {library}", EXACT.format(package, library, there), "umd.mixed_driver_packages")
        for package, library, there in (
            ("intel-opencl-icd", "libigdgmm12", "22.1.2+ds1-1"),
            ("intel-level-zero-gpu", "libigdgmm12", "22.3.0"),
            ("libze-intel-gpu1", "libigdgmm12", "22.5.2"),
        )
    ),
    *(
        (f"{driver} without {library}", LDD.format(driver, library) + NONE, "umd.ze_intel_gpu")
        for driver, library in (
            ("libigdrcl.so", "libstdc++.so.6"),
            ("libze_intel_gpu.so.1", "libgcc_s.so.1"),
            ("libigc.so.2", "libzstd.so.1"),
        )
    ),
    ("another program's library", LDD.format("libfoo.so", "libstdc++.so.6"), ""),
    ("the former name", PIN.format(10, "pytorch-triton-xpu==3.5.0"), "triton.package"),
    ("the former name, written otherwise", PIN.format(11, "pytorch_triton_xpu==3.4.0"), "triton.package"),
    ("the name of that time", PIN.format(8, "pytorch-triton-xpu==3.4.0"), ""),
    ("hangs since 6.2", f"kernel 5.15: works without a hang\n$ uname -r\n6.2.0-33-generic\n{HANG}", "fw.gpu_hang"),
    ("hangs since 6.8", f"It runs fine with kernel 6.5.\n$ uname -r\n6.8.0-40-generic\n{HANG}", "fw.gpu_hang"),
    ("hangs with each", f"It does not work with kernel 6.5.\n$ uname -r\n6.8.0-40-generic\n{HANG}", ""),
    ("the loader alone", LOADER.format("level-zero", ""), "umd.ze_intel_gpu"),
    ("the loader alone, libze1", LOADER.format("libze1:amd64", ""), "umd.ze_intel_gpu"),
    (
        "the loader alone, and older graphics",
        f"{LSPCI}{OLD.format('UHD Graphics 620', '3ea0')}{I915}{LOADER.format('level-zero', '')}",
        "umd.ze_intel_gpu",
    ),
    ("root's by its mode", f"{NODE.format('-------', 'root')}{ROOTS}", "perm.render_group"),
    ("root's by its mode, with a group", f"{NODE.format('-------', 'video')}{ROOTS}", "perm.render_group"),
    ("root's by its group", f"{NODE.format('-rw----', 'root')}{ROOTS}", "perm.render_group"),
    ("everybody's", f"{NODE.format('-rw-rw-', 'root')}{ROOTS}", ""),
    ("WSL and a driver of 2020", f"{IN_WSL}{OF_2020.format(41)}{NONE}", "wsl.windows_too_old"),
)


@pytest.mark.parametrize(("text", "cause"), [post[1:] for post in POSTS], ids=[post[0] for post in POSTS])
def test_what_decides_stands_first(text: str, cause: str) -> None:
    told = {each.tells for each in showings()}
    found = causes(text)
    assert (found[:1] == [cause]) if cause else not (set(found) & told & {post[2] for post in POSTS}), found


WELL = (
    f"{LSPCI}{ARC}{XE}$ dpkg -l\nii  nvtop  3.1.0-2  amd64  a monitor\n",
    f"{LSPCI}{ARC}{I915}$ nvtop --version\nnvtop version 3.1.0\n",
    "DriverVersion : 31.0.101.5333\nffmpeg -loglevel error -init_hw_device opencl=o@dx -vf tonemap_opencl\nwell\n",
    "$ dpkg -l | grep level-zero\nii  level-zero  1.21.9  amd64  loader\n$ ./app\nno devices yet, not asked\n",
    f"{NODE.format('-rw----', 'render')}$ id\nuid=1001(ann) gid=1001(ann) groups=1001(ann),105(render)\n",
    f"{LSPCI}{OLD.format('Haswell-ULT Integrated Graphics Controller', '0a16')}{I915}{ARC}{I915}",
    GEN9.format("3.7", "UHD Graphics 630"),
    LDD.format("libigdrcl.so", "libstdc++.so.6").replace("not found", "/lib/libstdc++.so.6 (0x03)"),
    "kernel 5.15: works\n$ uname -r\n6.8.0-40-generic\n$ dmesg\n[    2.2] [drm] Initialized i915 1.6.0 on minor 0\n",
    "libva info: va_openDriver() returns 0\nvainfo: Driver version: Intel iHD driver - 24.1.0\n",
    f"{PACMAN}Platform: Linux-6.8.2-arch2-1-x86_64-with-glibc2.39\n",
    "Collecting torch==2.10.0+xpu\nCollecting triton-xpu==3.6.0\nSuccessfully installed torch-2.10.0+xpu\n",
)


@pytest.mark.parametrize("text", WELL)
def test_what_goes_well_is_left_alone(text: str) -> None:
    amiss = {each.id for each in findings(text).values() if each.level in ("fail", "warn")}
    assert not amiss - {"hw.no_native_fp64", "hw.release_has_code"}


@pytest.mark.parametrize("code", ["-12", "-22", "-EINVAL", "-2"])
def test_firmware_that_was_not_fetched_comes_before_the_gpu_that_was_given_up(code: str) -> None:
    told = "i915 0000:00:02.0: {}\n"
    lines = (f"GuC firmware i915/tgl_guc_70.1.1.bin: fetch failed with error {code}", "GuC initialization failed -8")
    text = "$ dmesg\n" + "".join(f"[    3.1] {told.format(line)}" for line in lines)
    assert causes(text)[:1] == ["fw.guc_missing"]


B70 = (
    "03:00.0 VGA compatible controller [0300]: Intel Corporation Device [8086:e223]\n"
    "\tSubsystem: Intel Corporation Device [8086:1700]\n"
)
B580 = B70.replace("e223", "e20b")
LOADED = "$ lsmod | grep -E '^(xe|i915)'\n{}   2457600  0\n"


def test_a_driver_that_is_loaded_is_not_to_be_loaded() -> None:
    asked = f"{LSPCI}{B70}{LOADED.format('xe')}$ uname -r\n"
    late = findings(f"{asked}6.12.25\n")["kmd.bound"]
    assert "older than this GPU" in late.why
    assert "modprobe" not in str(late.fix)
    known = findings(f"{LSPCI}{B580}{LOADED.format('xe')}$ uname -r\n6.17.1\n")["kmd.bound"]
    assert "has not taken" in known.why
    assert "dmesg" in str(known.fix)
    absent = findings(f"{LSPCI}{B580}$ uname -r\n6.17.1\n")["kmd.bound"]
    assert "modprobe" in str(absent.fix)


@pytest.mark.parametrize(
    ("driver", "version", "warns"), [(XE, "3.1.0", True), (I915, "3.1.0", False), (XE, "3.2.0", False)]
)
def test_a_tool_that_knows_another_driver(driver: str, version: str, *, warns: bool, tmp_path: Path) -> None:
    text = NVTOP.format(driver, version)
    found = findings(text).get("tool.contradicted")
    assert (found is not None and found.level == "warn") == warns
    file = tmp_path / "post.txt"
    file.write_text(f"nvtop does not recognize xe driver Intel GPU\n{text}")
    summary = read_paste([str(file)]).describe(list(findings(file.read_text()).values()))
    assert not (warns and summary.symptoms)


@pytest.mark.parametrize(("name", "device"), [("Arc(TM) 140V GPU (16GB)", "64a0"), ("Arc(TM) 130T GPU (8GB)", "7d51")])
def test_graphics_that_a_report_names_are_not_those_of_another_machine(name: str, device: str) -> None:
    seen = f"* [0] _XpuDeviceProperties(name='Intel(R) {name}', platform_name='Level-Zero', type='gpu')"
    text = f"Intel GPU models onboard:\n* Intel(R) {name}\nIntel GPU models detected:\n{seen}\n"
    hardware = read(f"{text}On an A770 box the same script is ok.\n").hardware
    assert hardware is not None
    assert [gpu.device for gpu in hardware.gpus] == [device]
