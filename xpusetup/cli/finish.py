"""What every command ends with: its result on the screen or as JSON, its error, its exit code; also by a signal."""

from __future__ import annotations

import codecs
import io
import os
import shlex
import signal
import sys
import traceback
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, NoReturn, TextIO

from xpusetup.base.verbs import OLD
from xpusetup.cli.named import Words, place_named

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from xpusetup.base.errors import XpuError
    from xpusetup.commands.result import AnyResult
    from xpusetup.system.trust import UntrustedError


# The command that is at work, and what it was given: what advice needs to be whole.


_AT_WORK: dict[str, Any] = {}
_WORDS: list[Words] = [Words()]
"""How the words of the command at work were read."""
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


def begin(given: dict[str, Any], words: Words) -> None:
    """Remember what a command was given, for as long as it is at work."""
    _AT_WORK.clear()
    _AT_WORK.update(given)
    _WORDS[:] = [words]


def place_words(given: dict[str, Any]) -> dict[str, Any]:
    """Give the values of options with what the argument names, and remember them. Raises UsageError."""
    placed = place_named(given, _WORDS[0])
    _AT_WORK.update(placed)
    return placed


def name_new(called: str, *, silent: bool) -> None:
    """Say the new name of a command that was called by an old one."""
    if not silent:
        with suppress(OSError):
            sys.stderr.write(
                f"xpusetup: {called} is called {OLD[called]} now; the old name goes with the next release\n"
            )


def writes_stdout() -> bool:
    """Say whether the command at work was told to write a file that is its stdout: its screen goes to stderr then."""
    return any(_AT_WORK.get(name) in {STDOUT, "/dev/fd/1", "/proc/self/fd/1"} for name in OUTPUTS)


def situation() -> dict[str, list[str]]:
    """Give the options that say which build is meant, as the command line or a variable names them."""
    from xpusetup.commands.result import OF_BUILD

    given = {option: _AT_WORK.get(option[2:].replace("-", "_")) for option in OF_BUILD}
    texts = {option: [value] for option, value in given.items() if isinstance(value, str) and value}
    lists = {option: list(value) for option, value in given.items() if isinstance(value, list | tuple) and value}
    return {**texts, **{option: found for option, found in lists.items() if option == "--rev" or len(found) == 1}}


# What asks the program to end: each signal ends the steps at work, and the exit code is 130.


INTERRUPTED = 130
UNWRITTEN = 3
"""The code of a command whose answer cannot be written."""


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


def command_line() -> str:
    """Give the command of this run, as its user wrote it."""
    return shlex.join(["xpusetup", *sys.argv[1:]])


def finish(
    command: str, work: Callable[[], AnyResult], *, json: bool, quiet: bool = False, verbose: bool = False
) -> NoReturn:
    """Do the work, show its result or its error, and end with its exit code: the one place where the program exits."""
    from xpusetup.base.command import Advice, Command, has_command
    from xpusetup.base.errors import InterruptedRunError, UsageError, XpuError
    from xpusetup.commands.result import complete_result
    from xpusetup.system.files import unforeseen
    from xpusetup.ui.screens import show_error

    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors=SIGNS)  # a locale that lacks a character must not end a build
    heed_signals(interrupt)
    try:
        if json and writes_stdout():
            raise UsageError("--json has stdout for its document", fix="name a file to write, as in: --out FILE")
        result = _work_trusted(work, json=json)
    except KeyboardInterrupt:
        error: XpuError = InterruptedRunError("interrupted", fix="it goes on with: ")
    except XpuError as caught:
        error = caught
    except OSError as caught:  # nothing that this program could know before
        error = unforeseen(caught)
        if verbose or _AT_WORK.get("verbose"):  # -v also before a command that has no such option itself
            traceback.print_exception(caught)
    else:
        _tell(result, json=json, quiet=quiet, verbose=verbose)
        raise Finished(result.code)
    if isinstance(error, InterruptedRunError) and not has_command(error.fix):  # a build names its own
        error.fix = Advice(error.fix, Command(command_line()))
    error.fix = complete_result(error.fix, situation(), sys.argv[1:])
    error.message += _tell_variables(error.message)
    _say(lambda: _write_error(command, error) if json else show_error(error), code=error.code)
    raise Finished(error.code)


def _tell(result: AnyResult, *, json: bool, quiet: bool, verbose: bool) -> None:
    """Write a result, as a document or as its screen."""
    from dataclasses import replace

    from xpusetup.commands.result import complete_result, make_document
    from xpusetup.ui.screens import show_result

    told = replace(result, data=complete_result(result.data, situation()))
    if json:
        from xpusetup.commands.next_commands import list_next

        document = make_document(told, list_next(told.data, situation()))
        _say(lambda: sys.stdout.write(document + "\n"))
    else:
        _say(lambda: show_result(told, quiet=quiet, verbose=verbose, stderr=writes_stdout()))


def _tell_variables(message: str) -> str:
    """Name the variables that hold what an error speaks of."""
    from xpusetup.system.environment import variable

    told = [
        f"{option} is from {name}"
        for option, name in _WORDS[0].variables.items()
        if option in message or repr(variable(name)) in message
    ]
    return f" ({', '.join(told)})" if told else ""


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


def _say(write: Callable[[], object], *, code: int = UNWRITTEN) -> None:
    """Say something, where it can be said: a reader that has gone has had enough, a full disk is told of on stderr.

    `code`: the exit code where it cannot be written.
    """
    try:
        write()
        for stream in (sys.stdout, sys.stderr):
            stream.flush()
    except BrokenPipeError:
        leave(sys.stdout, sys.stderr)
    except OSError as error:
        end_unwritten(error, code)


def say_part(write: Callable[[], object]) -> None:
    """Say a part of an answer that is as long as it gets, as a log is: without a reader there is no more to do."""
    try:
        write()
    except BrokenPipeError as error:
        leave(sys.stdout, sys.stderr)
        raise Finished(0) from error
    except OSError as error:
        end_unwritten(error)


def end_unwritten(error: OSError, code: int = UNWRITTEN) -> NoReturn:
    """End where what was asked for cannot be written, and say so to whoever still hears."""
    leave(sys.stdout)
    with suppress(OSError):
        sys.stderr.write(f"xpusetup: the answer could not be written: {error.strerror}\n")
        sys.stderr.flush()
    raise Finished(code) from error
