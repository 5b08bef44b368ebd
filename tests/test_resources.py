"""How many jobs fit, by processors and by memory."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from data.machines import machine
from xpusetup.machine.jobs import GIB, choose_jobs, memory_limit

if TYPE_CHECKING:
    from xpusetup.machine.facts import Resources


def resources(**values: Any) -> Resources:
    found = machine(resources=values).resources
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("values", "each", "jobs"),
    [
        ({"cpus": 16, "memory": 64 * GIB}, 4.0, 16),
        ({"cpus": 16, "memory": 64 * GIB}, 8.0, 8),
        ({"cpus": 16, "memory": 64 * GIB}, 5.0, 12),
        ({"cpus": 2, "memory": 1024 * GIB}, 4.0, 2),
        ({"cpus": 16, "memory": 3 * GIB}, 4.0, 1),
        ({"cpus": 16, "memory": 0}, 4.0, 1),
        ({"cpus": 16, "memory": 64 * GIB, "memory_limit": 8 * GIB}, 4.0, 2),
        ({"cpus": 16, "memory": 8 * GIB, "memory_limit": 64 * GIB}, 4.0, 2),
        ({"cpus": 16, "memory": 64 * GIB, "cpu_limit": 4.0}, 1.0, 4),
        ({"cpus": 16, "memory": 64 * GIB, "cpu_limit": 2.9}, 1.0, 2),
        ({"cpus": 16, "memory": 64 * GIB, "cpu_limit": 0.5}, 1.0, 1),
        ({"cpus": 4, "memory": 64 * GIB, "cpu_limit": 32.0}, 1.0, 4),
        ({"cpus": 1, "memory": 64 * GIB}, 1.5, 1),
    ],
)
def test_choose_jobs(values: dict[str, Any], each: float, jobs: int) -> None:
    assert choose_jobs(resources(**values), each * GIB) == jobs


@pytest.mark.parametrize(("limit", "wanted"), [(None, 4), (2, 2), (8, 4)])
def test_memory_limit(limit: int | None, wanted: int) -> None:
    given = None if limit is None else limit * GIB
    assert memory_limit(resources(memory=4 * GIB, memory_limit=given)) == wanted * GIB
