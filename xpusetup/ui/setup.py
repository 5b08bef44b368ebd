"""The commands of setup in order, what has to be done by hand, and how to go on."""

import shlex
from itertools import groupby

from rich.console import Console
from rich.markup import escape

from xpusetup.commands.setup import SetupResult
from xpusetup.ui.console import DONE, MARKS, print_commands, prose

GOALS = {"run": "run {}", "build": "build {} from source"}
OTHERS = {"run": "needed to build it from source", "build": "needed to run it, without compiling"}
THEN = {"restart": "then restart, and run the same command again for the rest", "login": "then log out and in again"}


def show_setup(console: Console, data: SetupResult, *, verbose: bool) -> None:
    if data.ran:
        _show_end(console, data)
        return
    show_commands(console, data, verbose=verbose)
    if data.file:
        console.print(f" [green]✓[/] as a script for root: {escape(data.file)}\n")
    elif data.commands:
        where = "on that machine" if data.elsewhere else "nothing was changed; run these, after one question"
        console.print(f" {where}: [cyan]{escape(data.apply)}[/]\n")
    if data.left:  # what stops this and no command above mends
        for row in data.left:
            console.print(f" [red]✗[/] [bold]{row.id}[/]  {escape(row.seen.splitlines()[0])}")
            prose(console, "   ", row.why)
            print_commands(console, row.commands, 5)
            prose(console, "   ", row.say)
        console.print(f"   all of it: [cyan]{escape(data.checks)}[/]\n")
    elif not data.commands and not data.notes:
        console.print(f" [green]✓[/] nothing is missing; next: {escape(data.follows)}\n")
    if data.other:
        console.print(f" {OTHERS[data.goal]}: {escape(data.other)}\n", style="dim")


def show_commands(console: Console, data: SetupResult, *, verbose: bool = False) -> None:
    console.print(f"\n [bold]{escape(data.machine)}[/]")
    console.print(f" needed to {GOALS[data.goal].format(data.profile)} · data of {data.collected}\n", style="dim")
    if data.without_gpu:
        what = "no Intel GPU was found; what is built here runs elsewhere"
        console.print(f" {MARKS['warn']} {what if data.goal == 'build' else 'no Intel GPU was found'}:")
        console.print("   [cyan]lspci -nn | grep -E 'VGA|Display'[/]\n")
    for number, (title, group) in enumerate(groupby(data.commands, key=lambda row: row.title), start=1):
        console.print(f"   {number}  {escape(title)}")
        rows = list(group)
        print_commands(console, (("sudo " if "root" in row.needs else "") + shlex.join(row.argv) for row in rows), 8)
        if rows[-1].then:
            console.print(f"      {THEN[rows[-1].then]}")
    for note in data.notes:
        console.print(f"   [yellow]![/]  {escape(note.title)}")
        prose(console, "        ", note.say)
        print_commands(console, note.commands, 8)
        if verbose and note.source:
            console.print(f"        [dim]{escape(note.source)}[/]")
    if data.commands or data.notes:
        console.print()


def _show_end(console: Console, data: SetupResult) -> None:
    console.print(f"\n [green]✓[/] {len(data.ran)} of {len({row.id for row in data.commands})} steps are done")
    if data.stopped == "restart":
        console.print(f" [yellow]![/] restart this machine, then go on with: [cyan]{escape(data.apply)}[/]\n")
        return
    if data.stopped == "login":
        console.print(" [yellow]![/] log out and in again: groups count from the next session on")
    console.print(f"   next:  {escape(data.follows)}\n")


def brief_setup(data: SetupResult) -> str:
    return f"{DONE}{len(data.ran)} steps are done" if data.ran and not data.stopped else ""
