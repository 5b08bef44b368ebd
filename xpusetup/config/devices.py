"""What is known of each accelerator: the schema of device files, where they are found, what goes with what."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache
from typing import Annotated, Literal

from packaging.version import InvalidVersion, Version

from xpusetup.base.errors import UsageError
from xpusetup.base.model import Mode
from xpusetup.base.values import (
    Confidence,
    Environment,
    GitRef,
    Inside,
    Limits,
    Name,
    Operand,
    Repository,
    Rev,
    Strict,
    Text,
    Variable,
)
from xpusetup.config.load import parse_data
from xpusetup.config.profile import MakersInstaller, Profile, PyTorch
from xpusetup.config.settings import Settings
from xpusetup.system import files
from xpusetup.system.environment import from_home

# What is known of each accelerator: the schema of device files, one file a device, ours or a vendor's own.
#
# Words: an *extension* is the package that teaches torch the device, an *entry* its line in the group
# `torch.backends`, by which `import torch` loads it. *Built in* is a device that needs no extension.


PciId = Annotated[str, Limits(pattern=r"^[0-9a-f]{4}$")]
Word = Annotated[str, Limits(pattern=r"^([A-Za-z_][A-Za-z0-9_.-]*)?$")]
CheckId = Annotated[str, Limits(pattern=r"^[a-z0-9_]+(\.[a-z0-9_]+)+$")]
Glob = Annotated[str, Limits(pattern=r"^/[!-~]+$")]
Distribution = Annotated[str, Limits(pattern=r"^[A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9])?$")]
Dotted = Annotated[str, Limits(pattern=r"^[A-Za-z_][A-Za-z0-9_]*(\.[A-Za-z_][A-Za-z0-9_]*)*$")]
DeviceName = Annotated[str, Limits(pattern=r"^[a-z][a-z0-9_]*$")]


@dataclass(frozen=True, kw_only=True)
class SourcedFact(Strict):
    """Facts with where they are from; who describes a device of his own needs to name no source."""

    source: Text = ""
    confidence: Confidence = "confirmed"


@dataclass(frozen=True, kw_only=True)
class HardwareKnown(SourcedFact):
    """How the kernel shows the device.

    `devices` are the PCI ids of the makers' products that count {id: name}, empty for all that the GPU table does not
    give to another; `nodes` are patterns of its files below /dev.
    """

    devices: dict[PciId, Text] = field(default_factory=dict)
    nodes: list[Glob] = field(default_factory=list)


@dataclass(frozen=True, kw_only=True)
class VendorTool(SourcedFact):
    """The vendor's program, and the arguments with which it shows the devices and changes nothing."""

    name: Operand
    query: list[Text]


@dataclass(frozen=True, kw_only=True)
class VendorEnvironment(SourcedFact):
    """What the device's libraries need to be set: by the first of these scripts that is there, and by `variables`.

    `sets` are the variables that tell whether a script did.
    """

    scripts: list[Glob] = field(default_factory=list)
    sets: list[Variable] = field(default_factory=list)
    variables: Environment = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class ModeKnown(SourcedFact):
    """A way in which the device's extension runs a model, chosen by `environment` before the extension is imported.

    `models` are variables for vision models in this mode. `pytorch` are those that it works with, empty for all.
    `skips` are checks of verify that this mode is not for.
    """

    name: Name
    environment: Environment
    models: Environment = field(default_factory=dict)
    pytorch: list[PyTorch] = field(default_factory=list)
    skips: dict[CheckId, Text] = field(default_factory=dict)
    note: Text = ""


@dataclass(frozen=True, kw_only=True)
class Extension(SourcedFact):
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
    loader: Annotated[str, Limits(pattern=r"^([A-Za-z_][\w.]*:[A-Za-z_]\w*)?$")] = ""


@dataclass(frozen=True, kw_only=True)
class Release(SourcedFact):
    """A row of the table of versions: versions of the extension that begin so, and the torch that they are for.

    `pytorch` says whose torch that may be; empty where nobody said.
    """

    extension: Operand
    torch: Operand
    toolkit: Text = ""
    pytorch: list[PyTorch] = field(default_factory=list)


@dataclass(frozen=True, kw_only=True)
class SourceKnown(SourcedFact):
    """Where the extension's source is: what `profiles new --device` begins with. `version` is that of its wheel.

    `sparse`, `cmake` and `defines` are as in a profile.
    """

    repo: Repository
    ref: GitRef = ""
    rev: Rev | None = None
    version: Text = ""
    directory: Inside = "."
    sparse: list[Inside] = field(default_factory=list)
    frontend: Literal["setup.py", "build"] = "build"
    cmake: bool = False
    defines: Environment = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Device(Strict):
    """An accelerator as torch calls it. `expected`: it is there whenever its software is, so absence is a fault.

    `built_in`: always, never, or in those builds of torch whose version.py has a value of the device's name.
    `filters` are variables by which a program is shown only some of them, or none.
    `compile_backend` is that of torch.compile, `collective_backend` that of torch.distributed. `gaps` are the checks of
    verify that this device is known not to pass, `skips` those that are not to be tried on it, each with its reason;
    `unknown` says what nobody could find out.
    """

    name: DeviceName
    title: Text
    pci_vendors: list[PciId] = field(default_factory=list)
    nodes: Literal["render", "none"] = "none"
    expected: bool = False
    filters: list[Variable] = field(default_factory=list)
    compile_backend: Word = ""
    collective_backend: Word = ""
    gaps: dict[CheckId, Text] = field(default_factory=dict)
    skips: dict[CheckId, Text] = field(default_factory=dict)
    built_in: Literal["always", "builds", "never"] = "never"
    hardware: HardwareKnown | None = None
    tool: VendorTool | None = None
    environment: VendorEnvironment | None = None
    extension: Extension | None = None
    modes: list[ModeKnown] = field(default_factory=list)
    releases: list[Release] = field(default_factory=list)
    source_: SourceKnown | None = None
    unknown: list[Text] = field(default_factory=list)

    @property
    def listed_gaps(self) -> tuple[str, ...]:
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


# Which PyTorch goes with which release of a device's software, and in which mode: what cannot be is refused.


CALLED = {"fork": "the maker's fork of PyTorch", "public": "the public PyTorch", "any": "whichever PyTorch it brings"}


def make_modes(profile: Profile, device: Device) -> tuple[Mode, ...]:
    """Give the modes that a profile verifies, the device's first where it names none.

    Raises UsageError for a torch that is not that of the software's release, and for a mode that does not exist or
    does not work with this PyTorch.
    """
    if profile.installer is not None:
        _check_torch(profile, profile.installer, device)
        _check_kind(profile, profile.installer, device)
    known = {mode.name: mode for mode in device.modes}
    names = profile.modes or [mode.name for mode in device.modes[:1]]
    return tuple(_make_mode(_check_mode(profile, name, known)) for name in names)


def find_mode(modes: Iterable[Mode], name: str) -> Mode:
    """Give the mode of this name. Raises UsageError where the build has no such mode."""
    found = {mode.name: mode for mode in modes}
    if name not in found:
        has = f"it has: {', '.join(found)}" if found else "its device has no modes"
        raise UsageError(f"this build has no mode {name!r}", fix=f"{has}; a profile says which: modes = [...]")
    return found[name]


def device_modes(device: Device) -> tuple[Mode, ...]:
    return tuple(map(_make_mode, device.modes))


def _make_mode(mode: ModeKnown) -> Mode:
    return Mode(name=mode.name, variables=_pairs(mode.environment), models=_pairs(mode.models), skips=tuple(mode.skips))


def _pairs(variables: Mapping[str, str]) -> tuple[str, ...]:
    return tuple(f"{name}={value}" for name, value in variables.items())


def torch_of(profile: Profile) -> str:
    """Give the version of torch that a profile ends with, or its beginning; empty where it brings none."""
    named = (part.version for part in profile.components if part.name == "torch" and part.kind != "skip")
    return next(named, profile.installer.brings.get("torch", "") if profile.installer else "")


def _check_torch(profile: Profile, installer: MakersInstaller, device: Device) -> None:
    torch, wanted = torch_of(profile).partition("+")[0], wanted_torch(device, installer.release)
    if not torch or not wanted or f"{torch}.".startswith(f"{wanted}.") or f"{wanted}.".startswith(f"{torch}."):
        return
    fitting = [row.extension for row in device.releases if f"{torch}.".startswith(f"{row.torch}.")]
    other = f"; torch {torch} is that of {', '.join(fitting)}" if fitting else ""
    raise UsageError(
        f"{profile.name}: {_software(installer, device)} is for torch {wanted}, not for {torch}",
        fix=f"take torch {wanted}{other}",
    )


def _check_kind(profile: Profile, installer: MakersInstaller, device: Device) -> None:
    row = find_release(device, installer.release)
    kinds = row.pytorch if row else []
    if not kinds or profile.pytorch in (*kinds, "any"):
        return
    rows = [each for each in device.releases if profile.pytorch in each.pytorch]
    others = f"; {CALLED[profile.pytorch]} goes with {', '.join(each.extension for each in rows)}" if rows else ""
    raise UsageError(
        f"{profile.name}: {_software(installer, device)} is not known to work with {CALLED[profile.pytorch]}",
        fix=f'pytorch = "{kinds[0]}" works with it{others}',
    )


def _software(installer: MakersInstaller, device: Device) -> str:
    row = find_release(device, installer.release)
    return row.toolkit if row and row.toolkit else f"release {installer.release}"


def _check_mode(profile: Profile, name: str, known: Mapping[str, ModeKnown]) -> ModeKnown:
    if name not in known:
        has = ", ".join(known) or "none"
        raise UsageError(f"{profile.name}: {profile.accelerator} has no mode {name!r}", fix=f"its modes: {has}")
    mode = known[name]
    if mode.pytorch and profile.pytorch not in mode.pytorch:
        others = [each.name for each in known.values() if not each.pytorch or profile.pytorch in each.pytorch]
        raise UsageError(
            f"{profile.name}: mode {name} works with {CALLED[mode.pytorch[0]]} alone,"
            f" and this profile has {CALLED[profile.pytorch]}",
            fix=f'take mode {" or ".join(others)}, or a profile with pytorch = "{mode.pytorch[0]}"',
        )
    return mode


# Where device files are found: the one that a profile names, those of the site, those that ship.


FOLDER = "data/devices"


class UnknownDeviceError(UsageError):
    """No file is about an accelerator of this name."""


def is_device_file(name: str) -> bool:
    return name.endswith(".toml") or "/" in name


def find_device(name: str, file: str, settings: Settings) -> Device:
    """Give what is known of an accelerator: from the file that its profile names, else from the site's, else from ours.

    Raises UsageError for a file that is wrong, is about another device, or is not there.
    """
    if file:
        device = read_device(file)
        if device.name != name:
            message = f"{file} is about {device.name!r}, and the profile is for {name!r}"
            raise UsageError(message, fix=f'write accelerator = "{device.name}" into the profile, or name another file')
        return device
    ours = next((each for path in settings.devices if (each := read_device(path)).name == name), None)
    return ours or shipped_device(name)


def read_device(file: str) -> Device:
    """Read a device file of someone's own. Raises UsageError."""
    text = files.read_input(from_home(file))
    if text is None:
        raise UsageError(
            f"there is no device file {file} that can be read", fix="docs/devices.md says how to write one"
        )
    return parse_device(text, file)


def shipped_names() -> list[str]:
    return sorted(path.stem for path in files.package_file(FOLDER).glob("*.toml"))


@cache
def shipped_device(name: str) -> Device:
    if name not in shipped_names():
        fix = (
            f'known: {", ".join(shipped_names())}; another one needs a file of its own: device = "FILE" in the profile'
        )
        raise UnknownDeviceError(f"nothing is known of an accelerator {name!r}", fix=fix)
    return parse_device(files.package_text(f"{FOLDER}/{name}.toml"), f"{name}.toml")


def known_devices(settings: Settings, given: tuple[str, ...] = ()) -> tuple[Device, ...]:
    """Give all devices: those that ship, in whose place the site's and then the given ones may stand."""
    found = {name: shipped_device(name) for name in shipped_names()}
    for file in (*settings.devices, *given):
        device = read_device(file)
        found[device.name] = device
    return tuple(found.values())
