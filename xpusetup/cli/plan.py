"""plan: the steps of a build, and the state each is in."""

from typing import Annotated

from xpusetup.cli import options


@options.command(
    "plan",
    "xpusetup plan 2.14 -v",
    "xpusetup plan sim --explain",
    takes=options.ProfileName,
    common="--source --only --explain --why",
)
def plan(
    *,
    where: options.BuildWhere,
    request: options.BuildRequest,
    explain: Annotated[bool, options.flag("--explain", "Say why each step would run again.")] = False,
    why: Annotated[str, options.value("--why", "PACKAGE", "Say why this package is installed.")] = "",
    told: options.LongOutput,
) -> options.Answer:
    """Show the steps of a build, the state of each, and what time and disk they take."""
    from xpusetup.commands.plan import plan as make

    return make(where.find(may_make=True), request.read(), explain=explain, why=why)
