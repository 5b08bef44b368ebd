"""The texts of the forms: files in emit/templates/, filled with values quoted for the language that they stand in."""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING, Any

from xpusetup.base.text import (
    apptainer_text,
    comment,
    docker_string,
    lua_long_string,
    lua_string,
    markdown_text,
    render_command,
    render_long_command,
    render_word,
    workflow_command,
    yaml_string,
)
from xpusetup.system.files import package_file

if TYPE_CHECKING:
    from collections.abc import Callable

    from jinja2 import Environment

FOLDER = "emit/templates"
PLAIN = re.compile(r"[\w.,:+/@=-]*", re.ASCII)
"""What is one word, and the same word, in each language that is written here."""


class Quoted(str):
    """A text that may stand in a file as it is: quoted for its language, or written in it."""

    __slots__ = ()


FILTERS: dict[str, Callable[[Any], str]] = {
    "apptainer": apptainer_text,
    "code": str,  # lines that are made elsewhere, in the language of the file
    "command": render_command,
    "comment": comment,
    "docker": docker_string,
    "long_command": render_long_command,
    "lua": lua_string,
    "lua_long": lua_long_string,
    "markdown": markdown_text,
    "sh": render_word,
    "workflow": workflow_command,
    "yaml": yaml_string,
}


def render_template(name: str, /, **values: object) -> str:
    """Give a file from its template, by its name in emit/templates/ without `.j2`."""
    return environment().get_template(f"{name}.j2").render(values)


@cache
def environment() -> Environment:
    """Give what reads templates: a value that is not given, or that nothing quotes, is an error."""
    from jinja2 import Environment, FileSystemLoader, StrictUndefined  # noqa: PLC0415 - a form alone needs it

    made = Environment(
        loader=FileSystemLoader(package_file(FOLDER)),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
        auto_reload=False,
        autoescape=False,  # noqa: S701 - no HTML: `finalize` takes no text that its language's filter did not quote
        finalize=check_quoted,
        # none of these means anything in bash, YAML, Lua or an Apptainer definition, as `{#` and `{{` do
        variable_start_string="{=",
        variable_end_string="=}",
        comment_start_string="{~",
        comment_end_string="~}",
    )
    made.filters.update({name: _quoting(quote) for name, quote in FILTERS.items()})
    return made


def check_quoted(value: object) -> object:
    """Give a value back. Raises ValueError for a text that no filter quoted, unless it is one plain word."""
    if isinstance(value, str) and not isinstance(value, Quoted) and PLAIN.fullmatch(value) is None:
        raise ValueError(f"a template has {value!r} without a filter that quotes it")
    return value


def _quoting(quote: Callable[[Any], str]) -> Callable[[Any], Quoted]:
    return lambda value: Quoted(quote(value))
