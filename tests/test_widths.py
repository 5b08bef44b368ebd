"""Every screen at 60, 80, 100 and 160 columns: no line is wider, no word is broken, and every command stands whole."""

from __future__ import annotations

import re
import shlex
from collections import Counter
from dataclasses import replace
from functools import cache
from io import StringIO
from typing import TYPE_CHECKING, Any

import pytest
import typer.main

from commands_page import list_commands
from data import screens
from data.outcomes import OUTCOMES
from data.saved import machine_file
from test_advice import commands_in
from test_machines import SHOWN, doctor, screen_of_setup
from test_screens import test_golden_results as golden_results
from xpusetup.base.command import Advice, Command
from xpusetup.base.document import read_json_as, to_json
from xpusetup.base.errors import NotReadyError, UsageError, XpuError
from xpusetup.base.verbs import FIRST, MORE
from xpusetup.cli import app
from xpusetup.commands.doctor import list_checks
from xpusetup.commands.profiles import list_profiles, show_profile
from xpusetup.commands.recommend import way_of
from xpusetup.commands.setup import SetupOptions, prepare_setup, show_setup
from xpusetup.machine.facts import Facts
from xpusetup.ui import list as listing
from xpusetup.ui import screens as show
from xpusetup.ui.console import COMMAND, Terminal, mark_commands, prose, wrap

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from in_process import Program

WIDTHS = (40, 60, 80, 100, 160)
ENDLESS = 3000
HEADS = {
    "·",
    "step",
    "needs",
    "state",
    "what",
    "root",
    "sources",
    "and",
    "builds",
    "environment",
    "other",
    "kept",
    "besides",
    "size",
    "folder",
    "wheels",
    *listing.HEADS,
    *listing.MORE,
}
GOLDEN = {name: (data, more) for name, data, more in golden_results.pytestmark[0].args[1]}
TABLES = ("cache-size", "cache-size-verbose", "list", "list-verbose")
TERMINAL = (
    "env",
    "plan-verbose",
    "plan-guessed-verbose",
    "setup-site",
    "verify",
    "verify-wrong-numbers",
    "verify-failing",
    *TABLES,
)
"""Not wrapped (text for a shell, recipes as they are), or with titles that are put into columns by width."""


def written(show_it: Callable[[Terminal], None], width: int) -> str:
    console = Terminal(
        width=width,
        color_system=None,
        force_terminal=True,
        file=StringIO(),
        highlight=False,
        soft_wrap=True,
        _environ={},
    )
    show_it(console)
    assert isinstance(console.file, StringIO)
    return console.file.getvalue()


@cache
def facts_of(name: str) -> Facts:
    return read_json_as(Facts, machine_file(name).read_text())


def told(data: Any, *, advice: bool = False) -> Iterator[str]:
    """Give the commands of a result: those of its steps, fixes and tasks."""
    if isinstance(data, str) and advice:
        yield data
    data = to_json(data)
    for key, each in data.items() if isinstance(data, dict) else enumerate(data if isinstance(data, list) else ()):
        if key == "argv":
            yield shlex.join(each)
        else:
            yield from told(each, advice=key == "commands" or (advice and isinstance(data, list)))


def words_of(text: str) -> Counter[str]:
    """Count its words, without what a table says again in each row where it has no room, and the mark of a comment."""
    return Counter(word for word in text.split() if word not in HEADS and word != "#")


def hold(show_it: Callable[[Terminal], None], data: Any = None) -> None:
    widest = written(show_it, ENDLESS)
    commands = [*commands_in(widest), *(each for each in told(data) if each in widest)]
    for width in WIDTHS:
        text = written(show_it, width)
        for line in text.splitlines():
            assert len(line.rstrip()) <= width or _is_one(line, commands), f"{width}: {line}"
        lines = [" ".join(line.split()) for line in text.splitlines()]
        for command in commands:
            assert any(" ".join(command.split()) in line for line in lines), f"{width}: broken: {command}"
        assert words_of(text) == words_of(widest), f"{width}: a word is broken"


def _is_one(line: str, commands: list[str]) -> bool:
    """Say whether a line that is too wide is so for a word or a command that cannot be broken."""
    bare = re.sub(r"^\s*(?:[✓✗!·…#-]|fix|then|begin with|into|\d+|[A-Z][a-z]+)?\s+", "", line).strip()
    word = " " not in bare.removesuffix(" ·")
    place = re.match(r"\S+:\d+:\d+: ", line)  # a compiler's error, which an editor finds the place by
    return (
        word
        or place is not None
        or any(command.strip() in bare for command in commands)
        or COMMAND.match(bare) is not None
    )


@pytest.mark.parametrize("name", sorted(set(GOLDEN) - set(TERMINAL)))
def test_results(name: str) -> None:
    data, more = GOLDEN[name]
    hold(lambda console: show.show_data(console, data, verbose=more), data)


@pytest.mark.parametrize("name", ["verify", "verify-wrong-numbers", "verify-failing", *TABLES])
def test_columns(name: str) -> None:
    data, more = GOLDEN[name]
    hold(lambda console: show.show_data(console, data, verbose=more))


@pytest.mark.parametrize("name", SHOWN)
def test_machines(name: str) -> None:
    for more in (False, True):
        hold(lambda console, more=more: show.show_data(console, doctor(name), verbose=more), doctor(name))  # type: ignore[misc]
    way = way_of(facts_of(name)).data
    hold(lambda console: show.show_data(console, way, verbose=False), way)
    for goal in ("run", "build"):
        options = SetupOptions(profile=OUTCOMES[name].asked, goal=goal, facts=str(machine_file(name)))
        data = show_setup(prepare_setup(options)).data
        hold(lambda console, data=data: show.show_data(console, data, verbose=False), data)  # type: ignore[misc]
    assert screen_of_setup(data)


@pytest.mark.parametrize("name", ["sim", "torch-2.14", "gaudi-1.24.1"])
def test_profiles(name: str) -> None:
    hold(lambda console: show.show_data(console, show_profile(name).data, verbose=False))


def test_a_part_without_an_address_leaves_no_empty_line() -> None:
    text = written(lambda console: show.show_data(console, show_profile("stack-cpu").data, verbose=False), 100)
    assert " ✓ safetensors 0.8.0\n     confirmed: the package index\n" in text


def test_lists() -> None:
    hold(lambda console: show.show_data(console, list_profiles().data, verbose=False))
    hold(lambda console: show.show_data(console, list_checks().data, verbose=False))


ERRORS: list[XpuError] = [
    UsageError("there is no profile 'sin'; did you mean sim?", command="xpusetup profiles list"),
    NotReadyError(
        "this machine is not ready to build torch-2.5\noneapi.compiler: no icpx below /opt/intel/oneapi. " * 2,
        fix=Advice(
            "# oneapi.compiler\n",
            Command("wget -qO- https://apt.example.org/K.PUB | sudo gpg --dearmor --yes -o /usr/k.gpg; ls -l [a-z]*"),
            "\n# If it is installed elsewhere, name the place: ONEAPI_ROOT=DIR, or [toolkit] root in the site file. "
            "Other distributions: https://example.org/a/very/long/address/of/a/page/that/nobody/can/break.html",
        ),
    ),
    NotReadyError(
        "sim lacks what the PyTorch tests need: expecttest, pytest",
        fix="install it; no torch is replaced: ",
        command="xpusetup verify sim --root /b --suite pytorch --install",
    ),
]


@pytest.mark.parametrize("error", ERRORS, ids=lambda error: error.message[:30])
def test_errors(error: XpuError, monkeypatch: pytest.MonkeyPatch) -> None:
    def show_it(console: Terminal) -> None:
        monkeypatch.setattr(show, "make_console", lambda **_words: console)
        show.show_error(error)

    hold(show_it)


def test_a_command_has_its_colour_in_a_fix() -> None:
    """By its type: a sentence that looks like one has none."""
    fix = Advice("look at ls [a]: ", Command("xpusetup build [b]"))
    assert mark_commands(fix) == "look at ls \\[a]: [cyan]xpusetup build \\[b][/]"
    assert mark_commands(str(fix)) == "look at ls \\[a]: xpusetup build \\[b]"
    console = Terminal(
        width=14, color_system="standard", force_terminal=True, file=StringIO(), highlight=False, _environ={}
    )
    prose(console, "  ", fix)
    assert console.file.getvalue() == "  look at ls\n  [a]:\n  \x1b[36mxpusetup build [b]\x1b[0m\n"  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("text", "width", "lines"),
    [
        ("", 20, []),
        ("one two", 3, ["one", "two"]),
        ("look: xpusetup doctor --for run, or not", 20, ["look:", "xpusetup doctor --for run,", "or not"]),
        ("see xpusetup itself here", 12, ["see xpusetup", "itself here"]),
        ("16 cores · 64 GiB · Python 3.12", 20, ["16 cores · 64 GiB ·", "Python 3.12"]),
        ("python3 -c 'import a; print(1)' says it", 12, ["python3 -c 'import a; print(1)' says it"]),
        ("which moves: --base IMAGE@sha256:... holds", 16, ["which moves:", "--base IMAGE@sha256:...", "holds"]),
    ],
)
def test_wrapped(text: str, width: int, lines: list[str]) -> None:
    assert wrap(text, width) == lines


def test_commands_of_any_program_stand_whole_in_what_failed() -> None:
    """The screen knew some programs; a command of another one was broken into lines that fail when they are pasted."""
    commands = [
        "cmake -DCMAKE_PREFIX_PATH=/opt/somewhere/else -S . -B build",
        "pip download --no-binary :all: torch==9.9",
    ]
    commands += ["LDFLAGS=-ltinfo some-tool --first-of-its-options one --second two"]
    cause = replace(screens.EXPLAINED.causes[0], commands=list(map(Command, commands)))
    data = replace(screens.EXPLAINED, causes=[cause])
    for width in (40, 60, 80):
        lines = [line.strip() for line in written(lambda c: show.show_data(c, data, verbose=False), width).splitlines()]
        assert set(commands) <= set(lines)


def test_a_long_command_is_one_line() -> None:
    data = replace(screens.STATUS, damaged={}, verified=None, verify="xpusetup verify " + "--x y " * 30)
    text = written(lambda console: show.show_data(console, data, verbose=False), 60)
    assert data.verify.strip() in text


@pytest.mark.parametrize("width", WIDTHS)
def test_help(width: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """Every option, what it takes, and every example stand whole; a flag is not said to take anything."""
    monkeypatch.setenv("COLUMNS", str(width))
    for name, command, _ in list_commands():
        context = typer.Context(command, info_name=f"xpusetup {name}")
        text = command.get_help(context) + capsys.readouterr().out
        assert max(map(len, text.splitlines())) <= max(width, *map(len, command.examples)) + 2
        assert re.search(r"<(?:str|bool|int)", text) is None
        lines = [" ".join(line.strip(" │").split()) for line in text.splitlines()]
        for param in command.params:
            shown = param.opts if param.param_type_name == "option" and not param.hidden else ()
            for word in (*shown, *filter(None, [param.metavar])):
                assert any(re.search(rf"{re.escape(word)}(?![\w-])", line) for line in lines), (name, word)
        assert [example for example in command.examples if example not in lines] == []


@pytest.mark.parametrize("width", WIDTHS)
def test_the_first_help(width: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every command stands under its heading with its whole first sentence, in lines that are not cut."""
    monkeypatch.setenv("COLUMNS", str(width))
    program = typer.main.get_command(app)
    text = program.get_help(typer.Context(program, info_name="xpusetup"))
    assert max(map(len, text.splitlines())) <= width
    words = " ".join(text.split())
    for name, command, _ in list_commands():
        said = " ".join((command.help or "").partition("\n\n")[0].split())
        assert (f" {name} {said} " in f"{words} ") == (name in FIRST)


@pytest.mark.parametrize("width", WIDTHS)
def test_the_help_with_all_commands(width: int, monkeypatch: pytest.MonkeyPatch, program: Program) -> None:
    monkeypatch.setenv("COLUMNS", str(width))
    text = program("--help --all").out
    assert max(map(len, text.splitlines())) <= width
    words = " ".join(text.split())
    assert [heading for heading in MORE if f"{heading}:" not in words] == []
    for name, command, _ in list_commands():
        said = " ".join((command.help or "").partition("\n\n")[0].split())
        assert f" {name} {said} " in f"{words} "
