"""Nightly wheels in the search for a commit: which there are, which to try next, and of which commit each is."""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

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
