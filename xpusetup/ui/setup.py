"""The commands of setup in order, what has to be done by hand, and how to go on."""

from itertools import groupby

from rich.console import Console
from rich.markup import escape

from xpusetup.commands.setup import SetupResult
from xpusetup.recommend.setup import line_of
from xpusetup.recommend.solve import LIST_CARDS
from xpusetup.ui.console import DONE, MARKS, print_commands, prose

GOALS = {"run": "run {}", "build": "build {} from source"}
OTHERS = {"run": "needed to build it from source", "build": "needed to run it, without compiling"}
THEN = {"restart": "then restart, and run the same command again for the rest", "login": "then log out and in again"}


def show_setup(console: Console, data: SetupResult, *, verbose: bool) -> None:
    if data.ran:
        _show_end(console, data)
        return
    show_commands(console, data, verbose=verbose)
    if data.stopped == "nothing":
        console.print(f" {MARKS['info']} there is no command to run here: nothing was changed, and no file written\n")
    if data.file:
        console.print(f" [green]✓[/] as a script for root: {escape(data.file)}\n")
    elif data.commands:
        where = "on that machine" if data.elsewhere else "nothing was changed; run these, after one question"
        console.print(f" {where}: [cyan]{escape(data.apply)}[/]\n")
    if not (data.left or data.commands or data.notes or (data.no_gpu and data.goal == "run")):
        console.print(f" [green]✓[/] nothing is missing; next: {escape(data.follows)}\n")
    if data.other:
        console.print(f" {OTHERS[data.goal]}: {escape(data.other)}\n", style="dim")


def show_commands(console: Console, data: SetupResult, *, verbose: bool = False) -> None:
    console.print(f"\n [bold]{escape(data.machine)}[/]")
    console.print(f" needed to {GOALS[data.goal].format(data.profile)} · data of {data.collected}\n", style="dim")
    if data.no_gpu and not data.left:  # else it stands there
        prose(console, "   ", data.no_gpu, first=f" {MARKS['warn']} ")
        console.print(f"   [cyan]{LIST_CARDS}[/]\n")
    _show_left(console, data)
    for number, (title, group) in enumerate(groupby(data.commands, key=lambda row: row.title), start=1):
        console.print(f"   {number}  {escape(title)}")
        rows = list(group)
        print_commands(console, (line_of((*(["sudo"] if "root" in row.needs else []), *row.argv)) for row in rows), 8)
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


def _show_left(console: Console, data: SetupResult) -> None:
    """Print what stops this and no command of setup mends, before the commands, which it may spoil."""
    for row in data.left:
        prose(console, "   ", f"{row.seen.splitlines()[0]} ({row.id})", first=f" {MARKS['fail']} ")
        prose(console, "   ", row.why)
        print_commands(console, row.commands, 5)
        prose(console, "   ", row.say)
    if data.left:
        console.print(f"   all of it: [cyan]{escape(data.checks)}[/]\n")


def _show_end(console: Console, data: SetupResult) -> None:
    console.print(f"\n [green]✓[/] {len(data.ran)} of {len({row.id for row in data.commands})} steps are done")
    if data.stopped == "restart":
        console.print(f" [yellow]![/] restart this machine, then go on with: [cyan]{escape(data.apply)}[/]\n")
        return
    if data.stopped == "login":
        console.print(" [yellow]![/] log out and in again: groups count from the next session on")
    _show_left(console, data)
    if not data.left:
        console.print(f"   next:  {escape(data.follows)}\n")


def brief_setup(data: SetupResult) -> str:
    return f"{DONE}{len(data.ran)} steps are done" if data.ran and not data.stopped else ""
