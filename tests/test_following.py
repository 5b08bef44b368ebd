"""A log that is read while it is written."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from xpusetup.base.errors import UsageError
from xpusetup.run.lock import describe_process, hold_lock, is_held
from xpusetup.system.logs import CHUNK, follow, read_lines, read_log

if TYPE_CHECKING:
    from collections.abc import Callable


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


OURS, BARE, REUSED = "ours", "bare", "reused"


def owner(kind: str) -> str:
    """Give what a lock says: of this process, of a number alone, of an earlier process of this number."""
    number, start, boot = describe_process(os.getpid()).split()
    texts = {OURS: f"{number} {start} {boot}", BARE: number, REUSED: f"{number} {int(start) - 1} {boot}"}
    return texts.get(kind, kind.replace("BOOT", f"{number} {start} {boot[::-1]}x"))


@pytest.mark.parametrize(
    ("kind", "held"),
    [
        ("", False),
        ("x\n", False),
        (OURS, True),
        (BARE, False),
        (REUSED, False),
        ("BOOT", False),
        ("4194305 1 x", False),
    ],
)
def test_whether_a_build_is_at_work(tmp_path: Path, kind: str, held: bool) -> None:
    """The number of a process that ended is given to another one sooner or later."""
    (tmp_path / "lock").write_text(f"{owner(kind):<47}\n")
    assert is_held(tmp_path / "lock") is held
    assert not is_held(tmp_path / "nothing")


def test_who_holds_a_lock_is_in_it_while_it_is_held(tmp_path: Path) -> None:
    with hold_lock(tmp_path / "lock", lambda _text: None):
        assert is_held(tmp_path / "lock")
    assert not is_held(tmp_path / "lock")


def test_lines_of_a_log(tmp_path: Path) -> None:
    (tmp_path / "a.log").write_bytes(b"one\n\xff two\r\n" + b"x" * (CHUNK + 5))
    assert [len(line) for line in read_lines(tmp_path / "a.log")] == [3, 5, CHUNK, 5]
    assert list(read_lines(tmp_path / "none.log")) == []


def test_a_program_is_no_log() -> None:
    with pytest.raises(UsageError, match="is a binary file, not a log"):
        list(read_log(Path(sys.executable).resolve()))


@pytest.mark.parametrize(
    "text",
    [
        b"",
        b"\0" * 9000,
        b"\0" * 9000 + b"ninja: build stopped: subcommand failed.\n",
        b"\x1b]0;make\x07\x1b[31merror\x1b[0m\r\x08\x08\n" * 40,
        "Übersetzung läuft ✓\n".encode() * 40,
        "Übersetzung läuft\n".encode("latin-1") * 40,
        "error: wrong\n".encode("utf-16-le") * 40,
    ],
    ids=["empty", "zeros alone", "zeros of a cut file", "terminal", "utf-8", "latin-1", "utf-16"],
)
def test_what_terminals_and_cut_off_files_hold_is_a_log(text: bytes, tmp_path: Path) -> None:
    (tmp_path / "log").write_bytes(text)
    assert b"".join(read_log(tmp_path / "log")) == text
