"""The step that keeps an environment as it was made: constraints for pip, and a record for `status`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from packaging.requirements import Requirement

from xpusetup.model import Step
from xpusetup.plan.conflicts import conflicts_among

if TYPE_CHECKING:
    from collections.abc import Sequence

    from xpusetup.model import Layout
    from xpusetup.plan.context import Context

RECORD = "guard.json"
UNBOUND = (("PIP_CONSTRAINT", "/dev/null"),)
"""For steps that install exactly what the plan names: the constraints that the guard left there must not refuse it."""


def constraints_file(layout: Layout) -> str:
    """Give the file that names what must not be replaced in the environment."""
    return f"{layout.venv}/xpusetup-constraints.txt"


def make_guard(context: Context, distributions: Sequence[str], last: str) -> Step:
    """Give the step that guards these distributions, and the run-time libraries that are there."""
    runtime = context.profile.runtime_requirements
    libraries = [Requirement(pin).name for pin in runtime.pins] if runtime else []
    conflicts = conflicts_among(distributions, context.target.accelerator)
    out = f"{context.layout.results}/{RECORD}"
    options = (
        *(word for name in distributions for word in ("--pin", name)),
        *(word for name in libraries for word in ("--keep", name)),
        *(word for each in conflicts for word in ("--conflict", each.of, each.why, *each.names)),
        *("--constraints", constraints_file(context.layout), "--out", out),
    )
    return Step(
        id="guard",
        title="pip keeps what was installed",
        run=(context.helper("guard_environment.py", *options),),
        after=(last,),
        locks=("venv",),
        makes=(constraints_file(context.layout), out),
    )
