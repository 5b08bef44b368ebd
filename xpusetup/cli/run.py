"""run: a command in a built environment."""

from __future__ import annotations

from typing import TYPE_CHECKING

import typer  # noqa: TC002 - Typer reads the annotation when it runs

from xpusetup.cli import options

if TYPE_CHECKING:
    from xpusetup.commands.result import AnyResult


@options.command(
    "run",
    "xpusetup run -- python train.py",
    "xpusetup run sim -- python -c 'import torch'",
    takes=options.Build,
    follows=True,
)
def run(*, context: typer.Context, where: options.BuiltWhere, told: options.ResultOutput) -> AnyResult:
    """Run a command in the environment of a build.

    With --json, the command's output goes to stderr; stdout says how it ended.
    """
    from xpusetup.commands.run import run as run_in_place
    from xpusetup.commands.run import run_and_tell

    place = where.find(say=told.say)
    return run_and_tell(place, context.args) if told.json else run_in_place(place, context.args)
