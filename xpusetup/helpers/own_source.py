"""Looks at a source tree of the user's own, or links it to where a build looks for it. Nothing in it is changed."""

import argparse
import hashlib
import os
import tempfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from helperlib.env.pins import hash_file
from helperlib.git.process import FetchError, Git, last_words, make_git, say
from helperlib.git.tree import MARK, parse_modules
from helperlib.output import count, fail, say_summary, write_json, write_text


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tree", type=Path, required=True)
    parser.add_argument("--link", type=Path, help="the place in another tree that it stands for")
    parser.add_argument("--archive", action="store_true", help="it is an unpacked archive, of which git knows nothing")
    parser.add_argument("--clone", default="", help="the command that gets the same with its submodules")
    parser.add_argument("--date", type=Path, help="where the date of the archive goes")
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    try:
        run(options, make_git())
    except FetchError as error:
        fail(str(error), error.fix)
    except OSError as error:
        fail(f"{error.filename}: {error.strerror}", "look at its mode")


def run(options: argparse.Namespace, git: Git) -> None:
    """Look at the tree; link it, or write down its commit, which what is built from it follows."""
    tree = options.tree
    if options.archive:
        look_at_archive(options, git)
        return
    git = replace(git, environment={**git.environment, "GIT_CEILING_DIRECTORIES": str(tree.resolve().parent)})
    rev = read_commit(tree, git)
    status = ("status", "--porcelain", "--ignore-submodules=untracked")
    listed = _ask(tree, git, *status).splitlines()
    changed = [line for line in listed if not (line.startswith("?? ") and line.endswith(LEFT))]
    if options.link:
        link(tree, options.link)
    if options.out:
        write_json(options.out, {"tree": str(tree), "rev": rev}, indent=None)
    lacking = list(find_lacking(tree, git))
    own = f"{count(len(changed), 'file')} changed" if changed else "nothing changed"
    say_summary(f"your own at {rev[:7]}", own, ", ".join(lacking))


def find_lacking(tree: Path, git: Git) -> Iterator[str]:
    """Say what a tree lacks of its commit, which a compiler would miss later. Raises FetchError where that is all."""
    if not any(path.name != ".git" for path in tree.iterdir()) and git.ask("-C", str(tree), "ls-tree", "HEAD"):
        raise FetchError(f"{tree} holds no file of its commit", f"git -C {tree} checkout HEAD -- .")
    missing = [*_missing(git, tree, [MODULES])] if (tree / MODULES).is_file() else []
    if missing:
        words = f"git -C {tree} submodule update --init --recursive"
        say(f"{tree} lacks what lies in submodules: {', '.join(missing)}. To get it: {words}")
        yield f"without {count(len(missing), 'submodule')}"
    sparse = git.ask("-C", str(tree), "config", "core.sparseCheckout")
    listed = _ask(tree, git, "ls-files", "-t", "--stage") if sparse else ""
    if left_out := sum(line.startswith(("S 100", "S 120")) for line in listed.splitlines()):
        say(f"a sparse checkout leaves files out of {tree}. To have all: git -C {tree} sparse-checkout disable")
        yield f"{count(left_out, 'file')} left out"


def read_commit(tree: Path, git: Git) -> str:
    """Give the commit at which a tree stands. Raises FetchError where git does not say it, with its reason."""
    _ask(tree, git, "rev-parse", "--git-dir")
    if rev := git.ask("-C", str(tree), "rev-parse", "--verify", "--quiet", "HEAD^{commit}"):
        return rev.strip()
    made = f"git -C {tree} add --all && git -C {tree} commit --message mine"
    raise FetchError(f"{tree} has no commit yet, or lacks it", f"git -C {tree} log -1 says which; a first one: {made}")


def _ask(tree: Path, git: Git, *words: str) -> str:
    """Ask git about a tree. Raises FetchError where it refuses or cannot read it."""
    heard: list[str] = []

    def hear(line: str) -> bool:
        heard.append(line)
        return True

    said = git.call("-C", str(tree), *words, show=False, hear=hear)
    if said.code == 0:
        return said.out
    why = last_words("\n".join(heard))
    if "dubious ownership" in why:
        fix = f"if you trust it, for git runs what it sets: git config --global --add safe.directory {tree}"
        raise FetchError(f"fatal: {why}: it belongs to another user", fix)
    fix = f"mend it (git -C {tree} status), or name another: --source COMPONENT=DIR"
    if "not a git repository" not in why:
        raise FetchError(f"git cannot read {tree}: {why}", fix)
    if (tree / ".git").is_file():
        place = (tree / ".git").read_text(errors="replace").removeprefix("gitdir:").strip()
        raise FetchError(f"{tree} is a worktree or submodule of {place}, which is not there or broken", fix)
    raise FetchError(f"{tree}/.git is broken: git does not know it as its own", fix)


def look_at_archive(options: argparse.Namespace, git: Git) -> None:
    """Write down the hash of an archive's files, and their date; say which submodules it lacks."""
    tree = options.tree
    names = sorted(_list_sources(git, tree))
    if not names:
        raise FetchError(f"{tree} holds no file", "unpack the archive there, or name another folder")
    sha256, newest = hash_sources(tree, names)
    missing = list(_missing(git, tree, names))
    if missing:
        say(f"the archive in {tree} lacks what lies in submodules: {', '.join(missing)}. With them: {options.clone}")
    write_text(options.date, f"{date_of(tree, newest)}\n")
    found = {"tree": str(tree), "archive": sha256, "files": len(names), "missing": missing}
    write_json(options.out, found, indent=None)
    lacking = f"without {count(len(missing), 'submodule')}" if missing else ""
    say_summary(f"your own archive, sha256 {sha256[:12]} of {count(len(names), 'file')}", lacking)


def date_of(tree: Path, newest: int) -> int:
    """Give the date of an archive, in seconds since the epoch: of PKG-INFO, else of the newest file. tar keeps them."""
    packed = tree / "PKG-INFO"
    date = int(packed.stat().st_mtime) if packed.is_file() else newest
    return min(max(date, 0), LATEST)


def link(tree: Path, place: Path) -> None:
    """Put a link to the tree where a build looks for it. What was fetched there is put aside; any other stays."""
    if place.is_symlink():
        if place.readlink() == tree:
            return
        place.unlink()
    elif place.exists() and not (place / ".git" / MARK).exists():
        raise FetchError(f"{place} holds another tree", f"move it away: mv {place} {place}.mine")
    elif place.exists():
        aside = aside_of(place)
        say(f"{place}, which was fetched, is put aside as {aside.name}")
        place.rename(aside)
    place.parent.mkdir(parents=True, exist_ok=True)
    place.symlink_to(tree)


def put_back(place: Path) -> None:
    """Take a link away, and put back what was fetched there before it."""
    if place.is_symlink():
        place.unlink()
        if aside_of(place).is_dir():
            aside_of(place).rename(place)


def aside_of(place: Path) -> Path:
    """Give where a fetched tree waits while a link stands in its place."""
    return place.with_name(f".{place.name}.fetched")


# An unpacked source archive: which files are its source, their hash, their date, and which submodules it lacks.


MODULES = ".gitmodules"
LATEST = 4_354_819_198
"""The last second that a wheel can hold, for it is a zip file: in 2107. Before 1970 no compiler knows a date."""
MADE = ("build", "dist")
"""Folders at the top of a tree in which builds work, where no .gitignore says so."""
LEFT = (*(f" {name}/" for name in MADE), ".egg-info/", ".so")
"""How git lists those, and what setuptools puts beside them, as long as it knows nothing of them."""


def hash_sources(folder: Path, names: list[str]) -> tuple[str, int]:
    """Hash the files of an archive, in which nothing names a commit; give the date of the newest as well."""
    digest, newest = hashlib.sha256(), 0
    for name in names:
        path = folder / name
        seen = path.lstat()
        newest = max(newest, int(seen.st_mtime))
        if path.is_symlink():
            kind, hashed = "link", hashlib.sha256(os.fsencode(path.readlink())).hexdigest()
        else:
            kind, hashed = "program" if seen.st_mode & 0o100 else "file", hash_file(path)
        digest.update(f"{name}\0{kind}\0{hashed}\n".encode("utf-8", "surrogateescape"))
    return digest.hexdigest(), newest


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
            inside = (path for path in (folder / name).rglob("*") if not {".git", "__pycache__"} & set(path.parts))
            yield from (str(path.relative_to(folder)) for path in inside if path.is_file())
        elif name.split("/")[0] not in MADE and not name.split("/")[0].endswith(".egg-info"):
            yield name


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


if __name__ == "__main__":
    main()
