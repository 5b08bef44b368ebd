"""Gets all objects of a tree and writes its files: many repositories at a time, each from a store or its server.

What one repository fails for, the others do not: they come to their end, and the next run begins with what is missing.
"""

import os
import random
import re
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, replace
from functools import partial
from itertools import groupby
from pathlib import Path
from typing import Union

from helperlib.git.process import DENIED, PASSING, REFUSED, ROOM, FetchError, Git, GitAnswer, inside, say, sort_failure
from helperlib.git.store import ObjectStore, clear, is_kept, link_objects, unlink_objects, write_into
from helperlib.git.tree import TreeRepository, check_place, list_submodules, quote
from helperlib.output import UNITS, render_size, write_text

# What git says while it fetches, summed over all repositories, and said as ninja says how far it is.


EVERY = 0.5
MAKE_ROOM = "make room there, or choose another place: --build-dir DIR"
"""Seconds between two lines, however many repositories have something to say."""
COUNTED = re.compile(r"(Receiving objects): +\d+% \((\d+)/(\d+)\)(?:, ([\d.]+) ([KMG]iB|bytes))?")
PASSING_BY = re.compile(r"^(?:remote: )?[A-Z][a-z]+(?: [a-z]+)*: +\d+(?:%|$|,)")
"""Other lines of progress, as of the server's own counting: nothing that a log has to keep."""


class GatherProgress:
    """How far all repositories are together. Its lines begin with [objects/of all]; several threads may speak."""

    def __init__(self, say: Callable[[str], None], clock: Callable[[], float] = time.monotonic) -> None:
        self._say, self._clock = say, clock
        self._lock = threading.Lock()
        self._received: dict[str, tuple[int, int, float]] = {}  # objects of how many, and their bytes, by repository
        self._known = self._here = 0
        self._said = -EVERY

    def expect(self, number: int) -> None:
        """Learn of so many repositories more."""
        with self._lock:
            self._known += number

    def have(self) -> None:
        """Learn that one repository is all here."""
        with self._lock:
            self._here += 1
            if self._received:
                self._tell(always=self._here == self._known)

    def take(self, name: str, line: str) -> bool:
        """Take in a line that git said while it fetched a repository; False when it is not about progress."""
        found = COUNTED.search(line)
        if found is None:
            return PASSING_BY.match(line) is not None
        with self._lock:
            power = UNITS.index(found[5]) if found[5] in UNITS else 0  # 412.10 MiB, 318 bytes
            self._received[name] = (int(found[2]), int(found[3]), float(found[4] or 0) * 1024**power)
            self._tell(always=False)
        return True

    def _tell(self, *, always: bool) -> None:
        if not always and self._clock() - self._said < EVERY:
            return
        self._said = self._clock()
        objects, total, size = map(sum, zip(*self._received.values(), strict=True))
        places = f", {self._here} of {self._known} repositories" if self._known > 1 else ""
        self._say(f"[{objects}/{total}] objects, {render_size(size)}{places}")


# Gets one commit from a server: as little as the server allows, as often as the network needs, from whoever has it.


PAUSES = (1.0, 2.0, 4.0, 8.0, 16.0)
"""Seconds before each further try; a random quarter more or less, so that many do not come back at once."""
SPREAD = 0.25
OPTIONS = (
    *("-c", "fetch.unpackLimit=1", "-c", "gc.auto=0"),
    *("-c", "maintenance.auto=false", "-c", "fetch.writeCommitGraph=0"),
)
"""One pack for each fetch, and nothing that repacks: packs are shared by trees."""


NETWORK = "look at the network, the proxy and the address; a mirror or a fallback of the site file helps"
NO_COMMIT = "it has no such commit"
ABSENT = "pin a commit that it has: git ls-remote {address} says where its branches and tags are"
FORBIDDEN = re.compile("transport 'file' not allowed")
LOCAL = (
    "git takes no submodule from a folder of this machine unless that is allowed:"
    " export GIT_CONFIG_COUNT=1 GIT_CONFIG_KEY_0=protocol.file.allow GIT_CONFIG_VALUE_0=always"
)


@dataclass(frozen=True)
class Servers:
    """How servers are asked."""

    git: Git
    progress: GatherProgress
    pauses: Sequence[float] = PAUSES

    def bring(self, wanted: TreeRepository, place: Path) -> None:
        """Bring the commit of a repository into a folder of objects. Raises FetchError when nobody gives it."""
        last = ""
        addresses = list(dict.fromkeys((wanted.address, *self.git.fallbacks(wanted.address))))
        for number, address in enumerate(addresses):
            if number:
                say(f"note: {wanted.name}: {last}; asking {address}")
            last = self._bring_from(address, wanted, place)
            if not last:
                return
        asked = " or ".join(addresses)
        absent = ABSENT.format(address=wanted.address) if last == NO_COMMIT or sort_failure(last) == REFUSED else ""
        fix = LOCAL if FORBIDDEN.search(last) else absent or self._no_folder(wanted.address) or NETWORK
        raise FetchError(f"cannot get {wanted.rev} of {wanted.name} from {asked}: {last}", fix)

    def _bring_from(self, address: str, wanted: TreeRepository, place: Path) -> str:
        """Go the ways of one address, the cheapest first; say why none led anywhere."""
        why = ""
        for way in ways(address, wanted):
            fetch = (*inside(place), *OPTIONS, "fetch", "--progress", "--no-recurse-submodules", *way)
            strange = bool(wanted.path)  # the address was read from a tree, not from the profile
            said = self.try_often(wanted.name, *fetch, strange=strange, progress=self.progress, pauses=self.pauses)
            if said.code == 0 and has_commit(self.git, place, wanted.rev):
                return ""
            why = said.last if said.code else NO_COMMIT
            if said.kind == ROOM and said.code:
                raise FetchError(f"cannot write {place}: {said.last}", MAKE_ROOM, ROOM)
            if said.code and said.kind in {DENIED, PASSING}:
                break
        return why

    def _no_folder(self, address: str) -> str:
        """Give what mends that nothing came from a folder of this machine; empty where an address leads elsewhere."""
        led = (self.git.ask("ls-remote", "--get-url", address) or address).strip()  # by a mirror of git's settings
        folder = led.removeprefix("file://")
        if not folder.startswith("/"):
            return ""
        seen = "is no repository of git, or may not be read" if Path(folder).is_dir() else "is not there"
        return f"{folder} {seen}: bring the repository there, or name where it is"

    def try_often(
        self,
        name: str,
        *arguments: str,
        strange: bool = False,
        progress: GatherProgress | None,
        pauses: Sequence[float],
    ) -> GitAnswer:
        """Call git again after each pause as long as its failure may pass."""
        before = ""
        for pause in (*pauses, None):
            said = self.git.call(
                *arguments, strange=strange, hear=lambda line: bool(progress and progress.take(name, line))
            )
            if said.code == 0 or said.kind != PASSING or pause is None:
                break
            seconds = pause * random.uniform(1 - SPREAD, 1 + SPREAD)  # noqa: S311 - no secret
            say(f"note: {name}: {'the same' if said.last == before else said.last}; tried again in {seconds:.0f} s")
            before = said.last
            time.sleep(seconds)
        return said


def ways(address: str, wanted: TreeRepository) -> Iterator[tuple[str, ...]]:
    """Give the ways to a commit: it alone; by its ref; all there is."""
    yield ("--depth", "1", "--", address, wanted.rev)
    if wanted.ref:
        yield ("--depth", "1", "--", address, wanted.ref)
    yield ("--tags", "--force", "--", address, "+refs/heads/*:refs/remotes/origin/*")


def has_commit(git: Git, place: Path, rev: str) -> bool:
    found = git.ask(*inside(place), "rev-parse", "--verify", "--quiet", f"{rev}^{{commit}}")
    return found is not None and found.strip() == rev


# All repositories of a tree.


AT_ONCE = 8
"""Repositories that are fetched at a time."""


@dataclass(frozen=True)
class GatheredRepository:
    """A repository whose objects are here. `shared`: bytes of packs that a store had; `store`: whose they are."""

    repository: TreeRepository
    shared: int = 0
    store: ObjectStore | None = None


Found = Union[tuple[GatheredRepository, list[TreeRepository]], FetchError]
"""What came of one repository: its objects and its submodules, or why not."""


@dataclass(frozen=True)
class Gatherer:
    """Whom objects are got from."""

    servers: Servers
    stores: Sequence[ObjectStore]

    def gather_all(self, root: TreeRepository) -> list[GatheredRepository]:
        """Get all objects of a tree; parents come before their submodules. Raises FetchError for what is missing."""
        done: list[GatheredRepository] = []
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
            first, more = failed[0], len(failed) - 1
            also = f"; and {more} more like it, in the log above" if more else ""
            raise FetchError(f"{first}{also}", first.fix, first.kind)
        return sorted(done, key=lambda one: (one.repository.depth, one.repository.path))

    def _gather_one(self, repository: TreeRepository) -> Found:
        own = repository.tree / ".git"
        if repository.path and own.is_dir():  # as a submodule has that was cloned by hand
            repository = replace(repository, folder=own)
        try:
            gathered = self.gather(repository)
            self.servers.progress.have()
            return gathered, list_submodules(self.servers.git, repository)
        except FetchError as error:
            say(f"{error}")
            return error
        except OSError as error:
            return FetchError(f"cannot write {repository.folder}: {error.strerror or error}", MAKE_ROOM, ROOM)

    def gather(self, repository: TreeRepository) -> GatheredRepository:
        is_new = not (repository.folder / "HEAD").exists()
        repository.make()
        if not is_new:
            clear(repository.folder)
            if has_commit(self.servers.git, repository.folder, repository.rev):
                held = (store for store in self.stores if store.holds(repository.address, repository.rev))
                return GatheredRepository(repository, 0, next(held, None))
        stores = self.stores if is_kept(repository.address) else ()
        for store in stores:
            if gathered := take(store, repository):
                return gathered
        for store in stores:  # none has it: from its server into the first that takes it, or else for this tree
            if gathered := self._fetch_into(store, repository):
                return gathered
        self.servers.bring(repository, repository.folder)
        return GatheredRepository(repository)

    def _fetch_into(self, store: ObjectStore, repository: TreeRepository) -> GatheredRepository | None:
        """Get a commit by way of a store; None where it takes nothing, or has no room."""
        address, bring = repository.address, partial(self.servers.bring, repository)
        try:
            had = write_into(store, address, repository.rev, self.servers.git, bring)
            link_objects(store.place(address), repository.folder)
        except FetchError as error:
            if error.kind != ROOM:
                raise
            say(f"note: {repository.name}: {error}; it is fetched without the store")
        except OSError as error:
            say(f"{store.folder} takes nothing: {error.strerror or error}")
        else:
            return GatheredRepository(repository, had, store)
        return None

    def mend(self, gathered: GatheredRepository) -> None:
        """Fetch a repository again whose objects, as a store kept them, cannot be read. Its other objects stay."""
        repository = gathered.repository
        say(f"note: {repository.name}: what {gathered.store and gathered.store.folder} keeps is damaged; fetched again")
        if gathered.store:
            unlink_objects(gathered.store.place(repository.address), repository.folder)
            try:
                gathered.store.forget(repository.address)
            except OSError as error:
                say(f"it stays there: {error.strerror or error}")
        self.servers.bring(repository, repository.folder)


def take(store: ObjectStore, repository: TreeRepository) -> GatheredRepository | None:
    """Take a commit from a store; None where it is not kept."""
    try:
        if store.holds(repository.address, repository.rev):
            return GatheredRepository(
                repository, link_objects(store.place(repository.address), repository.folder), store
            )
    except OSError as error:
        say(f"{store.folder} gives nothing: {error.strerror or error}")
    return None


# Writes the files of a tree whose objects are all here: parents first, then their submodules, several at a time.


PLAIN = ("-c", "advice.detachedHead=false", "-c", "submodule.recurse=false", "-c", "core.hooksPath=/dev/null")
"""What a checkout does not take over from its caller."""

DAMAGED = re.compile(r"corrupt|inflate|unable to read|bad object|packfile|missing|mismatch|not a tree", re.IGNORECASE)
"""What git says of objects that it cannot read."""


def check_out_all(git: Git, gathered: Sequence[GatheredRepository]) -> list[GatheredRepository]:
    """Write all files; give those that cannot be read as a store kept them. Raises FetchError for others."""
    root = gathered[0].repository.tree
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        for _, level in groupby(gathered, key=lambda one: one.repository.depth):
            ones = list(level)
            saids = list(pool.map(lambda one: check_out(git, one.repository, root), ones))
            broken = [one for one, said in zip(ones, saids, strict=True) if said.code and judge(one, said)]
            if broken:
                return broken
    register(git, gathered)
    return []


def check_out(git: Git, repository: TreeRepository, root: Path) -> GitAnswer:
    """Write the files of one repository."""
    check_place(repository, root)
    repository.connect()
    patterns = repository.folder / "info/sparse-checkout"
    if repository.sparse or patterns.exists():
        # Which folders get files is written down: a git that is called here later leaves the others out as well.
        patterns.parent.mkdir(exist_ok=True)
        write_text(patterns, "".join(f"/{folder}/\n" for folder in repository.sparse) or "/*\n")
        for name, value in (("core.sparseCheckout", "true"), ("core.sparseCheckoutCone", "false")):
            git.ask(f"--git-dir={repository.folder}", "config", name, value)
    lfs = git.settings.keys() & {"filter.lfs.smudge", "filter.lfs.process"}
    # the tree of a component has no remote, by which git-lfs would know whom to ask
    remote = ("-c", f"remote.origin.url={repository.address}") if lfs and not repository.path else ()
    return git.call(
        "-C", str(repository.tree), *PLAIN, *remote, "checkout", "--quiet", "--force", "--detach", repository.rev
    )


POINTER = "version https://git-lfs.github.com/spec/v1"
"""What stands in place of a file where git-lfs did not put it there."""


def find_pointers(git: Git, gathered: Sequence[GatheredRepository]) -> list[Path]:
    """Give the files of all trees that are pointers of git-lfs, which only a tree can have that names it."""
    found = []
    for tree in (one.repository.tree for one in gathered):
        if git.ask("-C", str(tree), "grep", "-q", "filter=lfs", "--", ":(glob)**/.gitattributes") is not None:
            listed = git.ask("-C", str(tree), "grep", "-lzI", "-F", POINTER)
            files = [tree / name for name in (listed or "").split("\0") if name]
            found += [file for file in files if file.read_bytes()[:1024].startswith(POINTER.encode())]
    return found


def judge(one: GatheredRepository, said: GitAnswer) -> bool:
    """Say whether the store is to blame. Raises FetchError where it is not."""
    tree = one.repository.tree
    if said.kind == ROOM:
        raise FetchError(f"cannot write {tree}: {said.last}", MAKE_ROOM)
    if one.store is None or not DAMAGED.search(said.words):
        raise FetchError(f"git checkout failed in {tree}: {said.last}", "read the log above")
    return True


def register(git: Git, gathered: Sequence[GatheredRepository]) -> None:
    """Make each repository know its submodules, as `git submodule init` and `sync` would."""
    stale = False
    for one in gathered:
        parent, submodule = one.repository.parent, one.repository
        if parent is not None:
            config = parent.folder / "config"
            text = config.read_text()
            head, url = f"[submodule {quote(submodule.module)}]", f"url = {quote(submodule.address)}"
            stale |= head in text and url not in text and f"url = {submodule.address}\n" not in text
            if head not in text:
                write_text(config, f"{text}{head}\n\tactive = true\n\t{url}\n")
    if stale:
        git.call("-C", str(gathered[0].repository.tree), "submodule", "--quiet", "sync", "--recursive")
