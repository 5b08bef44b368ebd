"""self, skill, --prompt: what the program is, and pages that are printed as they are."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from rich.markup import escape

from xpusetup.system.environment import short_path

if TYPE_CHECKING:
    from rich.console import Console

    from xpusetup.commands.prompt import Prompt
    from xpusetup.commands.self import Self, Skill


def show_self(console: Console, data: Self, *, verbose: bool) -> None:  # noqa: ARG001 - as all screens
    console.print(f"\n [bold]xpusetup {escape(data.version)}[/] · Python {data.python}")
    rows = [
        ("program", short_path(data.program)),
        (
            "installed",
            f"by {data.installer}, from {short_path(data.origin)}" if data.installer else "no: run where it is",
        ),
        ("upgrade", data.upgrade),
        ("" if data.upgrade else "upgrade", data.note),
        ("uninstall", data.uninstall),
    ]
    for name, said in rows:
        if said:
            console.print(f" [bold]{name:<12}[/]{escape(said)}", soft_wrap=True)
    console.print()
    for place in data.places:
        absent = "" if place.there else "  [dim](not there yet)[/]"
        console.print(f" {place.what:<32}{escape(short_path(place.path))}{absent}", soft_wrap=True)
    console.print("\n sizes: xpusetup list --cache", style="dim")


def show_skill(_console: Console, data: Skill, *, verbose: bool) -> None:  # noqa: ARG001 - as all screens
    sys.stdout.write(data.text + "\n")


def show_prompt(console: Console, data: Prompt, *, verbose: bool) -> None:  # noqa: ARG001 - as all screens
    console.out(data.prompt, end="")
