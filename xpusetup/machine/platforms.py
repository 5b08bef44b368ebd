"""What stands between a GPU and PyTorch (data/platforms.toml), and where it is from (data/distributions.toml).

Words: a *platform* is a group of GPU families that need the same kernel and driver; a *line* is one of Intel's two ways
of packaging drivers.
"""

import datetime as dt
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Annotated, Literal

from xpusetup.base.values import Limits, Name, Operand, Sourced, Specifiers, Strict, Text, VersionText
from xpusetup.config.load import parse_data
from xpusetup.machine.gpus import PciId

Line = Literal["client", "data-center"]
Route = Literal["wheel", "image", "build", "none"]
Manager = Literal["apt", "dnf", "zypper", "pacman"]
ROLLING = "rolling"
"""The version of a distribution that has none."""
Argv = list[Text]


@dataclass(frozen=True, kw_only=True)
class FirstRelease(Sourced):
    """The first release of PyTorch that documents a platform."""

    first: VersionText


@dataclass(frozen=True, kw_only=True)
class KeptToolkits(Sourced):
    """The versions of oneAPI that are kept up for a platform, and why only these."""

    accepts: Specifiers
    why: Text


@dataclass(frozen=True, kw_only=True)
class Platform(Sourced):
    """GPU families that need the same. `too_old` are user-mode drivers that do not know it.

    `undocumented` says why no release is made for it, where none is. `devices` are ids that need something else than
    the rest of their family.
    """

    name: Text
    families: list[Name] = field(default_factory=list)
    devices: list[PciId] = field(default_factory=list)
    line: Line
    drivers: list[Name]
    undocumented: Text = ""
    too_old: list[VersionText] = field(default_factory=list)
    release: FirstRelease | None = None
    toolkits: KeptToolkits | None = None


@dataclass(frozen=True, kw_only=True)
class OtherRoute(Sourced):
    """Accelerators for which something else than a profile of ours is the shortest way.

    `plugin` is the distribution that brings torch to them, `prove` what Python shows with it.
    """

    families: Annotated[list[Name], Limits(min_length=1)]
    route: Route
    title: Text
    commands: list[Text] = field(default_factory=list)
    plugin: Text = ""
    prove: Text = ""
    why: Text


@dataclass(frozen=True, kw_only=True)
class Needs(Sourced):
    """A distribution that asks for releases of torch."""

    distribution: Name
    version: Specifiers
    torch: Specifiers
    why: Text


@dataclass(frozen=True, kw_only=True)
class ToolkitInstaller(Strict):
    """An installer of oneAPI that needs neither root nor a repository, nor a network once it is there."""

    toolkit: VersionText
    url: Operand

    @property
    def file(self) -> str:
        """The name of the file that is downloaded."""
        return self.url.rsplit("/", 1)[-1]


@dataclass(frozen=True, kw_only=True)
class PlatformTable(Strict):
    """data/platforms.toml, with the day on which it was collected."""

    collected: dt.date
    platform: list[Platform]
    elsewhere: list[OtherRoute] = field(default_factory=list)
    needs: list[Needs] = field(default_factory=list)
    installer: list[ToolkitInstaller] = field(default_factory=list)

    def of_family(self, family: str) -> Platform | None:
        """Give the platform of a GPU family."""
        return next((each for each in self.platform if family in each.families), None)

    def of_device(self, device: str, family: str) -> Platform | None:
        """Give the platform of a GPU by its id, else by its family."""
        return next((each for each in self.platform if device in each.devices), None) or self.of_family(family)

    def installer_of(self, kind: str, version: str) -> ToolkitInstaller | None:
        """Give the installer of a toolkit; they are oneAPI's alone."""
        return next((each for each in self.installer if kind == "oneapi" and each.toolkit == version), None)

    def elsewhere_for(self, family: str) -> OtherRoute | None:
        """Give the way of an accelerator that no profile of ours serves."""
        return next((each for each in self.elsewhere if family in each.families), None)


@dataclass(frozen=True, kw_only=True)
class KernelPackages(Sourced):
    """A newer kernel: what makes it known, the package manager's options, the packages, the version at least."""

    version: VersionText
    prepare: list[Argv] = field(default_factory=list)
    options: list[Text] = field(default_factory=list)
    packages: Annotated[list[Operand], Limits(min_length=1)]


@dataclass(frozen=True, kw_only=True)
class DriverPackages(Strict):
    """One line of drivers on one distribution; `prepare` is empty where the distribution itself has them.

    `releases` are those that this line is made for, empty for all of the distribution's.
    """

    prepare: list[Argv] = field(default_factory=list)
    releases: list[VersionText] = field(default_factory=list)
    headers: list[Operand] = field(default_factory=list)
    kernel_driver: list[Operand] = field(default_factory=list)
    packages: Annotated[list[Operand], Limits(min_length=1)]
    build: list[Operand] = field(default_factory=list)


@dataclass(frozen=True, kw_only=True)
class LinuxDistribution(Sourced):
    """Where a distribution has kernel and drivers from. `releases` are those that the repository has, empty for all.

    `also` are other systems that take the same packages and count their versions otherwise, as linuxmint-22. `alone`:
    what only names it as what it is like does not have its packages. `kernel_say` is what to do for a newer kernel than
    its packages have, `groups_say` how a <user> joins groups where usermod does not last. Without a manager nothing is
    installed by commands.
    """

    id: Name
    name: Text
    family: Name
    version: Text
    manager: Manager | None = None
    releases: list[VersionText] = field(default_factory=list)
    also: list[Name] = field(default_factory=list)
    alone: bool = False
    drivers_say: Text = ""
    kernel_say: Text = ""
    groups_say: Text = ""
    kernel: KernelPackages | None = None
    drivers: dict[Line, DriverPackages] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class DistributionTable(Strict):
    """data/distributions.toml, with the day on which it was collected."""

    collected: dt.date
    distribution: list[LinuxDistribution]

    def find(self, families: Iterable[str], version: str | None) -> LinuxDistribution | None:
        """Give a distribution by os-release's ID and ID_LIKE and its version, a derived one by what it is made from.

        The version of what only rolls is a day (Tumbleweed), or a number of the derived one's own (Manjaro).
        """
        names = tuple(families)
        told = version or ROLLING
        own = next((each for each in self.distribution if _is_any(names[:1], told, each.also)), None)
        pairs = ((family, each) for family in names for each in self.distribution)
        taken = (each for family, each in pairs if family == each.family and (not each.alone or family == names[0]))
        return own or next((each for each in taken if self._fits(each, told)), None)

    def _fits(self, each: LinuxDistribution, told: str) -> bool:
        """Say whether a version is one of a distribution: what only rolls is always it."""
        rolls = all(other.version == ROLLING for other in self.distribution if other.family == each.family)
        return rolls or _is_of(told, each.version)


def _is_of(told: str, version: str) -> bool:
    """Say whether a version is a release or one of its parts: 9.6 of 9."""
    return told == version or told.startswith(f"{version}.")


def _is_any(names: tuple[str, ...], told: str, also: Iterable[str]) -> bool:
    """Say whether a system is one of those that are named with their release, as linuxmint-22."""
    pairs = (each.rpartition("-") for each in also)
    return any(name in names and _is_of(told, version) for name, _, version in pairs)


def parse_platforms(text: str) -> PlatformTable:
    """Read data/platforms.toml. Raises UsageError with all errors of the file."""
    return parse_data(text, PlatformTable, "platforms.toml")


def parse_distributions(text: str) -> DistributionTable:
    """Read data/distributions.toml. Raises UsageError with all errors of the file."""
    return parse_data(text, DistributionTable, "distributions.toml")
