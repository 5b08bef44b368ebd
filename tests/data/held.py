"""A profile's real plan beside the rows of the ledger: what it lacks of them, and what of it none explains."""

from __future__ import annotations

from typing import TYPE_CHECKING

from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.version import Version

from data.plans import locked, plan_of
from xpusetup.config.profile import SourceComponent
from xpusetup.plan.compile import LIBRARIES, SWITCHES

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from data.ledger import LedgerRow
    from xpusetup.base.model import Plan, Step
    from xpusetup.config.profile import Profile

OWN = {
    "CC",
    "CXX",
    "CFLAGS",
    "CXXFLAGS",
    "CPPFLAGS",
    "LDFLAGS",
    "CMAKE_PREFIX_PATH",
    "CMAKE_BUILD_RPATH_USE_ORIGIN",
    "CMAKE_PROJECT_TOP_LEVEL_INCLUDES",
    "CMAKE_TOOLCHAIN_FILE",
    "TORCH_DEVICE_BACKEND_AUTOLOAD",
    *LIBRARIES,
    *SWITCHES,
}
"""Variables of our own: compilers, the same bytes, what CMake is told, pools of heavy edges, a torch without device,
accelerators and libraries that are left out."""
LEADING_GIT = "GIT_CONFIG_"
"""Settings that lead git to what is vendored and cloned by the build: its row is that of what is vendored."""
PYTHONS = [f"3.{minor}" for minor in range(8, 20)]


class Held:
    """A profile and its real plan, as a row asks about them."""

    def __init__(self, profile: Profile) -> None:
        """Make the plan."""
        self.profile = locked(profile)
        self.plan: Plan = plan_of(self.profile)

    def step(self, name: str) -> Step:
        return next(step for step in self.plan.steps if step.id == name)

    def source(self, name: str) -> SourceComponent:
        return next(part for part in self.profile.components if isinstance(part, SourceComponent) and part.name == name)

    def compiling(self, of: str) -> list[dict[str, str]]:
        """Give the environments of the steps that compile a source."""
        steps = [
            step for step in self.plan.steps if step.component == of and step.id in {f"{of}.configure", f"{of}.build"}
        ]
        assert steps, f"{of} is not compiled"
        return [dict(step.env) for step in steps]

    @property
    def scripts(self) -> list[str]:
        return self.profile.toolkit.scripts if self.profile.toolkit else []

    @property
    def brought(self) -> list[str]:
        return self.profile.runtime_requirements.pins if self.profile.runtime_requirements else []

    def pinned_in(self, name: str, kind: str) -> set[str | None]:
        """Give where the torch tree names a part's commit or version."""
        named = {part.name: part for part in self.profile.components if part.kind != "skip"}
        parts = [named.get(name), *(item for item in self.source("torch").vendored if item.name == name)]
        return {getattr(part, kind, None) for part in parts if part is not None}


def env(held: Held, of: str, rest: str) -> bool:
    """Look for `NAME=VALUE`, for `NAME has TEXT`, or for a variable that is set to anything."""
    if " has " in rest:
        name, text = rest.split(" has ")
        return all(text in found.get(name, "").replace("'", "") for found in held.compiling(of))
    name, _, value = rest.partition("=")
    return all(name in found and value in ("", found[name]) for found in held.compiling(of))


def no_env(held: Held, of: str, rest: str) -> bool:
    return not any(rest in found for found in held.compiling(of))


def sources(held: Held, _of: str, rest: str) -> bool:
    return script_of(rest) in held.scripts


def sets(held: Held, _of: str, rest: str) -> bool:
    return held.profile.toolkit is not None and rest in held.profile.toolkit.sets


def vendored(held: Held, of: str, rest: str) -> bool:
    name, path, *tag = rest.split()
    found = [item for item in held.source(of).vendored if (item.name, item.path) == (name, path)]
    return bool(found) and (not tag or found[0].tag == tag[0])


def pin(held: Held, _of: str, rest: str) -> bool:
    return satisfied(held.profile.build_requirements.pins, rest)


def brings(held: Held, _of: str, rest: str) -> bool:
    return satisfied(held.brought, rest)


def runs(held: Held, _of: str, rest: str) -> bool:
    """Look for words that follow each other in a command of a step."""
    name, *words = rest.split()
    commands = held.step(name).run
    size = len(words)
    return any(list(line[at : at + size]) == words for line in commands for at in range(len(line)))


def gcc(held: Held, _of: str, rest: str) -> bool:
    return held.profile.gcc == rest


def cmake(held: Held, _of: str, rest: str) -> bool:
    return held.profile.cmake == rest and satisfied(held.profile.build_requirements.pins, f"cmake{rest}")


def python(held: Held, _of: str, rest: str) -> bool:
    """Ask that no Python is accepted that upstream refuses."""
    ours, theirs = SpecifierSet(held.profile.python), SpecifierSet(rest)
    return all(theirs.contains(version) for version in PYTHONS if ours.contains(version))


def pin_file(held: Held, _of: str, rest: str) -> bool:
    name, path = rest.split()
    return path in held.pinned_in(name, "pin_file") or is_skipped(held.profile, name)


def version_file(held: Held, _of: str, rest: str) -> bool:
    name, path = rest.split()
    return path in held.pinned_in(name, "version_file") or is_skipped(held.profile, name)


VERBS: dict[str, Callable[[Held, str, str], bool]] = {
    "env": env,
    "no-env": no_env,
    "sources": sources,
    "sets": sets,
    "vendored": vendored,
    "pin": pin,
    "brings": brings,
    "runs": runs,
    "gcc": gcc,
    "cmake": cmake,
    "python": python,
    "pin-file": pin_file,
    "version-file": version_file,
}


def script_of(name: str) -> str:
    return name if "/" in name else f"{name}/latest/env/vars.sh"


def is_skipped(profile: Profile, name: str) -> bool:
    return any(part.kind == "skip" and part.name == name for part in profile.components)


def satisfied(pins: list[str], wanted: str) -> bool:
    """Say whether what is wanted is among the pins, in every version of it that is there."""
    need = Requirement(wanted)
    found = [next(iter(each.specifier)).version for each in map(Requirement, pins) if each.name == need.name]
    return bool(found) and all(need.specifier.contains(Version(version)) for version in found)


def lacking(held: Held, rows: list[LedgerRow]) -> list[str]:
    """Give what the rows say of ours and the plan does not hold; what is sourced comes in the order of a row."""
    return [
        *(f"{row.id}: sourced in another order" for row in rows if not in_order(held, row)),
        *_absent(held, rows),
    ]


def in_order(held: Held, row: LedgerRow) -> bool:
    wanted = [script_of(ours.partition(" ")[2]) for ours in row.ours if ours.startswith("sources ")]
    there = [script for script in held.scripts if script in wanted]
    return there == [script for script in wanted if script in there]


def _absent(held: Held, rows: list[LedgerRow]) -> list[str]:
    return [
        f"{row.id}: {ours}"
        for row in rows
        for ours in row.ours
        if not VERBS[ours.partition(" ")[0]](held, row.of, ours.partition(" ")[2])
    ]


def told(rows: list[LedgerRow], of: str, verb: str) -> set[str]:
    """Give the first words after a verb, without a value or a version."""
    found = (each.partition(" ")[2] for row in rows if row.of == of for each in row.ours if each.startswith(f"{verb} "))
    return {Requirement(rest).name if verb == "brings" else rest.split()[0].partition("=")[0] for rest in found}


def unexplained(held: Held, rows: list[LedgerRow]) -> list[str]:
    """Give what is in the plan because of upstream and no row explains."""
    of_torch = any(row.of == "torch" for row in rows)
    found = (*_strange_variables(held, rows), *_strange_sources(held, rows))
    return [*found, *(_strange_of_torch(held, rows) if of_torch else ())]


def _strange_variables(held: Held, rows: list[LedgerRow]) -> Iterator[str]:
    for of in sorted({row.of for row in rows}):
        names = {name for environment in held.compiling(of) for name in environment if not name.startswith(LEADING_GIT)}
        shared = set() if of == "torch" else set(held.profile.environment)
        yield from (f"{of}: variable {name}" for name in sorted(names - OWN - shared - told(rows, of, "env")))


def _strange_sources(held: Held, rows: list[LedgerRow]) -> Iterator[str]:
    """Give what is vendored or taken ready made; the row of an archive names the variable that tells of it."""
    for of in sorted({row.of for row in rows}):
        parts = {item.name for item in held.source(of).vendored}
        yield from (f"vendored {name}" for name in sorted(parts - told(rows, of, "vendored")))


def _strange_of_torch(held: Held, rows: list[LedgerRow]) -> Iterator[str]:
    scripts = {script_of(name) for name in told(rows, "torch", "sources")}
    yield from (f"script {script}" for script in held.scripts if script not in scripts)
    brought = {Requirement(each).name for each in held.brought}
    yield from (f"requires {name}" for name in sorted(brought - told(rows, "torch", "brings")))
