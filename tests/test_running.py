"""What is read from the log of a step at work."""

from __future__ import annotations

from io import BytesIO
from typing import TYPE_CHECKING, Any, cast

from xpusetup.base.model import Step
from xpusetup.run.step_process import Running

if TYPE_CHECKING:
    import pytest

STEP = Step(id="torch.build", title="torch", run=(("true",),))


def at_work(log: BytesIO) -> Running:
    return Running(step=STEP, key="k", process=cast("Any", None), log=cast("Any", log), handle=None)


def more(log: BytesIO, text: bytes) -> None:
    place = log.tell()
    log.seek(0, 2)
    log.write(text)
    log.seek(place)


def test_lines_are_read_whole() -> None:
    log = BytesIO()
    one = at_work(log)
    assert one.read_lines() == []
    more(log, b"[1/9] Buil")
    assert (one.read_lines(), one.count) == ([], 0)
    more(log, b"ding a.o\n\xff odd\n[2/9")
    assert one.read_lines() == ["[1/9] Building a.o", "\ufffd odd"]
    assert (one.count, one.total) == (1, 9)


def test_the_last_summary_counts() -> None:
    log = BytesIO(b"= first | word\nmore\n= 2.5.1 | 312 MiB\n+ rm -rf x\n")
    one = at_work(log)
    one.read_lines()
    assert one.summary == "2.5.1 · 312 MiB"


def test_silence(monkeypatch: pytest.MonkeyPatch) -> None:
    """Asked again, silence begins to count anew, and so it does with each line."""
    clock = [100.0]
    monkeypatch.setattr("xpusetup.run.step_process.time.monotonic", lambda: clock[0])
    log = BytesIO()
    one = at_work(log)
    one.last_output = clock[0]
    clock[0] = 159.0
    assert not one.silent_for(60)
    clock[0] = 160.0
    assert one.silent_for(60)
    assert not one.silent_for(60)
    clock[0] = 219.0
    more(log, b"a word\n")
    one.read_lines()
    clock[0] = 225.0
    assert not one.silent_for(60)
