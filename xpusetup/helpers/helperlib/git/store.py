"""Where fetched objects are kept for all roots: a bare repository for each address, whose packs become hard links.

A tree made from it shares the bytes and needs nothing of it afterwards: the store can be emptied, or lie where others
alone may write. What is whole stands in one file, which is written last. Who writes holds the repository's lock, and so
does the git that writes for it, so that what lies about half-done is nobody's.
"""

from __future__ import annotations

import errno
import fcntl
import hashlib
import os
import re
import shutil
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from helperlib.git.process import Git, inside, say
from helperlib.output import whole, write_text

SETTING = "xpusetup.store"
REFS = "refs/xpusetup"
KEPT = "xpusetup-kept"
LOCK = "xpusetup-lock"
TRIES = 20
SHALLOW = "shallow"
CONFIG = "[core]\n\trepositoryformatversion = 0\n\tfilemode = true\n\tbare = {bare}\n"
HEAD = "ref: refs/heads/xpusetup\n"
UNSAFE = re.compile(r"[^A-Za-z0-9._-]+")
LONGEST = 60


@dataclass(frozen=True)
class ObjectStore:
    """One folder of repositories."""

    folder: Path

    def place(self, address: str) -> Path:
        plain = address.rstrip("/").removesuffix(".git")
        name = UNSAFE.sub("-", "/".join(plain.split("/")[-2:])).strip("-.")[-LONGEST:]
        return self.folder / f"{name}-{hashlib.sha256(plain.encode()).hexdigest()[:12]}.git"

    def holds(self, address: str, rev: str) -> bool:
        """Say whether a commit with all that belongs to it is here."""
        try:
            return rev in WholeObjects.read(self.place(address)).commits
        except OSError:  # a store that may not even be read
            return False

    def forget(self, address: str) -> None:
        with self.lock(address) as place:
            (place / KEPT).unlink(missing_ok=True)
            for entry in place.iterdir():
                if entry.is_dir():
                    shutil.rmtree(entry)
                elif entry.name != LOCK:
                    entry.unlink()

    @contextmanager
    def lock(self, address: str) -> Iterator[Path]:
        """Give the repository of an address to write in, once nobody else does. Raises OSError where one cannot."""
        place = self.place(address)
        tries = (hold(place, address) for _ in range(TRIES))  # as long as `remove --cache` takes it away from under us
        stream = next(filter(None, tries), None)
        if stream is None:  # a file system on which the same file never is the same
            raise OSError(errno.ESTALE, os.strerror(errno.ESTALE), str(place))
        with stream:
            try:
                yield place
            finally:
                fcntl.flock(stream, fcntl.LOCK_UN)


def hold(place: Path, address: str) -> BinaryIO | None:
    """Wait for the lock of a repository; None where what was waited for was removed meanwhile, and holds nobody off."""
    place.mkdir(parents=True, exist_ok=True)
    with suppress(FileNotFoundError), ExitStack() as stack:
        stream = stack.enter_context((place / LOCK).open("ab"))
        os.set_inheritable(stream.fileno(), True)
        try:
            fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            say(f"{address}: waiting for another fetch of it")
            fcntl.flock(stream, fcntl.LOCK_EX)
        if os.path.samestat(os.fstat(stream.fileno()), (place / LOCK).stat()):
            stack.pop_all()
            return stream
    return None


@dataclass(frozen=True)
class WholeObjects:
    """What of a repository is whole: commits, the packs that hold them, and the commits at which history ends."""

    commits: frozenset[str] = frozenset()
    packs: frozenset[str] = frozenset()
    ends: frozenset[str] = frozenset()

    @classmethod
    def read(cls, place: Path) -> WholeObjects:
        """Read it from its file, which is written last, and whole."""
        words = [line.split() for line in read_lines(place / KEPT)]
        return cls(*(frozenset(word[1] for word in words if word[0] == kind) for kind in ("commit", "pack", "end")))

    def size(self, place: Path) -> int:
        """Give the bytes of the packs. Raises OSError where they are not there any more."""
        return sum((place / f"objects/pack/{name}.pack").stat().st_size for name in self.packs)

    def write(self, place: Path) -> None:
        told = (("commit", self.commits), ("pack", self.packs), ("end", self.ends))
        write_text(place / KEPT, "".join(f"{kind} {each}\n" for kind, those in told for each in sorted(those)))


def find_stores(git: Git) -> tuple[ObjectStore, ...]:
    """Give the stores of this place in the order in which they are looked at; the last one is the user's own."""
    named = git.settings.get(SETTING, ())
    if "off" in named:
        return ()
    home = git.environment.get("HOME", "")
    cache = git.environment.get("XDG_CACHE_HOME") or (f"{home}/.cache" if home else "")
    own = [f"{cache}/xpusetup/git"] if cache else []
    return tuple(ObjectStore(Path(folder).expanduser()) for folder in dict.fromkeys([*named, *own]) if folder)


def is_kept(address: str) -> bool:
    """Say whether what comes from an address is worth keeping: a folder of this machine is as near as the store."""
    return not address.startswith(("/", "./", "../", "~"))


def write_into(store: ObjectStore, address: str, rev: str, git: Git, bring: Callable[[Path], None]) -> int:
    """Bring a commit into a store, unless it came while we waited; how many bytes of packs were there before.

    Raises OSError where nobody can write there.
    """
    with store.lock(address) as place:
        before = WholeObjects.read(place)
        size = before.size(place)
        if rev in before.commits:
            return size
        clear(place)
        make_repository(place, bare=True)
        bring(place)
        said = git.call(*inside(place), "update-ref", f"{REFS}/{rev}", rev, show=False)
        if said.code:
            raise OSError(errno.EIO, said.last, str(place))
        packs = {index.stem for index in (place / "objects/pack").glob("pack-*.idx")}
        ends = read_lines(place / SHALLOW)
        WholeObjects(before.commits | {rev}, frozenset(packs), frozenset(ends)).write(place)
        return size


def make_repository(place: Path, *, bare: bool, more: str = "") -> None:
    """Make an empty repository; HEAD, by which git knows it, comes last."""
    if (place / "HEAD").exists():
        return
    for folder in ("objects/pack", "objects/info", "refs/heads", "refs/tags"):
        (place / folder).mkdir(parents=True, exist_ok=True)
    write_text(place / "config", CONFIG.format(bare=str(bare).lower()) + more)
    write_text(place / "HEAD", HEAD)


def clear(place: Path) -> None:
    """Remove what a killed git left: locks, packs that are not whole."""
    for lock in place.rglob("*.lock"):
        lock.unlink()
    packs = place / "objects/pack"
    for file in packs.iterdir() if packs.is_dir() else ():
        if not file.with_suffix(".idx").exists() or file.name.startswith("tmp_"):
            file.unlink()


def link_objects(place: Path, target: Path) -> int:
    """Give a repository all that another one keeps whole; how many bytes of packs that were.

    Links, or copies where the file system is another one. Where history ends comes first, the index of a pack last:
    a commit is never seen without what belongs to it. Raises OSError where it is not there any more.
    """
    kept = WholeObjects.read(place)
    ends = kept.ends | read_lines(target / SHALLOW)
    if ends:
        write_text(target / SHALLOW, "".join(f"{end}\n" for end in sorted(ends)))
    for name in sorted(kept.packs):
        pack = place / "objects/pack" / f"{name}.pack"
        for file in (pack, pack.with_suffix(".rev"), pack.with_suffix(".idx")):
            if file.suffix != ".rev" or file.exists():
                link(file, target / "objects/pack" / file.name)
    return kept.size(place)


def unlink_objects(place: Path, target: Path) -> None:
    """Take away from a repository what link_objects gave it, and the commit it was at, which was among that."""
    kept = WholeObjects.read(place)
    for name in kept.packs:
        for suffix in (".idx", ".rev", ".pack"):
            (target / f"objects/pack/{name}{suffix}").unlink(missing_ok=True)
    write_text(target / SHALLOW, "".join(f"{end}\n" for end in sorted(read_lines(target / SHALLOW) - kept.ends)))
    write_text(target / "HEAD", HEAD)
    (target / "index").unlink(missing_ok=True)


def link(file: Path, to: Path) -> None:
    """Make one file be at another place as well; whole, or not at all."""
    with suppress(FileExistsError):
        try:
            os.link(file, to)
        except FileExistsError:
            raise
        except OSError:  # another file system, one without links, or a file of someone else's
            with whole(to) as draft:
                shutil.copyfile(file, draft)
                draft.chmod(0o444)


def read_lines(path: Path) -> set[str]:
    """Give the lines of a file; none where it is not there."""
    try:
        return set(path.read_text().splitlines())
    except FileNotFoundError:
        return set()
