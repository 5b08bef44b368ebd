"""The machine below everything: operating system, resources, devices, kernel, container and network."""

from __future__ import annotations

from typing import Literal

from xpusetup.facts.base import Fact


class System(Fact):
    """The operating system. `families` goes from the particular to the general, as in ID and ID_LIKE.

    `groups` are those of this session, `joined` those that /etc/group gives the user: what is only in the second
    counts from the next login on. `named` are the ids of groups that own devices, by name.
    """

    name: str
    families: list[str]
    version: str | None = None
    kernel: str
    machine: str
    user: str
    uid: int
    groups: list[int] = []
    joined: list[int] = []
    named: dict[str, int] = {}


Held = Literal["wheels", "sources", "environment", "temporary", "cache"]


class Disk(Fact):
    """A place that a build writes to, and what of the build it holds; sizes in bytes.

    `quota_free` is what the user's quota leaves, `inodes_free` how many more files may be made, `used` what an earlier
    build left there, `mount` where the file system begins.
    """

    path: str
    free: int
    total: int
    writable: bool
    holds: list[Held] = ["wheels", "sources", "environment"]
    read_only: bool = False
    filesystem: str | None = None
    mount: str | None = None
    quota_free: int | None = None
    inodes_free: int | None = None
    used: int | None = None


class Resources(Fact):
    """What a build may use; sizes in bytes, limits of the control group where there are some."""

    cpus: int
    cpu_limit: float | None = None
    memory: int
    memory_available: int
    memory_limit: int | None = None
    swap: int
    disks: list[Disk] = []


class Gpu(Fact):
    """A display or compute device on the PCI bus; ids as four hexadecimal digits.

    `bar` is the window in bytes through which the processor sees the device's memory, `boot_vga` whether the firmware
    shows its screen on it, `subsystem` the maker of the board as "vendor:device".
    """

    address: str
    vendor: str
    device: str
    pci_class: str
    driver: str | None = None
    bar: int | None = None
    boot_vga: bool | None = None
    subsystem: str | None = None


class Node(Fact):
    """A render node and who may open it; `address` is the PCI device behind it."""

    path: str
    vendor: str | None = None
    gid: int
    openable: bool
    address: str | None = None


class Hardware(Fact):
    """Accelerators as the kernel shows them."""

    gpus: list[Gpu] = []
    nodes: list[Node] = []


class Kernel(Fact):
    """The running kernel and its accelerator drivers.

    `modules` are the watched ones that are loaded, with their version where they have one of their own (those of DKMS
    do); `dkms` those that were built outside of the kernel, `blacklisted` those that may not load by themselves.
    `claims` says which modules would take each GPU {device id: modules}, `force_probe` is each driver's parameter.
    `firmware` are the watched files, as paths below the firmware folder; `messages` the kernel's own lines on
    accelerators. None: could not be read.
    """

    release: str
    version: str = ""
    cmdline: str = ""
    modules: dict[str, str | None] = {}
    dkms: list[str] = []
    blacklisted: list[str] = []
    claims: dict[str, list[str]] | None = None
    force_probe: dict[str, str] = {}
    firmware: list[str] | None = None
    messages: list[str] | None = None


class Container(Fact):
    """What this runs in; the kind is empty on a machine of its own. `details` by name, such as the WSL files."""

    kind: Literal["", "docker", "podman", "apptainer", "kubernetes", "lxc", "wsl2"] = ""
    details: dict[str, str] = {}


class Network(Fact):
    """How this machine reaches others. Credentials are never written down, only the names of what holds them.

    `proxies` by variable; `credentials` name variables and settings with a password in an address; `redirects` are
    git's insteadOf rules {address: what it replaces}, `indexes` pip's settings by where they stand. `reach` says per
    host whether it answered; None: not asked.
    """

    proxies: dict[str, str] = {}
    credentials: list[str] = []
    redirects: dict[str, str] = {}
    indexes: dict[str, str] = {}
    reach: dict[str, bool] | None = None
