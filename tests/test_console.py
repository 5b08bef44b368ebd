"""Nothing that is not ours commands a terminal, and none of it is markup: on every screen, wherever a text stands."""

from __future__ import annotations

import copy
import re
from dataclasses import fields, is_dataclass, replace
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fuzzing import examples
from nasty import any_text
from test_screens import RESULTS
from xpusetup.base.errors import UsageError
from xpusetup.base.model import Event, Kind
from xpusetup.cli.finish import SIGNS
from xpusetup.cli.options import ResultOutput
from xpusetup.commands.env import ShellEnvironment
from xpusetup.commands.result import Result
from xpusetup.ui import screens
from xpusetup.ui.console import make_console, plain, print_commands, write_text
from xpusetup.ui.env import show_env
from xpusetup.ui.live import BuildView

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from xpusetup.system.process import Language

CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")
EVIL = "[b]Q[/b][/x]\x1b[2J\x1b]0;owned\x07\x9b31m\u202e\x08\rE"
KINDS: tuple[Kind, ...] = ("plan", "note", "progress", "start", "output", "end")
AS_TEXT = "[b]Q[/b][/x]"


def places(value: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Give where texts stand in a document, in the first of alike ones."""
    if isinstance(value, str):
        yield path
    first = list(value[:1]) if isinstance(value, list | tuple) else []
    pairs = enumerate(first) if isinstance(value, list | tuple) else items_of(value)
    for key, each in pairs:
        yield from places(each, (*path, key))


def items_of(value: Any) -> Iterable[tuple[Any, Any]]:
    if is_dataclass(value):
        return [(field.name, getattr(value, field.name)) for field in fields(value)]
    return value.items() if isinstance(value, dict) else ()


def put(value: Any, path: tuple[Any, ...], text: str) -> Any:
    if not path:
        return text
    key, *rest = path
    if isinstance(value, dict):
        return {name: put(each, tuple(rest), text) if name == key else each for name, each in value.items()}
    if is_dataclass(value) and not isinstance(value, type):
        return replace(value, **{key: put(getattr(value, key), tuple(rest), text)})
    changed = [put(each, tuple(rest), text) if number == key else each for number, each in enumerate(value)]
    return type(value)(changed)


@pytest.mark.parametrize(("name", "data", "verbose"), RESULTS)
def test_no_text_of_a_result_reaches_the_terminal_raw(
    name: str, data: Any, verbose: bool, capsys: pytest.CaptureFixture[str]
) -> None:
    tried = 0
    for path in places(data):
        changed = put(copy.deepcopy(data), path, EVIL)
        try:
            screens.show_result(Result(name, changed), verbose=verbose)
        except (KeyError, ValueError, StopIteration, IndexError):  # a word of a list: a mark, a number
            capsys.readouterr()
            continue
        said = capsys.readouterr().out
        assert not CONTROL.search(said), (name, path, said)
        assert "Q" not in re.sub(re.escape(AS_TEXT), "", said) or AS_TEXT in said, (name, path, said)
        tried += 1
    assert tried > 0


@examples(100)
@given(any_text)
def test_a_text_is_plain_and_keeps_its_letters(text: str) -> None:
    found = plain(text)
    assert not CONTROL.search(found)
    assert plain(found) == found
    if text.isprintable():
        assert found == text


@examples(100)
@given(st.text(alphabet="\x1b[]0;m\x07\\a"))
def test_sequences_go_whole_where_they_are_whole(text: str) -> None:
    assert not CONTROL.search(plain(text))


def test_what_a_sequence_held_goes_with_it() -> None:
    assert plain("a\x1b[1;31mb\x1b]8;;http://evil\x1b\\c\x1b]8;;\x07d\x9b0me") == "abcde"
    assert plain("one\r\ntwo\rthree\ttab\n") == "one\ntwo\nthree\ttab\n"


def test_an_error_is_plain(capsys: pytest.CaptureFixture[str]) -> None:
    screens.show_error(UsageError(f"a {EVIL}\nb {EVIL}", fix=f"c {EVIL}"))
    said = capsys.readouterr().err
    assert not CONTROL.search(said)
    assert said.count(AS_TEXT) == 3


def test_events_and_logs_are_plain(capsys: pytest.CaptureFixture[str]) -> None:
    with BuildView(json=False, verbose=True) as view:
        for kind in KINDS:
            text = f"+ {EVIL}" if kind == "output" else EVIL
            event = Event(kind=kind, step=f"a{EVIL}", title=EVIL, text=text, seconds=1.0, time=1.0)
            view.observe(replace(event, state="failed") if kind == "end" else event)
    write_text(EVIL)
    ResultOutput().say(EVIL)
    said = capsys.readouterr()
    assert not CONTROL.search(said.out + said.err)
    assert said.out.count(AS_TEXT) >= 7


def test_the_environment_is_read_back_by_a_shell(capsys: pytest.CaptureFixture[str]) -> None:
    change = ShellEnvironment({"A": "x\x1b[1m'\ny", "B C": "d", "É": "e"}, ["F;G", "H"])
    show_env(make_console(), change, verbose=False)
    assert capsys.readouterr().out == "unset H\nexport A=$'x\\033[1m\\'\\012y'\n"


@pytest.mark.parametrize(
    ("shell", "text"),
    [
        ("fish", "set -e H\nset -gx A 'x\\'!$y'\n"),
        ("csh", "unsetenv H;\nsetenv A 'x'\\''\\!$y';\n"),
    ],
)
def test_the_environment_in_the_language_of_other_shells(
    shell: Language, text: str, capsys: pytest.CaptureFixture[str]
) -> None:
    show_env(make_console(), ShellEnvironment({"A": "x'!$y", "B C": "d"}, ["F;G", "H"], shell), verbose=False)
    assert capsys.readouterr().out == text


@pytest.mark.parametrize(("columns", "longest"), [("40", 40), ("", 121), ("wide", 121)])
def test_a_pipe_is_as_wide_as_columns_says(
    columns: str, longest: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Without it a line stays as it is for whoever reads the pipe; a command is whole in any case."""
    monkeypatch.setenv("COLUMNS", columns)
    console = make_console()
    console.print(" x " + "word " * 23 + "end")
    print_commands(console, [f"prog {'--option ' * 9}end"], 1)
    *lines, command = capsys.readouterr().out.splitlines()
    assert max(map(len, lines)) <= longest
    assert (len(lines) > 1) == (longest == 40)
    assert command == f" prog {'--option ' * 9}end"


def test_a_locale_without_the_signs_tells_what_failed_from_what_did_not() -> None:
    """It wrote a question mark for each, which is the sign of what is not known."""
    assert "✓ ✗ · ↻ … → ? é".encode("ascii", errors=SIGNS) == b"+ x - ~ ... -> ? ?"
    assert "✓ ·".encode("latin-1", errors=SIGNS) == b"+ \xb7"
    assert "\udcff".encode(errors=SIGNS) == b"?"
