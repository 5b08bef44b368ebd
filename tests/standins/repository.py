"""Git repositories with fixed content, authors and dates, so that a commit depends on its files alone."""

import os
import shutil
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

FILES = Path(__file__).parent / "files"
DATES = ("2024-10-01T12:00:00+00:00", "2024-10-02T12:00:00+00:00", "2024-10-03T12:00:00+00:00")


@dataclass(frozen=True)
class Submodule:
    """Where a tree has another repository, and at which commit."""

    path: str
    url: str
    rev: str


@dataclass(frozen=True)
class Source:
    """What the pinned commit of one repository holds: templates first, then files, then submodules.

    `history`: the files of the commits before it.
    """

    url: str
    templates: tuple[str, ...]
    under: str = ""
    words: Mapping[str, str] = field(default_factory=dict)
    files: Mapping[str, str] = field(default_factory=dict)
    submodules: tuple[Submodule, ...] = ()
    tag: str = ""
    annotated: bool = False
    history: tuple[Mapping[str, str], ...] = ()


def run_git(folder: Path, *args: str, date: str = DATES[0]) -> str:
    """Git without the user's settings, as one fixed person on one fixed day."""
    who = {f"GIT_{role}_{key}": value for role in ("AUTHOR", "COMMITTER") for key, value in _person(date)}
    kept = {key: value for key, value in os.environ.items() if not key.startswith("GIT_")}
    env = {**kept, **who, "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
    done = subprocess.run(("git", *args), cwd=folder, env=env, check=True, capture_output=True, text=True)
    return done.stdout.strip()


def _person(date: str) -> tuple[tuple[str, str], ...]:
    return (("NAME", "Stand In"), ("EMAIL", "stand-in@example.org"), ("DATE", date))


def copy_template(name: str, target: Path, words: Mapping[str, str]) -> None:
    """One folder of files/, with @WORD@ filled in; the ending .in only keeps linters away."""
    for source in sorted(path for path in (FILES / name).rglob("*") if path.is_file()):
        text = source.read_text(encoding="utf-8")
        for word, value in words.items():
            text = text.replace(f"@{word}@", value)
        write_text(target / source.relative_to(FILES / name).with_name(source.name.removesuffix(".in")), text)


def write_text(path: Path, text: str) -> None:
    """Write a file and the folders above it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


def write_repository(bare: Path, source: Source, *, refuse_sha: bool) -> str:
    """Make a bare repository; the last commit but one is the pin, so that no tip points at it."""
    tree = bare.with_suffix(".tree")
    tree.mkdir(parents=True)
    run_git(tree, "init", "--quiet", "--initial-branch=main")
    _commit(tree, "Begin", {"LICENSE": "Stand-in\n"}, DATES[0])
    for files in source.history:
        _commit(tree, "Earlier", files, DATES[0])
    _write_pinned(tree, source)
    rev = _commit(tree, "Pinned", source.files, DATES[1])
    if source.tag:
        message = ("-a", "-m", source.tag) if source.annotated else ()
        run_git(tree, "tag", *message, source.tag, date=DATES[1])
    _commit(tree, "Go on", {"LATER": "not pinned\n"}, DATES[2])
    run_git(tree, "clone", "--quiet", "--bare", "--no-local", str(tree), str(bare))
    shutil.rmtree(tree)
    for setting in ("allowAnySHA1InWant", "allowReachableSHA1InWant", "allowTipSHA1InWant"):
        run_git(bare, "config", f"uploadpack.{setting}", "false" if refuse_sha else "true")
    return rev


def _write_pinned(tree: Path, source: Source) -> None:
    shutil.copyfile(FILES / "gitignore", tree / ".gitignore")
    for name in source.templates:
        copy_template(name, tree / source.under, source.words)
    modules = "".join(
        f'[submodule "{sub.path}"]\n\tpath = {sub.path}\n\turl = {sub.url}\n' for sub in source.submodules
    )
    if modules:
        write_text(tree / ".gitmodules", modules)
    for sub in source.submodules:
        (tree / sub.path).mkdir(parents=True)
        run_git(tree, "update-index", "--add", "--cacheinfo", f"160000,{sub.rev},{sub.path}")


def _commit(tree: Path, message: str, files: Mapping[str, str], date: str) -> str:
    for path, text in files.items():
        write_text(tree / path, text)
    run_git(tree, "add", "--all", "--force", ".")
    run_git(tree, "commit", "--quiet", "--message", message, date=date)
    return run_git(tree, "rev-parse", "HEAD")
