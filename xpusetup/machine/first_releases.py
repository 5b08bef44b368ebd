"""The first release of each part that serves a GPU, and what systems hold: data/first_releases.toml as values.

Words: a *part* is what stands between a GPU and a program: kernel, driver, graphics compiler, firmware, toolkit, torch.
"""

import datetime as dt
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Annotated, Literal

from packaging.version import InvalidVersion, Version

from xpusetup.base.values import Limits, Name, Operand, Sourced, Strict, Text
from xpusetup.config.load import parse_data

Part = Literal["kernel", "driver", "compiler", "firmware", "toolkit", "torch", "ipex"]
Number = Annotated[str, Limits(pattern=r"^\d{1,8}(?:\.\d{1,5}){0,3}$")]
"""A version as its maker writes it: 24.04 has a zero."""
PciId = Annotated[str, Limits(pattern=r"^[0-9a-f]{4}$")]
Build = Annotated[int, Limits(ge=10000, le=99999)]


@dataclass(frozen=True, kw_only=True)
class First(Sourced):
    """The first release of a part that serves a family.

    `build` is compute-runtime's own number of it. `forced` is the first kernel that has the driver and waits for
    force_probe, `module` that driver, `by_distribution` what a distribution brought earlier.
    """

    first: Number
    build: Build | None = None
    forced: Number | None = None
    module: Literal["i915", "xe"] | None = None
    by_distribution: dict[Name, Number] = field(default_factory=dict)

    def on(self, families: Iterable[str]) -> Number:
        """Give the first release on a system of these families."""
        return next((self.by_distribution[each] for each in families if each in self.by_distribution), self.first)

    def say(self, families: Iterable[str]) -> str:
        """Give the first release as it is told: of a distribution that brought it earlier, with that one's own."""
        own = next((each for each in families if each in self.by_distribution), "")
        return f"{self.first} (of {own.title()}: {self.by_distribution[own]})" if own else self.first


@dataclass(frozen=True, kw_only=True)
class FirstReleases(Strict):
    """The parts of one group of families."""

    families: Annotated[list[Name], Limits(min_length=1)]
    kernel: First | None = None
    driver: First | None = None
    compiler: First | None = None
    firmware: First | None = None
    toolkit: First | None = None
    torch: First | None = None
    ipex: First | None = None

    def part(self, name: Part) -> First | None:
        found: First | None = getattr(self, name)
        return found


@dataclass(frozen=True, kw_only=True)
class DeviceReleases(Strict):
    """The parts of single devices, where they are other ones than their family's, or there is no family of them."""

    name: Text
    ids: Annotated[list[PciId], Limits(min_length=1)]
    kernel: First | None = None
    driver: First | None = None


@dataclass(frozen=True, kw_only=True)
class SystemParts(Sourced):
    """A release of a distribution: its first and newest kernel, and the driver of its archive."""

    family: Name
    version: Number
    kernel: Number
    newest: Number | None = None
    driver: Number | None = None


@dataclass(frozen=True, kw_only=True)
class ImageDriver(Sourced):
    """An image of containers: in tags before a version its driver is of a build at most."""

    name: Operand
    before: Number
    build: Build


@dataclass(frozen=True, kw_only=True)
class Pair(Sourced):
    """From this build of the driver on, the graphics compiler is of this version or newer."""

    driver: Build
    compiler: Number


@dataclass(frozen=True, kw_only=True)
class SyclDriver(Sourced):
    """A run time of SYCL, the releases of torch that pin it, and the newest driver on its day."""

    sycl: Number
    torch: list[Number] = field(default_factory=list)
    driver: Number
    build: Build


@dataclass(frozen=True, kw_only=True)
class FirstTable(Strict):
    """data/first_releases.toml, with the day on which it was collected."""

    collected: dt.date
    family: Annotated[list[FirstReleases], Limits(min_length=1)]
    device: list[DeviceReleases] = field(default_factory=list)
    system: list[SystemParts] = field(default_factory=list)
    image: list[ImageDriver] = field(default_factory=list)
    pair: list[Pair] = field(default_factory=list)
    sycl: list[SyclDriver] = field(default_factory=list)

    def of_family(self, family: str, part: Part) -> First | None:
        """Give the first release of a part that serves a family of GPUs."""
        found = next((each for each in self.family if family in each.families), None)
        return found.part(part) if found else None

    def of_device(self, device: str, part: Part) -> First | None:
        """Give the first release of a part that serves one device, where that is known of this very device."""
        found = next((each for each in self.device if device in each.ids), None)
        return {"kernel": found.kernel, "driver": found.driver}.get(part) if found else None

    def of_system(self, families: Iterable[str], version: str) -> SystemParts | None:
        """Give what a release of a distribution has, by os-release's ID and version."""
        own = next(iter(families), "")
        return next((e for e in self.system if e.family == own and f"{version}.".startswith(f"{e.version}.")), None)

    def of_image(self, image: str) -> ImageDriver | None:
        """Give what is known of the driver in an image, by its name and the version that its tag begins with."""
        name, _, tag = image.removeprefix("docker.io/").partition(":")
        try:
            version = Version(tag.partition("-")[0])
        except InvalidVersion:
            return None
        known = [each for each in self.image if each.name == name and version < Version(each.before)]
        return min(known, key=lambda each: Version(each.before), default=None)

    def compiler_for(self, build: int) -> Pair | None:
        """Give the graphics compiler that a build of the driver wants at least."""
        return max((e for e in self.pair if e.driver <= build), key=lambda e: e.driver, default=None)

    def driver_beside(self, sycl: str, torch: str) -> SyclDriver | None:
        """Return the row of a SYCL run time: the newest that is not after `sycl`, else that of the release of torch."""
        if not sycl:
            return next((each for each in self.sycl if _minor(torch) in each.torch), None)
        there = [each for each in self.sycl if Version(each.sycl) <= Version(sycl)]
        return max(there, key=lambda each: Version(each.sycl), default=None)


def _minor(version: str) -> str:
    return ".".join(version.split(".")[:2])


def parse_firsts(text: str, origin: str = "first_releases.toml") -> FirstTable:
    """Read data/first_releases.toml. Raises UsageError for a file that is wrong."""
    return parse_data(text, FirstTable, origin)
