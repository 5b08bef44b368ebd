"""Facts: one snapshot of a machine, in sections, saved as JSON and replayed anywhere.

None means not seen, and `notes` says why; a section that is None was not asked for.
"""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

Section = Literal["system", "resources", "hardware", "toolkits", "tools", "python", "environment"]


class Fact(BaseModel):
    """No unknown key, no change; a snapshot of a newer version is refused by its schema number."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class System(Fact):
    """The operating system. `families` goes from the particular to the general, as in ID and ID_LIKE."""

    name: str
    families: list[str]
    version: str | None = None
    kernel: str
    machine: str
    user: str
    uid: int
    groups: list[int] = []


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
    """A display or compute device on the PCI bus; ids as four hexadecimal digits."""

    address: str
    vendor: str
    device: str
    pci_class: str
    driver: str | None = None


class Node(Fact):
    """A render node and who may open it."""

    path: str
    vendor: str | None = None
    gid: int
    openable: bool


class Hardware(Fact):
    """Accelerators as the kernel shows them."""

    gpus: list[Gpu] = []
    nodes: list[Node] = []


class ToolkitSeen(Fact):
    """A compiler tool chain that was found, and where it was looked for if none was."""

    root: str
    version: str | None = None
    compiler: str
    setvars: str | None = None
    scripts: list[str] = []


class Toolkits(Fact):
    """Every oneAPI that was found, the searched places in order."""

    found: list[ToolkitSeen] = []
    searched: list[str] = []


class Tool(Fact):
    """A program on PATH, with the first line of its version."""

    name: str
    path: str
    version: str | None = None


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


class Facts(Fact):
    """A machine."""

    schema_: Literal[1] = Field(default=1, alias="schema")
    taken: str
    system: System | None = None
    resources: Resources | None = None
    hardware: Hardware | None = None
    toolkits: Toolkits | None = None
    tools: list[Tool] | None = None
    python: Python | None = None
    environment: dict[str, str] | None = None
    notes: dict[str, str] = {}

    def tool(self, name: str) -> Tool | None:
        """Give a program that was found on PATH."""
        return next((tool for tool in self.tools or [] if tool.name == name), None)
