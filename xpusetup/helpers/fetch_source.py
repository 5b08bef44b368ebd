"""Fetches one exact commit with its submodules, and never touches a tree that someone changed.

The root commit pins every submodule. Objects come first, those of all repositories, from a store or from servers;
only then are files written (helperlib/git/gather.py). Mirrors and proxies come through git's own settings (process.py).
"""

import argparse
import re
from pathlib import Path

from helperlib.git.gather import (
    PAUSES,
    GatheredRepository,
    Gatherer,
    GatherProgress,
    Servers,
    check_out_all,
    find_pointers,
)
from helperlib.git.process import FetchError, Git, make_git, say
from helperlib.git.store import find_stores
from helperlib.git.tree import COMMIT, MARK, TreeRepository, find_tag, take_back
from helperlib.output import count, fail, render_size, say_summary, write_text
from own_source import put_back

OTHER_TREE = "the tree is another one than the profile was made for"
MOVING = "xpusetup-moving"
OLDEST = (2, 31)
"""The git that takes settings from variables (GIT_CONFIG_COUNT), by which one that a build calls is led."""
ROUNDS = 4
"""How deep submodules may lie below each other whose objects a store kept badly."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repo", required=True)
    parser.add_argument("--rev", default="")
    parser.add_argument("--tag", default="")
    parser.add_argument("--ref", default="", help="the full name of a ref that holds the commit")
    parser.add_argument("--pin-file", type=Path)
    parser.add_argument("--clones", action="append", default=[], help="an address that the build clones by itself")
    parser.add_argument("--confidence", default="confirmed")
    parser.add_argument("--into", type=Path, required=True)
    parser.add_argument("--sparse", action="append", default=[], help="a folder; no other gets files or submodules")
    parser.add_argument("--keep", action="store_true", help="leave a tree that is there as it is")
    parser.add_argument("--pauses", type=float, nargs="*", default=PAUSES, help="seconds before each further try")
    options = parser.parse_args()
    try:
        run(options, make_git())
    except FetchError as error:
        fail(str(error), error.fix)
    except OSError as error:
        where = f" {error.filename}" if error.filename else ""
        fail(f"cannot write{where}: {error.strerror}", "make room there, or look at its mode")


def run(options: argparse.Namespace, git: Git) -> None:
    if options.clones:
        refuse_old(git)
        follow_file(options)
    if options.keep and (options.into / ".git").exists() and (not options.clones or is_offered(git, options)):
        say(f"{options.into} is there, and stays at {head_of(git, options.into)}")
        return
    put_back(options.into)
    servers = Servers(git, GatherProgress(say), tuple(options.pauses))
    rev = decide(options, servers)
    tree = options.into
    named = options.ref or (f"refs/tags/{options.tag}" if options.tag else "")
    folder, sparse = tree / ".git", tuple(options.sparse)
    root = TreeRepository(address=options.repo, rev=rev, folder=folder, tree=tree, ref=named, sparse=sparse)
    gathered = fetch(Gatherer(servers, find_stores(git)), root)
    if options.clones and options.tag:  # found by the name that the build clones it at; a tag serves for a branch too
        said = git.call(f"--git-dir={folder}", "update-ref", f"refs/tags/{options.tag}", rev, show=False)
        if said.code:
            raise FetchError(f"git cannot name {rev} {options.tag} in {folder}: {said.last}", f"remove {tree}")
    if not lies_in_another(tree):
        pointers = find_pointers(git, gathered)
        tell_pointers(pointers, tree)
        left = f"{count(len(pointers), 'file')} of git-lfs not there" if pointers else ""
        say_summary(f"{options.tag} {rev[:7]}".lstrip(), *describe(gathered), left)


def decide(options: argparse.Namespace, servers: Servers) -> str:
    """Give the commit: the pin, held against the tree's own pin file and against the tag."""
    if options.pin_file is not None:
        return decide_by_file(options)
    tagged = resolve_tag(options, servers) if options.tag else ""
    if not options.rev:
        if not tagged:
            fix = "look for the tag's new name, and pin a commit by rev"
            raise FetchError(f"{options.repo} has no tag {options.tag}", fix)
        say(f"{options.tag} is {tagged}")
        return tagged
    if tagged and tagged != options.rev:
        differ(options, f"the tag {options.tag} of {options.repo} points at {tagged}")
    return str(options.rev)


def decide_by_file(options: argparse.Namespace) -> str:
    """Give the commit that the tree itself names; it rules over a pin of lesser confidence."""
    try:
        words = options.pin_file.read_text().split()
    except OSError as error:
        raise FetchError(f"cannot read {options.pin_file}: {error.strerror}", OTHER_TREE) from error
    named = next((word for word in words if COMMIT.fullmatch(word)), "")
    if not named:
        raise FetchError(f"{options.pin_file} holds no commit", OTHER_TREE)
    if options.rev and named != options.rev:
        differ(options, f"{options.pin_file} names {named}")
    return named


def differ(options: argparse.Namespace, seen: str) -> None:
    """Stop where a confirmed pin is contradicted; say so where the pin was less than that."""
    if options.confidence == "confirmed":
        raise FetchError(
            f"{seen}, and the profile pins {options.rev} (confirmed): someone moved it",
            "find out who and why; to take it over, put the new commit into a profile file of your own",
        )
    say(f"note: {seen}, and the profile pins {options.rev} ({options.confidence})")
    if options.tag and not options.clones:
        say(f"note: to take the tag's commit over: --rev {options.into.name}={options.tag} (xpusetup profiles lock)")


def follow_file(options: argparse.Namespace) -> None:
    """Take over what the tree's CMake file clones: a commit as the pin, a name as the tag. It rules as a pin file does.

    Where it clones nothing of the kind, or says it in a way that cannot be read, the profile's word stays. A tree of
    the user's own may say what it likes.
    """
    file, options.pin_file = options.pin_file, None
    try:
        named = find_tag(file.read_text(), options.clones)
    except OSError as error:
        raise FetchError(f"cannot read {file}: {error.strerror}", OTHER_TREE) from error
    if not named or "${" in named:
        why = f"clones {options.repo} at {named}" if named else f"clones nothing of {options.repo}"
        say(f"note: {file} {why}; it is fetched as the profile says")
    elif COMMIT.fullmatch(named):
        if options.rev not in {"", named} and not options.keep:
            differ(options, f"{file} names {named}")
        options.rev, options.tag = named, ""
    elif named != options.tag:
        if options.rev and not options.keep:
            differ(options, f"{file} names {named}")
        options.rev, options.tag = "", named


def refuse_old(git: Git) -> None:
    """End where the build's own clone could not be led to what is fetched: hours later it would ask the network."""
    said = git.ask("version") or ""
    found = re.search(r"(\d+)\.(\d+)", said)
    if found and (int(found[1]), int(found[2])) < OLDEST:
        wanted = ".".join(map(str, OLDEST))
        message = f"{said.strip()} takes no settings from variables, and the build clones by itself"
        raise FetchError(message, f"install git {wanted} or newer, or put one first on PATH")


def is_offered(git: Git, options: argparse.Namespace) -> bool:
    """Say whether a tree that is there is at what the build clones, under the name at which it does."""
    head = head_of(git, options.into)
    named = f"refs/tags/{options.tag}" if options.tag else options.rev
    found = git.ask("-C", str(options.into), "rev-parse", "--verify", "--quiet", f"{named}^{{commit}}")
    return bool(head) and (found or "").strip() == head


def resolve_tag(options: argparse.Namespace, servers: Servers) -> str:
    """Ask the server what a tag points at; empty when it cannot be asked or does not know it.

    Where a commit is pinned the answer is a second opinion, for which nobody waits long. What a build clones by itself
    may be named by a branch too.
    """
    full, branch = f"refs/tags/{options.tag}", f"refs/heads/{options.tag}"
    pauses = servers.pauses[:1] if options.rev else servers.pauses
    for address in (options.repo, *servers.git.fallbacks(options.repo)):
        asked = ("ls-remote", "--", address, full, f"{full}^{{}}", *((branch,) if options.clones else ()))
        said = servers.try_often(options.tag, *asked, progress=None, pauses=pauses)
        found = {name: rev for rev, name in (line.split("\t", 1) for line in said.out.splitlines() if "\t" in line)}
        if said.code == 0 or options.rev:
            break
    if said.code == 0 and options.rev and not found:
        say(f"note: {options.repo} has no tag {options.tag}; the commit is the one that is pinned")
        options.tag = options.tag if options.clones else ""
    if options.clones and full not in found and branch in found:
        options.ref = branch
    return found.get(f"{full}^{{}}") or found.get(full) or found.get(branch, "")


def fetch(gatherer: Gatherer, root: TreeRepository) -> list[GatheredRepository]:
    """Make the tree be at the commit. While it is on its way there a mark says so, and what is found is ours."""
    git, moving = gatherer.servers.git, root.folder / MOVING
    prepare(git, root, moving)
    gathered = gatherer.gather_all(root)
    if head_of(git, root.tree) not in {"", root.rev}:
        # Before another commit: what builds of the last one left among the sources, but for the build folder.
        said = git.call("-C", str(root.tree), "clean", "-fdXq", "--exclude=!/build/", "--exclude=!/build/**")
        if said.code:
            raise FetchError(f"git clean failed in {root.tree}: {said.last}", "read the log above")
    for _ in range(ROUNDS):
        broken = check_out_all(git, gathered)
        if not broken:
            break
        for one in broken:
            gatherer.mend(one)
        gathered = gatherer.gather_all(root)  # a submodule may be among what could not be read
    else:
        raise FetchError(f"git cannot read what was fetched into {root.folder}", f"remove {root.tree}")
    if absent := [folder for folder in root.sparse if not (root.tree / folder).is_dir()]:
        raise FetchError(f"{root.address} has no folder {', '.join(absent)} at {root.rev}", OTHER_TREE)
    write_text(root.folder / MARK, f"{root.rev}\n")
    moving.unlink()
    say(f"{root.tree} is at {root.rev}")
    return gathered


def prepare(git: Git, root: TreeRepository, moving: Path) -> None:
    """Refuse a tree that is someone's or holds their work (changed files, another commit); mark any other as moving."""
    tree = root.tree
    elsewhere = "choose another place: --build-dir DIR"
    if root.folder.is_file():
        raise FetchError(f"{tree} is a worktree or a submodule of another repository", elsewhere)
    if tree.is_dir() and any(tree.iterdir()) and not root.folder.exists():
        raise FetchError(f"{tree} holds files, and is no git tree", f"move them away, or {elsewhere}")
    if root.folder.exists() and not moving.exists():
        take_back(git, tree)
        asked = ("status", "--porcelain", "--untracked-files=no", "--ignore-submodules=untracked")
        if changed := git.ask("-C", str(tree), *asked):
            names = ", ".join(line.split(maxsplit=1)[-1] for line in changed.splitlines()[:3])
            fix = f"keep them elsewhere, then: git -C {tree} checkout -- ."
            raise FetchError(f"{tree} holds changes of your own ({names})", fix)
        head, mark = head_of(git, tree), root.folder / MARK
        ours = mark.read_text().strip() if mark.exists() else ""
        if head not in {root.rev, ours, ""}:
            fix = f"git -C {tree} checkout --detach {ours or root.rev}"
            raise FetchError(f"{tree} is at {head}, a commit of your own choice", fix)
    root.folder.mkdir(parents=True, exist_ok=True)
    moving.touch()


def head_of(git: Git, tree: Path) -> str:
    """Give the commit that a tree is at; empty where it is at none."""
    return (git.ask("-C", str(tree), "rev-parse", "--verify", "--quiet", "HEAD") or "").strip()


def lies_in_another(tree: Path) -> bool:
    """Say whether a tree is part of one that was fetched before it, whose summary speaks for both."""
    return any((folder / ".git" / MARK).exists() for folder in tree.absolute().parents)


SHOWN = 5
"""Files that are named, of those that git-lfs did not bring."""


def tell_pointers(pointers: list[Path], tree: Path) -> None:
    """Say which files are not there, and how they come: git puts them there once, when it writes the tree."""
    if pointers:
        names = [str(path.relative_to(tree)) for path in pointers]
        more = f" and {len(names) - SHOWN} more" if len(names) > SHOWN else ""
        say(f"note: {', '.join(names[:SHOWN])}{more}: pointers of git-lfs, a few lines of text in place of the files")
        say(f"note: to have them: install git-lfs; git lfs install; rm -r {tree}; then the same build again")


def describe(gathered: list[GatheredRepository]) -> list[str]:
    """Say how large what was fetched is, as git keeps it, what of it came from a store, and how many submodules."""
    packs = sum(pack.stat().st_size for pack in gathered[0].repository.folder.rglob("*.pack"))
    shared = sum(one.shared for one in gathered)
    kept = f", {render_size(shared)} of it from the store" if shared else ""
    size = f"{render_size(packs)}{kept if shared < packs else ' from the store'}" if packs else ""
    return [size, count(len(gathered) - 1, "submodule") if len(gathered) > 1 else ""]


if __name__ == "__main__":
    main()
