"""Failures that people posted, with what their threads settled on; logs of what went well that hold such words."""

from __future__ import annotations

import time
import tracemalloc
from typing import TYPE_CHECKING, Any

import pytest

from logs import HERE, explained, ids
from xpusetup.base.values import parse_toml
from xpusetup.explain.explanation import LogLine, explain, fill_commands
from xpusetup.explain.place import find_system

if TYPE_CHECKING:
    from collections.abc import Iterator

    from xpusetup.explain.explanation import Explanation


def _table(name: str, kind: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = parse_toml((HERE / name).read_text(encoding="utf-8"))[kind]
    return found


THREADS = _table("threads.toml", "thread")
TUNED = [thread for thread in THREADS if not thread.get("held_out")]
HELD_OUT = [thread for thread in THREADS if thread.get("held_out")]
GOOD = _table("good.toml", "good")
SHOWN = 14
"""Good logs of which a line is shown as one that may tell of an error."""


def shown(found: Explanation) -> str:
    """Give the line that the screen shows."""
    if found.causes:
        return found.causes[0].text
    return found.first_error.text if found.first_error else ""


def is_right(thread: dict[str, Any]) -> bool:
    first = ids(explained(thread["log"].strip("\n")))[:1]
    return bool(set(first) & set(thread["ids"])) or (not first and not thread["ids"])


@pytest.mark.parametrize("thread", TUNED, ids=lambda thread: thread["source"][19:])
def test_a_thread_that_was_tuned_to(thread: dict[str, Any]) -> None:
    found = explained(thread["log"].strip("\n"))
    assert is_right(thread), found.causes
    assert shown(found)


def test_lines_of_threads() -> None:
    """The line is the one that the thread says; one has two that say the same."""
    hits = [thread["line"] in shown(explained(thread["log"].strip("\n"))) for thread in TUNED]
    assert sum(hits) >= len(hits) - 1


def test_threads_that_were_held_out() -> None:
    """What docs/measured.md claims of them; they are no place to tune to."""
    hits = [thread["line"] in shown(explained(thread["log"].strip("\n"))) for thread in HELD_OUT]
    assert sum(hits) / len(hits) >= 0.92
    assert sum(map(is_right, HELD_OUT)) / len(HELD_OUT) >= 0.9


def test_there_are_enough_of_them() -> None:
    assert len(THREADS) >= 60
    assert len(HELD_OUT) * 2 >= len(THREADS) - 5
    assert all(thread["line"] in thread["log"] for thread in THREADS)
    assert len(GOOD) >= 287


def test_a_good_log_has_no_cause() -> None:
    """In a few a line may tell of an error, and nothing in the log tells that it ended well."""
    found = {good["what"]: explained(good["log"].strip("\n")) for good in GOOD}
    assert {what: ids(each) for what, each in found.items() if each.causes} == {}
    shown = [what for what, each in found.items() if each.first_error and not each.ended]
    assert len(shown) <= SHOWN, shown


@pytest.mark.parametrize(
    "prefix",
    [
        "[rank3]: ",
        "(EngineCore_DP0 pid=469) ERROR 03-11 17:57:10 [core.py:708] ",
        "(RayWorkerWrapper pid=2593, ip=10.0.0.1) ",
        "(raylet) ",
        "2026-03-30 10:11:41.493 | ERROR    | app.workers:run_loop:210 - ",
        "2024-10-14 16:20:23,265 - root - ERROR - ",
        "ERROR:root:",
        "Nov 22 10:00:00 node7 vllm[8052]: (APIServer pid=8052) ",
        "0: ",
        "[1,0]<stderr>:",
        "E0429 14:06:39.173000 226224 site-packages/torch/x.py:773] ",
        "app-1  | ",
    ],
)
def test_what_launchers_and_loggers_put_before_lines(prefix: str) -> None:
    said = "torch.OutOfMemoryError: XPU out of memory. Tried to allocate 2.00 GiB"
    found = explained(f"a\n{prefix}{said}\nb\n")
    assert ids(found) == ["rt.oom"]
    assert said in found.causes[0].text
    unknown = explained(f"a\n{prefix}ValueError: no such thing\nb\n")
    assert unknown.first_error
    assert (unknown.first_error.line, unknown.first_error.sure) == (2, True)


def test_the_line_is_what_was_raised_not_where() -> None:
    """A traceback that begins within a frame, as people cut it."""
    said = "AssertionError: Torch not compiled with CUDA enabled"
    found = explained('[rank0]:     raise AssertionError("Torch not compiled with CUDA enabled")\n[rank0]: ' + said)
    assert [cause.text for cause in found.causes] == [f"[rank0]: {said}"]


def test_a_reader_that_had_enough_is_no_error() -> None:
    """A wrapper of a compiler, asked for its version by one who reads a line of it."""
    pipe = "/opt/bin/icpx: line 12: echo: write error: Broken pipe"
    told = "Not compiling with XPU. The host compiler on Linux must be GCC"
    assert ids(explained(f"{pipe}\n-- x\n{told}\n")) == ["configure.wrong_host_cxx"]


def test_the_rank_is_shown() -> None:
    assert explained("[rank3]: ValueError: x\n").first_error.text == "[rank3]: ValueError: x"  # type: ignore[union-attr]


def test_the_first_by_time_not_by_place() -> None:
    """Logs of ranks one after another: the reporter's stands first, and was later."""
    reporter = "[rank0]: 2026-11-22 10:00:09 RuntimeError: rank 1 said nothing"
    first = "[rank1]: 2026-11-22 10:00:03 KeyError: 'weights'"
    found = explained(f"{reporter}\n{first}\n").first_error
    assert found
    assert found.line == 2


def test_who_only_reports_comes_last() -> None:
    log = (
        "[rank0]: RuntimeError: Connection closed by peer\n"
        "[rank1]: RuntimeError: level_zero backend failed with error: 20 (UR_RESULT_ERROR_DEVICE_LOST)\n"
    )
    assert ids(explained(log))[:1] == ["rt.device_lost"]
    assert "dist.peer" not in ids(explained(log))


def test_nothing_known_shows_the_best_line_and_the_last() -> None:
    found = explained("start\nthe flux capacitor could not be charged\nbye\n")
    assert found.first_error
    assert (found.first_error.line, found.first_error.sure) == (2, False)
    assert found.describe().last == [
        LogLine(1, "start"),
        LogLine(2, "the flux capacitor could not be charged"),
        LogLine(3, "bye"),
    ]
    assert explained("a\nb\n").describe().last[-1] == LogLine(2, "b")


@pytest.mark.parametrize(
    ("log", "command"),
    [
        ("E: Unable to locate package level-zero-dev", "apt-cache policy level-zero-dev"),
        ("Error: Unable to find a match: level-zero", "dnf search level-zero"),
        ("E: Unable to locate package x;reboot", "apt-cache policy 'x;reboot'"),
        ("E: Unable to locate package --allow", "apt-cache policy PACKAGE"),
        ("==> ERROR: Missing 6.2.6-zen1 kernel headers for module i915/1", "sudo pacman -Syu linux-headers"),
    ],
)
def test_commands_are_for_this_system_and_safe_to_paste(log: str, command: str) -> None:
    commands = explained(log).describe().causes[0].commands
    assert command in commands


def test_what_a_log_does_not_name_stays_to_be_filled_in() -> None:
    assert fill_commands(["a <x>", "b <y>"], {"y": "z"}) == ["a X", "b z"]


def test_the_machine_counts_where_the_log_tells_nothing() -> None:
    assert find_system(["nothing"], ("ubuntu", "debian")) == "debian"
    assert find_system([r"Error loading C:\torch\x.dll"], ("debian",)) == "windows"
    assert find_system(["nothing"]) is None


def _errors(count: int, kind: str) -> Iterator[bytes]:
    for number in range(count):
        word = f"{number * 2654435761 % 4294967296:08x}".translate(str.maketrans("0123456789", "ghijklmnop"))
        yield (b"x.cpp:1:2: error: no y\n" if kind == "same" else f"x.cpp:1:2: error: no {word}\n".encode())


def _cost(count: int, kind: str) -> float:
    data = b"".join(_errors(count, kind))
    before = time.process_time()
    explained(data)
    return time.process_time() - before


@pytest.mark.parametrize("kind", ["same", "different"])
def test_twice_the_errors_cost_twice_the_time(kind: str) -> None:
    """400,000 and 200,000 behave as these do; the first thousands, which are judged, are in both.

    What else the machine does can only make a run dearer, and what is not linear costs four times as much each time.
    """
    assert any(_cost(40_000, kind) <= _cost(20_000, kind) * 2.2 for _ in range(5))


@pytest.mark.parametrize(
    ("unit", "times"),
    [(b"\0" * 65_536, 400), (b"x" * 65_536, 400), (b"error " * 11_000, 10)],
    ids=["nul", "one line", "errors"],
)
def test_a_line_without_end_takes_little_memory(unit: bytes, times: int) -> None:
    tracemalloc.start()
    try:
        found = explain((unit for _ in range(times)), ())
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert found.lines == 1
    assert peak < 8_000_000
