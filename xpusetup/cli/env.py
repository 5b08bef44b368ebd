"""env: the variables of a built environment."""

from typing import Annotated

from xpusetup.cli import options


@options.command(
    "env",
    'eval "$(xpusetup env)"',
    "xpusetup env sim --shell fish | source",
    takes=options.Build,
    common="--shell --build",
)
def env(
    *,
    where: options.BuiltWhere,
    build: Annotated[bool, options.flag("--build", "Print the variables of a build step.")] = False,
    shell: options.Shell = "",
    told: options.LongOutput,
) -> options.Answer:
    """Print the variables of a build's environment, for eval."""
    from xpusetup.commands.env import env as make

    return make(where.find(say=told.say), build=build, shell=shell, say=told.say)
