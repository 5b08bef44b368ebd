"""Facts: one snapshot of a machine, in sections, saved as JSON and replayed anywhere."""

from dataclasses import dataclass, field
from typing import Literal

from xpusetup.base.values import Table
from xpusetup.machine.environments import InstalledTorch, Python, TorchTree

# What every part of the facts is, and the names of their sections.


Section = Literal[
    "system",
    "resources",
    "hardware",
    "kernel",
    "userland",
    "container",
    "network",
    "toolkits",
    "tools",
    "python",
    "torch",
    "tree",
    "caches",
    "gaudi",
    "ascend",
    "environment",
]


# The machine below everything: operating system, resources, devices, kernel, container and network.


@dataclass(frozen=True, kw_only=True)
class System(Table):
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
    groups: list[int] = field(default_factory=list)
    joined: list[int] = field(default_factory=list)
    named: dict[str, int] = field(default_factory=dict)

    @property
    def places(self) -> tuple[str, ...]:
        """The families, and before the first of them it with its version: ubuntu-22.04, ubuntu, debian."""
        own = [f"{self.families[0]}-{self.version}"] if self.families and self.version else []
        return (*own, *self.families)


Held = Literal["wheels", "sources", "environment", "temporary", "cache"]


@dataclass(frozen=True, kw_only=True)
class DiskPlace(Table):
    """A place that a build writes to, and what of the build it holds; sizes in bytes.

    `quota_free` is what the user's quota leaves, `inodes_free` how many more files may be made, `used` what an earlier
    build left there, `mount` where the file system begins.
    """

    path: str
    free: int
    total: int
    writable: bool
    holds: list[Held] = field(default_factory=lambda: ["wheels", "sources", "environment"])
    read_only: bool = False
    filesystem: str | None = None
    mount: str | None = None
    quota_free: int | None = None
    inodes_free: int | None = None
    used: int | None = None


@dataclass(frozen=True, kw_only=True)
class Resources(Table):
    """What a build may use; sizes in bytes, limits of the control group where there are some."""

    cpus: int
    cpu_limit: float | None = None
    memory: int
    memory_available: int
    memory_limit: int | None = None
    swap: int
    disks: list[DiskPlace] = field(default_factory=list)


@dataclass(frozen=True, kw_only=True)
class Gpu(Table):
    """A display or compute device on the PCI bus; ids as four hexadecimal digits.

    `bar` is the window in bytes through which the processor sees the device's memory, `boot_vga` whether the firmware
    shows its screen on it, `subsystem` the maker of the board as "vendor:device". `name` is what lspci calls a device
    of which no id was told.
    """

    address: str
    vendor: str
    device: str
    pci_class: str
    driver: str | None = None
    bar: int | None = None
    boot_vga: bool | None = None
    subsystem: str | None = None
    name: str = ""


@dataclass(frozen=True, kw_only=True)
class Node(Table):
    """A render node and who may open it; `address` is the PCI device behind it."""

    path: str
    vendor: str | None = None
    gid: int
    openable: bool
    address: str | None = None


@dataclass(frozen=True, kw_only=True)
class Hardware(Table):
    """Accelerators as the kernel shows them. `fakes` have the name of a node and are none: a file, a folder."""

    gpus: list[Gpu] = field(default_factory=list)
    nodes: list[Node] = field(default_factory=list)
    fakes: list[str] = field(default_factory=list)


@dataclass(frozen=True, kw_only=True)
class LinuxKernel(Table):
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
    modules: dict[str, str | None] = field(default_factory=dict)
    dkms: list[str] = field(default_factory=list)
    blacklisted: list[str] = field(default_factory=list)
    claims: dict[str, list[str]] | None = None
    force_probe: dict[str, str] = field(default_factory=dict)
    firmware: list[str] | None = None
    messages: list[str] | None = None


@dataclass(frozen=True, kw_only=True)
class Container(Table):
    """What this runs in; the kind is empty on a machine of its own. `details` by name, such as the WSL files."""

    kind: Literal["", "docker", "podman", "apptainer", "kubernetes", "lxc", "wsl2"] = ""
    details: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Network(Table):
    """How this machine reaches others. Credentials are never written down, only the names of what holds them.

    `proxies` by variable; `credentials` name variables and settings with a password in an address; `redirects` are
    git's insteadOf rules {address: what it replaces}, `indexes` pip's settings by where they stand. `reach` says per
    host whether it answered; None: not asked. `routed`: whether a route leads out of this machine, as the kernel's
    tables have it; None: not told.
    """

    proxies: dict[str, str] = field(default_factory=dict)
    credentials: list[str] = field(default_factory=list)
    redirects: dict[str, str] = field(default_factory=dict)
    indexes: dict[str, str] = field(default_factory=dict)
    reach: dict[str, bool] | None = None
    routed: bool | None = None


# What is installed: toolkits, programs, the user-mode driver, and what other accelerators bring.


@dataclass(frozen=True, kw_only=True)
class ToolkitSeen(Table):
    """A compiler tool chain that was found. `parts` are the components below its root, such as mkl or pti."""

    kind: str = "oneapi"
    root: str
    version: str | None = None
    compiler: str
    setvars: str | None = None
    scripts: list[str] = field(default_factory=list)
    parts: list[str] | None = None


PRELUDE = "toolkits.prelude"
"""The note that tells which line of a site's prelude failed, and what it printed."""


@dataclass(frozen=True, kw_only=True)
class Toolkits(Table):
    """Every oneAPI and open DPC++ that was found, the searched places in order.

    `by_site` says what of which site file switches a toolkit on; then nothing else was looked at. `ocloc` is the device
    compiler for ahead-of-time targets, `targets` those that it knows.
    """

    found: list[ToolkitSeen] = field(default_factory=list)
    searched: list[str] = field(default_factory=list)
    by_site: str = ""
    ocloc: str | None = None
    targets: list[str] | None = None


@dataclass(frozen=True, kw_only=True)
class Tool(Table):
    """A program on PATH, with the first line of its version."""

    name: str
    path: str
    version: str | None = None


@dataclass(frozen=True, kw_only=True)
class ZeDevice(Table):
    """A device as Level Zero sees it; memory in bytes, the driver's version as its own number."""

    name: str
    uuid: str = ""
    vendor: str = ""
    device: str = ""
    kind: str = ""
    driver_version: int | None = None
    memory: int | None = None


@dataclass(frozen=True, kw_only=True)
class LevelZero(Table):
    """How far Level Zero gets: the loader, zeInit, drivers, devices. None: that rung was not reached.

    `init` is the code of zeInit (0 is success), `error` what stopped it: the dynamic linker's words, or a crash.
    """

    loader: str | None = None
    error: str = ""
    init: int | None = None
    drivers: int | None = None
    devices: list[ZeDevice] = field(default_factory=list)


@dataclass(frozen=True, kw_only=True)
class Userland(Table):
    """The user-mode driver.

    `packages` are the watched ones {name: version} of dpkg or rpm, `broken` those that are neither installed nor gone;
    `libraries` {soname: path} is what the dynamic linker would take. `opencl` holds the registered OpenCL drivers
    {file: library}, `sycl` and `clinfo` the lines of these programs; None where they are not there. `as_root` are GPUs
    that these list to root and not to the user, `lacking` packages that a list would name if they were there.
    """

    packages: dict[str, str] | None = None
    broken: list[str] = field(default_factory=list)
    libraries: dict[str, str] | None = None
    level_zero: LevelZero | None = None
    opencl: dict[str, str] = field(default_factory=dict)
    sycl: list[str] | None = None
    clinfo: list[str] | None = None
    headers: list[str] = field(default_factory=list)
    as_root: list[str] = field(default_factory=list)
    lacking: list[str] = field(default_factory=list)


@dataclass(frozen=True, kw_only=True)
class Cache(Table):
    """A folder in which compilers keep their results; sizes in bytes."""

    name: str
    path: str
    writable: bool
    free: int | None = None


@dataclass(frozen=True, kw_only=True)
class Accelerator(Table):
    """One card as its vendor's program shows it."""

    index: str
    name: str
    health: str = ""
    used_by: str = ""


@dataclass(frozen=True, kw_only=True)
class Gaudi(Table):
    """Intel Gaudi: nodes, the version of the driver, and what hl-smi says."""

    nodes: list[str] = field(default_factory=list)
    driver: str | None = None
    packages: dict[str, str] = field(default_factory=dict)
    cards: list[Accelerator] | None = None


@dataclass(frozen=True, kw_only=True)
class Ascend(Table):
    """Huawei Ascend: nodes, the version of the driver, the toolkits that are there, and what npu-smi says."""

    nodes: list[str] = field(default_factory=list)
    driver: str | None = None
    scripts: list[str] = field(default_factory=list)
    cards: list[Accelerator] | None = None


# Facts: one snapshot of a machine, in sections, saved as JSON and replayed anywhere.
#
# None means not seen, and `notes` says why; a section that is None was not asked for.


NOT_TOLD = "not told"
"""The note of a part that nobody looked at, or told of: nothing follows from its being empty."""
NOT_HANDED = "not handed over"
"""The state of a device that a container was not given."""
VGA_ALONE = "of the display devices those of class VGA were listed"
"""The note of GPUs where a list holds one class of them: a GPU of another class may be there."""
NOT_THERE = ", which is not there"
"""How the note of OpenCL's drivers ends where a file of theirs names a library that is gone."""
NO_COMPILER = "ocloc is here, and its graphics compiler (libigc.so.2) is not"
"""The note of ocloc where it cannot compile."""
SEEN_ELSEWHERE = "?"
"""The kernel driver of a GPU that something lists, where nothing says which driver it is."""


@dataclass(frozen=True, kw_only=True)
class Facts(Table):
    """A machine. `notes` says why something was not seen: {section or section.part: reason}.

    `program` is the version that looked, with its commit; empty in what older ones saved. `refused`: the line of what
    was pasted by which a program says that the driver refused it, or with which it ended.
    """

    UNSAID = ("refused",)
    schema_: Literal[1] = 1
    taken: str
    program: str = ""
    system: System | None = None
    resources: Resources | None = None
    hardware: Hardware | None = None
    kernel: LinuxKernel | None = None
    userland: Userland | None = None
    container: Container | None = None
    network: Network | None = None
    toolkits: Toolkits | None = None
    tools: list[Tool] | None = None
    python: Python | None = None
    torch: InstalledTorch | None = None
    tree: TorchTree | None = None
    caches: list[Cache] | None = None
    gaudi: Gaudi | None = None
    ascend: Ascend | None = None
    environment: dict[str, str] | None = None
    notes: dict[str, str] = field(default_factory=dict)
    refused: str = ""

    @property
    def in_wsl(self) -> bool:
        """Whether this is WSL2, where Windows drives the GPU and no PCI device shows it; in a container of its too."""
        kernel = self.system.kernel.lower() if self.system else ""
        return "microsoft" in kernel or (self.container is not None and self.container.kind == "wsl2")

    def is_told(self, part: str) -> bool:
        """Say whether a section, or a part of one, was looked at; where not, its being empty says nothing."""
        section = part.partition(".")[0]
        return NOT_TOLD not in (self.notes.get(part), self.notes.get(section))

    def tool(self, name: str) -> Tool | None:
        return next((tool for tool in self.tools or [] if tool.name == name), None)
