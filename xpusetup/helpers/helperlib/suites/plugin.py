"""A pytest plugin: writes down each test as it begins and ends, so that what ends a process costs that test alone.

    PYTHONPATH=helpers python -m pytest -p helperlib.suites.plugin --suite-journal FILE tests/

One line of JSON a sign, in a file that only grows: `collect`, `start`, `end` with the outcomes, `crash` for a lost
worker of pytest-xdist, `heard` for operators that ran on the CPU, `finish` behind the JUnit file. A test has so many
seconds; then its process ends.
"""

import faulthandler
import json
import os
import warnings
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any, TextIO

import pytest
from helperlib.fallbacks.messages import QUIET, FallbackMessage, find_messages

LOST_CODE = 70
LOST = "???"
"""What pytest-xdist calls the phase of a test whose worker is gone."""


class Journal:
    """A file to which several processes add whole lines."""

    def __init__(self, path: Path) -> None:
        self.handle = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)

    def write(self, kind: str, *values: Any) -> None:
        """Add a line. What cannot be written down did not happen: the session ends."""
        try:
            os.write(self.handle, (json.dumps([kind, *values]) + "\n").encode())
        except OSError as error:
            pytest.exit(f"the journal cannot be written: {error.strerror}", returncode=3)


class Narrator:
    """Tells of the tests of one session: in the controller where there are workers."""

    def __init__(self, journal: Journal, stacks: Path) -> None:
        self.journal, self.stacks, self.parent = journal, stacks, os.getppid()
        self.outcomes: dict[str, list[str]] = {}
        self.heard: dict[str, Counter[FallbackMessage]] = {}
        self.with_subtests: set[str] = set()

    def pytest_runtest_logstart(self, nodeid: str) -> None:
        if os.getppid() != self.parent:
            os._exit(LOST_CODE)  # whoever runs the suite is gone, and the next one has begun it again
        self.tell_heard()
        self.journal.write("start", nodeid)

    @pytest.hookimpl(tryfirst=True)  # before the report is written into the JUnit file
    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        nodeid = report.nodeid
        if report.when == LOST:
            worker = getattr(getattr(report, "node", None), "gateway", None)
            self.journal.write("crash", nodeid, self.stacks_of(worker.id if worker else ""))
            return
        if report.when == "teardown" and nodeid in self.with_subtests:
            report.user_properties.append(("outcome", self.whole(nodeid)))
        if word := describe(report):
            self.outcomes.setdefault(nodeid, []).append(word)
        if word.startswith("sub "):
            self.with_subtests.add(nodeid)
        if report.failed:
            for message in {one: None for one in find_messages(report.longreprtext) if one.kind == "refused"}:
                self.heard.setdefault(nodeid, Counter())[message] += 1

    def whole(self, nodeid: str) -> str:
        """Give what a test with subtests came to, which its entry in the JUnit file alone does not tell."""
        words = self.outcomes.get(nodeid, [])
        return next((word for word in ("passed", "skipped") if word in words), "failed")

    def pytest_runtest_logfinish(self, nodeid: str) -> None:
        self.journal.write("end", nodeid, self.outcomes.pop(nodeid, []))

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        if not report.passed:
            self.journal.write("end", report.nodeid, ["error" if report.failed else "skipped"])

    def pytest_warning_recorded(self, warning_message: warnings.WarningMessage, nodeid: str) -> None:
        for message in find_messages(str(warning_message.message)):
            self.heard.setdefault(nodeid, Counter())[message] += 1

    def tell_heard(self) -> None:
        """Write down what was heard so far: pytest tells of the warnings of a test only after its end."""
        for nodeid, messages in self.heard.items():
            for message, times in messages.items():
                self.journal.write("heard", nodeid, message._asdict(), times)
        self.heard.clear()

    @pytest.hookimpl(trylast=True)  # after the JUnit file was written
    def pytest_sessionfinish(self, exitstatus: int) -> None:
        self.tell_heard()
        self.journal.write("finish", int(exitstatus))

    def stacks_of(self, worker: str) -> str:
        path = self.stacks.with_name(f"{self.stacks.name}.{worker}")
        return path.read_text(encoding="utf-8", errors="replace") if worker and path.exists() else ""

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any, error: object) -> None:
        """End the session where a worker died while it was importing tests: the next one would, too."""
        if error and not getattr(node, "workeroutput", None) and not getattr(node, "has_collected", False):
            self.journal.write("lost", node.gateway.id, self.stacks_of(node.gateway.id))
            os._exit(LOST_CODE)

    @pytest.hookimpl(optionalhook=True)
    def pytest_xdist_node_collection_finished(self, node: Any) -> None:
        node.has_collected = True


def describe(report: pytest.TestReport) -> str:
    """Say what a report adds to its test; nothing for a phase that went well before or after the test itself."""
    kind = "sub " if hasattr(report, "context") else ""
    if report.failed:
        expected = hasattr(report, "wasxfail")
        return kind + ("skipped" if expected else "failed" if report.when == "call" else f"{report.when} error")
    if report.skipped:
        return kind + "skipped"
    return kind + "passed" if report.passed and report.when == "call" else ""


class TestWatch:
    """Bounds each test of this process: a thread of C that needs no lock of Python ends it, and leaves the stacks."""

    def __init__(self, journal: Journal, seconds: float, stacks: Path, worker: str) -> None:
        self.journal, self.seconds, self.worker = journal, seconds, worker
        self.stacks: TextIO = stacks.open("a", encoding="utf-8")
        faulthandler.enable(self.stacks)

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_protocol(self) -> Iterator[None]:
        faulthandler.dump_traceback_later(self.seconds, exit=True, file=self.stacks)
        try:
            return (yield)
        finally:
            faulthandler.cancel_dump_traceback_later()

    def pytest_collectstart(self, collector: pytest.Collector) -> None:
        if isinstance(collector, pytest.Module):
            self.journal.write("collect", collector.nodeid, self.worker)


class Rest:
    """Leaves out the tests that have ended in an earlier process of this shard."""

    def __init__(self, names: set[str]) -> None:
        self.names = names

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        items[:] = [item for item in items if item.nodeid not in self.names]

    def pytest_ignore_collect(self, collection_path: Path, config: pytest.Config) -> bool | None:
        if collection_path.suffix != ".py":
            return None
        try:
            name = collection_path.relative_to(config.rootpath).as_posix()
        except ValueError:
            return None
        return True if name in self.names else None


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("suite", "a suite as shards")
    group.addoption("--suite-journal", type=Path, metavar="FILE", help="write down each test as it begins and ends")
    group.addoption("--suite-done", type=Path, metavar="FILE", help="names of tests and modules to leave out")
    group.addoption("--suite-bound", type=float, default=600, metavar="S", help="seconds that a test may take")
    # Read when PyTorch is loaded, which a conftest.py may do: after this nothing is early enough.
    os.environ.setdefault("PYTORCH_DEBUG_XPU_FALLBACK", "1")


@pytest.hookimpl(trylast=True)  # after pytest's own fault handler, in whose place ours is to be
def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("filterwarnings", QUIET)
    path = config.getoption("--suite-journal")
    if path is None:
        return
    worker = getattr(config, "workerinput", {}).get("workerid", "")
    journal, stacks = Journal(path), path.with_suffix(".stacks")
    if not worker:
        config.pluginmanager.register(Narrator(journal, stacks), "suite_narrator")
    if worker or not config.getoption("numprocesses", None):
        own = stacks.with_name(f"{stacks.name}.{worker}") if worker else stacks
        watch = TestWatch(journal, config.getoption("--suite-bound"), own, worker)
        config.pluginmanager.register(watch, "suite_watch")
    if done := config.getoption("--suite-done"):
        config.pluginmanager.register(Rest(set(done.read_text(encoding="utf-8").splitlines())), "suite_rest")
