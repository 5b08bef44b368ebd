"""Plans of shipped profiles as they are made anywhere: for a machine without a toolkit."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from data.machines import machine
from data.profiles import device
from xpusetup.base.model import Layout, Plan, Request
from xpusetup.config.settings import Settings
from xpusetup.plan.steps import make_plan
from xpusetup.plan.target import make_target

if TYPE_CHECKING:
    from xpusetup.config.profile import Profile


def plan_of(profile: Profile, request: Request | None = None) -> Plan:
    """Give the plan of a profile for every component, or for what is asked."""
    facts = machine(toolkits={"found": []})
    target = make_target(profile, facts, device(profile.accelerator), Request(), Settings())
    return make_plan(profile, request or Request(), target, Layout())


def locked(profile: Profile) -> Profile:
    """Give a profile as a lock leaves it, as far as a plan cares: branches have a commit."""
    parts = [replace(part, rev="0" * 40) if part.kind == "source" and part.ref else part for part in profile.components]
    return replace(profile, components=parts)
