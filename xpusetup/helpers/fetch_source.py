"""Fetches one exact commit with its submodules, and never touches a tree that someone changed.

The root commit pins every submodule. At depth 1 where the server allows it; else by tag; else whole. Mirrors and
proxies come through git's own settings (url.<base>.insteadOf and the like), so this script knows nothing of them.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import NoReturn

from summary import count, render_size, say_summary

COMMIT = re.compile(r"[0-9a-f]{40}")
MARK = "xpusetup-rev"
OTHER_TREE = "the tree is another one than the profile was made for"
MOVING = "xpusetup-moving"


def main() -> None:
    """Decide on the commit, then fetch it unless it is there."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repo", required=True)
    parser.add_argument("--rev", default="")
    parser.add_argument("--tag", default="")
    parser.add_argument("--ref", default="", help="the full name of a ref that holds the commit")
    parser.add_argument("--pin-file", type=Path)
    parser.add_argument("--confidence", default="confirmed")
    parser.add_argument("--into", type=Path, required=True)
    options = parser.parse_args()
    rev = decide(options)
    named = options.ref or (f"refs/tags/{options.tag}" if options.tag else "")
    fetch(options.repo, rev, named, options.into)
    if not lies_in_another(options.into):
        say_summary(f"{options.tag} {rev[:7]}".lstrip(), *describe(options.into))


def fail(message: str, fix: str) -> NoReturn:
    """Say on stderr what happened and what mends it, and end."""
    sys.stderr.write(f"xpusetup: {message}\n  {fix}\n")
    raise SystemExit(1)


def git(tree: Path | None, *arguments: str) -> tuple[int, str, str]:
    """Run git without ever asking anybody anything; its words go to the log. Gives code, output, last words."""
    command = ["git", *(["-C", str(tree)] if tree else []), *arguments]
    print("+", *command, flush=True)
    environment = {**os.environ, "GIT_TERMINAL_PROMPT": "0"}
    with tempfile.TemporaryFile("w+") as out:
        process = subprocess.Popen(
            command, stdout=out, stderr=subprocess.PIPE, text=True, errors="replace", env=environment
        )
        words = ""
        for line in process.stderr or ():  # git's progress ends its lines with a carriage return: they come as lines
            print(line, end="", flush=True)
            words = line.strip() or words
        code = process.wait()
        out.seek(0)
        return code, out.read(), words


def ask(tree: Path, *arguments: str) -> str:
    """Ask a tree something; empty when it does not answer."""
    code, out, _words = git(tree, *arguments)
    return out.strip() if code == 0 else ""


def decide(options: argparse.Namespace) -> str:
    """Give the commit: the pin, held against the tree's own pin file and against the tag."""
    if options.pin_file is not None:
        return decide_by_file(options)
    tagged = resolve_tag(options.repo, options.tag) if options.tag else ""
    if not options.rev:
        if not tagged:
            fail(f"{options.repo} has no tag {options.tag}", "look for the tag's new name, and pin a commit by rev")
        print(f"{options.tag} is {tagged}")
        return tagged
    if tagged and tagged != options.rev:
        differ(options, f"the tag {options.tag} of {options.repo} points at {tagged}")
    return str(options.rev)


def decide_by_file(options: argparse.Namespace) -> str:
    """Give the commit that the tree itself names; it rules over a pin of lesser confidence."""
    try:
        words = options.pin_file.read_text().split()
    except OSError as error:
        fail(f"cannot read {options.pin_file}: {error.strerror}", OTHER_TREE)
    named = next((word for word in words if COMMIT.fullmatch(word)), "")
    if not named:
        fail(f"{options.pin_file} holds no commit", OTHER_TREE)
    if options.rev and named != options.rev:
        differ(options, f"{options.pin_file} names {named}")
    return named


def differ(options: argparse.Namespace, seen: str) -> None:
    """Stop where a confirmed pin is contradicted; say so where the pin was less than that."""
    if options.confidence == "confirmed":
        fail(
            f"{seen}, and the profile pins {options.rev} (confirmed): someone moved it",
            "find out who and why; to take it over, put the new commit into a profile file of your own",
        )
    print(f"note: {seen}, and the profile pins {options.rev} ({options.confidence})")
    if options.tag:
        print(f"note: to take the tag's commit over: --rev {options.into.name}={options.tag} (xpusetup profiles lock)")


def resolve_tag(repo: str, tag: str) -> str:
    """Ask the server what a tag points at; empty when it cannot be asked or does not know it."""
    _code, out, _words = git(None, "ls-remote", "--", repo, f"refs/tags/{tag}", f"refs/tags/{tag}^{{}}")
    found = {name: rev for rev, name in (line.split("\t", 1) for line in out.splitlines() if "\t" in line)}
    return found.get(f"refs/tags/{tag}^{{}}") or found.get(f"refs/tags/{tag}", "")


def fetch(repo: str, rev: str, ref: str, tree: Path) -> None:
    """Make the tree be at the commit. While it is on its way there a mark says so, and what is found is ours."""
    moving, mark = tree / ".git" / MOVING, tree / ".git" / MARK
    if tree.is_dir() and any(tree.iterdir()) and not (tree / ".git").exists():
        fail(f"{tree} holds files, and is no git tree", "move them away, or choose another place: --build-dir DIR")
    if (tree / ".git").exists() and not moving.exists():
        refuse_changed(tree, rev, mark)
    tree.mkdir(parents=True, exist_ok=True)
    if not (tree / ".git" / "HEAD").exists():
        run(tree, "init", "--quiet")
    moving.touch()
    for lock in (tree / ".git").glob("*.lock"):
        lock.unlink()
    if ask(tree, "rev-parse", "--verify", "--quiet", f"{rev}^{{commit}}") != rev:
        fetch_commit(repo, rev, ref, tree)
    clear_ignored(tree, rev)
    run(tree, "-c", "advice.detachedHead=false", "checkout", "--quiet", "--force", "--detach", rev)
    update_submodules(tree)
    mark.write_text(f"{rev}\n")
    moving.unlink()
    print(f"{tree} is at {rev}")


def clear_ignored(tree: Path, rev: str) -> None:
    """Before another commit: remove what builds of the last one left among the sources, but for the build folder."""
    head = ask(tree, "rev-parse", "--verify", "--quiet", "HEAD")
    if head not in {"", rev}:
        run(tree, "clean", "-fdXq", "--exclude=!/build/", "--exclude=!/build/**")


def lies_in_another(tree: Path) -> bool:
    """Say whether a tree is part of one that was fetched before it, whose summary speaks for both."""
    return any((folder / ".git" / MARK).exists() for folder in tree.absolute().parents)


def describe(tree: Path) -> list[str]:
    """Say how large what was fetched is, as git keeps it, and how many submodules are in it."""
    git_folder = tree / ".git"
    modules = [head for head in (git_folder / "modules").rglob("HEAD") if (head.parent / "objects").is_dir()]
    packs = sum(pack.stat().st_size for pack in git_folder.rglob("*.pack"))
    return [render_size(packs) if packs else "", count(len(modules), "submodule") if modules else ""]


def refuse_changed(tree: Path, rev: str, mark: Path) -> None:
    """End when the tree holds someone's work: changed files, or a commit that this program did not put there."""
    if changed := ask(tree, "status", "--porcelain", "--untracked-files=no", "--ignore-submodules=untracked"):
        names = ", ".join(line.split(maxsplit=1)[-1] for line in changed.splitlines()[:3])
        fail(f"{tree} holds changes of your own ({names})", f"keep them elsewhere, then: git -C {tree} checkout -- .")
    head = ask(tree, "rev-parse", "--verify", "--quiet", "HEAD")
    ours = mark.read_text().strip() if mark.exists() else ""
    if head not in {rev, ours, ""}:
        fail(f"{tree} is at {head}, a commit of your own choice", f"git -C {tree} checkout --detach {ours or rev}")


def fetch_commit(repo: str, rev: str, ref: str, tree: Path) -> None:
    """Get the commit by the cheapest way that the server allows."""
    ways: list[tuple[str, ...]] = [("--depth", "1", "--", repo, rev)]
    if ref:
        ways.append(("--depth", "1", "--", repo, ref))
    ways.append(("--tags", "--", repo, "+refs/heads/*:refs/remotes/origin/*"))
    last = ""
    for way in ways:
        code, _out, words = git(tree, "fetch", "--progress", "--no-recurse-submodules", *way)
        last = words if code else "it has no such commit"
        if code == 0 and ask(tree, "rev-parse", "--verify", "--quiet", f"{rev}^{{commit}}") == rev:
            return
    fail(f"cannot get {rev} from {repo}: {last}", "look at the network, the proxy, and the address")


def update_submodules(tree: Path) -> None:
    """Get all submodules at the commits that the tree names: shallow and in parallel, whole where that is refused."""
    if not (tree / ".gitmodules").exists():
        return
    run(tree, "submodule", "sync", "--quiet", "--recursive")
    base = ("submodule", "update", "--init", "--recursive", "--force", "--progress", "--jobs", "8")
    if git(tree, *base, "--depth", "1")[0] == 0 or git(tree, *base)[0] == 0:
        return
    print("note: starting the submodules anew")  # a killed clone leaves a folder that git cannot go on with
    shutil.rmtree(tree / ".git" / "modules", ignore_errors=True)
    git(tree, "submodule", "deinit", "--all", "--force")
    run(tree, *base)


def run(tree: Path, *arguments: str) -> None:
    """Run git and end with its last words when it fails."""
    code, _out, words = git(tree, *arguments)
    if code != 0:
        fail(f"git {arguments[0]} failed in {tree}: {words or code}", "read the log above")


if __name__ == "__main__":
    main()
