"""The command line: options to values, results to the screen, errors to exit codes. No logic of its own.

Everything but Typer is imported inside the commands, so that `--help` costs no more than Typer's own.
"""

from __future__ import annotations

import gc
import inspect
import sys
from collections.abc import Iterator, Mapping
from importlib import import_module
from typing import Annotated, Any, NamedTuple

import typer
import typer.main
from typer.core import TyperGroup

from xpusetup.base.errors import UsageError
from xpusetup.cli import options
from xpusetup.cli.finish import (
    Finished,
    RememberingCommand,
    end_early,
    end_unwritten,
    fill_home,
    fill_streams,
    fit,
    heed_signals,
    leave,
    name_values,
    propose_near,
    take_as_given,
)

COMMAND_FOLLOWS = {"allow_extra_args": True, "ignore_unknown_options": True, "allow_interspersed_args": False}
"""What stands behind the first word that is no option of ours is another program's, its --json and --quiet too."""


def _show_version(asked: bool) -> None:
    if asked:
        from xpusetup.system.program import describe_version

        typer.echo(f"xpusetup {describe_version()}")
        raise typer.Exit


NO_VARIABLE: dict[str, Any] = {"allow_from_autoenv": False, "show_envvar": False}
Version = Annotated[
    bool,
    typer.Option("--version", is_eager=True, callback=_show_version, help="Say which version this is.", **NO_VARIABLE),
]


def start(
    context: typer.Context,
    json: options.Json = False,
    quiet: options.Quiet = False,
    verbose: options.Verbose = False,
    version: Version = False,
) -> None:
    """From a bare Linux machine to a verified PyTorch, built from source for Intel GPUs and other accelerators.

    Without a command: this machine, and the shortest way to PyTorch on it.
    """
    if context.invoked_subcommand is None:
        from xpusetup.cli.setup import bare

        bare(json=json, quiet=quiet, verbose=verbose)
    asked = {name: True for name, given in (("json", json), ("quiet", quiet), ("verbose", verbose)) if given}
    context.default_map = _for_all(context.command, asked) if asked else None


def _for_all(command: Any, values: dict[str, bool]) -> dict[str, Any]:
    """Give values as the defaults of every command: what stands before the command, or in a variable, holds for it."""
    below = getattr(command, "commands", {})
    return {name: _for_all(each, values) for name, each in below.items()} if below else dict(values)


GET, USE, PROVE, AWAY, HELP = "Get it", "Use it", "Prove it", "Take it elsewhere", "When something is wrong"
"""The panels of --help, in the order in which people come to them."""


class CommandEntry(NamedTuple):
    """Where a command is, as module:function of this package, and how it stands in --help."""

    place: str
    panel: str | None = None
    context: dict[str, bool] | None = None


TABLES = {
    "xpusetup": {
        "build": CommandEntry("build:build", GET),
        "install": CommandEntry("install:install", GET),
        "plan": CommandEntry("plan:plan", GET),
        "setup": CommandEntry("setup:setup", GET),
        "toolkit": CommandEntry("toolkit:toolkit", GET),
        "run": CommandEntry("run:run", USE, COMMAND_FOLLOWS),
        "env": CommandEntry("env:env", USE),
        "list": CommandEntry("list:list_builds", USE),
        "status": CommandEntry("status:status", USE),
        "report": CommandEntry("report:report", USE),
        "adopt": CommandEntry("adopt:adopt", USE),
        "remove": CommandEntry("remove:remove", USE),
        "verify": CommandEntry("verify:verify", PROVE),
        "test": CommandEntry("suites:run_tests", PROVE),
        "verify-wheel": CommandEntry("wheel:verify_wheel", PROVE),
        "fits": CommandEntry("wheel:fits", PROVE),
        "rebuild": CommandEntry("wheel:rebuild", PROVE),
        "sign": CommandEntry("wheel:sign", AWAY),
        "emit": CommandEntry("emit:emit", AWAY),
        "dockerfile": CommandEntry("emit:dockerfile", AWAY),
        "doctor": CommandEntry("doctor:doctor", HELP),
        "explain": CommandEntry("explain:explain", HELP),
        "bisect": CommandEntry("bisect:bisect", HELP, COMMAND_FOLLOWS),
        "skill": CommandEntry("skill:skill", HELP),
        "self": CommandEntry("self:show_self", HELP),
    },
    "profiles": {
        "list": CommandEntry("profiles:profiles_list"),
        "show": CommandEntry("profiles:profiles_show"),
        "check": CommandEntry("profiles:profiles_check"),
        "new": CommandEntry("profiles:profiles_new"),
        "lock": CommandEntry("profiles:profiles_lock"),
        "trust": CommandEntry("profiles:profiles_trust"),
        "schema": CommandEntry("profiles:profiles_schema"),
    },
    "devices": {
        "list": CommandEntry("devices:devices_list"),
        "check": CommandEntry("devices:devices_check"),
        "table": CommandEntry("devices:devices_table"),
    },
    "bundle": {"create": CommandEntry("bundle:bundle_create"), "verify": CommandEntry("bundle:bundle_verify")},
    "cache": {"size": CommandEntry("cache:cache_size"), "prune": CommandEntry("cache:cache_prune")},
}
"""The commands of each group."""
GROUPS = {
    "profiles": (GET, "List, show, check, lock, write and trust profiles."),
    "devices": (PROVE, "Accelerators here, and what `import torch` loads for them."),
    "bundle": (AWAY, "All that a build fetches in one file, for machines without a network."),
    "cache": (USE, "What is kept on the disk for all builds: its size, and what can go."),
}


class Commands(Mapping[str, Any]):
    """Commands by name, each imported and made when it is asked for: one that runs needs none of the others."""

    def __init__(self, table: Mapping[str, CommandEntry], groups: Mapping[str, Any]) -> None:
        self._table = table
        self._made = dict(groups)
        self._names = (*table, *groups)

    def __getitem__(self, name: str) -> Any:
        """Give a command. Raises KeyError for one that is not there."""
        if name not in self._made:
            entry = self._table[name]
            module, _, function = entry.place.partition(":")
            one = typer.Typer(add_completion=False, rich_markup_mode=None)
            made = one.command(
                name, cls=RememberingCommand, rich_help_panel=entry.panel, context_settings=entry.context
            )
            made(getattr(import_module(f"xpusetup.cli.{module}"), function))
            self._made[name] = typer.main.get_command(one)
        return self._made[name]

    def __iter__(self) -> Iterator[str]:
        """Give the names in the order of --help."""
        return iter(self._names)

    def __len__(self) -> int:
        """Give how many there are."""
        return len(self._names)


class CommandGroup(TyperGroup):
    """A group whose commands are those of its table."""

    def __init__(self, **words: Any) -> None:
        """Make it as Typer does."""
        super().__init__(**words)
        self.commands = Commands(TABLES[self.name or ""], self.commands)  # type: ignore[assignment]

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Write the help; the variables of Typer's own options are nobody's concern."""
        for parameter in self.params:
            if (parameter.name or "").endswith("_completion"):
                parameter.show_envvar = False  # type: ignore[attr-defined]
        name_values(self.get_params(ctx))
        fit(formatter)
        super().format_help(ctx, formatter)

    def get_params(self, ctx: Any) -> list[Any]:
        """Give the options, also those that Typer adds by itself."""
        return take_as_given(super().get_params(ctx))

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Read the options that stand before the command."""
        with propose_near(self.params):
            return super().parse_args(ctx, args)

    def format_commands(self, ctx: Any, formatter: Any) -> None:  # noqa: ARG002 - Typer gives it
        """Write the commands under the headings of their panels, with the whole first sentence of each."""
        panels: dict[str, list[tuple[str, str]]] = {}
        width = max(map(len, self.commands))
        for name in self.commands:
            command: Any = self.commands[name]
            words = inspect.cleandoc(command.help or "").partition("\n\n")[0]
            panels.setdefault(command.rich_help_panel or "Commands", []).append((name.ljust(width), words))
        for panel, rows in panels.items():
            with formatter.section(panel):
                formatter.write_dl(rows)


app = typer.Typer(
    name="xpusetup",
    cls=CommandGroup,
    invoke_without_command=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,  # rich's panels cost as much again as all else of --help, and break words where it is narrow
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.callback()(start)
for _name, (_panel, _help) in GROUPS.items():
    _group = typer.Typer(cls=CommandGroup, no_args_is_help=True, help=_help, rich_markup_mode=None)
    app.add_typer(_group, name=_name, rich_help_panel=_panel)


COLLECT_AFTER = 200_000
"""New objects. Imports make far more than Python's 700, and all of them stay: to look for garbage among them again and
again is a tenth of what a short command costs."""


def _tell_bad_usage() -> None:
    """Write the document of an error, where JSON was asked for and somebody reads it."""
    from xpusetup.commands.result import make_error_document
    from xpusetup.system.environment import variable

    if "--json" in sys.argv or variable("XPUSETUP_JSON"):
        error = UsageError("bad usage: stderr says which option", fix="xpusetup --help")
        try:
            sys.stdout.write(make_error_document("xpusetup", error) + "\n")
            sys.stdout.flush()
        except OSError:
            leave(sys.stdout)


def main() -> None:
    """Run the program. Options that Typer refuses get the envelope too, where JSON was asked for."""
    heed_signals(end_early)
    fill_streams()
    fill_home()
    gc.set_threshold(COLLECT_AFTER, 50, 50)
    try:
        app(prog_name="xpusetup", auto_envvar_prefix="XPUSETUP")
    except SystemExit as end:
        if end.code == UsageError.code and not isinstance(end, Finished):
            _tell_bad_usage()
        raise
    except OSError as error:  # --help, which ends before any command
        end_unwritten(error)
    finally:
        gc.freeze()  # the interpreter looks through all that is left at its end, a tenth of a short command
