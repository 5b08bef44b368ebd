"""Shell words: whatever a value holds, bash reads back the same value. shlex reads as bash does here."""

from __future__ import annotations

import shlex

import pytest

from xpusetup.base.text import break_command, render_command, render_long_command, render_word

NASTY = [
    "$(touch /tmp/x)",
    "`id`",
    "a;b&c|d",
    "a'b",
    'a"b',
    "a\\b",
    "$HOME ${X}",
    "*?[a]{1,2}",
    "~",
    "!history",
    "#comment",
    "a b\tc",
    "two\nlines",
    "-n",
    "é·…",
    "<in>out",
    "",
    "' '\"' '\"",
    "x=y",
]


@pytest.mark.parametrize("text", NASTY)
def test_a_word_is_read_back(text: str) -> None:
    assert shlex.split(render_word(text)) == [text]
    assert shlex.split(render_command(["a", text, "b"])) == ["a", text, "b"]


@pytest.mark.parametrize("text", NASTY)
def test_only_root_is_left_to_the_shell(text: str) -> None:
    spliced = render_word(f"{text}@ROOT@{text}")
    assert shlex.split(spliced) == [f"{text}$ROOT{text}"]
    assert '"$ROOT"' in spliced


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("plain", "plain"),
        ("", "''"),
        ("@ROOT@", '"$ROOT"'),
        ("@ROOT@/a", '"$ROOT"/a'),
        ("@ROOT@/a b", "\"$ROOT\"'/a b'"),
        ("-I@ROOT@/x:@ROOT@", '-I"$ROOT"/x:"$ROOT"'),
        ("@ROOT@@ROOT@", '"$ROOT""$ROOT"'),
        ("@ROOT", "@ROOT"),
        ("$ROOT", "'$ROOT'"),
        ("2.5.1+xpu", "2.5.1+xpu"),
        ("a==1; x < '2'", "'a==1; x < '\"'\"'2'\"'\"''"),
    ],
)
def test_words(text: str, word: str) -> None:
    assert render_word(text) == word


def test_a_long_command_is_broken_between_words() -> None:
    argv = ["pip", *(f"package-number-{number}==1.0" for number in range(20)), "@ROOT@/x y", "$(id)"]
    text = "\n".join(break_command(map(render_word, argv), width=60))
    assert max(map(len, text.splitlines())) <= 60 + len("  \\")
    assert all(line.endswith(" \\") for line in text.splitlines()[:-1])
    assert shlex.split(text.replace("\\\n", "")) == [*argv[:-2], "$ROOT/x y", "$(id)"]


@pytest.mark.parametrize("argv", [[], ["one"], ["x" * 200], ["a", "x" * 200, "b"]])
def test_lengths_that_do_not_fit(argv: list[str]) -> None:
    assert shlex.split(render_long_command(argv).replace("\\\n", "")) == argv
