"""Writes the files of a tree whose objects are all here: parents first, then their submodules, several at a time."""

from __future__ import annotations

import os
import re
from concurrent.futures import ThreadPoolExecutor
from itertools import groupby
from typing import TYPE_CHECKING

from git_failures import ROOM
from git_process import FetchError
from git_tree import Repository, check_place, quote
from whole_file import write_text

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from git_gather import Gathered
    from git_process import Git, Said

PLAIN = ("-c", "advice.detachedHead=false", "-c", "submodule.recurse=false", "-c", "core.hooksPath=/dev/null")
"""What a checkout does not take over from its caller."""

DAMAGED = re.compile(r"corrupt|inflate|unable to read|bad object|packfile|missing|mismatch|not a tree", re.IGNORECASE)
"""What git says of objects that it cannot read."""


def check_out_all(git: Git, gathered: Sequence[Gathered]) -> list[Gathered]:
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


def check_out(git: Git, repository: Repository, root: Path) -> Said:
    """Write the files of one repository."""
    check_place(repository, root)
    repository.connect()
    choose_folders(git, repository)
    return git.call("-C", str(repository.tree), *PLAIN, "checkout", "--quiet", "--force", "--detach", repository.rev)


def choose_folders(git: Git, repository: Repository) -> None:
    """Write down which folders get files: a git that is called here later leaves the others out as well."""
    patterns = repository.folder / "info/sparse-checkout"
    if not repository.sparse and not patterns.exists():
        return
    patterns.parent.mkdir(exist_ok=True)
    folders = [f"/{folder}/\n" for folder in repository.sparse]
    write_text(patterns, "".join(folders) or "/*\n")
    for name, value in (("core.sparseCheckout", "true"), ("core.sparseCheckoutCone", "false")):
        git.ask(f"--git-dir={repository.folder}", "config", name, value)


def judge(one: Gathered, said: Said) -> bool:
    """Say whether the store is to blame. Raises FetchError where it is not."""
    tree = one.repository.tree
    if said.kind == ROOM:
        raise FetchError(
            f"cannot write {tree}: {said.last}", "make room there, or choose another place: --build-dir DIR"
        )
    if one.store is None or not DAMAGED.search(said.words):
        raise FetchError(f"git checkout failed in {tree}: {said.last}", "read the log above")
    return True


def register(git: Git, gathered: Sequence[Gathered]) -> None:
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
