"""What a plan brings in of which nobody published a hash: of unverified origin, held to what came first."""

from __future__ import annotations

from typing import TYPE_CHECKING

from xpusetup.errors import UsageError
from xpusetup.hashes import key_of
from xpusetup.plan.environment import pins_of_python
from xpusetup.plan.installer import installer_step

if TYPE_CHECKING:
    from collections.abc import Iterator

    from xpusetup.model import Plan, Request
    from xpusetup.profile import Profile


def find_unverified(profile: Profile, plan: Plan) -> tuple[str, ...]:
    """Name what the steps of a plan fetch without a published hash: pins as name==version, programs with address."""
    free = [pin for pin in _fetched(profile, plan) if key_of(pin) not in profile.hashes]
    found = dict.fromkeys(pins_of_python(free, plan.target.python_version))
    steps = {step.id for step in plan.steps}
    maker = profile.installer
    return (*found, *((f"{maker.program} {maker.release}",) if maker and installer_step(maker) in steps else ()))


def check_origins(profile: Profile, request: Request, plan: Plan) -> Plan:
    """Give the plan. Raises UsageError where hashes are required and one is not known."""
    found = find_unverified(profile, plan) if request.require_hashes else ()
    if found:
        fix = (
            "leave --require-hashes out, or write the sha256 of each file into [hashes] of a profile of your own,"
            f" which this begins: xpusetup profiles lock --profile {profile.name} --out FILE"
        )
        raise UsageError(f"no published hash is known of {', '.join(found)}", fix=fix)
    return plan


def _fetched(profile: Profile, plan: Plan) -> Iterator[str]:
    """Give the pins that the steps of a plan bring in."""
    network = {step.id for step in plan.steps if "network" in step.needs}
    if "requirements" in network:
        yield from profile.build_requirements.pins
    if "runtime" in network and profile.runtime_requirements:
        yield from profile.runtime_requirements.pins
    for part in profile.components:
        if part.kind == "wheel" and any(part.name == step.component and _fetches(step.run) for step in plan.steps):
            yield f"{part.distribution}=={part.version}"
    if profile.published and any(name.endswith(".download") for name in network):
        yield from profile.published.wheels


def _fetches(run: tuple[tuple[str, ...], ...]) -> bool:
    return any(word.endswith("/fetch_wheel.py") for argv in run for word in argv[:2])
