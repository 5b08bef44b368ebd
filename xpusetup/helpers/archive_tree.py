"""An unpacked source archive: which files are its source, their hash, their date, and which submodules it lacks."""

from __future__ import annotations

import hashlib
import os
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from git_process import FetchError
from git_tree import parse_modules

if TYPE_CHECKING:
    from collections.abc import Iterator

    from git_process import Git

MODULES = ".gitmodules"
PACKED = "PKG-INFO"
MADE = ("build", "dist")
"""Folders at the top of a tree in which builds work, where no .gitignore says so."""


class Tree(NamedTuple):
    """What identifies an unpacked archive, as nothing in it names a commit. `date` is in seconds since the epoch."""

    sha256: str
    files: int
    date: int
    missing: tuple[str, ...]


def look(git: Git, folder: Path) -> Tree:
    """Hash the files of an archive. Its date is that of PKG-INFO, else of the newest file: tar keeps them."""
    names = sorted(_list_sources(git, folder))
    if not names:
        raise FetchError(f"{folder} holds no file", "unpack the archive there, or name another folder")
    digest, newest = hashlib.sha256(), 0
    for name in names:
        path = folder / name
        seen = path.lstat()
        newest = max(newest, int(seen.st_mtime))
        digest.update(f"{name}\0{_kind(path, seen.st_mode)}\0{_hash(path)}\n".encode("utf-8", "surrogateescape"))
    packed = folder / PACKED
    date = int(packed.stat().st_mtime) if packed.is_file() else newest
    return Tree(digest.hexdigest(), len(names), date, tuple(_missing(git, folder, names)))


def _list_sources(git: Git, folder: Path) -> Iterator[str]:
    """List the files that the archive's own .gitignore files do not leave out: a build works in the same folder."""
    with tempfile.TemporaryDirectory(prefix="xpusetup-") as place:
        git.ask("init", "--quiet", "--template=", "--bare", place)
        options = ("-c", "core.excludesFile=/dev/null", f"--git-dir={place}", f"--work-tree={folder}")
        listed = git.ask(*options, "-C", str(folder), "ls-files", "-z", "--others", "--exclude-standard")
    if listed is None:
        raise FetchError(f"the files of {folder} cannot be listed", "look at its mode")
    for name in filter(None, listed.split("\0")):
        if name.endswith("/"):  # a repository of its own, as a submodule that was cloned into its place
            yield from (str(path.relative_to(folder)) for path in (folder / name).rglob("*") if _is_source(path))
        elif name.split("/")[0] not in MADE and not name.split("/")[0].endswith(".egg-info"):
            yield name


def _is_source(path: Path) -> bool:
    return path.is_file() and not {".git", "__pycache__"} & set(path.parts)


def _kind(path: Path, mode: int) -> str:
    return "link" if path.is_symlink() else "program" if mode & 0o100 else "file"


def _hash(path: Path) -> str:
    if path.is_symlink():
        return hashlib.sha256(os.fsencode(path.readlink())).hexdigest()
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while chunk := file.read(1 << 20):
            digest.update(chunk)
    return digest.hexdigest()


def _missing(git: Git, folder: Path, names: list[str]) -> Iterator[str]:
    """Give the submodules whose folders are empty: archives that a server makes of a commit hold none."""
    for name in names:
        if Path(name).name != MODULES:
            continue
        listed = git.ask("config", "-z", "--file", str(folder / name), "--list") or ""
        for module in parse_modules(listed):
            place = folder / Path(name).parent / module.get("path", ".")
            if not place.is_dir() or not any(place.iterdir()):
                yield str(place.relative_to(folder))
