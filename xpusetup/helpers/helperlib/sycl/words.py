"""The words that a call of the compiler may hold, and what becomes of each: one table.

The first row whose pattern matches a word as a whole decides. A word that begins with a dash and has no row is refused
in clang's words. `Kind` says who gets a word; what the driver itself heeds (`own`) is told apart in call.py.
"""

from __future__ import annotations

import re
from functools import cache
from typing import Literal, NamedTuple

Kind = Literal["both", "device", "host", "link", "own", "none", "refused"]
"""Who gets a word: both passes, the device pass alone, the host pass alone, the linker, the driver; nobody, because it
has no effect here; or it is refused. The last two say why."""


class Word(NamedTuple):
    """A row: how a word is spelled, who gets it, how many words behind it belong to it, why, its spelling for g++."""

    pattern: str
    kind: Kind
    arity: int = 0
    why: str = ""
    host: tuple[str, ...] | None = None


TABLE: tuple[Word, ...] = (
    # what the driver heeds itself
    Word(r"-c|-E|-S|-M|-MM|-v|-###|--version|-dumpversion|-dumpmachine|-fsycl|-fno-sycl", "own"),
    Word(r"-fsycl-link|-fsycl-targets=.*|-fsycl-host-compiler=.*|-fsycl-host-compiler-options=.*", "own"),
    Word(r"-o|-x|-Xs|-MF|-MT|-MQ|-Xsycl-target-backend|-Xsycl-target-backend=\S+", "own", 1),
    Word(r"-o.+|-x.+|-MD|-MMD|-MP|-MG|-MF.+|-MT.+|-MQ.+|-Xs.+|-shared|-static", "own"),
    # sources and headers, the same for both
    Word(r"-I|-D|-U|-isystem|-iquote|-idirafter|-include|-imacros", "both", 1),
    Word(r"-I.+|-D.+|-U.+|-isystem.+|-iquote.+|-idirafter.+|-nostdinc\+\+", "both"),
    Word(r"-std=.*|-pthread|-fno-exceptions|-fexceptions|-fno-rtti|-frtti|-fshort-enums|-fpack-struct(=\d+)?", "both"),
    Word(r"-m(arch|tune|cpu|sse.*|avx.*|fma|f16c|bmi2?)(=.*)?|-m(no-)?(sse|avx).*", "both"),
    Word(r"-O.*|-g.*|-w|-pedantic|-pedantic-errors|-W(?!l,|a,|p,).*", "both"),
    Word(r"-ffile-prefix-map=.*|-fmacro-prefix-map=.*|-fdebug-prefix-map=.*", "both"),
)


def find_word(word: str) -> Word | None:
    """Give the row of a word, or None where it is unknown."""
    return next((row for row, pattern in _compiled() if pattern.fullmatch(word)), None)


@cache
def _compiled() -> tuple[tuple[Word, re.Pattern[str]], ...]:
    return tuple((row, re.compile(row.pattern, re.DOTALL)) for row in TABLE)
