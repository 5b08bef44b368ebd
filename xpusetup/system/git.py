"""Repositories here, read with GitPython, and what servers say. Fetching is a helper's: it travels with the steps."""

from __future__ import annotations

import hashlib
import re
import shlex
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import cache
from io import BytesIO
from pathlib import Path
from stat import S_ISDIR
from typing import TYPE_CHECKING

from xpusetup.base.errors import NotReadyError, WorkFailedError
from xpusetup.system.environment import cache_folder, variables, without
from xpusetup.system.process import ELSEWHERE, ProcessOutput, run_process

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from git import Repo
    from git.objects import Tree as GitTree

    from xpusetup.base.model import FoundRef


QUIET = {
    "GIT_TERMINAL_PROMPT": "0",
    "GIT_ASKPASS": "",  # empty: neither core.askPass nor SSH_ASKPASS is asked
    "GCM_INTERACTIVE": "never",
    "LC_ALL": "C",
}
"""Nobody is asked for a password: helperlib/git/process.py has the same for the steps; a test holds them together."""
SSH = "ssh -o BatchMode=yes -o ConnectTimeout=60 -o ServerAliveInterval=30"
SLOW = {"GIT_HTTP_LOW_SPEED_LIMIT": "100", "GIT_HTTP_LOW_SPEED_TIME": "60"}
"""Bytes per second below which, for so many seconds, a server counts as dead."""
LOOK_S = 20
"""Seconds for a list of the files of a tree: PyTorch's 20,000 take a tenth of one."""
TIMEOUT_S = 600
"""Seconds that a server may take over one answer."""
UNKNOWN = ("could not read Username", "could not read Password", "Authentication failed", "Permission denied")
"""What git says where a server wants to know who asks."""


@dataclass(frozen=True)
class TreeState:
    """Where a tree of git stands: its commit, and whether tracked files were changed."""

    rev: str
    changed: bool


@dataclass(frozen=True)
class Submodule:
    """One submodule: its name, its folder, its address as written, and the commit that it is pinned to."""

    name: str
    path: str
    address: str
    rev: str


def read_tree(path: Path) -> TreeState | None:
    """Give the commit a tree is at and whether tracked files were changed; None where there is no tree, or no git."""
    if not (path / ".git").exists():
        return None
    try:
        with _open(path) as repository:
            changed = repository.is_dirty(untracked_files=False, submodules=False)
            return TreeState(repository.head.commit.hexsha, changed=changed)
    except WorkFailedError:
        return None


LEFT = ("/build/", "/dist/", "*.egg-info/")
"""What builds leave in a tree, where no .gitignore says so; helpers/own_source.py has the same."""


def has_changed(tree: Path, since: float, *, but: str = "") -> bool:
    """Say whether a file of a tree was written, added or removed after a moment, in seconds since the epoch.

    What .gitignore leaves out, submodules and files whose name ends with `but` do not count. False where git does not
    list the files.
    """
    words = ("ls-files", "-z", "--cached", "--others", "--exclude-standard", *(f"--exclude={name}" for name in LEFT))
    if not (tree / ".git").exists():
        return False
    listed = ask_git({}, "-C", str(tree), "-c", "core.fsmonitor=false", *words, seconds=LOOK_S)
    names = (name for name in listed.out.split("\0") if name and not (but and name.endswith(but)))
    return listed.code == 0 and any(_written(tree / name) > since for name in names)


def _written(path: Path) -> float:
    """Give when a file was written; of one that is gone, when its folder was. 0 for a submodule."""
    with suppress(OSError):
        found = path.lstat()
        return 0.0 if S_ISDIR(found.st_mode) else found.st_mtime
    return next((each.stat().st_mtime for each in path.parents if each.is_dir()), 0.0)


class _Modules(BytesIO):
    """The text of .gitmodules; GitPython's parser names what it reads."""

    name = ".gitmodules"


def list_submodules(path: Path, rev: str) -> list[Submodule]:
    """Give the submodules of a commit, by name; without those that say `update = none`, as git leaves them.

    Raises WorkFailedError where the commit cannot be read.
    """
    from git.config import GitConfigParser  # noqa: PLC0415 - takes longer than a short command's own work

    with _open(path) as repository:
        tree = repository.commit(rev).tree
        if ".gitmodules" not in tree:
            return []
        text = _Modules(tree[".gitmodules"].data_stream.read())
        told = GitConfigParser(text, read_only=True, merge_includes=False)
        found = [
            _read_module(tree, section, {key: str(value) for key, value in told.items(section)})
            for section in sorted(told.sections())
        ]
    return [module for module in found if module is not None]


def _read_module(tree: GitTree, section: str, values: Mapping[str, str]) -> Submodule | None:
    """Read one table of .gitmodules; None where the commit has no such submodule or git leaves it out."""
    path = values.get("path", "")
    if "url" not in values or values.get("update") == "none":
        return None
    try:
        link = tree[path]
    except KeyError:
        return None
    name = section.removeprefix('submodule "').removesuffix('"')
    return Submodule(name, path, values["url"], link.hexsha) if link.type == "submodule" else None


@contextmanager
def _open(path: Path) -> Iterator[Repo]:
    """Open a repository, whatever the caller's variables say of another one.

    Raises WorkFailedError where there is none, where there is no git, and where git fails inside the block.
    """
    with without(ELSEWHERE):
        try:
            from git import GitCommandError, InvalidGitRepositoryError, Repo  # noqa: PLC0415 - same
        except ImportError as error:  # GitPython's answer where there is no git
            raise WorkFailedError("there is no git on PATH", command="xpusetup doctor --only git.present") from error
        try:
            with Repo(path) as repository:
                repository.git.update_environment(**QUIET, GIT_OPTIONAL_LOCKS="0", GIT_SSH_COMMAND=SSH)
                yield repository
        except (GitCommandError, InvalidGitRepositoryError, ValueError, OSError) as error:
            look = shlex.join(("git", "-C", str(path), "status"))
            raise WorkFailedError(f"git cannot read {path}: {error}", fix=f"look at it: {look}") from error


def list_refs(repo: str, names: Sequence[str], env: Mapping[str, str]) -> dict[str, str]:
    """Ask a server what these refs point at; all its branches and tags where it has none of them.

    Gives full name -> commit, annotated tags also peeled (`^{}`). Raises NotReadyError where it cannot be asked.
    """
    asked = [name for full in names for name in (full, f"{full}^{{}}")]
    found = _parse_refs(must_git(repo, env, "ls-remote", "--", repo, *asked)) if asked else {}
    if any(name in found for name in names):
        return found
    every = _parse_refs(must_git(repo, env, "ls-remote", "--", repo, "refs/heads/*", "refs/tags/*"))
    if not every:  # git takes a page for an old server that has nothing
        page = f"curl -sL {shlex.quote(f'{repo}/info/refs?service=git-upload-pack')} | head -c 300"
        told = f"{repo} has no branch and no tag: it is empty, or a web page answers there, as of a login"
        look = page if repo.startswith("http") else f"git ls-remote {shlex.quote(repo)}"
        raise NotReadyError(told, fix=f"see what it says: {look}")
    return every


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
        words = words if done.code == 0 else last_words(done)
    if not _has(mirror, found.rev, env):
        raise _cannot(repo, f"{NO_COMMIT} {found.rev}" if LACKS.search(words) else words, env)


def _has(mirror: Sequence[str], rev: str, env: Mapping[str, str]) -> bool:
    return ask_git(env, *mirror, "cat-file", "-e", f"{rev}^{{tree}}").code == 0


def _show(mirror: Sequence[str], repo: str, name: str, env: Mapping[str, str]) -> str | None:
    rev, path = name.split(":", 1)
    listed = must_git(repo, env, *mirror, "ls-tree", rev, "--", path)
    return must_git(repo, env, *mirror, "show", name) if listed else None


def ask_git(env: Mapping[str, str], *words: str, seconds: float = TIMEOUT_S) -> ProcessOutput:
    """Run git, which asks nobody and knows no repository but the one that is named; `env` goes before the caller's."""
    asking = {**variables(), **env, **QUIET}
    own = _own_patience(tuple(asking.items()))
    patience = {} if "http.lowspeedtime" in own else SLOW
    ssh = {} if "core.sshcommand" in own else {"GIT_SSH_COMMAND": SSH}
    return run_process(("git", *words), seconds=seconds, env={**patience, **ssh, **asking})


@cache
def _own_patience(env: tuple[tuple[str, str], ...]) -> frozenset[str]:
    """Give the settings of the caller's git that rule how long a server is waited for."""
    words = ("git", "--git-dir=/dev/null", "config", "--name-only", "--get-regexp")
    pattern = r"^(http\.lowspeedtime|core\.sshcommand)$"
    return frozenset(run_process((*words, pattern), seconds=TIMEOUT_S, env=dict(env)).out.lower().split())


def must_git(what: str, env: Mapping[str, str], *words: str, seconds: float = TIMEOUT_S) -> str:
    """Give what git prints. Raises NotReadyError, which names what it was asked about, where it fails."""
    done = ask_git(env, *words, seconds=seconds)
    if done.code is None and done.why.endswith("is not there"):
        raise NotReadyError("there is no git on PATH", command="xpusetup doctor --only git.present")
    if done.code != 0:
        raise _cannot(what, last_words(done), env)
    return done.out


NO_COMMIT = "it has no commit"
LACKS = re.compile(r"\A\Z|not our ref|unadvertised object|couldn't find remote ref")
"""What git says of a commit that a server has not, or nothing."""


def _cannot(what: str, words: str, env: Mapping[str, str]) -> NotReadyError:
    led = ask_git(env, "ls-remote", "--get-url", what).out.strip() or what  # where git's settings lead to
    folder = led.removeprefix("file://")
    mirror = "git config --global url.MIRROR.insteadOf ADDRESS"
    fix = f"look at the network, the proxy and the address\nor name a mirror: {mirror}"
    if folder.startswith("/") and not Path(folder).exists():
        words, fix = f"{folder} is not there", "bring the repository there, or name where it is"
    elif folder.startswith("/") or words.startswith(NO_COMMIT):
        look = shlex.join(("git", "ls-remote", what))
        fix = f"name a repository that may be read, and a commit that it has: {look}"
    elif any(sign in words for sign in UNKNOWN):
        asked = f"GIT_TERMINAL_PROMPT=0 git ls-remote {shlex.quote(what)}"
        fix = f"nobody is asked for a password here; give git a credential helper or a key, until this works: {asked}"
    return NotReadyError(f"git cannot read {what}: {words}", fix=fix)


def last_words(done: ProcessOutput) -> str:
    """Give the words of git that matter: what it died of, else its last."""
    lines = [line.strip() for line in done.err.splitlines() if line.strip()]
    died = next((line.removeprefix("fatal: ") for line in lines if line.startswith("fatal: ")), "")
    return died or (lines[-1] if lines else done.why or "it gave no message")


def _parse_refs(text: str) -> dict[str, str]:
    pairs = (line.split("\t", 1) for line in text.splitlines() if "\t" in line)
    return {name: rev for rev, name in pairs}
