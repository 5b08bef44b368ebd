"""What came in, or will come in, without a published hash."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.markup import escape

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import Console

    from xpusetup.commands.build_result import UnverifiedOrigin


NAMED = 12
"""Digits of a hash that tell it from any other one here."""


def show_unverified(console: Console, rows: Sequence[UnverifiedOrigin]) -> None:
    for row in rows:
        held = f"held to its first use, sha256 {row.sha256[:NAMED]}" if row.sha256 else "held to its first use"
        console.print(f" [yellow]![/] {escape(row.name)}: unverified origin (no published hash is known); {held}")
