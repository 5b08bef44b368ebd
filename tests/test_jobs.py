"""What a compile job needs, by what was measured, and when a build stands still."""

from __future__ import annotations

import pytest

from xpusetup.machine.jobs import GIB, StepLoad, Strain, fewer_jobs, measured_per_job


@pytest.mark.parametrize(
    ("growth", "heaviest", "gib"),
    [
        (8 * GIB, 3 * GIB, 2.0),  # eight in four jobs
        (40 * GIB, 3 * GIB, 3.0),  # something else grew beside it: no job took more than the largest process
        (0, 4 * GIB, 1.0),  # something else ended beside it
    ],
)
def test_what_a_job_needs(growth: int, heaviest: int, gib: float) -> None:
    assert StepLoad(jobs=4, growth=growth, heaviest=heaviest).bytes_per_job == gib * GIB


def test_the_most_demanding_step_counts_and_a_guess_where_nothing_was_measured() -> None:
    loads = [StepLoad(jobs=2, growth=GIB, heaviest=GIB), StepLoad(jobs=2, growth=6 * GIB, heaviest=5 * GIB)]
    assert measured_per_job(loads, 1.0) == 3 * GIB
    assert measured_per_job([], 4.0 * GIB) == 4 * GIB
    assert measured_per_job([StepLoad(jobs=2, growth=5, heaviest=0)], 7.0) == 7.0


def test_halves_down_to_one_and_no_further() -> None:
    tried = [14]
    while jobs := fewer_jobs(tried[-1]):
        tried.append(jobs)
    assert tried == [14, 7, 3, 1]


def looks(strain: Strain, *seen: tuple[float, int, float]) -> list[bool]:
    return [strain.lasts(count=count, pressure=pressure, time=time) for time, count, pressure in seen]


def test_pressure_without_a_new_result_is_a_stall() -> None:
    looked = looks(Strain(patience=60), (0, 5, 0), (10, 5, 40), (50, 5, 40), (70, 5, 40), (71, 5, 40))
    assert looked == [False, False, False, True, True]


def test_a_new_result_or_a_moment_without_pressure_begins_anew() -> None:
    assert not any(looks(Strain(patience=60), (0, 5, 40), (50, 6, 40), (100, 6, 10), (150, 6, 40), (159, 6, 40)))
