"""The tool chains that a profile can be compiled with: what each is found by, what it sets, what it gives up."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal, NamedTuple

from xpusetup.base.model import ROOT
from xpusetup.base.values import (
    Environment,
    Exact,
    Inside,
    Name,
    Operand,
    Sourced,
    Specifiers,
    Strict,
    Text,
    Variable,
    VersionText,
)


class ToolkitProduct(NamedTuple):
    """What a kind of tool chain is called, and the compiler that stands for it."""

    title: str
    compiler: str


PRODUCTS = {
    "oneapi": ToolkitProduct("oneAPI", "icpx"),
    "dpclang": ToolkitProduct("the open DPC++", "dpclang++"),
    "wheels": ToolkitProduct("SYCL from wheels", "icpx"),
}
"""The kinds of tool chains. The open DPC++ is intel/llvm's, as distributions package it: a compiler on PATH, whose
libraries the linker knows, and no scripts to source. Of wheels: the compiler in Intel's run-time wheels, which a step
lays out as oneAPI's."""


MADE = f"{ROOT}/toolkit"
"""Where a step of the build makes the tool chain that is of wheels."""
SYSTEM_ROOT = "/usr"
"""Where compilers, pkg-config and the linker look by themselves."""


def begin(sentence: str) -> str:
    """Give a sentence that begins with the name of a product, which keeps its letters unless it is a plain word."""
    return sentence if sentence.startswith("oneAPI") else f"{sentence[:1].upper()}{sentence[1:]}"


@dataclass(frozen=True, kw_only=True)
class Packages(Strict):
    """Where a toolkit's packages come from, per package manager; `by_distribution`: in whose own archive they are."""

    apt: list[Operand] = field(default_factory=list)
    apt_source: Text = ""
    rpm: list[Operand] = field(default_factory=list)
    rpm_source: Text = ""
    key: Text = ""
    page: Text = ""
    by_distribution: dict[Name, list[Operand]] = field(default_factory=dict)

    def names(self, manager: str, places: Sequence[str]) -> list[str]:
        """Give the packages for a package manager on a system, by what it is made from; empty where none are known."""
        return self.own(places) or {"apt": self.apt, "dnf": self.rpm, "zypper": self.rpm}.get(manager, [])

    def own(self, places: Sequence[str]) -> list[str]:
        """Give the packages that a system has in its own archive."""
        return next((self.by_distribution[place] for place in places if place in self.by_distribution), [])

    UNSAID = ("by_distribution",)


@dataclass(frozen=True, kw_only=True)
class RefusedToolkit(Sourced):
    """Versions of a toolkit that these sources do not compile with as they are, and why.

    `patches` would bring them back, each by its address; `gives_up` is what the result lacks with them.
    """

    versions: Specifiers
    why: Text
    patches: list[Text] = field(default_factory=list)
    gives_up: Text = ""


@dataclass(frozen=True, kw_only=True)
class ToolkitWanted(Sourced):
    """A tool chain that a profile compiles with, and how its environment is switched on.

    `name` is that of `--toolkit` where the kind does not tell it from the profile's others. `environment` is what a
    build is told beside, `gives_up` what the result lacks against that of the preferred one, `checks` are those of
    verify that cannot pass for it. Of kind `wheels`: `pins` are those that it is made from, `replaces` pins that stand
    for others of the build and the run time, `without` run-time requirements that its result does not have, `local`
    what is added to the version of torch where it cannot stand for the published one.
    """

    kind: Literal["oneapi", "dpclang", "wheels"]
    name: Name | Literal[""] = ""
    accepts: Specifiers
    preferred: VersionText
    scripts: list[Inside] = field(default_factory=list)
    sets: list[Variable] = field(default_factory=list)
    environment: Environment = field(default_factory=dict)
    runtime: Literal["wheels", "toolkit"]
    packages: Packages = Packages()
    gives_up: Text = ""
    checks: list[Name] = field(default_factory=list)
    refused: list[RefusedToolkit] = field(default_factory=list)
    pins: list[Exact] = field(default_factory=list)
    replaces: list[Exact] = field(default_factory=list)
    without: list[Name] = field(default_factory=list)
    local: Name | Literal[""] = ""

    UNSAID = ("name", "environment", "gives_up", "checks", "refused", "pins", "replaces", "without", "local")

    def __post_init__(self) -> None:
        if (self.kind == "wheels") != bool(self.pins):
            raise ValueError("a toolkit of kind wheels has pins that it is made from, and no other has")

    @property
    def called(self) -> str:
        return self.name or self.kind

    @property
    def product(self) -> ToolkitProduct:
        return PRODUCTS[self.kind]

    @property
    def title(self) -> str:
        return f"{self.product.title} {self.preferred}"


def spread_toolkits(values: object) -> object:
    """Read `[[toolkit]]` of a profile, the preferred one first, as that one and the others."""
    kits = values.get("toolkit") if isinstance(values, dict) else None
    if not isinstance(values, dict) or not isinstance(kits, list) or not kits:
        return values
    return {**values, "toolkit": kits[0], "other_toolkits": [*kits[1:], *values.get("other_toolkits", [])]}


def check_toolkits(preferred: ToolkitWanted | None, others: list[ToolkitWanted]) -> None:
    """Raise ValueError where `--toolkit` could not tell the toolkits of a profile apart."""
    called = [each.called for each in (*([preferred] if preferred else ()), *others)]
    if others and preferred is None:
        raise ValueError("other_toolkits stand beside a toolkit, and there is none")
    if double := next((name for name in called if called.count(name) > 1), ""):
        raise ValueError(f"two toolkits are called {double!r}: give one of them a name")
