"""The bare command's screen: this machine, the steps of the shortest way, and what else there is."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rich.markup import escape

from xpusetup.show.console import prose

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rich.console import Console

TITLES = {
    "wheel": "The shortest way to PyTorch on this machine",
    "build": "The shortest way to PyTorch on this machine",
    "image": "The shortest way to PyTorch on this machine",
    "none": "No accelerator that this program serves is on this machine",
}
THEN = {"restart": "then restart", "login": "then log out and in again", "": ""}
OLD = 90
"""Days after which the age of the data is worth a word."""


def show_way(console: Console, data: Mapping[str, Any], *, verbose: bool) -> None:
    """Print the machine and its way."""
    console.print(f"\n [bold]{escape(data['machine'])}[/]\n")
    way = data["way"]
    if way is None:
        console.print(f" [red]✗[/] {escape(data['error']['message'])}")
        console.print(f"   [bold]fix[/]  {escape(data['error']['fix'])}\n")
        return
    console.print(f" {TITLES[way['route']]}")
    for number, step in enumerate(way["steps"], start=1):
        show_step(console, number, step)
    console.print()
    prose(console, " ", f"why: {way['why']}", style="dim")
    _show_refusals(console, way, verbose=verbose)
    _show_foot(console, data)


def show_steps(console: Console, way: Mapping[str, Any]) -> None:
    """Print what to do next: the steps of a way, or the commands of one that is not worth steps."""
    for command in way["commands"] if "steps" not in way else ():
        console.print(f"\n next:  {escape(command)}")
    if way.get("steps") and way["route"] != "none":
        console.print("\n The shortest way")
        for number, step in enumerate(way["steps"], start=1):
            show_step(console, number, step)
    if "steps" in way and way["why"]:
        console.print()
        prose(console, " ", f"why: {way['why']}", style="dim")


def show_step(console: Console, number: int, step: Mapping[str, Any]) -> None:
    """Print a step: its title, beside or below it the commands, and what has to happen then."""
    then = THEN[step["then"]]
    commands = step["commands"]
    line = f"   {number}  {step['title']}"
    width = len(line) + sum(map(len, commands)) + len(then) + 6
    if len(commands) == 1 and width <= console.width:
        console.print(f"{escape(line)}   [cyan]{escape(commands[0])}[/]{f'   {then}' if then else ''}")
        return
    prose(console, "      ", step["title"], first=f"   {number}  ")
    for command in commands:
        console.print(f"        [cyan]{escape(command)}[/]")
    if then:
        console.print(f"      {then}")


def _show_refusals(console: Console, way: Mapping[str, Any], *, verbose: bool) -> None:
    firm = [refusal for refusal in way["refusals"] if refusal["firm"]]
    shown = way["refusals"] if verbose else []
    if firm and not verbose:
        names = ", ".join(refusal["profile"] for refusal in firm)
        prose(console, " ", f"not here: {names} (-v says why)", style="dim")
    for refusal in shown:
        console.print(f"   {refusal['profile']:<11} {'refused' if refusal['firm'] else 'not advised'}")
        prose(console, "               ", refusal["why"])
        console.print(f"               [dim]{escape(refusal['source'])}[/]")


def _show_foot(console: Console, data: Mapping[str, Any]) -> None:
    build = data.get("build")
    words = []
    if build and data["way"]["route"] == "wheel":
        toolkit = f" ({build['toolkit']})" if build["toolkit"] else ""
        words.append(f"build from source instead: {build['command']}{toolkit}")
    words.append("all checks: xpusetup doctor")
    console.print(f"\n {escape(' · '.join(words))}")
    way = data["way"]
    if way["age_days"] > OLD:
        console.print(
            f" what is known here was collected {way['collected']}, {way['age_days']} days before", style="dim"
        )
    else:
        console.print(
            f" what is known here was collected {way['collected']} · all commands: xpusetup --help", style="dim"
        )
    console.print()
