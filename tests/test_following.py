"""A log that is read while it is written."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from xpusetup.effects.following import follow
from xpusetup.effects.lock import is_held

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path


class Writer:
    """Does the next thing to a log each time that its reader sleeps."""

    def __init__(self, *acts: Callable[[], object]) -> None:
        self.acts = list(acts)

    def sleep(self, _seconds: float) -> None:
        self.acts.pop(0)()

    def goes_on(self) -> bool:
        return bool(self.acts)


def read(path: Path, writer: Writer, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setattr("time.sleep", writer.sleep)
    return "".join(follow(path, writer.goes_on))


def append(path: Path, text: str) -> Callable[[], object]:
    def act() -> None:
        with path.open("a") as stream:
            stream.write(text)

    return act


def test_what_comes_is_read_to_the_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "a.log"
    path.write_text("one\n")
    assert read(path, Writer(append(path, "two\n"), append(path, "three\n")), monkeypatch) == "one\ntwo\nthree\n"


def test_a_log_that_ended_is_read_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "a.log"
    path.write_bytes(b"one \xff\n")
    assert read(path, Writer(), monkeypatch) == "one \N{REPLACEMENT CHARACTER}\n"


def test_a_log_that_is_begun_anew_is_read_too(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As where a step is tried again with fewer jobs: the old log is put aside."""
    path = tmp_path / "a.log"
    path.write_text("one\n")

    def again() -> None:
        append(path, "its last words\n")()
        path.replace(tmp_path / "a.log.4-jobs")

    writer = Writer(again, append(path, "anew\n"), lambda: None)
    assert read(path, writer, monkeypatch) == "one\nits last words\nanew\n"


@pytest.mark.parametrize(("text", "held"), [("", False), ("x\n", False), ("OURS\n", True)])
def test_whether_a_build_is_at_work(tmp_path: Path, text: str, held: bool) -> None:
    (tmp_path / "lock").write_text(text.replace("OURS", str(os.getpid())))
    assert is_held(tmp_path / "lock") is held
    assert not is_held(tmp_path / "nothing")
