"""run: a command in a built environment."""

import typer

from xpusetup.cli import options


@options.command(
    "run",
    "xpusetup run -- python train.py",
    "xpusetup run sim -- python -c 'import torch'",
    takes=options.Build,
    follows=True,
)
def run(*, context: typer.Context, where: options.BuiltWhere, told: options.ResultOutput) -> options.Answer:
    """Run a command in the environment of a build.

    With --json, the command's output goes to stderr; stdout says how it ended.
    """
    from xpusetup.commands.run import run as run_in_place
    from xpusetup.commands.run import run_and_tell

    place = where.find(say=told.say)
    return run_and_tell(place, context.args) if told.json else run_in_place(place, context.args)
