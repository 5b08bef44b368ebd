"""self: what this program is."""

from __future__ import annotations

from typing import TYPE_CHECKING

from xpusetup.cli import options

if TYPE_CHECKING:
    from xpusetup.commands.result import AnyResult


@options.command("self")
def show_self(*, told: options.ResultOutput) -> AnyResult:
    """Say which xpusetup this is, how a newer one comes, and where builds, sources and settings lie."""
    from xpusetup.commands.self import describe

    return describe()
