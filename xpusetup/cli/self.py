"""self: what this program is."""

from __future__ import annotations

from typing import TYPE_CHECKING

from xpusetup.cli import options

if TYPE_CHECKING:
    from xpusetup.commands.result import AnyResult


@options.command("self", "xpusetup self", "xpusetup self --json")
def show_self(*, told: options.ResultOutput) -> AnyResult:
    """Say which xpusetup this is, how to update it, and where it keeps things."""
    from xpusetup.commands.self import describe

    return describe()
