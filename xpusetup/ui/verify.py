"""Results of verify and of suites, alone or side by side, and which operators run on the CPU."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING

from rich.markup import escape

from xpusetup.base.text import render_duration, render_first, render_size
from xpusetup.ui.console import MARKS, prose
from xpusetup.verify.codegen import GeneratedKernel, list_left_out

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import Console

    from xpusetup.commands.codegen import GeneratedCode
    from xpusetup.commands.devices import DeviceTable, ProofComparison
    from xpusetup.commands.test import SuiteList, SuiteResult
    from xpusetup.commands.verify import DeviceCheckList, DeviceVerification, FallbackTables
    from xpusetup.verify.fallbacks import Operator
    from xpusetup.verify.outcomes import CheckResult


# Two results side by side on the screen; several as Markdown, which is for a file or a page.


STATE_MARKS = {
    "ok": "[green]✓[/]",
    "wrong": "[red]✗[/]",
    "unsupported": "[yellow]![/]",
    "absent": "[dim]·[/]",
    "not run": "[dim]-[/]",
    None: " ",
}
LABEL, COLUMN = 22, 36


def show_comparison(console: Console, data: ProofComparison, *, verbose: bool) -> None:
    """Print what two results differ in, or the table of several."""
    if not data.here:
        console.out(data.markdown, end="")
        return
    differing = [row for row in data.rows if not row.same]
    shown = data.rows if verbose else differing
    wide = max((len(row.id) + 1 for row in shown), default=0)
    console.print()
    _show_row(console, "", ["this build", "the other"], [None, None], wide)
    for one in data.identity:
        _show_row(console, one.label, one.values, [None, None], wide)
    if shown:
        console.print()
    for row in shown:
        _show_row(console, row.id, [_say(*pair) for pair in zip(row.marks, row.seen, strict=True)], row.marks, wide)
    alike = len(data.rows) - len(differing)
    more = "" if verbose or not alike else ", which -v shows"
    checks = "check" if alike == 1 else "checks"
    console.print(f"\n {len(differing)} of {len(data.rows)} checks differ · {alike} {checks} alike{more}")


def show_table(console: Console, data: DeviceTable, *, verbose: bool) -> None:  # noqa: ARG001 - as all screens
    """Print the table of devices as it is, or say which page shows it now."""
    if data.file is None:
        console.out(data.markdown, end="")
        return
    found = ", ".join(device.device for device in data.devices)
    console.print(f" [green]✓[/] {escape(data.file)}: {len(data.checks)} checks on {escape(found)}")


def _say(mark: str | None, seen: str) -> str:
    return "not among its checks" if mark is None else f"{mark}: {seen}" if seen and mark != "ok" else mark


def _show_row(console: Console, label: str, cells: Sequence[str], marks: Sequence[str | None], wide: int) -> None:
    """Print a row whose cells may go over several lines; `wide`: what the longest label of all takes."""
    columns = [textwrap.wrap(cell, COLUMN - 3) or [""] for cell in cells]
    for number in range(max(map(len, columns))):
        line = (label if number == 0 else "").ljust(max(LABEL, wide))
        for column, mark in zip(columns, marks, strict=True):
            text = column[number] if number < len(column) else ""
            line += f"{STATE_MARKS[mark] if number == 0 else ' '} {escape(text.ljust(COLUMN - 2))}"
        console.print(f" {line.rstrip()}")


# Which operators run on the CPU: tables for a terminal, Markdown in the published form for everything else.


def show_fallbacks(console: Console, data: FallbackTables, *, verbose: bool) -> None:  # noqa: ARG001 - as all screens
    """Print each table, what its words mean, and what it cannot tell."""
    if data.markdown or not console.is_terminal:
        _show_markdown(console, data)
        return
    for table in data.tables:
        console.print(f"\n [bold]{escape(table.title)}[/]")
        _show_rows(console, table.operators)
        for note in table.notes:
            prose(console, "     ", note, style="dim", first="   · ")
        for error in table.errors:
            console.print(f"   [red]✗[/] {escape(error)}")
    console.print()
    for how, meaning in data.words.items():
        prose(console, " " * 10, meaning, style="dim", first=f" {how:<9}")


def _show_rows(console: Console, operators: Sequence[Operator]) -> None:
    if not operators:
        console.print("   [green]✓[/] no operator ran on the CPU")
        return
    wide = max(len(one.name) for one in operators)
    for one in operators:
        calls = "" if one.calls is None else f"{one.calls:>6}x"
        console.print(f"   {one.name:<{wide}}  {one.how:<8}{calls}  [dim]{_span(one)}[/]".rstrip())


def _span(operator: Operator) -> str:
    """Say with which releases it runs on the CPU."""
    releases = operator.releases
    if not releases:
        return ""
    first, last = releases[0], releases[-1]
    span = first if first == last else f"{first} to {last}"
    since = f", not from {operator.native_since} on" if operator.native_since else ""
    return f"with {span}{since}"


def _show_markdown(console: Console, data: FallbackTables) -> None:
    for number, table in enumerate(data.tables):
        out = [*([""] if number else []), f"## {table.title}", "", table.markdown.rstrip("\n")]
        remarks = [*table.notes, *(f"ended early: {error}" for error in table.errors)]
        remarks += [f"source: {table.source}"] if table.source else []
        console.out("\n".join((*out, "", *(f"- {remark}" for remark in remarks))).rstrip("\n"), highlight=False)
    if data.words:
        console.out("")
    for how, meaning in data.words.items():
        console.out(f"- {how}: {meaning}", highlight=False)


# Kernels that were compiled for GPUs that need not be here.


GENERATED = {"generated": "[green]✓[/]", "refused": "[yellow]![/]", "failed": "[red]✗[/]"}


def show_codegen(console: Console, data: GeneratedCode, *, verbose: bool) -> None:
    """Print what came of each target, and that nothing was run."""
    console.print(f"\n Triton {escape(data.triton)} · ocloc {escape(data.ocloc)} · {escape(data.profile)}\n")
    wide = max((len(target.name) for target in data.targets), default=0)
    for target in data.targets:
        name = f" {GENERATED[target.status]} {escape(target.name):<{wide}}  "
        prose(console, " " * (wide + 5), target.why or _describe_code(target.kernels), first=name)
        if verbose:
            for one in target.kernels:
                sizes = f"SPIR-V {render_size(one.spirv_bytes)}, image {render_size(one.image_bytes)}"
                console.print(f"{' ' * (wide + 5)}[dim]{one.name}: {sizes}, {one.seconds:.1f} s[/]")
    made = sum(target.status == "generated" for target in data.targets)
    mark = "[red]✗[/]" if data.failed else "[green]✓[/]"
    console.print(f"\n {mark} generated, not run: {made} of {len(data.targets)} targets")
    for text in list_left_out(data.targets):
        prose(console, "   ", text)
    prose(console, "   ", "no device computed anything: whether the numbers are right is not said", style="dim")


def _describe_code(kernels: Sequence[GeneratedKernel]) -> str:
    """Say which kernels there are, which of them use the matrix engines, and the versions that the images name."""
    written = [one for one in kernels if one.origin == "written"]
    names = [f"{f'{one.name} {one.half}'.strip()}{' (matrix engines)' if one.matrix else ''}" for one in written]
    more = len(kernels) - len(written)
    names += [f"{more} of torch.compile"] if more else []
    versions = sorted({version for one in kernels for version in one.versions})
    took = sum(one.seconds for one in kernels)
    return f"{', '.join(versions)} · {', '.join(names)} · {took:.1f} s"


# Results of a suite of tests: the published table, what crashed, what differs from the baseline, the operators.


FEW = 10


def show_suites(console: Console, data: SuiteResult, *, verbose: bool) -> None:
    """Print the results of a run."""
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
        mark = "[red]✗[/]" if bad or data.broken else "[green]✓[/]"
        console.print(f"\n {mark} {bad or 'no'} test{'' if bad == 1 else 's'} failed · {took}")
    console.print(f"   [dim]{escape(data.results)} is a --baseline for later runs[/]")


def show_suite_list(console: Console, data: SuiteList, *, verbose: bool) -> None:
    """Print which suites there are, and what was published of them."""
    for one in data.list_:
        parts = f"  [dim]--select {', '.join(one.select)}[/]" if one.select else ""
        console.print(f" {one.name:<14}{escape(one.title)}{parts}")
    console.print()
    for each in data.published:
        console.print(f" published: {each.id}  [dim]{escape(each.source)}[/]")
        if verbose:
            console.out(each.markdown.rstrip("\n"), highlight=False)
    tables = "" if verbose else "; the published tables: xpusetup test -v"
    console.print(f"\n run one: {escape(data.follows)}{tables}")


# The screen of verify: what passed by area, what failed with its limit, consequences folded into their cause.


FAILING = ("fail", "crash")
TOLD = ("models", "collectives")
"""Areas of which people want the figures even where all is well."""
NAMED = 8
"""More checks of an area that passed are counted, not named."""
NAME, TIME, LEAST = 28, 9, 24
"""Columns: where a check's name ends, how much its time needs at the right, and what has to be left for a text."""


def show_list(console: Console, data: DeviceCheckList, *, verbose: bool) -> None:  # noqa: ARG001 - as all screens
    """Print the checks that there are, by area."""
    area, width = "", max((len(check.id) for check in data.list_), default=0)
    for check in data.list_:
        if check.area != area:
            area = check.area
            console.print(f"\n [bold]{area}[/]")
        console.print(f"   {check.id:<{width}}  {check.level:<6} [dim]{escape(check.title)}[/]")


def show_verify(console: Console, data: DeviceVerification, *, verbose: bool) -> None:
    """Print a verification."""
    checks = data.checks
    names = ", ".join(device.name for device in data.devices) or "no device"
    why = f" [dim]({escape(data.chosen_by)})[/]" if " " in data.chosen_by else ""
    console.print(f"\n {data.device} · {escape(names)} · torch {data.versions.torch or '?'}{why}\n")
    for area in dict.fromkeys(_area(check) for check in checks):
        _show_area(console, area, [check for check in checks if _area(check) == area], verbose=verbose)
    _end(console, data, verbose=verbose)


def _area(check: CheckResult) -> str:
    return check.id.partition(".")[0]


def _show_area(console: Console, area: str, checks: list[CheckResult], *, verbose: bool) -> None:
    """Print what passed as one line, then whatever did not: a check that follows from another one is counted."""
    passed = [check for check in checks if check.level == "ok"]
    if passed and not verbose:
        _show_passed(console, area, passed, whole=not any(check.level in FAILING for check in checks))
    folded: dict[str, int] = {}
    skipped: dict[str, list[str]] = {}
    for check in checks:
        if verbose or (check.level not in ("ok", "skip") and not check.caused_by):
            caused = f" (after {check.caused_by})" if check.caused_by else ""
            _line(console, MARKS[check.level], check.id, f"{check.seen}{caused}", check.seconds)
            if check.level in FAILING and check.limit:
                console.print(f"   {'':<{NAME}} [dim]allowed: {escape(check.limit)}[/]")
        elif check.caused_by:
            folded[check.caused_by] = folded.get(check.caused_by, 0) + 1
        elif check.level == "skip":
            skipped.setdefault(check.seen, []).append(check.title)
    for seen, names in skipped.items():
        what = names[0] if len(names) == 1 else f"{len(names)} of {area}"
        _line(console, "-", what, seen)
    for cause, number in folded.items():
        what = "1 check follows" if number == 1 else f"{number} checks follow"
        _line(console, MARKS["skip"], area, f"{what} from {cause} (-v shows it)")


def _show_passed(console: Console, area: str, passed: list[CheckResult], *, whole: bool) -> None:
    if area in TOLD:
        for check in passed:
            _line(console, MARKS["ok"], check.title, check.seen, check.seconds)
        return
    titles = " · ".join(check.title for check in passed) if len(passed) <= NAMED else f"{len(passed)} checks"
    _line(console, MARKS["ok"] if whole else " ", area, titles, sum(check.seconds or 0 for check in passed))


def _line(console: Console, mark: str, name: str, text: str, seconds: float | None = None) -> None:
    """Print a line with its time at the right; a longer text goes on below, where it began, or all of it does."""
    time = f"{seconds:.1f} s" if seconds and seconds >= 0.05 else ""  # noqa: PLR2004 - what rounds to 0.1
    room = console.width - NAME - 4 - TIME
    if room < LEAST:
        console.print(f" {mark} {escape(name)}{f' · {time}' if time else ''}")
        prose(console, "     ", text)
        return
    first, *rest = textwrap.wrap(text, room, break_long_words=False, break_on_hyphens=False) or [""]
    console.print(f" {mark} {escape(name):<{NAME}} {escape(f'{first:<{room}}')}{time:>{TIME}}".rstrip())
    for line in rest:
        console.print(f"   {'':<{NAME}} {escape(line)}")


def _end(console: Console, data: DeviceVerification, *, verbose: bool) -> None:
    checks = data.checks
    failing = [check for check in checks if check.level in FAILING]
    skipped = sum(check.level == "skip" for check in checks)
    beside = f", {skipped} skipped" if skipped else ""
    if data.verified:
        console.print(f"\n [green]✓[/] verified: {len(checks) - skipped} checks{beside}")
    else:
        verb = "fails" if len(failing) == 1 else "fail"
        console.print(f"\n [red]✗[/] not verified: {len(failing)} of {len(checks)} checks {verb}")
        causes = [check.id for check in failing if not check.caused_by]
        if causes and len(failing) > 1:  # that is what has to be mended
            told = f"the cause: {', '.join(causes)}" if len(causes) == 1 else f"causes: {', '.join(causes)}"
            prose(console, "   ", told)
        lacks = f"the build is not done ({render_first(data.left)})" if data.left else "what this machine lacks"
        console.print(f"   {lacks}: {escape(data.fix)}")
    if data.not_recorded:
        prose(console, "   ", f"not written into the manifest: {data.not_recorded}", style="dim")
    if data.saved:
        told = f"record: {data.saved}; it names neither you nor this machine. Where to send it: docs/owners.md"
        prose(console, "   ", told)
    peaks = [check.peak_bytes for check in checks if check.peak_bytes]
    if verbose and peaks:
        console.print(f"   most memory at once: {render_size(max(peaks))}", style="dim")
    if verbose and data.not_checked:
        prose(console, "   ", f"not checked: {', '.join(data.not_checked)}", style="dim")
