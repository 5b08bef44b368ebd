"""Which commit to try next, and when one is found."""

from __future__ import annotations

import json
import random
from math import ceil, log2
from typing import TYPE_CHECKING

import pytest

from xpusetup.base.document import to_json
from xpusetup.bisect.search import Answer, Trial, Verdict, decide, history, judge, parse_trial
from xpusetup.commands.bisect import Notebook

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
        ("abcd", {}, Answer(next="b")),
        ("abcd", {"b": "skip"}, Answer(next="a")),
        ("abcdefg", {"d": "skip", "e": "skip", "f": "skip"}, Answer(next="b")),  # not beside those that do not build
        ("d", {}, Answer(culprit="d")),
        ("d", {"d": "bad"}, Answer(culprit="d")),
        ("cd", {"c": "skip"}, Answer(suspects=("c", "d"))),
    ],
)
def test_what_follows(left: str, tried: dict[str, Verdict], answer: Answer) -> None:
    assert decide(history(["0", *left], "0", left[-1]), left[-1], tried) == answer


def test_both_sides_of_a_merge_are_counted() -> None:
    left = {"a": ("0",), "b": ("a",), "x": ("0",), "y": ("x",), "m": ("b", "y"), "n": ("m",), "z": ("n",)}
    assert decide(left, "z", {}) == Answer(next="b")
    assert decide(left, "z", {"b": "skip", "y": "skip"}) == Answer(next="m")
    assert decide({"x": ("0",), "y": ("x",), "m": ("b", "y"), "n": ("m",), "z": ("n",)}, "z", {}) == Answer(next="y")


@pytest.mark.parametrize("seed", range(200))
def test_a_search_takes_no_more_builds_than_it_may(seed: int) -> None:
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


def test_a_notebook_is_of_one_search(tmp_path: Path) -> None:
    path = tmp_path / "results/bisect.json"
    Notebook(path, {"good": "1"}).add("torch", TRIAL)
    again = Notebook(path, {"good": "1"})
    assert (again.trials("torch"), again.verdicts("torch")) == ([TRIAL], {TRIAL.rev: "skip"})
    assert (again.find("torch", TRIAL.rev), again.find("torch", "b")) == (TRIAL, None)
    again.add("torch", TRIAL)
    assert len(again.trials("torch")) == 1
    assert Notebook(path, {"good": "2"}).trials("torch") == []
    path.write_text("{")
    assert Notebook(path, {"good": "1"}).trials("torch") == []
