"""Which parts a suite is run in: each directory of tests one, a large one several."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

PATTERNS = ("test_*.py", "*_test.py")


@dataclass(frozen=True)
class Shard:
    """A part of a suite: the row of the table it belongs to, its number in that row, the paths that pytest is given."""

    row: str
    number: int
    of: int
    paths: tuple[str, ...]

    @property
    def name(self) -> str:
        """Its name, which also names its folder."""
        stem = self.row.replace("*.py", "files").strip("/").replace("/", ".")
        return stem if self.of == 1 else f"{stem}.{self.number}-of-{self.of}"


def find_tests(root: Path, places: Sequence[str]) -> list[str]:
    """List the files of tests below some places, as paths from the root; a place may be a file itself."""
    found: set[str] = set()
    for place in places:
        path = root / place
        files = [path] if path.is_file() else [one for pattern in PATTERNS for one in path.rglob(pattern)]
        found.update(one.relative_to(root).as_posix() for one in files)
    return sorted(found)


def make_shards(tests: Iterable[str], places: Sequence[str], parts: int = 1, whole: Sequence[str] = ()) -> list[Shard]:
    """Give the shards of these files: the files of a place itself, and each directory below it, in so many parts.

    A place that is a file of tests, or is to be one row as a `whole`, is a row of its own.
    """
    rows: dict[str, dict[str, list[str]]] = {}
    for test in sorted(tests):
        row, child = find_row(test, places, whole)
        rows.setdefault(row, {}).setdefault(child, []).append(test)
    return [shard for row, children in rows.items() for shard in split(row, children, parts)]


def find_row(test: str, places: Sequence[str], whole: Sequence[str]) -> tuple[str, str]:
    """Give the row of a file, and the child of that row's directory that it lies in."""
    if test in places:
        return test, test
    for row in whole:
        if test.startswith(f"{row}/"):
            return row, f"{row}/{test.removeprefix(f'{row}/').split('/')[0]}"
    place = max((one for one in map(strip, places) if test.startswith(f"{one}/") or one == "."), key=len)
    prefix = "" if place == "." else f"{place}/"
    head, *rest = test.removeprefix(prefix).split("/")
    if not rest:
        return f"{prefix}*.py", test
    child = f"{prefix}{head}/{rest[0]}"
    return f"{prefix}{head}", child


def strip(place: str) -> str:
    return place.rstrip("/") or "."


def split(row: str, children: dict[str, list[str]], parts: int) -> list[Shard]:
    """Part a row's children so that each part has about as many files, those with most files first."""
    of = max(1, min(parts, len(children)))
    bins: list[list[str]] = [[] for _ in range(of)]
    weights = [0] * of
    for child in sorted(children, key=lambda name: (-len(children[name]), name)):
        least = weights.index(min(weights))
        bins[least].append(child)
        weights[least] += len(children[child])
    if of == 1 and not row.endswith(".py"):
        return [Shard(row, 1, 1, (row,))]
    return [Shard(row, number, of, tuple(sorted(paths))) for number, paths in enumerate(bins, 1)]
