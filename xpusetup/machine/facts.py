"""Facts: one snapshot of a machine, in sections, saved as JSON and replayed anywhere."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from xpusetup.base.model import Misfit

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


class Fact(BaseModel):
    """No unknown key, no change; a snapshot of a newer version is refused by its schema number."""

    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True, allow_inf_nan=False)


# Python: interpreters, environments, the torch in them, and source trees.


class Adopted(Fact):
    """An environment that someone else made, into which a build installs.

    `refused` says why it can't, `fix` what to do then; `installed` holds versions by normalised name.
    """

    prefix: str
    kind: Literal["venv", "conda", "interpreter"]
    refused: str = ""
    fix: str = ""
    pip: bool
    installed: dict[str, str] = {}
    notes: list[str] = []


class Python(Fact):
    """An interpreter that carries the environment. `headers`: Python.h; `venv`: ensurepip is there."""

    executable: str
    version: str
    headers: bool
    venv: bool
    free_threaded: bool = False
    adopted: Adopted | None = None


class EntryPoint(Fact):
    """A `torch.backends` entry: what `import torch` loads by itself, and the distribution that brings it."""

    name: str
    value: str
    distribution: str
    version: str = ""


class ImportReport(Fact):
    """What happened when torch was imported in its own process; seconds of the clock.

    `error` is its last line where it failed, `messages` what it warned of. What was not reached is None.
    """

    error: str = ""
    messages: list[str] = []
    seconds: float
    version: str | None = None
    xpu: str | None = None
    cuda: str | None = None
    compiled: bool | None = None
    available: bool | None = None
    count: int | None = None
    devices: list[str] = []
    cxx11_abi: bool | None = None


class Conflict(Fact):
    """Two files that cannot work together in one process, read from the files alone.

    `library` asks for `names` (`count` of them) and gets `first`, which lacks them; `has` is another that has them.
    `kind`: "symbol", "version" (a version node), "abi" (the other C++ ABI), "torch" (built for another one), "majors"
    (two of a library of which there may be one), "missing", "hidden" (by LD_LIBRARY_PATH), "offered" (another major,
    there) or "files" (two packages wrote the same ones). `owners`: whose `library`, `first` and `has` are.
    """

    kind: Literal["symbol", "version", "abi", "torch", "majors", "missing", "hidden", "offered", "files"]
    level: Literal["warn", "fail"]
    library: str = ""
    names: list[str] = []
    count: int = 0
    first: str = ""
    has: str = ""
    owners: dict[Literal["library", "first", "has"], str] = {}


class Torch(Fact):
    """The torch of an environment, read from its files; nothing is imported for that.

    `python` is the interpreter, `prefix` its environment. `distributions` are the watched ones by normalised name,
    `doubled` those with several versions in one place; `requires` is what torch asks for with an exact version. `xpu`
    and `cuda` are those of torch/version.py: the toolkit's version, empty for none. `sycl` are the sonames of libsycl
    that torch asks for, `libraries` {soname: path} the watched ones that the environment itself holds, `conflicts`
    what cannot work together, `misfits` what is compiled against another torch. `glibcxx` is the highest version in
    the environment's own libstdc++, `glibcxx_system` that in the system's: 30 stands for GLIBCXX_3.4.30.
    `replaced` is the build for XPU that was there before, where an installer was seen to take it away.
    """

    python: str
    prefix: str
    kind: Literal["venv", "conda", "interpreter"]
    distributions: dict[str, str] = {}
    doubled: list[str] = []
    requires: list[str] = []
    entry_points: list[EntryPoint] = []
    version: str | None = None
    xpu: str | None = None
    cuda: str | None = None
    sycl: list[str] = []
    libraries: dict[str, str] = {}
    conflicts: list[Conflict] | None = None
    misfits: list[Misfit] | None = None
    glibcxx: int | None = None
    glibcxx_system: int | None = None
    replaced: str = ""
    report: ImportReport | None = None


class Tree(Fact):
    """A PyTorch source tree: the one that is built from, or the one in which this was started.

    `submodules` are those whose folder is empty. `cache` holds a few entries of its build/CMakeCache.txt. `in_use`:
    this was started inside of it, so that its torch folder hides the installed one.
    """

    path: str
    version: str | None = None
    git: bool
    in_use: bool
    submodules: list[str] = []
    cache: dict[str, str] | None = None
    setup_py: bool = False


# The machine below everything: operating system, resources, devices, kernel, container and network.


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

    @property
    def places(self) -> tuple[str, ...]:
        """The families, and before the first of them it with its version: ubuntu-22.04, ubuntu, debian."""
        own = [f"{self.families[0]}-{self.version}"] if self.families and self.version else []
        return (*own, *self.families)


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


class Node(Fact):
    """A render node and who may open it; `address` is the PCI device behind it."""

    path: str
    vendor: str | None = None
    gid: int
    openable: bool
    address: str | None = None


class Hardware(Fact):
    """Accelerators as the kernel shows them. `fakes` have the name of a node and are none: a file, a folder."""

    gpus: list[Gpu] = []
    nodes: list[Node] = []
    fakes: list[str] = []


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


# What is installed: toolkits, programs, the user-mode driver, and what other accelerators bring.


class ToolkitSeen(Fact):
    """A compiler tool chain that was found. `parts` are the components below its root, such as mkl or pti."""

    kind: str = "oneapi"
    root: str
    version: str | None = None
    compiler: str
    setvars: str | None = None
    scripts: list[str] = []
    parts: list[str] | None = None


class Toolkits(Fact):
    """Every oneAPI and open DPC++ that was found, the searched places in order.

    `ocloc` is the device compiler for ahead-of-time targets, `targets` those that it knows.
    """

    found: list[ToolkitSeen] = []
    searched: list[str] = []
    ocloc: str | None = None
    targets: list[str] | None = None


class Tool(Fact):
    """A program on PATH, with the first line of its version."""

    name: str
    path: str
    version: str | None = None


class ZeDevice(Fact):
    """A device as Level Zero sees it; memory in bytes, the driver's version as its own number."""

    name: str
    uuid: str = ""
    vendor: str = ""
    device: str = ""
    kind: str = ""
    driver_version: int | None = None
    memory: int | None = None


class LevelZero(Fact):
    """How far Level Zero gets: the loader, zeInit, drivers, devices. None: that rung was not reached.

    `init` is the code of zeInit (0 is success), `error` what stopped it: the dynamic linker's words, or a crash.
    """

    loader: str | None = None
    error: str = ""
    init: int | None = None
    drivers: int | None = None
    devices: list[ZeDevice] = []


class Userland(Fact):
    """The user-mode driver.

    `packages` are the watched ones {name: version} of dpkg or rpm, `broken` those that are neither installed nor gone;
    `libraries` {soname: path} is what the dynamic linker would take. `opencl` holds the registered OpenCL drivers
    {file: library}, `sycl` and `clinfo` the lines of these programs; None where they are not there. `as_root` are GPUs
    that these list to root and not to the user, `lacking` packages that a list would name if they were there.
    """

    packages: dict[str, str] | None = None
    broken: list[str] = []
    libraries: dict[str, str] | None = None
    level_zero: LevelZero | None = None
    opencl: dict[str, str] = {}
    sycl: list[str] | None = None
    clinfo: list[str] | None = None
    headers: list[str] = []
    as_root: list[str] = []
    lacking: list[str] = []


class Cache(Fact):
    """A folder in which compilers keep their results; sizes in bytes."""

    name: str
    path: str
    writable: bool
    free: int | None = None


class Accelerator(Fact):
    """One card as its vendor's program shows it."""

    index: str
    name: str
    health: str = ""
    used_by: str = ""


class Gaudi(Fact):
    """Intel Gaudi: nodes, the version of the driver, and what hl-smi says."""

    nodes: list[str] = []
    driver: str | None = None
    packages: dict[str, str] = {}
    cards: list[Accelerator] | None = None


class Ascend(Fact):
    """Huawei Ascend: nodes, the version of the driver, the toolkits that are there, and what npu-smi says."""

    nodes: list[str] = []
    driver: str | None = None
    scripts: list[str] = []
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
SEEN_ELSEWHERE = "?"
"""The kernel driver of a GPU that something lists, where nothing says which driver it is."""


class Shown(Fact):
    """What lines that programs wrote tell of one check: the line, what it means, and what mends it.

    `same` are entries of explain's catalogue that say no more; `firm`: it counts where torch has a device too; `adds`:
    it is no proof by itself and says more of what the check saw, and `commands` mend that in place of the check's own.
    """

    line: str
    means: str = ""
    mend: str = ""
    same: list[str] = []
    firm: bool = False
    adds: bool = False
    commands: list[str] = []


class Facts(Fact):
    """A machine. `notes` says why something was not seen: {section or section.part: reason}.

    `program` is the version that looked, with its commit; empty in what older ones saved. `said` is what people told
    in words {check, or "fails": the sentence}: it was not seen. `shown` is what lines of programs show {check: what}.
    """

    schema_: Literal[1] = Field(default=1, alias="schema")
    taken: str
    program: str = ""
    system: System | None = None
    resources: Resources | None = None
    hardware: Hardware | None = None
    kernel: Kernel | None = None
    userland: Userland | None = None
    container: Container | None = None
    network: Network | None = None
    toolkits: Toolkits | None = None
    tools: list[Tool] | None = None
    python: Python | None = None
    torch: Torch | None = None
    tree: Tree | None = None
    caches: list[Cache] | None = None
    gaudi: Gaudi | None = None
    ascend: Ascend | None = None
    environment: dict[str, str] | None = None
    notes: dict[str, str] = {}
    said: dict[str, str] = {}
    shown: dict[str, Shown] = {}

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
        """Give a program that was found on PATH."""
        return next((tool for tool in self.tools or [] if tool.name == name), None)
