"""Taking away what a build left: what that frees, whose work lies in its sources, and the removal itself."""

import configparser
import os
import shlex
import shutil
from collections.abc import Iterable, Iterator
from contextlib import suppress
from io import StringIO
from pathlib import Path

from xpusetup.base.errors import NotReadyError
from xpusetup.run.root import GOING
from xpusetup.system import files
from xpusetup.system.process import run_process

BLOCK = 512
"""Bytes of a block as stat counts them."""
TIMEOUT_S = 120.0
STATUS = ("status", "--porcelain=v1", "-z", "--untracked-files=no", "--ignore-submodules=all")
PATCHES = ".git/xpusetup-patches"
"""Where helpers/helperlib/git/tree.py keeps what it has put on."""


def measure(places: Iterable[Path]) -> tuple[int, int]:
    """Give the bytes that places take, and those that come free with them: not of files that have links elsewhere."""
    found: dict[tuple[int, int], list[int]] = {}
    for place in places:
        for seen in _stats(place):
            entry = found.setdefault((seen.st_dev, seen.st_ino), [seen.st_blocks * BLOCK, seen.st_nlink])
            entry[1] -= 1
    return sum(size for size, _ in found.values()), sum(size for size, links in found.values() if links <= 0)


def _stats(place: Path) -> Iterator[os.stat_result]:
    if place.is_symlink() or not place.is_dir():
        with suppress(OSError):
            yield place.lstat()
        return
    for folder, _, names in os.walk(place):
        for name in names:
            with suppress(OSError):
                yield os.lstat(os.path.join(folder, name))  # noqa: PTH118 - a tree has some hundred thousand files


def find_work(tree: Path, rev: str) -> str:
    """Say what of somebody's own lies in a fetched tree: commits, or changes of tracked files; empty where nothing.

    `rev` is the commit that was fetched. The patches that a step has put on are no work of somebody's.
    """
    if tree.is_symlink() or not (tree / ".git").is_dir():
        return ""
    head = run_process(("git", "-C", str(tree), "rev-parse", "HEAD"), seconds=TIMEOUT_S)
    if rev and head.code == 0 and head.out.strip() != rev:
        return f"it is at {head.out.strip()[:12]}, and {rev[:12]} was fetched"
    for repository in _repositories(tree):
        done, patched = (
            run_process(("git", "-C", str(repository), *STATUS), seconds=TIMEOUT_S),
            set(_patched(repository)),
        )
        names = [entry[3:] for entry in done.out.split("\0") if entry] if done.code == 0 else []
        if changed := [name for name in names if name not in patched]:
            return f"{(repository / changed[0]).relative_to(tree)} was changed there"
    return ""


def _repositories(tree: Path) -> Iterator[Path]:
    """Give a tree and those that lie in it: submodules, and what was put beside them."""
    for folder, below, names in os.walk(tree):
        if ".git" in below or ".git" in names:
            yield tree.__class__(folder)
        below[:] = [name for name in below if name != ".git"]


def _patched(repository: Path) -> Iterator[str]:
    for patch in sorted((repository / PATCHES).glob("*.patch")):
        for line in patch.read_text(encoding="utf-8", errors="replace").splitlines():
            if line.startswith(("--- a/", "+++ b/")):
                yield line[6:].split("\t")[0]


def remove_all(places: Iterable[Path], root: Path | None = None) -> None:
    """Remove files and folders, links as links. Raises NotReadyError where something may not be removed.

    Folders in `root` are renamed first: a removal that is cut off leaves no half of an environment under its name.
    """
    for place in places:
        _remove(_set_aside(place) if root in place.parents else place)


def _set_aside(place: Path) -> Path:
    aside = place.with_name(f".{place.name.strip('.')}{GOING}")
    if place.name.endswith(GOING) or not place.is_dir() or place.is_symlink() or aside.exists():
        return place
    with suppress(OSError):  # a mount point, or a folder that belongs to another
        place.rename(aside)
        return aside
    return place


def _remove(place: Path) -> None:
    try:
        if place.is_dir() and not place.is_symlink():
            shutil.rmtree(place)
        else:
            place.unlink(missing_ok=True)
    except OSError as error:
        fix = f"make it yours to write, then the same command: chmod -R u+w {shlex.quote(str(place))}"
        raise NotReadyError(f"cannot remove {error.filename or place}: {error.strerror}", fix=fix) from error


def remove_empty(folder: Path) -> bool:
    """Remove a folder that nothing is left in; say whether it is gone."""
    with suppress(OSError):
        folder.rmdir()
    return not folder.exists()


def forget_constraint(settings: Path, ours: str) -> None:
    """Take our constraint file out of the pip.conf of an environment; what else it says stays."""
    text = files.read_text(settings)
    found = configparser.RawConfigParser()
    try:
        found.read_string(text or "")
    except configparser.Error:
        return
    names = found.get("install", "constraint", fallback="").split()
    if text is None or ours not in names:
        return
    rest = [name for name in names if name != ours]
    if rest:
        found.set("install", "constraint", " ".join(rest))
    else:
        found.remove_option("install", "constraint")
    if not found.options("install"):
        found.remove_section("install")
    stream = StringIO()
    found.write(stream)
    if stream.getvalue().strip():
        files.write_text(settings, stream.getvalue(), theirs=True)
    else:
        files.remove(settings)
