"""Members of a stack: how each is had, why, and how far it was proved; what was made for another torch."""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

from rich.markup import escape

from xpusetup.ui.console import prose, with_home

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import Console

    from xpusetup.commands.members import InstalledMisfit, StackMember, WhyPackage
    from xpusetup.config.profile import Start


def show_misfits(console: Console, rows: Sequence[InstalledMisfit] | None) -> None:
    for row in rows or ():
        prose(console, "   ", f"{row.name} {row.version} {row.reason}", first=" [yellow]![/] ")
        console.print(f"   [bold]fix[/]  {with_home(row.fix)}", soft_wrap=True)


# The members of a stack on the screen: how each is had, why, and how far it was proved.


ANSWERS = {"taken": "[green]✓[/]", "refused": "[red]✗[/]", "not needed": "[dim]·[/]"}
HOWS = {"wheel": "wheel", "source": "source", "skip": "left out"}


def show_choices(console: Console, members: Sequence[StackMember]) -> None:
    for member in members:
        version = f" {member.version}" if member.version else ""
        console.print(f"\n {escape(member.distribution)}{escape(version)}  [dim]binds {member.binds}[/]")
        for each in member.candidates:
            what = f"{HOWS[each.how]}{f' {each.version}' if each.version else ''}"
            prose(console, "     ", f"{what}: {each.why}", first=f"   {ANSWERS[each.answer]} ")


def show_starts(console: Console, starts: Sequence[Start]) -> None:
    console.print("\n" if starts else "", end="")
    for each in starts:
        instead = " (instead of installing)" if each.instead else ""
        prose(console, "     ", f"{each.title}{instead}: {each.why}", first=" then ")
        console.print(f"     {escape(shlex.join(each.argv))}", soft_wrap=True)


def show_proofs(console: Console, members: Sequence[StackMember]) -> None:
    for member in members:
        if member.how == "skip":
            why = next(each.why for each in member.candidates if each.how == "skip")
            prose(console, "     ", f"{member.distribution} is left out: {why}", first=" [dim]·[/] ")
        elif member.proof:
            mark = "[green]✓[/]" if member.proven else "[yellow]![/]"
            prose(console, "     ", f"{member.distribution} {member.version} {member.proof}", first=f" {mark} ")


def show_why(console: Console, why: WhyPackage) -> None:
    console.print()
    for number, line in enumerate(why.lines):
        prose(console, "     ", line, first="   [dim]└[/] " if number else " ")
