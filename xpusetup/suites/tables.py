"""Results of a suite as the published table, and its operators as those of verify --fallbacks."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Any

from xpusetup.fallbacks.messages import Message
from xpusetup.fallbacks.tables import log_table

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from xpusetup.fallbacks.known import Known
    from xpusetup.fallbacks.tables import Table

COLUMNS = ("failed", "passed", "skipped")


def render_results(rows: Sequence[Mapping[str, Any]]) -> str:
    """Give the table in the published form. A column of errors is there only where there were some."""
    kinds = ("failed", "errors", "passed", "skipped") if any(row.get("errors") for row in rows) else COLUMNS
    head = "| " + " | ".join(("Tests", *(kind.capitalize() for kind in kinds))) + " |"
    rule = "| " + " | ".join(["---"] * (len(kinds) + 1)) + " |"
    lines = ("| " + " | ".join((f"`{row['name']}`", *(str(row[kind]) for kind in kinds))) + " |" for row in rows)
    return "\n".join((head, rule, *lines)) + "\n"


def make_operators(known: Known, title: str, heard: Iterable[Mapping[str, Any]], release: str) -> Table:
    """Give the operators that tests were heard to run on the CPU."""
    found: Counter[Message] = Counter()
    for one in heard:
        found[Message(one["kind"], one["operator"], one["backend"])] += one["count"]
    return log_table(known, title, found, release)


def affected_tests(heard: Iterable[Mapping[str, Any]]) -> dict[str, list[str]]:
    """Give the tests in which each operator was heard of."""
    found: dict[str, set[str]] = {}
    for one in heard:
        found.setdefault(one["operator"], set()).add(one["test"])
    return {name: sorted(tests) for name, tests in found.items() if name}
