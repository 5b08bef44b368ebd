"""run, env, status, report, adopt, remove: what was built, how to use it, and how it goes."""

from __future__ import annotations

import shlex
import sys
from functools import partial
from typing import TYPE_CHECKING, Annotated

import typer

from xpusetup.cli import complete, options
from xpusetup.cli.finish import say_part

if TYPE_CHECKING:
    from xpusetup.commands.adopt import Adoption
    from xpusetup.commands.remove import Removal
    from xpusetup.commands.result import AnyResult


# run, env, status: what was built, and how to use it.


@options.command("run")
def run(*, context: typer.Context, where: options.BuiltWhere, told: options.ResultOutput) -> AnyResult:
    """Run a command in the built environment: xpusetup run -- python train.py.

    With --json what the command says goes to stderr, and stdout gets how it ended.
    """
    from xpusetup.commands.environment import run as run_in_place
    from xpusetup.commands.environment import run_and_tell

    place = where.find(say=told.say)
    return run_and_tell(place, context.args) if told.json else run_in_place(place, context.args)


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
            from xpusetup.commands.verify_wheel import closure as list_libraries

            return list_libraries(where.find(say=told.say))
        from xpusetup.commands.environment import env as make

        return make(where.find(say=told.say), build=build, shell=shell, say=told.say)

    told.finish("env --closure" if closure else "env", work)


@options.command("status")
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
) -> AnyResult:
    """Say what is built and from what."""
    if log:
        from xpusetup.commands.status import show_log
        from xpusetup.ui.console import write_text

        write = partial(write_text, stderr=told.json)
        return show_log(where.find(), log, more=follow, say=lambda text: say_part(partial(write, text)))
    if diff:
        from xpusetup.commands.devices import diff as compare

        return compare(where.find(), diff)
    from xpusetup.commands.status import status as make

    return make(where.find(), check=check)


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


# adopt: a project keeps its torch.


@options.command("adopt")
def adopt(
    *,
    folder: Annotated[str, typer.Argument(help="The project's folder.", metavar="DIR", show_default=False)] = ".",
    where: options.ActiveWhere,
    undo: Annotated[bool, typer.Option("--undo", help="Take it back.")] = False,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
    told: options.ResultOutput,
) -> AnyResult:
    """Make a project of uv or pip keep its torch, after showing what is written; --undo takes it back."""
    from xpusetup.commands import adopt as adopting

    found = adopting.look_back(folder) if undo else adopting.look(folder, where.find())
    if found.data.changes and not yes and not _agrees_to_write(found, json=told.json):
        return adopting.show(found)
    return adopting.apply(found)


def _agrees_to_write(found: Adoption, *, json: bool) -> bool:
    """Ask on a terminal; elsewhere nothing is written."""
    from xpusetup.ui.console import literal, make_console
    from xpusetup.ui.storage import show_changes

    if not sys.stdin.isatty():
        return False
    show_changes(make_console(stderr=json), literal(found.data))
    return typer.confirm(" Write this?", err=json)


# remove: a build goes.


@options.command("remove")
def remove(
    *,
    where: options.LockWhere,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")] = False,
    told: options.ResultOutput,
) -> AnyResult:
    """Remove a build, after saying what goes and what that frees; never what is not ours."""
    from xpusetup.commands import remove
    from xpusetup.ui.live import asking

    with asking(quiet=told.silent) as say:
        say("looking at what is there")
        found = remove.look(where.find())
    if not yes and not _agrees_to_remove(found, json=told.json):
        return remove.keep(found)
    with asking(quiet=told.silent) as say:
        return remove.remove(found, say)


def _agrees_to_remove(found: Removal, *, json: bool) -> bool:
    from xpusetup.base.errors import UsageError
    from xpusetup.ui.console import literal, make_console
    from xpusetup.ui.storage import show_before

    show_before(make_console(stderr=True), literal(found.describe(removed=False)))
    if not sys.stdin.isatty():
        raise UsageError(
            "nobody is here to be asked", command=f"xpusetup remove --root {shlex.quote(str(found.root.path))} --yes"
        )
    return typer.confirm(" Remove this?", err=json)
