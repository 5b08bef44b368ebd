"""Several builds at once: which pairs of profile, Python and device targets are possible, and what each is called.

Words: a *cell* is one pair of the matrix; its *name* is that of its folder.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import product

from packaging.specifiers import SpecifierSet
from packaging.version import Version

from xpusetup.base.errors import UsageError
from xpusetup.base.model import NONE, Plan, Toolkit
from xpusetup.config.profile import Profile
from xpusetup.config.request import plain_name
from xpusetup.config.toolkit import SYSTEM_ROOT
from xpusetup.machine.gpus import TargetTable, find_faults, what_works


@dataclass(frozen=True, kw_only=True)
class MatrixPlace:
    """One pair that was asked for. `word` is the profile as it was named; Python and targets are empty if not given."""

    name: str = ""
    word: str
    profile: Profile
    python: str = ""
    arch: tuple[str, ...] = ()

    def __hash__(self) -> int:
        """Hash what tells places apart: profiles hold lists."""
        return hash((self.word, self.python, self.arch))


@dataclass(frozen=True, kw_only=True)
class Cell:
    """One build of the matrix: its name, what it builds, and the steps of that."""

    name: str
    profile: Profile
    plan: Plan


def make_places(
    profiles: Sequence[tuple[str, Profile]],
    pythons: Sequence[str],
    archs: Sequence[tuple[str, ...]],
    table: TargetTable,
) -> tuple[MatrixPlace, ...]:
    """Give every pair once, in the order in which they were named. Raises UsageError where one is impossible."""
    pairs = product(dict(profiles).items(), dict.fromkeys(pythons or [""]), dict.fromkeys(archs or [()]))
    places = [
        MatrixPlace(word=word, profile=profile, python=python, arch=arch) for (word, profile), python, arch in pairs
    ]
    named = [replace(place, name=name) for place, name in zip(places, _make_names(places), strict=True)]
    reasons = {place: reason for place in named if (reason := _impossible(place, table))}
    if reasons:
        raise UsageError("\n".join(dict.fromkeys(reasons.values())), fix=_what_works(named, reasons))
    return tuple(named)


def _impossible(place: MatrixPlace, table: TargetTable) -> str:
    """Say why a pair cannot be built; nothing where it can."""
    profile = place.profile
    if place.python and not SpecifierSet(profile.python).contains(place.python):
        return f"{profile.name} cannot be built for Python {place.python}: it takes {profile.python}"
    if place.arch and profile.arch is None:
        return f"{profile.name} has no list of device targets, so it cannot be built for {','.join(place.arch)}"
    if faults := find_faults(profile, place.arch, table):
        return "; ".join((*faults, what_works(profile)))
    return ""


def choose_python(profile: Profile, asked: str, seen: str) -> str:
    """Give the Python of a form: the one that was asked for, else this machine's. Raises UsageError where none fits."""
    version = asked or seen
    if SpecifierSet(profile.python).contains(version):
        return version
    minor = Version(version).minor
    nearest = min(profile.pythons, key=lambda each: abs(Version(each).minor - minor), default="")
    fix = f"name one that those machines have: --python {nearest}" if nearest else "name another profile"
    whose = f"cannot be built for Python {asked}" if asked else f"cannot be built for this machine's Python {seen}"
    raise UsageError(f"{profile.name} {whose}: it takes {profile.python}", fix=fix)


def _what_works(places: Sequence[MatrixPlace], reasons: dict[MatrixPlace, str]) -> str:
    works = [place.name for place in places if place not in reasons]
    if works:
        return f"these are possible, each in a call of its own: {', '.join(works)}"
    return "\n".join(dict.fromkeys(map(_what_it_takes, places)))


def _what_it_takes(place: MatrixPlace) -> str:
    profile = place.profile
    if place.python and not SpecifierSet(profile.python).contains(place.python):
        return f"leave --python out, or name one of these: {', '.join(profile.pythons)}"
    return f"what it takes: xpusetup profiles show {profile.name}"


def _make_names(places: Sequence[MatrixPlace]) -> tuple[str, ...]:
    """Name the cells by what tells them apart: always the profile, Python and targets where there are several.

    Raises UsageError for two profiles that would lie in one folder.
    """
    pythons, archs = ({place.python for place in places}, {place.arch for place in places})
    named = [
        "-".join(
            [
                plain_name(_stem(place.word)) if place.profile.plain_path else _stem(place.word),
                *([f"py{place.python}"] if len(pythons) > 1 else []),
                *(["+".join(place.arch)] if len(archs) > 1 else []),
            ]
        )
        for place in places
    ]
    for number, name in enumerate(named):
        if name in named[:number]:
            words = f"{places[named.index(name)].word} and {places[number].word}"
            raise UsageError(f"{words} would both lie in the folder {name}", fix="give one of the files another name")
    return tuple(named)


def _stem(word: str) -> str:
    """Name a folder after a profile or its file, in letters that every form and tool takes as they are."""
    name = word.rsplit("/", 1)[-1].removesuffix(".toml")
    return re.sub(r"[^A-Za-z0-9._+-]+", "-", name).strip("-.") or "profile"


def say_toolkits(cells: Iterable[Cell]) -> tuple[str, ...]:
    """Say which tool chains have to be on the machines that the builds run on: images alone install theirs."""
    targets = ((cell, cell.plan.target) for cell in cells)
    told = (say_toolkit(cell.profile, target.toolkit, target.arch) for cell, target in targets if target.toolkit)
    return tuple(filter(None, dict.fromkeys(told)))


PLACES = {"modules": "from the modules of the site file", "environment": "in the environment"}


def say_toolkit(profile: Profile, kit: Toolkit, arch: Sequence[str]) -> str:
    """Say which machines need a tool chain, and where; with its packages where distributions have it themselves."""
    if kit.made:
        targets = ", ".join(target for target in arch if target != NONE)
        return (
            f"the machines that build need ocloc (intel-ocloc, libigc2), which compiles for {targets}; "
            "--arch none needs none"
            if targets
            else ""
        )
    own = kit.root == SYSTEM_ROOT and profile.toolkit
    packages = profile.toolkit.packages.by_distribution if own and profile.toolkit else {}
    named = "; ".join(f"{name}: {' '.join(each)}" for name, each in packages.items())
    place = PLACES.get(kit.provider) or ("on PATH" if own else f"in {kit.root}")
    also = ", and those that use the wheels," if kit.at_run_time else ""
    return f"the machines that build{also} need {kit.title} {place}{f' ({named})' if named else ''}"
