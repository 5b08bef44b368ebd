"""The members of a stack: how each is had and why, and how far it was proved; and what does not fit its torch."""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

from packaging.utils import canonicalize_name

from xpusetup.base.errors import UsageError
from xpusetup.config.member import JudgedCandidate, Membership
from xpusetup.config.profile import Component, Profile
from xpusetup.run.manifest import read_document
from xpusetup.run.root import Root

ASKED = "--take asks for it"


@dataclass(frozen=True, kw_only=True)
class StackMember:
    """A distribution that stands on torch: what of torch it is bound to, how it is had, and how far it was proved.

    `proven`: a call gave the known answer; null where nothing was computed, and `proof` says what was seen or why not.
    """

    name: str
    distribution: str
    binds: str
    how: Literal["wheel", "source", "skip"]
    version: str
    candidates: list[JudgedCandidate]
    proven: bool | None = None
    proof: str = ""


def list_members(profile: Profile, root: Root | None = None) -> list[StackMember]:
    """Give the members of a stack's profile, none of any other; with a root how far each is proved there."""
    return [_make(part, part.member, root) for part in profile.components if part.member is not None]


def _make(part: Component, about: Membership, root: Root | None) -> StackMember:
    proven, told = _read_proof(root, part.name) if root and part.kind != "skip" else (None, "")
    return StackMember(
        name=part.name,
        distribution=part.distribution or part.name,
        binds=about.binds,
        how=part.kind,
        version="" if part.kind == "skip" else part.version,
        candidates=[_candidate(each, part.kind, about) for each in about.candidates],
        proven=proven,
        proof=told,
    )


def _candidate(each: JudgedCandidate, kind: str, about: Membership) -> JudgedCandidate:
    """Give a candidate; where --take asks for another one than was chosen, that one is taken."""
    chosen = next(one.how for one in about.candidates if one.answer == "taken")
    if chosen == kind:
        return each
    if each.how == kind:
        return replace(each, answer="taken", why=ASKED)
    return replace(each, answer="not needed") if each.answer == "taken" else each


def _read_proof(root: Root, name: str) -> tuple[bool | None, str]:
    proved = (root / f"stamps/{name}.proof").exists()
    found: dict[str, Any] = read_document(root / f"results/{name}.proof.json") if proved else {}
    if not found:
        return None, ""
    if found.get("proven"):
        return True, f"gives {found.get('answer')}"
    return None, f"imports; not verified: {found.get('why', '')}"


# Why something is in a stack or a profile: the chain from it to what asks for it.


@dataclass(frozen=True, kw_only=True)
class WhyPackage:
    """Why a distribution is in a plan: line by line, what it is, what of it was looked at, and what stands on it."""

    package: str
    lines: list[str] = field(default_factory=list)


def explain_package(profile: Profile, package: str) -> WhyPackage:
    """Give why a package is in a profile. Raises UsageError for one that is not in it."""
    name = canonicalize_name(package)
    for part in profile.components:
        if name in (part.name, canonicalize_name(part.distribution or part.name)):
            return WhyPackage(package=part.distribution or part.name, lines=list(_why_component(profile, part)))
    runtime = profile.runtime_requirements
    for pins, what in (
        (profile.build_requirements.pins, f"pinned by {profile.name}, for builds and for what runs"),
        (runtime.pins if runtime else [], f"a run-time library that {runtime.component if runtime else ''} requires"),
    ):
        if found := [pin for pin in pins if canonicalize_name(pin.partition("==")[0]) == name]:
            return WhyPackage(package=name, lines=[f"{', '.join(found)}: {what}"])
    known = ", ".join(part.name for part in profile.components)
    raise UsageError(f"{profile.name} has no package {package!r}", fix=f"it has: {known}, and what they require")


def _why_component(profile: Profile, part: Component) -> Iterator[str]:
    how = {"wheel": "a ready wheel", "source": "built from source", "skip": "left out"}[part.kind]
    version = "" if part.kind == "skip" else f" {part.version}"
    yield f"{part.distribution or part.name}{version}: {how}"
    if part.member is not None:
        for each in _make(part, part.member, None).candidates:
            yield f"{each.how}{f' {each.version}' if each.version else ''}: {each.answer}: {each.why}"
        yield f"it is bound to torch by: {part.member.binds}"
    elif part.kind == "skip":
        yield part.reason
    else:
        yield f"{profile.name} has it, {part.confidence}: {part.source}"
    yield from _stands_on(profile, part)
    if users := [each.name for each in profile.components if each.kind != "skip" and part.name in each.after]:
        yield f"on it stand: {', '.join(users)}"


def _stands_on(profile: Profile, part: Component) -> Iterator[str]:
    by_name = {each.name: each for each in profile.components if each.kind != "skip"}
    for name in part.after if part.kind != "skip" else ():
        if (other := by_name.get(name)) is not None:
            of = f", of the profile {part.member.torch}" if part.member and name == "torch" else ""
            yield f"it stands on {other.distribution} {other.version}{of}"


# What lies in a built environment and was made for another torch: what install, build and status say of it.


@dataclass(frozen=True, kw_only=True)
class InstalledMisfit:
    """A distribution that cannot be loaded beside the torch of its environment: why, and the command that mends it."""

    name: str
    version: str
    reason: str
    fix: str


def list_misfits(venv: Path) -> list[InstalledMisfit] | None:
    """Give what does not fit the torch of an environment; None where there is none, or where nobody could look."""
    from xpusetup.machine.probe_fit import find_misfits, read_version, site_packages  # noqa: PLC0415 - it looks, so that who plans has no use for it

    places = list(site_packages(venv))
    found = find_misfits(venv, places)
    if not found:
        return None if found is None else []
    from xpusetup.config.shipped import versions_beside  # noqa: PLC0415 - same
    from xpusetup.machine.companions import TorchThere  # noqa: PLC0415 - most environments have no misfit
    from xpusetup.machine.fit import mend_command  # noqa: PLC0415 - same

    torch, python = read_version(places), str(venv / "bin/python")
    there = TorchThere(torch, versions_beside(torch))
    return [
        InstalledMisfit(name=one.name, version=one.version, reason=one.reason, fix=mend_command(one, python, there))
        for one in found
    ]
