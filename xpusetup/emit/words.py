"""How each language that we write takes a value as text and as nothing else. No form quotes by itself.

In bash ROOT becomes the variable of that name.
"""

from __future__ import annotations

import re
import shlex
from typing import TYPE_CHECKING

from xpusetup.model import ROOT

if TYPE_CHECKING:
    from collections.abc import Iterable

EXPRESSION = "${{"
"""GitHub fills in what stands behind it before any shell sees the line."""


def render_word(text: str) -> str:
    """Quote one word for bash, with ROOT spliced in as `"$ROOT"`."""
    return '"$ROOT"'.join(shlex.quote(part) if part else "" for part in text.split(ROOT)) or "''"


def bash_sentence(text: str) -> str:
    """Quote a message for bash, as people write one where nothing in it asks for more."""
    return f'"{text}"' if re.fullmatch(r"[A-Za-z0-9 ./,:+_-]*", text) else shlex.quote(text)


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


def bash_on_one_line(text: str) -> str:
    """Quote one word for bash so that it can be seen whole on one line, whatever it holds."""
    return shlex.quote(text) if text.isprintable() else f"$'{_escape(text, chr(39), octal=True)}'"


def comment(text: str) -> str:
    """Give a text as the rest of a line that a comment has: it ends where the line ends, and holds no escapes."""
    return "".join(char if char.isprintable() else "?" for char in text)


def lua_string(text: str) -> str:
    """Quote a text for Lua."""
    return f'"{_escape(text, chr(34), decimal=True)}"'


def lua_long_string(text: str) -> str:
    """Quote a text of several lines for Lua, in brackets of a level that does not occur in it."""
    level = next(sign for sign in ("=" * number for number in range(len(text) + 2)) if f"]{sign}" not in text)
    level = "" if "]]" not in text and not text.endswith("]") else level
    plain = "".join(char if char.isprintable() or char == "\n" else "?" for char in text)
    return f"[{level}[{plain}]{level}]"


def docker_string(text: str) -> str:
    """Quote a text for a Dockerfile, in which BuildKit and buildah fill in variables."""
    escaped = comment(text).replace("\\", "\\\\").replace('"', '\\"').replace("$", "\\$")
    return f'"{escaped}"'


def apptainer_text(text: str) -> str:
    """Give a text for a line of an Apptainer definition: no template, and no section where it begins the line."""
    plain = comment(text).replace("{{", "{ {").replace("}}", "} }")
    return f"'{plain}'" if plain.lstrip().startswith("%") else plain


def yaml_string(text: str) -> str:
    """Quote a text for YAML."""
    return f'"{_escape(text, chr(34))}"'


def workflow_command(argv: Iterable[str]) -> str:
    """Quote a command for bash in a block of a workflow; what GitHub would fill in stays text."""
    return " ".join(bash_on_one_line(word).replace(EXPRESSION, "$''{{") for word in argv)


def markdown_text(text: str) -> str:
    """Give a text as words in Markdown, in a cell of a table too: no markup of its own."""
    return re.sub(r"([\\`|<\[*])", r"\\\1", comment(text))


def _escape(text: str, quote: str, *, octal: bool = False, decimal: bool = False) -> str:
    """Write quotes, backslashes and what cannot be seen as escapes: by bytes for bash and Lua, else as YAML does."""
    return "".join(_escape_one(char, quote, octal=octal, decimal=decimal) for char in text)


def _escape_one(char: str, quote: str, *, octal: bool, decimal: bool) -> str:
    if char in {quote, "\\"}:
        return f"\\{char}"
    if char.isprintable():
        return char
    if octal or decimal:
        data = char.encode(errors="surrogateescape" if 0xDC80 <= ord(char) <= 0xDCFF else "replace")  # noqa: PLR2004
        return "".join(f"\\{byte:03o}" if octal else f"\\{byte:03d}" for byte in data)
    code = ord(char)
    return f"\\x{code:02x}" if code < 1 << 8 else f"\\u{code:04x}" if code < 1 << 16 else f"\\U{code:08x}"
