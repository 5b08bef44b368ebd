"""Looks at a source tree of the user's own, or links it to where a build looks for it. Nothing in it is changed."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

from archive_tree import look
from git_process import FetchError, Git, make_git, say
from summary import count, say_summary
from whole_file import write_text


def main() -> None:
    """Say where the tree stands."""
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
        sys.stderr.write(f"xpusetup: {error}\n  {error.fix}\n")
        sys.exit(1)
    except OSError as error:
        sys.stderr.write(f"xpusetup: {error.filename}: {error.strerror}\n  look at its mode\n")
        sys.exit(1)


def run(options: argparse.Namespace, git: Git) -> None:
    """Look at the tree; link it, or write down its commit, which what is built from it follows."""
    tree = options.tree
    if options.archive:
        look_at_archive(options, git)
        return
    rev = (git.ask("-C", str(tree), "rev-parse", "--verify", "--quiet", "HEAD") or "").strip()
    if not rev:
        raise FetchError(f"{tree} is no git tree with a commit", "name a checkout: --source COMPONENT=DIR")
    changed = (git.ask("-C", str(tree), "status", "--porcelain", "--ignore-submodules=untracked") or "").splitlines()
    if options.link:
        link(tree, options.link)
    if options.out:
        write_text(options.out, json.dumps({"tree": str(tree), "rev": rev}) + "\n")
    own = f"{count(len(changed), 'file')} changed" if changed else "nothing changed"
    say_summary(f"your own at {rev[:7]}", own)


def look_at_archive(options: argparse.Namespace, git: Git) -> None:
    """Write down the hash of an archive's files, and their date; say which submodules it lacks."""
    seen = look(git, options.tree)
    if seen.missing:
        lacks = ", ".join(seen.missing)
        say(f"the archive in {options.tree} lacks what lies in submodules: {lacks}. With them: {options.clone}")
    write_text(options.date, f"{seen.date}\n")
    found = {"tree": str(options.tree), "archive": seen.sha256, "files": seen.files, "missing": list(seen.missing)}
    write_text(options.out, json.dumps(found) + "\n")
    lacking = f"without {count(len(seen.missing), 'submodule')}" if seen.missing else ""
    say_summary(f"your own archive, sha256 {seen.sha256[:12]} of {count(seen.files, 'file')}", lacking)


def link(tree: Path, place: Path) -> None:
    """Put a link to the tree where a build looks for it. What was fetched there is put aside; any other stays."""
    if place.is_symlink():
        if place.readlink() == tree:
            return
        place.unlink()
    elif place.exists() and not (place / ".git/xpusetup-rev").exists():
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


if __name__ == "__main__":
    main()
