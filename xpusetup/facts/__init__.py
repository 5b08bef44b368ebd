"""Facts: one snapshot of a machine, in sections, saved as JSON and replayed anywhere.

None means not seen, and `notes` says why; a section that is None was not asked for.
"""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from xpusetup.facts.base import Fact, Section
from xpusetup.facts.environments import Adopted, Conflict, EntryPoint, ImportReport, Python, Torch, Tree
from xpusetup.facts.machine import Container, Disk, Gpu, Hardware, Held, Kernel, Network, Node, Resources, System
from xpusetup.facts.software import (
    Accelerator,
    Ascend,
    Cache,
    Gaudi,
    LevelZero,
    Tool,
    Toolkits,
    ToolkitSeen,
    Userland,
    ZeDevice,
)

__all__ = (
    "Accelerator",
    "Adopted",
    "Ascend",
    "Cache",
    "Conflict",
    "Container",
    "Disk",
    "EntryPoint",
    "Fact",
    "Facts",
    "Gaudi",
    "Gpu",
    "Hardware",
    "Held",
    "ImportReport",
    "Kernel",
    "LevelZero",
    "Network",
    "Node",
    "Python",
    "Resources",
    "Section",
    "System",
    "Tool",
    "ToolkitSeen",
    "Toolkits",
    "Torch",
    "Tree",
    "Userland",
    "ZeDevice",
)


class Facts(Fact):
    """A machine. `notes` says why something was not seen: {section or section.part: reason}.

    `program` is the version that looked, with its commit; empty in what older ones saved.
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

    @property
    def in_wsl(self) -> bool:
        """Whether this is WSL2, where Windows drives the GPU and no PCI device shows it; in a container of its too."""
        kernel = self.system.kernel.lower() if self.system else ""
        return "microsoft" in kernel or (self.container is not None and self.container.kind == "wsl2")

    def tool(self, name: str) -> Tool | None:
        """Give a program that was found on PATH."""
        return next((tool for tool in self.tools or [] if tool.name == name), None)
