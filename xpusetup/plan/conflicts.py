"""What cannot stand beside a distribution in one environment, and why."""

from __future__ import annotations

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


def conflicts_of(distribution: str, accelerator: str) -> tuple[tuple[str, str], ...]:
    """Give the distributions that have to go before this one is installed, each with the reason."""
    name = canonicalize_name(distribution)
    if name in TRITONS:
        why = f"it owns the package folder triton, as {name} does"
        return tuple((other, why) for other in TRITONS if other != name)
    if name == "torch" and accelerator == "xpu":
        why = "it is compiled for another torch, which has XPU support of its own since"
        return tuple((other, why) for other in EXTENSIONS)
    return ()


def all_conflicts(distributions: Iterable[str], accelerator: str) -> tuple[tuple[str, str, str], ...]:
    """Give what conflicts with any of them: its name, with which, and why."""
    return tuple((name, of, why) for of in distributions for name, why in conflicts_of(of, accelerator))
