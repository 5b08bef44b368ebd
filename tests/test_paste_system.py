"""doctor --paste: which distribution and kernel a post tells of: by its reports, or the name of its kernel alone."""

from __future__ import annotations

import pytest

from data.pasting import causes, read
from xpusetup.paste.system import of_ubuntu


@pytest.mark.parametrize(
    ("text", "name", "places"),
    [
        ("OS: Ubuntu 22.04.\n", "Ubuntu 22.04", ("ubuntu-22.04", "ubuntu", "debian")),
        ("OS: Linux / Ubuntu 20.04\n", "Ubuntu 20.04", ("ubuntu-20.04", "ubuntu", "debian")),
        ("OS: Ubuntu 26.04 LTS, fresh install\n", "Ubuntu 26.04 LTS", ("ubuntu-26.04", "ubuntu", "debian")),
        ("OS: Windows 11 24H2, Core Ultra 7\n", "Windows 11 24H2", ("windows-11", "windows")),
        ("OS: openSUSE Leap 15.6\n", "openSUSE Leap 15.6", ("opensuse-leap-15.6", "opensuse-leap", "opensuse", "suse")),
        ("Distro: Unraid\n", "Unraid", ("unraid",)),
    ],
)
def test_a_system_by_its_name(text: str, name: str, places: tuple[str, ...]) -> None:
    system = read(f"{text}$ uname -r\n6.6.1\n").system
    assert system is not None
    assert (system.name, system.places) == (name, places)


@pytest.mark.parametrize("line", ["built with gcc 9 (Ubuntu 9.4.0-1ubuntu1~20.04)", "OS: Linux", "OS: the vllm image"])
def test_what_names_no_system(line: str) -> None:
    system = read(f"{line}\n$ uname -r\n6.6.1\n").system
    assert system is not None
    assert (system.name, system.places) == ("a system that was not named", ())


@pytest.mark.parametrize(
    ("kernel", "places"),
    [
        ("6.14.0-35-generic", ("ubuntu", "debian")),
        ("5.17.0-1034-oem", ("ubuntu", "debian")),
        ("6.4.6-76060406-generic", ("ubuntu", "debian")),
        ("6.1.0-28-amd64", ("debian-12", "debian")),
        ("6.12.43+deb13-cloud-amd64", ("debian-13", "debian")),
        ("6.12.9-amd64", ("debian",)),
        ("6.8.12-11-pve", ("proxmox", "debian")),
        ("6.12.54-Unraid", ("unraid",)),
        ("6.12.33-production+truenas", ("truenas", "debian")),
        ("6.17.7-arch1-1", ("arch",)),
        ("6.12.55-1-lts", ("arch",)),
        ("6.12.0-100.28.2.el9uek.x86_64", ("ol-9", "ol", "rhel", "fedora")),
        ("5.14.0-570.12.1.el9_6.x86_64", ("rhel-9.6", "rhel", "fedora")),
        ("5.10.0-216.0.0.115.oe2203sp4.aarch64", ("openeuler-22.03", "openeuler")),
        ("6.6.28-0-lts", ()),
        ("6.6.87.2-microsoft-standard-WSL2", ()),
    ],
)
def test_a_system_by_its_kernel(kernel: str, places: tuple[str, ...]) -> None:
    system = read(f"$ uname -r\n{kernel}\n").system
    assert system is not None
    assert (system.kernel, system.places) == (kernel, places)


def test_a_container_has_the_kernel_of_its_host() -> None:
    inside = read("root@3f2a9c1b7d55:/# uname -r\n6.8.0-51-generic\nroot@3f2a9c1b7d55:/# ls /.dockerenv\n/.dockerenv\n")
    assert inside.system is not None
    assert inside.system.places == ()


def test_seconds_are_no_kernel() -> None:
    system = read("$ uname -r\n6.6.1\nKernel loading time:      0.0392 sec\n").system
    assert system is not None
    assert system.kernel == "6.6.1"
    assert read("Kernel loading time:      0.0392 sec\n$ uname -r\n6.6.1\n").system == system


@pytest.mark.parametrize(
    ("text", "system"),
    [
        ('PRETTY_NAME="Ubuntu 22.04.4 LTS"\n$ uname -r\n6.5.0-45-generic\n', ("Ubuntu 22.04.4 LTS", "22.04")),
        ("$ uname -r\n4.18.0-477.10.1.el8_8.x86_64\n", ("RHEL or what is made from it 8.8", "8.8")),
        ("$ uname -r\n6.13.7-200.fc41.x86_64\n", ("Fedora Linux 41", "41")),
    ],
)
def test_the_system_by_what_was_shown(text: str, system: tuple[str, str]) -> None:
    found = read(text).system
    assert found is not None
    assert (found.name, found.version) == system


def test_rocky_linux_is_no_kernel() -> None:
    facts = read("The server runs Rocky Linux 8.7 with two cards.\n$ python -c 'import torch'\nImportError: no\n")
    assert facts.system is None or facts.system.kernel in ("0", "")


def test_ubuntu_by_its_kernel() -> None:
    said = "Linux h 6.8.0-57-generic #59{}-Ubuntu SMP x86_64"
    assert of_ubuntu("6.8.0-57-generic", [said.format("~22.04.1")], ())["VERSION_ID"] == "22.04"
    assert of_ubuntu("6.8.0-57-generic", [said.format("")], ())["VERSION_ID"] == "24.04"
    assert of_ubuntu("6.8.0-57-generic", [said.format("")], ("1.2-3~24.04~ppa1",))["VERSION_ID"] == "24.04"
    assert of_ubuntu("6.8.0-57-generic", ["Linux h 6.8.0-57-generic #1 SMP"], ()) == {}


def test_the_name_of_a_release_in_brackets_is_no_processor() -> None:
    head = "Collecting environment information...\nPyTorch version: 2.9.0+xpu\n"
    text = f"{head}OS: Debian GNU/Linux 12 (bookworm) (x86_64)\n"
    system = read(text).system
    assert system is not None
    assert (system.name, system.machine, system.version) == ("Debian GNU/Linux 12 (bookworm)", "x86_64", "12")


def test_a_system_named_linux_is_no_kernel() -> None:
    system = read("Linux Mint 21.3, my card is not detected\n$ sycl-ls\n").system
    assert system is None or system.kernel == "0"


CPU = "[opencl:cpu][opencl:0] Intel(R) OpenCL, Intel(R) Core(TM) i5-12400 OpenCL 3.0\n"


def test_both_groups_are_in_the_session() -> None:
    text = (
        f"Arc A380\nrender:x:992:max\n$ id\nuid=1000(max) gid=1000(max) groups=1000(max),992(render)\n$ sycl-ls\n{CPU}"
    )
    assert "perm.session" not in causes(text)


def test_two_kernels_in_words_are_none() -> None:
    kernel = read("Arc A750 on Ubuntu 24.04 6.8.0-45-generic\nthe other host: Debian 6.1.0-28-amd64\n").kernel
    assert kernel is None


def test_the_file_of_a_system_says_more_than_who_writes_of_one() -> None:
    """Someone asks about another distribution than the one that is there."""
    release = '$ cat /etc/os-release\nPRETTY_NAME="Ubuntu 24.04.3 LTS"\nNAME="Ubuntu"\nVERSION_ID="24.04"\nID=ubuntu\n'
    for text in (f"Fedora 41?\n{release}", f"{release}\nFedora 41?\n"):
        system = read(f"{text}$ uname -r\n6.17.0-19-generic\n").system
        assert system is not None
        assert system.name == "Ubuntu 24.04.3 LTS"
