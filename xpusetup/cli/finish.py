"""What every command ends with: its result on the screen or as JSON, its error, and its exit code."""

from __future__ import annotations

import io
import sys
import traceback
from contextlib import suppress
from typing import TYPE_CHECKING, NoReturn

from xpusetup.cli.command import is_verbose, situation
from xpusetup.cli.signals import heed_signals, interrupt

if TYPE_CHECKING:
    from collections.abc import Callable

    from xpusetup.commands.places import Where
    from xpusetup.commands.result import Result
    from xpusetup.model import Request


class Finished(SystemExit):
    """The end of a command that has said all it has to say."""


def where(*, rev: list[str] | None = None, may_make: bool = False, **values: str) -> Where:
    from xpusetup.commands.places import Where

    return Where(rev=tuple(rev or ()), may_make=may_make, **values)


def request(
    *,
    only: list[str] | None,
    until: str,
    arch: str,
    variables: list[str] | None,
    verify: str,
    target: str = "",
    own: tuple[list[str] | None, list[str] | None] = (None, None),
    require_hashes: bool = False,
) -> Request:
    """Read what was asked; `own` are source trees and patches of the user's own."""
    from xpusetup.request import make_request

    asked = make_request(only=only or [], until=until, arch=arch, set_=variables or [], verify=verify, target=target)
    sources, patches = own
    if require_hashes:
        from dataclasses import replace

        asked = replace(asked, require_hashes=True)
    if sources or patches:
        from dataclasses import replace

        from xpusetup.commands.sources import find_archives, find_editable, find_patches, find_sources

        asked = replace(asked, sources=find_sources(sources or ()), patches=find_patches(patches or ()))
        return replace(asked, editable=find_editable(sources or ()), archives=find_archives(asked.sources))
    return asked


def finish(
    command: str, work: Callable[[], Result], *, json: bool, quiet: bool = False, verbose: bool = False
) -> NoReturn:
    """Do the work, show its result or its error, and end with its exit code: the one place where the program exits."""
    from dataclasses import replace

    from xpusetup.advice import again, complete, complete_result
    from xpusetup.commands.result import make_document, make_error_document
    from xpusetup.effects.faults import unforeseen
    from xpusetup.errors import InterruptedRunError, XpuError
    from xpusetup.show import show_error, show_result

    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # a locale that lacks a character must not end a build
    heed_signals(interrupt)
    try:
        result = work()
    except KeyboardInterrupt:
        error: XpuError = InterruptedRunError("interrupted", fix="the same command goes on where this one stopped")
    except XpuError as caught:
        error = caught
    except OSError as caught:  # nothing that this program could know before
        error = unforeseen(caught)
        if verbose or is_verbose():
            traceback.print_exception(caught)
    else:
        told = replace(result, data=complete_result(result.data, situation()))
        _say(
            lambda: (
                sys.stdout.write(make_document(told) + "\n")
                if json
                else show_result(told, quiet=quiet, verbose=verbose)
            )
        )
        raise Finished(result.code)
    error.fix = complete(again(error.fix, sys.argv[1:]), situation())
    _say(lambda: sys.stdout.write(make_error_document(command, error) + "\n") if json else show_error(error))
    raise Finished(error.code)


def _say(write: Callable[[], object]) -> None:
    """Say something, where it can be said: a reader that has gone has had enough, a full disk is told of on stderr."""
    from xpusetup.cli.signals import leave
    from xpusetup.errors import NotReadyError

    try:
        write()
        for stream in (sys.stdout, sys.stderr):
            stream.flush()
    except BrokenPipeError:
        leave(sys.stdout, sys.stderr)
    except OSError as error:
        leave(sys.stdout)
        with suppress(OSError):
            sys.stderr.write(f"xpusetup: the answer could not be written: {error.strerror}\n")
            sys.stderr.flush()
        raise Finished(NotReadyError.code) from error
