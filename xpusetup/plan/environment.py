"""Steps that prepare the environment: it, and what the builds in it need."""

from __future__ import annotations

from typing import TYPE_CHECKING

from packaging.requirements import Requirement

from xpusetup.model import Step
from xpusetup.plan.guard import UNBOUND

if TYPE_CHECKING:
    from xpusetup.plan.context import Context


def make_venv(context: Context) -> Step:
    """Give the step after which there is an environment: a new one, or a look at the one that was named."""
    target, layout = context.target, context.layout
    return Step(
        id="venv",
        title=f"Python {target.python_version} environment",
        run=((target.python, f"{layout.helpers}/make_environment.py", "--into", layout.venv),),
        locks=("venv",),
        makes=(f"{layout.venv}/pyvenv.cfg",),
    )


def make_requirements(context: Context) -> Step:
    """Give the step that installs the build requirements, all pinned exactly."""
    pins = context.profile.build_requirements.pins
    pip = [pin for pin in pins if Requirement(pin).name == "pip"]
    rest = [pin for pin in pins if pin not in pip]
    report = f"{context.layout.venv}/build-requirements.json"
    commands = [context.pip("install", "--no-deps", *pip)] if pip else []
    commands.append(context.pip("install", "--no-deps", "--report", report, *rest))
    return Step(
        id="requirements",
        title=f"{len(pins)} pinned build requirements",
        run=tuple(commands),
        env=UNBOUND,
        needs=("network",),
        after=("venv",),
        locks=("venv",),
        makes=(report,),
    )
