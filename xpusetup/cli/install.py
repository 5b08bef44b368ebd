"""install: the published wheels of a release instead of a build."""

from __future__ import annotations

from typing import TYPE_CHECKING

from xpusetup.cli import options

if TYPE_CHECKING:
    from xpusetup.commands.result import AnyResult


@options.command("install")
def install(
    *,
    where: options.InstallWhere,
    verify: options.Verify = "auto",
    require_hashes: options.Hashes = False,
    bundle: options.Bundle = "",
    events: options.Events = "",
    told: options.LongOutput,
) -> AnyResult:
    """Install the published wheels of a profile's release instead of compiling, and verify them."""
    from xpusetup.commands.build import BuildOptions
    from xpusetup.commands.build import install as make
    from xpusetup.config.request import read_request

    request = read_request(verify=verify, require_hashes=require_hashes)
    with told.view() as view:
        how = BuildOptions(bundle=bundle, events=events, observe=view.observe)
        return make(where.find(may_make=True), request, how)
