"""What a plan is for: build compiles, install takes what was published; both run, resume and verify alike."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from xpusetup.plan import make_plan
from xpusetup.plan.install import make_install_plan

if TYPE_CHECKING:
    from collections.abc import Callable

    from xpusetup.model import Goal, Layout, Plan, Request, Target
    from xpusetup.profile import Profile


@dataclass(frozen=True, kw_only=True)
class Purpose:
    """A command that runs a plan: its name, how its plan is made, and for which goal the machine is judged before."""

    command: Literal["build", "install"]
    make: Callable[[Profile, Request, Target, Layout], Plan]
    goal: Goal


BUILD = Purpose(command="build", make=make_plan, goal="build")
INSTALL = Purpose(command="install", make=make_install_plan, goal="run")
