"""Which operators run on the CPU: tables for a terminal, Markdown in the published form for everything else."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rich.markup import escape

from xpusetup.show.console import prose

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rich.console import Console


def show_fallbacks(console: Console, data: Mapping[str, Any]) -> None:
    """Print each table, what its words mean, and what it cannot tell."""
    if data["markdown"] or not console.is_terminal:
        _show_markdown(console, data)
        return
    for table in data["tables"]:
        console.print(f"\n [bold]{escape(table['title'])}[/]")
        _show_rows(console, table["operators"])
        for note in table["notes"]:
            prose(console, "     ", note, style="dim", first="   · ")
        for error in table["errors"]:
            console.print(f"   [red]✗[/] {escape(error)}")
    console.print()
    for how, meaning in data["words"].items():
        prose(console, " " * 10, meaning, style="dim", first=f" {how:<9}")


def _show_rows(console: Console, operators: list[Mapping[str, Any]]) -> None:
    if not operators:
        console.print("   [green]✓[/] no operator ran on the CPU")
        return
    wide = max(len(one["name"]) for one in operators)
    for one in operators:
        calls = "" if one["calls"] is None else f"{one['calls']:>6}x"
        console.print(f"   {one['name']:<{wide}}  {one['how']:<8}{calls}  [dim]{_span(one)}[/]".rstrip())


def _span(operator: Mapping[str, Any]) -> str:
    """Say with which releases it runs on the CPU."""
    releases = operator["releases"]
    if not releases:
        return ""
    first, last = releases[0], releases[-1]
    span = first if first == last else f"{first} to {last}"
    since = f", not from {operator['native_since']} on" if operator["native_since"] else ""
    return f"with {span}{since}"


def _show_markdown(console: Console, data: Mapping[str, Any]) -> None:
    for number, table in enumerate(data["tables"]):
        out = [*([""] if number else []), f"## {table['title']}", "", table["markdown"].rstrip("\n")]
        remarks = [*table["notes"], *(f"ended early: {error}" for error in table["errors"])]
        remarks += [f"source: {table['source']}"] if table["source"] else []
        console.out("\n".join((*out, "", *(f"- {remark}" for remark in remarks))).rstrip("\n"), highlight=False)
    if data["words"]:
        console.out("")
    for how, meaning in data["words"].items():
        console.out(f"- {how}: {meaning}", highlight=False)
