"""The repositories that a tree consists of: the one of its root, and those of its submodules, however deep.

Which they are is read from commits, not from files, so that all objects are here before the first file is touched.
Git finds what it would have made itself: .git/modules, and a .git file in each submodule's folder.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from git_process import FetchError, inside
from git_store import make_repository
from whole_file import write_text

if TYPE_CHECKING:
    from collections.abc import Iterator

    from git_process import Git

GITLINK = "160000"
RELATIVE = ("./", "../")
UNTRUSTED = "the tree is broken or hostile; look at its .gitmodules"


@dataclass(frozen=True, kw_only=True)
class Repository:
    """One repository of a tree: a commit of an address, and the folders of its objects and of its files.

    `path` is where it lies below the root of the tree, empty for the root itself; `ref` a ref that holds the commit;
    `parent` and `module`: whose submodule it is, under which name; `sparse`: the only folders that get files.
    """

    address: str
    rev: str
    folder: Path
    tree: Path
    path: str = ""
    ref: str = ""
    parent: Repository | None = None
    module: str = ""
    sparse: tuple[str, ...] = ()

    @property
    def depth(self) -> int:
        """How many repositories it lies in."""
        return self.parent.depth + 1 if self.parent else 0

    @property
    def name(self) -> str:
        """What it is called in messages."""
        return self.path or self.tree.name

    def make(self) -> None:
        """Make its folder of objects, unless it is there.

        A root has no remote: PyTorch's configure runs `git fetch` in a tree of torch-xpu-ops, which then asks nobody.
        """
        worktree = f"\tworktree = {quote(os.path.relpath(self.tree, self.folder))}\n"
        origin = f'[remote "origin"]\n\turl = {quote(self.address)}\n\tfetch = +refs/heads/*:refs/remotes/origin/*\n'
        make_repository(self.folder, bare=False, more=f"{worktree}{origin}" if self.path else "")

    def connect(self) -> None:
        """Make its tree know where its objects are."""
        if self.path and not (self.tree / ".git").is_dir():
            self.tree.mkdir(parents=True, exist_ok=True)
            write_text(self.tree / ".git", f"gitdir: {os.path.relpath(self.folder, self.tree)}\n")

    def has_files(self, path: str) -> bool:
        """Say whether something at a path of it, or below that, is among its files."""
        pairs = ((f"{path}/", f"{folder}/") for folder in self.sparse)
        return not self.sparse or any(one.startswith(other) or other.startswith(one) for one, other in pairs)


def list_submodules(git: Git, parent: Repository) -> list[Repository]:
    """Read from a commit which submodules it has, and at which commits. Raises FetchError for a hostile one.

    Those outside of the folders that get files are left out.
    """
    place = inside(parent.folder)
    listed = git.ask(*place, "config", "-z", "--blob", f"{parent.rev}:.gitmodules", "--list")
    if not listed:
        return []
    modules = {module["path"]: module for module in parse_modules(listed) if is_wanted(module)}
    modules = {path: module for path, module in modules.items() if parent.has_files(path)}
    links = git.ask(*place, "ls-tree", "-z", "--full-tree", parent.rev, "--", *modules) if modules else ""
    if links is None:
        raise FetchError(f"git cannot read the tree of {parent.rev} in {parent.folder}", "remove that folder")
    revs = dict(parse_links(links))
    return [make_submodule(parent, module, revs[path]) for path, module in modules.items() if path in revs]


def parse_modules(listed: str) -> Iterator[dict[str, str]]:
    """Read what git lists of a .gitmodules file: for each submodule its name and what is said of it."""
    found: dict[str, dict[str, str]] = {}
    for entry in filter(None, listed.split("\0")):
        key, _, value = entry.partition("\n")
        section, _, rest = key.partition(".")
        name, _, what = rest.rpartition(".")
        if section == "submodule" and name:
            found.setdefault(name, {"name": name})[what] = value
    yield from found.values()


def is_wanted(module: dict[str, str]) -> bool:
    """Say whether git would fetch a submodule too."""
    return bool(module.get("path") and module.get("url")) and module.get("update") != "none"


def parse_links(listed: str) -> Iterator[tuple[str, str]]:
    """Read path and commit of the submodules that a tree holds."""
    for entry in filter(None, listed.split("\0")):
        facts, _, path = entry.partition("\t")
        mode, _kind, rev = facts.split()
        if mode == GITLINK:
            yield path, rev


def make_submodule(parent: Repository, module: dict[str, str], rev: str) -> Repository:
    """Give the repository of a submodule; what would lie outside of the tree is refused."""
    name, path = PurePosixPath(module["name"]), PurePosixPath(module["path"])
    if {".."} & {*name.parts, *path.parts} or name.is_absolute() or path.is_absolute() or ".git" in path.parts:
        raise FetchError(f"{parent.name} has a submodule {name} at {path}, outside of its tree", UNTRUSTED)
    if module["url"].startswith("-"):
        raise FetchError(f"{parent.name} has a submodule {name} at the address {module['url']}", UNTRUSTED)
    return Repository(
        address=resolve_address(module["url"], parent.address),
        rev=rev,
        folder=parent.folder / "modules" / name,
        tree=parent.tree / path,
        path=f"{parent.path}/{path}".lstrip("/"),
        parent=parent,
        module=module["name"],
    )


def resolve_address(address: str, parent: str) -> str:
    """Give the address of a submodule that is written relative to that of its parent."""
    if not address.startswith(RELATIVE):
        return address
    base, rest = parent.rstrip("/"), address
    while rest.startswith(RELATIVE):
        up, rest = rest.startswith("../"), rest.partition("/")[2]
        if up:
            cut = max(base.rfind("/"), base.rfind(":"))
            base = base[: cut + 1] if base[cut : cut + 1] == ":" else base[:cut]
    return f"{base}{'' if base.endswith(':') else '/'}{rest}"


def find_own_folder(repository: Repository) -> Repository:
    """Give the repository with the folder of objects that its tree has already, as one that was cloned by hand has."""
    own = repository.tree / ".git"
    return replace(repository, folder=own) if repository.path and own.is_dir() else repository


def check_place(repository: Repository, root: Path) -> None:
    """Refuse a submodule that links of its parent's tree would lead somewhere else."""
    if not repository.tree.resolve().is_relative_to(root.resolve()) or repository.tree.is_symlink():
        raise FetchError(f"the submodule {repository.path} leads out of {root}", UNTRUSTED)


def quote(text: str) -> str:
    """Give a text as a value of git's configuration."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'
