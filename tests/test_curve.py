"""How a compile went the last time, and what it tells of this one."""

from __future__ import annotations

import random
from itertools import accumulate

import pytest

from xpusetup.run.time_left import PARTS, Course, Curve, Passes, parse_curve

TOTAL = 1400
TAIL = 90.0
"""Seconds that follow the last object: what packs a wheel."""


def durations(seed: int, *, speed: float = 1.0, noise: float = 0.0) -> list[float]:
    """Give what each object of a build takes: small ones first, some very large ones, a slow end."""
    shape, chance = random.Random(5), random.Random(seed)  # noqa: S311 - not a secret
    usual = [shape.choice([0.5, 1, 1, 2, 3]) * (1 + 3 * number / TOTAL) for number in range(TOTAL)]
    large = [150.0 if number in {700, 701, 1300} else 0.0 for number in range(TOTAL)]
    each = zip(usual, large, strict=True)
    return [speed * (one + more) * (1 + noise * chance.uniform(-1, 1)) for one, more in each]


def course(times: list[float], *, total: int = 0) -> Course:
    seen, total = Course(), total or len(times)
    for count, time in enumerate(times, start=1):
        seen.note(time, count, total)
    return seen


def curve(times: list[float]) -> Curve:
    seen = course(times)
    return Curve(seen.total, seen.marks, times[-1] + TAIL)


FIRST = curve(list(accumulate(durations(1))))


@pytest.mark.parametrize(("speed", "noise"), [(1.0, 0.0), (1.0, 0.3), (1.6, 0.3), (0.5, 0.1)])
def test_a_repeated_build_is_known_within_15_percent_once_20_are_done(speed: float, noise: float) -> None:
    times = list(accumulate(durations(2, speed=speed, noise=noise)))
    whole = times[-1] + TAIL * speed
    for count, time in enumerate(times, start=1):
        if 0.2 * whole <= time:
            assert abs(time + FIRST.left(time, count, TOTAL) - whole) <= 0.15 * whole, (count, time)


def test_its_own_pace_alone_would_be_wrong() -> None:
    """What the curve is for: at a fifth of the objects an even pace is off by a third."""
    times = list(accumulate(durations(1)))
    fifth, whole = TOTAL // 5, times[-1] + TAIL
    assert abs(times[fifth - 1] * 5 - whole) > 0.33 * whole
    assert abs(times[fifth - 1] + FIRST.left(times[fifth - 1], fifth, TOTAL) - whole) < 0.01 * whole


def test_before_the_first_object_the_last_time_counts() -> None:
    assert FIRST.left(0.0, 0, 0) == FIRST.seconds
    assert FIRST.left(10.0, 0, TOTAL) == FIRST.seconds - 10


def test_a_build_that_goes_on_has_the_rest_of_the_curve() -> None:
    """Killed at half of the objects: ninja counts what is left, from one."""
    each = durations(1)
    rest = list(accumulate(each[TOTAL // 2 :]))
    whole = rest[-1] + TAIL
    assert FIRST.left(0.0, 0, len(rest)) == pytest.approx(whole, rel=0.02)
    assert rest[100] + FIRST.left(rest[100], 101, len(rest)) == pytest.approx(whole, rel=0.1)


def test_what_is_slower_than_ever_is_never_less_than_nothing() -> None:
    assert FIRST.left(10 * FIRST.seconds, TOTAL, TOTAL) >= 0
    assert FIRST.left(1e9, 0, 0) == 0


def test_a_course_is_that_of_all_pieces_of_work() -> None:
    seen = Course()
    for time, count, total in [(1, 1, 2), (2, 2, 2), (10, 1, 5), (20, 2, 5), (30, 3, 4), (40, 4, 4), (41, 1, 1)]:
        seen.note(time, count, total)
    assert (seen.total, seen.passes) == (7, (2, 4, 1))  # ninja found out that it had one command less to run
    assert (seen.marks[0], seen.marks[-1]) == (1.0, 41.0)
    assert course([1.0, 2.0], total=2).passes == ()


FILES, MORE = 26, 17
"""The commands of the two extensions of torchvision, which ninja builds one after the other."""


def vision(speed: float) -> list[tuple[float, int, int]]:
    """Give time, count and total of a build in which the first extension has the large files."""
    first = [10.0 + 4 * (number % 5) for number in range(FILES)]
    rest = [3.0 + number % 3 for number in range(MORE)]
    times = list(accumulate(each * speed for each in (*first, *rest)))
    return [
        *((time, number, FILES) for number, time in enumerate(times[:FILES], start=1)),
        *((time, number, MORE) for number, time in enumerate(times[FILES:], start=1)),
    ]


@pytest.mark.parametrize("speed", [1.0, 1.7, 0.6])
def test_two_extensions_are_one_build(speed: float) -> None:
    before, now, passes = Course(), vision(speed), Passes()
    for time, count, total in vision(1.0):
        before.note(time, count, total)
    known = Curve(before.total, before.marks, before.marks[-1], before.passes)
    whole = now[-1][0]
    for time, count, total in now:
        passes.note(count, total)
        left = known.left(time, passes.done, known.expect(passes.totals))
        if time >= 0.2 * whole:
            assert abs(time + left - whole) <= 0.15 * whole, (count, total)


def test_two_extensions_of_which_a_part_is_done() -> None:
    """Killed when half of the first was done: ninja counts the rest of it, and the second as ever."""
    seen = Course()
    for time, count, total in vision(1.0):
        seen.note(time, count, total)
    known = Curve(seen.total, seen.marks, seen.marks[-1], seen.passes)
    assert known.expect([FILES // 2]) == FILES // 2 + MORE
    half = vision(1.0)[FILES // 2 - 1][0]
    assert known.left(0.0, 0, known.expect([FILES // 2])) == pytest.approx(known.seconds - half, rel=0.02)


def test_a_count_that_begins_again_is_another_try() -> None:
    seen = Course()
    for time, count in [(5, 1), (9, 3), (20, 1), (22, 2), (24, 3), (26, 4)]:
        seen.note(time, count, 4)
    assert (seen.marks[0], seen.marks[-1]) == (20.0, 26.0)


def test_what_did_not_come_to_its_end_has_no_marks() -> None:
    seen = course([1.0, 2.0, 3.0], total=9)
    assert (seen.total, seen.marks) == (0, ())
    assert (Course().total, Course().marks) == (0, ())


def test_curves_are_read_back() -> None:
    parted = Curve(FIRST.total, FIRST.marks, FIRST.seconds, (FIRST.total - 5, 5))
    assert parse_curve(parted.total, list(parted.marks), parted.seconds, list(parted.passes)) == parted
    assert parse_curve(FIRST.total, list(FIRST.marks), FIRST.seconds, [1, 2]) == FIRST
    assert parse_curve(FIRST.total, list(FIRST.marks), FIRST.seconds) == FIRST


@pytest.mark.parametrize(
    ("total", "marks", "seconds"),
    [
        (0, [1.0] * (PARTS + 1), 5.0),
        (4, [], 5.0),
        (4, [1.0] * PARTS, 5.0),
        (4, [2.0, *[1.0] * PARTS], 5.0),
        (4, [0.0] * (PARTS + 1), 5.0),
        (4, ["a"] * (PARTS + 1), 5.0),
        (4, None, 5.0),
        (None, [1.0] * (PARTS + 1), 5.0),
    ],
)
def test_no_curve(total: object, marks: object, seconds: object) -> None:
    assert parse_curve(total, marks, seconds) is None
