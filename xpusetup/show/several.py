"""Several builds on the screen: one row for each."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rich.markup import escape

from xpusetup.show.tables import show_table

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rich.console import Console

HEADS = ("", "build", "profile", "python", "targets", "steps", "wheels", "verified")
VERIFIED = {True: "[green]yes[/]", False: "[red]no[/]", None: "not yet"}


def show_several(console: Console, data: Mapping[str, Any]) -> None:
    """Print the table, and below it what went wrong in each."""
    console.print(f"\n {escape(data['root'])}\n")
    show_table(console, HEADS, [_cells(row) for row in data["builds"]])
    for row in data["builds"]:
        if row["failed"]:
            log = f"{data['root']}/{row['name']}/logs/{row['failed']}.log"
            console.print(f"\n [red]✗[/] {row['name']} failed in {row['failed']}: xpusetup explain {escape(log)}")
        for step, why in row["damaged"].items():
            console.print(f" [red]✗[/] {row['name']} {step}: {escape(why)}")
    console.print()


def _cells(row: Mapping[str, Any]) -> tuple[str, ...]:
    whole = row["done"] == row["steps"]
    bad = row["failed"] or row["damaged"] or row["verified"] is False
    mark = "[red]✗[/]" if bad else "[green]✓[/]" if whole else "[dim]·[/]"
    words = (row["name"], row["profile"], row["python"], ",".join(row["arch"]) or "-")
    counts = (f"{row['done']} of {row['steps']}", str(len(row["wheels"])))
    return (mark, *map(escape, words), *counts, VERIFIED[row["verified"]])
