"""Gets one commit from a server: as little as the server allows, as often as the network needs, from whoever has it."""

from __future__ import annotations

import random
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from git_failures import DENIED, PASSING, ROOM
from git_process import FetchError, inside, say

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    from fetch_progress import Progress
    from git_process import Git, Said

PAUSES = (1.0, 2.0, 4.0, 8.0, 16.0)
"""Seconds before each further try; a random quarter more or less, so that many do not come back at once."""
SPREAD = 0.25
OPTIONS = (
    "-c",
    "fetch.unpackLimit=1",
    "-c",
    "gc.auto=0",
    "-c",
    "maintenance.auto=false",
    "-c",
    "fetch.writeCommitGraph=0",
)
"""One pack for each fetch, and nothing that repacks: packs are shared by trees."""
WHOLE = ("--tags", "--force", "--", "{address}", "+refs/heads/*:refs/remotes/origin/*")


@dataclass(frozen=True, kw_only=True)
class Wanted:
    """A commit: of which address, by which ref where it is known, and what it is called in messages.

    `strange`: the address was read from a tree, not from the profile.
    """

    name: str
    address: str
    rev: str
    ref: str = ""
    strange: bool = False


@dataclass(frozen=True)
class Servers:
    """How servers are asked."""

    git: Git
    progress: Progress
    pauses: Sequence[float] = PAUSES

    def bring(self, wanted: Wanted, place: Path) -> None:
        """Bring a commit into a repository. Raises FetchError when nobody gives it."""
        last = ""
        addresses = list(dict.fromkeys((wanted.address, *self.git.fallbacks(wanted.address))))
        for number, address in enumerate(addresses):
            if number:
                say(f"note: {wanted.name}: {last}; asking {address}")
            last = self._bring_from(address, wanted, place)
            if not last:
                return
        asked = " or ".join(addresses)
        fix = "look at the network, the proxy and the address; a mirror or a fallback of the site file helps"
        raise FetchError(f"cannot get {wanted.rev} of {wanted.name} from {asked}: {last}", fix)

    def _bring_from(self, address: str, wanted: Wanted, place: Path) -> str:
        """Go the ways of one address, the cheapest first; say why none led anywhere."""
        why = ""
        for way in ways(address, wanted):
            said = self._fetch(wanted, place, way)
            if said.code == 0 and has_commit(self.git, place, wanted.rev):
                return ""
            why = said.last if said.code else "it has no such commit"
            if said.kind == ROOM and said.code:
                raise FetchError(f"cannot write {place}: {said.last}", "make room there, or choose another place", ROOM)
            if said.code and said.kind in {DENIED, PASSING}:
                break
        return why

    def _fetch(self, wanted: Wanted, place: Path, way: tuple[str, ...]) -> Said:
        arguments = (*inside(place), *OPTIONS, "fetch", "--progress", "--no-recurse-submodules", *way)
        return self.try_often(
            wanted.name, *arguments, strange=wanted.strange, progress=self.progress, pauses=self.pauses
        )

    def try_often(
        self, name: str, *arguments: str, strange: bool = False, progress: Progress | None, pauses: Sequence[float]
    ) -> Said:
        """Call git again after each pause as long as its failure may pass."""
        for pause in (*pauses, None):
            said = self.git.call(
                *arguments, strange=strange, hear=lambda line: bool(progress and progress.take(name, line))
            )
            if said.code == 0 or said.kind != PASSING or pause is None:
                break
            seconds = pause * random.uniform(1 - SPREAD, 1 + SPREAD)  # noqa: S311 - no secret
            say(f"note: {name}: {said.last}; tried again in {seconds:.0f} s")
            time.sleep(seconds)
        return said


def ways(address: str, wanted: Wanted) -> Iterator[tuple[str, ...]]:
    """Give the ways to a commit: it alone; by its ref; all there is."""
    yield ("--depth", "1", "--", address, wanted.rev)
    if wanted.ref:
        yield ("--depth", "1", "--", address, wanted.ref)
    yield tuple(word.format(address=address) if word == "{address}" else word for word in WHOLE)


def has_commit(git: Git, place: Path, rev: str) -> bool:
    """Say whether a repository has a commit."""
    found = git.ask(*inside(place), "rev-parse", "--verify", "--quiet", f"{rev}^{{commit}}")
    return found is not None and found.strip() == rev
