"""A fetched tree: its submodules, the patches on it, and what its CMake files clone."""

from __future__ import annotations

import hashlib
import os
import re
import shutil
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path, PurePosixPath

from helperlib.git.process import FetchError, Git, inside
from helperlib.git.store import make_repository
from helperlib.output import whole, write_text

# The repositories that a tree consists of: the one of its root, and those of its submodules, however deep.
#
# Which they are is read from commits, not from files, so that all objects are here before the first file is touched.
# Git finds what it would have made itself: .git/modules, and a .git file in each submodule's folder.


MARK = "xpusetup-rev"
"""The file in a fetched tree's git folder that holds the commit which was fetched."""
GITLINK = "160000"
RELATIVE = ("./", "../")
UNTRUSTED = "the tree is broken or hostile; look at its .gitmodules"


@dataclass(frozen=True, kw_only=True)
class TreeRepository:
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
    parent: TreeRepository | None = None
    module: str = ""
    sparse: tuple[str, ...] = ()

    @property
    def depth(self) -> int:
        """How many repositories it lies in."""
        return self.parent.depth + 1 if self.parent else 0

    @property
    def name(self) -> str:
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


def list_submodules(git: Git, parent: TreeRepository) -> list[TreeRepository]:
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


def make_submodule(parent: TreeRepository, module: dict[str, str], rev: str) -> TreeRepository:
    """Give the repository of a submodule; what would lie outside of the tree is refused."""
    name, path = PurePosixPath(module["name"]), PurePosixPath(module["path"])
    if {".."} & {*name.parts, *path.parts} or name.is_absolute() or path.is_absolute() or ".git" in path.parts:
        raise FetchError(f"{parent.name} has a submodule {name} at {path}, outside of its tree", UNTRUSTED)
    if module["url"].startswith("-"):
        raise FetchError(f"{parent.name} has a submodule {name} at the address {module['url']}", UNTRUSTED)
    return TreeRepository(
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


def check_place(repository: TreeRepository, root: Path) -> None:
    """Refuse a submodule that links of its parent's tree would lead somewhere else."""
    if not repository.tree.resolve().is_relative_to(root.resolve()) or repository.tree.is_symlink():
        raise FetchError(f"the submodule {repository.path} leads out of {root}", UNTRUSTED)


def quote(text: str) -> str:
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


# Patches in a fetched tree: put on after it was fetched, taken back before it is fetched anew.
#
# What was put on is kept in the tree's git folder, so that taking it back needs nothing from outside, and leaves
# alone what someone changed beside it.


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


# Reads from a CMake file of a tree what it clones by itself: the GIT_TAG of an ExternalProject, a name or a commit.


WORDS = re.compile(
    r"\#\[(?P<comment>=*)\[.*?\](?P=comment)\]|\#[^\n]*"
    r'|"(?P<quoted>(?:[^"\\]|\\.)*)"|(?P<bracket>[()])|(?P<word>[^\s()#"]+)',
    re.DOTALL,
)
CLONING = {"externalproject_add", "fetchcontent_declare", "fetchcontent_populate"}
COMMIT = re.compile(r"[0-9a-f]{40}")
VARIABLE = re.compile(r"\$\{(\w+)\}")


def find_tag(text: str, addresses: Sequence[str]) -> str:
    """Give the tag, branch or commit at which a file clones one of these addresses; empty where it clones none.

    Variables are filled in where the file sets them, to one word or several; any other stays as it is written. A file
    that holds a commit and nothing else names that: CMake's `file(READ ...)` has it from there.
    """
    if COMMIT.fullmatch(text.strip()):
        return text.strip()
    known: dict[str, str] = {}
    wanted = {plain(address) for address in addresses}
    for name, arguments in commands(text):
        filled = (VARIABLE.sub(lambda found: known.get(found[1], found[0]), word) for word in arguments)
        words = [word for each in filled for word in each.split(";")]
        if name == "set" and words:
            end = next((place for place, word in enumerate(words) if word in {"CACHE", "PARENT_SCOPE"}), len(words))
            known[words[0]] = ";".join(words[1:end])
        elif name in CLONING:
            told = dict(pairwise(words))
            if plain(told.get("GIT_REPOSITORY", "")) in wanted:
                return told.get("GIT_TAG", "")
    return ""


def commands(text: str) -> Iterator[tuple[str, list[str]]]:
    """Give each command of a file: its name in small letters, and its arguments."""
    before, name, depth, arguments = "", "", 0, list[str]()
    for found in WORDS.finditer(text):
        word = found["quoted"] if found["quoted"] is not None else found["word"]
        if found["bracket"] == "(":
            if depth == 0:
                name, arguments = before, []
            depth += 1
        elif found["bracket"] == ")":
            depth = max(0, depth - 1)
            if depth == 0:
                yield name, arguments
        elif word is not None and depth:
            arguments.append(word)
        elif word is not None:
            before = word.lower()


def plain(address: str) -> str:
    """Give an address as it is compared: git takes it with and without its ending, and a host in any letters."""
    return address.rstrip("/").removesuffix(".git").lower()
