"""self: what this program is."""

from __future__ import annotations

from typing import TYPE_CHECKING

from xpusetup.cli import options

if TYPE_CHECKING:
    from xpusetup.commands.result import AnyResult


@options.command("self", "xpusetup self", "xpusetup self --json")
def show_self(*, told: options.ResultOutput) -> AnyResult:
    """Show the version, how to update, and where files are kept."""
    from xpusetup.commands.self import describe

    return describe()
