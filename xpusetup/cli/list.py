"""list: the builds that are here."""

from __future__ import annotations

from typing import TYPE_CHECKING

from xpusetup.cli import options

if TYPE_CHECKING:
    from xpusetup.commands.result import AnyResult


@options.command("list")
def list_builds(*, told: options.LongOutput) -> AnyResult:
    """List the builds and environments here: release, state, whether verified, size, age."""
    from xpusetup.commands.list import list_builds as make
    from xpusetup.ui.live import waiting

    with waiting("measuring what is there", quiet=told.silent):
        return make()
