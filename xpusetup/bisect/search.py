"""The search for the commit that broke something: which to try next, also among nightly wheels."""

import re
from collections import Counter
from collections.abc import Callable, Container, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from itertools import pairwise
from operator import or_
from typing import Any, Literal

History = Mapping[str, tuple[str, ...]]


# Nightly wheels in the search for a commit: which there are, which to try next, and of which commit each is.


NIGHTLY = re.compile(r"[0-9.]+(?:a|b|rc)?[0-9]*\.dev(20\d\d)(\d\d)(\d\d)(?:\+([A-Za-z0-9._-]+))?")
DAY = re.compile(r"20\d\d-\d\d-\d\d")
LISTED = "Available versions:"
RELEASE = re.compile(r"nightly release \(([0-9a-f]{40})\)")
"""How the branch of nightlies names the commit of the main branch that one was made from."""
GIT_VERSION = re.compile(r"""^git_version\b[^=]*=\s*['"]([0-9a-f]{40})['"]""", re.MULTILINE)


@dataclass(frozen=True)
class Nightly:
    """A nightly wheel by its version, and the day in it."""

    version: str
    day: str


def day_of(ref: str) -> str:
    """Give the day that a ref names, as a date or in the version of a nightly; empty where it is none."""
    if DAY.fullmatch(ref):
        return ref
    found = NIGHTLY.fullmatch(ref)
    return "-".join(found.groups()[:3]) if found else ""


def parse_versions(text: str, local: str) -> tuple[Nightly, ...]:
    """Read what pip lists: one nightly a day, that for this device (the part after `+`) before others."""
    line = next((line for line in text.splitlines() if line.startswith(LISTED)), "")
    words = [word.strip() for word in line.removeprefix(LISTED).split(",")]
    of_day: dict[str, str] = {}
    for word in words:
        if (day := day_of(word)) and not DAY.fullmatch(word) and (day not in of_day or word.endswith(f"+{local}")):
            of_day[day] = word
    return tuple(Nightly(of_day[day], day) for day in sorted(of_day))


def between(found: Sequence[Nightly], good: str, bad: str) -> tuple[Nightly, ...]:
    """Give the nightlies from one day to another, both included, in their order."""
    return tuple(each for each in found if good <= each.day <= bad)


def history(versions: Sequence[str], good: str, bad: str) -> dict[str, tuple[str, ...]]:
    """Give the versions after the good one up to the bad one, each with the one before it."""
    left = versions[versions.index(good) : versions.index(bad) + 1]
    return {rev: (before,) for before, rev in pairwise(left)}


def commit_of(text: str) -> str:
    """Read from version.py of a wheel of which commit it is; empty where that says none."""
    found = GIT_VERSION.search(text)
    return found[1] if found else ""


def main_commit(rev: str, subject: str) -> str:
    """Give the commit of the main branch that a commit of the branch of nightlies stands for; any other is itself."""
    found = RELEASE.search(subject)
    return found[1] if found else rev


# The search for the commit that broke something: which to try next, and when it is found.


Verdict = Literal["good", "bad", "skip"]
SKIPPED = 125
NO_COMMAND = 126
UNSTARTED = (NO_COMMAND, 127)
"""What a shell says of a command that may not be started, or is not there."""


@dataclass(frozen=True, kw_only=True)
class Trial:
    """One commit that was tried: what came of it and why, the seconds that took, how many compiles a cache had.

    Of a nightly wheel, `rev` is its version, and `commit` what that was made from.
    """

    rev: str
    verdict: Verdict
    why: str
    seconds: float = 0.0
    cached: tuple[int, int] = (0, 0)
    commit: str = ""


@dataclass(frozen=True, kw_only=True)
class SearchState:
    """Where a search stands: the commit to try, or the culprit, or the suspects among which no build can tell."""

    next: str = ""
    culprit: str = ""
    suspects: tuple[str, ...] = ()


def judge(code: int) -> Verdict | None:
    """Say what an exit code means, as for `git bisect run`; None for one that ends the search.

    126 and 127, a command that is not there or may not be started, are no verdict either.
    """
    if code == 0:
        return "good"
    if code == SKIPPED:
        return "skip"
    return "bad" if 0 < code < NO_COMMAND else None


def decide(left: History, bad: str, tried: Mapping[str, Verdict]) -> SearchState:
    """Give what follows from the commits that are left, each with its parents and after them; `bad` is among them.

    The next one halves those that may still be tried. git's own ranking counts skipped ones too, which after a few
    of them cuts off less than half, and takes one build more than log2 of the commits and one for each skip.
    """
    before = _count_before(left, {rev for rev in left if rev != bad and rev not in tried})
    if before:
        return SearchState(next=min(before, key=lambda rev: max(before[rev], len(before) - 1 - before[rev])))
    skipped = tuple(rev for rev in left if tried.get(rev) == "skip")
    return SearchState(suspects=(*skipped, bad)) if skipped else SearchState(culprit=bad)


def untried_end(good: str, bad: str, tried: Mapping[str, Verdict]) -> str:
    """Give the end that has to be tried before anybody is named; empty where the command was seen to work and to fail.

    One that fails with every commit, or with none, would name one at an end all the same.
    """
    for rev, verdict in ((good, "good"), (bad, "bad")):
        if verdict not in tried.values() and rev not in tried:
            return rev
    return ""


def _count_before(left: History, untried: Container[str]) -> dict[str, int]:
    """Count for each untried commit those before it.

    A set of commits is the bits of a number, kept until the last child has seen it: a history may have 100,000.
    """
    children = Counter(parent for parents in left.values() for parent in parents)
    seen: dict[str, int] = {}
    before: dict[str, int] = {}
    for number, (rev, parents) in enumerate(left.items()):
        seen[rev] = reduce(or_, (seen.get(parent, 0) for parent in parents), (1 << number) * (rev in untried))
        if rev in untried:
            before[rev] = seen[rev].bit_count() - 1
        children.subtract(parents)
        for parent in parents:
            if not children[parent]:
                seen.pop(parent, None)
    return before


def bounds(
    good: str, bad: str, tried: Mapping[str, Verdict], precedes: Callable[[str, str], bool]
) -> tuple[list[str], str]:
    """Give the good commits and the first bad one as far as they are known, among those up to the bad one.

    Trials may be of another search: where something broke twice, what is before a good commit is not looked for.
    """
    known = [rev for rev, verdict in tried.items() if verdict != "skip" and precedes(rev, bad)]
    goods = [good, *(rev for rev in known if tried[rev] == "good")]
    bads = [rev for rev in known if tried[rev] == "bad" and not any(precedes(rev, one) for one in goods)]
    return goods, next((rev for rev in bads if all(precedes(rev, other) for other in bads)), bad)


def parse_trial(document: Mapping[str, Any]) -> Trial | None:
    if document.get("verdict") not in {"good", "bad", "skip"} or not isinstance(document.get("rev"), str):
        return None
    hits, misses = document.get("cached") or (0, 0)
    return Trial(
        rev=document["rev"],
        verdict=document["verdict"],
        why=str(document.get("why", "")),
        seconds=float(document.get("seconds", 0.0)),
        cached=(hits, misses),
        commit=str(document.get("commit", "")),
    )
