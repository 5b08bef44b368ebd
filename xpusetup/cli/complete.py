"""What the shell offers when someone presses Tab: profiles, and the components and steps of the one that is named."""

from __future__ import annotations

from typing import TYPE_CHECKING

import typer  # noqa: TC002 - Typer reads the annotation when it runs

if TYPE_CHECKING:
    from collections.abc import Iterator

    from xpusetup.profile import SourceComponent, WheelComponent


def profiles(incomplete: str) -> list[str]:
    """Offer the profiles that ship."""
    from xpusetup.commands.knowledge import profile_names

    return [name for name in profile_names() if name.startswith(incomplete)]


def components(context: typer.Context, incomplete: str) -> list[str]:
    """Offer the components of the profile that stands on the line."""
    return [part.name for part in _parts(context) if part.name.startswith(incomplete)]


def steps(context: typer.Context, incomplete: str) -> list[str]:
    """Offer the steps of the profile that stands on the line."""
    own = ["venv", "requirements", "verify.smoke"]
    names = [*own, *(f"{part.name}.{stage}" for part in _parts(context) for stage in _stages(part))]
    return [name for name in names if name.startswith(incomplete)]


def _stages(part: SourceComponent | WheelComponent) -> tuple[str, ...]:
    if part.kind == "wheel":
        return ("fetch", "install")
    return ("fetch", *(("configure",) if part.configure else ()), "build", "inspect", "install")


def _parts(context: typer.Context) -> Iterator[SourceComponent | WheelComponent]:
    from xpusetup.commands.knowledge import load_profile, newest_profile
    from xpusetup.errors import XpuError

    try:
        profile = load_profile(context.params.get("profile") or newest_profile())
    except XpuError:  # a name that is not there yet: nothing to offer
        return
    yield from (part for part in profile.components if part.kind != "skip")
