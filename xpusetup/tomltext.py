"""TOML, whatever the interpreter's age."""

from __future__ import annotations

import sys
from typing import Any

if sys.version_info >= (3, 11):
    import tomllib
else:
    import tomli as tomllib

TomlError = tomllib.TOMLDecodeError


def parse_toml(text: str) -> dict[str, Any]:
    """Read TOML. Raises TomlError with line and column."""
    found: dict[str, Any] = tomllib.loads(text)
    return found
