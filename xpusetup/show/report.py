"""report: where the page lies, and the few lines that most people want from it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rich.markup import escape

from xpusetup.amounts import render_duration, render_size
from xpusetup.report.page import last_parts

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rich.console import Console

SHOWN = 3


def show_report(console: Console, data: Mapping[str, Any]) -> None:
    """Print what took longest, and where the whole of it is shown."""
    console.print(f"\n {data['profile']} · {escape(data['root'])}\n")
    for step in sorted(data["steps"], key=lambda one: -one["seconds"])[:SHOWN]:
        console.print(f"   {step['step']:<20} {render_duration(step['seconds']):>8}{_load(step)}")
    for edge in data["longest"][:SHOWN]:
        name = escape(last_parts(edge["output"]))
        console.print(f"   [dim]{'  longest compile':<20}[/] {render_duration(edge['seconds']):>8}    {name}")
    console.print(f"\n [green]✓[/] {escape(data['file'])}{_opened(data['opened'])}")


def _load(step: Mapping[str, Any]) -> str:
    jobs = f"{step['jobs']} {'job' if step['jobs'] == 1 else 'jobs'}" if step["jobs"] else ""
    heaviest = f"the largest process took {render_size(step['heaviest'])}" if step["heaviest"] else ""
    cached = f"{step['cached'][0]} of {sum(step['cached'])} compiles from the cache" if step["cached"] else ""
    words = [word for word in (jobs, heaviest, cached) if word]
    return f"    {' · '.join(words)}" if words else ""


def _opened(opened: bool | None) -> str:
    return "  (there is no browser here: copy it to where there is one)" if opened is False else ""
