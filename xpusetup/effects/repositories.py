"""Git repositories for bundles: the commits that a fetched tree is made of, a pack for each, repositories of them."""

from __future__ import annotations

import os
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from xpusetup.bundles.submodules import Submodule, has_files, parse_submodules, resolve_address
from xpusetup.effects.files import hash_file
from xpusetup.errors import NotReadyError, WorkFailedError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from xpusetup.bundles.contents import Repository

PLAIN = {"GIT_CONFIG_NOSYSTEM": "1", "GIT_CONFIG_GLOBAL": os.devnull, "GIT_TERMINAL_PROMPT": "0", "LC_ALL": "C"}
BRANCH = "refs/heads/bundle"


@dataclass(frozen=True)
class Tree:
    """A commit that lies checked out in a folder, and the addresses that git asks for it."""

    path: Path
    rev: str
    addresses: tuple[str, ...]


def list_trees(path: Path, address: str, sparse: Sequence[str] = ()) -> Iterator[Tree]:
    """Give a fetched tree and its submodules, however deep; of a sparse one those in its folders.

    Raises WorkFailedError where one is not there.
    """
    yield from _list_trees(path, (address,), sparse)


def _list_trees(path: Path, addresses: tuple[str, ...], sparse: Sequence[str] = ()) -> Iterator[Tree]:
    rev = _git(path, "rev-parse", "HEAD^{commit}").strip()
    yield Tree(path, rev, addresses)
    for module in submodules_of(path, rev, sparse):
        folder = path / module.path
        if not (folder / ".git").exists():
            raise WorkFailedError(f"{folder} was not fetched", fix="the same command again fetches it")
        told = _git(path, "config", "--default", "", "--get", f"submodule.{module.name}.url").strip()
        known = dict.fromkeys(each for each in (resolve_address(addresses[0], module.address), told) if each)
        yield from _list_trees(folder, tuple(known))


def tags_at(path: Path) -> list[str]:
    """Name the tags of the commit that a tree is at."""
    return _git(path, "tag", "--points-at", "HEAD").split()


def submodules_of(repository: Path, rev: str, sparse: Sequence[str] = ()) -> list[Submodule]:
    """Give the submodules of one commit that a fetch brings; of a sparse tree those in its folders."""
    links = [line for line in _git(repository, "ls-tree", "-r", "-z", rev).split("\0") if line.startswith("160000 ")]
    if not links or not _git(repository, "ls-tree", "-z", rev, "--", ".gitmodules"):
        return []
    listed = _git(repository, "config", "--blob", f"{rev}:.gitmodules", "--null", "--list")
    return [module for module in parse_submodules(listed, links) if has_files(module.path, sparse)]


def write_pack(tree: Tree, to: Path) -> None:
    """Pack a commit with all of its tree, without its history; a pack that is there is left alone."""
    if to.exists():
        return
    to.parent.mkdir(parents=True, exist_ok=True)
    objects = _git(tree.path, "rev-list", "--objects", "--no-walk", tree.rev)
    base = to.with_name(f".{to.name}.{os.getpid()}")
    packing = ("pack-objects", "-q", "--threads=1", "--no-reuse-delta", str(base))
    name = _git(tree.path, *packing, text=objects).strip()
    for ending in ("idx", "rev"):
        Path(f"{base}-{name}.{ending}").unlink(missing_ok=True)
    Path(f"{base}-{name}.pack").rename(to)


def make_repository(repository: Repository, folder: Path) -> None:
    """Make the bare repository of which a bundle holds the packs; they lie below the folder, and move into it."""
    place = folder / repository.folder
    place.parent.mkdir(parents=True, exist_ok=True)
    _git(place.parent, "init", "--quiet", "--bare", "--template=", str(place))
    for rev, pack in repository.commits.items():
        moved = place / f"objects/pack/pack-{rev}.pack"
        (folder / pack).rename(moved)
        _git(place, "index-pack", str(moved))
    (place / "shallow").write_text("".join(f"{rev}\n" for rev in sorted(repository.commits)))
    first = next(iter(repository.commits))
    branches = {f"{BRANCH}-{rev[:12]}": rev for rev in repository.commits}
    updates = "".join(f"create {name} {rev}\n" for name, rev in {**branches, **repository.refs, BRANCH: first}.items())
    _git(place, "update-ref", "--stdin", text=updates)
    _git(place, "symbolic-ref", "HEAD", BRANCH)
    # A step fetches the pinned commit by its hash, as from a forge.
    _git(place, "config", "uploadpack.allowAnySHA1InWant", "true")


def find_broken(place: Path, revs: Iterable[str]) -> dict[str, str]:
    """Say of each commit that is not whole in a repository what git says of it."""
    found = {rev: _run(place, ("rev-list", "--objects", "--quiet", f"{rev}^{{commit}}"), "") for rev in revs}
    return {rev: _last(done.stderr) for rev, done in found.items() if done.returncode}


def read_commit_file(place: Path, rev: str, path: str) -> str:
    """Read a file of a commit; empty where it has none."""
    done = _run(place, ("show", f"{rev}:{path}"), "")
    return "" if done.returncode else done.stdout.decode(errors="replace")


def hash_members(files: dict[str, Path]) -> list[dict[str, object]]:
    """Give name, size and hash of files, as a bundle names its members."""
    rows = sorted(files.items())
    return [{"name": name, "size": path.stat().st_size, "sha256": hash_file(path)} for name, path in rows]


def _git(place: Path, *arguments: str, text: str = "") -> str:
    done = _run(place, arguments, text)
    if done.returncode:
        raise WorkFailedError(f"git {arguments[0]} failed in {place}: {_last(done.stderr)}", fix="look at that folder")
    return done.stdout.decode(errors="surrogateescape")


def _run(place: Path, arguments: tuple[str, ...], text: str) -> subprocess.CompletedProcess[bytes]:
    kept = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    words = ("git", "-C", str(place), *arguments)
    try:
        sent = text.encode(errors="surrogateescape")
        return subprocess.run(words, input=sent, capture_output=True, check=False, env={**kept, **PLAIN})
    except FileNotFoundError as error:
        raise NotReadyError("there is no git on PATH", fix="xpusetup doctor --only git.present") from error


def _last(words: bytes) -> str:
    """Give what git died of; after it may come advice."""
    lines = words.decode(errors="replace").strip().splitlines() or ["it said nothing"]
    return next((line.removeprefix("fatal: ") for line in lines if line.startswith("fatal: ")), lines[-1])
