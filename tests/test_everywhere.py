"""What every command takes: --json, behind it, before it or as a variable; --quiet likewise; --version before all."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

import pytest

from test_advice import ROOT, parse
from xpusetup.base.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from in_process import Program

ENDS = {
    "build": "-p sin",
    "install": "-p sin",
    "plan": "-p sin",
    "run": "-p sin",
    "env": "-p sin",
    "verify": "-p sin",
    "wheel check": "none.whl",
    "wheel sign": "none.whl --key none.pem",
    "wheel fits": "none.whl",
    "wheel rebuild": "-p sin",
    "list": "",
    "status": "-p sin",
    "report": "-p sin",
    "adopt": "/no/such/folder",
    "remove": "-p sin",
    "bisect": "a b -p sin -- true",
    "try": "torch-xpu-ops=none -p sin",
    "emit": "shell -o x -p sin",
    "doctor": "--list",
    "toolkit": "none -p sin",
    "setup": "-p sin --facts none.json",
    "explain": "none.log",
    "skill": "",
    "profiles list": "",
    "profiles show": "sin",
    "profiles check": "sin",
    "profiles new": "none --from sin -o x/y.toml",
    "profiles lock": "-p sin",
    "profiles schema": "",
    "profiles trust": "none.toml",
    "devices table": "none",
    "bundle create": "x.tar -p sin",
    "bundle verify": "none.tar",
    "self": "",
}
"""Words with which each command ends at once, well or not: nothing is probed, started or fetched for them."""


@pytest.fixture(autouse=True)
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("XDG_CACHE_HOME", "XDG_DATA_HOME", "XDG_CONFIG_HOME"):
        monkeypatch.setenv(name, str(tmp_path))


def leaves(command: Any = ROOT, name: str = "") -> Iterator[tuple[str, Any]]:
    """Give every command of the program with its whole name."""
    below = getattr(command, "commands", {})
    if not below:
        yield name, command
    for verb, each in below.items():
        yield from leaves(each, f"{name} {verb}".strip())


def test_no_command_is_left_out() -> None:
    assert set(ENDS) == {name for name, _ in leaves()}


@pytest.mark.parametrize("name", ENDS)
def test_every_command_takes_these(name: str) -> None:
    options = {option for parameter in dict(leaves())[name].params for option in parameter.opts}
    assert {"--json", "--quiet"} <= options


@pytest.mark.parametrize("name", ENDS)
def test_help_ends_with_examples_that_are_commands(name: str, program: Program) -> None:
    said = program(f"{name} --help")
    told = re.sub(r"[\s│]+", " ", said.out)
    examples = dict(leaves())[name].examples
    assert (said.code, len(set(examples))) == (0, 2)
    for example in examples:
        assert example in told
        command = re.split(" [>|] ", example[example.index("xpusetup") :])[0].rstrip(')"')
        assert command.startswith(f"xpusetup {name}")
        parse(command)
    assert ("env var" in told, "XPUSETUP_JSON" in told) == (False, True)


@pytest.mark.parametrize("name", ENDS)
def test_json_however_it_is_asked_for(name: str, program: Program, monkeypatch: pytest.MonkeyPatch) -> None:
    """Behind the command, before it and as a variable: the same document on stdout, and nothing beside it."""
    monkeypatch.setattr("xpusetup.system.program.describe_version", lambda: "0.1.0")  # which asks git
    monkeypatch.setattr("xpusetup.commands.self._why_not_pulled", lambda _clone: "")
    own, dashes, command = ENDS[name].partition("-- ")
    ways = [program(f"{name} --json {own}{dashes}{command}"), program(f"--json {name} {ENDS[name]}")]
    ways += [program(f"--quiet --json {name} {ENDS[name]}"), program(f"{name} --quiet --json {own}{dashes}{command}")]
    monkeypatch.setenv("XPUSETUP_JSON", "1")
    ways.append(program(f"{name} {ENDS[name]}"))
    assert [way for way in ways if way != ways[0]] == []
    assert ways[0].err == ""
    document = json.loads(ways[0].out)
    assert (document["ok"], document["command"]) == (ways[0].code == 0, name)


@pytest.mark.parametrize("way", ["", "--json", "--quiet"])
def test_the_bare_command_too(way: str, program: Program, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail() -> None:
        raise UsageError("nothing is looked at here")

    monkeypatch.setattr("xpusetup.commands.recommend.show_way", fail)
    ran = program(way)
    assert ran.code == UsageError.code
    assert ran.err == ("" if way == "--json" else " ✗ nothing is looked at here\n")
    assert (json.loads(ran.out)["command"] if way == "--json" else ran.out) == ("xpusetup" if way == "--json" else "")


@pytest.mark.parametrize("words", ["--version", "--version build", "--json --version doctor --list"])
def test_the_version(words: str, program: Program, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XPUSETUP_VERSION", "1.0")  # of somebody's own: it is no question
    monkeypatch.setattr("xpusetup.system.program.describe_version", lambda: "0.1.0 (0123456789ab)")
    monkeypatch.setattr("xpusetup.commands.self._why_not_pulled", lambda _clone: "")
    ran = program(words)
    assert (ran.code, ran.err) == (0, "")
    assert re.fullmatch(r"xpusetup [\d.]+( \([0-9a-f]{12}[^)]*\))?\n", ran.out), ran.out
    assert program("profiles list --json").code == 0


@pytest.mark.parametrize("words", ["run -p sim python --json --quiet", "run -p sim -- python --json"])
def test_the_options_of_another_program_are_its_own(words: str, program: Program) -> None:
    """What stands behind the program that `run` starts is not taken from it."""
    ran = program(words)
    assert ran.out == ""
    assert "nothing is built in " in ran.err
