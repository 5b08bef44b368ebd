"""The program run in the process of the test: its exit code, and what it said."""

from __future__ import annotations

import json
import re
import signal
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest

from json_schemas import hold_to_schema
from xpusetup.base.errors import UsageError
from xpusetup.cli import main

if TYPE_CHECKING:
    from collections.abc import Iterator


class Ran(NamedTuple):
    """What one run of the program did."""

    code: int
    out: str
    err: str

    def document(self) -> Any:
        """Give the one JSON document, whose envelope has to be right."""
        document = json.loads(self.out)
        assert self.err == ""
        assert document["schema"] == 1
        assert document["ok"] is (self.code == 0)
        assert list(document) == ["schema", "command", "ok", "result" if "result" in document else "error"]
        hold_to_schema(document)
        return document


Program = Callable[[str], Ran]


def repeats(said: str, words: str) -> bool:
    """Say whether the fix of an error is the command that failed, however that names its profile."""
    fixes = re.findall(r"^\s+fix  xpusetup (.*)$", said, re.MULTILINE)
    first, *more = words.split() or [""]
    return any(fix.split()[0] == first and {*fix.split()[1:]} == {*more} - {"-p", "--profile"} for fix in fixes)


@pytest.fixture
def program(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Iterator[Program]:
    """Give a way to run the program; its handlers of signals go with it."""
    before = {number: signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGHUP)}

    def run(words: str) -> Ran:
        monkeypatch.setattr(sys, "argv", ["xpusetup", *words.split()])
        with pytest.raises(SystemExit) as ended:
            main()
        ran = Ran(int(ended.value.code or 0), *capsys.readouterr())
        assert ran.code != UsageError.code or not repeats(ran.err, words), ran.err
        return ran

    yield run
    for number, handler in before.items():
        signal.signal(number, handler)
