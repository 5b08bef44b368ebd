"""doctor --paste: accounts of services, video, sandboxes, guests, and lists of devices as programs print them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from test_paste_common import look
from test_paste_shown import causes, findings, read

if TYPE_CHECKING:
    from pathlib import Path

NODE = "crw-rw---- 1 root render 226, 128 Jun  3 07:10 renderD128\n"
ROOTS = "crw-{}---- 1 root root 226, 128 Jun  3 07:10 renderD128\n"
NO_VA = "[AVHWDeviceContext @ 0x5] No VA display found for device /dev/dri/renderD128.\n"
OWN = "$ id\nuid=1000(pat) gid=1000(pat) groups=1000(pat),44(video),109(render)\n"
PS = "$ ps -o user,group,cmd -C {0}\nUSER GROUP CMD\n{0} {0} /usr/lib/{0}/{0} --run\n"
OLD_VA = (
    "libva info: User environment variable requested driver '{0}'\n"
    "libva info: Trying to open /usr/lib/dri/{0}_drv_video.so\nlibva info: Found init function __vaDriverInit_1_8\n"
    "libva error: /usr/lib/dri/{0}_drv_video.so init failed\nlibva info: va_openDriver() returns -1\n"
)
BRASWELL = "00:02.0 VGA compatible controller [0300]: Intel Corporation Device [8086:22b0] (rev 35)\n"
NONE = "Number of platforms                               0\n"
GONE = "ls: cannot access '/etc/OpenCL/vendors': No such file or directory\n"
SVGA = "$ lspci | grep VGA\n00:0f.0 VGA compatible controller: VMware SVGA II Adapter\n"
WIN = "Name : Intel(R) UHD Graphics 630\nDriverVersion : {}\n"
ALCHEMIST = "Arc A380, tone-mapping by OpenCL in Jellyfin\n$ uname -r\n{}\n[ 9.1] i915 0000:03:00.0: GPU HANG\n"


@pytest.mark.parametrize(
    ("text", "first"),
    [
        # the account of a service that nobody put into the group
        (f"{NO_VA}{NODE}{OWN}{PS.format('jellyfin')}$ getent group render\nrender:x:109:pat\n", "perm.render_group"),
        (f"{NO_VA}{NODE}{OWN}$ getent group render\nrender:x:109:pat\n{PS.format('emby')}", "perm.render_group"),
        (
            f"ffmpeg: Permission denied\n{NODE}$ systemctl show photos | grep User\nUser=photos\nrender:x:109:\n",
            "perm.render_group",
        ),
        (f"Plex does not use the GPU\n{NODE}It runs as user plex.\nrender:x:109:pat,kim\n", "perm.render_group"),
        (f"{NO_VA}{NODE}$ groups jellyfin\njellyfin : jellyfin video\n$ journalctl -u jellyfin\n", "perm.render_group"),
        # nodes of root alone
        (f"emby on a NAS, uid 1030\n{ROOTS.format('--')}Error 13: Permission denied\n", "perm.render_group"),
        (f"{ROOTS.format('rw')}Failed to open the DRM device, plex runs as 997\n", "perm.render_group"),
        # VA-API's driver by its name
        (f"i5-1340P\n{OLD_VA.format('i965')}", "umd.video"),
        (f"Intel UHD 770\nVGA compatible controller: Intel Corporation\n{OLD_VA.format('vdpau')}", "umd.video"),
        (f"{BRASWELL}{OLD_VA.format('iHD')}", "umd.video"),
        # a driver inside of a sandbox
        (
            (
                "$ snap run --shell llm -c 'ls $SNAP/etc/OpenCL/vendors'\n"
                "ls: cannot access '/snap/llm/7/etc/OpenCL/vendors': No such file or directory\n"
                "Available devices: CPU\nCore Ultra 5 125H\n"
            ),
            "umd.ze_intel_gpu",
        ),
        (
            (
                "$ flatpak run org.darktable.Darktable -d opencl\ncould not get platforms: -1001\n$ clinfo -l\n"
                f"Platform #0: Intel(R) OpenCL Graphics\n `-- Device #0: Intel(R) UHD Graphics 620\n{GONE}"
            ),
            "umd.ze_intel_gpu",
        ),
        # a guest
        (f"i7-12700H, VirtualBox\n{SVGA}$ clinfo\n{NONE}{NODE.replace('renderD128', 'card0')}", "hw.intel_gpu_present"),
        (f"i5-10400, hashcat: CL_PLATFORM_NOT_FOUND_KHR\n{SVGA}", "hw.intel_gpu_present"),
        # the seat's list of rights, and a job that has no seat
        (
            (
                "$ crontab -l\nXPU device count is zero!\n$ getfacl /dev/dri/renderD128\nuser::rw-\nuser:kim:rw-\n"
                "$ id\nuid=1000(kim) gid=1000(kim) groups=1000(kim),4(adm)\n"
            ),
            "perm.render_group",
        ),
        # drivers of Windows by their number
        (
            (
                f"OpenVINO, exit code -1073741819\n{WIN.format('26.20.100.7800')}"
                "Faulting module name: igdrcl64.dll, version: 26.20.100.7800\n"
            ),
            "win.driver",
        ),
        (f"LM Studio: no devices found, Vulkan\n{WIN.format('27.20.100.8681')}", "win.driver"),
        # kernels with a fault
        (ALCHEMIST.format("6.8.0-38-generic"), "fw.gpu_hang"),
        (ALCHEMIST.format("6.8.0-40-generic"), "fw.gpu_hang"),
        # cards that are held for a guest, Windows that is one, and containers that were handed nothing
        (
            (
                "03:00.0 VGA compatible controller: Intel Corporation DG2 [Arc A380] (rev 05)\n"
                "\tSubsystem: x\n\tKernel driver in use: vfio-pci\nThe app shows no GPU.\n"
            ),
            "kmd.reserved",
        ),
        (
            "Arc A770 at work\nName : Microsoft Hyper-V Video\n>>> torch.xpu.is_available()\nFalse\n",
            "hw.intel_gpu_present",
        ),
        (
            (
                "[runners.docker]\n$ ls /dev/dri\nls: cannot access '/dev/dri': No such file or directory\n"
                "The host has an Arc A750\n"
            ),
            "container.no_device",
        ),
        (
            " xe: 1\nUHD\n0/1 nodes are available: 1 Insufficient gpu.intel.com/i915.\n",
            "container.no_device",
        ),
        # a driver that is there and that a program does not see
        (
            (
                "$ nix-shell -p clinfo\n$ clinfo\nNumber of platforms  0\n$ /usr/bin/clinfo -l\n"
                "Platform #0: Intel(R) OpenCL Graphics\n `-- Device #0: Intel(R) Arc(TM) A750 Graphics\nDebian 13\n"
            ),
            "umd.unregistered",
        ),
        (
            (
                "Inside of a toolbox, Arc A770\n[u@toolbx ~]$ ls /etc/OpenCL/vendors\npocl.icd\n"
                "clinfo finds no GPU there and it works on the host\n"
            ),
            "umd.ze_intel_gpu",
        ),
        (
            "opengl   llm:opengl   -   -\nno GPU in the snap, Arc B580\n",
            "perm.policy",
        ),
        (
            (
                "03:00.0 VGA compatible controller: Intel Corporation Battlemage G21 [Arc B580]\n"
                'ollama[7]: level=INFO msg="inference compute" id=0 library=cpu name=""\n'
            ),
            "umd.variable_needed",
        ),
        # parts of two releases
        (
            (
                "$ sycl-ls\nAbort was called at 39 line in file:\n./shared/source/gmm_helper/gmm_client_context.cpp\n"
                "ii  libigdgmm12:amd64  22.1.2+ds1-1  amd64 x\nii  intel-level-zero-gpu  1.3.26241.33  amd64 x\n"
            ),
            "umd.mixed_driver_packages",
        ),
        (
            (
                "clBuildProgram failed: -6\nii  intel-igc-core  1.0.3151  amd64 x\n"
                "ii  intel-opencl-icd  24.22.29735.20  amd64 x\nArc A750\n"
            ),
            "umd.igc_incompatible",
        ),
        (
            (
                "/usr/local/Ascend\nCANN version mismatch. The build version is 7.0.0, "
                "but the current environment version is 8.0.1.\n"
            ),
            "npu.release",
        ),
        (
            (
                "torch 2.11.0+xpu\nintel-sycl-rt 2025.3.1\n$ icpx --version\n"
                "ImportError: libsycl.so.9: cannot open shared object file: No such file or directory\n"
            ),
            "runtime.libraries",
        ),
    ],
)
def test_the_cause_stands_first(text: str, first: str) -> None:
    assert causes(text)[:1] == [first]


@pytest.mark.parametrize(
    ("text", "never"),
    [
        (f"{NO_VA}{NODE}{OWN}{PS.format('jellyfin')}render:x:109:jellyfin,pat\n", "perm.render_group"),
        (f"{NO_VA}{NODE}$ id\nuid=0(root) gid=0(root) groups=0(root)\n", "perm.render_group"),
        (f"{ROOTS.format('rw')}# id\nuid=0(root) gid=0(root)\nvainfo failed\n", "perm.render_group"),
        (f"{NO_VA}UHD Graphics 630, transcoding with VA-API fails\n", "hw.legacy_gpu"),
        (f"$ ls /usr/share/OpenCL/vendors\nintel.icd\n{NONE}{GONE}", "umd.unregistered"),
        ("The server runs as root. Arc A770, it finds no GPU.\n", "perm.render_group"),
        (f"i5-8250U\n{OLD_VA.format('i965')}", "umd.video"),
        (ALCHEMIST.format("6.8.0-45-generic"), "fw.gpu_hang"),
        (f"Ubuntu 24.04\nerror: no VA-API\n{NODE}$ getent group render\nrender:x:993:\n", "perm.session"),
        ("opengl   llm:opengl   :opengl   -\nno GPU in the snap, Arc B580\n", "perm.policy"),
        (ALCHEMIST.format("6.10.3-arch1"), "fw.gpu_hang"),
        ("N100 in a VM, nothing works\n-bash: lspci: command not found\n", "hw.intel_gpu_present"),
        (
            f"vainfo fails\n{NODE}render:x:109:pat\npostgres 81 0.0 /usr/lib/postgresql/17/bin/postgres\n",
            "perm.render_group",
        ),
        (f"/ # ls -l /dev/dri\n{ROOTS.format('rw')}OpenVINO finds no GPU.\n", "perm.render_group"),
        (f"OpenVINO: a label was not found\n['CPU', 'GPU']\n{WIN.format('27.20.100.9664')}", "win.driver"),
        (f"OpenVINO, -1073741819\n{WIN.format('31.0.101.2137')}", "win.driver"),
        (
            (
                "Arc B580, the wheel is the wrong one\nroot@0123456789ab:/app# pip list\ntorch 2.6.0\n"
                "host:\n$ clinfo -l\nPlatform #0: Intel(R) OpenCL Graphics\n"
                " `-- Device #0: Intel(R) Arc(TM) B580 Graphics\n$ uname -r\n6.11.0-19-generic\n"
            ),
            "kmd.force_probe",
        ),
    ],
)
def test_what_is_no_cause(text: str, never: str) -> None:
    assert never not in causes(text)


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


def test_an_lxc_container_is_handed_its_node_by_its_host() -> None:
    text = (
        "root@pve:~# pct enter 104\nroot@media:~# ls /dev/dri\n"
        "ls: cannot access '/dev/dri': No such file or directory\nFrigate on an N100 in LXC finds no GPU.\n"
    )
    found = findings(text)["container.no_device"]
    assert found.level == "fail"
    assert "pct set" in str(found.fix.commands)


def test_an_older_driver_of_video_opens_what_the_newer_one_does_not(tmp_path: Path) -> None:
    text = (
        "i3-4130, vainfo\nlibva error: /usr/lib/dri/iHD_drv_video.so init failed\n"
        "libva info: va_openDriver() returns 1\nlibva info: Trying to open /usr/lib/dri/i965_drv_video.so\n"
        "libva info: va_openDriver() returns 0\n"
    )
    pasted = look(text, tmp_path).pasted
    assert pasted is not None
    assert not pasted.causes
    assert not pasted.symptoms


def test_a_release_that_runs_already_is_not_advised() -> None:
    refused = "[ 4.7] i915 0000:03:00.0: Your graphics device 4908 is not properly supported by i915\n"
    said = findings(f"$ uname -r\n6.12.30-amd64\n{refused}$ ls /dev/dri\ncard0\n")["kmd.force_probe"].fix.say
    assert "6.9" not in said
    assert "i915.force_probe=4908" in said


DPCTL = (
    ">>> dpctl.get_devices()\n[<dpctl.SyclDevice [backend_type.opencl, device_type.cpu,  Intel(R) X] at 0x7f1>,\n"
    " <dpctl.SyclDevice [backend_type.level_zero, device_type.gpu,  Intel(R) Arc(TM) A770 Graphics] at 0x7f2>]\n"
)
LONG = "    Name            Intel(R) Arc(TM) B580 Graphics\n    Vendor  x\n    Filter string   level_zero:gpu:0\n"


@pytest.mark.parametrize("text", [DPCTL, LONG])
def test_what_dpctl_lists_is_listed(text: str) -> None:
    facts = read(text)
    assert facts.userland is not None
    assert facts.userland.level_zero is not None
    assert len(facts.userland.level_zero.devices) == 1
    assert causes(text) == []


@pytest.mark.parametrize(
    "text",
    [
        ">>> dpctl.has_gpu_devices()\nFalse\n",
        ">>> ov.Core().available_devices\n['CPU', 'GPU.0', 'GPU.1', 'NPU']\n",
        "GPU: Intel(R) Graphics (iGPU)\n",
        "ggml_sycl_init: found 1 SYCL devices:\n",
        "Total VRAM 11605 MB, total RAM 31780 MB\nDevice: xpu\n",
        "  SYCL0: Intel(R) Graphics (11605 MiB, 11605 MiB free)\n",
        "Running on device: Intel(R) Graphics\n",
        "INFO Automatically detected platform xpu.\n",
    ],
)
def test_a_list_of_devices_is_recognised(text: str, tmp_path: Path) -> None:
    seen = look(text, tmp_path)
    assert seen.root_causes == []
    assert seen.pasted is not None
    assert seen.pasted.kinds
