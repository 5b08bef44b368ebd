"""The screen of verify: what passed by area, what failed with its limit, consequences folded into their cause."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING, Any

from rich.markup import escape

from xpusetup.amounts import render_size
from xpusetup.show.console import MARKS, prose

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from rich.console import Console

    Check = Mapping[str, Any]

FAILING = ("fail", "crash")
TOLD = ("models", "collectives")
"""Areas of which people want the figures even where all is well."""
NAMED = 8
"""More checks of an area that passed are counted, not named."""
NAME, TIME = 28, 9
"""Columns: where a check's name ends, and how much its time needs at the right."""


def show_list(console: Console, checks: Iterable[Check]) -> None:
    """Print the checks that there are, by area."""
    area = ""
    for check in checks:
        if check["area"] != area:
            area = check["area"]
            console.print(f"\n [bold]{area}[/]")
        console.print(f"   {check['id']:<38} {check['level']:<6} [dim]{escape(check['title'])}[/]")


def show_verify(console: Console, data: Mapping[str, Any], *, verbose: bool) -> None:
    """Print a verification."""
    checks = data["checks"]
    _head(console, data)
    for area in dict.fromkeys(_area(check) for check in checks):
        _show_area(console, area, [check for check in checks if _area(check) == area], verbose=verbose)
    _end(console, data, verbose=verbose)


def _head(console: Console, data: Mapping[str, Any]) -> None:
    names = ", ".join(str(device.get("name")) for device in data["devices"]) or "no device"
    why = f" [dim]({escape(data['chosen_by'])})[/]" if " " in data.get("chosen_by", "") else ""
    torch = data.get("versions", {}).get("torch") or "?"
    console.print(f"\n {data['device']} · {escape(names)} · torch {torch}{why}\n")


def _area(check: Check) -> str:
    return str(check["id"].partition(".")[0])


def _show_area(console: Console, area: str, checks: list[Check], *, verbose: bool) -> None:
    """Print what passed as one line, then whatever did not: a check that follows from another one is counted."""
    passed = [check for check in checks if check["level"] == "ok"]
    if passed and not verbose:
        _show_passed(console, area, passed, whole=not any(check["level"] in FAILING for check in checks))
    folded: dict[str, int] = {}
    skipped: dict[str, list[str]] = {}
    for check in checks:
        if verbose or (check["level"] not in ("ok", "skip") and not check.get("caused_by")):
            _show_check(console, check)
        elif check.get("caused_by"):
            folded[check["caused_by"]] = folded.get(check["caused_by"], 0) + 1
        elif check["level"] == "skip":
            skipped.setdefault(check["seen"], []).append(check["title"])
    for seen, names in skipped.items():
        what = names[0] if len(names) == 1 else f"{len(names)} of {area}"
        _line(console, "-", what, seen)
    for cause, number in folded.items():
        what = "1 check follows" if number == 1 else f"{number} checks follow"
        _line(console, MARKS["skip"], area, f"{what} from {cause} (-v shows it)")


def _show_passed(console: Console, area: str, passed: list[Check], *, whole: bool) -> None:
    if area in TOLD:
        for check in passed:
            _line(console, MARKS["ok"], check["title"], check["seen"], check["seconds"])
        return
    titles = " · ".join(check["title"] for check in passed) if len(passed) <= NAMED else f"{len(passed)} checks"
    _line(console, MARKS["ok"] if whole else " ", area, titles, sum(check["seconds"] or 0 for check in passed))


def _show_check(console: Console, check: Check) -> None:
    caused = f" (after {check['caused_by']})" if check.get("caused_by") else ""
    _line(console, MARKS[check["level"]], check["id"], f"{check['seen']}{caused}", check["seconds"])
    if check["level"] in FAILING and check.get("limit"):
        console.print(f"   {'':<{NAME}} [dim]allowed: {escape(check['limit'])}[/]")


def _line(console: Console, mark: str, name: str, text: str, seconds: float | None = None) -> None:
    """Print a line with its time at the right; a longer text goes on below, where it began."""
    time = f"{seconds:.1f} s" if seconds and seconds >= 0.05 else ""  # noqa: PLR2004 - what rounds to 0.1
    room = console.width - NAME - 4 - TIME
    first, *rest = textwrap.wrap(text, room, break_long_words=False, break_on_hyphens=False) or [""]
    console.print(f" {mark} {escape(name):<{NAME}} {escape(f'{first:<{room}}')}{time:>{TIME}}".rstrip())
    for line in rest:
        console.print(f"   {'':<{NAME}} {escape(line)}")


def _end(console: Console, data: Mapping[str, Any], *, verbose: bool) -> None:
    checks = data["checks"]
    failing = [check for check in checks if check["level"] in FAILING]
    skipped = sum(check["level"] == "skip" for check in checks)
    beside = f", {skipped} skipped" if skipped else ""
    if data["verified"]:
        console.print(f"\n [green]✓[/] verified: {len(checks) - skipped} checks{beside}")
    else:
        _say_causes(console, data, failing)
    if why := data.get("not_recorded"):
        prose(console, "   ", f"not written into the manifest: {why}", style="dim")
    peaks = [check["peak_bytes"] for check in checks if check.get("peak_bytes")]
    if verbose and peaks:
        console.print(f"   most memory at once: {render_size(max(peaks))}", style="dim")
    if verbose and data.get("not_checked"):
        prose(console, "   ", f"not checked: {', '.join(data['not_checked'])}", style="dim")


def _say_causes(console: Console, data: Mapping[str, Any], failing: list[Check]) -> None:
    """Say how many fail, and from what: that is what has to be mended."""
    checks = data["checks"]
    verb = "fails" if len(failing) == 1 else "fail"
    console.print(f"\n [red]✗[/] not verified: {len(failing)} of {len(checks)} checks {verb}")
    causes = [check["id"] for check in failing if not check.get("caused_by")]
    if causes and len(failing) > 1:
        prose(console, "   ", f"the cause: {', '.join(causes)}" if len(causes) == 1 else f"causes: {', '.join(causes)}")
    console.print(f"   what this machine lacks: {escape(data['fix'])}")
