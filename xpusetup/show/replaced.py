"""What of an environment was replaced, and by whom, on the screen."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rich.markup import escape

from xpusetup.show.console import prose

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rich.console import Console


def show_replaced(console: Console, row: Mapping[str, Any]) -> None:
    """Print one change: what was there, what is, when and by what it came, and who is to blame."""
    console.print(f" [red]✗[/] {escape(_what(row))}")
    prose(console, "     ", row["why"])


def _what(row: Mapping[str, Any]) -> str:
    name, was, now = row["name"], row["was"], row["now"]
    when = f" on {row['when'][:16].replace('T', ' ')}" if row["when"] else ""
    by = f", by {row['by']}" if row["by"] else ""
    if was is None:
        return f"{name} {now} came into the environment{when}{by}"
    if now is None:
        return f"{name} {was} is gone from the environment"
    return f"{name} {was} was replaced by {'another build of it' if now == was else now}{when}{by}"
