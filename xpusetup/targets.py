"""The words by which ocloc takes device targets: data/targets.toml as values, and which of them a release takes.

Words: a *target* is such a word; the *ocloc* of a release is the newest of its toolkit, as far as known.
"""

from __future__ import annotations

import datetime as dt
import difflib
from dataclasses import dataclass
from typing import TYPE_CHECKING

from packaging.version import Version

from xpusetup.errors import UsageError
from xpusetup.load import parse_data
from xpusetup.values import Ocloc, Operand, Strict, Text

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from xpusetup.gpus import GpuTable
    from xpusetup.profile import Arch, Profile
    from xpusetup.settings import Settings

NONE = "none"
"""The word that asks torch-xpu-ops for generic code alone."""


class _Release(Strict):
    release: Ocloc
    names: list[Operand]


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


def _find_fault(name: str, arch: Arch, target: str, table: TargetTable) -> str:
    if target in arch.default or (target == NONE and arch.none):
        return ""
    if target == NONE:
        return f"{name} does not know the word none: its sources would hand it to ocloc"
    first = table.first.get(target)
    if first is None:
        return f"no ocloc knows the device target {target!r}{_hint(target, arch, table)}"
    if arch.ocloc and Version(first) > Version(arch.ocloc):
        known = f"ocloc knows that word from {first} on, and the one of this release is {arch.ocloc} or older"
        return f"{name} cannot be compiled for {target}: {known}"
    return ""


def check_words(words: Iterable[str], table: TargetTable) -> None:
    """Refuse words that no ocloc ever took. Raises UsageError."""
    unknown = [word for word in words if word not in table.first]
    if unknown:
        close = difflib.get_close_matches(unknown[0].lower(), table.first, n=1)
        hint = f"; did you mean {close[0]}?" if close else ""
        raise UsageError(
            f"no ocloc knows the device target {unknown[0]!r}{hint}", fix="words of ocloc, as in: --arch pvc,bmg"
        )


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
    for words in (arch.default, taken):
        if close := difflib.get_close_matches(target.lower(), words, n=1):
            return f"; did you mean {close[0]}?"
    return ""


def what_works(profile: Profile) -> str:
    """Say which targets a release takes."""
    if profile.arch is None:
        return "leave it out"
    none = f"; or {NONE}, for generic code alone" if profile.arch.none else ""
    return f"targets of {profile.name}: {', '.join(profile.arch.default)}{none}"
