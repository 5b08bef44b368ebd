"""What became of an environment since it was guarded, and who did it."""

from __future__ import annotations

import base64
import csv
import re
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from packaging.requirements import InvalidRequirement, Requirement
from packaging.utils import canonicalize_name

from xpusetup.base.errors import XpuError
from xpusetup.plan.context import file_name
from xpusetup.run.manifest import read_document
from xpusetup.run.root import Root, find_damage, keep_damage, place_here, read_stamps
from xpusetup.system import files

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from importlib.metadata import PathDistribution

    from xpusetup.base.model import Step
    from xpusetup.run.keys import Stamp


# What became of an environment since it was guarded, and who did it: pure.
#
# Words: the *guard* is what was installed and must stay; a distribution was *replaced* when another stands in
# its place, when it is gone, or when one came that cannot stand beside it; the *culprit* is the one whose
# installation did that.


LIBRARIES = ("runtime", "wheels.install", "members.install")
"""The steps that install what has no step of its own."""

WINDOW = 300.0
"""Seconds between two installations up to which they count as one command's."""


class RecordedDistribution(NamedTuple):
    """A distribution as it was installed; `record` is the list of its files, with hash, size and time (ns).

    `editable`: the folder that it is linked to; that list may change then, as long as it is linked there. `scripts` are
    those of bin/ with their sha256, by their names in the list: they were changed to compute their place.
    """

    name: str
    version: str
    record: str = ""
    sha256: str = ""
    size: int = 0
    changed: int = 0
    editable: str = ""
    scripts: Mapping[str, str] = {}


class UnwantedDistribution(NamedTuple):
    """A distribution that must not come beside `of`."""

    name: str
    of: str
    why: str


class Guard(NamedTuple):
    """What was left in an environment, whose packages lie in `packages`."""

    packages: str
    kept: tuple[RecordedDistribution, ...]
    conflicts: tuple[UnwantedDistribution, ...]


class CurrentDistribution(NamedTuple):
    """A distribution as it stands now. `installed` is in seconds since the epoch, `requested`: asked for by name."""

    name: str
    version: str
    requires: tuple[str, ...] = ()
    installer: str = ""
    requested: bool = False
    installed: float = 0.0


class DistributionChange(NamedTuple):
    """One distribution that is not as it was: `was` None: it was not there, `now` None: it is gone.

    `of` is the guarded distribution that suffers: itself, or the one that it conflicts with.
    """

    name: str
    was: str | None
    now: str | None
    of: str
    why: str = ""


@dataclass(frozen=True)
class ReplacedPackage:
    """A change of an environment and who made it.

    `when`: a time in ISO 8601, `by`: an installer, `culprit`: a package with its version.
    """

    name: str
    was: str | None
    now: str | None
    when: str | None
    by: str
    culprit: str
    why: str


def parse_guard(document: Mapping[str, Any]) -> Guard | None:
    """Read guard.json; None when it is none of this version."""
    try:
        return Guard(
            packages=document["packages"],
            kept=tuple(RecordedDistribution(**each) for each in document["distributions"]),
            conflicts=tuple(UnwantedDistribution(**each) for each in document["conflicts"]),
        )
    except (KeyError, TypeError):
        return None


def find_changes(guard: Guard, now: Mapping[str, str], rewritten: Mapping[str, bool]) -> tuple[DistributionChange, ...]:
    """Compare the guard with versions by canonical name; `rewritten` says whose list of files is another one."""
    found = [
        DistributionChange(name=kept.name, was=kept.version, now=now.get(kept.name), of=kept.name)
        for kept in guard.kept
        if now.get(kept.name) != kept.version or rewritten.get(kept.name)
    ]
    names = {kept.name for kept in guard.kept}
    found += [
        DistributionChange(name=each.name, was=None, now=now[each.name], of=each.of, why=each.why)
        for each in guard.conflicts
        if each.name in now and each.name not in names
    ]
    return tuple(found)


def find_steps(changes: Sequence[DistributionChange], steps: Sequence[Step]) -> dict[str, str]:
    """Give the steps that have to be repeated, each with the reason."""
    found: dict[str, str] = {}
    for change in changes:
        info = re.compile(rf"/{file_name(change.of)}-[^/]*\.dist-info/RECORD$")
        makers = [step.id for step in steps if any(info.search(path) for path in step.makes)]
        others = [step.id for step in steps if step.id in LIBRARIES]
        for step in [*makers, *others][:1]:
            found.setdefault(step, describe(change))
    return found


def describe(change: DistributionChange) -> str:
    if change.was is None:
        return f"{change.name} {change.now} came into the environment"
    if change.now is None:
        return f"{change.name} {change.was} was removed from the environment"
    if change.now == change.was:
        return f"{change.name} {change.was} was replaced by another build of the same version"
    return f"{change.name} {change.was} was replaced by {change.now}"


def find_replaced(
    changes: Sequence[DistributionChange], now: Sequence[CurrentDistribution]
) -> tuple[ReplacedPackage, ...]:
    """Say of each change who made it."""
    return tuple(_judge(change, now) for change in changes)


def _judge(change: DistributionChange, now: Sequence[CurrentDistribution]) -> ReplacedPackage:
    found = next((each for each in now if canonicalize_name(each.name) == change.name), None)
    culprit, why = (
        ("", "nothing that is left says who removed it") if found is None else _find_culprit(change, found, now)
    )
    why = "; ".join(part for part in (change.why, why, _kind(found)) if part)
    return ReplacedPackage(
        name=change.name,
        was=change.was,
        now=change.now,
        when=_say_time(found.installed) if found and found.installed else None,
        by=found.installer if found else "",
        culprit=culprit,
        why=why,
    )


def _say_time(seconds: float) -> str:
    return datetime.fromtimestamp(seconds).astimezone().isoformat(timespec="seconds")


def _kind(found: CurrentDistribution | None) -> str:
    """Say what an index's default build is for: this is how people notice that the XPU build is gone."""
    if found is None or found.name != "torch":
        return ""
    names = {canonicalize_name(name) for name, _requirement in _requirements(found)}
    return "this one is built for CUDA" if any(name.startswith("nvidia-") for name in names) else ""


def _find_culprit(
    change: DistributionChange, found: CurrentDistribution, now: Sequence[CurrentDistribution]
) -> tuple[str, str]:
    """Name who brought it: one that ours did not satisfy, whoever asked for it by name, one that came along with it."""
    others = [
        (each, need) for each in now if each is not found for need in [_need(each, change.name)] if need is not None
    ]
    near = [(each, need) for each, need in others if abs(each.installed - found.installed) <= WINDOW]
    for candidates, when in ((near, " (installed at the same time)"), (others, "")):
        for each, need in candidates:
            if change.was is None or not need.specifier.contains(change.was, prereleases=True):
                return f"{each.name} {each.version}", f"{each.name} {each.version}{when} requires {_shown(need)}"
        if candidates is near and found.requested:
            return f"{found.name} {found.version}", f"it was asked for by name: {_command(found)}"
    for each, need in near:
        satisfied = f"which {change.was} satisfied: an upgrade was asked for"
        return (
            f"{each.name} {each.version}",
            f"{each.name} {each.version} (installed at the same time) requires {_shown(need)}, {satisfied}",
        )
    return "", "nothing here says who asked for it"


def _command(found: CurrentDistribution) -> str:
    tool = {"uv": "uv pip install", "pip": "pip install"}.get(
        found.installer, f"by {found.installer or 'unknown means'}"
    )
    return f"{tool} {found.name}"


def _shown(need: Requirement) -> str:
    return f"{need.name}{need.specifier}"


def _need(each: CurrentDistribution, name: str) -> Requirement | None:
    """Give what a distribution requires of another, where it does on this machine and without extras."""
    return next((need for wanted, need in _requirements(each) if canonicalize_name(wanted) == name), None)


def _requirements(each: CurrentDistribution) -> Iterator[tuple[str, Requirement]]:
    for text in each.requires:
        try:
            need = Requirement(text)
        except InvalidRequirement:  # older metadata allowed more; it can't be the one that asks for a version
            continue
        if need.marker is None or need.marker.evaluate({"extra": ""}):
            yield need.name, need


# What is installed in an environment, read from its folder of packages; nothing of it is started.


INFO = ".dist-info"


def list_versions(packages: Path) -> dict[str, str]:
    """Give versions by canonical name from the names of folders alone: quick enough for every build."""
    stems = (path.name.removesuffix(INFO) for path in packages.glob(f"[!~]*{INFO}"))
    return {canonicalize_name(name): version for name, _, version in (stem.partition("-") for stem in stems)}


def read_distributions(packages: Path) -> tuple[CurrentDistribution, ...]:
    """Read what each distribution says of itself, who installed it and when."""
    from importlib.metadata import PathDistribution  # noqa: PLC0415 - slow to import; a build needs none

    folders = sorted(packages.glob(f"[!~]*{INFO}"))
    return tuple(_read(PathDistribution(folder), folder) for folder in folders if (folder / "METADATA").exists())


def _read(one: PathDistribution, folder: Path) -> CurrentDistribution:
    return CurrentDistribution(
        name=one.metadata["Name"],
        version=one.version,
        requires=tuple(one.requires or ()),
        installer=(one.read_text("INSTALLER") or "").strip(),
        requested=(folder / "REQUESTED").exists(),
        installed=folder.stat().st_mtime,
    )


def read_changes(
    document: dict[str, object], stamps: Iterable[Stamp]
) -> tuple[Guard, tuple[DistributionChange, ...]] | None:
    """Say what is no longer as the guard left it; what a finished step left there itself since is as it should be."""
    guard = parse_guard(document)
    if guard is None or not Path(guard.packages).is_dir():
        return None
    now = list_versions(Path(guard.packages))
    changes = find_changes(guard, now, {kept.name: _is_rewritten(kept) for kept in guard.kept})
    own = set(_own(stamps)) if changes else set()
    return guard, tuple(change for change in changes if (change.name, change.now) not in own)


def read_damage(document: dict[str, object], stamps: Iterable[Stamp], steps: Sequence[Step]) -> dict[str, str]:
    """Say which steps of a plan have to be repeated, because what they installed was replaced since."""
    found = read_changes(document, stamps)
    return find_steps(found[1], steps) if found else {}


def find_altered(document: dict[str, object]) -> dict[str, str]:
    """Hash every file of what an environment keeps against its own list; say what became of the first that differs.

    Gives a reason by the path of that list.
    """
    guard = parse_guard(document)
    kept = [each for each in guard.kept if each.record and not each.editable] if guard else []
    return {each.record: why for each in kept if (why := _altered(Path(each.record), each.scripts))}


def _altered(record: Path, scripts: Mapping[str, str]) -> str:
    packages = record.parent.parent
    for row in csv.reader((files.read_text(record) or "").splitlines()):
        name, listed = row[0], row[1] if len(row) > 1 else ""
        if not listed.startswith("sha256=") or "/bin/" in name:
            continue
        path = packages / name
        if not path.is_file():
            return f"{path} is missing"
        digest = base64.urlsafe_b64encode(bytes.fromhex(files.hash_file(path))).rstrip(b"=").decode()
        if digest != listed.removeprefix("sha256="):
            return f"{path} was changed after it was installed"
    for name, sha256 in scripts.items():
        path = packages / name
        if not path.is_file() or files.hash_file(path) != sha256:
            return f"{path.resolve()} {'was changed after it was installed' if path.is_file() else 'is missing'}"
    return ""


def _own(stamps: Iterable[Stamp]) -> Iterable[tuple[str, str]]:
    """Give name and version of what steps installed and what stands as they left it."""
    for stamp in stamps:
        for made in stamp.made:
            path = Path(made.path)
            if path.name == "RECORD" and path.exists() and files.hash_file(path) == made.sha256:
                name, _, version = path.parent.name.removesuffix(INFO).partition("-")
                yield canonicalize_name(name), version


def _is_rewritten(kept: RecordedDistribution) -> bool:
    """Say whether the list of files is another one; it is hashed only where size or time differ."""
    path = Path(kept.record)
    if not kept.record or not path.exists():
        return False  # the version says so then
    if kept.editable:
        told = files.read_text(path.parent / "direct_url.json") or ""
        return '"editable": true' not in told or kept.editable not in told
    seen = path.stat()
    if (seen.st_size, seen.st_mtime_ns) == (kept.size, kept.changed):
        return False
    return files.hash_file(path) != kept.sha256


# What of an environment was replaced since it was made, and by whom: what `status` says of it.


GUARDED = "results/guard.json"


def read_guarded(root: Root) -> dict[str, Any]:
    """Read what was guarded, with its files where they are now; empty where nothing was that can be read."""
    document = read_document(root / GUARDED)
    if parse_guard(document) is None:
        return {}
    rows = [
        {**row, "record": place_here(root, "guard", str(row.get("record", "")))} for row in document["distributions"]
    ]
    return {**document, "packages": place_here(root, "guard", str(document["packages"])), "distributions": rows}


def list_replaced(root: Root) -> list[ReplacedPackage]:
    """List what was replaced, removed or added against the guard; empty where nothing was ever guarded."""
    found = read_changes(read_guarded(root), read_stamps(root).values())
    if found is None or not found[1]:
        return []
    guard, changes = found
    return list(find_replaced(changes, read_distributions(Path(guard.packages))))


def look_for_damage(root: Root, *, check: bool) -> dict[str, str]:
    """Say of each finished step whose files are not as it left them what happened to them.

    `check`: every file is hashed, and what that shows is written down, so that the next build mends it.
    """
    if not check:
        return find_damage(root)
    damaged = {**find_altered_steps(root), **find_damage(root, check=True)}
    with suppress(XpuError, OSError):  # of another user's build it is only told
        keep_damage(root, damaged)
    return damaged


def find_altered_steps(root: Root) -> dict[str, str]:
    """Give the steps whose installed files are no longer as they were installed; every file is hashed."""
    stamps = read_stamps(root)
    altered = find_altered(read_guarded(root))
    steps = {_installed_by(record, stamps): why for record, why in reversed(altered.items())}
    return {step: why for step, why in steps.items() if step in stamps}  # else it is to be installed again anyway


def _installed_by(record: str, stamps: Mapping[str, Stamp]) -> str:
    named = [name for name, stamp in stamps.items() if any(made.path == record for made in stamp.made)]
    return next(iter([*named, *(name for name in LIBRARIES if name in stamps)]), "")
