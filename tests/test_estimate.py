"""What a build will cost, from what earlier ones took."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from data.targets import plan_for
from xpusetup.base.document import to_json
from xpusetup.base.model import Need, Step
from xpusetup.machine.jobs import StepLoad
from xpusetup.run.manifest import read_history
from xpusetup.run.time_left import Estimate, History, make_estimate, merge_histories, parse_journal, simulate

if TYPE_CHECKING:
    from pathlib import Path

GIB = 1 << 30


def step(name: str, *needs: Need, after: str = "", locks: tuple[str, ...] = ()) -> Step:
    return Step(id=name, title=name, run=(("true",),), needs=needs, after=tuple(after), locks=locks)


STEPS = (
    step("v", locks=("venv",)),
    step("p", "network", after="v", locks=("venv",)),
    step("f", "network"),
    step("b", "compiler", after="pf"),
    step("g", "network"),
    step("c", "compiler", after="pg"),
)
SECONDS = {"v": 2.0, "p": 10.0, "f": 70.0, "b": 1000.0, "g": 300.0, "c": 50.0}


@pytest.mark.parametrize(
    ("todo", "seconds"),
    [
        ("", 0),
        ("c", 50),
        ("bc", 1050),  # one compile at a time
        ("bgc", 1050),  # g hides behind b
        ("gc", 350),
        ("vpfbgc", 2 + 10 + 70 + 1000 + 50),
    ],
)
def test_two_lanes_by_the_clock(todo: str, seconds: float) -> None:
    assert simulate(STEPS, set(todo), SECONDS) == seconds


def test_a_release_takes_less_than_its_steps_one_by_one() -> None:
    steps = plan_for("torch-2.5").steps
    seconds = {one.id: 100.0 for one in steps}
    alone = [one.id for one in steps if one.id in {"triton.fetch", "vision.fetch", "audio.fetch"}]
    assert simulate(steps, set(seconds), seconds) == 100.0 * (len(steps) - len(alone))


def estimate(todo: str, seconds: dict[str, float], *, jobs: int = 14) -> Estimate:
    history = History(seconds=seconds, disk=9 * GIB)
    return make_estimate(STEPS, set(todo), history, jobs=jobs, memory_per_job=4 * GIB)


def test_an_estimate() -> None:
    assert to_json(estimate("bc", SECONDS)) == {
        "seconds": 1050.0,
        "bytes": 0,
        "disk": 9 * GIB,
        "memory": 56 * GIB,
        "jobs": 14,
        "unknown": [],
        "as_wheel": [],
        "expected": None,
    }
    assert estimate("bgc", SECONDS).bytes is None


def test_what_was_never_run_is_named() -> None:
    seen = estimate("bc", {"b": 5.0}, jobs=0)
    assert (seen.seconds, seen.unknown, seen.memory, seen.jobs) == (None, ("c",), None, None)


def record(name: str, seconds: Any, state: str = "ran") -> str:
    return json.dumps({"step": name, "key": "k", "state": state, "time": 1.0, "seconds": seconds, "made": []})


def test_a_journal() -> None:
    lines = [
        *(record("b", 9.0), record("b", 5.5), record("b", 1.0, "failed"), record("c", 2, "no-device")),
        *(record("f", None), "[]", "{}", '{"step": "b", "sta'),
    ]
    assert parse_journal("\n".join(lines)).seconds == {"b": 5.5, "c": 2.0}
    assert parse_journal("") == History(seconds={})


def attempt(seconds: float, state: str, edges: int, key: str = "k") -> str:
    return json.dumps({"step": "b", "key": key, "state": state, "time": 1, "seconds": seconds, "edges": edges})


@pytest.mark.parametrize(
    ("lines", "seconds"),
    [
        ([attempt(0, "began", 0), attempt(40, "cut", 100), attempt(60, "ran", 61)], 100),
        ([attempt(40, "cut", 100), attempt(5, "short", 61), attempt(1, "cut", 0), attempt(50, "ran", 50)], 96),
        ([attempt(99, "cut", 100), attempt(1, "ran", 0)], 100),  # ninja had nothing left to do
        ([attempt(40, "cut", 100), attempt(90, "ran", 100)], 90),  # it began anew
        ([attempt(40, "cut", 100, "other"), attempt(60, "ran", 61)], 60),
        ([attempt(40, "cut", 100), attempt(60, "ran", 61), attempt(2, "ran", 1)], 2),
    ],
)
def test_attempts_that_went_on_count_together(lines: list[str], seconds: float) -> None:
    assert parse_journal("\n".join(lines)).seconds == {"b": seconds}


def test_the_nearest_history_counts() -> None:
    own, other = History(seconds={"b": 5}), History(seconds={"b": 9, "c": 1}, disk=3)
    assert merge_histories([own, other]) == History(seconds={"b": 5, "c": 1}, disk=3)
    assert merge_histories([other, own]).seconds == {"b": 9, "c": 1}
    assert merge_histories([]) == History(seconds={})


def make_root(path: Path, profile: str, *lines: str, disk: str = "") -> None:
    (path / "results").mkdir(parents=True)
    (path / "journal.jsonl").write_text("\n".join(lines) + "\n")
    (path / "profile.lock.json").write_text(json.dumps({"schema": 1, "profile": {"name": profile}}))
    if disk:
        (path / "results/disk.json").write_text(disk)


def test_roots_beside_one_tell_of_the_same_profile_alone(tmp_path: Path) -> None:
    make_root(tmp_path / "a", "torch-2.5", record("b", 9.0), record("c", 1.0), disk='{"bytes": 77}')
    make_root(tmp_path / "z", "torch-2.5", record("b", 8.0), disk='{"bytes": "x"}')
    make_root(tmp_path / "other", "sim", record("f", 3.0))
    (tmp_path / "empty").mkdir()
    assert read_history(tmp_path / "z", "torch-2.5") == History(seconds={"b": 8.0, "c": 1.0}, disk=77)
    assert read_history(tmp_path / "new", "torch-2.5").seconds == {"b": 9.0, "c": 1.0}
    assert read_history(tmp_path / "no/such", "torch-2.5") == History(seconds={})


def test_the_greatest_load_of_a_step_counts() -> None:
    """A build that went on near its end took less than the step needs."""
    lines = [
        json.dumps({"step": "b", "time": 1, "seconds": 1, "state": "ran", "load": load})
        for load in ([4, 8 << 30, 3 << 30], [4, 1 << 20, 9 << 20], [0, 5, 5], None)
    ]
    assert parse_journal("\n".join(lines)).loads == {"b": StepLoad(jobs=4, growth=8 << 30, heaviest=3 << 30)}


def run_of(name: str, seconds: float, needs: tuple[Need, ...], edges: int = 0) -> str:
    line = {"step": name, "key": "k", "state": "ran", "time": 1, "seconds": seconds, "needs": needs, "edges": edges}
    return json.dumps(line)


def test_a_step_that_was_done_in_another_way_says_nothing() -> None:
    """The step that installs a wheel took a second; under the same name an editable tree is compiled."""
    editable = Step(id="s.install", title="s", run=(), needs=("compiler",), component="s")
    text = "\n".join((run_of("s.build", 300.0, ("compiler",)), run_of("s.install", 1.0, ())))
    history = parse_journal(text, [editable])
    assert history.seconds == {"s.build": 300.0}
    seen = make_estimate([editable], {"s.install"}, history, jobs=1, memory_per_job=GIB)
    assert (seen.seconds, seen.as_wheel, seen.unknown) == (300.0, ("s",), ())
    assert parse_journal(text, [replace(editable, needs=())]).seconds["s.install"] == 1.0


def test_a_compile_of_one_changed_file_is_no_measure_of_a_whole_one_in_another_root(tmp_path: Path) -> None:
    make_root(tmp_path / "a", "sim", run_of("b", 344.0, (), 8), run_of("b", 40.0, (), 1))
    assert read_history(tmp_path / "new", "sim").seconds == {"b": 344.0}
    assert read_history(tmp_path / "a", "sim").seconds == {"b": 40.0}
