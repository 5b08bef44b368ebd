"""report: one page about a build."""

from typing import Annotated

from xpusetup.cli import options


@options.command(
    "report", "xpusetup report --open", "xpusetup report sim -o report.html", takes=options.Build, common="--open --out"
)
def report(
    *,
    where: options.BuiltWhere,
    out: options.Out = "",
    show: Annotated[bool, options.flag("--open", "Open it in a browser.")] = False,
    told: options.ResultOutput,
) -> options.Answer:
    """Write an HTML page that shows where the time of a build went."""
    from xpusetup.commands.report import report as make

    return make(where.find(say=told.say), out=out, show=show)
