"""The parts of a suite: which there are, and each from its beginning to its end in processes of its own."""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from helperlib.output import write_json, write_text
from helperlib.suites.counts import (
    KINDS,
    WHOLE,
    JournalState,
    count_junit,
    count_told,
    describe_stacks,
    list_outcomes,
    merge,
    read_journal,
)

# Which parts a suite is run in: each directory of tests one, a large one several.


PATTERNS = ("test_*.py", "*_test.py")


@dataclass(frozen=True)
class Shard:
    """A part of a suite: the row of the table it belongs to, its number in that row, the paths that pytest is given."""

    row: str
    number: int
    of: int
    paths: tuple[str, ...]

    @property
    def name(self) -> str:
        stem = self.row.replace("*.py", "files").strip("/").replace("/", ".")
        return stem if self.of == 1 else f"{stem}.{self.number}-of-{self.of}"


def find_tests(root: Path, places: Sequence[str]) -> list[str]:
    """List the files of tests below some places, as paths from the root; a place may be a file itself."""
    found: set[str] = set()
    for place in places:
        path = root / place
        files = [path] if path.is_file() else [one for pattern in PATTERNS for one in path.rglob(pattern)]
        found.update(one.relative_to(root).as_posix() for one in files)
    return sorted(found)


def make_shards(tests: Iterable[str], places: Sequence[str], parts: int = 1, whole: Sequence[str] = ()) -> list[Shard]:
    """Give the shards of these files: the files of a place itself, and each directory below it, in so many parts.

    A place that is a file of tests, or is to be one row as a `whole`, is a row of its own.
    """
    rows: dict[str, dict[str, list[str]]] = {}
    for test in sorted(tests):
        row, child = find_row(test, places, whole)
        rows.setdefault(row, {}).setdefault(child, []).append(test)
    return [shard for row, children in rows.items() for shard in split(row, children, parts)]


def find_row(test: str, places: Sequence[str], whole: Sequence[str]) -> tuple[str, str]:
    """Give the row of a file, and the child of that row's directory that it lies in."""
    if test in places:
        return test, test
    for row in whole:
        if test.startswith(f"{row}/"):
            return row, f"{row}/{test.removeprefix(f'{row}/').split('/')[0]}"
    plain = (place.rstrip("/") or "." for place in places)
    place = max((one for one in plain if test.startswith(f"{one}/") or one == "."), key=len)
    prefix = "" if place == "." else f"{place}/"
    head, *rest = test.removeprefix(prefix).split("/")
    if not rest:
        return f"{prefix}*.py", test
    return f"{prefix}{head}", f"{prefix}{head}/{rest[0]}"


def split(row: str, children: dict[str, list[str]], parts: int) -> list[Shard]:
    """Part a row's children so that each part has about as many files, those with most files first."""
    of = max(1, min(parts, len(children)))
    bins: list[list[str]] = [[] for _ in range(of)]
    weights = [0] * of
    for child in sorted(children, key=lambda name: (-len(children[name]), name)):
        least = weights.index(min(weights))
        bins[least].append(child)
        weights[least] += len(children[child])
    if of == 1 and not row.endswith(".py"):
        return [Shard(row, 1, 1, (row,))]
    return [Shard(row, number, of, tuple(sorted(paths))) for number, paths in enumerate(bins, 1)]


# One process of a shard: pytest in a session of its own, watched from outside until nothing of it is left.


PAUSE = 0.05
GRACE = 60.0
"""Seconds that a process has beyond the bound of a test to give a sign: it imports, or clears up after the last one."""
RESERVE = 64 << 20
"""Bytes that have to stay free for what is written down."""
MIB = 1 << 20


@dataclass(frozen=True)
class ShardAttempt:
    """The files of one process of a shard, all of them named after its number."""

    folder: Path
    number: int

    def file(self, ending: str) -> Path:
        return self.folder / f"{self.number}.{ending}"


@dataclass(frozen=True)
class Terms:
    """How a process is run. `bound`: seconds for each test; `grace`: beyond that without a sign; `reserve` in bytes."""

    cwd: Path
    env: Mapping[str, str]
    bound: float
    options: tuple[str, ...]
    grace: float = GRACE
    reserve: int = RESERVE


@dataclass(frozen=True)
class ProcessEnd:
    """How a process ended: its exit code, and why it was ended, where it was."""

    code: int
    why: str = ""


def make_command(attempt: ShardAttempt, terms: Terms, paths: Sequence[str]) -> tuple[str, ...]:
    """Give the command line of pytest. `-p no:cacheprovider`: the tree of the suite stays as it is."""
    return (
        *(sys.executable, "-m", "pytest", "-p", "helperlib.suites.plugin", "-p", "no:cacheprovider"),
        f"--suite-journal={attempt.file('jsonl')}",
        f"--suite-done={attempt.file('done')}",
        f"--suite-bound={terms.bound:g}",
        f"--junit-xml={attempt.file('xml')}",
        f"--basetemp={attempt.folder / 'tmp/pytest'}",
        *("--continue-on-collection-errors", "--maxfail=0"),
        *("-o", "faulthandler_timeout=0", "-o", "log_cli=false", "-q", "-rN"),
        *terms.options,
        *paths,
    )


def run_attempt(attempt: ShardAttempt, terms: Terms, paths: Sequence[str], done: set[str]) -> ProcessEnd:
    """Run pytest on what is left of a shard. What it leaves in its temporary folder goes with it."""
    attempt.file("done").write_text("".join(f"{name}\n" for name in sorted(done)), encoding="utf-8")
    attempt.file("jsonl").touch()
    temporary = attempt.folder / "tmp"
    (temporary / "tmpdir").mkdir(parents=True, exist_ok=True)
    try:
        with attempt.file("log").open("wb") as log:
            child = subprocess.Popen(
                make_command(attempt, terms, paths),
                cwd=terms.cwd,
                env={**terms.env, "TMPDIR": str(temporary / "tmpdir")},
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,  # so that what it leaves running can be ended with it
            )
            try:
                why = watch(child, attempt, terms)
            finally:
                code = end(child)
        return ProcessEnd(code, why)
    finally:
        shutil.rmtree(temporary, ignore_errors=True)


def watch(child: subprocess.Popen[bytes], attempt: ShardAttempt, terms: Terms) -> str:
    """Wait for the end of a process; say why it has to be ended, or nothing where it ended by itself."""
    size, heard = -1, time.monotonic()
    while child.poll() is None:
        time.sleep(PAUSE)
        now, seen = time.monotonic(), attempt.file("jsonl").stat().st_size
        if seen != size:
            size, heard = seen, now
        elif now - heard > terms.bound + terms.grace:
            return f"no sign of life for {now - heard:.0f} s"
        if (left := shutil.disk_usage(attempt.folder).free) < terms.reserve:
            return f"the disk is full: {left // MIB} MiB left"
    return ""


def end(child: subprocess.Popen[bytes]) -> int:
    """End whatever is left of a process and give its exit code, as a shell counts it."""
    with suppress(ProcessLookupError):
        os.killpg(child.pid, signal.SIGKILL)
    code = child.wait()
    return code if code >= 0 else 128 - code


# A shard from its beginning to its end: a process, and after each that was lost another one for the rest.


RESULT = "result.json"
SIGNALLED = 128
ERROR = re.compile(r"^(E  |ERROR|INTERNALERROR>|\S*(Error|Exception|exited)\b)")


@dataclass
class ShardOutcome:
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


def run_shard(shard: Shard, folder: Path, key: str, terms: Terms) -> ShardOutcome:
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
            if ended.why or ended.code not in WHOLE:  # it did not end when its tests had
                lost = ended.why or describe_code(ended.code)
                attempts.notes.append(f"a process was lost behind its tests: {lost}")
            break
        full = shutil.disk_usage(folder).free < terms.reserve
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
        self.tolds: dict[int, JournalState] = {}
        for number in sorted(int(path.stem) for path in folder.glob("*.jsonl")):
            self.tolds[number] = self.read(ShardAttempt(folder, number))

    @staticmethod
    def read(attempt: ShardAttempt) -> JournalState:
        told = read_journal(attempt.file("jsonl").read_text(encoding="utf-8", errors="replace"))
        blamed = attempt.file("blamed")
        if blamed.exists():
            told.crashes.update(json.loads(blamed.read_text(encoding="utf-8")))
        return told

    @property
    def told(self) -> JournalState:
        return merge(self.tolds.values())

    def run(self, terms: Terms, paths: tuple[str, ...]) -> tuple[ShardAttempt, ProcessEnd]:
        attempt = ShardAttempt(self.folder, max(self.tolds, default=0) + 1)
        ended = run_attempt(attempt, terms, paths, self.told.ended)
        self.tolds[attempt.number] = self.read(attempt)
        return attempt, ended

    def blame(self, attempt: ShardAttempt, ended: ProcessEnd) -> None:
        """Write down which test or module ended a process; what others had begun is run again."""
        told = self.tolds[attempt.number]
        stacks = attempt.file("stacks")
        words = describe_stacks(stacks.read_text(encoding="utf-8", errors="replace") if stacks.exists() else "")
        why = ended.why or words or describe_code(ended.code)
        guilty = list(told.open) if told.begun else [] if told.crashes else list(told.importing.values())
        if guilty and (ended.why or len(guilty) == 1):
            write_json(attempt.file("blamed"), dict.fromkeys(guilty, why), indent=None)
            told.crashes.update(dict.fromkeys(guilty, why))

    def outcome(self, shard: Shard, seconds: float, why: str) -> ShardOutcome:
        told = self.told
        counts, notes = self.count()
        return ShardOutcome(
            row=shard.row,
            name=shard.name,
            counts={kind: counts[kind] for kind in KINDS},
            seconds=round(seconds, 2),
            outcomes=list_outcomes(told),
            crashed=told.crashes,
            heard=told.heard,
            why=why,
            notes=[*self.notes, *notes],
        )

    def count(self) -> tuple[Counter[str], list[str]]:
        """Count by the JUnit files, and by the journal where a process did not come to its own end."""
        total: Counter[str] = Counter()
        notes = []
        for number, told in self.tolds.items():
            path = ShardAttempt(self.folder, number).file("xml")
            written = path.read_text(encoding="utf-8", errors="replace") if told.whole and path.exists() else ""
            counted, junit = count_told(told), count_junit(written)
            if junit is not None and +junit != +counted:
                notes.append(f"process {number}: the journal counts {dict(+counted)}, its JUnit file {dict(+junit)}")
            total += counted if junit is None else junit
        return total, notes


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


def read_result(folder: Path, key: str) -> ShardOutcome | None:
    """Give the result of a shard that has ended under this key."""
    try:
        found = json.loads((folder / RESULT).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    whole = found["key"] == key and not found["outcome"]["why"]
    return ShardOutcome(**{**found["outcome"], "kept": True}) if whole else None


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
