"""Patches in a fetched tree: put on after it was fetched, taken back before it is fetched anew.

What was put on is kept in the tree's git folder, so that taking it back needs nothing from outside, and leaves alone
what someone changed beside it.
"""

from __future__ import annotations

import hashlib
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

from git_process import FetchError
from whole_file import whole

if TYPE_CHECKING:
    from collections.abc import Sequence

    from git_process import Git

KEPT = "xpusetup-patches"
QUIETLY = ("apply", "--whitespace=nowarn")


def folder_of(git: Git, tree: Path) -> Path:
    """Give where the patches of a tree are kept."""
    folder = (git.ask("-C", str(tree), "rev-parse", "--absolute-git-dir") or "").strip()
    if not folder:
        raise FetchError(f"{tree} is no git tree", "fetch it again")
    return Path(folder) / KEPT


def put_on(git: Git, tree: Path, files: Sequence[Path]) -> list[str]:
    """Apply patches, after taking back those that are on; give their names. All are on, or none."""
    take_back(git, tree)
    folder = folder_of(git, tree)
    folder.mkdir(exist_ok=True)
    for number, file in enumerate(files):
        text = file.read_bytes()
        kept = folder / f"{number:03}-{hashlib.sha256(text).hexdigest()[:12]}.patch"
        with whole(kept) as draft:
            draft.write_bytes(text)  # first: a patch that is half on is taken back as far as it is on
        said = git.call("-C", str(tree), *QUIETLY, str(file))
        if said.code:
            kept.unlink()
            take_back(git, tree)
            message = f"{file.name} does not fit {tree}: {said.last}"
            raise FetchError(message, f"look at it: git -C {tree} apply --check {file}")
    return [file.name for file in files]


def take_back(git: Git, tree: Path) -> None:
    """Take back the patches that are on, the last one first. One that is not on, after a kill, is only forgotten."""
    if not (tree / ".git").exists() or not (folder := folder_of(git, tree)).is_dir():
        return
    for kept in sorted(folder.glob("*.patch"), reverse=True):
        if git.call("-C", str(tree), *QUIETLY, "--check", str(kept)).code == 0:
            kept.unlink()  # it would fit: it is not on
            continue
        said = git.call("-C", str(tree), *QUIETLY, "--reverse", str(kept))
        if said.code:
            message = f"a patch in {tree} cannot be taken back, because what it changed was changed again: {said.last}"
            raise FetchError(message, f"keep your changes elsewhere, then: rm -r {folder}; git -C {tree} checkout -- .")
        kept.unlink()
    shutil.rmtree(folder)
