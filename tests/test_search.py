"""Which commit to try next, and when one is found."""

from __future__ import annotations

import json
import random
from contextlib import nullcontext
from dataclasses import replace
from math import ceil, log2
from typing import TYPE_CHECKING

import pytest

from data import screens
from xpusetup.base.document import to_json
from xpusetup.base.errors import WorkFailedError
from xpusetup.base.model import Step
from xpusetup.bisect.io import Notebook
from xpusetup.bisect.search import SearchState, Trial, Verdict, bounds, decide, history, judge, parse_trial, untried_end
from xpusetup.commands.bisect import _hold_commit
from xpusetup.commands.explain import FullDisk

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize(
    ("code", "verdict"),
    [(0, "good"), (1, "bad"), (124, "bad"), (125, "skip"), (126, None), (127, None), (137, None), (255, None)],
)
def test_exit_codes(code: int, verdict: Verdict | None) -> None:
    assert judge(code) == verdict


@pytest.mark.parametrize(
    ("left", "tried", "answer"),
    [
        ("abcd", {}, SearchState(next="b")),
        ("abcd", {"b": "skip"}, SearchState(next="a")),
        (
            "abcdefg",
            {"d": "skip", "e": "skip", "f": "skip"},
            SearchState(next="b"),
        ),  # not beside those that do not build
        ("d", {}, SearchState(culprit="d")),
        ("d", {"d": "bad"}, SearchState(culprit="d")),
        ("cd", {"c": "skip"}, SearchState(suspects=("c", "d"))),
    ],
)
def test_what_follows(left: str, tried: dict[str, Verdict], answer: SearchState) -> None:
    assert decide(history(["0", *left], "0", left[-1]), left[-1], tried) == answer


@pytest.mark.parametrize(
    ("tried", "end"),
    [
        ({"b": "bad", "a": "bad"}, "good"),  # it fails with every commit: does it work with the good one?
        ({"b": "good", "c": "skip"}, "bad"),
        ({"b": "bad", "a": "good"}, ""),
        ({"b": "bad", "a": "bad", "good": "skip"}, ""),  # that end cannot be built
        ({"b": "good", "bad": "bad"}, ""),
        ({}, "good"),
    ],
)
def test_a_command_that_never_worked_or_never_failed_names_nobody(tried: dict[str, Verdict], end: str) -> None:
    assert untried_end("good", "bad", tried) == end


def test_both_sides_of_a_merge_are_counted() -> None:
    left = {"a": ("0",), "b": ("a",), "x": ("0",), "y": ("x",), "m": ("b", "y"), "n": ("m",), "z": ("n",)}
    assert decide(left, "z", {}) == SearchState(next="b")
    assert decide(left, "z", {"b": "skip", "y": "skip"}) == SearchState(next="m")
    assert decide({"x": ("0",), "y": ("x",), "m": ("b", "y"), "n": ("m",), "z": ("n",)}, "z", {}) == SearchState(
        next="y"
    )


def test_a_search_takes_no_more_builds_than_it_may() -> None:
    for seed in range(60):
        search_for(seed)


def search_for(seed: int) -> None:
    """Search among commits by chance, and hold the answer and the number of builds."""
    chance = random.Random(seed)  # noqa: S311 - not a secret
    commits = [f"{number:03}" for number in range(chance.randrange(3, 300))]
    culprit = chance.randrange(1, len(commits))
    broken = {number for number in range(1, len(commits)) if chance.random() < 1 / 3} - {culprit, culprit - 1}
    tried: dict[str, Verdict] = {}
    good, bad = commits[0], commits[-1]
    while (answer := decide(history(commits, good, bad), bad, tried)).next:
        number = commits.index(answer.next)
        tried[answer.next] = "skip" if number in broken else "bad" if number >= culprit else "good"
        good, bad = max([good, *_with(tried, "good")]), min([bad, *_with(tried, "bad")])
    assert answer.culprit == commits[culprit]
    skips = len(_with(tried, "skip"))
    assert len(tried) <= ceil(log2(len(commits))) + skips


def _with(tried: dict[str, Verdict], verdict: Verdict) -> list[str]:
    return [commit for commit, seen in tried.items() if seen == verdict]


TRIAL = Trial(rev="a" * 40, verdict="skip", why="torch.build failed", seconds=3.5, cached=(3, 4))


def test_a_trial_is_read_back() -> None:
    assert parse_trial(json.loads(json.dumps(to_json(TRIAL)))) == TRIAL
    assert parse_trial({}) is None
    assert parse_trial({"rev": "a", "verdict": "maybe"}) is None


def test_a_notebook_is_of_one_command(tmp_path: Path) -> None:
    path = tmp_path / "results/bisect.json"
    Notebook(path, {"command": "1"}).add("torch", TRIAL)
    again = Notebook(path, {"command": "1"})
    assert (again.trials("torch"), again.verdicts("torch")) == ([TRIAL], {TRIAL.rev: "skip"})
    assert (again.find("torch", TRIAL.rev), again.find("torch", "b")) == (TRIAL, None)
    again.add("torch", TRIAL)
    assert len(again.trials("torch")) == 1
    assert Notebook(path, {"command": "2"}).trials("torch") == []
    path.write_text("{")
    assert Notebook(path, {"command": "1"}).trials("torch") == []


def test_a_mistyped_command_loses_no_trial(tmp_path: Path) -> None:
    path = tmp_path / "results/bisect.json"
    Notebook(path, {"command": "python t.py"}).add("torch", TRIAL)
    Notebook(path, {"command": "pyhton t.py"}).add("torch", replace(TRIAL, rev="b" * 40))
    assert Notebook(path, {"command": "python t.py"}).trials("torch") == [TRIAL]


@pytest.mark.parametrize(
    ("ends", "tried", "found"),
    [
        ("0z", {}, (["0"], "z")),
        ("0z", {"d": "good", "m": "bad", "q": "bad"}, (["0", "d"], "m")),
        ("0z", {"d": "skip", "m": "skip"}, (["0"], "z")),
        ("gz", {"d": "bad", "m": "bad"}, (["g"], "m")),  # of another search: it broke before, too
        ("0k", {"d": "bad", "m": "good", "q": "bad"}, (["0"], "d")),
        ("0z", {"d": "bad", "m": "good", "q": "bad"}, (["0", "m"], "q")),
        ("0z", {"?": "good"}, (["0"], "z")),
    ],
)
def test_trials_of_another_search_count(ends: str, tried: dict[str, Verdict], found: tuple[list[str], str]) -> None:
    def precedes(one: str, other: str) -> bool:
        return "?" not in one + other and one <= other

    assert bounds(ends[0], ends[1], tried, precedes) == found


BUILD, FETCH, VENV = (
    Step(id="torch.build", title="", run=(), component="torch", needs=("compiler",)),
    Step(id="torch.fetch", title="", run=(), component="torch", needs=("network",)),
    Step(id="venv", title="", run=()),
)
DISK = FullDisk(path="/r", free=0, total=9, files=9, says="", lacks=None)


@pytest.mark.parametrize(
    ("step", "causes", "full", "tells"),
    [
        (BUILD, [], [], True),
        (BUILD, ["compile.header_missing"], [], True),
        (BUILD, ["compile.oom_kill"], [], False),
        (BUILD, [], [DISK], False),
        (FETCH, [], [], False),
        (VENV, [], [], False),
    ],
)
def test_what_is_no_fault_of_a_commit_is_no_verdict(
    step: Step, causes: list[str], full: list[FullDisk], tells: bool
) -> None:
    assert screens.FAILED.failure is not None
    found = [replace(screens.CAUSES[0], id=name) for name in causes]
    with nullcontext() if tells else pytest.raises(WorkFailedError, match="no verdict on aaaaaaaaa"):
        _hold_commit("a" * 40, replace(screens.FAILED.failure, causes=found, full=full), step)
