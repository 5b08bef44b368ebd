"""A pytest plugin: which operators ran on the CPU in which tests, as one JSON document. Works under pytest-xdist.

    PYTHONPATH=helpers python -m pytest -p fallback_plugin --fallbacks-out fallbacks.json tests/

Warnings name operators that fell back, the texts of failed tests name those that ended the program.
"""

import os
import warnings
from collections import Counter
from collections.abc import Iterable
from operator import itemgetter
from pathlib import Path

import pytest
from helperlib.fallbacks.messages import QUIET, FallbackMessage, find_messages
from helperlib.output import write_json


class Collector:
    """What the tests of one session said; under xdist the workers' warnings and reports all come to the controller."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.seen: dict[FallbackMessage, Counter[str]] = {}

    def hear(self, messages: Iterable[FallbackMessage], test: str) -> None:
        for message in messages:
            self.seen.setdefault(message, Counter())[test] += 1

    def pytest_warning_recorded(self, warning_message: warnings.WarningMessage, nodeid: str) -> None:
        self.hear(find_messages(str(warning_message.message)), nodeid)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.failed:
            self.hear({one for one in find_messages(report.longreprtext) if one.kind == "refused"}, report.nodeid)

    def pytest_sessionfinish(self) -> None:
        rows = sorted(self.seen.items(), key=itemgetter(0))
        told = [{**one._asdict(), "count": tests.total(), "tests": sorted(tests)} for one, tests in rows]
        write_json(self.path, {"messages": told})


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("fallbacks", "operators that run on the CPU")
    group.addoption("--fallbacks-out", type=Path, metavar="FILE", help="write them to this file")
    # Read when PyTorch is loaded, which a conftest.py may do: after this nothing is early enough.
    os.environ.setdefault("PYTORCH_DEBUG_XPU_FALLBACK", "1")


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("filterwarnings", QUIET)
    path = config.getoption("--fallbacks-out")
    if path is not None and not hasattr(config, "workerinput"):
        config.pluginmanager.register(Collector(path.absolute()), "fallback_collector")
