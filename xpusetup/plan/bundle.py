"""The plan that gathers what a build fetches, for a bundle: its network steps, and wheels of what it installs."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from xpusetup.bundles.contents import PROGRAM, WHEELS
from xpusetup.lanes import lane_of
from xpusetup.model import ROOT, Step
from xpusetup.plan.context import Context

if TYPE_CHECKING:
    from collections.abc import Sequence

    from xpusetup.model import Plan, Request
    from xpusetup.profile import Profile

GATHERED = f"{ROOT}/bundle"
"""What lies here is of use until the bundle is written."""
ALWAYS = ("venv", "requirements")


def make_bundle_plan(profile: Profile, request: Request, plan: Plan, program: Sequence[str]) -> Plan:
    """Give a build's fetching steps and those that gather wheels.

    `program` are version, source and constraints of this program.
    """
    context = Context(profile, request, plan.target, plan.layout)
    wanted = {step.id for step in plan.steps if step.component and step.id.endswith(".fetch")} | {*ALWAYS}
    steps = [step for step in plan.steps if step.id in wanted]
    gathering = (_make_wheels(context, plan), _make_program(context, *program))
    return replace(plan, steps=(*steps, *gathering))


def bundled_pins(profile: Profile, plan: Plan) -> list[str]:
    """Give the pins that a plan installs from wheels: build requirements, and run-time ones where it has them."""
    runtime = profile.runtime_requirements
    return [*profile.build_requirements.pins, *(runtime.pins if runtime and _has_runtime(plan) else [])]


def _has_runtime(plan: Plan) -> bool:
    return any(step.id == "runtime" for step in plan.steps)


def bundled_parts(plan: Plan) -> list[str]:
    """Name the components that a plan fetches."""
    return [step.component for step in plan.steps if step.id.endswith(".fetch") and lane_of(step) == "network"]


def _make_wheels(context: Context, plan: Plan) -> Step:
    # The folder is emptied first: pip takes a file that is there for whole.
    folder, pins = f"{GATHERED}/{WHEELS}", bundled_pins(context.profile, plan)
    names = (
        *(("build",) if context.profile.build_requirements.pins else ()),
        *(("runtime",) if _has_runtime(plan) else ()),
    )
    fetch = context.helper("pinned_wheels.py", "download", *context.pinned(*names), "--into", folder)
    return Step(
        id="bundle.wheels",
        title=f"wheels of {len(pins)} pinned requirements",
        run=(("rm", "-rf", folder), fetch),
        needs=("network",),
        after=("requirements",),
        locks=("venv",),
    )


def _make_program(context: Context, version: str, source: str, constraints: str) -> Step:
    """Gather this program in the versions that run here: what was never tried together is not carried over."""
    folder = f"{GATHERED}/{PROGRAM}"
    words = ("wheel", "--wheel-dir", folder, "--constraint", constraints, source)
    return Step(
        id="bundle.program",
        title=f"xpusetup {version} and what it requires",
        run=(("rm", "-rf", folder), context.pip(*words)),
        needs=("network",),
        after=("requirements",),
        locks=("venv",),
        makes=(f"{folder}/xpusetup-{version}-*.whl",),
    )
