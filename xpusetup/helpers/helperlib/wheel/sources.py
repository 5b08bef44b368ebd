"""What a wheel was made of: the repositories of its source tree by commit, archives by hash, their licence files."""

import json
import os
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

from helperlib.env.pins import hash_file
from helperlib.git.process import Git, without_credentials
from helperlib.git.tree import GITLINK, KEPT, MARK

LICENCE = re.compile(
    r"(?:licen[cs]es?|un-?licen[cs]e|copying|notices?|copyright|patents"
    r"|third[._-]?party[._-]?(?:licen[cs]es?|notices?|programs))(?:[._-].*)?",
    re.IGNORECASE,
)
"""How files are called that hold terms, or whom to name."""
CODE = re.compile(
    r"\.(?:py[ixc]?|c|cc|cpp|cxx|cu|h|hpp|hxx|inc|in|sh|js|ts|css|cmake|go|rs|java|rb|pl|json|ya?ml|toml|bazel|bzl|cfg|png|svg)",
    re.IGNORECASE,
)
STAMP = ".archive"
"""The file in an unpacked archive that holds its hash."""
MADE = {"build", "dist", "node_modules", "__pycache__"}


class Licence(NamedTuple):
    """A file with terms or notices, by its path below the source that it is in."""

    path: str
    sha256: str


@dataclass(frozen=True)
class WheelSource:
    """One source of a wheel: a repository at a commit, or files with a hash.

    `path` is where it lies below the tree, empty for the tree itself. `address` is empty where it is the builder's own:
    what it was cloned from is nobody's business. `changed`: files that git knows differ from the commit, for which
    `patches`, by sha256, may be the reason.
    """

    name: str
    path: str = ""
    address: str = ""
    tag: str = ""
    rev: str = ""
    sha256: str = ""
    changed: bool = False
    patches: tuple[str, ...] = ()
    licences: tuple[Licence, ...] = ()

    @property
    def uri(self) -> str:
        """Where it is from, as in-toto names it; empty where nobody else can get it."""
        if not self.rev:
            return self.address
        return f"git+{self.address}@{self.rev}" if self.address else ""

    @property
    def digest(self) -> dict[str, str]:
        """What it is held to."""
        return {"gitCommit": self.rev} if self.rev else {"sha256": self.sha256}


def find_sources(git: Git, tree: Path, name: str, told: Mapping[str, Any], archived: Path) -> list[WheelSource]:
    """Give the sources of a component, those in submodules included, in the order of their paths.

    `told` is what the profile says of the component, without a `repo` where the tree is the builder's own; `archived`
    the file that identifies an unpacked archive, by the hash of its files that its fetching step wrote down.
    """
    if not (tree / ".git").exists():
        digest = str(json.loads(archived.read_text(encoding="utf-8"))["archive"])
        return [WheelSource(name, sha256=digest, licences=tuple(_licences(tree, _files(tree))))]
    named = {"": {**told, "name": name}, **{str(item["path"]): item for item in told.get("vendored", ())}}
    found: dict[str, WheelSource] = {}
    for path, said in sorted(named.items()):
        if (tree / path / ".git").is_dir() or not path:
            place, mark = tree / path, tree / path / ".git" / MARK
            # As it was fetched: the profile's, not one of the builder's own, and at its commit.
            fetched = mark.is_file() and not place.is_symlink()
            ours = fetched and mark.read_text(encoding="utf-8").strip() == _head(git, place)
            listed = {each.path: each for each in _repositories(git, tree, path, str(said.get("repo", "")) * ours)}
            tag = str(said.get("tag", "")) * ours
            found |= {**listed, path: replace(listed[path], name=str(said["name"]), tag=tag)}
    return [found[path] for path in sorted(found)]


def _repositories(git: Git, tree: Path, path: str, address: str) -> Iterator[WheelSource]:
    """Give a repository and its submodules, however deep. Without an address it is the builder's own; so are they."""
    place = tree / path
    listed = [entry for entry in (_ask(git, place, "ls-files", "-s", "-z")).split("\0") if entry]
    rows = [(entry.partition(" ")[0], entry.partition("\t")[2]) for entry in listed]
    asked = ("status", "--porcelain", "--untracked-files=no", "--ignore-submodules=all")
    patches = Path(_ask(git, place, "rev-parse", "--absolute-git-dir").strip(), KEPT)  # those that are on the tree
    yield WheelSource(
        name=path,
        path=path,
        address=address,
        rev=_head(git, place),
        changed=bool(_ask(git, place, *asked)),
        patches=tuple(hash_file(each) for each in sorted(patches.glob("*.patch"))),
        licences=tuple(_licences(place, (name for mode, name in rows if mode != GITLINK))),
    )
    for mode, name in rows:
        inner = f"{path}/{name}".lstrip("/")
        if mode == GITLINK and (tree / inner / ".git").exists():
            origin = _ask(git, tree / inner, "config", "remote.origin.url").strip() if address else ""
            yield from _repositories(git, tree, inner, without_credentials(origin))


def _head(git: Git, place: Path) -> str:
    return _ask(git, place, "rev-parse", "--verify", "--quiet", "HEAD").strip()


def _ask(git: Git, place: Path, *words: str) -> str:
    return git.ask("-C", str(place), *words) or ""


def is_licence(name: str) -> bool:
    """Say whether a file of this name holds terms or notices, and is no code that is about them."""
    return bool(LICENCE.fullmatch(name)) and not CODE.fullmatch(Path(name).suffix)


def _licences(place: Path, names: Iterable[str]) -> Iterator[Licence]:
    for name in sorted(names):
        file = place / name
        if is_licence(file.name) and file.is_file() and not file.is_symlink():
            yield Licence(name, hash_file(file))


def _files(folder: Path) -> Iterator[str]:
    """List the files below a folder, but for those that a build makes."""
    for place, inside, names in os.walk(folder):
        inside[:] = sorted(each for each in inside if each not in MADE and not each.startswith("."))
        yield from (os.path.relpath(os.path.join(place, name), folder) for name in names)  # noqa: PTH118


def find_archives(folders: Iterable[Path], told: Mapping[str, Any]) -> list[WheelSource]:
    """Give the archives that a build took ready made, by the hash under which each was unpacked."""
    known = {str(item["name"]): str(item["url"]) for item in told.get("archives", ())}
    return [
        WheelSource(
            name=name,
            path=name,
            address=known.get(name, ""),
            sha256=(folder / STAMP).read_text(encoding="utf-8").strip(),
            licences=tuple(_licences(folder, _files(folder))),
        )
        for folder in folders
        for name in [folder.name.partition(".")[2]]
    ]
