"""What every command returns, the one envelope in which it leaves as JSON, and advice made whole."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Generic, TypeVar

from xpusetup.base.document import map_texts, to_json
from xpusetup.base.text import hide, hide_all
from xpusetup.base.verbs import COMMANDS, options_about_builds

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from typing import TypeAlias

    from xpusetup.base.errors import XpuError

    AnyResult: TypeAlias = "Result[object]"

Say = Callable[[str], None]
T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)


# Advice made whole: a command of this program that a fix names gets the options of the situation it is given in.
#
# Who says `xpusetup doctor --for run` in a table of failures, or deep in an effect, knows neither profile nor
# root. The options that the user gave are put in where the advice leaves the program, after the verb, where
# that takes them.


OF_BUILD = ("--profile", "--root", "--name", "--build-dir", "--prefix", "--into", "--python", "--rev")
"""The options of a situation; a command gets those of them that it declares."""
ADVICE = ("fix", "say", "commands", "follows", "go_on")
"""The keys of results that hold advice, wherever they stand."""
COMMAND = re.compile(rf"\bxpusetup ({'|'.join(sorted(COMMANDS, key=len, reverse=True))})(?=$|[\s.,;:)'\"`])")
END = re.compile(r"\n|;|\)|\. |, |\bxpusetup ")
"""Where a command ends that stands in running text, at the latest."""
SAME = re.compile(r"the same command with (--[a-z-]+) (\S+)")
PROFILE = re.compile(r"(?:--profile|-p)[ =](\S+)")


def complete(text: str, context: Mapping[str, Sequence[str]]) -> str:
    """Put the options of a context (option -> its values) into the commands of a text that do not name them."""
    if not context:
        return text

    def put(found: re.Match[str]) -> str:
        takes = options_about_builds(found[1])
        rest = text[found.end() :]
        end = END.search(rest)
        given = rest[: end.start()] if end else rest
        profile = PROFILE.search(given)
        if profile and [shlex.quote(value) for value in context.get("--profile", ())] != [profile[1]]:
            return found[0]  # that of another profile has another place too
        words = [
            word
            for option in OF_BUILD
            if option in takes
            if option not in given.split()
            if not (profile and option == "--profile")
            for value in context.get(option, ())
            for word in (option, shlex.quote(value))
        ]
        return " ".join((found[0], *words))

    return COMMAND.sub(put, text)


def again(text: str, words: Sequence[str]) -> str:
    """Write out the command line of this run, changed as a text says it of `the same command`."""

    def put(found: re.Match[str]) -> str:
        option, value = found[1], found[2]
        kept, skip = [], False
        for word in words:
            if not skip and word != option and not word.startswith(f"{option}="):
                kept.append(word)
            skip = word == option and not skip
        return shlex.join(("xpusetup", *kept, option, value))

    return SAME.sub(put, text)


def complete_result(data: T, context: Mapping[str, Sequence[str]]) -> T:
    """Complete what a result advises."""
    return map_texts(data, lambda text, names: text if set(ADVICE).isdisjoint(names) else complete(text, context))


# What every command returns, and the one envelope in which it leaves as JSON.


SCHEMA = 1
AS_IT_IS = {"env", "profiles schema", "skill"}
"""Read by a shell and by editors: each text as it is."""


@dataclass(frozen=True)
class Result(Generic[T_co]):
    """The outcome of a command: what it found, and the exit code that follows."""

    command: str
    data: T_co
    code: int = 0


def make_document(result: AnyResult, following: object = ()) -> str:
    """Give a result, and the commands that lead on from it, as one JSON document."""
    data = to_json(result.data if result.command in AS_IT_IS else hide_all(result.data))
    if isinstance(data, dict):
        data["next"] = to_json(hide_all(following))
    return json.dumps({"schema": SCHEMA, "command": result.command, "ok": result.code == 0, "result": data}, indent=2)


def make_error_document(command: str, error: XpuError, following: object = ()) -> str:
    """Give an error, and the commands that lead on from it, as one JSON document."""
    told = {"message": hide(error.message), "fix": hide(error.fix), "code": error.code}
    told["next"] = to_json(hide_all(following))
    return json.dumps({"schema": SCHEMA, "command": command, "ok": False, "error": told}, indent=2)
