"""build, install, plan, bisect, emit: from a profile to steps, and to what they make."""

from __future__ import annotations

from typing import TYPE_CHECKING

from xpusetup.cli import options

if TYPE_CHECKING:
    from xpusetup.commands.result import AnyResult


# build, install, plan: from a profile to steps, and to what they make.


@options.command("build")
def build(
    *,
    where: options.BuildWhere,
    request: options.BuildRequest,
    jobs: options.Jobs = 0,
    launcher: options.Launcher = "auto",
    bundle: options.Bundle = "",
    events: options.Events = "",
    told: options.LongOutput,
) -> AnyResult:
    """Build a profile to verified wheels; run again, it goes on where it stopped."""
    from xpusetup.commands.build import BuildOptions
    from xpusetup.commands.build import build as make

    with told.view() as view:
        how = BuildOptions(jobs=jobs, launcher=launcher, bundle=bundle, events=events, observe=view.observe)
        return make(where.find(may_make=True), request.read(), how)
