"""What a log's own commands have set is not advised again."""

from __future__ import annotations

import pytest

from xpusetup.explain.already import leave_out_set
from xpusetup.explain.evidence import Lines

SERVED = "$ vllm serve m --enforce-eager --max-model-len 4096 -tp 2"


def left(command: str, *texts: str) -> list[str]:
    lines = Lines((*texts, "RuntimeError"), tuple(range(1, len(texts) + 2)))
    return leave_out_set([command], lines, len(texts) + 1)


@pytest.mark.parametrize("told", ["A_B=1 run", "export A_B=1", "docker run -e A_B=1 i", "  - A_B=1", "  A_B: '1'"])
def test_a_variable_that_is_set_is_left_out(told: str) -> None:
    assert left("export A_B=1", told) == []


@pytest.mark.parametrize("told", ["A_B=10", "A_B=0", "X_A_B=1", "echo $A_B"])
def test_another_value_or_name_is_none(told: str) -> None:
    assert left("export A_B=1", told) == ["export A_B=1"]


def test_one_of_two_variables_is_not_both() -> None:
    assert left("export A=1 B=2", "A=1") == ["export A=1 B=2"]


def test_what_stands_below_the_line_was_not_set_before() -> None:
    assert leave_out_set(["export A=1"], Lines(("boom", "export A=1"), (1, 2)), 1) == ["export A=1"]


@pytest.mark.parametrize(
    ("command", "expected"),
    [
        ("vllm serve MODEL --enforce-eager", []),
        ("vllm serve MODEL --enforce-eager -tp 1", ["vllm serve MODEL -tp 1"]),
        ("vllm serve MODEL --max-model-len 8192 --dtype half", ["vllm serve MODEL --dtype half"]),
        ("vllm serve MODEL --max-model-len 2048", ["vllm serve MODEL --max-model-len 2048"]),
        ("docker run --enforce-eager IMAGE", ["docker run --enforce-eager IMAGE"]),
    ],
)
def test_options_that_were_given_are_left_out(command: str, expected: list[str]) -> None:
    assert left(command, SERVED) == expected


def test_options_go_on_in_the_next_line() -> None:
    assert left("llama-server -m MODEL -c 8192", "llama-server -m a.gguf \\", "  -c 4096") == []
