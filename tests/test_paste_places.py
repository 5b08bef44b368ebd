"""doctor --paste: what is of the machine, a container, a guest or another machine; and what root alone is shown."""

from __future__ import annotations

import pytest

from data.pasting import causes, findings, read, warned
from xpusetup.paste.places import heading, inner_command

NONE = "Number of platforms                               0\n"


ONE = "Number of platforms                               1\n  Device Name           Intel(R) Arc(TM) A380 Graphics\n"


def test_what_root_alone_is_shown_is_a_matter_of_rights() -> None:
    text = f"jo@box:~$ clinfo\n{NONE}jo@box:~$ sudo clinfo\n{ONE}"
    facts = read(text)
    assert facts.userland is not None
    assert facts.userland.as_root == ["Intel(R) Arc(TM) A380 Graphics"]
    assert causes(text) == ["perm.render_group"]


BLIND = "[opencl:cpu][opencl:0] Intel(R) OpenCL, Intel(R) Core(TM) i5 OpenCL 3.0\n"


BY_OPENCL = "[opencl:gpu][opencl:1] Intel(R) OpenCL Graphics, Intel(R) Arc(TM) A380 Graphics OpenCL 3.0 NEO\n"


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


def test_a_platform_elsewhere_is_not_this_containers() -> None:
    text = f"jo@box:~$ clinfo\n{ONE}jo@box:~$ docker run --device /dev/dri it\nroot@0123456789ab:/# clinfo\n{NONE}"
    facts = read(text)
    assert facts.userland is not None
    assert facts.userland.clinfo == []
    assert facts.userland.as_root == []
    assert facts.container is not None
    assert facts.container.kind == "docker"
    assert "umd.opencl_icd" in warned(text)


WSL = "$ uname -r\n5.15.90.1-microsoft-standard-WSL2\n"


def test_a_container_of_wsl_without_its_device() -> None:
    inside = f"root@0123456789ab:/# sycl-ls\n{BLIND}root@0123456789ab:/# uname -r\n{WSL.splitlines()[1]}\n"
    text = f"$ docker run --device=/dev/dri it bash\n{inside}"
    assert causes(text) == ["wsl.dxg"]
    assert "--device /dev/dxg" in findings(text)["wsl.dxg"].fix.say
    assert "wsl.dxg" not in causes(f"$ docker run --device=/dev/dxg it bash\n{inside}")
    assert "wsl.dxg" not in causes(inside)


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


WELL = (
    "[level_zero:gpu][level_zero:0] Intel(R) oneAPI Unified Runtime over Level-Zero, Intel(R) Arc(TM) A770 Graphics\n"
)


NEWER = "ii  libze-intel-gpu1  25.35.35096.9-1  amd64  Level Zero\n"


B580 = "03:00.0 VGA compatible controller [0300]: Intel Corporation Battlemage G21 [Arc B580] [8086:e20b]\n"


NOBLE = "ii  libze-intel-gpu1  23.43.27642.40-1ubuntu3  amd64  Level Zero\n"


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


RADEON = (
    "0a:00.0 VGA compatible controller [0300]: Advanced Micro Devices, Inc. [AMD/ATI] Navi 21 [1002:73bf] (rev c1)\n"
)


def test_a_guest_has_no_gpu_of_its_host() -> None:
    host = f"root@pve:~# lspci -nnk\n{B580}\tKernel driver in use: vfio-pci\n"
    guest = f"In the VM:\n$ lspci -nn | grep -E 'VGA|3D|Display'\n{RADEON}"
    assert causes(host + guest) == ["hw.intel_gpu_present"]


def test_the_machine_that_works_is_left_aside() -> None:
    text = f"{B580}Working machine:\n{NEWER}{WELL}Broken machine:\n{NOBLE}{BLIND}"
    assert causes(text) == ["umd.stock_ubuntu_too_old"]


A_B580 = "04:00.0 VGA compatible controller [0300]: Intel Corporation Battlemage G21 [Arc A_B580] [8086:e20b]\n"


XE, I915 = "\tKernel driver in use: xe\n", "\tKernel driver in use: i915\n"


SYCL = "[level_zero:gpu][level_zero:{}] Intel(R) oneAPI Unified Runtime over Level-Zero, Intel(R) {} 20.2.0 [1.14.3]\n"


def test_the_heading_of_the_host_ends_a_container() -> None:
    inner = "$ docker run -it --device /dev/dri a/b bash\nroot@0123456789ab:/# sycl-ls\n"
    inner += "[opencl:cpu][opencl:0] Intel(R) OpenCL\n"
    outer = f"On the host:\n$ sycl-ls\n{SYCL.format(0, 'Arc(TM) A_B580 Graphics')}$ lspci -nnk\n{A_B580}{XE}"
    userland = read(f"{inner}{outer}").userland
    assert userland is not None
    assert not any("level_zero" in line for line in userland.sycl or [])


def test_a_container_that_is_started_without_the_device() -> None:
    run = "$ docker run --rm {}it python -c 'import torch; print(torch.xpu.is_available())'\n{}\n"
    assert causes(run.format("", "False")) == ["container.no_device"]
    assert causes(run.format("", "True")) == []
    assert "container.no_device" not in causes(run.format("--device /dev/dri ", "False"))


def test_an_lxc_container_is_handed_its_node_by_its_host() -> None:
    text = (
        "root@pve:~# pct enter 104\nroot@media:~# ls /dev/dri\n"
        "ls: cannot access '/dev/dri': No such file or directory\nFrigate on an N100 in LXC finds no GPU.\n"
    )
    found = findings(text)["container.no_device"]
    assert found.level == "fail"
    assert "pct set" in str(found.fix.commands)


CPU = "[opencl:cpu][opencl:0] Intel(R) OpenCL, Intel(R) Core(TM) i5-12400 OpenCL 3.0\n"


ZE = "[level_zero:gpu][level_zero:{}] Intel(R) oneAPI Unified Runtime over Level-Zero, Intel(R) {} 1.0 [1.6.33944]\n"


def test_root_sees_it_so_that_the_driver_knows_it() -> None:
    text = (
        f"$ sycl-ls\n{CPU}$ sudo sycl-ls\n{ZE.format(0, 'Arc(TM) B70 Graphics [0xe223]')}intel-opencl-icd 25.09.32961\n"
    )
    assert causes(text) == ["perm.render_group"]


NODE = "crw-rw---- 1 0 {} 226, 128 Jan  2 08:00 renderD128\n"


def test_the_number_of_the_group_is_named() -> None:
    text = f"$ docker exec a id\nuid=1 gid=1 groups=1\n$ docker exec a ls -ln /dev/dri\n{NODE.format(104)}"
    assert "group 104" in findings(text)["perm.container_gid"].seen
