"""What the shell offers when someone presses Tab: profiles, and the components and steps of the one that is named."""

from __future__ import annotations

from typing import TYPE_CHECKING

import typer  # noqa: TC002 - Typer reads the annotation when it runs

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from xpusetup.config.profile import Profile, SourceComponent, WheelComponent


def profiles(incomplete: str) -> list[str]:
    """Offer the profiles that ship, also by their short names."""
    from xpusetup.config.shipped import profile_names

    names = profile_names()
    short = (name.removeprefix("torch-") for name in names if name.startswith("torch-"))
    return [name for name in (*names, *(short if incomplete else ())) if name.startswith(incomplete)]


def stacks(incomplete: str) -> list[str]:
    """Offer the stacks that ship."""
    from xpusetup.config.shipped import stack_names

    return [name for name in stack_names() if name.startswith(incomplete)]


def components(context: typer.Context, incomplete: str) -> list[str]:
    """Offer the components of the profile that stands on the line."""
    return [part.name for part in _parts(context) if part.name.startswith(incomplete)]


def steps(context: typer.Context, incomplete: str) -> list[str]:
    """Offer the steps of the profile that stands on the line."""
    own = ["venv", "requirements", "verify.smoke"]
    names = [*own, *(f"{part.name}.{stage}" for part in _parts(context) for stage in _stages(part))]
    return [name for name in names if name.startswith(incomplete)]


def forms(incomplete: str) -> list[str]:
    """Offer the forms of emit."""
    from xpusetup.commands.emit import KINDS

    return [name for name in sorted(KINDS) if name.startswith(incomplete)]


def systems(incomplete: str) -> list[str]:
    """Offer the systems that images can be made of."""
    from xpusetup.emit.image_system import image_table

    return [system.id for system in image_table().system if system.id.startswith(incomplete)]


def suites(incomplete: str) -> list[str]:
    """Offer the suites of tests."""
    from xpusetup.commands.suites import list_suites

    return [suite.name for suite in list_suites().data.list_ if suite.name.startswith(incomplete)]


def targets(context: typer.Context, incomplete: str) -> list[str]:
    """Offer device targets: those of the GPUs that are known, where the profile that is named takes some."""
    from xpusetup.base.values import parse_toml
    from xpusetup.system.files import package_text

    profile = _profile(context)
    if profile is not None and profile.arch is None:
        return []
    known = {name for family in parse_toml(package_text("data/gpus.toml"))["family"] for name in family["targets"]}
    done, comma, begun = incomplete.rpartition(",")
    return [f"{done}{comma}{name}" for name in ("auto", *sorted(known)) if name.startswith(begun)]


def names(incomplete: str) -> list[str]:
    """Offer the builds that are here."""
    from xpusetup.base.errors import XpuError
    from xpusetup.run.root import find_roots
    from xpusetup.run.workspace import load_settings, roots_folder

    try:
        there = [root.path.name for root in find_roots(roots_folder(load_settings()))]
    except XpuError:  # settings that cannot be read, or are not trusted: the command itself says so
        return []
    return [name for name in there if name.startswith(incomplete)]


def builds(incomplete: str) -> list[str]:
    """Offer the builds that are here; where there are none, the profiles."""
    return names(incomplete) or profiles(incomplete)


def assigned(context: typer.Context, incomplete: str) -> list[str]:
    """Offer the components for an option of the form COMPONENT=VALUE."""
    return [f"{name}=" for name in components(context, incomplete)]


def takes(context: typer.Context, incomplete: str) -> list[str]:
    """Offer each way in which a component can be taken."""
    from xpusetup.config.shipped import other_ways
    from xpusetup.config.take import ways_of

    profile = _profile(context)
    parts = profile.components if profile else ()
    offered = (f"{part.name}={how}" for part in parts if profile for how in ways_of(profile, part, other_ways()))
    return [each for each in offered if each.startswith(incomplete)]


def toolkits(context: typer.Context, incomplete: str) -> list[str]:
    """Offer the tool chains that a profile can be compiled with."""
    from xpusetup.config.take import toolkits_of

    profile = _profile(context)
    names = (kit.called for kit in (toolkits_of(profile) if profile else ()))
    return [name for name in names if name.startswith(incomplete)]


def variables(context: typer.Context, incomplete: str) -> list[str]:
    """Offer the components for an option of the form COMPONENT.KEY=VALUE."""
    return [f"{name}." for name in components(context, incomplete)]


def one_of(*words: str) -> Callable[[str], list[str]]:
    """Offer these words."""
    return lambda incomplete: [word for word in words if word.startswith(incomplete)]


def _stages(part: SourceComponent | WheelComponent) -> tuple[str, ...]:
    if part.kind == "wheel":
        return ("fetch", "install")
    return ("fetch", *(("configure",) if part.configure else ()), "build", "inspect", "install")


def _parts(context: typer.Context) -> Iterator[SourceComponent | WheelComponent]:
    profile = _profile(context)
    yield from (part for part in (profile.components if profile else ()) if part.kind != "skip")


def _profile(context: typer.Context) -> Profile | None:
    """Load the profile that stands on the line, of several the last; None where there is none of that name yet."""
    from xpusetup.base.errors import XpuError
    from xpusetup.config.shipped import load_profile, newest_profile

    given = context.params.get("profile") or context.params.get("named")
    named = given[-1] if isinstance(given, list | tuple) and given else given
    try:
        return load_profile(named or newest_profile())
    except XpuError:
        return None
