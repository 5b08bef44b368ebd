"""Which distribution and kernel a post tells of: by its words, its reports, or the name of its kernel alone."""

from __future__ import annotations

import pytest

from test_paste_shown import read


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
