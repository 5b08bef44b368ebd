"""What is installed: toolkits, programs, the user-mode driver, and what other accelerators bring."""

from __future__ import annotations

from xpusetup.facts.base import Fact


class ToolkitSeen(Fact):
    """A compiler tool chain that was found. `parts` are the components below its root, such as mkl or pti."""

    root: str
    version: str | None = None
    compiler: str
    setvars: str | None = None
    scripts: list[str] = []
    parts: list[str] | None = None


class Toolkits(Fact):
    """Every oneAPI that was found, the searched places in order.

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
    {file: library}, `sycl` and `clinfo` the lines of these programs; None where they are not there.
    """

    packages: dict[str, str] | None = None
    broken: list[str] = []
    libraries: dict[str, str] | None = None
    level_zero: LevelZero | None = None
    opencl: dict[str, str] = {}
    sycl: list[str] | None = None
    clinfo: list[str] | None = None
    headers: list[str] = []


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
