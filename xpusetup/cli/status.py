"""status: how far a build is, what it holds, and what it was made from."""

from functools import partial
from typing import Annotated

from xpusetup.cli import complete, options
from xpusetup.cli.finish import say_part


@options.command(
    "status",
    "xpusetup status --check",
    "xpusetup status sim --log simxpu.build -f",
    takes=options.AnyBuild,
    common="--check --log --follow",
)
def status(
    *,
    where: options.BuiltWhere,
    log: Annotated[str, options.value("--log", "STEP", "Print the log of this step.", offer=complete.steps)] = "",
    follow: Annotated[bool, options.flag("--follow -f", "With --log: go on as it is written.")] = False,
    check: Annotated[bool, options.flag("--check", "Hash every file that was made or installed.")] = False,
    told: options.LongOutput,
) -> options.Answer:
    """Say how far a build is, what it holds, and what it was made from."""
    if log:
        from xpusetup.commands.status import show_log
        from xpusetup.ui.console import write_text

        write = partial(write_text, stderr=told.json)
        return show_log(where.find(), log, more=follow, say=lambda text: say_part(partial(write, text)))
    from xpusetup.commands.status import status as make

    return make(where.find(), check=check)
