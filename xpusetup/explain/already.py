"""What a log's own commands have set already: it failed with that, so it is not advised again."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from xpusetup.explain.evidence import Lines


SETS = re.compile(r"^(?:export|set) (?P<pairs>\w+=[^\s$]+(?: \w+=[^\s$]+)*)$")
"""A command that only sets variables."""
STARTS = re.compile(r"^(?:vllm serve|llama-(?:server|cli|bench)|python main\.py)(?= )")
"""A command that starts what may have been started with the same options."""
OPTION = re.compile(r" (?P<name>--?[a-z][\w-]*)(?:[ =](?P<value>[\w.]+))?(?= |$)")
"""An option of such a command, with its value."""
STARTED = re.compile(r"vllm serve|api_server|llama-(?:server|cli|bench)|main\.py|^\s*-{1,2}[a-z]|^command:")
"""A line of a log in which a program is started, or options of it go on."""
LESS = frozenset({"--max-model-len", "--max-num-batched-tokens", "--max-num-seqs", "-c", "-ngl", "-ub", "-b"})
"""Options of which a smaller value does the same, and more."""
NAMELESS = frozenset({"MODEL", "PROGRAM", "NAME"})
"""Values that stand for what a person fills in."""


def leave_out_set(commands: Iterable[str], log: Lines, line: int) -> list[str]:
    """Give the commands without what stands set in a log before a line."""
    before = [text for number, text in zip(log.numbers, log.texts, strict=True) if number < line]
    whole = "\n".join(before)
    started = "\n".join(text for text in before if STARTED.search(text))
    kept = (_left(command, whole, started) for command in commands)
    return [command for command in kept if command]


def _left(command: str, whole: str, started: str) -> str:
    """Give what is left of a command, or nothing."""
    if sets := SETS.match(command):
        return "" if all(_is_set(pair, whole) for pair in sets["pairs"].split()) else command
    if not STARTS.match(command) or not started:
        return command
    given = [found for found in OPTION.finditer(command) if found["value"] not in NAMELESS]
    done = [found for found in given if _is_given(found["name"], found["value"], started)]
    if given and len(done) == len(given):
        return ""
    for found in reversed(done):
        command = command[: found.start()] + command[found.end() :]
    return command


def _is_set(pair: str, whole: str) -> bool:
    """Say whether a variable has that value in a log, as a shell, docker or a compose file sets it."""
    name, _, value = pair.partition("=")
    return re.search(rf"(?<![\w$]){re.escape(name)}[=:] ?[\"']?{re.escape(value)}(?![\w.])", whole) is not None


def _is_given(name: str, value: str | None, started: str) -> bool:
    """Say whether a program was started with that option, or with a value of it that does more."""
    told = re.findall(rf"(?<![\w-]){re.escape(name)}(?![\w-])(?:[ =:]+[\"']?([\w.]+))?", started)
    return any(_does(name, value, each) for each in told)


def _does(name: str, value: str | None, given: str) -> bool:
    if value is None or value == given:
        return True
    return name in LESS and given.isdecimal() and value.isdecimal() and int(given) <= int(value)
