"""doctor --paste: whose the fault is where two things stand side by side, and what of a sound machine is no fault."""

from __future__ import annotations

import pytest

from test_paste_shown import B580, I915, XE, causes, findings, read

NODE = "crw-rw---- 1 root render 226, 128 Mai  2 08:00 renderD128\n"
OWN = "$ id\nuid=1000(u) gid=1000(u) groups=1000(u),992(render)\n"
CARD = "Arc A380\nggml_vulkan: No devices found.\n"
UNIT = "$ systemctl show {0} | grep User\nUser={0}\n"
SYCL = "[level_zero:gpu][level_zero:{}] Intel(R) oneAPI Unified Runtime over Level-Zero, Intel(R) {} 20.2.0 [1.14.3]\n"
TABLE = "| 0| [level_zero:gpu:0]|  Intel Arc Pro B70 Graphics  |   20.2|    256|   1024|   32| 32656M|   1.14.3|\n"
PATHS = "pci-0000:00:02.0-render -> ../renderD129\npci-0000:03:00.0-render -> ../renderD128\n"
BUS = "00:02.0 VGA compatible controller: Intel Corporation UHD Graphics 770\n03:00.0 VGA compatible controller: {}\n"
KERNEL = "$ uname -r\n{}\n$ cat /proc/cmdline\nroot=/dev/sda1 i915.force_probe={}\n"
PIN = 'Arc B580\n[tool.uv.sources]\ntorch = [{{ index = "{}" {}}}]\n$ uv run python t.py\n{}\n# wanted: 2.9+xpu\n'
MAPS = "7f3a1c000000-7f3a1c400000 r-xp 00000000 08:01 {} {}\n"
OURS, THEIRS = "/home/u/envs/t/lib/libsycl.so.8.0.0", "/opt/intel/oneapi/compiler/2024.2/lib/libsycl.so.7.1.0"
CONDA = "(ov) u@box:~$ conda list | grep -i icd\n{}ocl-icd    2.3.2    hb9d3cd8_2   conda-forge\n"
SEES = "$ /usr/bin/clinfo -l\nPlatform #0: Intel(R) OpenCL Graphics\n `-- Device #0: Intel(R) Arc(TM) A770 Graphics\n"
VF = "One VF goes to the guest VM, i915-sriov-dkms is on the host.\n$ dmesg\n[ 4.1] i915 0000:06:10.0: {}\n"
BLENDER = "$ flatpak run org.blender.Blender\nNo compatible GPUs found for Cycles\n"
IMPORT = "ImportError: libsycl.so.7: cannot open shared object file: No such file or directory\n"
OLD_WIN = "OpenVINO 2024.1, UHD 620\nDriver Version: {}\nRuntimeError: Program build failed(0_part_3)\n"
DLL = 'OSError: [WinError 126] Error loading "C:\\e\\intel_extension_for_pytorch\\bin\\intel-ext-pt-gpu.dll"\n'
LAMA = "llama-cli: error while loading shared libraries: libaclnn_x.so: cannot open shared object file\n"
CANN = (
    "\tlibopapi.so => /usr/local/Ascend/ascend-toolkit/latest/lib64/libopapi.so (0x0000fffd1)\nset_env.sh was sourced\n"
)
LDD = "ImportError: libx.so\n$ ldd /opt/intel/oneapi/lib/libx.so | grep 'not found'\n\t{} => not found\n"


@pytest.mark.parametrize(
    ("text", "first"),
    [
        # the account of a service
        (
            f"{CARD}{UNIT.format('ollama')}{NODE}{OWN}$ id ollama\nuid=987(ollama) gid=987(ollama) groups=9(ollama)\n",
            1,
        ),
        (
            f"{CARD}{UNIT.format('media')}{NODE}{OWN}$ id media\nuid=9(media) gid=9(media) groups=9(media),44(video)\n",
            1,
        ),
        (f"{CARD}{UNIT.format('llm')}{NODE}{OWN}$ groups llm\nllm : llm video\n", 1),
        (
            f"{CARD}{UNIT.format('ollama')}{NODE}{OWN}$ id ollama\nuid=987(ollama) gid=7(ollama) groups=992(render)\n",
            0,
        ),
    ],
)
def test_the_account_of_a_service_lacks_the_group(text: str, first: int) -> None:
    assert ("perm.render_group" in causes(text)) == bool(first)


@pytest.mark.parametrize(
    ("kernel", "asked", "rest", "named"),
    [
        ("5.19.17", "56a5", "iHD_drv_video.so init failed", True),
        ("6.0.9-amd64", "56a0", "vaInitialize failed with error code -1", True),
        ("6.1.0-13-amd64", "5690", "Number of platforms       0", True),
        ("6.2.16", "56a5", "iHD_drv_video.so init failed", False),
        ("6.1.0-13-amd64", "56a5", SYCL.format(0, "Arc(TM) A380 Graphics"), False),
    ],
)
def test_alchemist_behind_a_switch(kernel: str, asked: str, rest: str, *, named: bool) -> None:
    text = f"Arc A380\n{KERNEL.format(kernel, asked)}{rest}\n"
    assert ("kmd.force_probe" in read(text).shown) is named


@pytest.mark.parametrize(
    ("index", "more", "printed", "named"),
    [
        ("pytorch-cpu", "", "2.9.0+cpu", True),
        ("torch-cu128", "", "2.9.0+cu128", True),
        ("pytorch-cpu", ", marker = \"sys_platform == 'darwin'\" ", "2.9.0+cpu", False),
        ("pytorch-cpu", ', extra = "cpu" ', "2.9.0+cpu", False),
        ("pytorch-xpu", "", "2.9.0+xpu", False),
    ],
)
def test_a_project_that_pins_another_index(index: str, more: str, printed: str, *, named: bool) -> None:
    assert ("torch.is_xpu_build" in read(PIN.format(index, more, printed)).shown) is named


@pytest.mark.parametrize("maker", ["NVIDIA Corporation TU116", "Advanced Micro Devices, Inc. Navi 23"])
@pytest.mark.parametrize("given", ["      - /dev/dri/{0}:/dev/dri/{0}\n", "$ docker run --device /dev/dri/{0} a/b\n"])
def test_the_node_of_another_maker(maker: str, given: str) -> None:
    there = f"{PATHS}{BUS.format(maker)}"
    assert causes(f"{there}{given.format('renderD128')}")[:1] == ["container.no_device"]
    assert "container.no_device" not in read(f"{there}{given.format('renderD129')}").shown
    assert "container.no_device" not in read(f"{there}{given.format('renderD128')}      - /dev/dri:/dev/dri\n").shown


@pytest.mark.parametrize(
    ("text", "check"),
    [
        (MAPS.format(1, OURS) + MAPS.format(2, THEIRS) + "Segmentation fault\n", "setvars.with_wheel"),
        (MAPS.format(1, THEIRS) + MAPS.format(2, OURS) + "UR error\n", "setvars.with_wheel"),
        ("$ sycl-ls\n" + LDD.format("libtbb.so.12"), "runtime.libraries"),
        (LDD.format("libsvml.so"), "runtime.libraries"),
        (LDD.format("libmkl_core.so.2"), "runtime.libraries"),
        (f"pip list\npytorch-triton-xpu 3.1.0\nintel-sycl-rt 2025.0.4\ninductor:\n{IMPORT}", "runtime.libraries"),
        (OLD_WIN.format("25.20.100.6373"), "win.driver"),
        (OLD_WIN.format("27.20.100.9316"), "win.driver"),
        (f"intel-extension-for-pytorch==2.0.110\n{DLL}oneAPI: 2024.1\n", "torch.ipex"),
        (CONDA.format("") + "['CPU']\n" + SEES, "umd.opencl_elsewhere"),
        (
            VF.format("[drm] *ERROR* Device is non-operational; MMIO access returns 0xFFFFFFFF!"),
            "kmd.virtual_functions",
        ),
        (VF.format("Device initialization failed (-19)"), "kmd.virtual_functions"),
        (BLENDER + SEES, "umd.ze_intel_gpu"),
        (LAMA + CANN, "npu.release"),
        ('$ modinfo i915 | grep -ci "46d4"\n0\n$ ls\n', "kmd.unknown_id"),
        ("$ modprobe -c | grep -c e20b\n0\n$ ls\n", "kmd.unknown_id"),
    ],
)
def test_what_two_lines_show(text: str, check: str) -> None:
    assert check in read(text).shown


@pytest.mark.parametrize(
    ("text", "check"),
    [
        (MAPS.format(1, OURS) + MAPS.format(2, THEIRS.replace("so.7", "so.8")) + "Aborted\n", "setvars.with_wheel"),
        (OLD_WIN.format("31.0.101.2115"), "win.driver"),
        (CONDA.format("ocl-icd-system 1.0.0 1 conda-forge\n") + "['CPU']\n" + SEES, "umd.opencl_elsewhere"),
        (VF.format("Running in SR-IOV VF mode"), "kmd.virtual_functions"),
        ('$ modinfo i915 | grep -c "46d1"\n1\n$ ls\n', "kmd.unknown_id"),
        ("found 2 SYCL devices:\nit does not work in the server, driver 31.0.101.5333\n", "win.driver"),
    ],
)
def test_what_they_do_not_show(text: str, check: str) -> None:
    assert check not in read(text).shown


def test_a_table_of_llama_is_no_second_card() -> None:
    listed = SYCL.format(0, "Arc(TM) Pro B70 Graphics")
    for text in (f"$ sycl-ls\n{listed}$ ./llama-bench\n{TABLE}", f"$ ./llama-bench\n{TABLE}$ sycl-ls\n{listed}", TABLE):
        hardware = read(text).hardware
        assert hardware is not None
        assert len(hardware.gpus) == 1


@pytest.mark.parametrize(
    "line", ["[ INFO ] Execution Devices:['GPU.0']", "All devices: xpu:0", "It lists devices 0 and 1 here"]
)
def test_a_number_of_a_device_is_not_none_of_them(line: str) -> None:
    assert "fails" not in read(f"{line}\n").said


def test_the_heading_of_the_host_ends_a_container() -> None:
    inner = "$ docker run -it --device /dev/dri a/b bash\nroot@0123456789ab:/# sycl-ls\n"
    inner += "[opencl:cpu][opencl:0] Intel(R) OpenCL\n"
    outer = f"On the host:\n$ sycl-ls\n{SYCL.format(0, 'Arc(TM) B580 Graphics')}$ lspci -nnk\n{B580}{XE}"
    userland = read(f"{inner}{outer}").userland
    assert userland is not None
    assert not any("level_zero" in line for line in userland.sycl or [])


def test_a_registered_driver_on_nixos_is_too_new_for_old_graphics() -> None:
    listed = "❯ ls /run/opengl-driver/etc/OpenCL/vendors\nintel-neo.icd\n"
    old = f"00:02.0 VGA compatible controller [0300]: Intel Corporation UHD Graphics 620 [8086:3ea0]\n{I915}"
    text = f"NixOS\nNumber of platforms     0\n$ lspci -nnk\n{old}"
    assert causes(f"{text}{listed}") == ["hw.legacy_gpu"]
    assert "intel-compute-runtime-legacy1" in findings(f"{text}{listed}")["hw.legacy_gpu"].fix.say
    assert "umd.unregistered" in causes(text)


@pytest.mark.parametrize("words", ["总是使用核显", "独显 0%", "es nimmt immer die interne GPU"])
def test_the_wrong_gpu_in_other_languages(words: str) -> None:
    listed = SYCL.format(0, "Arc(TM) A770 Graphics") + SYCL.format(1, "UHD Graphics 770")
    text = f"{words}\n      - ONEAPI_DEVICE_SELECTOR=level_zero:1\n$ sycl-ls\n{listed}"
    assert causes(text)[:1] == ["umd.device_choice"]
