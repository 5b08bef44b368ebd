"""The system that a paste tells of: its distribution by name, by report or by its kernel, and its user. Pure."""

import re
from collections.abc import Sequence
from typing import Any, NamedTuple

from xpusetup.paste.hardware import UNKNOWN_GROUP
from xpusetup.paste.lines import Pasted

NAMES = {
    "Ubuntu": ["ubuntu", "debian"],
    "Debian GNU/Linux": ["debian"],
    "Debian": ["debian"],
    "Fedora Linux": ["fedora"],
    "Fedora": ["fedora"],
    "Arch Linux": ["arch"],
    "Red Hat Enterprise Linux": ["rhel", "fedora"],
    "Rocky Linux": ["rocky", "rhel", "fedora"],
    "AlmaLinux": ["almalinux", "rhel", "fedora"],
    "Linux Mint": ["linuxmint", "ubuntu", "debian"],
    "Pop!_OS": ["pop", "ubuntu", "debian"],
    "Proxmox VE": ["proxmox", "debian"],
    "openSUSE Tumbleweed": ["opensuse-tumbleweed", "opensuse", "suse"],
    "openSUSE Leap": ["opensuse-leap", "opensuse", "suse"],
    "openSUSE": ["opensuse", "suse"],
    "NixOS": ["nixos"],
    "Unraid": ["unraid"],
    "TrueNAS SCALE": ["truenas", "debian"],
    "Clear Linux OS": ["clear-linux-os"],
    "Clear Linux": ["clear-linux-os"],
    "Gentoo": ["gentoo"],
    "Void Linux": ["void"],
    "Manjaro Linux": ["manjaro", "arch"],
    "Manjaro": ["manjaro", "arch"],
    "CachyOS": ["cachyos", "arch"],
    "EndeavourOS": ["endeavouros", "arch"],
    "Oracle Linux": ["ol", "rhel", "fedora"],
    "CentOS Stream": ["centos", "rhel", "fedora"],
    "CentOS": ["centos", "rhel", "fedora"],
    "Talos": [],
}
"""Distributions as people write them, longer names first, and what their os-release has as ID and ID_LIKE."""
FAMILIES = {
    **NAMES,
    "Windows": ["windows"],
    "Microsoft Windows": ["windows"],
    "Arch": ["arch"],
    "openEuler": ["openeuler"],
}
DISTRIBUTION = re.compile(rf"\b({'|'.join(map(re.escape, NAMES))})(?![\w/])[ v]{{0,2}}(\d[\d.]*)?")
UBUNTU = re.compile(r"\d\d(?:\.(?:04|10)(?:\.\d{1,2})?)?")
"""A release of Ubuntu; its compilers call themselves Ubuntu too, with a version of their own."""
NO_SYSTEM = re.compile(r"(?i)^(?:gnu/)?linux$|\b(?:docker|container|image)\b")
"""What people write behind `OS:` that names no distribution."""
PROCESSOR = re.compile(r" \((x86_64|aarch64|arm64|amd64|AMD64|i686|ppc64le|riscv64)\)$")
"""The end of the system's name in collect_env; a name of the release may stand in brackets before it."""


def find_release(text: str) -> dict[str, str]:
    """Give the distribution that a text names, as os-release would; empty where it names none."""
    for found in DISTRIBUTION.finditer(text):
        name, version = found[1], (found[2] or "").rstrip(".")
        if name != "Ubuntu" or not version or UBUNTU.fullmatch(version):
            return {"NAME": name, "VERSION_ID": version, "PRETTY_NAME": f"{name} {version}".strip()}
    return {}


def take_collected(got: Pasted, said: str) -> None:
    """Take what a report has behind `OS`: a distribution with what else it calls itself, or another system's name."""
    name, machine = PROCESSOR.sub("", said).partition(", ")[0], PROCESSOR.search(said)
    got.machine = got.machine or (machine[1] if machine else "")
    found = find_release(name)
    if not found and NO_SYSTEM.search(name):
        return
    plain = re.match(r"([A-Za-z/_!]+(?: [A-Za-z/_!]+)*)(?: v?(\d[\d.]*))?(?: .*)?$", name)
    other = {"NAME": plain[1] if plain else name, "VERSION_ID": (plain[2] or "").rstrip(".") if plain else ""}
    told = {**(found or other), "PRETTY_NAME": name[name.index(found["NAME"]) :] if found else name}
    got.release.update({key: value.rstrip(". ") for key, value in told.items() if key not in got.release})


def system_of(got: Pasted) -> dict[str, Any] | None:
    said = _release_of(got)
    owned = any(node.group for node in got.nodes.values())
    if not said and not got.kernel and got.uid is None and not got.groups and not got.windows and not owned:
        return None
    name = said.get("NAME", "") or ("Windows" if got.windows and not got.kernel else "")
    ids = [said["ID"], *said.get("ID_LIKE", "").split()] if said.get("ID") else FAMILIES.get(name, [])
    owners = dict.fromkeys(node.group for node in got.nodes.values() if node.group and node.group not in got.groups)
    numbers = {name: UNKNOWN_GROUP + place for place, name in enumerate(owners)}
    groups = {**got.groups}
    return {
        "name": said.get("PRETTY_NAME") or name or "a system that was not named",
        "families": [each.lower() for each in ids],
        "version": said.get("VERSION_ID") or None,
        "kernel": got.kernel or "0",
        "machine": got.machine or "x86_64",
        "user": got.user or "you",
        "uid": got.uid if got.uid is not None else 1000,
        "groups": list(groups.values()),
        "joined": [*groups.values(), *(numbers.get(name, got.joined[name]) for name in _late(got))],
        "named": {**{name: groups[name] for name in ("render", "video") if name in groups}, **numbers},
    }


def _release_of(got: Pasted) -> dict[str, str]:
    """Give what os-release would say, by what named the system or by its kernel; Ubuntu's version has two numbers."""
    told = find_release(got.release.get("PRETTY_NAME", ""))
    release = {**told, **{name: value for name, value in got.release.items() if value}}
    if release.get("NAME") not in FAMILIES and not release.get("ID"):
        release = _by_kernel(got) or release
    if release.get("NAME") == "Ubuntu":
        release["VERSION_ID"] = ".".join(release.get("VERSION_ID", "").split(".")[:2])
    return release


def _late(got: Pasted) -> list[str]:
    """Give the groups that /etc/group gives the user, and that this session does not have."""
    return [name for name, users in got.members.items() if name not in got.groups and got.user and got.user in users]


class KernelOf(NamedTuple):
    """How a distribution's kernels call themselves: its version where they tell it, and what is said of it."""

    form: re.Pattern[str]
    name: str
    title: str


BY_KERNEL = (
    KernelOf(re.compile(r"\.el(\d+)uek\b"), "Oracle Linux", "Oracle Linux"),
    KernelOf(re.compile(r"\.el(\d+)(?:_(\d+))?\."), "Red Hat Enterprise Linux", "RHEL or what is made from it"),
    KernelOf(re.compile(r"\.fc(\d\d)\."), "Fedora Linux", "Fedora Linux"),
    KernelOf(re.compile(r"\.oe(\d\d)(\d\d)(?:sp\d)?\."), "openEuler", "openEuler"),
    KernelOf(re.compile(r"-arch\d|-[1-9]\d?-(?:lts|zen)$"), "Arch Linux", "Arch Linux"),
    KernelOf(re.compile(r"\+deb(\d\d)"), "Debian", "Debian"),
    KernelOf(re.compile(r"-(?:cloud-|rt-)?amd64$"), "Debian", "Debian"),
    KernelOf(re.compile(r"-pve$"), "Proxmox VE", "Proxmox VE"),
    KernelOf(re.compile(r"-Unraid$"), "Unraid", "Unraid"),
    KernelOf(re.compile(r"\+truenas$"), "TrueNAS SCALE", "TrueNAS SCALE"),
    KernelOf(re.compile(r"-(?:generic|lowlatency|oem|\d{4}-intel)$"), "Ubuntu", "Ubuntu or what is made from it"),
)
"""Distributions whose kernels say whose they are."""
DEBIANS = {"4.19": "10", "5.10": "11", "6.1": "12", "6.12": "13"}
"""Debian's releases by the kernels that they came out with, which have a number of the package behind their own."""
OF_DEBIAN = re.compile(r"(\d+\.\d+)\.\d+-\d+-")


def _by_kernel(got: Pasted) -> dict[str, str]:
    """Give the distribution by its kernel's name; a container's kernel is the host's."""
    if got.inside == "container" or got.image or not got.kernel:
        return {}
    if ubuntu := of_ubuntu(got.kernel, got.everything, tuple(got.packages.values())):
        return ubuntu
    for form, name, title in BY_KERNEL:
        if found := form.search(got.kernel):
            version = ".".join(filter(None, found.groups()))
            if name == "Debian" and not version and (of := OF_DEBIAN.match(got.kernel)):
                version = DEBIANS.get(of[1], "")
            return {"NAME": name, "VERSION_ID": version, "PRETTY_NAME": f"{title} {version}".strip()}
    return {}


FIRST_KERNELS = {"5.4": "20.04", "5.15": "22.04", "6.8": "24.04", "7.0": "26.04"}
"""The kernels with which releases of Ubuntu for long use came out; an older one has it with its name behind it."""
OF_ARCHIVE = re.compile(r"~(2\d\.\d\d)(?![\d])")


def of_ubuntu(kernel: str, text: Sequence[str], versions: Sequence[str]) -> dict[str, str]:
    """Give Ubuntu and its release by how its kernel calls itself (#35~24.04.1-Ubuntu), or by packages made for it."""
    form = re.compile(rf"(?<!\S){re.escape(kernel)} #\d+(\S*)-Ubuntu\b")
    found = next(filter(None, map(form.search, text)), None)
    if found is None:
        return {}
    built = {match[1] for each in versions if (match := OF_ARCHIVE.search(each))}
    named = OF_ARCHIVE.search(found[1])
    own = named[1] if named else built.pop() if len(built) == 1 else FIRST_KERNELS.get(kernel.rpartition(".")[0], "")
    return {"NAME": "Ubuntu", "VERSION_ID": own, "PRETTY_NAME": f"Ubuntu {own}".strip()}
