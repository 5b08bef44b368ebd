"""The search for the commit that broke something: which to try next, and when it is found."""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict, dataclass
from functools import reduce
from operator import or_
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from collections.abc import Container, Mapping

    History = Mapping[str, tuple[str, ...]]

Verdict = Literal["good", "bad", "skip"]
SKIPPED = 125
NO_COMMAND = 126


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

    def document(self) -> dict[str, Any]:
        """Give it for JSON."""
        return {**asdict(self), "cached": list(self.cached)}


@dataclass(frozen=True, kw_only=True)
class Answer:
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


def decide(left: History, bad: str, tried: Mapping[str, Verdict]) -> Answer:
    """Give what follows from the commits that are left, each with its parents and after them; `bad` is among them.

    The next one halves those that may still be tried. git's own ranking counts skipped ones too, which after a few
    of them cuts off less than half, and takes one build more than log2 of the commits and one for each skip.
    """
    before = _count_before(left, {rev for rev in left if rev != bad and rev not in tried})
    if before:
        return Answer(next=min(before, key=lambda rev: max(before[rev], len(before) - 1 - before[rev])))
    skipped = tuple(rev for rev in left if tried.get(rev) == "skip")
    return Answer(suspects=(*skipped, bad)) if skipped else Answer(culprit=bad)


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


def parse_trial(document: Mapping[str, Any]) -> Trial | None:
    """Read a trial back; None where it is none."""
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
