"""Results of a suite of tests: the published table, what crashed, what differs from the baseline, the operators."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from rich.markup import escape

from xpusetup.amounts import render_duration
from xpusetup.show.console import prose

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from rich.console import Console

FEW = 10


def show_suites(console: Console, data: Mapping[str, Any], *, verbose: bool) -> None:
    """Print the results of a run, or which suites there are."""
    if "list" in data:
        _show_list(console, data, verbose=verbose)
        return
    versions = data["versions"]
    what = f"{data['suite']} {versions['suite'] or ''}".strip()
    console.print(f"\n {escape(what)} · {data['device']} · torch {versions['torch']} · {escape(data['environment'])}\n")
    console.out(data["markdown"].rstrip("\n"), highlight=False)
    console.print()
    for note in _notes(data):
        prose(console, "   ", note, style="dim", first=" · ")
    _show_failed(console, data, limit=0 if verbose else FEW)
    _show_operators(console, data)
    _show_end(console, data)


def _notes(data: Mapping[str, Any]) -> list[str]:
    notes = [f"{', '.join(one['places'])} left out: {one['reason']} ({one['source']})" for one in data["excluded"]]
    notes += data["source"]["notes"]
    notes += [f"{row['name']}: {note}" for row in data["suites"] for note in row["notes"]]
    if not data["versions"]["xdist"]:
        notes.append("without workers: pytest-xdist is not in this environment")
    return notes


def _show_failed(console: Console, data: Mapping[str, Any], *, limit: int) -> None:
    for line in data["broken"]:
        console.print(f" [red]✗[/] {escape(line)}")
    for one in data["replaced"]:
        told = f"{one['name']} was {one['before'] or 'not there'}, now {one['after'] or 'it is gone'}"
        console.print(f" [red]✗[/] replaced while the tests ran: {escape(told)}")
    for test, why in data["crashed"].items():
        console.print(f" [red]✗[/] {escape(test)}\n     crashed: {escape(why)}")
    against = data["against"]
    if against is None:
        words = [(test, word) for test, word in data["failed"].items() if word != "crashed"]
        _show_some(console, [f"{test} [dim]{word}[/]" for test, word in _escaped(words)], "red", "✗", limit)
        return
    for kind, colour, mark in (("worse", "red", "✗"), ("better", "green", "✓")):
        lines = [
            f"{kind}: {escape(one['name'])}  [dim]{escape(one['there'])} → {escape(one['here'])}[/]"
            for one in against[kind]
        ]
        _show_some(console, lines, colour, mark, limit)


def _escaped(pairs: Sequence[tuple[str, str]]) -> list[tuple[str, str]]:
    return [(escape(test), escape(word)) for test, word in pairs]


def _show_some(console: Console, lines: Sequence[str], colour: str, mark: str, limit: int) -> None:
    shown = lines[:limit] if limit else lines
    for line in shown:
        console.print(f" [{colour}]{mark}[/] {line}")
    if len(lines) > len(shown):
        console.print(f"   [dim]and {len(lines) - len(shown)} more (-v)[/]")


def _show_operators(console: Console, data: Mapping[str, Any]) -> None:
    table = data["operator_table"]
    if data["operators"]:
        console.print("\n operators that ran on the CPU, as the tests said\n")
        console.out(table["markdown"].rstrip("\n"), highlight=False)
    for note in table["notes"]:
        prose(console, "   ", note, style="dim", first=" · ")


def _show_end(console: Console, data: Mapping[str, Any]) -> None:
    against = data["against"]
    took = render_duration(data["seconds"])
    if against is not None:
        worse, better = len(against["worse"]), len(against["better"])
        mark, word = ("[red]✗[/]", "worse than") if worse else ("[green]✓[/]", "not worse than")
        told = f"{word} {against['baseline']}: {worse} worse, {better} better"
        console.print(f"\n {mark} {escape(told)} · {took}")
    else:
        bad = len(data["failed"])
        mark = "[red]✗[/]" if bad or data["broken"] else "[green]✓[/]"
        console.print(f"\n {mark} {bad or 'no'} test{'' if bad == 1 else 's'} failed · {took}")
    console.print(f"   [dim]{escape(data['results'])} is a --baseline for later runs[/]")


def _show_list(console: Console, data: Mapping[str, Any], *, verbose: bool) -> None:
    for one in data["list"]:
        parts = f"  [dim]--select {', '.join(one['select'])}[/]" if one["select"] else ""
        console.print(f" {one['name']:<14}{escape(one['title'])}{parts}")
    console.print()
    for one in data["published"]:
        console.print(f" published: {one['id']}  [dim]{escape(one['source'])}[/]")
        if verbose:
            console.out(one["markdown"].rstrip("\n"), highlight=False)
    tables = "" if verbose else "; the published tables: xpusetup test -v"
    console.print(f"\n run one: {escape(data['next'])}{tables}")
