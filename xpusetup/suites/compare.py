"""Results of a suite beside a baseline: an earlier run test by test, a published table row by row."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from xpusetup.suites.known import Counts

Verdict = Literal["better", "worse"]
RANK = {"passed": 2, "skipped": 1}
"""Everything else is 0: failed, error, crashed, and what did not run."""
NOT_RUN = "not run"


@dataclass(frozen=True)
class Difference:
    """A test or a row of tests that came to something else than in the baseline."""

    name: str
    there: str
    here: str


@dataclass(frozen=True)
class Against:
    """What differs from a baseline. A test that failed there and fails here is no difference."""

    baseline: str
    better: tuple[Difference, ...]
    worse: tuple[Difference, ...]


def compare_tests(baseline: str, there: Mapping[str, str], here: Mapping[str, str], rows: frozenset[str]) -> Against:
    """Compare two runs by their tests, as far as the rows that were run here go; `here` and `there` by test.

    Worse is what passed and does not any more, was skipped and fails, or is new and fails.
    """
    found: dict[Verdict, list[Difference]] = {"better": [], "worse": []}
    for name in sorted({*there, *here}):
        if name not in here and not _is_in(name, rows):
            continue
        before, now = there.get(name), here.get(name, NOT_RUN)
        if before is None and RANK.get(now, 0):
            continue
        if verdict := _judge(RANK.get(before or "skipped", 0), RANK.get(now, 0)):
            found[verdict].append(Difference(name, before or "not there", now))
    return Against(baseline, tuple(found["better"]), tuple(found["worse"]))


def _judge(there: int, here: int) -> Verdict | None:
    return None if there == here else "better" if here > there else "worse"


def _is_in(test: str, rows: frozenset[str]) -> bool:
    file = test.partition("::")[0]
    folder = file.rpartition("/")[0]
    direct = f"{folder}/*.py" if folder else "*.py"
    return direct in rows or file in rows or any(test.startswith(f"{row}/") for row in rows)


def compare_counts(baseline: str, there: Mapping[str, Counts], here: Mapping[str, Counts]) -> Against:
    """Compare counts row by row. Worse is a row in which more fail or fewer pass, errors being failures."""
    rows = list(_rows(there, here))
    better = tuple(one for verdict, one in rows if verdict == "better")
    return Against(baseline, better, tuple(one for verdict, one in rows if verdict == "worse"))


def _rows(there: Mapping[str, Counts], here: Mapping[str, Counts]) -> Iterator[tuple[Verdict, Difference]]:
    for name in (name for name in there if name in here):
        before, now = there[name], here[name]
        more = _bad(now) - _bad(before)
        fewer = before["passed"] - now["passed"]
        if more or fewer:
            verdict: Verdict = "worse" if more > 0 or fewer > 0 else "better"
            yield verdict, Difference(name, _words(before), _words(now))


def _bad(counts: Counts) -> int:
    return counts["failed"] + counts.get("errors", 0)


def _words(counts: Counts) -> str:
    return f"{_bad(counts)} failed, {counts['passed']} passed, {counts['skipped']} skipped"
