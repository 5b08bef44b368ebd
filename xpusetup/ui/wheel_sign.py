"""Statements of wheels that were signed."""

from __future__ import annotations

from pathlib import PurePath
from typing import TYPE_CHECKING

from rich.markup import escape

if TYPE_CHECKING:
    from rich.console import Console

    from xpusetup.commands.wheel_sign import SignedWheels


def show_signed(console: Console, data: SignedWheels, *, verbose: bool) -> None:  # noqa: ARG001 - as all screens
    """Print which files hold the signed statements, and what checks one."""
    for wheel in data.wheels:
        console.print(f" [green]✓[/] {escape(PurePath(wheel.file).name)}")
    console.print(f"   by the key {data.key}", style="dim")
    console.print("   whoever has its public half: xpusetup wheel check WHEEL --provenance --key FILE", style="dim")
