"""The finder gives of each line just the signatures that a plain search in that line would give."""

from __future__ import annotations

import random
from typing import TYPE_CHECKING

import pytest

from logs import SMALLEST
from xpusetup.commands.explain import known_signatures
from xpusetup.explain.blocks import LogBlock
from xpusetup.explain.finder import NAMES, SAID, WORK, Finder, make_finder, parse_signatures

if TYPE_CHECKING:
    from collections.abc import Mapping

FILLERS = ("-Werror=return-type", "torch/errors.py", "ErrorKernel7", "of", "12", "é", "错误", "rror", "error", "Error:")
BEGINS = ("", "", "", "[12/7561] Building CXX object ", "   12 | ", "-- ", "#9 1.5 ")


def find_plainly(data: bytes, finder: Finder) -> Mapping[int, set[int]]:
    """Look for each word in each line."""
    found, begin, spoken = {}, 0, ""
    for raw in data.splitlines(keepends=True):
        line = raw.lower()
        text = line.decode("latin-1")
        said = any(text[at + len(NAMES) : at + len(NAMES) + 1] in SAID for at in places(text, NAMES))
        meant = [meant for word, meant in finder.words.items() if word in spoken + text and (said or NAMES not in word)]
        numbers = {number for each in meant for beside, some in each.items() if beside in text for number in some}
        if numbers and not WORK.match(line):
            found[begin] = numbers
        begin += len(raw)
        spoken = spoken if WORK.match(line) else "\n"  # a few words begin where the line above ends
    return found


def places(text: str, word: str) -> list[int]:
    return [at for at in range(len(text)) if text.startswith(word, at)]


@pytest.mark.parametrize("end", ["", "\n"])
@pytest.mark.parametrize("seed", range(8))
def test_each_line_has_its_numbers(seed: int, end: str) -> None:
    finder, chance = make_finder(known_signatures()), random.Random(seed)  # noqa: S311 - no secret
    words = [word.encode("latin-1").decode() for word in finder.words if "\n" not in word]
    words += [beside.encode("latin-1").decode() for meant in finder.words.values() for beside in meant]
    lines = [
        chance.choice(BEGINS)
        + chance.choice((" ", "", ": ")).join(chance.choices((*words, *FILLERS), k=chance.randint(0, 5)))
        for _ in range(400)
    ]
    data = ("\n".join(lines) + end).encode()
    assert finder.find(LogBlock(data, 0, len(data), 1)) == find_plainly(data, finder)


def test_what_is_done_is_looked_for_no_more() -> None:
    finder = make_finder(parse_signatures(SMALLEST))
    (number,) = {number for meant in finder.words.values() for some in meant.values() for number in some if number >= 0}
    assert all(number not in some for meant in finder.without({number}).words.values() for some in meant.values())
