"""What of a build or an installation is of unverified origin, with the hashes that it is held to."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from xpusetup.effects.root import read_origins
from xpusetup.plan.origins import find_unverified

if TYPE_CHECKING:
    from xpusetup.effects.root import Root
    from xpusetup.model import Plan
    from xpusetup.profile import Profile


def describe_unverified(profile: Profile, root: Root, plan: Plan | None = None) -> list[dict[str, Any]]:
    """Give what came into a root without a published hash, and what a plan will fetch so: its sha256 is null."""
    known = {name: found for name, found in read_origins(root).items() if name not in profile.hashes}
    names = {*(find_unverified(profile, plan) if plan else ()), *known}
    return [{"name": name, "sha256": known.get(name)} for name in sorted(names)]
