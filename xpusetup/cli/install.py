"""install: the published wheels of a release instead of a build."""

from __future__ import annotations

from typing import TYPE_CHECKING

from xpusetup.cli import options

if TYPE_CHECKING:
    from xpusetup.commands.result import AnyResult


@options.command(
    "install", "xpusetup install", "xpusetup install 2.14 --into ~/ml --python 3.12", takes=options.ProfileName
)
def install(
    *,
    where: options.InstallWhere,
    verify: options.Verify = "auto",
    require_hashes: options.Hashes = False,
    bundle: options.Bundle = "",
    events: options.Events = "",
    told: options.LongOutput,
) -> AnyResult:
    """Install the published wheels of PyTorch, and verify them. Nothing is compiled."""
    from xpusetup.commands.build import BuildOptions
    from xpusetup.commands.build import install as make
    from xpusetup.config.request import read_request

    request = read_request(verify=verify, require_hashes=require_hashes)
    with told.view() as view:
        how = BuildOptions(bundle=bundle, events=events, observe=view.observe)
        return make(where.find(may_make=True), request, how)
