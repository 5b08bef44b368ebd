"""What every command ends with: its result on the screen or as JSON, its error, its exit code; also by a signal."""

from __future__ import annotations

import codecs
import io
import os
import re
import signal
import sys
import traceback
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn, TextIO

from typer.core import TyperCommand

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from xpusetup.base.errors import XpuError
    from xpusetup.commands.result import AnyResult
    from xpusetup.system.trust import UntrustedError


# The command that is at work, and what it was given: what advice needs to be whole.


_AT_WORK: dict[str, Any] = {}
OF_PLACES = ("DIR", "FILE", "ENV")
"""What the help calls the value of an option or argument that names a file or folder."""


OUTPUTS = {"out", "save", "junit", "events"}
"""Parameters that name what is written."""
STDOUT = "/dev/stdout"


def name_stdout(parameters: Iterable[Any], given: dict[str, Any]) -> None:
    """Let - stand for stdout where a file is to be written, as everywhere. Raises BadParameter for a folder."""
    import typer

    for each in parameters:
        if each.name in OUTPUTS and given.get(each.name) == "-":
            if each.metavar != "FILE":
                raise typer.BadParameter("'-' is no folder; one of that name is ./-", param=each)
            given[each.name] = STDOUT


def writes_stdout() -> bool:
    """Say whether the command at work was told to write a file that is its stdout: its screen goes to stderr then."""
    return any(_AT_WORK.get(name) in {STDOUT, "/dev/fd/1", "/proc/self/fd/1"} for name in OUTPUTS)


def name_values(parameters: Iterable[Any]) -> None:
    """Let the help say what an option or argument takes in one word, and nothing of a flag, which takes none."""
    for parameter in parameters:
        if parameter.param_type_name == "argument":
            parameter.display_type_rich = lambda **_words: None  # beside its word it would say str
        parameter.metavar = parameter.metavar or (
            "" if getattr(parameter, "is_flag", False) else parameter.name.upper()
        )


class _AsGiven:
    """How an option takes its value: one that has its type already as it is, any other as Typer reads it.

    Typer makes a reader of pydantic for each option, also for those that were left out: a fifth of a short command.
    """

    def __init__(self, kind: Any, read: Callable[[], Any]) -> None:
        self._kind = kind
        self._read = read

    def coerce(self, value: Any, param: Any, ctx: Any) -> Any:
        """Give the value of an option; Typer calls this."""
        words = value if isinstance(value, list | tuple) else ()
        if self._kind == list[str] and (value is None or words) and all(type(each) is str for each in words):
            return list(words)
        if value is None or type(value) is self._kind:
            return value
        if self._kind is int and re.fullmatch(r"\s*[+-]?\d+\s*", str(value)) is None:
            import typer

            raise typer.BadParameter(f"{value!r} is no whole number", ctx=ctx, param=param)
        return self._read().coerce(value, param=param, ctx=ctx)


def take_as_given(parameters: list[Any]) -> list[Any]:
    """Let options take what has its type already as it is."""
    for each in parameters:
        known = getattr(each, "get_runtime_param", None)  # Typer before 0.29 has none
        if known is not None and not isinstance(known, partial):
            each.get_runtime_param = partial(_AsGiven, each.type_descriptor.annotation, known)
    return parameters


@contextmanager
def propose_near(parameters: Iterable[Any]) -> Iterator[None]:
    """Let an option that is not known be told with the one that is near to it, where there is one."""
    try:
        yield
    except Exception as error:
        if hasattr(error, "possibilities") and hasattr(error, "option_name"):
            from xpusetup.base.text import nearest

            words = [word.removeprefix("--") for each in parameters for word in each.opts if word.startswith("--")]
            close = nearest(error.option_name.lstrip("-"), words)
            error.possibilities = [f"--{close}"] if close else None
        raise


def _usage_of(argument: Any) -> str:
    word = argument.metavar or argument.name.upper()
    return f"{word if argument.required else f'[{word}]'}{'...' if argument.nargs == -1 else ''}"


NARROWEST, BELOW = 20, 6
"""Columns that a help has at least, and how long a word may be in a narrow one with its meaning beside it."""


def fit(formatter: Any) -> None:
    """Let a help be as narrow as the terminal: what a word means stands below it then."""
    import shutil

    width = shutil.get_terminal_size().columns - 2
    if width < formatter.width:
        formatter.width = max(width, NARROWEST)
        formatter.write_dl = partial(formatter.write_dl, col_max=BELOW)


class RememberingCommand(TyperCommand):
    """A command that remembers its options for as long as it is at work."""

    def get_params(self, ctx: Any) -> list[Any]:
        """Give the options, also those that Typer adds by itself."""
        return take_as_given(super().get_params(ctx))

    def format_help(self, ctx: Any, formatter: Any) -> None:
        """Write the help: examples at its end, and the rule of the variables instead of a line for each."""
        from xpusetup.cli.examples import explain_end

        for parameter in self.params:
            parameter.show_envvar = False  # type: ignore[attr-defined]
        name_values(self.get_params(ctx))
        fit(formatter)
        options = (each.opts[0] for each in self.params if each.param_type_name == "option")
        self.epilog = explain_end(ctx.command_path.partition(" ")[2], options)
        super().format_help(ctx, formatter)

    def collect_usage_pieces(self, ctx: Any) -> list[str]:
        """Give the words behind its name: arguments as people write them, and the command that it runs."""
        words = [_usage_of(each) for each in self.get_params(ctx) if each.param_type_name == "argument"]
        return ["[OPTIONS]", *words, *(["--", "COMMAND..."] if self.context_settings.get("allow_extra_args") else [])]

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Read the options; each is a variable by its own word, also where Python has that for its own (--for)."""
        for each in self.params:
            word = max(each.opts, key=len)[2:].replace("-", "_")
            if each.param_type_name == "option" and word != each.name and each.envvar is None:
                each.envvar = f"{ctx.auto_envvar_prefix}_{word.upper()}"
        with propose_near(self.params):
            return super().parse_args(ctx, args)

    def invoke(self, ctx: Any) -> Any:
        """Run it."""
        name_stdout(self.params, ctx.params)
        _AT_WORK.clear()
        _AT_WORK.update({**ctx.find_root().params, **ctx.params})
        from xpusetup.system.files import places_of

        with places_of(self._list_places()):
            return super().invoke(ctx)

    def _list_places(self) -> dict[Path, str]:
        """Give the files and folders that were named, and the option or argument that names each; / is any other."""
        places = {each.name: _write_place(each) for each in self.params if each.metavar in OF_PLACES}
        usual = {} if "root" in places else {Path("/"): places.get("out", "export XPUSETUP_ROOT=DIR")}
        given = {how: value for name, how in places.items() if isinstance(value := _AT_WORK.get(name), str) and value}
        return usual | {Path(os.path.expanduser(value)): how for how, value in given.items()}  # noqa: PTH111 - ~nobody


def situation() -> dict[str, list[str]]:
    """Give the options that say which build is meant, as the command line or a variable names them."""
    from xpusetup.commands.result import OF_BUILD

    given = {option: _AT_WORK.get(option[2:].replace("-", "_")) for option in OF_BUILD}
    texts = {option: [value] for option, value in given.items() if isinstance(value, str) and value}
    lists = {option: list(value) for option, value in given.items() if isinstance(value, list | tuple) and value}
    return {**texts, **{option: found for option, found in lists.items() if option == "--rev" or len(found) == 1}}


def _write_place(parameter: Any) -> str:
    longest = max(parameter.opts, key=len) if parameter.param_type_name == "option" else ""
    return f"{longest} {parameter.metavar}".strip()


# What asks the program to end: each signal ends the steps at work, and the exit code is 130.


INTERRUPTED = 130


def heed_signals(handler: Callable[[int, object], object]) -> None:
    """Let a function take the signals that end a program, but for one that the caller has ignored, as nohup does."""
    for number in (signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(number) is not signal.SIG_IGN:
            signal.signal(number, handler)


def interrupt(number: int, _frame: object) -> NoReturn:
    """End as Ctrl-C does. Where the terminal is gone, what would be said to it goes nowhere instead of failing."""
    if number == signal.SIGHUP:
        leave(*(stream for stream in (sys.stdout, sys.stderr) if stream.isatty()))
    raise KeyboardInterrupt


def end_early(_number: int, _frame: object) -> NoReturn:
    """End before anything was begun."""
    raise SystemExit(INTERRUPTED)


def leave(*streams: TextIO) -> None:
    """Let what is still said to these streams go nowhere, where nobody can be told any more."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    for stream in streams:
        with suppress(OSError, ValueError):
            os.dup2(nowhere, stream.fileno())
    os.close(nowhere)


def fill_streams() -> None:
    """Put nothing where a caller closed stdin, stdout or stderr: the next file that is opened would be taken for it."""
    for number, name, mode in ((0, "stdin", "r"), (1, "stdout", "w"), (2, "stderr", "w")):
        try:
            os.fstat(number)
        except OSError:
            os.set_inheritable(os.open(os.devnull, os.O_RDWR), True)  # the lowest number that is free is this one
        if getattr(sys, name) is None:
            setattr(sys, name, open(number, mode, encoding="utf-8", closefd=False))  # noqa: SIM115 - to the end


def fill_home() -> None:
    """Give / to who has no home, as a numeric user of a container: what lies below it is told then as not writable."""
    try:
        Path.home()
    except RuntimeError:
        from xpusetup.system.environment import give_home

        give_home()


SIGNS = "xpusetup.signs"
"""How streams are told to write a character that a locale lacks."""
PLAIN = {"✓": "+", "✗": "x", "·": "-", "…": "...", "↻": "~", "→": "->", "█": "#", "░": "."}


def _in_ascii(error: UnicodeError) -> tuple[str, int]:
    """Give for a sign what says the same in every locale: one question mark for all would hide what failed."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    return "".join(PLAIN.get(each, "?") for each in error.object[error.start : error.end]), error.end


codecs.register_error(SIGNS, _in_ascii)


# What every command ends with: its result on the screen or as JSON, its error, and its exit code.


class Finished(SystemExit):
    """The end of a command that has said all it has to say."""


def finish(
    command: str, work: Callable[[], AnyResult], *, json: bool, quiet: bool = False, verbose: bool = False
) -> NoReturn:
    """Do the work, show its result or its error, and end with its exit code: the one place where the program exits."""
    from dataclasses import replace

    from xpusetup.base.errors import InterruptedRunError, UsageError, XpuError
    from xpusetup.commands.result import complete_result, make_document
    from xpusetup.system.files import unforeseen
    from xpusetup.ui.screens import show_error, show_result

    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors=SIGNS)  # a locale that lacks a character must not end a build
    heed_signals(interrupt)
    try:
        if json and writes_stdout():
            raise UsageError("--json has stdout for its document", fix="name a file to write, as in: --out FILE")
        result = _work_trusted(work, json=json)
    except KeyboardInterrupt:
        error: XpuError = InterruptedRunError("interrupted", fix="the same command goes on where this one stopped")
    except XpuError as caught:
        error = caught
    except OSError as caught:  # nothing that this program could know before
        error = unforeseen(caught)
        if verbose or _AT_WORK.get("verbose"):  # -v also before a command that has no such option itself
            traceback.print_exception(caught)
    else:
        told = replace(result, data=complete_result(result.data, situation()))
        if json:
            from xpusetup.commands.next_commands import list_next

            document = make_document(told, list_next(told.data, situation()))
            _say(lambda: sys.stdout.write(document + "\n"))
        else:
            _say(lambda: show_result(told, quiet=quiet, verbose=verbose, stderr=writes_stdout()))
        raise Finished(result.code)
    error.fix = complete_result(error.fix, situation(), sys.argv[1:])
    _say(lambda: _write_error(command, error) if json else show_error(error))
    raise Finished(error.code)


def _write_error(command: str, error: XpuError) -> None:
    from xpusetup.commands.next_commands import list_after
    from xpusetup.commands.result import make_error_document

    sys.stdout.write(make_error_document(command, error, list_after(error, situation())) + "\n")


def _work_trusted(work: Callable[[], AnyResult], *, json: bool) -> AnyResult:
    """Do the work; where files that are not the caller's alone would run something, he is asked if he is there."""
    from xpusetup.system.trust import UntrustedError, trust

    try:
        return work()
    except UntrustedError as error:
        if not (_is_terminal() and _trusts(error, json=json)):
            raise
        trust(error.foreign)
    return _work_trusted(work, json=json)


def _is_terminal() -> bool:
    """Say whether someone is here who reads a question and answers it himself."""
    return sys.stdin.isatty() and sys.stderr.isatty()


def _trusts(error: UntrustedError, *, json: bool) -> bool:
    import typer

    from xpusetup.ui.screens import show_error

    show_error(error)
    words = "this file as it is" if len(error.foreign) == 1 else "these files as they are"
    try:
        return typer.confirm(f" Trust {words} now, and go on?", err=json)
    except typer.Abort:
        return False


def _say(write: Callable[[], object]) -> None:
    """Say something, where it can be said: a reader that has gone has had enough, a full disk is told of on stderr."""
    try:
        write()
        for stream in (sys.stdout, sys.stderr):
            stream.flush()
    except BrokenPipeError:
        leave(sys.stdout, sys.stderr)
    except OSError as error:
        end_unwritten(error)


def say_part(write: Callable[[], object]) -> None:
    """Say a part of an answer that is as long as it gets, as a log is: without a reader there is no more to do."""
    try:
        write()
    except BrokenPipeError as error:
        leave(sys.stdout, sys.stderr)
        raise Finished(0) from error
    except OSError as error:
        end_unwritten(error)


def end_unwritten(error: OSError) -> NoReturn:
    """End where what was asked for cannot be written, and say so to whoever still hears."""
    from xpusetup.base.errors import NotReadyError

    leave(sys.stdout)
    with suppress(OSError):
        sys.stderr.write(f"xpusetup: the answer could not be written: {error.strerror}\n")
        sys.stderr.flush()
    raise Finished(NotReadyError.code) from error
