"""What of an environment has to stay as it is: torch, what is compiled with it, and no second Triton. Pure."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, TypeAlias
from urllib.parse import unquote, urlsplit

from packaging.requirements import InvalidRequirement, Requirement
from packaging.utils import canonicalize_name

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

Kind: TypeAlias = Literal["wheel", "index", "default", "outside"]

TRITONS = ("triton", "triton-xpu", "pytorch-triton-xpu", "pytorch-triton")
FAMILY = ("torch", "torchvision", "torchaudio", *TRITONS)
NEVER = "sys_platform == 'never'"
"""A marker that holds nowhere: what has it is never installed, by any version of uv."""
INDEX = "https://download.pytorch.org/whl"
INDEX_NAME = "xpusetup-torch"
LOCAL = re.compile(r"cpu|xpu|cu\d+|rocm[\d.]+")
"""Local versions for which PyTorch's index has a folder."""


@dataclass(frozen=True)
class Installed:
    """A distribution as an environment has it: its version, and direct_url.json, empty where it came from an index."""

    version: str
    origin: str = ""


@dataclass(frozen=True)
class Keep:
    """A distribution that stays, and from where an installer has it: a wheel's path, an index's address.

    `default`: the index that is asked anyway. `outside`: nothing has it, so that no installer may touch it.
    """

    name: str
    version: str
    kind: Kind
    source: str = ""

    @property
    def pin(self) -> str:
        """Give the requirement of just this version."""
        return f"{self.name}=={self.version}"


@dataclass(frozen=True)
class Keeping:
    """What stays, and the Tritons that must not come beside the one that is there."""

    keeps: tuple[Keep, ...]
    never: tuple[str, ...]

    @property
    def names(self) -> frozenset[str]:
        """Give the names of all that is decided here."""
        return frozenset((*(one.name for one in self.keeps), *self.never))

    def refuses(self, requirement: Requirement | str) -> bool:
        """Say whether a requirement asks for what must not come: another torch, or a Triton beside the one there."""
        try:
            one = requirement if isinstance(requirement, Requirement) else Requirement(requirement)
        except InvalidRequirement:
            return False
        kept = {one.name: one.version for one in self.keeps}
        name = canonicalize_name(one.name)
        if name not in self.names or (one.marker is not None and not one.marker.evaluate()):
            return False
        return name not in kept or not one.specifier.contains(kept[name], prereleases=True)

    @property
    def is_outside(self) -> bool:
        """Say whether torch is where no installer can get it from."""
        return any(one.kind == "outside" for one in self.keeps)

    @property
    def index(self) -> str:
        """Give the index that has it; empty where none is needed."""
        return next((one.source for one in self.keeps if one.kind == "index"), "")


def keep_torch(there: Mapping[str, Installed], exists: Callable[[str], bool], *, outside: bool) -> Keeping:
    """Decide what stays of what is installed; `outside`: it is in an environment below the project's own.

    Where one is nowhere to be had, all of it is outside: half of the family from elsewhere fits no better than none.
    """
    found = [_keep(name, there[name], exists) for name in FAMILY if name in there]
    if outside or any(one.kind == "outside" for one in found):
        found = [Keep(one.name, one.version, "outside") for one in found]
    tritons = [name for name in TRITONS if name in there]
    of_xpu = there["torch"].version.partition("+")[2].startswith("xpu")
    never = [name for name in TRITONS if name not in there] if tritons or of_xpu else []
    return Keeping(tuple(found), tuple(never))


def _keep(name: str, one: Installed, exists: Callable[[str], bool]) -> Keep:
    if one.origin:
        path = _wheel_of(one.origin)
        return Keep(name, one.version, "wheel", path) if path and exists(path) else Keep(name, one.version, "outside")
    local = one.version.partition("+")[2]
    if LOCAL.fullmatch(local):
        return Keep(name, one.version, "index", f"{INDEX}/{local}")
    return Keep(name, one.version, "outside" if local else "default")


def _wheel_of(origin: str) -> str:
    """Give the file of a wheel from direct_url.json (PEP 610); empty for a folder, a repository and other hosts."""
    try:
        url = urlsplit(json.loads(origin).get("url", ""))
    except (ValueError, AttributeError):
        return ""
    path = unquote(url.path)
    return path if url.scheme == "file" and path.endswith(".whl") else ""
