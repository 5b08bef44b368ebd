"""What git says of a tree and of a server; fetching trees is a helper's work, because it travels with the steps."""

from __future__ import annotations

import hashlib
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

from xpusetup.base.errors import NotReadyError
from xpusetup.system.environment import cache_folder
from xpusetup.system.process import run_process

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    import git

    from xpusetup.base.model import FoundRef


QUIET = {"GIT_TERMINAL_PROMPT": "0"}
TIMEOUT_S = 600
"""Seconds that a server may take over one answer."""


@dataclass(frozen=True)
class Tree:
    """Where a tree of git stands: its commit, and whether tracked files were changed."""

    rev: str
    changed: bool


def read_tree(path: Path) -> Tree | None:
    """Give the commit a tree is at and whether tracked files were changed; None where there is no tree, or no git."""
    if not (path / ".git").exists():
        return None
    git = ("git", "--no-optional-locks", "-C", str(path))  # GitPython takes longer to import than both take to run
    head = run_process((*git, "rev-parse", "HEAD"), seconds=TIMEOUT_S)
    changes = run_process(
        (*git, "status", "--porcelain", "--untracked-files=no", "--ignore-submodules=all"), seconds=TIMEOUT_S
    )
    if head.code != 0 or changes.code != 0:
        return None
    return Tree(head.out.strip(), changed=bool(changes.out.strip()))


def list_refs(repo: str, names: Sequence[str], env: Mapping[str, str]) -> dict[str, str]:
    """Ask a server what these refs point at; all its branches and tags where it has none of them.

    Gives full name -> commit, annotated tags also peeled (`^{}`). Raises NotReadyError where it cannot be asked.
    """
    asked = [name for full in names for name in (full, f"{full}^{{}}")]
    found = _parse_refs(_call(repo, env, "ls-remote", "--", repo, *asked)) if asked else {}
    if any(name in found for name in names):
        return found
    return _parse_refs(_call(repo, env, "ls-remote", "--", repo, "refs/heads/*", "refs/tags/*"))


def list_tags(repo: str, pattern: str, env: Mapping[str, str]) -> dict[str, str]:
    """Ask a server for the commits of the tags that fit a pattern, by the tag. Raises NotReadyError."""
    begin = "refs/tags/"
    refs = _parse_refs(_call(repo, env, "ls-remote", "--", repo, f"{begin}{pattern}", f"{begin}{pattern}^{{}}"))
    whole = [name for name in refs if not name.endswith("^{}")]
    return {name.removeprefix(begin): refs.get(f"{name}^{{}}", refs[name]) for name in whole}


def read_files(repo: str, found: FoundRef, paths: Sequence[str], env: Mapping[str, str]) -> dict[str, str | None]:
    """Read files of one commit of a server without its whole tree; None for one that is not in it.

    What was fetched stays in the cache, without the contents of files where the server can leave them out.
    """
    import git  # noqa: PLC0415 - slow to import, and locks alone ask

    folder = cache_folder("trees") / f"{hashlib.sha256(repo.encode()).hexdigest()[:16]}.git"
    mirror = git.Repo.init(folder, bare=True)
    with mirror.git.custom_environment(**{**env, **QUIET}):
        if "origin" not in [remote.name for remote in mirror.remotes]:
            mirror.create_remote("origin", repo)
        _bring(mirror, repo, found)
        return {path: _show(mirror, found.rev, path) for path in paths}


def _bring(mirror: git.Repo, repo: str, found: FoundRef) -> None:
    """Fetch a commit at depth 1; by its ref, then with all branches, where the server refuses plain commits."""
    import git  # noqa: PLC0415

    shallow = ("--depth=1", "--filter=blob:none", "origin")
    ways = [
        (*shallow, found.rev),
        *([(*shallow, found.ref)] if found.ref else []),
        ("--tags", "origin", "+refs/heads/*:refs/heads/*"),
    ]
    words = ""
    for way in ways:
        if _has(mirror, found.rev):
            return
        try:
            mirror.git.fetch(*way, kill_after_timeout=TIMEOUT_S)
        except git.GitCommandError as error:
            words = _last(str(error.stderr))
    if not _has(mirror, found.rev):
        raise _cannot(repo, words or f"it has no commit {found.rev}")


def _has(mirror: git.Repo, rev: str) -> bool:
    import git  # noqa: PLC0415

    with suppress(git.GitCommandError):
        mirror.git.cat_file("-e", f"{rev}^{{tree}}")
        return True
    return False


def _show(mirror: git.Repo, rev: str, path: str) -> str | None:
    import git  # noqa: PLC0415

    if not mirror.git.ls_tree(rev, "--", path):
        return None
    try:
        return str(mirror.git.show(f"{rev}:{path}", kill_after_timeout=TIMEOUT_S))
    except git.GitCommandError as error:
        raise _cannot(path, _last(str(error.stderr))) from error


def _call(repo: str, env: Mapping[str, str], *words: str) -> str:
    try:
        import git  # noqa: PLC0415 - slow to import, and locks alone ask
    except ImportError as error:  # which is how GitPython says that there is no git on PATH
        raise NotReadyError("there is no git on PATH", fix="xpusetup doctor --only git.present") from error
    try:
        done = git.Git().execute(["git", *words], env={**env, **QUIET}, kill_after_timeout=TIMEOUT_S)
    except git.GitCommandError as error:
        raise _cannot(repo, _last(str(error.stderr))) from error
    return str(done)


def _cannot(what: str, words: str) -> NotReadyError:
    fix = "look at the network, the proxy and the address; a mirror: git config --global url.MIRROR.insteadOf ADDRESS"
    return NotReadyError(f"git cannot read {what}: {words}", fix=fix)


def _last(words: str) -> str:
    lines = [line.strip(" '") for line in words.splitlines() if line.strip(" '")]
    return lines[-1].removeprefix("stderr: '") if lines else "it gave no message"


def _parse_refs(text: str) -> dict[str, str]:
    pairs = (line.split("\t", 1) for line in text.splitlines() if "\t" in line)
    return {name: rev for rev, name in pairs}
