"""The journal: how an attempt ended, and what one took that was killed together with the program."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Any

import pytest

from xpusetup.base.model import Step
from xpusetup.run.journal import read_progress, write_began
from xpusetup.run.root import Root

if TYPE_CHECKING:
    from pathlib import Path

COMPILE = Step(id="torch.build", title="t", run=(("true",),), needs=("compiler",))
LOG = "+ python setup.py\n[1/100] one\n[39/100] two\n[40/100] three\nwarning: [x]\n[41/10"


@pytest.fixture
def root(tmp_path: Path) -> Root:
    (tmp_path / "logs").mkdir()
    return Root(tmp_path)


def records(root: Root) -> list[dict[str, Any]]:
    text = (root / "journal.jsonl").read_text() if (root / "journal.jsonl").exists() else ""
    return [json.loads(line) for line in text.splitlines()]


def test_a_killed_compile_is_written_down_when_the_next_begins(root: Root) -> None:
    write_began(root, COMPILE, "key one")
    log = root.log(COMPILE.id)
    log.write_text(LOG)
    until = records(root)[0]["time"] + 500
    os.utime(log, (until, until))
    write_began(root, COMPILE, "key two")
    began, cut, again = records(root)
    assert [began["state"], cut["state"], again["state"]] == ["began", "cut", "began"]
    assert (cut["key"], cut["seconds"], cut["edges"]) == ("key one", 500, 100)
    assert again["key"] == "key two"


def test_a_compile_that_ended_is_no_killed_one(root: Root) -> None:
    write_began(root, COMPILE, "k")
    root.log(COMPILE.id).write_text(LOG)
    with (root / "journal.jsonl").open("a") as stream:
        stream.write(
            '{"step": "torch.build", "state": "failed", "time": 1, "seconds": 1}\n'
            '{"step": "other", "state": "began", "time": 1, "seconds": 0}\n{"step": "torch.b'
        )
        stream.write("\n")
    write_began(root, COMPILE, "k")
    lines = (root / "journal.jsonl").read_text().splitlines()
    assert '"cut"' not in "".join(lines)
    assert json.loads(lines[-1])["state"] == "began"


def test_one_that_was_killed_at_once_took_nothing(root: Root) -> None:
    for _ in range(2):
        write_began(root, COMPILE, "k")
    root.log(COMPILE.id).write_text(LOG)
    os.utime(root.log(COMPILE.id), (5, 5))  # what an earlier attempt had said
    write_began(root, COMPILE, "k")
    assert [(record["state"], record["seconds"], record["edges"]) for record in records(root)[1::2]] == [
        ("cut", 0, 0)
    ] * 2


def test_only_compiles_are_followed(root: Root) -> None:
    write_began(root, Step(id="venv", title="t", run=(("true",),)), "k")
    assert records(root) == []


def test_progress_is_looked_for_at_the_end_of_a_log(tmp_path: Path) -> None:
    (tmp_path / "log").write_text(LOG)
    assert read_progress(tmp_path / "log") == (40, 100)
    (tmp_path / "log").write_text("nothing\n")
    assert read_progress(tmp_path / "log") == (0, 0)
