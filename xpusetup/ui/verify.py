"""Results of verify and of suites, alone or side by side, and which operators run on the CPU."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING

from rich.markup import escape

from xpusetup.base.text import render_first, render_size
from xpusetup.ui.console import MARKS, prose

if TYPE_CHECKING:
    from rich.console import Console

    from xpusetup.commands.verify import DeviceCheckList, DeviceVerification
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
