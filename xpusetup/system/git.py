"""What git says of a tree and of a server; fetching trees is a helper's work, because it travels with the steps."""

from __future__ import annotations

import hashlib
import re
import shlex
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from xpusetup.base.errors import NotReadyError
from xpusetup.system.environment import cache_folder, variables
from xpusetup.system.process import run_process

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from xpusetup.base.model import FoundRef
    from xpusetup.system.process import Output


QUIET = {"GIT_TERMINAL_PROMPT": "0", "LC_ALL": "C"}
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
    git = ("git", "--no-optional-locks", "-C", str(path))
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
    found = _parse_refs(must_git(repo, env, "ls-remote", "--", repo, *asked)) if asked else {}
    if any(name in found for name in names):
        return found
    return _parse_refs(must_git(repo, env, "ls-remote", "--", repo, "refs/heads/*", "refs/tags/*"))


def list_tags(repo: str, pattern: str, env: Mapping[str, str]) -> dict[str, str]:
    """Ask a server for the commits of the tags that fit a pattern, by the tag. Raises NotReadyError."""
    begin = "refs/tags/"
    refs = _parse_refs(must_git(repo, env, "ls-remote", "--", repo, f"{begin}{pattern}", f"{begin}{pattern}^{{}}"))
    whole = [name for name in refs if not name.endswith("^{}")]
    return {name.removeprefix(begin): refs.get(f"{name}^{{}}", refs[name]) for name in whole}


def read_files(repo: str, found: FoundRef, paths: Sequence[str], env: Mapping[str, str]) -> dict[str, str | None]:
    """Read files of one commit of a server without its whole tree; None for one that is not in it.

    What was fetched stays in the cache, without the contents of files where the server can leave them out.
    """
    folder = cache_folder("trees") / f"{hashlib.sha256(repo.encode()).hexdigest()[:16]}.git"
    must_git(repo, env, "init", "--quiet", "--bare", str(folder))
    mirror = ("-C", str(folder))
    if ask_git(env, *mirror, "config", "remote.origin.url").code:
        must_git(repo, env, *mirror, "remote", "add", "origin", repo)  # contents that were left out come from there
    _bring(mirror, repo, found, env)
    return {path: _show(mirror, repo, f"{found.rev}:{path}", env) for path in paths}


def _bring(mirror: Sequence[str], repo: str, found: FoundRef, env: Mapping[str, str]) -> None:
    """Fetch a commit at depth 1; by its ref, then with all branches, where the server refuses plain commits."""
    shallow = ("--depth=1", "--filter=blob:none", "origin")
    ways = [
        (*shallow, found.rev),
        *([(*shallow, found.ref)] if found.ref else []),
        ("--tags", "origin", "+refs/heads/*:refs/heads/*"),
    ]
    words = ""
    for way in ways:
        if _has(mirror, found.rev, env):
            return
        done = ask_git(env, *mirror, "fetch", "--quiet", *way)
        words = words if done.code == 0 else _last(done)
    if not _has(mirror, found.rev, env):
        raise _cannot(repo, f"{NO_COMMIT} {found.rev}" if LACKS.search(words) else words, env)


def _has(mirror: Sequence[str], rev: str, env: Mapping[str, str]) -> bool:
    return ask_git(env, *mirror, "cat-file", "-e", f"{rev}^{{tree}}").code == 0


def _show(mirror: Sequence[str], repo: str, name: str, env: Mapping[str, str]) -> str | None:
    rev, path = name.split(":", 1)
    listed = must_git(repo, env, *mirror, "ls-tree", rev, "--", path)
    return must_git(repo, env, *mirror, "show", name) if listed else None


def ask_git(env: Mapping[str, str], *words: str, seconds: float = TIMEOUT_S) -> Output:
    """Run git, which asks nobody and knows no repository but the one that is named; `env` goes before the caller's."""
    return run_process(("git", *words), seconds=seconds, env={**variables(), **env, **QUIET})


def must_git(what: str, env: Mapping[str, str], *words: str, seconds: float = TIMEOUT_S) -> str:
    """Give what git prints. Raises NotReadyError, which names what it was asked about, where it fails."""
    done = ask_git(env, *words, seconds=seconds)
    if done.code is None and done.why.endswith("is not there"):
        raise NotReadyError("there is no git on PATH", fix="xpusetup doctor --only git.present")
    if done.code != 0:
        raise _cannot(what, _last(done), env)
    return done.out


NO_COMMIT = "it has no commit"
LACKS = re.compile(r"\A\Z|not our ref|unadvertised object|couldn't find remote ref")
"""What git says of a commit that a server has not, or nothing."""


def _cannot(what: str, words: str, env: Mapping[str, str]) -> NotReadyError:
    led = ask_git(env, "ls-remote", "--get-url", what).out.strip() or what  # where git's settings lead to
    folder = led.removeprefix("file://")
    fix = "look at the network, the proxy and the address; a mirror: git config --global url.MIRROR.insteadOf ADDRESS"
    if folder.startswith("/") and not Path(folder).exists():
        words, fix = f"{folder} is not there", "bring the repository there, or name where it is"
    elif folder.startswith("/") or words.startswith(NO_COMMIT):
        look = shlex.join(("git", "ls-remote", what))
        fix = f"name a repository that may be read, and a commit that it has: {look}"
    return NotReadyError(f"git cannot read {what}: {words}", fix=fix)


def _last(done: Output) -> str:
    """Give the words that matter: what it died of, else its last."""
    lines = [line.strip() for line in done.err.splitlines() if line.strip()]
    died = next((line.removeprefix("fatal: ") for line in lines if line.startswith("fatal: ")), "")
    return died or (lines[-1] if lines else done.why or "it gave no message")


def _parse_refs(text: str) -> dict[str, str]:
    pairs = (line.split("\t", 1) for line in text.splitlines() if "\t" in line)
    return {name: rev for rev, name in pairs}
