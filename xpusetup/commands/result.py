"""What every command returns, the one envelope in which it leaves as JSON, and advice made whole."""

import json
import re
import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Generic, TypeAlias, TypeVar, get_args

from xpusetup.base.command import Command
from xpusetup.base.document import map_texts, to_json
from xpusetup.base.errors import XpuError
from xpusetup.base.text import hide, hide_all
from xpusetup.base.verbs import BUILD, COMMANDS, OLD, PROFILE, name_build, options_about_builds

AnyResult: TypeAlias = "Result[object]"

Say = Callable[[str], None]
T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)


# Advice made whole: a command of this program that a fix names gets the options of the situation it is given in.
#
# Who says `xpusetup doctor --for run` in a table of failures, or deep in an effect, knows neither profile nor root.
# The options that the user gave are put in where the advice leaves the program, after the verb, where that takes them.


PLACES = ("--root", "--name")
"""Each says where a build is: with one, no other is put beside it."""
OF_BUILD = ("--profile", "--root", "--name", "--build-dir", "--prefix", "--into", "--python", "--rev")
"""The options of a situation; a command gets those of them that it declares."""
OF_BUNDLE = ("--profile", "--rev")
"""What a bundle says itself: with another value it would be refused."""


def complete(command: Command, context: Mapping[str, Sequence[str]], words: Sequence[str] = ()) -> Command:
    """Put the options of a context (option -> its values) into a command of this program, where it takes them.

    `words`: the command line of this run, from which a command is made that is the same with another option.
    """
    if command.again and words:
        return _with_another(command, _of_today(words))
    verbs = (verb for verb in COMMANDS if f"{command} ".startswith(f"xpusetup {verb} "))
    verb = max(verbs, key=len, default="")  # `setup site` is not `setup`
    takes = options_about_builds(verb) if verb and context else frozenset()
    given = shlex.split(command.partition(" -- ")[0].replace("=", " ")) if takes else []
    profile = [value for word, value in pairwise(given) if word in ("--profile", "-p")]
    named = [word for word in given[len(verb.split()) + 1 :][:1] if not word.startswith("-")]
    profile += named if PROFILE in takes else []
    if not given or (profile and profile != [*context.get("--profile", ())]):
        return command  # that of another profile has another place too
    told = {*given, *(["--profile"] if profile else []), *(OF_BUNDLE if "--bundle" in given else ())}
    if told & {*PLACES} or (named and BUILD in takes):
        told |= {*PLACES, *(["--profile"] if named and BUILD in takes else [])}
    left = [option for option in OF_BUILD if option in takes - told]
    placed = not {*PLACES, "--bundle"}.isdisjoint(given)  # beside those a word would name another build
    more = name_build(takes - {BUILD} if placed else takes, {option: context.get(option, ()) for option in left})
    said = f"xpusetup {verb}"
    return command.like(f"{said} {shlex.join(more)}".rstrip() + command.removeprefix(said))


def _with_another(command: Command, words: Sequence[str]) -> Command:
    """Give the command line with another option, or with a word in place of one of its own.

    How its answer is to be shown is left out.
    """
    first, last = command.again[0], command.again[-1]
    own = words.index("--") if "--" in words else len(words)
    words = [*(word for word in words[:own] if word not in {"--json", "--quiet"}), *words[own:]]
    if first.startswith("-"):
        kept = re.sub(rf"\0{first}[=\0][^\0]*", "", "\0".join(("xpusetup", *words))).split("\0")
        return Command(shlex.join((*kept, *command.again)), gaps=command.gaps)
    line = shlex.join(["xpusetup", *(last if word == first else word for word in words)])
    return Command(line) if first in words else command


def _of_today(words: Sequence[str]) -> list[str]:
    """Give a command line with the name of today for one that is called by an old one."""
    old = next((count for count in (1, 2) if " ".join(words[:count]) in OLD), 0)
    return [*OLD[" ".join(words[:old])].split(), *words[old:]] if old else [*words]


def complete_result(data: T, context: Mapping[str, Sequence[str]], words: Sequence[str] = ()) -> T:
    """Complete the commands that a result or an error advises."""
    return map_texts(data, lambda text, _: complete(text, context, words) if isinstance(text, Command) else text)


def takes_result(function: object, kind: type) -> bool:
    """Say whether a function is written for a type of result: the one of its parameter `data`."""
    told = getattr(function, "__annotations__", {}).get("data", "")
    return kind.__name__ in told.split(" | ") if isinstance(told, str) else kind in (told, *get_args(told))


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
