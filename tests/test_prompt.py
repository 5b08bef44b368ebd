"""explain --prompt and doctor --prompt: one text that holds what matters, is bounded, and names nobody."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from xpusetup.base.text import Redactor
from xpusetup.explain.evidence import Lines
from xpusetup.explain.prompt import ALIKE, ROOM, excerpt, make_prompt, make_prompt_of_machine

if TYPE_CHECKING:
    from pathlib import Path

    from in_process import Program

POST = """lspci -nnk
03:00.0 VGA compatible controller [0300]: Intel Corporation Device [8086:e20b]
\tKernel driver in use: xe
"""
ERROR = "RuntimeError: XPU out of memory. Tried to allocate 7.03 GiB"


def numbered(count: int, text: str = "a line of words that is like no other") -> dict[int, str]:
    """Give lines that differ in more than numbers."""
    return {number: f"{text} {'abcdefghij'[number % 10] * (number % 97 + 1)}" for number in range(1, count + 1)}


def test_a_short_text_is_shown_whole() -> None:
    rows = excerpt({1: "one", 2: "two", 3: ""}, (), 3)
    assert rows == ["     1 one", "     2 two"]


def test_of_a_long_one_what_matters_the_beginning_and_the_end() -> None:
    texts = numbered(5000) | {2500: ERROR}
    rows = excerpt(texts, [2500], 5000)
    assert sum(map(len, rows)) <= ROOM
    assert f"  2500 {ERROR}" in rows
    assert (rows[0].startswith("     1 "), rows[-1].startswith("  5000 ")) == (True, True)
    assert [row for row in rows if "[..." in row] == ["       [... 2,457]", "       [... 2,428]"]


def test_the_middle_of_a_log_that_was_not_kept_is_counted() -> None:
    texts = {1: "begin", 2: "more", 900: ERROR, 999: "the end"}
    assert excerpt(texts, [900], 1000) == [
        "     1 begin",
        "     2 more",
        "       [... 897]",
        f"   900 {ERROR}",
        "       [... 98]",
        "   999 the end",
    ]


def test_lines_that_differ_in_numbers_alone_are_shown_a_few_times() -> None:
    texts = {number: f"epoch {number}: loss 0.{number}" for number in range(1, 101)} | {40: ERROR}
    rows = excerpt(texts, [40], 100)
    assert len(rows) < 4 * ALIKE
    assert f"    40 {ERROR}" in rows


def test_one_line_without_end_is_cut_in_its_middle() -> None:
    (row,) = excerpt({1: "a" * 50_000 + "the end"}, (), 1)
    assert len(row) < 500
    assert row.endswith("the end")


def test_a_private_key_is_taken_out_whole() -> None:
    text = "$ cat id\n-----BEGIN OPENSSH PRIVATE KEY-----\nb3BlbnNzaC1rZXk\n-----END OPENSSH PRIVATE KEY-----\ndone"
    told = make_prompt_of_machine(text, (), str)
    assert "b3Blb" not in told
    assert "     5 done" in told


def test_of_a_line_that_matters_more_is_shown() -> None:
    line = "g++ " + "-I/x " * 100 + "fatal: no such flag " + "-O2 " * 100
    assert "no such flag" in excerpt({1: line}, [1], 1)[0]
    assert "no such flag" not in excerpt({1: line, 2: "x"}, [2], 2)[0]


def test_only_what_is_quoted_is_cleaned() -> None:
    """A person whose name is a word of the question takes nothing out of it."""
    clean = Redactor(user="you", home="/home/you").text
    text = make_prompt_of_machine("you have no access\n/home/you/x", ["access: you may not open it"], clean)
    assert "what you\n" not in text.partition("## ")[2]
    assert "what is wrong" in text.lower()
    assert "<user> have no access" in text
    assert "<user> may not open it" in text


def test_what_a_table_guesses_stands_behind_the_log(tmp_path: Path, program: Program) -> None:
    log = tmp_path / "run.log"
    log.write_text(f"$ python train.py --token=hf_{'a' * 34}\nTraceback (most recent call last):\n{ERROR}\n")
    told = program(f"explain {log} --prompt")
    assert told.code == 0
    assert told.out.startswith("Why did this fail?")
    assert told.out.index(ERROR) < told.out.index("## What a table of known failures")
    assert "aaaa" not in told.out
    assert "[...]" in told.out
    document = json.loads(program(f"explain {log} --prompt --json").out)
    assert document["result"]["prompt"] == told.out


def test_a_log_of_which_nothing_is_known(tmp_path: Path, program: Program) -> None:
    log = tmp_path / "run.log"
    log.write_text("something else\n")
    out = program(f"explain {log} --prompt").out
    assert "something else" in out
    assert "## What" not in out


def test_a_post(tmp_path: Path, program: Program) -> None:
    post = tmp_path / "post.txt"
    post.write_text(POST)
    told = program(f"doctor --paste {post} --prompt")
    assert told.code == 0
    assert told.out.startswith("What is wrong with this machine")
    assert "Kernel driver in use: xe" in told.out
    assert "## What a program's checks find wrong, which may be mistaken" in told.out


@pytest.mark.parametrize("words", ["--save x.json", "--collect-env -", "--facts a.json --facts b.json"])
def test_nothing_else_is_asked_for_beside_it(words: str, program: Program) -> None:
    assert program(f"doctor --prompt {words}").code == 2


@pytest.mark.parametrize("machine", ["", "GPU: Arc"])
def test_the_machine_of_a_build(machine: str) -> None:
    from xpusetup.explain.explanation import ExplainedLog  # noqa: PLC0415 - this test alone makes one

    told = ExplainedLog(
        causes=[],
        first_error_line=1,
        first_error=ERROR,
        first_error_sure=True,
        context=[],
        later_errors=0,
        later_errors_more=False,
        lines=1,
        last=[],
        beside=[],
        ended=None,
        went_on=[],
    )
    text = make_prompt(told, Lines((ERROR,), (1,)), machine, str)
    assert ("## The machine" in text) == bool(machine)
