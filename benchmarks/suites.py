"""The row suites: what running a suite shard by shard costs beside pytest-xdist called for each of its folders."""

from __future__ import annotations

import json
import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.rows import Row, make_row
from benchmarks.timing import Command, take_turns

if TYPE_CHECKING:
    from collections.abc import Mapping

ROUNDS = 5
GOAL = 1.03
FOLDERS, TESTS, SECONDS, WORKERS = ("a", "b"), 300, 0.03, 2
RUNNER = Path(__file__).parents[1] / "xpusetup/helpers/run_suite.py"
TEXT = f"""
import time
import pytest

@pytest.mark.parametrize("number", range({TESTS}))
def test_sleeps(number):
    time.sleep({SECONDS})
"""


def measure_suites(folder: Path, env: Mapping[str, str]) -> list[Row]:
    """Run the same tests both ways, in turns; everything that has ended is run again each time."""
    tree, out = folder / "tree", folder / "out"
    for name in FOLDERS:
        (tree / "tests" / name).mkdir(parents=True)
        (tree / "tests" / name / f"test_{name}.py").write_text(TEXT)
    out.mkdir()
    order = {"suite": "x", "device": "cpu", "source": str(tree), "folder": str(out), "places": ["tests"]}
    (out / "order.json").write_text(json.dumps({**order, "workers": WORKERS, "again": True}))
    ours = Command((sys.executable, str(RUNNER), str(out / "order.json")), env)
    pytest = (sys.executable, "-m", "pytest", "-q", "-n", str(WORKERS), "-p", "no:cacheprovider")
    calls = [shlex.join((*pytest, f"--junit-xml={out}/{name}.xml", f"tests/{name}")) for name in FOLDERS]
    plain = Command(("sh", "-c", " && ".join(calls)), env, tree)
    mine, other = take_turns(ROUNDS, (ours, ROUNDS), (plain, ROUNDS))
    return [make_row("suites", mine, other, goal=GOAL, unit="s")]
