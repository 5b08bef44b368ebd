"""run, env, status, report: what was built, and how to use it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from xpusetup.cli import complete, options
from xpusetup.cli.finish import finish
from xpusetup.cli.finish import where as make_where

if TYPE_CHECKING:
    from xpusetup.commands.result import AnyResult


# run, env, status: what was built, and how to use it.


def _say(text: str) -> None:
    """Say something beside what a shell evaluates."""
    from xpusetup.ui.console import write_text

    write_text(f"xpusetup: {text}\n", stderr=True)


def _silence(_text: str) -> None:
    """Say nothing."""


def run(
    context: typer.Context,
    profile: options.Profile = "",
    root: options.Root = "",
    name: options.Name = "",
    rev: options.Rev = None,
    into: options.Into = "",
    json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Run a command in the built environment: xpusetup run -- python train.py.

    With --json what the command says goes to stderr, and stdout gets how it ended.
    """

    def work() -> AnyResult:
        from xpusetup.commands.status import run as become
        from xpusetup.commands.status import run_and_tell

        where = make_where(profile=profile, root=root, name=name, into=into, rev=rev)
        return (
            run_and_tell(where, context.args) if json else become(where, context.args, say=_silence if quiet else _say)
        )

    finish("run", work, json=json, quiet=quiet)


def env(
    profile: options.Profile = "",
    root: options.Root = "",
    name: options.Name = "",
    rev: options.Rev = None,
    into: options.Into = "",
    build: Annotated[bool, typer.Option("--build", help="What a build step sees instead.")] = False,
    closure: Annotated[
        bool, typer.Option("--closure", help="The libraries that it loads, and whose they are.")
    ] = False,
    json: options.Json = False,
    quiet: options.Quiet = False,
    verbose: options.Verbose = False,
) -> None:
    """Print the environment of the result for eval, or that of a build step."""

    def work() -> AnyResult:
        where = make_where(profile=profile, root=root, name=name, into=into, rev=rev)
        if closure:
            from xpusetup.commands.verify_wheel import closure as list_libraries

            return list_libraries(where)
        from xpusetup.commands.status import env as make

        return make(where, build=build, say=_silence if quiet else _say)

    finish("env --closure" if closure else "env", work, json=json, quiet=quiet, verbose=verbose)


def status(
    profile: options.Profile = "",
    root: options.Root = "",
    name: options.Name = "",
    rev: options.Rev = None,
    into: options.Into = "",
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
    json: options.Json = False,
    quiet: options.Quiet = False,
    verbose: options.Verbose = False,
) -> None:
    """Say what is built and from what."""

    def work() -> AnyResult:
        where = make_where(profile=profile, root=root, name=name, into=into, rev=rev)
        if log:
            from xpusetup.commands.status import show_log
            from xpusetup.ui.console import write_text

            return show_log(where, log, more=follow, say=lambda text: write_text(text, stderr=json))
        if diff:
            from xpusetup.commands.devices import diff as compare

            return compare(where, diff)
        from xpusetup.commands.status import status as make

        return make(where, check=check)

    finish("status", work, json=json, quiet=quiet, verbose=verbose)


def report(
    profile: options.Profile = "",
    root: options.Root = "",
    name: options.Name = "",
    rev: options.Rev = None,
    into: options.Into = "",
    out: options.Out = "",
    show: Annotated[bool, typer.Option("--open", help="Open it in a browser too.")] = False,
    json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Write one HTML page that shows what the hours of a build went into."""

    def work() -> AnyResult:
        from xpusetup.commands.report import report as make

        return make(make_where(profile=profile, root=root, name=name, into=into, rev=rev), out=out, show=show)

    finish("report", work, json=json, quiet=quiet)
