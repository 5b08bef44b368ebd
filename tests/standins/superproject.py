"""A stand-in for a tree of many repositories: submodules beside each other and in each other.

Words: the *super* is the repository of the root; what is pinned is no tip of any branch, as in all stand-ins.
"""

import hashlib
import os
import stat
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from standins.git_server import GitServer
from standins.repository import Source, Submodule, run_git, write_repository

HELPER = Path(__file__).resolve().parents[2] / "xpusetup/helpers/fetch_source.py"
HOST = "https://fetch.invalid/"
DEEP = "super/third_party/one/external/deep"
Done = subprocess.CompletedProcess[str]


@dataclass(frozen=True)
class Super:
    """Bare repositories below a folder, by the name that their address ends with, and the commits that are pinned."""

    folder: Path
    revs: Mapping[str, str]
    refuse_sha: bool = False

    def environment(self, home: Path, server: GitServer | str, *settings: tuple[str, str]) -> dict[str, str]:
        """Give a caller with a home of its own, whose git finds the repositories at a server or below an address."""
        address = server if isinstance(server, str) else server.address
        given = [(f"url.{address}.insteadOf", HOST), ("protocol.file.allow", "always"), *settings]
        given += [("protocol.version", "0")] if self.refuse_sha else []  # 2 hands out any commit, whatever is set
        pairs = {f"GIT_CONFIG_KEY_{number}": key for number, (key, _) in enumerate(given)}
        pairs |= {f"GIT_CONFIG_VALUE_{number}": value for number, (_, value) in enumerate(given)}
        home.mkdir(parents=True, exist_ok=True)
        plain = {"HOME": str(home), "PATH": os.environ["PATH"], "LANG": "C.UTF-8"}
        return {**plain, "GIT_CONFIG_COUNT": str(len(given)), **pairs}

    def command(self, tree: Path, *more: str, name: str = "super", pauses: str = "0.01") -> tuple[str, ...]:
        """Give the command that fetches a repository with its submodules."""
        what = ("--repo", f"{HOST}{name}", "--rev", self.revs[name], "--into", str(tree))
        return (sys.executable, str(HELPER), *what, *more, "--pauses", *([pauses] * 5))

    def fetch(self, tree: Path, env: Mapping[str, str], *more: str) -> Done:
        """Fetch into a tree, and give what came of it."""
        return subprocess.run(self.command(tree, *more), env=dict(env), check=False, capture_output=True, text=True)


@dataclass(frozen=True, kw_only=True)
class Size:
    """How large a super is: submodules, files in all, lines of a file, and commits before that changed every file."""

    modules: int
    files: int
    lines: int = 20
    history: int = 0


def make_super(folder: Path, size: Size, *, refuse_sha: bool = False) -> Super:
    """Make a super; the first of its submodules has one of its own."""
    modules, files = size.modules, size.files
    each = max(1, files // (modules + 2))
    names = [f"part{number}" for number in range(1, modules)]
    revs: dict[str, str] = {}

    def write(name: str, count: int, *submodules: Submodule) -> None:
        history = tuple(make_files(f"{name} {age}", count, size.lines) for age in range(size.history))
        content = make_files(name, count, size.lines)
        source = Source(f"{HOST}{name}", (), files=content, submodules=submodules, tag="v1.0", history=history)
        revs[name] = write_repository(folder / name, source, refuse_sha=refuse_sha)

    for name in ("deep", *names):
        write(name, each)
    write("one", each, Submodule("external/deep", "../deep", revs["deep"]))
    children = [Submodule(f"third_party/{name}", f"{HOST}{name}", revs[name]) for name in ("one", *names)]
    write("super", files - each * (modules + 1), *children)
    return Super(folder, revs, refuse_sha)


def make_files(name: str, count: int, lines: int) -> dict[str, str]:
    """Give files that no compression makes smaller than half, in folders of a hundred."""
    return {f"d{number // 100}/{number}.txt": noise(f"{name} {number}", lines) for number in range(count)}


def noise(seed: str, lines: int) -> str:
    """Give lines of 64 letters, the same for the same seed."""
    return "".join(hashlib.sha256(f"{seed} {line}".encode()).hexdigest() + "\n" for line in range(lines))


def snapshot(tree: Path) -> dict[str, tuple[int, str]]:
    """Give mode and hash of all files of a tree, without what git keeps."""
    found = {}
    for folder, folders, names in os.walk(tree):
        folders[:] = [name for name in folders if name != ".git"]
        for path in (Path(folder, name) for name in names if name != ".git"):
            mode = stat.S_IMODE(path.stat().st_mode)
            found[str(path.relative_to(tree))] = (mode, hashlib.sha256(path.read_bytes()).hexdigest())
    return found


def find_rubbish(tree: Path, store: Path | None = None) -> list[str]:
    """List what an interrupted fetch leaves: locks, half packs, marks, submodules that are elsewhere, lost objects."""
    folders = [tree / ".git", *([store] if store and store.exists() else [])]
    left = [str(path) for folder in folders for path in folder.rglob("*") if is_rubbish(path)]
    status = run_git(tree, "submodule", "status", "--recursive").splitlines()
    left += [line for line in status if not line.startswith(" ") and line != status[0].strip()]
    left += run_git(tree, "status", "--porcelain").splitlines()
    for place in (tree, *(path.parent for path in tree.rglob(".git") if path.is_file())):
        left += [line for line in run_git(place, "fsck", "--no-progress", "--no-dangling").splitlines() if line]
    return left


def is_rubbish(path: Path) -> bool:
    """Say whether a file is half of something."""
    half = path.suffix == ".pack" and not path.with_suffix(".idx").exists()
    return half or path.suffix in {".lock", ".new"} or path.name.startswith("tmp_") or path.name == "xpusetup-moving"
