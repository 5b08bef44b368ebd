"""cache: what the program keeps on the disk, how large it is, and what of it can go."""

import fcntl
import os
import re
import shutil
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from xpusetup.commands.result import Result
from xpusetup.run.lock import is_held
from xpusetup.run.root import BESIDE, LOCKED, find_roots
from xpusetup.run.workspace import load_settings, roots_folder
from xpusetup.system.environment import cache_folder
from xpusetup.system.process import run_process

# What the program keeps on the disk for all roots: the git store; and what the roots themselves take.


LOCK, KEPT = "xpusetup-lock", "xpusetup-kept"
TIMEOUT_S = 600.0
"""Seconds that the sizes of one root may take: a tree of PyTorch has some hundred thousand files."""
KIB = 1024
STORE = "git"
HASH = re.compile(r"-[0-9a-f]{12}\.git$")
PARTS = ("src", "venv", "wheels")
REST = "rest"
"""The part of a root for everything else: published wheels, archives, a bundle, logs."""
UNPACKED = "bundles, unpacked"
FOLDERS = {
    "bundles": UNPACKED,
    "suites": "sources of test suites",
    "history": "histories that were searched (bisect)",
    "trees": "files of revisions that were looked at",
    "fits": "which libraries fit",
    "read": "profiles, as they were read",
}
"""What lies beside the git store, by its folder."""


@dataclass(frozen=True)
class CachedRepository:
    """Objects of one address. `used`: a tree still has hard links to them, so that removing it frees nothing."""

    name: str
    path: str
    bytes: int
    used: bool


@dataclass(frozen=True)
class RootSize:
    """What a root takes, in bytes, by its folders; None where nobody could look in time."""

    name: str
    path: str
    parts: dict[str, int | None]


@dataclass(frozen=True)
class KeptFolder:
    """Something else that is kept for all builds, and can be made or fetched again; `bytes` as of a root."""

    what: str
    path: str
    bytes: int | None


def list_repositories(store: Path) -> list[CachedRepository]:
    """List what the git store holds, the largest first."""
    found = [_look(path) for path in store.glob("*.git") if path.is_dir()] if store.is_dir() else []
    return sorted(found, key=lambda one: -one.bytes)


def _look(path: Path) -> CachedRepository:
    files = []
    for file in (path / "objects/pack").glob("pack-*.pack"):
        with suppress(FileNotFoundError):  # a prune is at work
            files.append(file.stat())
    size = sum(file.st_size for file in files)
    return CachedRepository(HASH.sub("", path.name), str(path), size, used=any(file.st_nlink > 1 for file in files))


def remove_repository(path: Path) -> bool:
    """Remove one repository of the store; False where a fetch is writing to it, or it is not ours to write.

    First goes what says that something is whole, the lock last: who waits for it sees that it is gone, and who comes
    later makes one of his own.
    """
    try:
        with (path / LOCK).open("ab") as stream:
            fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if not os.path.samestat(os.fstat(stream.fileno()), (path / LOCK).stat()):
                return False
            (path / KEPT).unlink(missing_ok=True)
            for entry in path.iterdir():
                if entry.is_dir():
                    shutil.rmtree(entry)
                elif entry.name != LOCK:
                    entry.unlink()
            (path / LOCK).unlink()
    except OSError:  # held by a fetch, or read-only
        return False
    with suppress(OSError):  # another fetch has begun there
        path.rmdir()
    return True


def measure_roots(folder: Path) -> list[RootSize]:
    """Measure the roots below a folder: those that hold a lock of a profile, second builds of `rebuild` among them."""
    locks = (path for each in ("", f"{BESIDE}/") for path in folder.glob(f"{each}*/{LOCKED}"))
    return [_measure_root(path.parent) for path in sorted(locks)]


def _measure_root(root: Path) -> RootSize:
    try:
        rest = [path for path in sorted(root.iterdir()) if path.name not in PARTS]
    except OSError:  # it was removed meanwhile, or is closed to us
        return RootSize(root.name, str(root), dict.fromkeys((*PARTS, REST)))
    return RootSize(root.name, str(root), {**{part: measure(root / part) for part in PARTS}, REST: measure(*rest)})


def measure_others(folder: Path) -> list[KeptFolder]:
    """Measure what is kept beside the git store, the largest first."""
    there = [path for path in folder.iterdir() if path.is_dir() and path.name != STORE] if folder.is_dir() else []
    found = [KeptFolder(FOLDERS.get(path.name, path.name), str(path), measure(path)) for path in there]
    return sorted(found, key=lambda one: (-(one.bytes or 0), one.path))


def measure(*places: Path) -> int | None:
    """Measure what files and folders take on the disk, in bytes; None where nobody could look in time."""
    there = [str(path) for path in places if path.exists()]
    if not there:
        return 0
    done = run_process(("du", "-skc", "--", *there), seconds=TIMEOUT_S)
    total = done.out.split("\n")[-2:-1] if done.out.endswith("\n") else []
    first = total[0].split()[:1] if total else []
    return int(first[0]) * KIB if first and first[0].isdigit() else None


@dataclass(frozen=True)
class CacheSize:
    """What the program keeps on the disk, in bytes. No tree uses `freed` of them.

    `others` lie beside the store: `remove --cache` takes the bundles, and each may go while no command is at work.
    """

    store: str
    repositories: list[CachedRepository]
    bytes: int
    freed: int
    roots: list[RootSize]
    others: list[KeptFolder]


@dataclass(frozen=True)
class PrunedCache:
    """What was removed from a git store, what could not be, and the bytes that this freed.

    `unpacked` is the folder of unpacked bundles, where it went too.
    """

    store: str
    removed: list[CachedRepository]
    busy: list[CachedRepository]
    freed: int
    unpacked: str | None


def size() -> Result[CacheSize]:
    store = cache_folder(STORE)
    repositories = list_repositories(store)
    found = CacheSize(
        store=str(store),
        repositories=repositories,
        bytes=sum(one.bytes for one in repositories),
        freed=_freed(repositories),
        roots=measure_roots(roots_folder(load_settings())),
        others=measure_others(cache_folder("")),
    )
    return Result("list --cache", found)


def prune(*, everything: bool) -> Result[PrunedCache]:
    """Remove from the git store what no tree uses any more, or all of it; trees keep what they have."""
    store = cache_folder(STORE)
    wanted = [one for one in list_repositories(store) if everything or not one.used]
    done = [one for one in wanted if remove_repository(Path(one.path))]
    removed = {one.path for one in done}
    busy = [one for one in wanted if one.path not in removed]
    unpacked, freed = _remove_unpacked()
    return Result("remove --cache", PrunedCache(str(store), done, busy, _freed(done) + freed, unpacked))


def _remove_unpacked() -> tuple[str | None, int]:
    """Remove the bundles that were unpacked, which only a build from them reads; none while a build is at work."""
    place = cache_folder("bundles")
    if not place.is_dir() or any(is_held(root / "lock") for root in find_roots(roots_folder(load_settings()))):
        return None, 0
    freed = measure(place) or 0
    shutil.rmtree(place, ignore_errors=True)
    return str(place), freed


def _freed(removed: list[CachedRepository]) -> int:
    return sum(one.bytes for one in removed if not one.used)
