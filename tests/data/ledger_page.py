"""docs/ledger.md, made of the rows of the ledger."""

from __future__ import annotations

import os
from collections import Counter
from itertools import groupby
from typing import TYPE_CHECKING

from data.ledger import SEEN, LedgerRow, short
from data.profiles import TOP

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

PAGE = TOP / "docs/ledger.md"
MAIN = "main"
TITLES = {
    "torch": "torch, built for Intel GPUs",
    "vision": "torchvision",
    "audio": "torchaudio",
    "triton": "Triton for XPU",
}
HEAD = """\
# What upstream's files say

What PyTorch, torch-xpu-ops, torchvision, torchaudio and Triton decide in their own files about a build for Intel
GPUs: one rule a row, where it was read, and what of ours follows it.

This page is made of [ledger.toml](ledger.toml). A test holds every shipped profile's real plan to the rows: it
fails where the plan lacks what a row says of ours, and where it has a variable, a script, a requirement or a download
that no row explains.

| seen | |
|---|---|
"""


def make_page(ledger: Sequence[LedgerRow]) -> None:
    """Compare the page with the rows, or write it anew."""
    text = "".join((HEAD, *_classes(), "\n", *_counts(ledger), *(_section(ledger, of) for of in TITLES)))
    if os.environ.get("XPUSETUP_TEST_UPDATE"):
        PAGE.write_text(text)
    assert PAGE.read_text() == text, "docs/ledger.md; XPUSETUP_TEST_UPDATE=1 writes it anew"


def _classes() -> Iterator[str]:
    yield from (f"| {seen} | {meaning} |\n" for seen, meaning in SEEN.items())


def _counts(ledger: Sequence[LedgerRow]) -> Iterator[str]:
    yield f"| rules of | {' | '.join(SEEN)} | all |\n|---|{'---|' * (len(SEEN) + 1)}\n"
    for (of, release), rows in groupby(sorted(ledger, key=_place), key=lambda row: (row.of, row.release)):
        found = Counter(row.seen for row in rows)
        cells = [str(found[seen] or "") for seen in SEEN]
        yield f"| {of} {release} | {' | '.join(cells)} | {sum(found.values())} |\n"


def _place(row: LedgerRow) -> tuple[int, tuple[int, ...]]:
    numbers = (999,) if row.release == "main" else tuple(map(int, row.release.split(".")))
    return list(TITLES).index(row.of), numbers


def _section(ledger: Sequence[LedgerRow], of: str) -> str:
    rules = [list(rows) for _, rows in groupby((row for row in ledger if row.of == of), key=lambda row: row.id)]
    lines = "".join(f"| {' | '.join(_cells(rows))} |\n" for rows in rules)
    return f"\n## {TITLES[of]}\n\n| of | rule | where | ours | seen |\n|---|---|---|---|---|\n{lines}"


def _cells(rows: Sequence[LedgerRow]) -> tuple[str, ...]:
    first = rows[0]
    ours = ", ".join(f"`{each}`" for each in first.ours)
    followed = "; ".join(text for text in (ours, first.left) if text)
    rule = "; ".join(filter(None, (first.rule, first.until)))
    return _span([row.release for row in rows]), _escaped(rule), _where(rows), _escaped(followed), _seen(rows)


def _span(releases: Sequence[str]) -> str:
    """Name the first and the last of each run: releases without a gap, and the branch after the newest."""
    runs: list[list[str]] = []
    for release in releases:
        if runs and release in (MAIN, _next(runs[-1][-1])):
            runs[-1].append(release)
        else:
            runs.append([release])
    return ", ".join(run[0] if len(run) == 1 else f"{run[0]} to {run[-1]}" for run in runs)


def _next(release: str) -> str:
    major, _, minor = release.partition(".")
    return f"{major}.{int(minor) + 1}" if minor else ""


def _where(rows: Sequence[LedgerRow]) -> str:
    commits = list(dict.fromkeys(row.commit for row in rows))
    names = f" @ {', '.join(f'`{short(commit)}`' for commit in commits)}" if commits != [""] else ""
    return _escaped(f"{rows[0].file}{names}")


def _seen(rows: Sequence[LedgerRow]) -> str:
    """Give how a rule was seen; where that differs, most of its releases first, and the others by name."""
    counts = Counter(row.seen for row in rows).most_common()
    main, *others = [[row for row in rows if row.seen == seen] for seen, _ in counts]
    return "; ".join((_said(main), *(f"{', '.join(row.release for row in few)}: {_said(few)}" for few in others)))


def _said(rows: Sequence[LedgerRow]) -> str:
    sure = rows[0].confidence
    return rows[0].seen if sure == "confirmed" else f"{rows[0].seen}, {sure}"


def _escaped(text: str) -> str:
    return text.replace("|", "\\|")
