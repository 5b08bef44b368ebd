"""The screen of the bare command: this machine, the steps of the shortest way, and what else there is."""

from collections.abc import Iterable

from rich.console import Console
from rich.markup import escape

from xpusetup.base.command import name_gaps
from xpusetup.commands.recommend import Overview, Recommendation
from xpusetup.recommend.answer import WayStep
from xpusetup.ui.console import print_commands, prose
from xpusetup.ui.list import show_glance

THEN = {"restart": "then restart", "login": "then log out and in again", "": ""}
OLD = 90
"""Days after which the age of the data is worth a word."""


def show_way(console: Console, data: Overview, *, verbose: bool) -> None:
    console.print(f"\n [bold]{escape(data.machine)}[/]\n")
    if data.builds:
        show_glance(console, data.builds)
    way = data.way
    if data.error:
        console.print(f" [red]✗[/] {escape(data.error.message)}")
        console.print(f"   [bold]fix[/]  {escape(data.error.fix)}\n")
    if way is None:
        return
    if way.route == "none":
        console.print(" No supported GPU was found on this machine")
    else:
        console.print(" The shortest way to PyTorch on this machine")
    for number, step in enumerate(way.steps, start=1):
        show_step(console, "·" if way.route == "none" else number, step)
    console.print()
    prose(console, " ", f"why: {way.why}", style="dim")
    _show_refusals(console, way, verbose=verbose)
    words = ["all checks: xpusetup doctor"]
    if data.build and way.route == "wheel":
        toolkit = f" ({data.build.toolkit})" if data.build.toolkit else ""
        words.insert(0, f"build from source instead: {data.build.command}{toolkit}")
    console.print(f"\n {escape(' · '.join(words))}")
    more = f", {way.age_days} days before" if way.age_days > OLD else " · commands: xpusetup --help"
    console.print(f" data on GPUs and drivers of {way.collected}{more}\n", style="dim")


def show_step(console: Console, number: int | str, step: WayStep, notes: Iterable[str] = ()) -> None:
    """Print a step: its title with notes below it, the commands, and what has to happen then.

    A single command stands beside the title where there is room.
    """
    then = THEN[step.then]
    commands = step.commands
    line = f"   {number}  {step.title}"
    width = len(line) + sum(map(len, commands)) + len(then) + 6
    if len(commands) == 1 and not (notes or name_gaps(commands)) and width <= console.width:
        console.print(f"{escape(line)}   [cyan]{escape(commands[0])}[/]{f'   {then}' if then else ''}")
        return
    for place, text in enumerate((step.title, *notes)):
        prose(console, "      ", text, first="" if place else f"   {number}  ")
    print_commands(console, commands, 8)
    if then:
        console.print(f"      {then}")


def _show_refusals(console: Console, way: Recommendation, *, verbose: bool) -> None:
    names = ", ".join(refusal.profile for refusal in way.refusals if refusal.firm)
    if names and not verbose:
        prose(console, " ", f"not here: {names} (-v says why)", style="dim")
    for refusal in way.refusals if verbose else ():
        console.print(f"   {refusal.profile:<11} {'refused' if refusal.firm else 'not advised'}")
        prose(console, "               ", refusal.why)
        console.print(f"               [dim]{escape(refusal.source)}[/]")
