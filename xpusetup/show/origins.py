"""Lines of what came in, or will come in, without a published hash."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rich.markup import escape

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rich.console import Console

NAMED = 12
"""Digits of a hash that tell it from any other one here."""


def show_unverified(console: Console, data: Mapping[str, Any]) -> None:
    """Print a line for each distribution or program of unverified origin."""
    for row in data.get("unverified", ()):
        held = f"held to its first use, sha256 {row['sha256'][:NAMED]}" if row["sha256"] else "held to its first use"
        console.print(f" [yellow]![/] {escape(row['name'])}: unverified origin (no published hash is known); {held}")
