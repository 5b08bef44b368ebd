"""What the tests of a shard came to: from its JUnit files, and from the journal where a process left none.

An entry of a JUnit file counts once: as failed, else as an error, else as skipped (an expected failure, too), else as
passed. Subtests belong to their test. A test that fails and whose tear-down fails as well has two entries.
"""

import json
import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any
from xml.etree import ElementTree as ET

WHOLE = (0, 1, 5)
"""pytest's exit codes behind which every test has run: all passed, some failed, there was none."""
KINDS = ("failed", "passed", "skipped", "errors")
FRAME = re.compile(r'^  File "(?P<path>.+)", line (?P<line>\d+) in (?P<name>.+)$', re.MULTILINE)
OTHERS = ("/site-packages/", "/lib/python", "<")
"""Frames in these are named only where a stack has no other."""
LATE = "Timeout ("
"""How the stacks begin that Python's watchdog leaves."""


@dataclass
class JournalState:
    """What a journal tells. `outcomes`: of tests that have ended; `open`: of those that have begun and not ended.

    `begun`: whether any test has, so that no more modules were imported (without workers);
    `importing` is the last module that each worker began to import; `crashes` are the reasons by test; `whole`: all
    tests have run, and the JUnit file was written.
    """

    outcomes: dict[str, list[str]] = field(default_factory=dict)
    open: dict[str, None] = field(default_factory=dict)
    begun: bool = False
    whole: bool = False
    importing: dict[str, str] = field(default_factory=dict)
    crashes: dict[str, str] = field(default_factory=dict)
    heard: list[dict[str, Any]] = field(default_factory=list)

    @property
    def ended(self) -> set[str]:
        """Tests and modules that are not to be run again."""
        return {*self.outcomes, *self.crashes}


def read_journal(text: str) -> JournalState:
    """Read a journal; a line that was cut off tells nothing."""
    told = JournalState()
    for line in text.splitlines():
        try:
            kind, *values = json.loads(line)
        except ValueError:
            continue
        if kind == "collect":
            told.importing[values[1]] = values[0]
        elif kind == "start":
            told.open[values[0]] = None
            told.begun = True
        elif kind == "end":
            told.open.pop(values[0], None)
            told.outcomes[values[0]] = values[1]
        elif kind == "crash":
            told.open.pop(values[0], None)
            told.crashes[values[0]] = describe_stacks(values[1]) or "its process ended"
        elif kind == "heard":
            told.heard.append({"test": values[0], **values[1], "count": values[2]})
        elif kind == "finish":
            told.whole = values[0] in WHOLE
        elif kind == "lost":
            told.crashes[told.importing.get(values[0], "")] = describe_stacks(values[1]) or "its process ended"
    return told


def describe_stacks(text: str) -> str:
    """Say in a line how a process ended, by the stacks that it left; nothing where it left none."""
    if not text.strip():
        return ""
    first = next((line for line in text.splitlines() if line.strip()), "")
    told = "no end in time" if first.startswith(LATE) else first.removeprefix("Fatal Python error: ")
    # The thread that crashed, or the last one listed: the main thread, where one was late.
    threads = re.split(r"\n\s*\n", text)
    marked = [one for one in threads if "Current thread" in one]
    frames = list(FRAME.finditer((marked or [one for one in threads if FRAME.search(one)] or [text])[-1]))
    if not frames:
        return told
    place = next((one for one in frames if not any(word in one["path"] for word in OTHERS)), frames[0])
    return f"{told}, at {'/'.join(place['path'].split('/')[-2:])}:{place['line']} in {place['name']}"


def judge(words: Iterable[str]) -> list[str]:
    """Give the kinds as which the reports of one test count, as its entries in a JUnit file do."""
    said = set(words)
    if said & {"failed", "sub failed"}:
        return ["failed", "errors"] if "teardown error" in said else ["failed"]
    if said & {"setup error", "teardown error", "error"}:
        return ["errors"]
    if "skipped" in said:
        return ["skipped"]
    return ["passed"] if "passed" in said else ["skipped"] if said else []


def count_told(told: JournalState) -> Counter[str]:
    """Count by the journal. A test that ended its process is an error, as it is with pytest-xdist."""
    found = Counter(kind for words in told.outcomes.values() for kind in judge(words))
    found["errors"] += len(told.crashes)
    return found


def count_junit(text: str) -> Counter[str] | None:
    """Count the entries of a JUnit file; None where it is none, or is cut off."""
    try:
        root = ET.fromstring(text)  # noqa: S314 - pytest wrote it, here
    except ET.ParseError:
        return None
    return Counter(kind_of(case) for case in root.iter("testcase"))


def kind_of(case: ET.Element) -> str:
    tags = {child.tag for child in case}
    if "failure" in tags:
        return "failed"
    if "error" in tags:
        return "errors"
    whole = {one.get("value") for one in case.iter("property") if one.get("name") == "outcome"}
    return "skipped" if "skipped" in tags and "passed" not in whole else "passed"


def merge(tolds: Iterable[JournalState]) -> JournalState:
    """Put what several processes of one shard told into one."""
    whole = JournalState()
    for told in tolds:
        whole.outcomes.update(told.outcomes)
        whole.crashes.update(told.crashes)
        whole.heard += told.heard
    return whole


def list_outcomes(told: JournalState) -> dict[str, str]:
    """Give each test with its one word: crashed, failed, error, skipped or passed."""
    found = {test: judge(words) for test, words in told.outcomes.items()}
    outcomes = {test: "error" if kinds[0] == "errors" else kinds[0] for test, kinds in found.items() if kinds}
    return {**outcomes, **dict.fromkeys(told.crashes, "crashed")}
