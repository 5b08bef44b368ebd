"""env: the variables of a built environment."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from xpusetup.cli import options

if TYPE_CHECKING:
    from xpusetup.commands.result import AnyResult


@options.spread
def env(
    *,
    where: options.BuiltWhere,
    build: Annotated[bool, typer.Option("--build", help="What a build step sees instead.")] = False,
    closure: Annotated[
        bool, typer.Option("--closure", help="List the libraries that it loads, and whose they are.")
    ] = False,
    shell: options.Shell = "",
    told: options.LongOutput,
) -> None:
    """Print the variables of the built environment, for eval; with --build those of a build step."""

    def work() -> AnyResult:
        if closure:
            from xpusetup.commands.wheel_check import closure as list_libraries

            return list_libraries(where.find(say=told.say))
        from xpusetup.commands.env import env as make

        return make(where.find(say=told.say), build=build, shell=shell, say=told.say)

    told.finish("env --closure" if closure else "env", work)
