"""Results of a suite of tests: the table, what crashed, what differs from the baseline, the operators."""

from collections.abc import Sequence

from rich.console import Console
from rich.markup import escape

from xpusetup.base.text import render_duration
from xpusetup.commands.suites import SuiteList, SuiteResult
from xpusetup.ui.console import DONE, prose

FEW = 10


def show_suites(console: Console, data: SuiteResult, *, verbose: bool) -> None:
    what = f"{data.suite} {data.versions.suite or ''}".strip()
    console.print(f"\n {escape(what)} · {data.device} · torch {data.versions.torch} · {escape(data.environment)}\n")
    console.out(data.markdown.rstrip("\n"), highlight=False)
    console.print()
    notes = [f"{', '.join(one.places)} left out: {one.reason} ({one.source})" for one in data.excluded]
    notes += data.source.notes
    notes += [f"{row.name}: {note}" for row in data.suites for note in row.notes]
    if not data.versions.xdist:
        notes.append("without workers: pytest-xdist is not in this environment")
    for note in notes:
        prose(console, "   ", note, style="dim", first=" · ")
    _show_failed(console, data, limit=0 if verbose else FEW)
    if data.operators:
        console.print("\n operators that ran on the CPU, as the tests said\n")
        console.out(data.operator_table.markdown.rstrip("\n"), highlight=False)
    for note in data.operator_table.notes:
        prose(console, "   ", note, style="dim", first=" · ")
    _show_end(console, data)


def _show_failed(console: Console, data: SuiteResult, *, limit: int) -> None:
    for line in data.broken:
        console.print(f" [red]✗[/] {escape(line)}")
    for each in data.replaced:
        told = f"{each.name} was {each.before or 'not there'}, now {each.after or 'it is gone'}"
        console.print(f" [red]✗[/] replaced while the tests ran: {escape(told)}")
    for test, why in data.crashed.items():
        console.print(f" [red]✗[/] {escape(test)}\n     crashed: {escape(why)}")
    against = data.against
    if against is None:
        words = {test: word for test, word in data.failed.items() if word != "crashed"}
        lines = [f"{escape(test)} [dim]{escape(word)}[/]" for test, word in words.items()]
        _show_some(console, lines, "red", "✗", limit)
        return
    for kind, found, colour, mark in (("worse", against.worse, "red", "✗"), ("better", against.better, "green", "✓")):
        lines = [f"{kind}: {escape(one.name)}  [dim]{escape(one.there)} → {escape(one.here)}[/]" for one in found]
        _show_some(console, lines, colour, mark, limit)


def _show_some(console: Console, lines: Sequence[str], colour: str, mark: str, limit: int) -> None:
    shown = lines[:limit] if limit else lines
    for line in shown:
        console.print(f" [{colour}]{mark}[/] {line}")
    if len(lines) > len(shown):
        console.print(f"   [dim]and {len(lines) - len(shown)} more (-v)[/]")


def _show_end(console: Console, data: SuiteResult) -> None:
    against = data.against
    took = render_duration(data.seconds)
    if against is not None:
        worse, better = len(against.worse), len(against.better)
        mark, word = ("[red]✗[/]", "worse than") if worse else ("[green]✓[/]", "not worse than")
        told = f"{word} {against.baseline}: {worse} worse, {better} better"
        console.print(f"\n {mark} {escape(told)} · {took}")
    else:
        bad = len(data.failed)
        mark = "[red]✗[/]" if bad or data.broken or not data.suites else "[green]✓[/]"
        told = f"{bad or 'no'} test{'' if bad == 1 else 's'} failed" if data.suites else "no test ran"
        console.print(f"\n {mark} {told} · {took}")
    console.print(f"   [dim]{escape(data.results)} is a --baseline for later runs[/]")


def show_suite_list(console: Console, data: SuiteList, *, verbose: bool) -> None:
    for one in data.list_:
        parts = f"  [dim]--select {', '.join(one.select)}[/]" if one.select else ""
        console.print(f" {one.name:<14}{escape(one.title)}{parts}")
    console.print()
    for each in data.published:
        console.print(f" published: {each.id}  [dim]{escape(each.source)}[/]")
        if verbose:
            console.out(each.markdown.rstrip("\n"), highlight=False)
    tables = "" if verbose else "; the published tables: xpusetup verify --suite list -v"
    console.print(f"\n run one: {escape(data.follows)}{tables}")


def brief_suites(data: SuiteResult) -> str:
    passed = sum(row.passed for row in data.suites)
    against = f" · not worse than {escape(data.against.baseline)}" if data.against else ""
    return f"{DONE}{escape(data.suite)}: {passed} passed, {len(data.failed)} failed{against}"
