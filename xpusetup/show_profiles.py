"""Profiles on the screen: the list, and all that one says with where it is known from."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rich.markup import escape
from rich.table import Table

from xpusetup.show import prose

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rich.console import Console

CONFIDENCE = {"confirmed": "[green]✓[/]", "likely": "[yellow]~[/]", "unconfirmed": "[red]?[/]"}


def show_list(console: Console, data: Mapping[str, Any]) -> None:
    """Print what ships."""
    table = Table(box=None, show_edge=False, header_style="dim")
    for name in ("profile", "tier", "for", "torch", "toolkit", "python"):
        table.add_column(name, overflow="fold")
    for row in data["profiles"]:
        cells = (row["name"], row["tier"], row["accelerator"], row["torch"], row["toolkit"] or "-", row["python"])
        table.add_row(*(escape(str(cell)) for cell in cells))
    console.print(table)
    console.print()
    for row in data["profiles"]:
        console.print(f" {row['name']:<10}  [dim]{escape(row['tried'])}[/]")


def show_one(console: Console, data: Mapping[str, Any]) -> None:
    """Print a profile with the source and the confidence of each pin."""
    console.print(f"\n {data['name']}")
    prose(console, " ", data["summary"])
    console.print(f"\n tried    {escape(data['tried'])}")
    _show_needs(console, data)
    console.print()
    for part in data["components"]:
        _show_component(console, part)
    console.print("\n [dim]✓ confirmed   ~ likely   ? unconfirmed   - left out[/]")


def _show_needs(console: Console, data: Mapping[str, Any]) -> None:
    kit, requirements = data["toolkit"], data["build_requirements"]
    console.print(f" python   {data['python']}     gcc {data['gcc'] or 'any'}")
    if kit:
        console.print(f" toolkit  {kit['kind']} {kit['preferred']} (accepted: {kit['accepts']}), {kit['confidence']}")
    if data["arch"]:
        console.print(f" targets  {','.join(data['arch']['default'])}, {data['arch']['confidence']}")
    console.print(f" pins     {len(requirements['pins'])} for the build")
    prose(console, "          ", requirements["note"], style="dim")


def _show_component(console: Console, part: Mapping[str, Any]) -> None:
    if part["kind"] == "skip":
        console.print(f" [dim]-[/] {part['name']}")
        prose(console, "     ", part["reason"], style="dim")
        return
    console.print(f" {CONFIDENCE[part['confidence']]} {part['distribution']} {part['version']}")
    where = f"{part['repo']} {part['tag']}" if part["kind"] == "source" else part["index"]
    console.print(f"     {escape(where)} {part.get('rev') or ''}".rstrip())
    prose(console, "     ", f"{part['confidence']}: {part['source']}", style="dim")
    for item in part.get("vendored", ()):
        _show_vendored(console, item)


def _show_vendored(console: Console, item: Mapping[str, Any]) -> None:
    which = item["rev"] or item["tag"] or f"as {item['pin_file']} names it"
    console.print(f"   {CONFIDENCE[item['confidence']]} with {item['name']} {which}")
    prose(console, "     ", f"{item['confidence']}: {item['reason'] or item['source']}", style="dim")


def show_checked(console: Console, data: Mapping[str, Any]) -> None:
    """Print that a profile is right."""
    console.print(f" [green]✓[/] {data['profile']}: {', '.join(data['components'])}")
