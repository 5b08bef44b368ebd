"""The command line: options to values, results to the screen, errors to exit codes. No logic of its own.

Everything but Typer is imported inside the commands, so that `--help` costs no more than Typer's own.
"""

import gc
import sys
from collections.abc import Iterator, Mapping
from importlib import import_module
from typing import Annotated, Any

import typer
import typer.main
from typer.core import TyperGroup

from xpusetup.base.verbs import ALIASES, BESIDE, COMMANDS, FIRST, MORE, OLD, declare
from xpusetup.cli import options
from xpusetup.cli.command import CALLED, RememberingCommand, propose_near, take_as_given
from xpusetup.cli.finish import end_early, end_unwritten, fill_home, fill_streams, heed_signals
from xpusetup.cli.help import first_sentence, fit, name_values
from xpusetup.cli.refusal import Abort, Refused, refuse, refuse_abort


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
All = Annotated[bool, typer.Option("--all", help="With --help: show all commands.", **NO_VARIABLE)]


def start(
    context: typer.Context,
    json: options.Json = False,
    quiet: options.Quiet = False,
    verbose: options.Verbose = False,
    version: Version = False,
    everything: All = False,
) -> None:
    """From a bare Linux machine to a verified PyTorch for Intel GPUs and other accelerators.

    Without a command: what is here, and the shortest way to PyTorch on this machine.
    """
    if everything:
        typer.echo(context.get_help())
        raise typer.Exit
    if context.invoked_subcommand is None:
        from xpusetup.cli.setup import bare

        bare(json=json, quiet=quiet, verbose=verbose)
    asked = {name: True for name, given in (("json", json), ("quiet", quiet), ("verbose", verbose)) if given}
    context.default_map = _for_all(context.command, asked) if asked else None


def _for_all(command: Any, values: dict[str, bool]) -> dict[str, Any]:
    """Give values as the defaults of every command: what stands before the command, or in a variable, holds for it."""
    below = getattr(command, "commands", {})
    return {name: _for_all(each, values) for name, each in below.items()} if below else dict(values)


GROUPS = {
    "profiles": "List, show, check, write, pin and trust profiles.",
    "wheel": "Check and sign wheels, see what they fit, build them again.",
    "bundle": "Put all downloads of a build into one file, for machines without a network.",
    "devices": "Tables of accelerators.",
}
"""What --help says of a command that has commands of its own."""
SHOWN = {"": FIRST, **MORE}
"""The commands below each heading of --help --all."""


class Commands(Mapping[str, Any]):
    """Commands by name, each imported and made when it is asked for: one that runs needs none of the others."""

    def __init__(self, group: str, groups: Mapping[str, Any]) -> None:
        self._group = group
        self._made = dict(groups)
        below = (name.removeprefix(f"{group} ") for name in COMMANDS if name.startswith(f"{group} ") or not group)
        self._names = tuple(dict.fromkeys(name.partition(" ")[0] for name in below))

    def __getitem__(self, name: str) -> Any:
        """Give a command. Raises KeyError for one that is not there."""
        if name not in self._made:
            if name not in (*self._names, *BESIDE):
                raise KeyError(name)
            self._made[name] = _make(f"{self._group} {name}".strip(), name.rpartition(" ")[2])
        return self._made[name]

    def __iter__(self) -> Iterator[str]:
        """Give the names in the order of --help."""
        return iter(self._names)

    def __len__(self) -> int:
        """Give how many there are."""
        return len(self._names)


def _make(name: str, word: str) -> Any:
    """Make a command of the function that is declared by its name, in the module that bears its first word."""
    module = import_module(f"xpusetup.cli.{name.partition(' ')[0]}")
    functions = (each for each in vars(module).values() if hasattr(each, "declared"))
    function = next(each for each in functions if each.declared.name == name)
    declared = function.declared
    one = typer.Typer(add_completion=False, rich_markup_mode=None)
    words = {"allow_extra_args": True, "allow_interspersed_args": False} if declared.follows else None
    one.command(word, cls=RememberingCommand, context_settings=words)(function)
    made: Any = typer.main.get_command(one)
    made.examples, made.common = declared.examples, declared.common
    made.follows, made.takes = declared.follows, declared.takes
    return made


class CommandGroup(TyperGroup):
    """A group whose commands are those of the table of names."""

    def __init__(self, **words: Any) -> None:
        """Make it as Typer does."""
        super().__init__(**words)
        group = "" if self.name == "xpusetup" else self.name or ""
        self.commands = Commands(group, self.commands)  # type: ignore[assignment]

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Write the help; a short one names the way to all commands."""
        name_values(self.get_params(ctx))
        fit(formatter)
        if not self._is_first(ctx):
            super().format_help(ctx, formatter)
            return
        self.epilog = None if _wants_all(ctx) else f"{len(COMMANDS) - len(FIRST)} more commands: xpusetup --help --all"
        super().format_help(ctx, formatter)

    def _is_first(self, ctx: Any) -> bool:
        return ctx.parent is None

    def get_params(self, ctx: Any) -> list[Any]:
        """Give the options, also those that Typer adds by itself."""
        parameters = take_as_given(super().get_params(ctx))
        for each in parameters:
            if (each.name or "").endswith("_completion"):
                each.hidden = not _wants_all(ctx)
        return parameters

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Read the options that stand before the command."""
        ctx.meta["xpusetup.all"] = "--all" in args
        with propose_near(self.params):
            return super().parse_args(ctx, args)

    def resolve_command(self, ctx: Any, args: list[str]) -> tuple[Any, Any, list[str]]:
        """Find the command of the first words, also by an alias or an old name."""
        if self._is_first(ctx):
            args = _rename(ctx, args)
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """Write the commands with the first sentence of each; all of them, or the first ones."""
        if not self._is_first(ctx):
            headings = {"Commands": tuple(self.commands)}
        elif _wants_all(ctx):
            headings = {heading or "Commands": names for heading, names in SHOWN.items()}
        else:
            headings = {"Commands": FIRST}
        for heading, names in headings.items():
            rows = [(name, first_sentence(self.find(name))) for name in names]
            with formatter.section(heading):
                formatter.write_dl(rows)

    def find(self, name: str) -> Any:
        """Give a command by its one or two words."""
        if name in BESIDE:
            return self.commands[name]
        first, _, second = name.partition(" ")
        found: Any = self.commands[first]
        return found.commands[second] if second else found


def _wants_all(ctx: Any) -> bool:
    return bool(ctx.meta.get("xpusetup.all"))


def _rename(ctx: Any, args: list[str]) -> list[str]:
    """Give the words with the command by its name: for an alias, an old name, or `help COMMAND`."""
    if args[0] == "help":
        return [*_rename(ctx, args[1:]), "--help"] if args[1:] else ["--help"]
    if args[0] in ALIASES:
        ctx.meta[CALLED] = args[0]
        return [*ALIASES[args[0]].split(), *args[1:]]
    if " ".join(args[:2]) in BESIDE:
        return [" ".join(args[:2]), *args[2:]]
    for count in (1, 2):
        old = " ".join(args[:count])
        if old in OLD:
            ctx.meta[CALLED] = old
            return [*_new_words(old), *args[count:]]
    return args


def _new_words(old: str) -> list[str]:
    """Give the words of today for an old name; that of a suite is put where it was an argument."""
    words = OLD[old].split()
    return words[:-1] if words[-1] == "--suite" else words


app = typer.Typer(
    name="xpusetup",
    cls=CommandGroup,
    invoke_without_command=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,  # rich's panels cost as much again as all else of --help, and break words where it is narrow
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.callback()(start)
for _name, _help in GROUPS.items():
    _group = typer.Typer(cls=CommandGroup, no_args_is_help=True, help=_help, rich_markup_mode=None)
    app.add_typer(_group, name=_name)


def _options_of(name: str) -> frozenset[str]:
    root: Any = typer.main.get_command(app)
    command = root.find(name)
    options = frozenset(option for each in command.params for option in each.opts if each.param_type_name == "option")
    if not command.takes and "--name" not in options:
        return frozenset()
    first = next((each.name for each in command.params if each.param_type_name == "argument"), "")
    return options | {command.takes} if first == "named" else options


declare(_options_of)


COLLECT_AFTER = 200_000
"""New objects. Imports make far more than Python's 700, and all of them stay: to look for garbage among them again and
again is a tenth of what a short command costs."""


def main() -> None:
    """Run the program; what Typer refuses is told as every other error is."""
    heed_signals(end_early)
    fill_streams()
    fill_home()
    gc.set_threshold(COLLECT_AFTER, 50, 50)
    try:
        sys.exit(app(prog_name="xpusetup", auto_envvar_prefix="XPUSETUP", standalone_mode=False))
    except Refused as error:
        refuse(error, sys.argv[1:])
    except Abort:
        refuse_abort(sys.argv[1:])
    except OSError as error:  # --help, which ends before any command
        end_unwritten(error)
    finally:
        gc.freeze()  # the interpreter looks through all that is left at its end, a tenth of a short command
