"""What helpers/inspect_fit.py writes of a wheel, or of what is installed, and of the torch beside it."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Literal


@dataclass(frozen=True, kw_only=True)
class FitProblem:
    """Why a library cannot be loaded beside that torch; names are those of symbols, libraries or version nodes.

    `count` says how many there are, `first` is the file that lacks them, `near` what it has by the same name with other
    arguments; `certain` is false where something that is not here may bring them.
    """

    kind: Literal["file", "machine", "version", "major", "library", "abi", "torch", "symbol"]
    library: str
    names: list[str]
    count: int
    first: str
    near: list[str]
    certain: bool


@dataclass(frozen=True, kw_only=True)
class FitLibrary:
    """A library that Python opens, how many names it asks torch for (C++, and of the stable interface in C).

    Of those of one `group` one is enough; `foreign`: it needs libraries of an accelerator or of MPI that are not here;
    `optional`: the package's own code goes on where it does not load. `off`: libraries that a vendor's
    script switches on.
    """

    path: str
    group: str
    torch: int
    stable: int
    foreign: bool
    problems: list[FitProblem]
    optional: bool = False
    off: list[str] = field(default_factory=list)

    @property
    def is_spare(self) -> bool:
        """Whether it does not load, is for an accelerator that this torch is not for, and the package goes on."""
        here = any(one.kind == "major" for one in self.problems)  # torch has another release of the same runtime
        return bool(self.problems) and self.foreign and self.optional and not here


@dataclass(frozen=True, kw_only=True)
class DeviceCode:
    """For which GPUs libraries were compiled ahead of time; `names` are all that stand for one of these alone.

    `generic`: there is SPIR-V too, which a driver compiles for any GPU; `trouble` says why it could not be read.
    """

    gpus: list[str]
    names: list[str]
    generic: bool
    trouble: str


@dataclass(frozen=True, kw_only=True)
class InspectedFit:
    """What was read of a wheel. `compiled` is how many libraries it has, `overwrites` counts files of other owners.

    `hollow`: it has no file of its own ("meta"), or code that does nothing ("placeholder").
    """

    file: str
    name: str
    version: str
    tags: list[str]
    requires: list[str]
    python: str
    libraries: list[FitLibrary]
    compiled: int
    troubles: list[str]
    overwrites: dict[str, int]
    device: DeviceCode
    broken: str
    hollow: Literal["", "meta", "placeholder"] = ""


@dataclass(frozen=True, kw_only=True)
class SeenTorch:
    """What helpers/inspect_fit.py says of the torch: the libraries that `import torch` opens."""

    version: str
    libraries: list[str]


@dataclass(frozen=True, kw_only=True)
class Inspection:
    """What helpers/inspect_fit.py writes; `plain` has C++ names as people read them."""

    torch: SeenTorch
    wheels: list[InspectedFit]
    plain: dict[str, str]


def in_words(wheel: InspectedFit, plain: Mapping[str, str]) -> InspectedFit:
    """Write the C++ names of a wheel's problems as people read them."""

    def said(names: list[str]) -> list[str]:
        return [plain.get(name, name) for name in names]

    libraries = [
        replace(one, problems=[replace(each, names=said(each.names), near=said(each.near)) for each in one.problems])
        for one in wheel.libraries
    ]
    return replace(wheel, libraries=libraries)
