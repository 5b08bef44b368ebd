"""What is read from the log of a step at work."""

from __future__ import annotations

from dataclasses import replace
from io import BytesIO
from typing import TYPE_CHECKING, Any, cast

import pytest

from xpusetup.base.model import Step
from xpusetup.commands.explain import GoingOn, describe_failure, lacked_memory
from xpusetup.commands.tuning import NOT_FOR_MEMORY, make_fewer
from xpusetup.run.root import Root
from xpusetup.run.step_process import Running

if TYPE_CHECKING:
    from pathlib import Path

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


KILLED = "c++: fatal error: Killed signal terminated program cc1plus\n"
EXHAUSTED = "virtual memory exhausted: Cannot allocate memory\n"


@pytest.mark.parametrize(
    ("said", "kills", "peak", "jobs"),
    [
        (KILLED, 3, 10, 0),  # the kernel counts none since: somebody else
        (KILLED, 2, 10, 4),  # it counts one
        (KILLED, None, 10, 4),  # it does not count
        (KILLED, 3, 90, 4),  # what earlyoom does where the memory is nearly used up
        (EXHAUSTED, 3, 10, 4),  # refused, and nobody was killed
        ("error: no such thing\n", 3, 10, 0),
    ],
)
def test_a_kill_is_for_memory_where_the_kernel_counts_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, said: str, kills: int | None, peak: int, jobs: int
) -> None:
    monkeypatch.setattr("xpusetup.run.step_process.read_kills", lambda: 3)
    root = Root(tmp_path)
    log = root.log(STEP.id)
    log.parent.mkdir()
    log.write_text(said)
    one = replace(at_work(BytesIO()), jobs=8, mem_total=100, mem_peak=peak, kills_before=kills)
    one.step = replace(STEP, needs=("compiler",))
    assert make_fewer(root)(one) == jobs
    assert log.read_text() == (f"{said}{NOT_FOR_MEMORY}\n" if said == KILLED and not jobs else said)
    assert lacked_memory(log) == (jobs > 0)


def test_a_log_that_is_gone_tells_of_no_memory(tmp_path: Path) -> None:
    """As where its root is moved away while the step ends: that was told as a file that the user named."""
    one = replace(at_work(BytesIO()), jobs=8, mem_total=100, mem_peak=10, kills_before=None)
    one.step = replace(STEP, needs=("compiler",))
    assert make_fewer(Root(tmp_path))(one) == 0
    assert describe_failure(Root(tmp_path), STEP.id, GoingOn("again", [0, 0], 1.0)).last_lines == []
