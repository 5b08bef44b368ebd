r"""No pattern of the program can take for ever: what logs, posts and wheels hold is written by anybody.

A repeated group is flagged in which two repeats over the same letters stand beside each other, or that is nothing but
a repeat: `(?:[ \t]+[^\n]*\n){1,16}` tries every way of sharing the blanks of each line out, of all lines at once.
"""

from __future__ import annotations

import importlib
import pkgutil
import re
from functools import cache
from typing import TYPE_CHECKING, Any

import pytest

import xpusetup
from xpusetup.commands.explain import known_signatures
from xpusetup.explain.finder import make_regex
from xpusetup.run.tables import known_bad

try:
    from re import _constants as code  # type: ignore[attr-defined]
    from re import _parser as parser  # type: ignore[attr-defined]
except ImportError:  # Python 3.10 has both beside re
    import sre_constants as code
    import sre_parse as parser

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

MANY = 8
"""A repeat of so many is one that can share letters out in many ways."""
ASCII = frozenset(map(chr, range(128)))
KINDS = {
    code.CATEGORY_DIGIT: frozenset("0123456789"),
    code.CATEGORY_SPACE: frozenset(" \t\n\r\f\v"),
    code.CATEGORY_WORD: frozenset(letter for letter in ASCII if letter.isalnum() or letter == "_"),
}
KINDS |= {
    code.CATEGORY_NOT_DIGIT: ASCII - KINDS[code.CATEGORY_DIGIT],
    code.CATEGORY_NOT_SPACE: ASCII - KINDS[code.CATEGORY_SPACE],
    code.CATEGORY_NOT_WORD: ASCII - KINDS[code.CATEGORY_WORD],
}
REPEATS = (code.MAX_REPEAT, code.MIN_REPEAT)
NO_LETTERS = (code.AT, code.ASSERT, code.ASSERT_NOT)


def letters(kind: Any, value: Any) -> frozenset[str]:
    """Give what one element of a pattern can be; nothing for what is no single letter."""
    simple: dict[Any, Callable[[], Iterable[str]]] = {
        code.LITERAL: lambda: {chr(value).lower(), chr(value).upper()},
        code.NOT_LITERAL: lambda: ASCII - {chr(value)},
        code.ANY: lambda: ASCII - {"\n"},
        code.CATEGORY: lambda: KINDS[value],
        code.RANGE: lambda: map(chr, range(value[0], min(value[1], 127) + 1)),
    }
    if kind in simple:
        return frozenset(simple[kind]())
    if kind is not code.IN:
        return frozenset()
    inside = frozenset[str]().union(*(letters(*each) for each in value if each[0] is not code.NEGATE))
    return ASCII - inside if value[0][0] is code.NEGATE else inside


def flat(items: Any) -> list[Any]:
    """Give the elements of a pattern in their order, those of plain groups too, without what stands for no letter."""
    found: list[Any] = []
    for kind, value in items:
        found += flat(value[3]) if kind is code.SUBPATTERN else [] if kind in NO_LETTERS else [(kind, value)]
    return found


def shares(items: Any) -> bool:
    """Say whether two wide repeats over the same letters are neighbours, or only what may be absent is between."""
    before = frozenset[str]()
    for kind, value in flat(items):
        mine = letters(*value[2][0]) if kind in REPEATS and len(value[2]) == 1 else frozenset[str]()
        if kind in REPEATS and value[1] >= MANY and mine:
            if before & mine:
                return True
            before = mine
        elif not (kind in REPEATS and value[0] == 0):
            before = frozenset()
    return False


def is_a_repeat(whole: list[Any]) -> bool:
    """Say whether a group is a wide repeat, and nothing else that has to be there."""
    needed = [(kind, value) for kind, value in whole if not (kind in REPEATS and value[0] == 0)]
    return len(needed) == 1 and needed[0][0] in REPEATS and needed[0][1][1] >= MANY


def takes_for_ever(items: Any, *, repeated: bool = False) -> bool:
    """Say whether a pattern has a repeated group in which letters can be shared out in many ways."""
    if repeated and shares(items):
        return True
    for kind, value in items:
        if kind in REPEATS:
            whole = flat(value[2])
            plain = len(whole) == 1 and bool(letters(*whole[0]))
            many = value[1] >= MANY and not plain
            if many and (shares([*whole, *whole]) or is_a_repeat(whole)):
                return True
            if takes_for_ever(value[2], repeated=repeated or many):
                return True
        inner: dict[Any, Callable[[Any], Any]] = {
            code.SUBPATTERN: lambda it: [it[3]],
            code.BRANCH: lambda it: it[1],
            code.ASSERT: lambda it: [it[1]],
        }
        inner |= {code.ASSERT_NOT: inner[code.ASSERT]}
        if kind in inner and any(takes_for_ever(each, repeated=repeated) for each in inner[kind](value)):
            return True
    return False


def of_modules() -> Iterator[tuple[str, str]]:
    """Give the patterns that stand in modules of the program, by their names."""
    for found in pkgutil.walk_packages(xpusetup.__path__, "xpusetup."):
        if found.ispkg or ".helpers" in found.name or ".simxpu" in found.name or found.name.endswith("__main__"):
            continue
        for name, value in vars(importlib.import_module(found.name)).items():
            yield from ((f"{found.name}.{name}", text) for text in held(value))


def held(value: Any) -> Iterator[str]:
    """Give the patterns in a value: of itself, or of what it holds."""
    if isinstance(value, re.Pattern):
        yield value.pattern if isinstance(value.pattern, str) else value.pattern.decode("latin-1")
    elif isinstance(value, (tuple, list, dict)):
        for each in value.values() if isinstance(value, dict) else value:
            yield from held(each)


def of_tables() -> Iterator[tuple[str, str]]:
    """Give the patterns of failures, and of what combinations ask."""
    for signature in known_signatures():
        more = (text for when in signature.when for text in (*when.patterns, when.beside, when.unless))
        for text in (*signature.patterns, signature.never, signature.unless, *more):
            if text:
                yield signature.id, make_regex(text).pattern
    for bad in known_bad():
        yield from ((bad.id, text) for text in (*bad.about, *bad.says))
        whens = [bad.when] if bad.when else []
        yield from ((bad.id, text) for one in whens for text in (one.messages, one.failure, one.other) if text)


@cache
def every_pattern() -> tuple[tuple[str, str], ...]:
    return (*of_modules(), *of_tables())


@pytest.mark.filterwarnings("ignore")
def test_no_pattern_takes_for_ever() -> None:
    patterns = every_pattern()
    assert len(patterns) > 1500
    assert [pair for pair in patterns if takes_for_ever(parser.parse(pair[1]))] == []


@pytest.mark.parametrize(
    ("pattern", "flagged"),
    [
        (r"Arc[^\n]*\n(?:[ \t]+[^\n]*\n){1,16}?Memory", True),
        (r"^\|(?: *[^|\n]+ *\|)+$", True),
        (r"(?:\w+\s?)+x", True),
        (r"(?:\s*\w+,\s*)+x", True),
        (r"(?:\w+,\s*)+x", False),
        (r"(?:\w+)+x", True),
        (r"(?:a|\w+\d*b)*x", True),
        (r"Arc[^\n]*\n(?:[ \t][^\n]*\n){1,16}?Memory", False),
        (r"^\|(?:[^|\n]+\|)+$", False),
        (r"(?:\w+-)+x", False),
        (r"\s*\S+.*x", False),
        (r"(?:[^\n]*\n){0,2}x", False),
    ],
)
def test_what_is_flagged(pattern: str, flagged: bool) -> None:
    assert takes_for_ever(parser.parse(pattern)) is flagged
