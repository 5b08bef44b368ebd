"""Profiles on the screen: the list, and all that one says with where it is known from."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rich.markup import escape
from rich.table import Table

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rich.console import Console

CONFIDENCE = {"confirmed": "[green]✓[/]", "likely": "[yellow]~[/]", "unconfirmed": "[red]?[/]"}


def show_list(console: Console, data: Mapping[str, Any]) -> None:
    table = Table(box=None, show_edge=False, header_style="dim")
    for name in ("profile", "tier", "for", "torch", "toolkit", "python", "tried"):
        table.add_column(name, overflow="fold")
    for row in data["profiles"]:
        cells = (
            row["name"],
            row["tier"],
            row["accelerator"],
            row["torch"],
            row["toolkit"] or "-",
            row["python"],
            row["tried"],
        )
        table.add_row(*(escape(str(cell)) for cell in cells))
    console.print(table)


def show_one(console: Console, data: Mapping[str, Any]) -> None:
    kit, requirements = data["toolkit"], data["build_requirements"]
    console.print(f"\n {data['name']} · {escape(data['summary'])}\n")
    console.print(f" tried    {escape(data['tried'])}")
    console.print(f" python   {data['python']}     gcc {data['gcc'] or 'any'}")
    if kit:
        console.print(f" toolkit  {kit['kind']} {kit['preferred']} (accepted: {kit['accepts']}), {kit['confidence']}")
    if data["arch"]:
        console.print(f" targets  {','.join(data['arch']['default'])}, {data['arch']['confidence']}")
    console.print(f" builds with {len(requirements['pins'])} pins; {escape(requirements['note'])}\n")
    for part in data["components"]:
        _show_component(console, part)


def _show_component(console: Console, part: Mapping[str, Any]) -> None:
    if part["kind"] == "skip":
        console.print(f" [dim]-[/] {part['name']}: left out. {escape(part['reason'])}")
        return
    where = f"{part['repo']} {part['tag']} {part['rev'] or 'no commit'}" if part["kind"] == "source" else part["index"]
    console.print(
        f" {CONFIDENCE[part['confidence']]} {part['distribution']} {part['version']}  [dim]{escape(where)}[/]"
    )
    console.print(f"     {part['confidence']}: {escape(part['source'])}")
    for item in part.get("vendored", ()):
        console.print(
            f"     with {item['name']} {item['rev'] or item['tag'] or 'as ' + item['pin_file'] + ' names it'}"
        )
        console.print(f"       {item['confidence']}: {escape(item['reason'] or item['source'])}")


def show_checked(console: Console, data: Mapping[str, Any]) -> None:
    console.print(f" [green]✓[/] {data['profile']}: {', '.join(data['components'])}")
