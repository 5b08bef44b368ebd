"""What doctor advises where packages are amiss is what setup installs on the same machine."""

from __future__ import annotations

import json
import shlex
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from data.ailing import BARE, BLIND, NO_DRIVER, but
from data.diagnosis import diagnose
from data.fleet import B580, MAX, UBUNTU_24, Doc, Os, healthy
from xpusetup.base.document import read_as
from xpusetup.commands.doctor import DoctorOptions
from xpusetup.commands.recommend import way_of
from xpusetup.commands.setup import SetupOptions, prepare_setup, show_setup
from xpusetup.machine.facts import Facts
from xpusetup.run.workspace import Where

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from xpusetup.commands.doctor import DoctorFinding

PPA = "ppa:kobuk-team/intel-graphics"
SYSTEMS: dict[str, tuple[tuple[str, ...], str, str]] = {
    # what it is made from, its version, and a word of the commands (empty: none are known)
    "Ubuntu 20.04.6 LTS": (("ubuntu", "debian"), "20.04", ""),
    "Ubuntu 22.04.5 LTS": (("ubuntu", "debian"), "22.04", "jammy unified"),
    "Ubuntu 24.04.3 LTS": (("ubuntu", "debian"), "24.04", PPA),
    "Ubuntu 25.10": (("ubuntu", "debian"), "25.10", PPA),
    "Ubuntu 26.04 LTS": (("ubuntu", "debian"), "26.04", "libze-intel-gpu1"),
    "Linux Mint 21.3": (("linuxmint", "ubuntu", "debian"), "21.3", "jammy unified"),
    "Linux Mint 22.2": (("linuxmint", "ubuntu", "debian"), "22.2", PPA),
    "Debian GNU/Linux 11 (bullseye)": (("debian",), "11", ""),
    "Debian GNU/Linux 13 (trixie)": (("debian",), "13", ""),
    "Debian GNU/Linux forky/sid": (("debian",), "", "libze-intel-gpu1"),
    "Rocky Linux 9.6": (("rocky", "rhel", "centos", "fedora"), "9.6", "rhel/9.6/unified"),
    "AlmaLinux 9.7": (("almalinux", "rhel", "centos", "fedora"), "9.7", ""),
    "Oracle Linux Server 9.6": (("ol", "fedora"), "9.6", ""),
    "Amazon Linux 2023": (("amzn", "fedora"), "2023", ""),
    "Fedora Linux 43": (("fedora",), "43", "oneapi-level-zero"),
    "SUSE Linux Enterprise Server 15 SP6": (("sles", "suse"), "15.6", "sles/15sp6/unified"),
    "openSUSE Leap 15.6": (("opensuse-leap", "suse", "opensuse"), "15.6", ""),
    "openSUSE Leap 16.0": (("opensuse-leap", "suse", "opensuse"), "16.0", "libze_intel_gpu1"),
    "openSUSE Tumbleweed": (("opensuse-tumbleweed", "opensuse", "suse"), "20261101", "libze_intel_gpu1"),
    "Arch Linux": (("arch",), "", "intel-compute-runtime"),
    "Manjaro Linux": (("manjaro", "arch"), "25.0.10", "intel-compute-runtime"),
    "NixOS 25.11": (("nixos",), "25.11", ""),
    "MyCorp Linux 4": (("mycorp",), "4", ""),
}
BUILT_IN = {"Ubuntu 22.04.5 LTS", "Ubuntu 24.04.3 LTS", "Linux Mint 21.3", "Linux Mint 22.2", "Rocky Linux 9.6"}


def bare(name: str, *cards: Doc) -> Doc:
    families, version, _ = SYSTEMS[name]
    system: Os = replace(UBUNTU_24, name=name, families=families, version=version, kernel="7.0.4-1-default")
    return but(healthy(system, *cards, release="", oneapi=""), BARE, NO_DRIVER)


def judge(machine: Doc, tmp_path: Path) -> tuple[dict[str, DoctorFinding], list[str], str]:
    """Give what doctor finds, the commands that setup has, and what it says where it has none."""
    file = tmp_path / "facts.json"
    file.write_text(json.dumps(machine))
    found = diagnose(Where(), DoctorOptions(goal="run", facts=(str(file),))).findings
    data = show_setup(prepare_setup(SetupOptions(goal="run", facts=str(file)))).data
    commands = [" ".join(row.argv) for row in data.commands]
    return {each.id: each for each in found}, commands, " ".join(note.say for note in data.notes)


def packages(commands: Sequence[str]) -> list[set[str]]:
    """Give what is installed, whoever is asked to do it."""
    wanted = [shlex.split(line.removeprefix("sudo ")) for line in commands if " install " in line or " -S " in line]
    found = [{word for word in line if word.islower() and not word.startswith("-")} for line in wanted]
    return [each - {"apt-get", "dnf", "zypper", "pacman", "install", "clinfo"} for each in found]


@pytest.mark.parametrize("name", SYSTEMS)
def test_doctor_installs_what_setup_installs(name: str, tmp_path: Path) -> None:
    found, commands, notes = judge(bare(name, B580), tmp_path)
    fix, word = found["umd.ze_intel_gpu"].fix, SYSTEMS[name][2]
    assert packages(fix.commands) == packages(commands)
    assert any(word in line for line in fix.commands) if word else fix.commands == []
    assert notes in fix.say


@pytest.mark.parametrize("name", SYSTEMS)
def test_of_data_center_gpus_too(name: str, tmp_path: Path) -> None:
    cards = [{**card, "driver": None} for card in MAX]
    found, commands, notes = judge(bare(name, *cards), tmp_path)
    fix = found["kmd.pvc_needs_backports"].fix
    built = [line for line in commands if "intel-i915-dkms" in line]
    if "arch" not in SYSTEMS[name][0]:
        assert notes in fix.say
    assert [line for line in fix.commands if "dkms" in line] == [f"sudo {line}" for line in built]
    assert bool(built) == (name in BUILT_IN or "Enterprise" in name)


def test_what_does_not_have_a_line_says_who_has(tmp_path: Path) -> None:
    """Arch Linux is known, and not its packages for servers: that "commands are known for Arch Linux" was no answer."""
    _, _, notes = judge(bare("Arch Linux", *MAX), tmp_path)
    assert notes.startswith("No packages for Data Center GPUs are known on Arch Linux; they are for Ubuntu 22.04")
    assert "Arch Linux," not in notes


@pytest.mark.parametrize(
    ("name", "kernel", "word"),
    [
        ("Linux Mint 22.2", "6.8.0-31-generic", "linux-generic-hwe-24.04"),
        ("Fedora Linux 43", "6.5.0-1.fc39.x86_64", "dnf install -y kernel"),
        ("Debian GNU/Linux forky/sid", "6.1.0-1-amd64", "install -y linux-image-amd64"),
        ("openSUSE Tumbleweed", "6.5.0-1-default", "kernel-default"),
    ],
)
def test_the_kernel_is_this_distributions(name: str, kernel: str, word: str, tmp_path: Path) -> None:
    dark: Any = {"hardware.gpus": [{**B580, "driver": None}], "hardware.nodes": [], "kernel.claims": {"e20b": []}}
    old = {"kernel.release": kernel, "system.kernel": kernel, "kernel.messages": []}
    found, commands, _ = judge(but(bare(name, B580), dark, old), tmp_path)
    fix = found["kmd.force_probe"].fix
    assert any(word in line for line in fix.commands)
    assert any(word in line for line in commands)
    assert fix.commands[-1] == "sudo reboot"


OLD = {
    "Alpine Linux v3.22": (("alpine",), "3.22.2"),
    "Ubuntu 18.04.6 LTS": (("ubuntu", "debian"), "18.04"),
    "CentOS Linux 7": (("centos", "rhel", "fedora"), "7"),
    "Amazon Linux 2": (("amzn", "centos", "rhel", "fedora"), "2"),
}


@pytest.mark.parametrize("name", OLD)
def test_a_system_whose_c_library_runs_no_wheel(name: str, tmp_path: Path) -> None:
    """It was told to install the wheels, which pip does not find there."""
    system = {"system.name": name, "system.families": list(OLD[name][0]), "system.version": OLD[name][1]}
    machine = but(bare("Ubuntu 24.04.3 LTS", B580), system)
    found, _, _ = judge(machine, tmp_path)
    assert found["sys.glibc"].level == "fail"
    assert found["sys.glibc"].fix.commands[0].startswith("docker run -it --device /dev/dri")
    assert found["umd.ze_intel_gpu"].caused_by == "sys.glibc"
    way = way_of(read_as(Facts, machine)).data.way
    assert way is not None
    assert way.steps[0].mends == ("sys.glibc",)
    works, _, _ = judge(but(healthy(UBUNTU_24, B580), system), tmp_path)
    assert "sys.glibc" not in works


@pytest.mark.parametrize("name", SYSTEMS)
def test_others_have_one_that_does(name: str, tmp_path: Path) -> None:
    assert "sys.glibc" not in judge(bare(name, B580), tmp_path)[0]


def test_a_release_that_was_not_told_has_the_usual_commands(tmp_path: Path) -> None:
    machine = but(bare("Ubuntu 24.04.3 LTS", B580), {"system.version": None, "system.name": "Ubuntu"})
    found, _, _ = judge(machine, tmp_path)
    assert any(PPA in line for line in found["umd.ze_intel_gpu"].fix.commands)


@pytest.mark.parametrize("name", ["Ubuntu 24.04.3 LTS", "Ubuntu 26.04 LTS", "Debian GNU/Linux forky/sid"])
def test_apt_reads_its_lists_first(name: str, tmp_path: Path) -> None:
    found, _, _ = judge(bare(name, B580), tmp_path)
    assert found["umd.ze_intel_gpu"].fix.commands[0] == "sudo apt-get update"


def test_what_could_not_be_read_is_not_called_well(tmp_path: Path) -> None:
    """The kernel keeps its messages for root on most systems: what nobody read is neither well nor looked at."""
    note = {"notes": {"kernel.messages": "kernel.dmesg_restrict is 1"}, "kernel.messages": None}
    found, _, _ = judge(but(healthy(UBUNTU_24, B580), BLIND, note), tmp_path)
    assert "fw.guc_missing" not in found
    assert "The kernel's messages could not be read" in found["umd.ze_init"].fix.say
    told, _, _ = judge(but(healthy(UBUNTU_24, B580), BLIND), tmp_path)
    assert told["fw.guc_missing"].level == "ok"
    assert "could not be read" not in told["umd.ze_init"].fix.say
