"""Variables of an environment in the language of a shell."""

from __future__ import annotations

import re
import shlex
from typing import TYPE_CHECKING

from xpusetup.base.text import bash_on_one_line, csh_word, fish_word
from xpusetup.ui.console import plain

if TYPE_CHECKING:
    from collections.abc import Callable

    from rich.console import Console

    from xpusetup.commands.env import ShellEnvironment


VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


def show_env(console: Console, data: ShellEnvironment, *, verbose: bool) -> None:  # noqa: ARG001 - as all screens
    unset, export, quote = LANGUAGES[data.shell]
    for name in filter(VARIABLE.fullmatch, data.unset):
        console.out(unset.format(name))
    for name, value in data.set_.items():
        if VARIABLE.fullmatch(name):
            console.out(export.format(name, quote(value)))


def _sh_word(text: str) -> str:
    kept = plain(text) == text and "\t" not in text  # the console makes blanks of a tab
    return shlex.quote(text) if kept else bash_on_one_line(text)


LANGUAGES: dict[str, tuple[str, str, Callable[[str], str]]] = {
    "sh": ("unset {}", "export {}={}", _sh_word),
    "fish": ("set -e {}", "set -gx {} {}", fish_word),
    "csh": ("unsetenv {};", "setenv {} {};", csh_word),  # its `eval` takes all lines for one
}
"""How a shell unsets a variable, exports one, and quotes a word."""
