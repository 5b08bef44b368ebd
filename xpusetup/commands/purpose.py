"""What a plan is for: build compiles, install takes what was published; both run, resume and verify alike."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

from xpusetup.plan import make_plan
from xpusetup.plan.environment import built_pins
from xpusetup.plan.install import make_install_plan, published_pins

if TYPE_CHECKING:
    from collections.abc import Callable

    from xpusetup.model import Goal, Layout, Plan, Request, Target
    from xpusetup.profile import Profile


@dataclass(frozen=True, kw_only=True)
class Purpose:
    """A command that runs a plan: how that is made, what it installs, and for which goal the machine is judged."""

    command: Literal["build", "install"]
    make: Callable[[Profile, Request, Target, Layout], Plan]
    pins: Callable[[Profile], list[str]]
    goal: Goal


BUILD = Purpose(command="build", make=make_plan, pins=built_pins, goal="build")
INSTALL = Purpose(command="install", make=make_install_plan, pins=published_pins, goal="run")


def purpose_of_build(profile: Profile) -> Purpose:
    """Give what `build` means: where nothing is compiled, the machine need not be able to."""
    return BUILD if profile.compiles else replace(BUILD, goal="run")
