"""What verify found: checks by area, operators that run on the CPU, kernels that were compiled."""

from __future__ import annotations

import textwrap
from collections import Counter
from typing import TYPE_CHECKING

from rich.markup import escape

from xpusetup.base.text import render_first, render_size
from xpusetup.ui.console import DONE, MARKS, prose
from xpusetup.verify.codegen import GeneratedKernel, list_left_out

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import Console

    from xpusetup.commands.codegen import GeneratedCode
    from xpusetup.commands.verify import DeviceCheckList, DeviceVerification, FallbackTables
    from xpusetup.verify.fallbacks import Operator
    from xpusetup.verify.outcomes import CheckResult


# The screen of verify: what passed by area, what failed with its limit, consequences folded into their cause.


FAILING = ("fail", "crash")
TOLD = ("models", "collectives")
"""Areas of which people want the figures even where all is well."""
NAMED = 8
"""More checks of an area that passed are counted, not named."""
NAME, TIME, LEAST = 28, 9, 24
"""Columns: where a check's name ends, how much its time needs at the right, and what has to be left for a text."""


def show_list(console: Console, data: DeviceCheckList, *, verbose: bool) -> None:  # noqa: ARG001 - as all screens
    area, width = "", max((len(check.id) for check in data.list_), default=0)
    for check in data.list_:
        if check.area != area:
            area = check.area
            console.print(f"\n [bold]{area}[/]")
        console.print(f"   {check.id:<{width}}  {check.level:<6} [dim]{escape(check.title)}[/]")


def show_verify(console: Console, data: DeviceVerification, *, verbose: bool) -> None:
    checks = data.checks
    names = ", ".join(device.name for device in data.devices) or "no device"
    why = f" [dim]({escape(data.chosen_by)})[/]" if " " in data.chosen_by else ""
    console.print(f"\n {data.device} · {escape(names)} · torch {data.versions.torch or '?'}{why}\n")
    for area in dict.fromkeys(_area(check) for check in checks):
        _show_area(console, area, [check for check in checks if _area(check) == area], verbose=verbose)
    for cause, number in Counter(check.caused_by for check in checks if check.caused_by and not verbose).items():
        what = "1 check follows" if number == 1 else f"{number} checks follow"
        console.print(f" {MARKS['skip']} {what} from {cause}; -v shows {'it' if number == 1 else 'them'}")
    _end(console, data, verbose=verbose)


def _area(check: CheckResult) -> str:
    return check.id.partition(".")[0]


def _show_area(console: Console, area: str, checks: list[CheckResult], *, verbose: bool) -> None:
    """Print what passed as one line, then whatever did not, but for checks that follow from another one."""
    passed = [check for check in checks if check.level == "ok"]
    if passed and not verbose:
        _show_passed(console, area, passed, whole=not any(check.level in FAILING for check in checks))
    skipped: dict[str, list[str]] = {}
    for check in checks:
        if verbose or (check.level not in ("ok", "skip") and not check.caused_by):
            caused = f" (after {check.caused_by})" if check.caused_by else ""
            _line(console, MARKS[check.level], check.id, f"{check.seen}{caused}", check.seconds)
            if check.level in FAILING and check.limit:
                console.print(f"   {'':<{NAME}} [dim]allowed: {escape(check.limit)}[/]")
        elif check.level == "skip" and not check.caused_by:
            skipped.setdefault(check.seen, []).append(check.title)
    for seen, names in skipped.items():
        what = names[0] if len(names) == 1 else f"{len(names)} of {area}"
        _line(console, "-", what, seen)


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


PLACES = {"processor": "the processor, no GPU", "simulated": "a simulated device, no GPU"}


def _end(console: Console, data: DeviceVerification, *, verbose: bool) -> None:
    checks = data.checks
    failing = [check for check in checks if check.level in FAILING]
    skipped = sum(check.level == "skip" for check in checks)
    beside = f", {skipped} skipped" if skipped else ""
    if data.verified and not data.whole:
        these = "this check passes" if len(checks) - skipped == 1 else f"these {len(checks) - skipped} checks pass"
        console.print(f"\n [green]✓[/] {these}{beside}; that is no whole verification")
    elif data.verified:
        on = f" on {PLACES[data.verified_on]}" if data.verified_on in PLACES and data.device != "cpu" else ""
        console.print(f"\n [green]✓[/] verified{on}: {len(checks) - skipped} checks{beside}")
    else:
        verb = "fails" if len(failing) == 1 else "fail"
        console.print(f"\n [red]✗[/] not verified: {len(failing)} of {len(checks)} checks {verb}")
        causes = [check.id for check in failing if not check.caused_by]
        if causes and len(failing) > 1:  # that is what has to be mended
            told = f"the cause: {', '.join(causes)}" if len(causes) == 1 else f"causes: {', '.join(causes)}"
            prose(console, "   ", told)
        lacks = f"the build is not done ({render_first(data.left)})" if data.left else "what this machine lacks"
        if data.fix:
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


def show_fallbacks(console: Console, data: FallbackTables, *, verbose: bool) -> None:  # noqa: ARG001 - as all screens
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


def brief_verify(data: DeviceVerification) -> str:
    done = sum(check.level != "skip" for check in data.checks)
    return f"{DONE}verified on {escape(data.device)}: {done} checks" if data.verified else ""
