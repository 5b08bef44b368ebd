"""The end of a build on the screen, and its plan."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.markup import escape

from xpusetup.amounts import render_duration, render_size
from xpusetup.effects.environment import short_path
from xpusetup.progress import render_about
from xpusetup.show.bundle import show_attempts
from xpusetup.show.causes import show_cause
from xpusetup.show.console import MARKS, chosen, prose, verified
from xpusetup.show.origins import show_unverified
from xpusetup.show.tables import show_table

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rich.console import Console

LARGE = 10
LONG = 600
"""After so many seconds people want to know what they went into."""
LINE = 88
"""Longer lines of a log are cut: a compiler's command has thousands of characters."""
NAMED = 3
"""So many steps are named before they are counted."""


def show_build(console: Console, data: Mapping[str, Any], verbose: bool) -> None:
    """Print how a build ended."""
    if data["failed"]:
        _show_failure(console, data["failure"])
        show_attempts(console, data, verbose=verbose)
        return
    _part_from_steps(console, data)
    show_attempts(console, data, verbose=verbose)
    _show_end(console, data, verbose, folder="wheels", done="built")


def show_install(console: Console, data: Mapping[str, Any], verbose: bool) -> None:
    """Print how an installation ended, and what it took out of the environment."""
    if data["failed"]:
        _show_failure(console, data["failure"])
        return
    _part_from_steps(console, data)
    for row in data["removed"]:
        console.print(f" [green]✓[/] {escape(row['name'])} {escape(row['version'])} was taken out")
        prose(console, "     ", row["why"], style="dim")
    _show_end(console, data, verbose, folder="published", done="installed")
    if data["orphans"]:
        prose(console, "   ", f"nothing requires these any more: {', '.join(data['orphans'])}")
        console.print(f"   remove them:  {escape(data['tidy'])}")


def _part_from_steps(console: Console, data: Mapping[str, Any]) -> None:
    if data["ran"]:
        console.print()


def _show_end(console: Console, data: Mapping[str, Any], verbose: bool, *, folder: str, done: str) -> None:
    left = data["left"]
    if not data["ran"]:
        as_asked = "nothing to do as far as was asked" if left else "nothing to do: everything is done"
        console.print(f" [green]✓[/] {as_asked}")
    if data.get("target"):
        _show_target(console, data)
        return
    if left and data["only"]:
        told = f"{' and '.join(data['only'])} alone, as asked, not verified; of the rest {steps_left(left)}"
        prose(console, "   ", told, first=" [green]✓[/] ")
    elif left:
        prose(console, "   ", f"not finished: {steps_left(left)}", first=" [yellow]![/] ")
    else:
        _show_proof(console, data, done)
    for name, place in data.get("editable", {}).items():
        console.print(f" [green]✓[/] {name} is installed editable from {_short(place)}: of it there is no wheel")
    show_unverified(console, data)
    if data["wheels"]:
        console.print(f" [green]✓[/] {_wheels(data)} in {_short(data['root'])}/{folder}")
    for wheel in data["wheels"] if verbose else ():
        console.print(f"     {wheel['name']} {wheel['version']}  sha256 {wheel['sha256']}", style="dim")
    _show_use(console, data)


def in_one_line(data: Mapping[str, Any], done: str) -> str:
    """Say how a build that did not fail ended, in one line."""
    if data.get("target"):
        return f"[green]✓[/] {escape(data['target']['target'])}"
    if data["left"]:
        made = f"{' and '.join(data['only'])} alone, as asked" if data["only"] else "not finished"
        return f"{'[green]✓[/]' if data['only'] else '[yellow]![/]'} {made}: {steps_left(data['left'])}"
    told = _proof(data, done) if data["verified"] else f"[yellow]![/] {done}, not verified: no device was computed on"
    return f"{told} · {_wheels(data)} in {_short(data['root'])}" if data["wheels"] else told


def steps_left(left: Sequence[str]) -> str:
    """Say which steps are still to come."""
    more = f" and {len(left) - NAMED} more" if len(left) > NAMED else ""
    return f"{len(left)} {'step' if len(left) == 1 else 'steps'} to come ({', '.join(left[:NAMED])}{more})"


def _show_proof(console: Console, data: Mapping[str, Any], done: str) -> None:
    console.print(f" {_proof(data, done)}")
    if not data["verified"]:
        console.print(f"   {_short(data['verify'])}")


def _show_use(console: Console, data: Mapping[str, Any]) -> None:
    """Say how what was made is used, here and elsewhere."""
    if data["ran"]:
        console.print(f"   {_time(data)}")
    if data["left"] and not data["only"]:
        console.print(f"   go on:          {_short(data['go_on'])}")
        return
    console.print(f"   use it:         {_short(data['use'])}")
    if data["left"]:
        console.print(f"   build the rest: {_short(data['go_on'])}")
    if data["wheels"]:
        console.print(f"   or, elsewhere:  {_short(data['elsewhere']['command'])}")
        if data["elsewhere"]["needs"]:
            console.print(f"                   with {data['elsewhere']['needs']} switched on there too", style="dim")
    if data["ran"] and data["seconds"] >= LONG:
        console.print(f"   where it went:  {_short(data['report'])}")


def _show_target(console: Console, data: Mapping[str, Any]) -> None:
    """Say what one target of ninja left, and that there is no wheel of it."""
    files = data["target"]["files"]
    for file in files:
        console.print(f" [green]✓[/] {_short(file)}", soft_wrap=True)
    done = "" if files else f"{data['target']['target']} is up to date; "
    console.print(f" [yellow]![/] {done}no wheel was made: without --target the same command goes on from here")
    if data["ran"]:
        console.print(f"   {_time(data)}")


def _proof(data: Mapping[str, Any], done: str) -> str:
    proof = data["proof"]
    if not (data["verified"] and proof and proof["device"]):
        return verified(data["verified"], done=done)
    return f"[green]✓[/] verified on {escape(proof['device'])}: {proof['checks']} checks"


def _time(data: Mapping[str, Any]) -> str:
    longest = max(data["took"], key=data["took"].__getitem__)
    of_it = f", of it {longest} {render_duration(data['took'][longest])}" if len(data["took"]) > 1 else ""
    before = f" · {len(data['skipped'])} done before" if data["skipped"] else ""
    steps = "1 step" if len(data["ran"]) == 1 else f"{len(data['ran'])} steps"
    return f"{render_duration(data['seconds'])}{of_it} · {steps}{before}"


def _short(text: str) -> str:
    """Write the home as ~ wherever a word begins with it, and keep rich from reading markup."""
    return escape(" ".join(short_path(word) for word in text.split(" ")))


def _wheels(data: Mapping[str, Any]) -> str:
    return "1 wheel" if len(data["wheels"]) == 1 else f"{len(data['wheels'])} wheels"


def _show_failure(console: Console, failure: Mapping[str, Any]) -> None:
    go_on = failure["go_on"]
    console.print(f"\n [red]✗ {failure['step']} failed[/] after {render_duration(go_on['seconds'])}\n")
    if failure["causes"]:
        show_cause(console, failure["causes"][0], indent=3, log=Path(failure["log"]).name)
    else:
        _show_words(console, failure)
    for place in failure["full"]:
        console.print(f"   [bold]Full[/]     {escape(place['says'])}{_lacks(place['lacks'])}")
    if failure["tried"]:
        console.print(f"   [bold]Tried[/]    {_tried(failure)}")
    count, total = go_on["reached"]
    console.print(f"   [bold]Go on[/]    {_short(go_on['command'])}{f'      from [{count}/{total}]' if total else ''}")
    console.print(f"   [bold]By hand[/]  {_short(failure['again'])}")
    console.print(f"   [bold]Log[/]      {_short(failure['log'])}")


def _lacks(size: int | None) -> str:
    """Say how much is missing, where that is known; where not, what to do all the same."""
    return "; make room there" if size is None else f"; make room for {render_size(size)} more"


def _tried(failure: Mapping[str, Any]) -> str:
    """Say with how many jobs it was tried; the last was one more than is in the list."""
    first: list[int] = failure["tried"]
    last = first[-1] // 2
    heaviest = f"; the largest process alone took {render_size(failure['heaviest'])}" if failure["heaviest"] else ""
    return f"{', '.join(map(str, first))}, then {last} {'job' if last == 1 else 'jobs'}{heaviest}"


def _show_words(console: Console, failure: Mapping[str, Any]) -> None:
    """Print what the log says by itself, where no cause is known."""
    if failure["first_error"]:
        console.print(f"   [bold]Error[/]    {escape(failure['first_error'])}")
        console.print(f"            [dim]line {failure['first_error_line']} of the log[/]")
    if failure["last_lines"]:
        lines = [line if len(line) <= LINE else f"{line[: LINE - 1]}…" for line in failure["last_lines"]]
        console.print("   [bold]Last[/]     " + escape("\n            ".join(lines)))


def show_plan(console: Console, data: Mapping[str, Any], verbose: bool) -> None:
    """Print the steps and the state each is in."""
    rows = []
    for step in data["steps"]:
        state = f"{MARKS[step['state']]} {'to do' if step['state'] == 'todo' else step['state']}"
        why = f": {escape(step['why'])}" if step["why"] else ""
        rows.append((step["id"], _needs(step["needs"]), state + why, escape(step["title"])))
    console.print(f"\n {data['profile']}{chosen(data['chosen_by']['profile'])} · {escape(data['root'])}\n")
    for note in data["notes"]:
        prose(console, "   ", note, first=" [yellow]![/] ")
    show_unverified(console, data)
    console.print("\n" if data["notes"] or data["unverified"] else "", end="")
    show_table(console, ("step", "needs", "state", "what"), rows)
    console.print(f"\n {_estimate(data)}")
    if data["missing"]:
        console.print(f" [yellow]![/] not ready to build here: {', '.join(data['missing'])}; why, and what mends it:")
        console.print(f"   {escape(data['fix'])}")
    _show_savings(console, data["savings"], verbose)
    for step in data["steps"] if verbose else ():
        console.print(f"\n [bold]{step['id']}[/]")
        for line in step["recipe"]:
            console.print(f"   {line}", markup=False)
    if verbose:
        for name, origin in data["chosen_by"].items():
            console.print(f" {name}: from {origin}", style="dim")


def _show_savings(console: Console, savings: Sequence[Mapping[str, Any]], verbose: bool) -> None:
    """Say how less is built; with -v also what each way saves and gives up."""
    for saving in savings:
        mark = "[green]✓[/]" if saving["on"] else "[dim]·[/]"
        how = f": {saving['how']}" if saving["how"] else ""
        console.print(f" {mark} {escape(saving['what'] + how)}")
        if verbose:
            prose(console, "     ", f"saves: {saving['saves']} · gives up: {saving['gives_up']}", first="     ")


def _needs(needs: Sequence[str]) -> str:
    """Name what a step needs; with a toolkit goes a compiler."""
    return " ".join(need for need in needs if need != "compiler" or "toolkit" not in needs)


def _estimate(data: Mapping[str, Any]) -> str:
    """Say what the build will cost; what was never measured is unknown."""
    told = data["estimate"]
    if all(step["state"] == "done" for step in data["steps"]):
        return f"nothing to do · {render_size(told['disk'])} on disk"
    names = told["unknown"]
    more = f" and {len(names) - NAMED} more" if len(names) > NAMED else ""
    never = f"never run here: {', '.join(names[:NAMED])}{more}"
    if len(names) == sum(step["state"] != "done" for step in data["steps"]):
        never = "none of it was measured here yet" if len(names) > NAMED else never
    time = f"time unknown ({never})" if told["seconds"] is None else render_about(told["seconds"])
    jobs = f" for {told['jobs']} {'job' if told['jobs'] == 1 else 'jobs'}" if told["jobs"] else ""
    return f"{time} · {render_size(told['disk'])} on disk · memory {render_size(told['memory'])}{jobs}"
