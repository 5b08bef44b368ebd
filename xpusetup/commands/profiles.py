"""profiles: what ships, what one says, and whether a file is right."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, get_args

from packaging.version import Version

from xpusetup.commands.result import Result
from xpusetup.commands.workspace import load_device, load_profile, profile_names
from xpusetup.profile import Tier

if TYPE_CHECKING:
    from xpusetup.profile import Profile


def list_profiles() -> Result:
    """List the profiles that ship with the program: tier by tier, the newest release first."""
    profiles = sorted((load_profile(name) for name in profile_names()), key=_place)
    return Result("profiles list", {"profiles": [_row(profile) for profile in profiles]})


def _place(profile: Profile) -> tuple[int, bool, tuple[int, ...]]:
    torch = _torch_version(profile)
    release = Version(torch).release if torch else ()
    return get_args(Tier).index(profile.tier), profile.accelerator == "cpu", tuple(-part for part in release)


def _torch_version(profile: Profile) -> str | None:
    found = (part for part in profile.components if part.name == "torch" and part.kind != "skip")
    return next((part.version for part in found), None)


def _row(profile: Profile) -> dict[str, Any]:
    return {
        "name": profile.name,
        "tier": profile.tier,
        "accelerator": profile.accelerator,
        "summary": profile.summary,
        "torch": _torch_version(profile),
        "toolkit": f"{profile.toolkit.kind} {profile.toolkit.preferred}" if profile.toolkit else None,
        "python": profile.python,
        "tried": profile.tried,
    }


def show_profile(name: str) -> Result:
    """Give all that a profile says, with the source and confidence of each pin."""
    return Result("profiles show", load_profile(name).model_dump(by_alias=True, mode="json"))


def check_profile(name: str) -> Result:
    """Check a profile. Raises UsageError with every error of the file."""
    profile = load_profile(name)
    load_device(profile.accelerator)
    return Result("profiles check", {"profile": profile.name, "components": [part.name for part in profile.components]})
