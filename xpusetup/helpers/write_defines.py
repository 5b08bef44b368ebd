"""Writes a CMake file that sets cache variables, for builds that take no definition on their command line."""

import argparse
import re
from pathlib import Path

from helperlib.output import fail, write_text


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--define", action="append", default=[], metavar="NAME=VALUE")
    parser.add_argument("--into", type=Path, required=True)
    options = parser.parse_args()
    text = "".join(map(render_define, options.define))
    if not options.into.exists() or options.into.read_text() != text:  # CMake configures anew where its date changes
        write_text(options.into, text)


def render_define(definition: str) -> str:
    """Give the line that puts a value into CMake's cache, over what is there."""
    name, _, value = definition.partition("=")
    if not re.fullmatch(r"[A-Za-z_][A-Za-z0-9_-]*", name) or not value:
        fail(f"{definition!r} is no NAME=VALUE", "correct `define` or `defines` in the profile")
    quoted = re.sub(r'([\\"$])', r"\\\1", value)  # a text, in which CMake fills in nothing
    return f'set({name} "{quoted}" CACHE STRING "told by the profile" FORCE)\n'


if __name__ == "__main__":
    main()
