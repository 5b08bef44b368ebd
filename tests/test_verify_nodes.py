"""What a job over several nodes says of its ranks: which one failed, what others lost by it, where they ran."""

from __future__ import annotations

import importlib
import json
from typing import Any

import pytest

nodes: Any = importlib.import_module("verify_nodes")
collectives: Any = importlib.import_module("helperlib.checks.collectives")

ORDER = {"start": 300, "each": 60}
STACK = """Timeout (0:01:00)!
Thread 0x00007f0000000002 (most recent call first):
  File "/env/site-packages/torch/distributed/distributed_c10d.py", line 3245 in all_reduce
  File "/root/helpers/collective_rank.py", line 56 in check_all_reduce
"""
AT = "distributed/distributed_c10d.py:3245 all_reduce, helpers/collective_rank.py:56 check_all_reduce"
DONE = {"done": "all_reduce", "level": "ok", "seen": "exact", "time": 12.0}
WRONG = {**DONE, "level": "fail", "seen": "wrong in bfloat16"}
END = {"done": "end", "level": "ok", "seen": "", "time": 13.0}
STARTED = {"start": "all_reduce", "time": 11.0}


def told(node: str, *events: dict[str, Any], stacks: str = "") -> Any:
    begun = {"start": "start", "node": node, "backend": "gloo", "time": 10.0}
    return collectives.read_rank("".join(json.dumps(event) + "\n" for event in (begun, *events)), stacks)


def failed(text: str, when: float) -> dict[str, Any]:
    return {"error": f"RuntimeError: {text}", "time": when}


def judge(*ranks: Any, on: int = 2, log: str = "") -> list[tuple[str, str, str, str | None]]:
    job = nodes.Job(len(ranks), on)
    return [(one.title, one.level, one.seen, one.caused_by) for one in nodes.judge_job(list(ranks), ORDER, job, log)]


def test_all_is_well() -> None:
    assert judge(told("a", DONE, END), told("b", DONE, END)) == [
        ("rank 0 on a", "ok", "over gloo: all_reduce (exact)", None),
        ("rank 1 on b", "ok", "over gloo: all_reduce (exact)", None),
        ("nodes compute together", "ok", "2 ranks on 2 nodes: a, b", None),
    ]


def test_ranks_that_all_ran_on_one_node_prove_nothing_of_two() -> None:
    assert judge(told("a", DONE, END), told("a", DONE, END))[-1][1:3] == ("fail", "all ranks ran on a")


DIED = "its process ended at all_reduce without a word"


@pytest.mark.parametrize(
    ("ranks", "first", "levels", "seen", "follows"),
    [
        ([told("a", DONE, END), told("b", WRONG, END)], 1, "ok fail", "all_reduce: wrong in bfloat16", []),
        ([told("a", STARTED, failed("closed by peer", 14.0)), told("b", STARTED)], 1, "fail crash", DIED, [0]),
        (
            [told("a", STARTED, failed("device lost", 12.0)), told("b", STARTED, failed("closed by peer", 12.5))],
            0,
            "fail fail",
            "all_reduce: RuntimeError: device lost",
            [1],
        ),
        (
            [told("a", STARTED, failed("device lost", 12.0)), told("b", STARTED, stacks=STACK)],
            0,
            "fail crash",
            "all_reduce: RuntimeError: device lost",
            [1],
        ),
        (
            [told("a", STARTED, failed("closed by peer", 90.0)), told("b", STARTED, stacks=STACK)],
            1,
            "fail crash",
            f"no answer within 60 s at all_reduce, {AT}",
            [0],
        ),
        (
            [
                told("a", STARTED, failed("closed", 9.0)),
                told("b", STARTED, stacks=STACK.replace("Timeout", "Fatal Python error: Aborted\n\nTimeout")),
            ],
            1,
            "fail fail",
            f"all_reduce: Aborted, {AT}",
            [0],
        ),
        ([told("a", stacks=STACK), collectives.read_rank("", "")], 1, "crash fail", "never began", [0]),
    ],
    ids=["wrong", "died", "first error", "hang after an error", "error after a hang", "signal", "never began"],
)
def test_the_rank_to_blame(ranks: list[Any], first: int, levels: str, seen: str, follows: list[int]) -> None:
    *rows, both = judge(*ranks)
    assert " ".join(row[1] for row in rows) == levels
    assert rows[first][2:] == (seen, None)
    assert [at for at, row in enumerate(rows) if row[3] == f"collectives.rank_{first}"] == follows
    assert both[1:] == ("fail", f"{rows[first][0]}: {seen}", f"collectives.rank_{first}")


def test_of_ranks_that_all_hang_none_is_to_blame() -> None:
    rows = judge(told("a", STARTED, stacks=STACK), told("b", STARTED, stacks=STACK))
    assert [row[3] for row in rows[:2]] == [None, None]


def test_where_no_rank_began_srun_says_why() -> None:
    never = collectives.read_rank("", "")
    log = "srun: error: n2: task 1: Exited with exit code 127\nsrun: error: no such file\n"
    assert judge(never, never, log=log)[-1][2] == "rank 0: never began; srun: error: no such file"


def test_outside_of_a_job(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    for name in ("SLURM_NTASKS", "SLURM_JOB_NUM_NODES"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr("sys.argv", ["verify_nodes.py", "--device", "cpu", "--shared", "/", "--out", "/no/such"])
    assert nodes.main() == nodes.NOT_READY
    assert "sbatch nodes.sbatch" in capsys.readouterr().err
