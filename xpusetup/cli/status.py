"""run, env, status, report: what was built, and how to use it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from xpusetup.cli import complete, options

if TYPE_CHECKING:
    from xpusetup.commands.result import AnyResult


# run, env, status: what was built, and how to use it.


def _say(text: str) -> None:
    """Say something beside what a shell evaluates."""
    from xpusetup.ui.console import write_text

    write_text(f"xpusetup: {text}\n", stderr=True)


def _silence(_text: str) -> None:
    """Say nothing."""


@options.spread
def run(
    *,
    context: typer.Context,
    where: options.BuiltWhere,
    told: options.Output,
) -> None:
    """Run a command in the built environment: xpusetup run -- python train.py.

    With --json what the command says goes to stderr, and stdout gets how it ended.
    """

    def work() -> AnyResult:
        from xpusetup.commands.environment import run as run_in_place
        from xpusetup.commands.environment import run_and_tell

        place, say = where.find(), _silence if told.quiet else _say
        return run_and_tell(place, context.args) if told.json else run_in_place(place, context.args, say=say)

    told.finish("run", work)


@options.spread
def env(
    *,
    where: options.BuiltWhere,
    build: Annotated[bool, typer.Option("--build", help="What a build step sees instead.")] = False,
    closure: Annotated[
        bool, typer.Option("--closure", help="The libraries that it loads, and whose they are.")
    ] = False,
    told: options.LongOutput,
) -> None:
    """Print the environment of the result for eval, or that of a build step."""

    def work() -> AnyResult:
        if closure:
            from xpusetup.commands.verify_wheel import closure as list_libraries

            return list_libraries(where.find())
        from xpusetup.commands.environment import env as make

        return make(where.find(), build=build, say=_silence if told.quiet else _say)

    told.finish("env --closure" if closure else "env", work)


@options.spread
def status(
    *,
    where: options.BuiltWhere,
    diff: Annotated[
        list[str] | None,
        typer.Option("--diff", help="Beside this saved result; several: those in one table.", metavar="OTHER.json"),
    ] = None,
    log: Annotated[
        str,
        typer.Option("--log", help="What this step says or said.", metavar="STEP", autocompletion=complete.steps),
    ] = "",
    follow: Annotated[bool, typer.Option("--follow", "-f", help="With --log: as it says it.")] = False,
    check: Annotated[bool, typer.Option("--check", help="Hash every file that was made or installed.")] = False,
    told: options.LongOutput,
) -> None:
    """Say what is built and from what."""

    def work() -> AnyResult:
        if log:
            from xpusetup.commands.status import show_log
            from xpusetup.ui.console import write_text

            return show_log(where.find(), log, more=follow, say=lambda text: write_text(text, stderr=told.json))
        if diff:
            from xpusetup.commands.devices import diff as compare

            return compare(where.find(), diff)
        from xpusetup.commands.status import status as make

        return make(where.find(), check=check)

    told.finish("status", work)


@options.spread
def report(
    *,
    where: options.BuiltWhere,
    out: options.Out = "",
    show: Annotated[bool, typer.Option("--open", help="Open it in a browser too.")] = False,
    told: options.Output,
) -> None:
    """Write one HTML page that shows what the hours of a build went into."""

    def work() -> AnyResult:
        from xpusetup.commands.report import report as make

        return make(where.find(), out=out, show=show)

    told.finish("report", work)
