"""One target of ninja instead of a whole component: which component that is, and where its plan is cut."""

from __future__ import annotations

from typing import TYPE_CHECKING

from xpusetup.errors import UsageError

if TYPE_CHECKING:
    from xpusetup.model import Request
    from xpusetup.profile import Profile


def find_target_part(profile: Profile, request: Request) -> str:
    """Name the component whose ninja is asked for a target. Raises UsageError where there is none, or more than one."""
    if request.until or request.verify == "require":
        other = "--until" if request.until else "--verify require"
        raise UsageError(f"--target and {other} exclude each other", fix=f"leave {other} out: a target makes no wheel")
    sources = {part.name: part for part in profile.components if part.kind == "source"}
    asked = [name for name in request.only or sources if name in sources]
    able = [name for name in asked if sources[name].cmake and sources[name].configure]
    if len(able) == 1:
        return able[0]
    every = [name for name, part in sources.items() if part.cmake and part.configure]
    if not every:
        raise UsageError(
            f"{profile.name} builds nothing with CMake, and so has no ninja targets", fix="leave --target out"
        )
    named = " or ".join(f"--only {name}" for name in every)
    what = (
        f"{', '.join(asked or request.only)} has no build by CMake" if not able else "several components have targets"
    )
    raise UsageError(f"--target {request.target}: {what}", fix=named)


def step_of(part: str) -> str:
    """Give the id of the step that builds one target."""
    return f"{part}.target"
