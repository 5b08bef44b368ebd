"""Tables; where the terminal is too narrow for the words of one, a few lines for each row instead."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.measure import Measurement
from rich.table import Table

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import Console


def show_table(
    console: Console, heads: Sequence[str], rows: Sequence[Sequence[str]], *, right: Sequence[str] = ()
) -> None:
    """Print rows of markup below their heads; the columns of `right` end at the right."""
    table = Table(box=None, pad_edge=True, show_edge=False, header_style="dim")
    for head in heads:
        table.add_column(head, overflow="fold", justify="right" if head in right else "left")
    for row in rows:
        table.add_row(*row)
    if Measurement.get(console, console.options, table).minimum <= console.width:
        console.print(table)
        return
    for row in rows:
        first, *more = (f"{head} {cell}".strip() for head, cell in zip(heads, row, strict=True) if cell)
        console.print(f" {first}")
        console.print(f"     {' · '.join(more)}", style="dim")
