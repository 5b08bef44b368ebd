"""The page for agents: its commands are commands, its exit codes those of the program."""

from __future__ import annotations

import re

import pytest

from commands_page import list_commands
from test_advice import parse
from xpusetup.base import errors
from xpusetup.commands.self import make_skill

PAGE = make_skill({name: said for name, _, said in list_commands()}).data.text
WRITTEN = sorted({each for each in re.findall(r"`(xpusetup(?: [^`]+)?)`", PAGE) if not each.isupper()})


def test_the_codes_are_those_of_the_errors() -> None:
    told = {int(code) for code in re.findall(r"^\| (\d+) \|", PAGE, re.MULTILINE)}
    kinds = [each for each in vars(errors).values() if isinstance(each, type) and issubclass(each, errors.XpuError)]
    assert told == {0, *(kind.code for kind in kinds)}


@pytest.mark.parametrize("command", WRITTEN)
def test_a_command_is_one(command: str) -> None:
    words = command.replace("COMMAND", "python").split(" -- ")[0]
    if words not in {"xpusetup", "xpusetup --json", *(f"xpusetup {name}" for name, _, _ in list_commands())}:
        parse(words)


def test_every_command_is_named() -> None:
    for name, _, said in list_commands():
        assert f"- `xpusetup {name}`: {said}" in PAGE
