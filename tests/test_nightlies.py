"""Which nightly wheels there are, which to try next, and of which commit one is."""

from __future__ import annotations

import random
from math import ceil, log2
from typing import TYPE_CHECKING

import pytest

from xpusetup.base.errors import UsageError
from xpusetup.bisect.search import Nightly, between, commit_of, day_of, decide, history, main_commit, parse_versions
from xpusetup.commands.bisect import names_nightlies

if TYPE_CHECKING:
    from xpusetup.bisect.search import Verdict

LISTED = """\
torch (2.13.0.dev20260503+xpu)
Available versions: 2.13.0.dev20260503+xpu, 2.13.0.dev20260503+cpu, 2.13.0.dev20260501+cpu, 2.12.1, 2.12.0rc2,
"""


@pytest.mark.parametrize(
    ("ref", "day"),
    [
        ("2026-05-01", "2026-05-01"),
        ("2.13.0.dev20260501+xpu", "2026-05-01"),
        ("2.13.0.dev20260501", "2026-05-01"),
        ("2.13.0a0.dev20260501", "2026-05-01"),
        ("v2.13.0", ""),
        ("main", ""),
        ("2.13.0.dev1", ""),
        ("a" * 40, ""),
    ],
)
def test_what_names_a_nightly(ref: str, day: str) -> None:
    assert day_of(ref) == day


def test_a_search_is_between_two_of_a_kind() -> None:
    assert names_nightlies("2026-05-01", "2.13.0.dev20260601+xpu")
    assert not names_nightlies("v2.12.0", "main")
    with pytest.raises(UsageError, match="2026-05-01 is a nightly and main is none"):
        names_nightlies("2026-05-01", "main")
    with pytest.raises(UsageError, match="2026-05-01 is a nightly and main is none"):
        names_nightlies("main", "2026-05-01")


def test_one_nightly_a_day_that_for_this_device_first() -> None:
    first, second = Nightly("2.13.0.dev20260501+cpu", "2026-05-01"), Nightly("2.13.0.dev20260503+xpu", "2026-05-03")
    assert parse_versions(LISTED, "xpu") == (first, second)
    assert parse_versions("nothing of the kind\n", "xpu") == ()
    assert between((first, second), "2026-05-02", "2026-05-03") == (second,)


@pytest.mark.parametrize(
    ("text", "rev"),
    [
        (f"git_version = '{'ab' * 20}'\n", "ab" * 20),
        (f'__version__ = "2"\ngit_version: str = "{"cd" * 20}"\n', "cd" * 20),
        ("git_version = 'Unknown'\n", ""),
        (f"not_git_version = '{'ab' * 20}'\n", ""),
    ],
)
def test_the_commit_of_a_wheel(text: str, rev: str) -> None:
    assert commit_of(text) == rev


def test_the_branch_of_nightlies_names_the_main_branch() -> None:
    assert main_commit("a" * 40, f"2026-05-01 nightly release ({'b' * 40})") == "b" * 40
    assert main_commit("a" * 40, "Fix the nightly release (#1234)") == "a" * 40


@pytest.mark.parametrize("seed", range(30))
def test_a_search_tries_no_more_wheels_than_it_may(seed: int) -> None:
    chance = random.Random(seed)  # noqa: S311 - not a secret
    versions = [f"{number:03}" for number in range(chance.randrange(2, 200))]
    culprit = chance.randrange(1, len(versions))
    absent = {one for one in range(1, len(versions) - 1) if chance.random() < 0.2} - {culprit, culprit - 1}
    tried: dict[str, Verdict] = {versions[0]: "good", versions[-1]: "bad"}
    while True:
        low = max(version for version, verdict in tried.items() if verdict == "good")
        high = min(version for version, verdict in tried.items() if verdict == "bad")
        answer = decide(history(versions, low, high), high, tried)
        if not answer.next:
            break
        number = versions.index(answer.next)
        tried[answer.next] = "skip" if number in absent else "bad" if number >= culprit else "good"
    assert (low, high) == (versions[culprit - 1], versions[culprit])
    skips = sum(verdict == "skip" for verdict in tried.values())
    assert len(tried) <= 2 + ceil(log2(len(versions))) + skips
