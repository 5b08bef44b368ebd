"""The first error of a compiler in a step's log: flush left and unbroken, so that an editor jumps to it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from xpusetup.commands.explain import find_compile_error

if TYPE_CHECKING:
    from pathlib import Path

GCC = """\
[3/6] c++ -MMD -c src/a.cpp
  In file included from src/a.h:3,
  src/csrc/kernels.cpp:18:6: error: expected unqualified-id before 'not' token
     18 | this is not C++;
        |      ^~
  src/csrc/kernels.cpp:19:1: error: another
  ninja: build stopped: subcommand failed.
"""
CLANG = """\
/w/a.cpp:5:10: fatal error: 'x.h' file not found
    5 | #include <x.h>
      |          ^~~~~
1 error generated.
"""
OLD = "a.c:7: error: parse error\nmake: *** [a.o] Error 1\n"


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        (
            GCC,
            [
                "src/csrc/kernels.cpp:18:6: error: expected unqualified-id before 'not' token",
                "   18 | this is not C++;",
                "      |      ^~",
            ],
        ),
        (CLANG, CLANG.splitlines()[:3]),
        (OLD, ["a.c:7: error: parse error"]),
        ("ERROR: Could not find a version\nxpusetup: error: none\n", []),
        ("2026-11-29 12:00:01: error: it is no file\n", []),
    ],
)
def test_the_first(text: str, lines: list[str], tmp_path: Path) -> None:
    log = tmp_path / "x.log"
    log.write_text(text)
    assert find_compile_error(log) == lines
