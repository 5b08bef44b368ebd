"""Suites of tests: what is known of them, how results compare, and the tables that they are shown as."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Literal

from xpusetup.base.document import read_as
from xpusetup.base.errors import UsageError
from xpusetup.base.text import hint_at_nearest
from xpusetup.base.values import Limits, Strict, Text, Variable, parse_toml
from xpusetup.verify.fallbacks import FallbackData, FallbackTable, ReadMessage, log_table

# Results of a suite beside a baseline: an earlier run test by test, a published table row by row.


Verdict = Literal["better", "worse"]
RANK = {"passed": 2, "skipped": 1}
"""Everything else is 0: failed, error, crashed, and what did not run."""
NOT_RUN = "not run"


@dataclass(frozen=True, kw_only=True)
class SuiteCounts:
    """How many tests came to what."""

    failed: int
    passed: int
    skipped: int
    errors: int = 0

    @property
    def bad(self) -> int:
        return self.failed + self.errors

    def __str__(self) -> str:
        return f"{self.bad} failed, {self.passed} passed, {self.skipped} skipped"


@dataclass(frozen=True, kw_only=True)
class SuiteRow(SuiteCounts):
    """A row of the table of results: a folder or a file, its seconds, why parts of it ended early, what to know."""

    name: str
    seconds: float = 0.0
    why: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class Baseline:
    """What results are held against: a published table by its rows, or an earlier run by its tests."""

    name: str
    rows: dict[str, SuiteCounts] = field(default_factory=dict)
    tests: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class SuiteDifference:
    """A test or a row of tests that came to something else than in the baseline."""

    name: str
    there: str
    here: str


@dataclass(frozen=True)
class Against:
    """What differs from a baseline. A test that failed there and fails here is no difference."""

    baseline: str
    better: tuple[SuiteDifference, ...]
    worse: tuple[SuiteDifference, ...]


def compare_tests(baseline: str, there: Mapping[str, str], here: Mapping[str, str], rows: frozenset[str]) -> Against:
    """Compare two runs by their tests, as far as the rows that were run here go; `here` and `there` by test.

    Worse is what passed and does not any more, was skipped and fails, or is new and fails.
    """
    found: dict[Verdict, list[SuiteDifference]] = {"better": [], "worse": []}
    for name in sorted({*there, *here}):
        if name not in here and not _is_in(name, rows):
            continue
        before, now = there.get(name), here.get(name, NOT_RUN)
        if before is None and RANK.get(now, 0):
            continue
        was, became = RANK.get(before or "skipped", 0), RANK.get(now, 0)
        if was != became:
            found["better" if became > was else "worse"].append(SuiteDifference(name, before or "not there", now))
    return Against(baseline, tuple(found["better"]), tuple(found["worse"]))


def _is_in(test: str, rows: frozenset[str]) -> bool:
    file = test.partition("::")[0]
    folder = file.rpartition("/")[0]
    direct = f"{folder}/*.py" if folder else "*.py"
    return direct in rows or file in rows or any(test.startswith(f"{row}/") for row in rows)


def compare_counts(baseline: str, there: Mapping[str, SuiteCounts], here: Mapping[str, SuiteCounts]) -> Against:
    """Compare counts row by row. Worse is a row in which more fail or fewer pass, errors being failures."""
    found: dict[Verdict, list[SuiteDifference]] = {"better": [], "worse": []}
    for name in (name for name in there if name in here):
        before, now = there[name], here[name]
        more, fewer = now.bad - before.bad, before.passed - now.passed
        if more or fewer:
            verdict: Verdict = "worse" if more > 0 or fewer > 0 else "better"
            found[verdict].append(SuiteDifference(name, str(before), str(now)))
    return Against(baseline, tuple(found["better"]), tuple(found["worse"]))


# The device file that Transformers and diffusers read: which device, and how it is seeded, emptied and counted.


NAME = "xpusetup_device.py"
"""One dot, no folder: the suites import it by this text up to `.py`."""
TEXT = """\
import torch

DEVICE_NAME = "{device}"

_module = getattr(torch, DEVICE_NAME)
MANUAL_SEED_FN = getattr(_module, "manual_seed", torch.manual_seed)
EMPTY_CACHE_FN = getattr(_module, "empty_cache", None)
DEVICE_COUNT_FN = getattr(_module, "device_count", lambda: 1)
"""


def make_spec(device: str) -> tuple[str, str]:
    return NAME, TEXT.format(device=device)


# Results of a suite as the published table, and its operators as those of verify --fallbacks.


COLUMNS = ("failed", "passed", "skipped")


def render_results(rows: Sequence[SuiteRow]) -> str:
    """Give the table in the published form. A column of errors is there only where there were some."""
    kinds = ("failed", "errors", "passed", "skipped") if any(row.errors for row in rows) else COLUMNS
    head = "| " + " | ".join(("Tests", *(kind.capitalize() for kind in kinds))) + " |"
    rule = "| " + " | ".join(["---"] * (len(kinds) + 1)) + " |"
    lines = ("| " + " | ".join((f"`{row.name}`", *(str(getattr(row, kind)) for kind in kinds))) + " |" for row in rows)
    return "\n".join((head, rule, *lines)) + "\n"


def make_operators(known: FallbackData, title: str, heard: Iterable[HeardMessage], release: str) -> FallbackTable:
    """Give the operators that tests were heard to run on the CPU."""
    found: Counter[ReadMessage] = Counter()
    for one in heard:
        found[ReadMessage(one.kind, one.operator, one.backend)] += one.count
    return log_table(known, title, found, release)


def affected_tests(heard: Iterable[HeardMessage]) -> dict[str, list[str]]:
    """Give the tests in which each operator was heard of."""
    found: dict[str, set[str]] = {}
    for one in heard:
        found.setdefault(one.operator, set()).add(one.test)
    return {name: sorted(tests) for name, tests in found.items() if name}


# data/suites.toml as values: the suites, what they leave out with which versions, and what was published of them.


ROW = re.compile(r"^\| `(?P<name>[^`]+)` \| (?P<failed>\d+) \| (?P<passed>\d+) \| (?P<skipped>\d+) \|$", re.MULTILINE)
Place = Annotated[str, Limits(pattern=r"^(\.|[A-Za-z0-9_][A-Za-z0-9_./-]*)$")]


@dataclass(frozen=True, kw_only=True)
class Selection(Strict):
    """A named part of a suite: places, and an expression of pytest's -k."""

    name: Text
    places: list[Place]
    keyword: str = ""


@dataclass(frozen=True, kw_only=True)
class Suite(Strict):
    """A suite of tests. Its words are explained at the top of data/suites.toml."""

    name: Text
    title: Text
    distribution: Text
    places: list[Place]
    needs: list[Text]
    repo: str = ""
    tag: str = ""
    component: str = ""
    packaged: str = ""
    full: list[Place] = field(default_factory=list)
    entries: list[Place] = field(default_factory=list)
    spec: str = ""
    chooses: bool = False
    environment: dict[Variable, str] = field(default_factory=dict)
    selection: list[Selection] = field(default_factory=list)


@dataclass(frozen=True, kw_only=True)
class Exclusion(Strict):
    """Places of a suite that are left out with these versions on this device, and why."""

    suite: Text
    version: Text
    torch: Text
    device: Text
    places: list[Place]
    reason: Text
    source: Text


@dataclass(frozen=True, kw_only=True)
class PublishedBaseline(Strict):
    """A table of results as it was published, to the letter."""

    id: Text
    suite: Text
    version: Text
    torch: Text
    device: Text
    machine: Text
    source: Text
    markdown: str

    @property
    def rows(self) -> dict[str, SuiteCounts]:
        return {
            found["name"]: SuiteCounts(**{kind: int(found[kind]) for kind in COLUMNS})
            for found in ROW.finditer(self.markdown)
        }


@dataclass(frozen=True, kw_only=True)
class Suites(Strict):
    """All of data/suites.toml."""

    environment: dict[str, dict[Variable, str]]
    suite: list[Suite]
    exclusion: list[Exclusion]
    published: list[PublishedBaseline]

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(one.name for one in self.suite)

    def find(self, name: str) -> Suite:
        """Give a suite. Raises UsageError for a name that is not known."""
        found = next((one for one in self.suite if one.name == name), None)
        if found is None:
            message = f"there is no suite {name!r}{hint_at_nearest(name, self.names)}"
            raise UsageError(message, fix=f"known: {', '.join(self.names)}")
        return found

    def variables(self, suite: Suite, device: str) -> dict[str, str]:
        """Give the variables that a suite is run with on a device, where the caller has not set them."""
        own = {name: value.format(device=device) for name, value in suite.environment.items()}
        return {**self.environment.get(device, {}), **own}

    def excluded(self, suite: Suite, version: str, torch: str, device: str) -> list[Exclusion]:
        """Give what is left out of a suite of this version with this torch."""
        asked = (suite.name, version, device)
        return [
            one
            for one in self.exclusion
            if (one.suite, one.version, one.device) == asked and is_release(torch, one.torch)
        ]

    def fitting(self, suite: str, version: str, torch: str, device: str) -> PublishedBaseline | None:
        """Give what was published for these versions on this device."""
        for one in self.published:
            if (one.suite, one.version, one.device) == (suite, version, device) and is_release(torch, one.torch):
                return one
        return None


# What helpers/suites/run_suite.py writes.


@dataclass(frozen=True, kw_only=True)
class SuiteVersions:
    """What ran the tests; None for what is not there."""

    suite: str | None
    pytest: str | None
    xdist: str | None
    torch: str | None


@dataclass(frozen=True, kw_only=True)
class HeardMessage:
    """What a test made PyTorch say of an operator that runs on the CPU, and how often; `kind` as in fallbacks.py."""

    test: str
    kind: str
    operator: str
    backend: str
    count: int


@dataclass(frozen=True, kw_only=True)
class ChangedPackage:
    """A package, or a file of it, that was another one after the tests; None where it was not there."""

    name: str
    before: str | None
    after: str | None


@dataclass(frozen=True, kw_only=True)
class SuiteRecord:
    """What a run came to, by test: `tests` have one word each, `crashed` say how a process ended."""

    suite: str
    device: str
    versions: SuiteVersions
    workers: int
    seconds: float
    excluded: list[Exclusion]
    suites: list[SuiteRow]
    crashed: dict[str, str]
    tests: dict[str, str]
    heard: list[HeardMessage]
    replaced: list[ChangedPackage]


def is_release(version: str, release: str) -> bool:
    """Say whether a version of torch belongs to a minor release."""
    return version == release or version.startswith(f"{release}.")


def parse_suites(text: str) -> Suites:
    """Read data/suites.toml. Raises UnfitError on anything that it does not know."""
    return read_as(Suites, parse_toml(text))
