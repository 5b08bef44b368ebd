"""What of an environment has to stay as it is: torch, what is compiled with it, and no second Triton. Pure."""

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias
from urllib.parse import unquote, urlsplit

from packaging.requirements import InvalidRequirement, Requirement
from packaging.utils import canonicalize_name

from xpusetup.machine.companions import TorchThere, index_beside, index_of, version_beside

Kind: TypeAlias = Literal["wheel", "index", "default", "outside"]

TRITONS = ("triton", "triton-xpu", "pytorch-triton-xpu", "pytorch-triton")
COMPANIONS = ("torchvision", "torchaudio", "torchcodec")
FAMILY = ("torch", *COMPANIONS, *TRITONS)
OF_TORCH = TRITONS[1:]
"""Tritons that PyTorch's index has, and the package index has not, or a beta of: none has a local version."""
NEVER = "sys_platform == 'never'"
"""A marker that holds nowhere: what has it is never installed, by any version of uv."""
INDEX_NAME = "xpusetup-torch"
"""What our index is called; each further one has the build that it holds behind this name."""


@dataclass(frozen=True)
class InstalledVersion:
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
        return f"{self.name}=={self.version}"


@dataclass(frozen=True)
class Keeping:
    """What stays, and the Tritons that must not come beside the one that is there.

    `beside`: companions of torch that are not there. What comes of one, by whatever asks for it, is of this torch: the
    package index has them for CUDA, and their requirements take any torch.
    """

    keeps: tuple[Keep, ...]
    never: tuple[str, ...]
    beside: tuple[Keep, ...] = ()

    @property
    def pinned(self) -> tuple[Keep, ...]:
        """Give all that has one version here: what is there, and what may come."""
        return (*self.keeps, *self.beside)

    @property
    def names(self) -> frozenset[str]:
        return frozenset((*(one.name for one in self.pinned), *self.never))

    def refuses(self, requirement: Requirement | str) -> bool:
        """Say whether a requirement asks for what must not come: another torch, or a Triton beside the one there."""
        try:
            one = requirement if isinstance(requirement, Requirement) else Requirement(requirement)
        except InvalidRequirement:
            return False
        kept = {one.name: one.version.replace("*", "0") for one in self.pinned}
        name = canonicalize_name(one.name)
        if name not in self.names or (one.marker is not None and not one.marker.evaluate()):
            return False
        return name not in kept or not one.specifier.contains(kept[name], prereleases=True)

    @property
    def is_outside(self) -> bool:
        return any(one.kind == "outside" for one in self.keeps)

    @property
    def indexes(self) -> dict[str, str]:
        """Give the name of each index that is needed, by its address."""
        found = dict.fromkeys(one.source for one in self.pinned if one.kind == "index")
        rest = {each: f"{INDEX_NAME}-{each.rpartition('/')[2]}" for each in found}
        return {**rest, **dict.fromkeys([*found][:1], INDEX_NAME)}


def keep_torch(
    there: Mapping[str, InstalledVersion],
    exists: Callable[[str], bool],
    *,
    outside: bool,
    known: Mapping[str, str] | None = None,
) -> Keeping:
    """Decide what stays of what is installed; `outside`: it is in an environment below the project's own.

    Where one is nowhere to be had, all of it is outside: half of the family from elsewhere fits no better than none.
    `known`: the versions that belong beside this torch, by name.
    """
    torch = TorchThere(there["torch"].version, known or {})
    found = [_keep(name, there[name], torch, exists) for name in FAMILY if name in there]
    if outside or any(one.kind == "outside" for one in found):
        found = [Keep(one.name, one.version, "outside") for one in found]
    tritons = [name for name in TRITONS if name in there]
    of_xpu = there["torch"].version.partition("+")[2].startswith("xpu")
    never = [name for name in TRITONS if name not in there] if tritons or of_xpu else []
    return Keeping(tuple(found), tuple(never), tuple(_beside(there, torch)))


def _beside(there: Mapping[str, InstalledVersion], torch: TorchThere) -> Iterator[Keep]:
    """Give the companions that are not there, as they may come beside a torch that is not CUDA's."""
    for name in COMPANIONS if torch.make in ("xpu", "cpu", "vendor") else ():
        version, index = version_beside(name, torch), index_beside(name, torch)
        if name not in there and version and index:
            yield Keep(name, version, "index", index)


def _keep(name: str, one: InstalledVersion, torch: TorchThere, exists: Callable[[str], bool]) -> Keep:
    """Say from where one comes: its local version names PyTorch's index, which alone has the Tritons for XPU."""
    if one.origin:
        path = _wheel_of(one.origin)
        return Keep(name, one.version, "wheel", path) if path and exists(path) else Keep(name, one.version, "outside")
    local = one.version.partition("+")[2]
    index = index_of(local, nightly=torch.is_nightly) or (torch.index if name in OF_TORCH else "")
    if index:
        return Keep(name, one.version, "index", index)
    return Keep(name, one.version, "outside" if local else "default")


def _wheel_of(origin: str) -> str:
    """Give the file of a wheel from direct_url.json (PEP 610); empty for a folder, a repository and other hosts."""
    try:
        url = urlsplit(json.loads(origin).get("url", ""))
    except (ValueError, AttributeError):
        return ""
    path = unquote(url.path)
    return path if url.scheme == "file" and path.endswith(".whl") else ""
