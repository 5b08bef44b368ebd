"""A row of results, and rows as a table for people and a document for programs."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from statistics import median
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

HEAD = ("row", "ours", "reference", "ratio", "goal", "", "n")


@dataclass(frozen=True, kw_only=True)
class Row:
    """Two medians and their ratio, which must not be above the goal. `n`: the samples on the side that has fewer."""

    name: str
    ours: float
    reference: float
    ratio: float
    goal: float
    ok: bool
    unit: str
    n: int


def make_row(name: str, ours: Sequence[float], reference: Sequence[float], *, goal: float, unit: str) -> Row:
    """Compare medians; the ratio is ours by the reference."""
    mine, other = median(ours), median(reference)
    return Row(
        name=name,
        ours=round(mine, 6),
        reference=round(other, 6),
        ratio=round(mine / other, 6),
        goal=goal,
        ok=mine / other <= goal,
        unit=unit,
        n=min(len(ours), len(reference)),
    )


def make_document(rows: Sequence[Row]) -> str:
    """Give the rows as they stand in results.json."""
    return json.dumps({"rows": [asdict(row) for row in rows]}, indent=2) + "\n"


def render_table(rows: Sequence[Row]) -> str:
    """Give the rows in columns, numbers to the right."""
    lines = [HEAD, *(_cells(row) for row in rows)]
    widths = [max(len(line[column]) for line in lines) for column in range(len(HEAD))]
    return "\n".join(_line(line, widths) for line in lines)


def _cells(row: Row) -> tuple[str, ...]:
    ours, reference = (f"{value:,.3f} {row.unit}" for value in (row.ours, row.reference))
    verdict = "ok" if row.ok else "MISSED"
    return row.name, ours, reference, _ratio(row.ratio), f"<= {_ratio(row.goal)}", verdict, str(row.n)


def _ratio(value: float) -> str:
    return f"{value:.3f}" if value >= 0.1 else f"1/{1 / value:,.0f}"


def _line(cells: Sequence[str], widths: Sequence[int]) -> str:
    name, *rest = (cell.rjust(width) for cell, width in zip(cells, widths, strict=True))
    return "  ".join((name.strip().ljust(widths[0]), *rest)).rstrip()
