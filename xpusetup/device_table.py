"""The table of devices: what each check of verify came to on each device, as data, as Markdown, and in a page.

Words: a *state* is the mark of a check on a device (outcomes.py); a check that a result does not have was not run.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from xpusetup.errors import UsageError
from xpusetup.outcomes import NOT_RUN, SIGNS, compare, render_table

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from xpusetup.outcomes import Proof

BEGIN = "<!-- devices: xpusetup devices table writes what follows -->"
END = "<!-- devices: end -->"
LONGEST = 160
"""Characters of what a check saw that a page shows."""


def make_table(proofs: Sequence[Proof]) -> dict[str, Any]:
    """Give the table as data: `devices` in their order, and for each of the `checks` a state for each device."""
    rows = compare(proofs)
    checks = [
        {
            "id": row["id"],
            "title": row["title"],
            "states": [mark or NOT_RUN for mark in row["marks"]],
            "seen": row["seen"],
        }
        for row in rows
    ]
    counts = [Counter(states) for states in zip(*(check["states"] for check in checks), strict=True)]
    known = [{key: value for key, value in asdict(proof).items() if key != "checks"} for proof in proofs]
    counted = [{state: count[state] for state in SIGNS} for count in counts or [Counter[str]()] * len(proofs)]
    devices = [{**each, "counts": count} for each, count in zip(known, counted, strict=True)]
    return {"devices": devices, "checks": checks}


def render_page(proofs: Sequence[Proof]) -> str:
    """Give the table as Markdown, with the counts of each device and what was wrong there."""
    table = make_table(proofs)
    counts = [_count_line(number, device) for number, device in enumerate(table["devices"])]
    wrong = [line for number, device in enumerate(table["devices"]) for line in _wrong_lines(table, number, device)]
    return "\n".join([render_table(proofs), *counts, *([""] if wrong else []), *wrong, ""])


def _count_line(number: int, device: dict[str, Any]) -> str:
    counts = ", ".join(f"{count} {state}" for state, count in device["counts"].items() if count)
    return f"{number + 1}. {_name(device)}: {counts or 'no checks'}"


def _name(device: dict[str, Any]) -> str:
    torch = f" with torch {device['torch']}" if device["torch"] else ""
    return f"**{device['device']}**{torch}"


def _wrong_lines(table: dict[str, Any], number: int, device: dict[str, Any]) -> Iterator[str]:
    """Name the checks that came out wrong on a device, with what they saw."""
    wrong = [check for check in table["checks"] if check["states"][number] == "wrong"]
    if wrong:
        yield f"Wrong on {_name(device)}:\n"
    for check in wrong:
        seen = check["seen"][number]
        yield f"- `{check['id']}`: {_plain(seen)}"
    if wrong:
        yield ""


def _plain(seen: str) -> str:
    """Give what was seen as text that Markdown shows as it is, and not all of it where it is long."""
    short = seen if len(seen) <= LONGEST else f"{seen[: LONGEST - 4].rstrip()} ..."
    return "".join(f"\\{letter}" if letter in "\\`*_<>[]|" else letter for letter in short)


def place_in(page: str, text: str, origin: str) -> str:
    """Put a table between its markers in a page; an empty page gets them. Raises UsageError where they are missing."""
    block = f"{BEGIN}\n{text.rstrip()}\n{END}"
    if not page.strip():
        return f"{block}\n"
    before, begin, rest = page.partition(BEGIN)
    _old, end, after = rest.partition(END)
    if not begin or not end:
        fix = f"put these two lines where it belongs:\n{BEGIN}\n{END}"
        raise UsageError(f"{origin} does not say where its table of devices is", fix=fix)
    return f"{before}{block}{after}"
