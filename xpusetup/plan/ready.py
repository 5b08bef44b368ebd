"""What a component is built on where that is in the environment already, and is not of this build."""

from __future__ import annotations

from typing import TYPE_CHECKING

from xpusetup.model import Step

if TYPE_CHECKING:
    from xpusetup.plan.context import Context
    from xpusetup.profile import SourceComponent, WheelComponent


def ready_step(name: str) -> str:
    """Give the id of the step that looks at what is there."""
    return f"{name}.ready"


def make_ready(context: Context, part: SourceComponent | WheelComponent) -> Step:
    """Give the step that looks, each time, at the installed distribution that the others are built on."""
    result = f"{context.layout.results}/{part.name}.ready.json"
    wanted = ("--distribution", part.distribution, "--version", part.version)
    return Step(
        id=ready_step(part.name),
        title=f"the {part.distribution} that is there",
        run=(context.helper("ready_distribution.py", *wanted, "--out", result),),
        after=("venv",),
        locks=("venv",),
        makes=(result,),
        component=part.name,
        always=True,
    )
