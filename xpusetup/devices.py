"""What is known of each accelerator: the schema of device files, one file a device, ours or a vendor's own.

Words: an *extension* is the package that teaches torch the device, an *entry* its line in the group `torch.backends`,
by which `import torch` loads it. *Built in* is a device that needs no extension.
"""

from __future__ import annotations

from typing import Annotated, Literal

from packaging.version import InvalidVersion, Version
from pydantic import Field

from xpusetup.load import parse_data
from xpusetup.profile import PyTorch
from xpusetup.values import (
    Confidence,
    Environment,
    GitRef,
    Inside,
    Name,
    Operand,
    Repository,
    Rev,
    Strict,
    Text,
    Variable,
)

PciId = Annotated[str, Field(pattern=r"^[0-9a-f]{4}$")]
Word = Annotated[str, Field(pattern=r"^([A-Za-z_][A-Za-z0-9_.-]*)?$")]
CheckId = Annotated[str, Field(pattern=r"^[a-z0-9_]+(\.[a-z0-9_]+)+$")]
Glob = Annotated[str, Field(pattern=r"^/[!-~]+$")]
Distribution = Annotated[str, Field(pattern=r"^[A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9])?$")]
Dotted = Annotated[str, Field(pattern=r"^[A-Za-z_][A-Za-z0-9_]*(\.[A-Za-z_][A-Za-z0-9_]*)*$")]
DeviceName = Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]*$")]


class Known(Strict):
    """Facts with where they are from; who describes a device of his own needs to name no source."""

    source: Text = ""
    confidence: Confidence = "confirmed"


class HardwareKnown(Known):
    """How the kernel shows the device.

    `devices` are the PCI ids of the makers' products that count {id: name}, empty for all that the GPU table does not
    give to another; `nodes` are patterns of its files below /dev.
    """

    devices: dict[PciId, Text] = {}
    nodes: list[Glob] = []


class VendorTool(Known):
    """The vendor's program, and the arguments with which it shows the devices and changes nothing."""

    name: Operand
    query: list[Text]


class VendorEnvironment(Known):
    """What the device's libraries need to be set: by the first of these scripts that is there, and by `variables`.

    `sets` are the variables that tell whether a script did.
    """

    scripts: list[Glob] = []
    sets: list[Variable] = []
    variables: Environment = {}


class ModeKnown(Known):
    """A way in which the device's extension runs a model, chosen by `environment` before the extension is imported.

    `models` are variables for vision models in this mode. `pytorch` are those that it works with, empty for all.
    `skips` are checks of verify that this mode is not for.
    """

    name: Name
    environment: Environment
    models: Environment = {}
    pytorch: list[PyTorch] = []
    skips: dict[CheckId, Text] = {}
    note: Text = ""


class Extension(Known):
    """The package that teaches torch the device.

    `entry` is its name in the group torch.backends, empty for none: then its module has to be imported by hand.
    `torch` says which torch a version of it is for: the same release, the same minor release, what the table of
    releases says, or what its own metadata says. `alone` says why it may not meet another accelerator in a process.
    `loader` is its class of data loaders, as module:Class, which falls back to torch's own. `imported`: where torch
    does not load the module by itself, it is imported by hand.
    """

    distribution: Distribution
    module: Dotted
    entry: Word = ""
    torch: Literal["release", "minor", "table", "metadata"] = "metadata"
    alone: Text = ""
    imported: bool = False
    loader: Annotated[str, Field(pattern=r"^([A-Za-z_][\w.]*:[A-Za-z_]\w*)?$")] = ""


class Release(Known):
    """A row of the table of versions: versions of the extension that begin so, and the torch that they are for.

    `pytorch` says whose torch that may be; empty where nobody said.
    """

    extension: Operand
    torch: Operand
    toolkit: Text = ""
    pytorch: list[PyTorch] = []


class SourceKnown(Known):
    """Where the extension's source is: what `profiles new --device` begins with. `version` is that of its wheel.

    `sparse`, `cmake` and `defines` are as in a profile.
    """

    repo: Repository
    ref: GitRef = ""
    rev: Rev | None = None
    version: Text = ""
    directory: Inside = "."
    sparse: list[Inside] = []
    frontend: Literal["setup.py", "build"] = "build"
    cmake: bool = False
    defines: Environment = {}


class Device(Strict):
    """An accelerator as torch calls it. `expected`: it is there whenever its software is, so absence is a fault.

    `built_in`: always, never, or in those builds of torch whose version.py has a value of the device's name.
    `compile_backend` is that of torch.compile, `collective_backend` that of torch.distributed. `gaps` are the checks of
    verify that this device is known not to pass, `skips` those that are not to be tried on it, each with its reason;
    `unknown` says what nobody could find out.
    """

    name: DeviceName
    title: Text
    pci_vendors: list[PciId] = []
    nodes: Literal["render", "none"] = "none"
    expected: bool = False
    compile_backend: Word = ""
    collective_backend: Word = ""
    gaps: dict[CheckId, Text] = {}
    skips: dict[CheckId, Text] = {}
    built_in: Literal["always", "builds", "never"] = "never"
    hardware: HardwareKnown | None = None
    tool: VendorTool | None = None
    environment: VendorEnvironment | None = None
    extension: Extension | None = None
    modes: list[ModeKnown] = []
    releases: list[Release] = []
    component: SourceKnown | None = Field(default=None, alias="source")
    unknown: list[Text] = []

    @property
    def listed_gaps(self) -> tuple[str, ...]:
        """The gaps as the verifier's options say them: ID=REASON."""
        return tuple(f"{name}={reason}" for name, reason in self.gaps.items())


def parse_device(text: str, origin: str = "device.toml") -> Device:
    """Read a device file; `origin` names it in messages. Raises UsageError with every error of the file."""
    return parse_data(text, Device, origin)


def find_release(device: Device, version: str) -> Release | None:
    """Give the row of the longest beginning that a version of the extension has."""
    fitting = [row for row in device.releases if f"{version}.".startswith(f"{row.extension}.")]
    return max(fitting, key=lambda row: len(row.extension), default=None)


def wanted_torch(device: Device, version: str) -> str:
    """Give the torch that a version of the extension is for, as the beginning of a version; empty where not known."""
    rule = device.extension.torch if device.extension else "metadata"
    if rule == "table":
        row = find_release(device, version)
        return row.torch if row else ""
    try:
        release = Version(version).release
    except InvalidVersion:
        return ""
    parts = {"release": 3, "minor": 2}.get(rule, 0)
    return ".".join(str(part) for part in release[:parts])
