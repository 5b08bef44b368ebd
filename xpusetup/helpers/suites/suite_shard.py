"""A shard from its beginning to its end: a process, and after each that was lost another one for the rest."""

from __future__ import annotations

import json
import re
import signal
import time
from collections import Counter
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

from suite_counts import (
    KINDS,
    WHOLE,
    Told,
    count_junit,
    count_told,
    describe_stacks,
    list_outcomes,
    merge,
    read_journal,
)
from suite_process import Attempt, Ended, Terms, free, run_attempt
from whole_file import write_json, write_text

if TYPE_CHECKING:
    from pathlib import Path

    from suite_shards import Shard

RESULT = "result.json"
SIGNALLED = 128
ERROR = re.compile(r"^(E  |ERROR|INTERNALERROR>|\S*(Error|Exception|exited)\b)")


@dataclass
class Outcome:
    """What a shard came to. `why`: what kept it from its end; `notes`: what is to be known of its processes.

    `kept`: it has ended in an earlier run.
    """

    row: str
    name: str
    counts: dict[str, int]
    seconds: float
    outcomes: dict[str, str]
    crashed: dict[str, str]
    heard: list[dict[str, Any]]
    why: str = ""
    notes: list[str] = field(default_factory=list)
    kept: bool = False


def run_shard(shard: Shard, folder: Path, key: str, terms: Terms) -> Outcome:
    """Run a shard, or what an earlier run left of it; one that has ended under the same key is only read."""
    if (known := read_result(folder, key)) is not None:
        return known
    clear(folder, key)
    began = time.monotonic()
    attempts = Attempts(folder)
    why = ""
    while True:
        before = attempts.told.ended
        attempt, ended = attempts.run(terms, shard.paths)
        if attempts.tolds[attempt.number].whole:
            attempts.note_end(ended)
            break
        full = free(folder) < terms.reserve
        if not full:  # where it still is, it was not this test that filled the disk
            attempts.blame(attempt, ended)
        if full or attempts.told.ended == before:
            why = ended.why or last_words(attempt.file("log")) or f"pytest ended with {ended.code}"
            break
    outcome = attempts.outcome(shard, time.monotonic() - began, why)
    write_json(folder / RESULT, {"key": key, "outcome": asdict(outcome)}, indent=None)
    return outcome


class Attempts:
    """The processes of one shard so far, those of an interrupted run included."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.notes: list[str] = []
        self.tolds: dict[int, Told] = {}
        for number in sorted(int(path.stem) for path in folder.glob("*.jsonl")):
            self.tolds[number] = self.read(Attempt(folder, number))

    @staticmethod
    def read(attempt: Attempt) -> Told:
        told = read_journal(attempt.file("jsonl").read_text(encoding="utf-8", errors="replace"))
        blamed = attempt.file("blamed")
        if blamed.exists():
            told.crashes.update(json.loads(blamed.read_text(encoding="utf-8")))
        return told

    @property
    def told(self) -> Told:
        return merge(self.tolds.values())

    def run(self, terms: Terms, paths: tuple[str, ...]) -> tuple[Attempt, Ended]:
        attempt = Attempt(self.folder, max(self.tolds, default=0) + 1)
        ended = run_attempt(attempt, terms, paths, self.told.ended)
        self.tolds[attempt.number] = self.read(attempt)
        return attempt, ended

    def blame(self, attempt: Attempt, ended: Ended) -> None:
        """Write down which test or module ended a process; what others had begun is run again."""
        told = self.tolds[attempt.number]
        stacks = attempt.file("stacks")
        words = describe_stacks(stacks.read_text(encoding="utf-8", errors="replace") if stacks.exists() else "")
        why = ended.why or words or describe_code(ended.code)
        guilty = list(told.open) if told.begun else [] if told.crashes else list(told.importing.values())
        if guilty and (ended.why or len(guilty) == 1):
            write_json(attempt.file("blamed"), dict.fromkeys(guilty, why), indent=None)
            told.crashes.update(dict.fromkeys(guilty, why))

    def note_end(self, ended: Ended) -> None:
        """Say of a process that did not end when its tests had."""
        if ended.why or ended.code not in WHOLE:
            self.notes.append(f"a process was lost behind its tests: {ended.why or describe_code(ended.code)}")

    def outcome(self, shard: Shard, seconds: float, why: str) -> Outcome:
        told = self.told
        counts, notes = self.count()
        crashed = told.crashes
        return Outcome(
            shard.row,
            shard.name,
            {kind: counts[kind] for kind in KINDS},
            round(seconds, 2),
            list_outcomes(told),
            crashed,
            told.heard,
            why,
            [*self.notes, *notes],
        )

    def count(self) -> tuple[Counter[str], list[str]]:
        """Count by the JUnit files, and by the journal where a process did not come to its own end."""
        total: Counter[str] = Counter()
        notes = []
        for number, told in self.tolds.items():
            counted, junit = count_told(told), self.junit(number)
            if junit is not None and +junit != +counted:
                notes.append(f"process {number}: the journal counts {dict(+counted)}, its JUnit file {dict(+junit)}")
            total += counted if junit is None else junit
        return total, notes

    def junit(self, number: int) -> Counter[str] | None:
        attempt = Attempt(self.folder, number)
        path = attempt.file("xml")
        if not path.exists() or not self.tolds[number].whole:
            return None
        return count_junit(path.read_text(encoding="utf-8", errors="replace"))


def describe_code(code: int) -> str:
    """Say how a process ended, by what a shell would say."""
    if code - SIGNALLED in signal.valid_signals():
        return f"its process was ended: {signal.strsignal(code - SIGNALLED)}"
    return f"its process ended with exit code {code}"


def last_words(log: Path) -> str:
    """Give the line of a log that says why nothing ran."""
    lines = log.read_text(encoding="utf-8", errors="replace").splitlines()[-400:]
    told = [line for line in lines if ERROR.match(line)]
    errors = [line for line in told if line.startswith("E  ")]
    return " ".join((errors or told or [""])[-1].removeprefix("E").split())[:300]


def read_result(folder: Path, key: str) -> Outcome | None:
    """Give the result of a shard that has ended under this key."""
    try:
        found = json.loads((folder / RESULT).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    whole = found["key"] == key and not found["outcome"]["why"]
    return Outcome(**{**found["outcome"], "kept": True}) if whole else None


def clear(folder: Path, key: str) -> None:
    """Begin anew where what lies there was run under another key; else go on."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / RESULT).unlink(missing_ok=True)
    mark = folder / "key"
    if (mark.read_text(encoding="utf-8") if mark.exists() else "") == key:
        return
    for path in folder.iterdir():
        if path.is_file():
            path.unlink()
    write_text(mark, key)
