"""What cannot stand beside a distribution in one environment, and why."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from packaging.utils import canonicalize_name

if TYPE_CHECKING:
    from collections.abc import Iterable

TRITONS = ("triton", "triton-xpu", "pytorch-triton", "pytorch-triton-xpu", "pytorch-triton-rocm", "triton-rocm")
"""All that install the package folder `triton`."""

EXTENSIONS = (
    "intel-extension-for-pytorch",
    "intel-extension-for-deepspeed",
    "oneccl-bind-pt",
    "oneccl-bindings-for-pytorch",
)
"""What served XPU before PyTorch did: each release is compiled for one of torch, and registers the same device."""


@dataclass(frozen=True)
class Conflict:
    """Distributions that have to go before `of` is installed, and the reason."""

    of: str
    why: str
    names: tuple[str, ...]


def conflicts_of(distribution: str, accelerator: str) -> tuple[Conflict, ...]:
    """Give what cannot stand beside a distribution."""
    name = canonicalize_name(distribution)
    if name in TRITONS:
        others = tuple(other for other in TRITONS if other != name)
        return (Conflict(name, f"it owns the package folder triton, as {name} does", others),)
    if name == "torch" and accelerator == "xpu":
        return (
            Conflict(name, "it is compiled for another torch, and this one has XPU support of its own", EXTENSIONS),
        )
    return ()


def conflicts_among(distributions: Iterable[str], accelerator: str) -> tuple[Conflict, ...]:
    """Give what cannot stand beside any of several distributions."""
    return tuple(conflict for name in distributions for conflict in conflicts_of(name, accelerator))


def removal_options(conflicts: Iterable[Conflict]) -> tuple[str, ...]:
    """Give the options that tell a helper what has to go, and why."""
    return tuple(word for each in conflicts for word in ("--remove", each.why, *each.names))
