"""profiles: what ships, what one says, and whether a file is right."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from xpusetup.commands.result import Result
from xpusetup.commands.workspace import load_device, load_profile, profile_names

if TYPE_CHECKING:
    from xpusetup.profile import Profile


def list_profiles() -> Result:
    """List the profiles that ship with the program."""
    return Result("profiles list", {"profiles": [_row(load_profile(name)) for name in profile_names()]})


def _row(profile: Profile) -> dict[str, Any]:
    torch = next((part for part in profile.components if part.name == "torch" and part.kind != "skip"), None)
    return {
        "name": profile.name,
        "tier": profile.tier,
        "accelerator": profile.accelerator,
        "summary": profile.summary,
        "torch": torch.version if torch else None,
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
