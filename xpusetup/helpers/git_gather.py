"""Gathers all objects of a tree: many repositories at a time, each from a store where it is kept, else from its server.

What one repository fails for, the others do not: they come to their end, and the next run begins with what is missing.
"""

from __future__ import annotations

from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from typing import TYPE_CHECKING, Union

from git_failures import ROOM
from git_objects import Servers, Wanted, has_commit
from git_process import FetchError, say
from git_store import Store, clear, is_kept, link_objects, unlink_objects, write_into
from git_tree import Repository, find_own_folder, list_submodules

if TYPE_CHECKING:
    from collections.abc import Sequence

AT_ONCE = 8
"""Repositories that are fetched at a time."""


@dataclass(frozen=True)
class Gathered:
    """A repository whose objects are here. `shared`: bytes of packs that a store had; `store`: whose they are."""

    repository: Repository
    shared: int = 0
    store: Store | None = None


Found = Union[tuple[Gathered, list[Repository]], FetchError]
"""What came of one repository: its objects and its submodules, or why not."""


@dataclass(frozen=True)
class Gatherer:
    """Whom objects are got from."""

    servers: Servers
    stores: Sequence[Store]

    def gather_all(self, root: Repository) -> list[Gathered]:
        """Get all objects of a tree; parents come before their submodules. Raises FetchError for what is missing."""
        done: list[Gathered] = []
        failed: list[FetchError] = []
        self.servers.progress.expect(1)
        with ThreadPoolExecutor(AT_ONCE) as pool:
            waiting: set[Future[Found]] = {pool.submit(self._gather_one, root)}
            while waiting:
                ended, waiting = wait(waiting, return_when=FIRST_COMPLETED)
                for result in (future.result() for future in ended):
                    if isinstance(result, FetchError):
                        failed.append(result)
                        continue
                    gathered, submodules = result
                    done.append(gathered)
                    self.servers.progress.expect(len(submodules))
                    waiting |= {pool.submit(self._gather_one, submodule) for submodule in submodules}
        if failed:
            raise merge(failed)
        return sorted(done, key=lambda one: (one.repository.depth, one.repository.path))

    def _gather_one(self, repository: Repository) -> Found:
        repository = find_own_folder(repository)
        try:
            gathered = self.gather(repository)
            self.servers.progress.have()
            return gathered, list_submodules(self.servers.git, repository)
        except FetchError as error:
            say(f"{error}")
            return error
        except OSError as error:
            fix = "make room there, or choose another place"
            return FetchError(f"cannot write {repository.folder}: {error.strerror or error}", fix, ROOM)

    def gather(self, repository: Repository) -> Gathered:
        """Get the objects of one repository."""
        is_new = not (repository.folder / "HEAD").exists()
        repository.make()
        if not is_new:
            clear(repository.folder)
            if has_commit(self.servers.git, repository.folder, repository.rev):
                return Gathered(repository, 0, self._keeper(repository))
        for store in self.stores if is_kept(repository.address) else ():
            if gathered := take(store, repository):
                return gathered
        return self._fetch(repository)

    def _keeper(self, repository: Repository) -> Store | None:
        held = (store for store in self.stores if store.holds(repository.address, repository.rev))
        return next(held, None)

    def _fetch(self, repository: Repository) -> Gathered:
        """Get a commit that no store has from its server, into the first store that takes it, or else for this tree."""
        for store in self.stores if is_kept(repository.address) else ():
            if gathered := self._fetch_into(store, repository):
                return gathered
        self.servers.bring(want(repository), repository.folder)
        return Gathered(repository)

    def _fetch_into(self, store: Store, repository: Repository) -> Gathered | None:
        """Get a commit by way of a store; None where it takes nothing, or has no room."""
        address, wanted = repository.address, want(repository)
        try:
            had = write_into(
                store, address, repository.rev, self.servers.git, lambda place: self.servers.bring(wanted, place)
            )
            link_objects(store.place(address), repository.folder)
        except FetchError as error:
            if error.kind != ROOM:
                raise
            say(f"note: {wanted.name}: {error}; it is fetched without the store")
        except OSError as error:
            say(f"{store.folder} takes nothing: {error.strerror or error}")
        else:
            return Gathered(repository, had, store)
        return None

    def mend(self, gathered: Gathered) -> None:
        """Fetch a repository again whose objects, as a store kept them, cannot be read. Its other objects stay."""
        repository = gathered.repository
        say(f"note: {repository.name}: what {gathered.store and gathered.store.folder} keeps is damaged; fetched again")
        if gathered.store:
            unlink_objects(gathered.store.place(repository.address), repository.folder)
            try:
                gathered.store.forget(repository.address)
            except OSError as error:
                say(f"it stays there: {error.strerror or error}")
        self.servers.bring(want(repository), repository.folder)


def take(store: Store, repository: Repository) -> Gathered | None:
    """Take a commit from a store; None where it is not kept."""
    try:
        if store.holds(repository.address, repository.rev):
            return Gathered(repository, link_objects(store.place(repository.address), repository.folder), store)
    except OSError as error:
        say(f"{store.folder} gives nothing: {error.strerror or error}")
    return None


def want(repository: Repository) -> Wanted:
    """Give what to ask a server for."""
    return Wanted(
        name=repository.name,
        address=repository.address,
        rev=repository.rev,
        ref=repository.ref,
        strange=bool(repository.path),
    )


def merge(failed: Sequence[FetchError]) -> FetchError:
    """Give one error for several."""
    first, more = failed[0], len(failed) - 1
    also = f"; and {more} more like it, in the log above" if more else ""
    return FetchError(f"{first}{also}", first.fix, first.kind)
