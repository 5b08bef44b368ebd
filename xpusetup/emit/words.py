"""Shell words: every value is quoted, and ROOT becomes the variable of that name."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

from xpusetup.model import ROOT

if TYPE_CHECKING:
    from collections.abc import Iterable


def render_word(text: str) -> str:
    """Quote one word for bash, with ROOT spliced in as `"$ROOT"`."""
    return '"$ROOT"'.join(shlex.quote(part) if part else "" for part in text.split(ROOT)) or "''"


def render_command(argv: Iterable[str]) -> str:
    """Quote a command for bash on one line."""
    return " ".join(render_word(word) for word in argv)


def render_long_command(argv: Iterable[str], *, width: int = 110) -> str:
    """Quote a command for bash, broken into lines that can be read."""
    lines, line = [], ""
    for word in (render_word(part) for part in argv):
        if line and len(line) + len(word) > width:
            lines.append(line)
            line = "  "
        line += word if not line.strip() else f" {word}"
    return " \\\n".join([*lines, line])
