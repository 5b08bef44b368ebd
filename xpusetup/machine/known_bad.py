"""Combinations of GPU, kernel, driver and packages that are known not to work: data/known_bad.toml, and who has one.

An entry holds where each condition that it names is known and true; what was not looked at is no alarm. Drivers are
compared by their build, the third number of 25.40.35563.7, because it grows over all of their names.
"""

import datetime as dt
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Annotated

from packaging.specifiers import SpecifierSet
from packaging.version import InvalidVersion, Version

from xpusetup.base.values import Limits, Name, Sourced, Specifiers, Strict, Text
from xpusetup.config.load import parse_data
from xpusetup.machine.facts import Facts, ToolkitSeen
from xpusetup.machine.gpus import GpuTable, PciId
from xpusetup.machine.versions import COMPILERS, DRIVER_PACKAGES, LOADERS, driver_build, first_package, is_stock
from xpusetup.machine.works import fails, is_gpu_line, lists_gpu

NUMBERS = re.compile(r"\d+(?:\.\d+)*")
GUC = re.compile(r"(?i)guc firmware (?:from )?\S+ version (\d+\.\d+\.\d+)|Unsupported GuC v(\d+\.\d+\.\d+)")
SMALL = 256 << 20


@dataclass(frozen=True, kw_only=True)
class When(Strict):
    """The conditions of an entry, all of which have to hold.

    `families` are those of the GPU table by how their ids begin, `least` how many such GPUs there are at least.
    `driver` is held against the build of compute-runtime, `guc` against the firmware that the kernel names, `release`
    is a part of the kernel's whole name, `messages` a pattern for a line of what it says, `bundle` says whether the
    toolkit is PyTorch's own. `environment` are variables that are set so, `unless` those that help.
    `stock`: whether the driver is that of Ubuntu 24.04's own archive.
    `fails`: it was seen that the GPU does not work; for versions that a distribution may have mended.
    `failure` is a pattern for the line that says so; that clinfo lists no GPU is one too. `other` is a pattern for
    names of kernels that have what is lacking from elsewhere; with it a kernel whose GPU driver DKMS builds does not
    count either.
    """

    families: list[Name] = field(default_factory=list)
    devices: list[PciId] = field(default_factory=list)
    least: int = 1
    module: Name | None = None
    kernel: Specifiers | None = None
    release: Text | None = None
    messages: Text | None = None
    driver: Specifiers | None = None
    compiler: Specifiers | None = None
    loader: Specifiers | None = None
    guc: Specifiers | None = None
    toolkit: Specifiers | None = None
    bundle: bool | None = None
    distributions: dict[Name, Specifiers] = field(default_factory=dict)
    environment: dict[Text, Text] = field(default_factory=dict)
    unless: dict[Text, Text] = field(default_factory=dict)
    wsl: bool | None = None
    small_bar: bool | None = None
    stock: bool | None = None
    fails: bool = False
    failure: Text | None = None
    other: Text | None = None


@dataclass(frozen=True, kw_only=True)
class KnownBad(Sourced):
    """One combination. `since` is the day on which it was first reported, `until` when a version without it came out.

    `happens` is what one sees, `workaround` what helps; `stops`: nothing works, rather than something; `firm`: that
    Level Zero lists the GPU all the same does not speak against it. `says` are patterns of the lines by which a log
    tells of it. `about`: words of the one operation that it is about; a post that speaks of none of them, of a GPU
    that works, is not warned of it.
    """

    id: Name
    what: Text
    happens: Text
    since: dt.date | None = None
    until: dt.date | None = None
    fixed: Text | None = None
    workaround: Text
    stops: bool = False
    firm: bool = False
    says: list[Text] = field(default_factory=list)
    about: list[Text] = field(default_factory=list)
    when: When | None = None


@dataclass(frozen=True, kw_only=True)
class _BadFile(Strict):
    collected: dt.date
    bad: Annotated[list[KnownBad], Limits(min_length=1)]


def parse_known_bad(text: str, origin: str = "known_bad.toml") -> tuple[KnownBad, ...]:
    """Read data/known_bad.toml. Raises UsageError for a file that is wrong."""
    return tuple(parse_data(text, _BadFile, origin).bad)


@dataclass(frozen=True)
class Situation:
    """A machine, as far as combinations ask. `installed` are distributions that are there or will be."""

    facts: Facts
    table: GpuTable
    installed: Mapping[str, str] = field(default_factory=dict)
    toolkit: str = ""

    @cached_property
    def distributions(self) -> dict[str, str]:
        """Versions of Python's distributions: what is there, and over it what will be."""
        torch = self.facts.torch
        return {**(torch.distributions if torch else {}), **self.installed}

    def matches(self, when: When) -> bool:
        """Say whether all conditions are known and hold."""
        return all(
            (
                self._gpus(when),
                self._system(when),
                self._versions(when),
                self._shell(when),
                all(_fits(self.distributions.get(name), wanted) for name, wanted in when.distributions.items()),
            )
        )

    def has_others(self, when: When) -> bool:
        """Say whether GPUs are known, none of them one of which an entry speaks."""
        hardware = self.facts.hardware
        known = any(gpu.vendor == "8086" for gpu in (hardware.gpus if hardware else []))
        return known and not self._gpus(When(families=when.families, devices=when.devices))

    def _gpus(self, when: When) -> bool:
        if not when.families and not when.devices:
            return True
        hardware = self.facts.hardware
        given = "vfio-pci"  # to a virtual machine: it is not here
        found = [gpu for gpu in (hardware.gpus if hardware else []) if gpu.vendor == "8086" and gpu.driver != given]
        mine = [gpu for gpu in found if gpu.device in when.devices or self._family(gpu.device).startswith(_any(when))]
        driven = [gpu for gpu in mine if when.module in (None, gpu.driver)]
        small = [gpu for gpu in driven if when.small_bar is None or (gpu.bar is not None and gpu.bar <= SMALL)]
        return len(small) >= when.least

    def _family(self, device: str) -> str:
        product = self.table.find("8086", device)
        return product.family.id if product else ""

    def _system(self, when: When) -> bool:
        kernel = (
            self.facts.kernel.release if self.facts.kernel else self.facts.system.kernel if self.facts.system else ""
        )
        return (
            _fits(_numbers(kernel) if kernel != "0" else "", when.kernel)
            and (when.release is None or when.release in kernel)
            and (when.messages is None or any(re.search(when.messages, line) for line in self._messages()))
            and (when.wsl is None or when.wsl == self.facts.in_wsl)
            and (not when.fails or fails(self.facts))
            and (when.failure is None or self._fails_so(when.failure))
            and (when.other is None or not self._has_other(when.other, kernel))
        )

    def _fails_so(self, form: str) -> bool:
        """Say whether a line tells of such a failure, or clinfo lists no GPU."""
        shown = self.facts.userland.clinfo if self.facts.userland else None
        blank = shown is not None and not any(map(is_gpu_line, shown)) and not lists_gpu(self.facts)
        return blank or re.search(form, self.facts.refused) is not None

    def _has_other(self, form: str, kernel: str) -> bool:
        """Say whether the driver of the GPU is not that of the kernel's own release."""
        packages = (self.facts.userland.packages or {}) if self.facts.userland else {}
        built = self.facts.kernel.dkms if self.facts.kernel else ()
        return bool(built) or "intel-i915-dkms" in packages or re.search(form, kernel) is not None

    def _versions(self, when: When) -> bool:
        build = driver_build(self.facts)
        kits = self.facts.toolkits
        kit = next((kit for kit in (kits.found if kits else []) if kit.version), None)
        toolkit = self.toolkit or (kit.version if kit else "")
        return (
            _fits(str(build) if build else "", when.driver)
            and (when.stock is None or when.stock == is_stock(first_package(self.facts, DRIVER_PACKAGES)))
            and _fits(first_package(self.facts, COMPILERS), when.compiler)
            and _fits(first_package(self.facts, LOADERS), when.loader)
            and _fits(self._guc(), when.guc)
            and _fits(toolkit, when.toolkit)
            and (when.bundle is None or (kit is not None and _is_bundle(kit) == when.bundle))
        )

    def _messages(self) -> list[str]:
        return (self.facts.kernel.messages or []) if self.facts.kernel else []

    def _guc(self) -> str:
        found = [match[1] or match[2] for line in self._messages() if (match := GUC.search(line))]
        return found[-1] if found else ""

    def _shell(self, when: When) -> bool:
        there = self.facts.environment or {}
        helped = any(there.get(name) == value for name, value in when.unless.items())
        return not helped and all(there.get(name) == value for name, value in when.environment.items())


def _is_bundle(kit: ToolkitSeen) -> bool:
    """Say whether a toolkit is the bundle that PyTorch's own guides of 2.4 and 2.5 name."""
    return any("pytorch-gpu-dev" in path for path in (kit.root, kit.compiler, *kit.scripts))


def _numbers(version: str) -> str:
    """Give the numbers with which a version begins: 6.12.0-rc2 is a kernel 6.12 in what it does."""
    found = NUMBERS.match(version)
    return found[0] if found else ""


def _any(when: When) -> tuple[str, ...]:
    return tuple(when.families) or ("\0",)


def _fits(version: str | None, wanted: str | None) -> bool:
    """Say whether a version is known and within what is wanted; nothing wanted fits all."""
    if wanted is None:
        return True
    try:
        return SpecifierSet(wanted).contains(Version(version or "").public, prereleases=True)
    except InvalidVersion:
        found = NUMBERS.search((version or "").rpartition(":")[2])
        return found is not None and SpecifierSet(wanted).contains(found[0], prereleases=True)


def find_known_bad(table: Iterable[KnownBad], situation: Situation) -> list[KnownBad]:
    """Give the entries that a machine has, what stops everything first."""
    found = [each for each in table if each.when is not None and situation.matches(each.when)]
    return sorted(found, key=lambda each: not each.stops)


def find_said(table: Iterable[KnownBad], lines: Sequence[str]) -> list[KnownBad]:
    """Give the entries of which lines of a log tell."""
    return [each for each in table if any(re.search(said, line) for said in each.says for line in lines)]


ASSIGNED = re.compile(r"\b[A-Z][A-Za-z_]{6,}=\w+")


def concerns(each: KnownBad, lines: Sequence[str], *, works: bool) -> bool:
    """Say whether a post may be about an entry: it has not what helps, and where its GPU works it speaks of it."""
    helps = {f"{name}={value}" for name, value in (each.when.unless if each.when else {}).items()}
    helps |= set(ASSIGNED.findall(each.workaround))
    text = "\n".join(lines)
    if any(one in text and re.search(rf"(?<!\w){re.escape(one)}(?!\w)", text) for one in helps):
        return False
    if each.stops or not each.about or not works:
        return True
    forms = [re.compile(form, re.IGNORECASE) for form in each.about]
    return any(is_told(line) and any(form.search(line) for form in forms) for line in lines)


LISTS = re.compile(
    r"\bgrep\b|\b(?:pip3?|conda|mamba)\s+(?:list|freeze|show|install)\b|\bdpkg -l\b|\brpm -q|\bpacman -Q"
)


def is_told(line: str) -> bool:
    """Say whether a line is more than a row of a list of packages, which tells of no use of them."""
    return not LISTS.search(line) and not re.match(r"\s*(?:[-+~] )?[\w.-]+(?:==|\s{2,}|\s)v?\d[\w.+-]*(?:\s|$)", line)
