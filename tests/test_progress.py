"""The time that is left, and lines of logs in words."""

from __future__ import annotations

import pytest

from xpusetup.base.model import parse_progress
from xpusetup.run.time_left import Pace, describe_line, render_about, render_left


def steady(pace: Pace, *, per_second: float, seconds: int, total: int, began: int = 0) -> None:
    for second in range(began, began + seconds + 1):
        pace.note(second, int(second * per_second), total)


def test_what_is_shown_elsewhere_is_no_line_of_progress() -> None:
    assert [describe_line(line) for line in ("= v2.5.1 | 412 MiB", "note: the tag moved", "==> x")] == ["", "", "==> x"]


def test_what_pip_passes_on_of_ninja_counts_too() -> None:
    assert parse_progress("  [3/8] c++ -c a.cpp") == (3, 8)


def test_nothing_is_said_while_too_little_is_known() -> None:
    pace = Pace()
    assert pace.left(0) is None
    steady(pace, per_second=2, seconds=19, total=200)
    assert pace.left(19) is None  # 20 seconds
    steady(pace, per_second=2, seconds=1, total=200, began=19)
    assert pace.left(20) is not None
    few = Pace()
    steady(few, per_second=0.1, seconds=90, total=50)
    assert few.left(90) is None  # 10 objects
    large = Pace()
    steady(large, per_second=1, seconds=100, total=7561)
    assert large.left(100) is None  # 15 %


def test_a_steady_pace_is_told_right() -> None:
    pace = Pace()
    steady(pace, per_second=2, seconds=300, total=1000)
    assert pace.left(300) == pytest.approx(200, abs=1)
    steady(pace, per_second=2, seconds=100, total=1000, began=300)
    assert pace.left(400) == pytest.approx(100, abs=2)


def test_a_stall_does_not_end_in_nothing_or_forever() -> None:
    pace = Pace()
    steady(pace, per_second=2, seconds=300, total=1000)
    before = pace.left(300)
    stalled = pace.left(900)
    assert before is not None
    assert stalled is not None
    assert before < stalled < 10 * 900


def test_another_total_begins_anew() -> None:
    pace = Pace()
    steady(pace, per_second=2, seconds=300, total=1000)
    pace.note(301, 1, 40)
    assert pace.left(301) is None
    steady(pace, per_second=1, seconds=30, total=40, began=301)
    pace.note(400, 0, 40)
    assert pace.left(400) is None


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (3, "about 10 s"),
        (44, "about 40 s"),
        (61, "about 1 min"),
        (41 * 60, "about 41 min"),
        (60 * 60, "about 1 h"),
        (9612, "about 2 h 40 min"),
        (7199, "about 2 h"),
    ],
)
def test_about(seconds: float, text: str) -> None:
    assert render_about(seconds) == text
    assert render_left(seconds) == (f"{text} left" if seconds >= 60 else "under a minute left")


@pytest.mark.parametrize(
    ("line", "text"),
    [
        (
            "[4121/7561] Building SYCL object src/ATen/CMakeFiles/x.dir/sycl/BinaryMiscBackwardOpsKernels.cpp.o",
            "Building SYCL object BinaryMiscBackwardOpsKernels.cpp.o",
        ),
        (
            "[1/5] g++ -MMD -MF /r/build/x/device.o.d -c -c /r/src/device.cpp -o /r/build/x/device.o -O2 -fPIC",
            "Compiling device.o",
        ),
        ("g++ -shared -Wl,-O1 /r/build/a.o /r/build/b.o -L/r/lib -o build/lib/simxpu/_C.so", "Linking _C.so"),
        ("+ /r/venv/bin/python /r/helpers/fetch_source.py --repo x", "+ python fetch_source.py --repo x"),
        ("Receiving objects:  45% (123/456)\rReceiving objects:  46% (124/456)", "Receiving objects: 46% (124/456)"),
        (
            "Looking in links: https://download.pytorch.org/whl/cpu",
            "Looking in links: https://download.pytorch.org/whl/cpu",
        ),
        (
            "[7561/7561] Linking CXX shared library lib/libtorch_xpu.so",
            "Linking CXX shared library lib/libtorch_xpu.so",
        ),
        ("creating /", "creating /"),
        ("", ""),
    ],
)
def test_lines_in_words(line: str, text: str) -> None:
    assert describe_line(line) == text


SEEN = (
    *(
        (9, 2),
        (24, 19),
        (48, 44),
        (71, 85),
        (89, 101),
        (107, 109),
        (133, 125),
        (177, 141),
        (244, 157),
        (307, 163),
        (370, 164),
        (492, 166),
    ),
    *((558, 169), (691, 170), (786, 172), (872, 174), (946, 176), (1025, 179), (1096, 180), (1171, 182), (1236, 186)),
    *((1268, 194), (1313, 202), (1347, 210), (1411, 217), (1455, 225), (1532, 232), (1595, 237), (1662, 244)),
    *((1725, 248), (1793, 253), (1876, 260), (1931, 268), (2011, 274)),
)
"""Seconds and edges at the beginning of PyTorch 2.6 on a busy machine: small files, then some of a minute each."""


def test_of_small_files_at_the_beginning_nothing_is_foretold() -> None:
    pace, total = Pace(), 1368
    told = []
    for time, count in SEEN:
        pace.note(time, count, total)
        told.append(pace.left(time))
    end = 2011 + 7.5 * (total - 274)
    known = [(left, end - time) for (time, _count), left in zip(SEEN, told, strict=True) if left is not None]
    assert next(time for (time, _count), left in zip(SEEN, told, strict=True) if left is not None) > 1300
    assert all(0.75 < left / truth < 1.25 for left, truth in known)
