"""`--take COMPONENT=HOW`: a part of a profile from source, as the published wheel, or left out; and `--toolkit NAME`.

How what a release takes as a ready wheel is built instead stands in data/from_source.toml, by component and version.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from xpusetup.base.document import read_as
from xpusetup.base.errors import UsageError
from xpusetup.base.values import Name, Strict, Text, VersionText, parse_toml
from xpusetup.config.profile import (
    Component,
    Profile,
    PublishedWheels,
    SkippedComponent,
    SourceComponent,
    WheelComponent,
)
from xpusetup.config.toolkit import ToolkitWanted

ORIGIN = "data/from_source.toml"
"""Where it stands how a ready wheel is built instead, in the package."""
HOWS = {"source": "built from source", "wheel": "taken as a published wheel", "skip": "left out"}
"""In which way a part can be taken, and how that is said."""
NAMED_BY = {"triton": "TRITON_WHEEL_NAME"}
"""The variable by which a build is told what its distribution is called, by component."""
EXAMPLE = "triton"
NAMED = ("vendored", "archives")
"""What a source component lists, and that file has as tables by name."""
DIGITS = 8
"""How many of its commit's a build writes into its version."""


@dataclass(frozen=True, kw_only=True)
class OtherWays(Strict):
    """How one component is built from source: what `every` version shares, and what is `of` one.

    `without` is what is given up where it is left out, `checks` are those of verify that cannot pass then.
    """

    without: Text
    checks: list[Name] = field(default_factory=list)
    every: dict[str, Any]
    of: dict[VersionText, dict[str, Any]]


Ways = dict[Name, OtherWays]


@dataclass(frozen=True)
class Taken:
    """A profile with its parts as they were asked for, and a word on each that is not as the profile has it."""

    profile: Profile
    notes: tuple[str, ...] = ()


def parse_ways(text: str) -> Ways:
    """Read the file of other ways, by component."""
    return read_as(Ways, parse_toml(text))


def parse_takes(texts: Iterable[str]) -> dict[str, str]:
    """Read `COMPONENT=HOW` as often as it was given. Raises UsageError for anything else."""
    found: dict[str, str] = {}
    for text in texts:
        name, _, how = text.partition("=")
        if not name or how not in HOWS:
            fix = f"as in: {', '.join(f'--take {name or EXAMPLE}={each}' for each in HOWS)}"
            raise UsageError(f"--take {text!r} is not COMPONENT={'|'.join(HOWS)}", fix=fix)
        if found.setdefault(name, how) != how:
            raise UsageError(f"--take names {name} twice", fix=f"--take {name}={how}, or --take {name}={found[name]}")
    return found


def take_parts(profile: Profile, takes: Mapping[str, str], ways: Ways) -> Taken:
    """Give the profile with each of these parts taken as asked. Raises UsageError for a way that it does not have."""
    names = [part.name for part in profile.components]
    if unknown := next((name for name in takes if name not in names), ""):
        raise UsageError(f"{profile.name} has no component {unknown!r}", fix=f"it has: {', '.join(names)}")
    changed = {
        part.name: _take(profile, part, takes[part.name], ways) for part in profile.components if part.name in takes
    }
    parts = [changed.get(part.name, part) for part in profile.components]
    notes = (_describe(part) for part, old in zip(parts, profile.components, strict=True) if part is not old)
    told = [part for part in parts if part.kind == "wheel" and part.member is not None and part.member.undecided]
    hashes = {f"{canonicalize_name(part.distribution)}=={part.version}": _files(part) for part in told if _files(part)}
    published = _publish(profile, parts, [f"{part.distribution}=={part.version}" for part in told])
    made = replace(profile, components=parts, published=published, hashes={**profile.hashes, **hashes})
    return Taken(made, tuple(notes))


def _files(part: WheelComponent) -> list[str]:
    return part.member.undecided.files if part.member is not None and part.member.undecided else []


def _undecided(part: Component) -> WheelComponent | None:
    """Give the wheel of a stack's member of which nobody could say whether it fits."""
    tried = part.member.undecided if part.member is not None else None
    if tried is None or part.kind == "wheel":
        return None
    return WheelComponent(
        kind="wheel",
        name=part.name,
        distribution=part.distribution or part.name,
        version=tried.version,
        index=tried.index,
        after=tried.after,
        source=tried.source,
        confidence=tried.confidence,
        member=part.member,
    )


def _publish(profile: Profile, parts: Iterable[Component], more: list[str]) -> PublishedWheels | None:
    """Give what was published without what is left out now, or built on top of it; None where nothing is left.

    `more` is what is taken now and was left out.
    """
    if profile.published is None:
        return None
    left = (part for part in parts if part.kind == "skip" or (part.kind == "source" and part.member is not None))
    gone = {canonicalize_name(part.distribution or part.name) for part in left}
    kept = [pin for pin in profile.published.wheels if canonicalize_name(Requirement(pin).name) not in gone]
    return replace(profile.published, wheels=[*kept, *more]) if kept else None


def _take(profile: Profile, part: Component, how: str, ways: Ways) -> Component:
    can = ways_of(profile, part, ways)
    if how in can:
        return can[how]
    fix = "this is what can be asked of it: " + ", ".join(f"--take {part.name}={each}" for each in can)
    why = f"{part.name} of {profile.name} cannot be {HOWS[how]}: {_why_not(profile, part, how)}"
    raise UsageError(why, fix=fix)


def _why_not(profile: Profile, part: Component, how: str) -> str:
    if part.kind == "skip":
        return f"the profile leaves it out: {part.reason}"
    if how == "source":
        known = f"how {part.distribution} {part.version} is built is not known"
        return f"{known} (a tree of your own is built by --source {part.name}=DIR)"
    users = ", ".join(_built_on(profile, part.name))
    if users:
        return f"{users} build on it"
    return f"no wheel of {part.distribution} was published with this release, as far as is known"


def ways_of(profile: Profile, part: Component, ways: Ways) -> dict[str, Component]:
    """Give the part in each way that it can be taken; the profile's own comes first."""
    found: dict[str, Component] = {part.kind: part}
    if tried := _undecided(part):
        found["wheel"] = tried
    if isinstance(part, SkippedComponent):
        return found
    if isinstance(part, WheelComponent) and (made := part.from_source or _from_source(part, ways)):
        found["source"] = made
    if _built_on(profile, part.name):
        return found
    if isinstance(part, SourceComponent) and (ready := _published(profile, part)):
        found["wheel"] = ready
    return {**found, "skip": _left_out(part, ways)}


def _built_on(profile: Profile, name: str) -> tuple[str, ...]:
    """Name what builds on a part: other components, and the run-time requirements that its wheel names."""
    runtime = profile.runtime_requirements
    parts = tuple(part.name for part in profile.components if part.kind != "skip" and name in part.after)
    return (*parts, *(("the run-time requirements",) if runtime and runtime.component == name else ()))


def _from_source(part: WheelComponent, ways: Ways) -> SourceComponent | None:
    known = ways.get(part.name)
    own = known.of.get(part.version) if known else None
    if known is None or own is None:
        return None
    said = _merge(known.every, own)
    named = {NAMED_BY[part.name]: part.distribution} if part.name in NAMED_BY else {}
    data = {
        **said,
        **{key: [{"name": name, **table} for name, table in said.get(key, {}).items()] for key in NAMED},
        "kind": "source",
        "name": part.name,
        "distribution": part.distribution,
        "version": f"{part.version}+git{own['rev'][:DIGITS]}",
        "pin_file": part.pin_file,
        "after": part.after,
        "environment": {**named, **said.get("environment", {})},
    }
    return read_as(SourceComponent, data)


def _merge(every: Mapping[str, Any], own: Mapping[str, Any]) -> dict[str, Any]:
    """Put what one version says over what all share, table by table."""
    both = {key: _merge(every[key], own[key]) for key in own if isinstance(own[key], dict) and key in every}
    return {**every, **own, **both}


def _published(profile: Profile, part: SourceComponent) -> WheelComponent | None:
    """Give the wheel that the project published of a part with its release."""
    published = profile.published
    pins = map(Requirement, published.wheels if published else ())
    name = canonicalize_name(part.distribution)
    pin = next((pin for pin in pins if canonicalize_name(pin.name) == name), None)
    if published is None or pin is None:
        return None
    return WheelComponent(
        kind="wheel",
        name=part.name,
        distribution=part.distribution,
        version=next(iter(pin.specifier)).version,
        index=published.index,
        after=part.after,
        source=published.source,
        confidence=published.confidence,
    )


def _left_out(part: SourceComponent | WheelComponent, ways: Ways) -> SkippedComponent:
    known = ways.get(part.name)
    return SkippedComponent(
        kind="skip",
        name=part.name,
        reason=known.without if known else "what needs it finds none",
        distribution=part.distribution,
        checks=known.checks if known else [],
        member=part.member,
    )


def _describe(part: Component) -> str:
    if part.kind == "skip":
        return f"{part.name} is left out, as --take asks: {part.reason}"
    if part.kind == "wheel":
        return f"{part.name} is the published {part.distribution} {part.version}, as --take asks, and not built"
    free = [each.url.rpartition("/")[2] for each in part.archives if each.sha256 is None]
    origin = f"; nobody published the hash of {', '.join(free)}" if free else ""
    return f"{part.name} is built from source, as --take asks: {part.distribution} {part.version}{origin}"


# --toolkit: with which of a profile's tool chains it is compiled.


def choose_toolkit(profile: Profile, name: str) -> Profile:
    """Give the profile with the toolkit of that name alone; with the preferred one it is the profile as it is.

    Where the chosen one brings no runtime as wheels, those that the preferred one brings are not required either.
    Raises UsageError where it has none of that name.
    """
    kits = {each.called: each for each in toolkits_of(profile)}
    if name not in kits:
        fix = f"it has: {', '.join(kits)}" if kits else "leave --toolkit out: it is built without one"
        raise UsageError(f"{profile.name} has no toolkit {name!r}", fix=fix)
    chosen = kits[name]
    if chosen == profile.toolkit:
        return profile
    runtime = profile.runtime_requirements if chosen.runtime == "wheels" else None
    kept = [pin for pin in runtime.pins if Requirement(pin).name not in chosen.without] if runtime else []
    return replace(
        profile,
        toolkit=chosen,
        other_toolkits=[],
        build_requirements=replace(
            profile.build_requirements, pins=_replaced(profile.build_requirements.pins, chosen.replaces)
        ),
        runtime_requirements=replace(runtime, pins=_replaced(kept, chosen.replaces)) if runtime else None,
        components=[_named(part, profile, chosen.local) for part in profile.components],
    )


def _replaced(pins: Iterable[str], others: Iterable[str]) -> list[str]:
    """Give pins with those of others in the place of what they pin too."""
    by_name = {Requirement(pin).name: pin for pin in others}
    return [by_name.get(Requirement(pin).name, pin) for pin in pins]


def _named(part: Component, profile: Profile, local: str) -> Component:
    """Give a part with a version of its own, where it is the one that brings another run time than the published."""
    runtime = profile.runtime_requirements
    if not local or runtime is None or part.name != runtime.component or part.kind != "source":
        return part
    return replace(part, version=f"{part.version}.{local}")


def toolkits_of(profile: Profile) -> tuple[ToolkitWanted, ...]:
    """Give all toolkits of a profile, the preferred one first."""
    return (*([profile.toolkit] if profile.toolkit else ()), *profile.other_toolkits)


def describe_chosen(profile: Profile) -> str:
    kit = profile.toolkit
    if kit is None:
        return ""
    lost = f". It gives up {kit.gives_up}" if kit.gives_up else ""
    return f"--toolkit {kit.called}: {kit.title}, {kit.confidence}{lost}"
