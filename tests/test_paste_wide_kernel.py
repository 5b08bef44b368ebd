"""doctor --paste: what people paste of the kernel's driver, of links, limits and parts that do not belong together."""

from __future__ import annotations

import pytest

from test_paste_shown import causes, findings

A770 = "03:00.0 VGA compatible controller [0300]: Intel Corporation DG2 [Arc A770] [8086:56a0] (rev 08)\n"
B580 = "03:00.0 VGA compatible controller [0300]: Intel Corporation Battlemage G21 [Arc B580] [8086:e20b]\n"
FLEX = "4d:00.0 Display controller [0380]: Intel Corporation ATS-M [Data Center GPU Flex 170] [8086:56c0] (rev 08)\n"
GAUDI = "19:00.0 Processing accelerators [1200]: Habana Labs Ltd. Device [1da3:1060] (rev 01)\n"
ALIAS = "alias:          pci:v00001DA3d0000{}sv*sd*bc*sc*i*\n"
ZE = "[level_zero:gpu][level_zero:0] Intel(R) Unified Runtime over Level-Zero, Intel(R) Arc(TM) {} 1.0 [1.6.33944]\n"
CPU = "[opencl:cpu][opencl:0] Intel(R) OpenCL, AMD Ryzen 7 5800X OpenCL 3.0\n"
XE = "/sys/class/drm/card0/device/tile0/gt0/freq0/throttle"
LINK = (
    "01:00.0 PCI bridge: Intel Corporation Device {} (rev 01) (prog-if 00 [Normal decode])\n"
    "\tCapabilities: [70] Express (v2) Upstream Port, MSI 00\n"
    "\t\tLnkCap:\tPort #0, Speed 16GT/s, Width x8, ASPM L1, Exit Latency L1 <32us\n"
    "\t\tLnkSta:\tSpeed {}, Width {}\n"
)
OWN = (
    "03:00.0 VGA compatible controller: Intel Corporation DG2 [Arc A380] (rev 05)\n"
    "\t\tLnkCap:\tPort #0, Speed 2.5GT/s, Width x1, ASPM L0s L1, Exit Latency L0s <64ns, L1 <1us\n"
    "\t\tLnkSta:\tSpeed 2.5GT/s, Width x1\n"
)
LIMITED = (
    "[    0.7] pci 0000:01:00.0: {} Gb/s available PCIe bandwidth, limited by {} link at 0000:00:01.0"
    " (capable of {} Gb/s with {} link)\n"
    "[    4.1] xe 0000:03:00.0: [drm] Found battlemage (device ID e211) discrete display version 14.01\n"
)
NVIDIA_ALONE = "$ ls /usr/lib/wsl/drivers\nnv_dispi.inf_amd64_1234abcd\nu0391234.inf_amd64_99\n$ uname -r\n"
BOTH = "$ ls /usr/lib/wsl/drivers\nnv_dispi.inf_amd64_1234abcd\niigd_dch_d.inf_amd64_77\n$ uname -r\n"
WSL = "6.6.87.2-microsoft-standard-WSL2\n$ clinfo | head -1\nNumber of platforms                               0\n"

CAUSES: tuple[tuple[str, str, str], ...] = (
    (
        "the driver gives up on the shape",
        f"$ lspci -nn\n{B580}\tKernel driver in use: xe\n$ sycl-ls\nFATAL: Cannot query EU total parameter!\n{CPU}",
        "umd.gives_up",
    ),
    (
        "the driver does not know the id",
        (
            f"$ lspci -nn\n{B580}$ NEOReadDebugKeys=1 PrintDebugMessages=1 sycl-ls\n"
            f"FATAL: Unknown device: deviceId: e20b, revisionId: 0000\n{CPU}"
        ),
        "umd.gives_up",
    ),
    (
        "one of two is unknown and the other is listed",
        f"$ sycl-ls\nFATAL: Unknown device: deviceId: 9bca, revisionId: 0003\n{ZE.format('A770 Graphics')}",
        "",
    ),
    (
        "a DKMS driver without the id",
        (
            f"Flex 170, intel-i915-dkms is new\n$ lspci -nnk\n{FLEX}\tSubsystem: Intel Corporation Device [8086:4905]\n"
            "$ dkms status\nintel-i915-dkms/1.24.5.3, 5.15.0-139-generic, x86_64: installed\n"
            "$ modprobe -c | grep -i d000056C0\n$ uname -r\n5.15.0-139-generic\n"
        ),
        "kmd.unknown_id",
    ),
    (
        "modinfo without the id",
        (
            f"$ lspci -nnk\n{FLEX}\tSubsystem: Intel Corporation Device [8086:4905]\n"
            "root@gpu1:~# modinfo i915 | grep -i 56c0\nroot@gpu1:~# uname -r\n5.15.0-139-generic\n"
        ),
        "kmd.unknown_id",
    ),
    (
        "the id by itself",
        f"$ modprobe -c | grep -i 56c0\n$ lspci -nn -d 8086:56c0\n{FLEX}$ uname -r\n5.15.0-139-generic\n",
        "kmd.unknown_id",
    ),
    ("a maker's id", f"$ modprobe -c | grep 8086\n$ lspci -nn -d 8086:56c0\n{FLEX}", ""),
    (
        "someone asks about survivability",
        f"How do I enable survivability mode on my B580?\n$ sycl-ls\n{ZE.format('B580')}",
        "",
    ),
    (
        "Gaudi's driver without the card",
        (
            f"$ lspci -nn -d 1da3:\n{GAUDI}$ lsmod | grep habana\nhabanalabs 3932160 0\n"
            "$ modinfo habanalabs | grep -E '^version|alias'\nversion:        1.15.1-62f612b\n"
            f"{ALIAS.format(1000)}{ALIAS.format(1020)}"
            "$ hl-smi\nhl-smi: No habanalabs devices found\n"
        ),
        "kmd.unknown_id",
    ),
    (
        "Gaudi's driver that lists the card",
        (f"$ lspci -nn -d 1da3:\n{GAUDI}$ modinfo habanalabs | grep alias\n{ALIAS.format(1020)}{ALIAS.format(1060)}"),
        "",
    ),
    (
        "the id is claimed",
        (
            f"$ lspci -nnk\n{A770}\tKernel driver in use: i915\n$ modprobe -c | grep -i d000056a0\n"
            "alias pci:v00008086d000056A0sv*sd*bc03sc*i* i915\n$ uname -r\n6.14.0-29-generic\n"
        ),
        "",
    ),
    (
        "the command stands at the end",
        f"$ lspci -nnk\n{A770}\tKernel driver in use: i915\nThen run modprobe -c | grep -i d000056a0\n",
        "",
    ),
    (
        "survivability",
        (
            "B580 after its firmware was updated\n[    3.1] xe 0000:03:00.0: Survivability Mode: Boot\n"
            "[    3.2] xe 0000:03:00.0: In Survivability Mode\n$ ls /dev/dri\nby-path card0 renderD128\n"
        ),
        "fw.survivability",
    ),
    (
        "survivability, as the file says",
        "$ sudo cat /sys/bus/pci/devices/0000:03:00.0/survivability_mode\nSurvivability mode type: Runtime\n",
        "fw.survivability",
    ),
    (
        "no survivability",
        (
            f"$ sudo dmesg | grep -i surviv\n[    3.1] xe 0000:03:00.0: [drm] Survivability mode not supported\n"
            f"$ sycl-ls\n{ZE.format('B580 Graphics')}"
        ),
        "",
    ),
    (
        "gmmlib is not there",
        (f"$ ldd libze_intel_gpu.so.1 | grep 'not found'\n\tlibigdgmm.so.12 => not found\n$ sycl-ls\n{CPU}"),
        "umd.ze_intel_gpu",
    ),
    (
        "gmmlib of another release",
        (
            "$ clinfo\nclinfo: symbol lookup error: /usr/lib/intel-opencl/libigdrcl.so: undefined symbol:"
            " _ZN6GmmLib16GmmClientContextE\n"
        ),
        "umd.igc_incompatible",
    ),
    (
        "WSL2 with NVIDIA's driver alone",
        f"WSL2, RTX 4070 and Arc B580\n{NVIDIA_ALONE}{WSL}",
        "win.driver",
    ),
    (
        "a window the guest has no room for",
        (
            "Ubuntu 24.04 guest, A770 handed over\n[    2.7] i915 0000:01:00.0: BAR 2: can't reserve"
            " [mem 0x00000000-0x3ffffffff 64bit pref]\n[    2.8] i915: probe of 0000:01:00.0 failed with error -6\n"
        ),
        "hw.bar_space",
    ),
    (
        "no room, as newer kernels say it",
        (
            "[    1.1] pci 0000:03:00.0: BAR 2 [mem size 0x400000000 64bit pref]: can't assign; no space\n"
            "[    3.1] xe 0000:03:00.0: [drm] *ERROR* pci resource is not valid\n"
        ),
        "hw.bar_space",
    ),
    (
        "assigned in the second round",
        (
            "[    1.1] pci 0000:03:00.0: BAR 2 [mem size 0x400000000 64bit pref]: can't assign; no space\n"
            "[    1.2] pci 0000:03:00.0: BAR 2 [mem 0x6000000000-0x63ffffffff 64bit pref]: assigned\n"
            f"[    5.1] [drm] Initialized xe 1.1.0 for 0000:03:00.0 on minor 0\n$ sycl-ls\n{ZE.format('B580')}"
        ),
        "",
    ),
    (
        "lost in its reset",
        "root@pve:~# qm start 100\nvfio-pci 0000:03:00.0: not ready 65535ms after FLR; giving up\n",
        "vm.passthrough",
    ),
    (
        "a guest without the card",
        (
            "Passed my Arc A770 to the guest, nothing. In the guest:\n$ lspci -nn | grep -E 'VGA|Display'\n"
            "00:02.0 VGA compatible controller [0300]: Red Hat, Inc. Virtio 1.0 GPU [1af4:1050] (rev 01)\n"
            "$ python -c 'import torch; print(torch.xpu.is_available())'\nFalse\n"
        ),
        "hw.intel_gpu_present",
    ),
    (
        "a guest with both",
        (
            "Arc A770 in a guest\n$ lspci -nn | grep -E 'VGA|Display'\n"
            f"00:02.0 VGA compatible controller [0300]: Red Hat, Inc. Virtio 1.0 GPU [1af4:1050] (rev 01)\n{A770}"
            f"$ sycl-ls\n{ZE.format('A770')}"
        ),
        "",
    ),
    (
        "a kernel without drivers",
        (
            f"$ lspci -nnk\n{B580}\tSubsystem: Intel Corporation Device [8086:1100]\n"
            "$ zgrep -E 'DRM_XE|DRM_I915' /proc/config.gz\n# CONFIG_DRM_I915 is not set\n# CONFIG_DRM_XE is not set\n"
        ),
        "kmd.other_kernel",
    ),
    (
        "a kernel with one of them",
        (
            f"$ lspci -nnk\n{B580}\tKernel driver in use: xe\n$ zgrep -E 'DRM_XE|DRM_I915' /proc/config.gz\n"
            "# CONFIG_DRM_I915 is not set\nCONFIG_DRM_XE=m\n"
        ),
        "",
    ),
    (
        "memory that an old driver refuses",
        (
            f"$ uname -r\n6.17.0-5-generic\n$ lspci -nnk\n{A770}\tKernel driver in use: i915\n"
            "$ dpkg -l | grep libze-intel\n"
            "ii  libze-intel-gpu1  23.43.27642.40-1ubuntu3 amd64\n"
            "RuntimeError: level_zero backend failed with error: 39 (UR_RESULT_ERROR_OUT_OF_DEVICE_MEMORY)\n"
        ),
        "kmd.compute_runtime_vs_kernel",
    ),
    (
        "memory that is full",
        (
            f"$ uname -r\n6.17.0-5-generic\n$ lspci -nnk\n{A770}\tKernel driver in use: i915\n"
            "$ dpkg -l | grep libze-intel\n"
            "ii  libze-intel-gpu1  25.35.35096.9-1~24.04 amd64\n"
            "RuntimeError: level_zero backend failed with error: 39 (UR_RESULT_ERROR_OUT_OF_DEVICE_MEMORY)\n"
        ),
        "",
    ),
    (
        "pacman -Qs without the driver",
        (
            'Arch, B580\n$ pacman -Qs "level-zero|compute-runtime"\nlocal/level-zero-loader 1.24.2-1\n'
            "    API for low level\n$ python -c 'import torch; print(torch.xpu.is_available())'\nFalse\n"
        ),
        "umd.ze_intel_gpu",
    ),
    (
        "pacman -Qs that does not ask for it",
        'Arch, B580\n$ pacman -Qs "level-zero|loader"\nlocal/level-zero-loader 1.24.2-1\n$ uname -r\n6.17.1-arch1\n',
        "",
    ),
    (
        "not back from sleep",
        (
            "after suspend: [ 5021.1] xe 0000:03:00.0: PM: failed to resume async: error -62\n"
            "$ python -c 'import torch; print(torch.xpu.is_available())'\nFalse\n"
        ),
        "fw.gpu_wedged",
    ),
    (
        "virtual functions beyond the bus",
        (
            "root@pve:~# echo 7 > /sys/bus/pci/devices/x/sriov_numvfs\n-bash: echo: write error: Device or resource"
            " busy\n[  99.1] i915 0000:00:02.0: can't enable 7 VFs (bus 01 out of range of [bus 00])\n"
        ),
        "kmd.virtual_functions",
    ),
    ("WSL2 with both drivers", f"WSL2, RTX 4070 and Arc B580\n{BOTH}{WSL}", ""),
)


@pytest.mark.parametrize(("text", "first"), [each[1:] for each in CAUSES], ids=[each[0] for each in CAUSES])
def test_cause(text: str, first: str) -> None:
    """What stands first is the true cause; what looks like it names none."""
    assert next(iter(causes(text)), "") == first


DUMP = (
    "B60 is {} under vLLM\n$ xpu-smi dump -d 0 -m 0,2,35 -n 1\nTimestamp, DeviceId, GPU Utilization (%),"
    " GPU Frequency (MHz), Throttle reason\n10:11:12.001,    0, 99.20, 800, {}\n"
)
REPAIRED = "[  210.1] xe 0000:03:00.0: PCIe Bus Error: severity=Correctable, type=Physical Layer, (Receiver ID)\n"
SLOW = "A770 is suddenly slow in torch\n"
WARNINGS: tuple[tuple[str, str, str], ...] = (
    ("heat, by grep", f"B580\n$ grep . {XE}/*\n{XE}/reason_thermal:1\n{XE}/reason_pl1:0\n{XE}/status:1\n", "thermal"),
    ("heat, by cat", "A770\n$ cat /sys/class/drm/card1/gt/gt0/throttle_reason_prochot\n1\n", "prochot"),
    ("heat, by cat of several", f"A770\n$ cat {XE}/status {XE}/reason_thermal {XE}/reason_pl1\n1\n1\n0\n", "thermal"),
    ("heat, by tail", f"B60\n$ tail -n +1 {XE}/*\n==> {XE}/reason_thermal <==\n1\n", "thermal"),
    ("heat, by xpu-smi", DUMP.format("slow", "Thermal Excursion | "), "Thermal Excursion"),
    ("power, by xpu-smi", DUMP.format("well", "Average Power Excursion | "), ""),
    ("nothing, by xpu-smi", DUMP.format("slow", "Not Throttled"), ""),
    ("heat, by its health", "B60\n| 1. GPU Core Temperature      | Status: Critical     |\n", "Critical"),
    ("cool, by its health", "B60\n| 1. GPU Core Temperature      | Status: OK     |\n", ""),
    ("a link with errors", "dmesg is full of this\n" + REPAIRED, "severity=Correctable"),
    ("one error of the link", "once at start, fine since\n" + REPAIRED, ""),
    ("power, and slow", f"{SLOW}$ grep . {XE}/*\n{XE}/reason_pl1:1\n{XE}/status:1\n", "reason_pl1"),
    ("power under load", f"A770 works\n$ grep . {XE}/*\n{XE}/reason_pl1:1\n{XE}/status:1\n", ""),
    ("no limit", f"{SLOW}$ grep . {XE}/*\n{XE}/reason_pl1:0\n{XE}/reason_thermal:0\n{XE}/status:0\n", ""),
    ("no limit, by cat", f"{SLOW}$ cat {XE}/status {XE}/reason_thermal\n0\n0\n$ nproc\n1\n", ""),
    ("one lane", f"A380\n{OWN}{LINK.format('4fa1', '2.5GT/s (downgraded)', 'x1 (downgraded)')}", "Width x1"),
    ("four of eight", f"B580\n{LINK.format('e2ff', '16GT/s (ok)', 'x4 (downgraded)')}", "Width x4"),
    ("all lanes", f"A380\n{OWN}{LINK.format('4fa1', '16GT/s', 'x8')}", ""),
    ("a card at rest", f"A380\n{OWN}{LINK.format('4fa1', '2.5GT/s (downgraded)', 'x8')}", ""),
    (
        "a drive in a wide slot",
        (
            "A380\n00:1c.0 PCI bridge: Intel Corporation Device 7ab8 (rev 11)\n\tCapabilities: [40] Express Root Port\n"
            "\t\tLnkSta:\tSpeed 8GT/s (downgraded), Width x4 (downgraded)\n"
        ),
        "",
    ),
    (
        "the files of the link",
        (
            "A770\n$ grep . /sys/bus/pci/devices/0000:01:00.0/{current,max}_link_width\n"
            "/sys/bus/pci/devices/0000:01:00.0/current_link_width:1\n"
            "/sys/bus/pci/devices/0000:01:00.0/max_link_width:16\n"
        ),
        "current_link_width:1",
    ),
    (
        "the kernel of the link",
        "B60 copies at 0.4 GB/s\n" + LIMITED.format("7.876", "2.5 GT/s PCIe x4", "252.048", "32.0 GT/s PCIe x8"),
        "limited by",
    ),
    (
        "an older board",
        "B60, is 12 GB/s fine?\n" + LIMITED.format("63.008", "8.0 GT/s PCIe x8", "126.024", "16.0 GT/s PCIe x8"),
        "",
    ),
)


@pytest.mark.parametrize(("text", "seen"), [each[1:] for each in WARNINGS], ids=[each[0] for each in WARNINGS])
def test_slowed(text: str, seen: str) -> None:
    """A card that is slowed warns and stops nothing; one at work, at rest or in an older board does not warn."""
    found = findings(text).get("hw.slowed")
    assert (found is not None) is bool(seen)
    if found is not None:
        assert found.level == "warn"
        assert seen in f"{found.seen} {found.why}"


def test_one_lane_by_the_card_alone() -> None:
    """What every Arc card says of itself is no fault of the slot."""
    found = findings(f"Why does my A380 run at x1 Gen1 only?\n{OWN}")
    assert found["tool.contradicted"].level == "warn"
    assert "hw.slowed" not in found
    assert "tool.contradicted" not in findings(f"A380, all fine\n{OWN}")
    asked = f"How do I enable survivability mode on my B580? All is fine.\n$ sycl-ls\n{ZE.format('B580')}"
    assert "tool.contradicted" not in findings(asked)
