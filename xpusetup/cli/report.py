"""report: one page about a build."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from xpusetup.cli import options

if TYPE_CHECKING:
    from xpusetup.commands.result import AnyResult


@options.command("report")
def report(
    *,
    where: options.BuiltWhere,
    out: options.Out = "",
    show: Annotated[bool, typer.Option("--open", help="Open it in a browser too.")] = False,
    told: options.ResultOutput,
) -> AnyResult:
    """Write one HTML page that shows what the hours of a build went into."""
    from xpusetup.commands.report import report as make

    return make(where.find(say=told.say), out=out, show=show)
