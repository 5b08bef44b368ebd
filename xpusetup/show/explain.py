"""Why each step would run: `plan --explain` on the screen."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rich.markup import escape

from xpusetup.show.console import MARKS, prose

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rich.console import Console


def show_explain(console: Console, data: Mapping[str, Any]) -> None:
    """Print each step that would run with every input that changed; then those that follow, and the rest."""
    console.print(f"\n {data['profile']} · {escape(data['root'])}\n")
    for step in data["steps"]:
        if step["state"] == "stale" and not _follows(step):
            console.print(f" {MARKS['stale']} {step['id']}")
            for change in step["changed"] or [step["why"]]:
                console.print(f"     {escape(change)}")
    groups = {"stale": "after one of these", "todo": "never done, or the stamp is gone", "done": "done"}
    for state, words in groups.items():
        names = [
            step["id"] for step in data["steps"] if step["state"] == state and (state != "stale" or _follows(step))
        ]
        if names:
            console.print(f" {MARKS[state]} {words}")
            prose(console, "     ", ", ".join(names), style="dim")


def _follows(step: Mapping[str, Any]) -> bool:
    return not step["changed"] and bool(step["why"].startswith("after "))
