"""Make a bare git repository of one folder with exactly one commit, whose hash depends on the folder's content alone.

So a source that ships inside a package is fetched at a pinned commit like any other, and the pin can be tested.
With --whole only what is for git or of a build is left out: so an unpacked source archive has a commit of its own.
Usage: make_repository.py SOURCE_DIR BARE_REPO_DIR [--branch main] [--whole]
"""

import argparse
import fnmatch
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

IGNORED = ("__pycache__", "*.pyc", "build", "dist", "*.egg-info", "*.so", ".*")
IGNORED_OF_WHOLE = (".archive", ".git", ".gitattributes", ".gitmodules", "*.egg-info")
"""What fetch_archive.py leaves there, what git would not take or would follow, and what each build writes anew."""
MARKER = "made-by-make-repository"  # a repository without this file is somebody's, and never replaced
DATE = "1700000000 +0000"
PERSON = {"NAME": "xpusetup", "EMAIL": "xpusetup@localhost", "DATE": DATE}
ENVIRONMENT = {
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_CONFIG_GLOBAL": os.devnull,
    "HOME": os.devnull,  # as GIT_CONFIG_GLOBAL, for git before 2.32
    "XDG_CONFIG_HOME": os.devnull,
    "GIT_DEFAULT_HASH": "sha1",
    "LC_ALL": "C",
    **{f"GIT_{role}_{key}": value for role in ("AUTHOR", "COMMITTER") for key, value in PERSON.items()},
}


class RepositoryError(Exception):
    """What went wrong, in one line."""


def run_git(*arguments: str, repository: Path, text: bytes = b"") -> str:
    command = ("git", f"--git-dir={repository}", *arguments)
    kept = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    try:
        done = subprocess.run(command, input=text, capture_output=True, env={**kept, **ENVIRONMENT}, check=False)
    except FileNotFoundError:
        raise RepositoryError("git is not on PATH: install it") from None
    if done.returncode:
        raise RepositoryError(f"git {arguments[0]} failed: {' '.join(done.stderr.decode(errors='replace').split())}")
    return done.stdout.decode().strip()


def make_line(mode: str, kind: str, name: str, hashed: str) -> bytes:
    return f"{mode} {kind} {hashed}\t".encode() + os.fsencode(name) + b"\0"


def write_tree(folder: Path, *, repository: Path, whole: bool = False) -> str | None:
    """Write the folder and give its hash, None where it holds nothing: git has no empty folders."""
    ignored, lines = IGNORED_OF_WHOLE if whole else IGNORED, []
    for entry in folder.iterdir():
        if any(fnmatch.fnmatchcase(entry.name, pattern) for pattern in ignored):
            continue
        if entry.is_symlink() or not (entry.is_dir() or entry.is_file()):  # it would mean something else elsewhere
            raise RepositoryError(f"{entry} is neither a file nor a folder")
        if entry.is_file():
            hashing = ("hash-object", "-w", "--no-filters", "--stdin")
            hashed = run_git(*hashing, repository=repository, text=entry.read_bytes())
            # Mode 644 always: permissions come from an umask or a wheel, not from the content.
            lines.append(make_line("100644", "blob", entry.name, hashed))
        elif below := write_tree(entry, repository=repository, whole=whole):
            lines.append(make_line("040000", "tree", entry.name, below))
    return run_git("mktree", "-z", repository=repository, text=b"".join(lines)) if lines else None


def write_commit(source: Path, *, repository: Path, branch: str, whole: bool = False) -> str:
    run_git("init", "--quiet", "--bare", "--template=", str(repository), repository=repository)
    tree = write_tree(source, repository=repository, whole=whole)
    if tree is None:
        raise RepositoryError(f"{source} holds no files")
    commit = run_git("commit-tree", tree, repository=repository, text=b"Source as shipped\n")
    run_git("update-ref", f"refs/heads/{branch}", commit, repository=repository)
    run_git("symbolic-ref", "HEAD", f"refs/heads/{branch}", repository=repository)
    # A step fetches the pinned commit by its hash, as from a forge.
    run_git("config", "uploadpack.allowAnySHA1InWant", "true", repository=repository)
    (repository / MARKER).touch()
    return commit


def check_paths(source: Path, target: Path) -> None:
    if not source.is_dir():
        raise RepositoryError(f"{source} is not a folder")
    if target == source or source in target.parents:
        raise RepositoryError(f"{target} lies inside {source}, whose content it would change")
    if target.exists() and any(target.iterdir()) and not (target / MARKER).is_file():
        raise RepositoryError(f"{target} exists and was not made by this script; it is left as it is")


def make_repository(source: Path, target: Path, branch: str, *, whole: bool = False) -> str:
    check_paths(source, target)
    target.parent.mkdir(parents=True, exist_ok=True)
    scratch = Path(tempfile.mkdtemp(prefix=f".{target.name}.", dir=target.parent))
    try:
        commit = write_commit(source, repository=scratch / "new", branch=branch, whole=whole)
        known = ("for-each-ref", "--format=%(objectname)", f"refs/heads/{branch}")
        if not (target / MARKER).is_file() or run_git(*known, repository=target) != commit:
            if target.exists():  # aside first: a folder that is not empty cannot be replaced in one call
                target.rename(scratch / "old")
            (scratch / "new").rename(target)
    finally:
        shutil.rmtree(scratch)
    return commit


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("source", type=Path, metavar="SOURCE_DIR")
    parser.add_argument("target", type=Path, metavar="BARE_REPO_DIR")
    parser.add_argument("--branch", default="main")
    parser.add_argument("--whole", action="store_true", help="leave out what is for git or of a build alone")
    parsed = parser.parse_args()
    try:
        print(make_repository(parsed.source.resolve(), parsed.target.resolve(), parsed.branch, whole=parsed.whole))
    except (RepositoryError, OSError) as error:
        print(f"make_repository: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
