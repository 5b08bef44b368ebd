"""The accelerators that are known by PCI id: data/gpus.toml as values.

Words: a *family* is what one compiler target serves, with its products; a *target* is a spelling by which a release's
list of ahead-of-time targets names the family.
"""

from __future__ import annotations

import datetime as dt
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, TypeVar

from pydantic import Field

from xpusetup.errors import UsageError
from xpusetup.load import parse_data
from xpusetup.values import Name, Operand, Sourced, Strict, Text

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

T = TypeVar("T")
LEGACY = ("16", "19", "31", "3e", "45", "4e", "59", "5a", "87", "8a", "9b")
"""How Intel's ids of Gen8, Gen9 and Gen11 graphics begin (Broadwell to Jasper Lake)."""
MAKERS = {"10de": "NVIDIA", "1002": "AMD"}
"""Whose GPUs are named though no release here is made for them."""
PciId = Annotated[str, Field(pattern=r"^[0-9a-f]{4}$")]


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
    targets: list[Operand] = []
    discrete: bool
    native_fp64: bool | None = None
    unnamed: list[PciId] = []
    products: dict[Text, list[PciId]] = {}

    def ids(self) -> Iterator[tuple[str, str]]:
        """Give (id, product) of everything in the family; a product without a name is empty."""
        yield from ((each, "") for each in self.unnamed)
        yield from ((each, product) for product, ids in self.products.items() for each in ids)

    def target_in(self, known: Iterable[str]) -> str:
        """Give the spelling of this family in a list of targets; empty where the list leaves it out."""
        return next((target for target in self.targets if target in set(known)), "")


@dataclass(frozen=True)
class Product:
    """One id looked up."""

    family: Family
    name: str

    def title(self) -> str:
        """Give the words by which people know it, as in "Arc B580 (Battlemage)"."""
        plain = "Graphics" if not self.family.discrete else "GPU"
        if self.family.name in self.name:
            return self.name
        return f"{self.name or f'Intel {plain}'} ({self.family.name})"


class _GpuFile(Strict):
    collected: dt.date
    family: list[Family]


@dataclass(frozen=True)
class GpuTable:
    """All families, and the day on which the table was collected."""

    collected: dt.date
    families: tuple[Family, ...]
    products: dict[tuple[str, str], Product]

    def find(self, vendor: str, device: str) -> Product | None:
        """Look an id up; None for one that the table does not have."""
        return self.products.get((vendor, device))


def parse_gpus(text: str, origin: str = "gpus.toml") -> GpuTable:
    """Read data/gpus.toml. Raises UsageError for a file that is wrong, and for an id that stands twice."""
    file = parse_data(text, _GpuFile, origin)
    return GpuTable(file.collected, tuple(file.family), _index(file.family, origin))


def _index(families: list[Family], origin: str) -> dict[tuple[str, str], Product]:
    products: dict[tuple[str, str], Product] = {}
    for family in families:
        for device, name in family.ids():
            if (other := products.get((family.vendor, device))) is not None:
                message = f"{origin}: {family.vendor}:{device} stands in {other.family.id} and in {family.id}"
                raise UsageError(message, fix=f"mend {origin}")
            products[family.vendor, device] = Product(family, name)
    return products


def hide_integrated(those: Sequence[T], family: Callable[[T], Family]) -> tuple[T, ...]:
    """Give those that PyTorch would use: it leaves integrated ones out where there are others."""
    return tuple(each for each in those if family(each).discrete) or tuple(those)
