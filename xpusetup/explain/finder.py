"""Where in a block a signature can match at all: plain searches, which C does at gigabytes a second.

A few hundred words would still be too many, so those that share a root are looked for by it, and told apart in the
lines where it is found. A root is common in what compilers say when they fail, and rare in what they say otherwise.
"""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from xpusetup.explain.speech import cut_speech

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from xpusetup.explain.blocks import Block
    from xpusetup.explain.signatures import Signature

ROOTS = (
    *("rror", "fail", "not ", "kill", "fatal", "undefined ", "unable", "no ", "been r", "is required", "fall"),
    *("unrecog", "denied", "incompat", "memory", "ninja: ", "xpusetup: ", "*** ", "fehler", "erreur"),
    *("nvalid", "abort", "xception", "terminate", "xceed", "ancel", "unsup", "annot ", "couldn", "imed out", "llegal"),
    *("unmet", "unknown", "mismatch", "refus", "depend", "signal", "disagrees", "symbol", "reset"),
)
GENERAL = (
    *(
        "rror:",
        "rror :",
        "rror\n",
        "rror*",
        "rror]",
        "cmake error",
        "fatal: ",
        "failed: ",
        "*** [",
        "*** no",
        "killed",
        "not found",
    ),
    *("xpusetup: ", "segmentation fault", "undefined reference", "ninja: build", "ninja: error", "no space left"),
    *("fehler", "erreur", "xception: ", "xception\n", "rror!", "##[error]", "rror response", "terminate called"),
    *(
        "illegal instruction",
        "received signal",
        "rror c",
        "rror lnk",
        "rror msb",
        "dpkg: ",
        "unmet dep",
        "nothing provides",
    ),
    *(
        "no installation",
        "unknown symbol",
        "disagrees about",
        "could not insert",
        "timed out: ",
    ),
    *("cannot connect", "cancelled at", "core dumped", "failed!", "ccl_error"),
)
"""Words of any error at all."""
SOFT = (
    *(
        "failed",
        "failure",
        "fail to",
        "fails to",
        "unable to",
        "cannot ",
        "could not ",
        "couldn't",
        "not found",
    ),
    *(
        "no such",
        "denied",
        "timed out",
        "invalid",
        "unsupported",
        "not supported",
        "abort",
        "refus",
        "mismatch",
    ),
    *(
        "exceeded",
        "canceled",
        "cancelled",
        "killed",
        "fatal",
        "xception",
        "not usable",
    ),
    *("shutdown signal", "not authorized", "unknown runtime", "undefined ", "not |can't", "out of memory"),
    *("rror", "not available"),
)
"""Words that may tell of one where nothing plainer is said."""

GENERAL_LOCAL = (
    *(
        "fehler",
        "erreur",
        "errore",
        "erro:",
        "hata:",
        "fout:",
        "fel:",
        "错误",
        "錯誤",
        "エラー",
        "ошибка",
        "помилка",
        "błąd",
    ),
    "chyba",
)
SCRIPTS = {"latin": b"\xc2\xc3\xc4\xc5", "cyrillic": b"\xd0\xd1", "cjk": bytes(range(0xE3, 0xEE))}
"""The bytes with which the letters of a script begin in UTF-8."""

ENGLISH = bytes(range(0xC0)) + b"\xe2"
"""ASCII, and the quotes, dashes and bars that tools use in English too."""

ANY = -1
"""Stands for any error among the numbers of signatures."""
PERHAPS = -2
"""Stands for what may be one."""
CLEARED = -3
"""This less a signature's number stands for words after which its failure is none: another try went well."""

NAMES = b"rror"
SAID = {b":", b"(", b" ", b"]", b"_", b"*", b"|", b"!", b".", b",", b"\r", b"\n", b""}
"""What follows this root where it is said; in flags (-Werror=), names of files and classes it is something else."""

PIECE = 28_000
"""bytes.find is fastest below 30,000 bytes (CPython picks its method by size)."""

LONGEST = 64
NEAR = 2000
CMAKE = ("cmake error", "cmake warning")
CMAKE_PHASES = ("submodule", "configure")

Words = dict[bytes, set[int]]
"""By word, the numbers of the signatures that it may mean."""


@dataclass(frozen=True)
class Group:
    """The words that share a root. `some` finds whether a line has one of them at all, which most have not."""

    words: Words

    @cached_property
    def some(self) -> re.Pattern[bytes]:
        """Any of the words."""
        return re.compile(b"|".join(map(re.escape, self.words)))

    def numbers_in(self, line: bytes) -> set[int]:
        """Give the numbers of the signatures whose words are in a line."""
        if not self.some.search(line):
            return set()
        return set().union(*(numbers for word, numbers in self.words.items() if word in line))


Groups = dict[bytes, Group]
"""By what is looked for first."""


@dataclass(frozen=True)
class Finder:
    """What to look for everywhere, and what only where there is more than ASCII."""

    plain: Groups
    local: Mapping[str, Groups]

    def find(self, block: Block) -> Mapping[int, set[int]]:
        """Give, by where their line begins, the numbers of signatures that are worth a try there."""
        low = block.data.lower()
        speech = cut_speech(low, block.start, block.end)
        found: dict[int, set[int]] = defaultdict(set)
        tried = set[tuple[int, int]]()
        for place, group in self._places(speech.text):
            begin, end = line_around(low, speech.origin(place))
            if (begin, id(group)) in tried:
                continue
            tried.add((begin, id(group)))
            if numbers := group.numbers_in(low[begin : end + 1]):
                found[begin] |= numbers
        return found

    def without(self, done: set[int]) -> Finder:
        """Give a finder that looks for these numbers no more."""
        return Finder(_left(self.plain, done), {script: _left(groups, done) for script, groups in self.local.items()})

    def _places(self, text: bytes) -> Iterator[tuple[int, Group]]:
        for start in range(0, len(text), PIECE):
            piece = text[start : start + PIECE + LONGEST]
            for needle, group in self._wanted(piece):
                place = piece.find(needle)
                while 0 <= place < PIECE:
                    if needle != NAMES or piece[place + len(NAMES) : place + len(NAMES) + 1] in SAID:
                        yield start + place, group
                    place = piece.find(needle, place + len(needle))

    def _wanted(self, piece: bytes) -> Iterator[tuple[bytes, Group]]:
        yield from self.plain.items()
        if not piece.isascii():
            leads = piece.translate(None, ENGLISH)
            for script, groups in self.local.items():
                if any(lead in leads for lead in SCRIPTS[script]):
                    yield from groups.items()


def line_around(data: bytes, place: int) -> tuple[int, int]:
    """Give where the line of a place begins and ends; of a very long one what is near."""
    begin = data.rfind(b"\n", max(0, place - NEAR), place) + 1
    end = data.find(b"\n", place, place + NEAR)
    return begin or max(0, place - place % NEAR - LONGEST), end if end >= 0 else place + NEAR


def make_finder(signatures: Sequence[Signature]) -> Finder:
    """Sort the words of all signatures by what to look for first."""
    plain: Groups = {}
    local: dict[str, Groups] = {script: {} for script in SCRIPTS}
    for number, signature in enumerate(signatures):
        cmake = CMAKE if signature.phase in CMAKE_PHASES else ()
        for text in (*signature.words, *cmake):
            _add(plain, text, number)
        for text in signature.cleared:
            _add(plain, text, CLEARED - number)
        for text in signature.local:
            _add(local[_script(text)], text, number)
    for text in GENERAL:
        _add(plain, text, ANY)
    for text in SOFT:
        _add(plain, text, PERHAPS)
    for text in GENERAL_LOCAL:
        _add(local[_script(text)], text, ANY)
    return Finder(plain, local)


def _script(text: str) -> str:
    data = text.encode()
    return next((script for script, leads in SCRIPTS.items() if any(lead in data for lead in leads)), "latin")


def _add(groups: Groups, text: str, number: int) -> None:
    first, _, second = text.partition("|")
    root = next((root for root in ROOTS if root in first), first)
    groups.setdefault(root.encode(), Group({})).words.setdefault((second or first).encode(), set()).add(number)


def _left(groups: Groups, done: set[int]) -> Groups:
    left = {
        root: {word: numbers - done for word, numbers in group.words.items() if numbers - done}
        for root, group in groups.items()
    }
    return {root: Group(words) for root, words in left.items() if words}
