"""The accelerators that are known by PCI id, and the words by which ocloc takes their targets."""

from __future__ import annotations

import datetime as dt
import re
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import TYPE_CHECKING, Annotated, Literal, TypeVar

from packaging.version import Version

from xpusetup.base.errors import UsageError
from xpusetup.base.model import NONE
from xpusetup.base.text import hint_at_nearest
from xpusetup.base.values import Limits, Name, Ocloc, Operand, Sourced, Strict, Text
from xpusetup.config.load import parse_data

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence

    from xpusetup.config.profile import Arch, Profile
    from xpusetup.config.settings import Settings
    from xpusetup.machine.first_releases import FirstTable


# The words by which ocloc takes device targets: data/targets.toml as values, and which of them a release takes.
#
# Words: a *target* is such a word; the *ocloc* of a release is the newest of its toolkit, as far as known.


ONLY_XE = ("bmg", "lnl", "ptl", "wcl", "nvl", "cri")
"""Families that i915 never drove."""


@dataclass(frozen=True, kw_only=True)
class _Release(Strict):
    release: Ocloc
    names: list[Operand]


@dataclass(frozen=True, kw_only=True)
class _TargetFile(Strict):
    collected: dt.date
    source: Text
    ocloc: list[_Release]


@dataclass(frozen=True)
class TargetTable:
    """Every target that an ocloc takes, with the release that had it first."""

    first: Mapping[str, str]


def parse_targets(text: str, origin: str = "targets.toml") -> TargetTable:
    """Read data/targets.toml. Raises UsageError for a file that is wrong."""
    file = parse_data(text, _TargetFile, origin)
    return TargetTable({name: each.release for each in file.ocloc for name in each.names})


def check_targets(profile: Profile, asked: Sequence[str], settings: Settings, table: TargetTable) -> None:
    """Refuse device targets that a release cannot be compiled for: those of the option, else of a settings file.

    Raises UsageError. What another accelerator's compiler knows is left to it.
    """
    if faults := find_faults(profile, tuple(asked or settings.arch), table):
        where = "" if asked else f"arch in {settings.origins.get('arch', 'the settings')}: "
        raise UsageError("\n".join(f"{where}{fault}" for fault in faults), fix=what_works(profile))


def find_faults(profile: Profile, targets: Sequence[str], table: TargetTable) -> tuple[str, ...]:
    """Say why a release cannot be compiled for targets; nothing where it can."""
    arch = profile.arch
    if arch is None or profile.accelerator != "xpu":
        return ()
    if NONE in targets and len(set(targets)) > 1:
        return (f"{NONE} is the whole list or no part of it",)
    found = (_find_fault(profile.name, arch, target, table) for target in targets)
    return tuple(dict.fromkeys(filter(None, found)))


OF_OCLOC_ALONE = re.compile(r"(?i)0x[0-9a-f]{4}|\d+\.\d+\.\d+|(?=.)[\w.-]*:[\w.-]*")
"""An id, a version or a range of GPUs, each of which ocloc takes in a list (26.27)."""


def _find_fault(name: str, arch: Arch, target: str, table: TargetTable) -> str:
    if target in arch.default or (target == NONE and arch.none):
        return ""
    if target == NONE:
        return f"{name} does not know the word none: its sources would hand it to ocloc"
    first = table.first.get(target)
    if first is None:
        return _describe_unknown(target, arch, table)
    if arch.ocloc and Version(first) > Version(arch.ocloc):
        known = f"ocloc knows that word from {first} on, and the one of this release is {arch.ocloc} or older"
        return f"{name} cannot be compiled for {target}: {known}"
    return ""


def _describe_unknown(target: str, arch: Arch, table: TargetTable) -> str:
    """Say what is wrong with a word that is not in the table: ocloc takes more spellings than PyTorch's build."""
    plain = target.lower().replace("_", "-")
    if plain in table.first:
        return f"{target!r} is {plain} for ocloc, and PyTorch's build compares words: write {plain}"
    if OF_OCLOC_ALONE.fullmatch(target):
        return f"{target!r} is no name of a GPU: ocloc takes ids, versions and ranges, PyTorch's build names"
    return f"{target!r} is not a known device target{_hint(target, arch, table)}"


def check_words(words: Iterable[str], table: TargetTable) -> None:
    """Refuse words that no ocloc ever took. Raises UsageError."""
    unknown = [word for word in words if word not in table.first]
    if unknown:
        message = f"{unknown[0]!r} is not a known device target{hint_at_nearest(unknown[0], table.first)}"
        raise UsageError(message, fix="words of ocloc, as in: --arch pvc,bmg")


def foreign_targets(profile: Profile, targets: Iterable[str], table: TargetTable, gpus: GpuTable) -> str:
    """Say which targets none of the release's own code would serve: nobody is known to have compiled it for them."""
    if profile.arch is None or profile.accelerator != "xpu":
        return ""
    listed = profile.arch.default
    served = {name for family in gpus.families if family.target_in(listed) for name in family.targets}
    foreign = [each for each in targets if each not in {*listed, *served, NONE}]
    if not foreign:
        return ""
    since = ", ".join(f"{each} (in ocloc since {table.first.get(each, '?')})" for each in foreign)
    return f"no target of {profile.name} itself: {since}; an older ocloc stops the build at it"


def _hint(target: str, arch: Arch, table: TargetTable) -> str:
    """Give the nearest word that this release takes, its own before others."""
    taken = [name for name in table.first if not _find_fault("", arch, name, table)]
    return hint_at_nearest(target, arch.default) or hint_at_nearest(target, taken)


def what_works(profile: Profile) -> str:
    if profile.arch is None:
        return f"leave --arch out: {profile.name} has no list of device targets"
    none = f"; or {NONE}, for generic code alone" if profile.arch.none else ""
    return f"targets of {profile.name}: {', '.join(profile.arch.default)}{none}"


# What the code for a target costs: data/target_costs.toml as values.


@dataclass(frozen=True, kw_only=True)
class TargetCost(Strict):
    """What was measured for a target: the GPU's version in the images, their size, the processor's time of ocloc."""

    target: Operand
    image: Text
    kib: Annotated[int, Limits(gt=0)]
    seconds: Annotated[float, Limits(gt=0)]


@dataclass(frozen=True, kw_only=True)
class TargetCosts(Sourced):
    """What code for a device target costs, on these kernels and by this compiler alone."""

    kernels: Text
    compiler: Text
    cost: list[TargetCost]

    def of(self, targets: Sequence[str]) -> TargetCosts:
        """Give what was measured for these targets, in their order."""
        known = {each.target: each for each in self.cost}
        return replace(self, cost=[known[name] for name in targets if name in known])

    def describe(self, targets: Sequence[str]) -> str:
        """Say what was measured for these targets; empty where nothing was."""
        rows = [f"{each.target} {each.kib} KiB {each.seconds} s" for each in self.of(targets).cost]
        rest = [name for name in targets if name not in {each.target for each in self.cost} and name != NONE]
        left = f"; not measured: {', '.join(rest)}" if rest else ""
        what = f"size of the code and time of ocloc for {self.kernels}, not for torch"
        return f"{what}: {', '.join(rows)}{left}" if rows else ""


def parse_costs(text: str, origin: str = "target_costs.toml") -> TargetCosts:
    """Read data/target_costs.toml. Raises UsageError for a file that is wrong."""
    return parse_data(text, TargetCosts, origin)


# The accelerators that are known by PCI id: data/gpus.toml as values.
#
# Words: a *family* is what one compiler target serves, with its products; a *target* is a spelling by which a
# release's list of ahead-of-time targets names the family.


T = TypeVar("T")
LEGACY = ("16", "19", "31", "3e", "45", "4e", "59", "5a", "87", "8a", "9b")
"""How Intel's ids of Gen8, Gen9 and Gen11 graphics begin (Broadwell to Jasper Lake)."""
OLDEST = ("0042", "0046", "01", "04", "0a", "0d", "0f", "22b")
"""How ids of what is older begin (Ironlake to Haswell, Bay Trail, Braswell), which no compute-runtime ever served."""
LEGACY_TITLES = re.compile(
    r"(?i)\b(?:broadwell|sky ?lake|kaby ?lake|coffee ?lake|whiskey ?lake|comet ?lake|amber ?lake|apollo ?lake|broxton"
    r"|gemini ?lake|ice ?lake|jasper ?lake|elkhart ?lake|HD Graphics [56]\d\d\d?\b|HD Graphics P5[35]0"
    r"|U?HD Graphics (?:P?6[0-35]\d)\b|Iris Plus Graphics|Iris (?:Pro )?(?:Graphics )?(?:5[458]0|6100|6200|P6300))"
)
OLDEST_TITLES = re.compile(
    r"(?i)\b(?:haswell|ivy ?bridge|sandy ?bridge|ironlake|bay ?trail|cherry ?(?:trail|view)|braswell|valley ?view)"
    r"|\bZ3[67]xxx|\bx5-(?:E|Z)8|\b(?:2nd|3rd|4th) Gen(?:eration)? Core|\bE3-1200 v[23]\b"
    r"|\bHD Graphics (?:[234]\d00|P4[06]00)\b"
)
"""What lspci calls such graphics, for lists without ids."""
MAKERS = {"10de": "NVIDIA", "1002": "AMD"}
"""Whose GPUs are named though no release here is made for them."""
PciId = Annotated[str, Limits(pattern=r"^[0-9a-f]{4}$")]


def age_of(device: str, name: str = "") -> Literal["", "legacy", "oldest"]:
    """Say whether Intel graphics are before Gen12 ("legacy"), or before all that compute-runtime knew ("oldest").

    `device` is the PCI id; where it is empty, `name` is what lspci calls it.
    """
    if device:
        return "oldest" if device.startswith(OLDEST) else "legacy" if device.startswith(LEGACY) else ""
    plain = re.sub(r"\((?:R|TM|C)\)", "", name, flags=re.IGNORECASE)
    return "oldest" if OLDEST_TITLES.search(plain) else "legacy" if LEGACY_TITLES.search(plain) else ""


@dataclass(frozen=True, kw_only=True)
class Family(Sourced):
    """Devices that one compiler target serves. `native_fp64` is None where no source says it.

    `unnamed` are ids whose product has no name of its own (yet); `targets` begin with the closest.
    """

    id: Name
    name: Text
    vendor: PciId
    accelerator: Name
    architecture: Text
    device: Operand = ""
    targets: list[Operand] = field(default_factory=list)
    discrete: bool
    native_fp64: bool | None = None
    unnamed: list[PciId] = field(default_factory=list)
    products: dict[Text, list[PciId]] = field(default_factory=dict)

    def ids(self) -> Iterator[tuple[str, str]]:
        """Give (id, product) of everything in the family; a product without a name is empty."""
        yield from ((each, "") for each in self.unnamed)
        yield from ((each, product) for product, ids in self.products.items() for each in ids)

    def target_in(self, known: Iterable[str]) -> str:
        """Give the spelling of this family in a list of targets; empty where the list leaves it out."""
        return next((target for target in self.targets if target in set(known)), "")


@dataclass(frozen=True)
class GpuProduct:
    """One id looked up."""

    family: Family
    name: str

    def title(self) -> str:
        """Give the words by which people know it, as in "Arc B580 (Battlemage)"."""
        plain = "Graphics" if not self.family.discrete else "GPU"
        if self.family.name in self.name:
            return self.name
        return f"{self.name or f'Intel {plain}'} ({self.family.name})"


@dataclass(frozen=True, kw_only=True)
class _GpuFile(Strict):
    collected: dt.date
    family: list[Family]


@dataclass(frozen=True)
class GpuTable:
    """All families, the day on which the table was collected, and the first releases of the parts that serve them."""

    collected: dt.date
    families: tuple[Family, ...]
    products: dict[tuple[str, str], GpuProduct]
    firsts: FirstTable | None = None

    def find(self, vendor: str, device: str) -> GpuProduct | None:
        return self.products.get((vendor, device))

    @cached_property
    def named(self) -> list[tuple[str, str]]:
        """The names of Intel's products that hold a number, in lower case, each with its PCI id."""
        pairs = [(each.name.lower(), device) for (vendor, device), each in self.products.items() if vendor == "8086"]
        return [(name, device) for name, device in pairs if re.search(r"\d", name)]


def parse_gpus(text: str, origin: str = "gpus.toml") -> GpuTable:
    """Read data/gpus.toml. Raises UsageError for a file that is wrong, and for an id that stands twice."""
    file = parse_data(text, _GpuFile, origin)
    return GpuTable(file.collected, tuple(file.family), _index(file.family, origin))


def _index(families: list[Family], origin: str) -> dict[tuple[str, str], GpuProduct]:
    products: dict[tuple[str, str], GpuProduct] = {}
    for family in families:
        for device, name in family.ids():
            if (other := products.get((family.vendor, device))) is not None:
                message = f"{origin}: {family.vendor}:{device} stands in {other.family.id} and in {family.id}"
                raise UsageError(message, fix=f"correct {origin}")
            products[family.vendor, device] = GpuProduct(family, name)
    return products


def hide_integrated(those: Sequence[T], family: Callable[[T], Family]) -> tuple[T, ...]:
    """Give those that PyTorch would use: it leaves integrated ones out where there are others."""
    return tuple(each for each in those if family(each).discrete) or tuple(those)


# A GPU by the name that a program or a person gives it.


HEX = re.compile(r"\[?0x([0-9a-f]{4})\]?|\[[0-9a-f]{4}:([0-9a-f]{4})\]", re.IGNORECASE)
NEW = ("e2", "b0", "d7", "64", "7d")
"""How ids of Intel's GPUs since Meteor Lake begin, of which the table may not have all."""


def find_devices(names: Collection[str], table: GpuTable) -> list[str]:
    """Give the PCI ids of GPUs by the names that programs or people give them."""
    return [found for name in names if (found := find_device(name, table))]


def find_device(name: str, table: GpuTable) -> str:
    """Give the PCI id of a GPU by the name that a program gives it; empty where the name says no product."""
    found = HEX.search(name)
    device = (found[1] or found[2]).lower() if found else ""
    if device and (table.find("8086", device) or device.startswith(NEW)):
        return device
    plain = _plain(name)
    held = [(title, device) for title, device in table.named if title in plain]
    known = [pair for pair in held if re.search(rf"\b{re.escape(pair[0])}\b", plain)]
    return max(known, key=lambda pair: len(pair[0]), default=("", ""))[1]


def _plain(name: str) -> str:
    return re.sub(r"\s+", " ", re.sub(r"\((?:R|TM|r|tm)\)|[\[\]()]", " ", name)).strip().lower()
