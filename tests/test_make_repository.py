"""The commit of a shipped folder depends on its content alone: that is what lets a profile pin it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.e2e

ROOT = Path(__file__).parents[1]
SCRIPT = ROOT / "xpusetup" / "helpers" / "make_repository.py"
# Made once by hand from the folder below; another hash here means that every pin of a shipped folder is void.
COMMIT = "717d1e904fa737bec6623d3edbb456149d77ef8d"


def run_script(*arguments: str | Path, env: dict[str, str] | None = None) -> subprocess.CompletedProcess[str]:
    command = (sys.executable, str(SCRIPT), *map(str, arguments))
    return subprocess.run(command, capture_output=True, text=True, env={**os.environ, **(env or {})}, check=False)


def make_commit(source: Path, target: Path, env: dict[str, str] | None = None) -> str:
    done = run_script(source, target, env=env)
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout.strip()


def git(repository: Path, *arguments: str) -> str:
    return subprocess.run(
        ("git", f"--git-dir={repository}", *arguments), capture_output=True, text=True, check=True
    ).stdout


def inode(path: Path) -> tuple[int, int]:
    status = path.stat()
    return status.st_ino, status.st_mtime_ns


@pytest.fixture
def source(tmp_path: Path) -> Path:
    folder = tmp_path / "source"
    (folder / "src" / "empty").mkdir(parents=True)
    (folder / "README.md").write_bytes(b"one\r\ntwo\n")
    (folder / "src" / "a.py").write_bytes(b"A = 1\n")
    (folder / "src.txt").write_bytes(b"sorts between src and src/\n")
    (folder / "\u00fc b.txt").write_bytes(b"odd name\n")
    return folder


def test_the_commit_is_known(source: Path, tmp_path: Path) -> None:
    assert make_commit(source, tmp_path / "repo.git") == COMMIT


def test_one_commit_with_the_content(source: Path, tmp_path: Path) -> None:
    repository = tmp_path / "below" / "repo.git"
    commit = make_commit(source, repository)
    assert git(repository, "rev-list", "--all").split() == [commit]
    assert git(repository, "symbolic-ref", "HEAD").strip() == "refs/heads/main"
    names = git(repository, "ls-tree", "-r", "-z", "--name-only", "HEAD").split("\0")
    assert names == ["README.md", "src.txt", "src/a.py", "\u00fc b.txt", ""]
    assert git(repository, "cat-file", "-s", "HEAD:README.md").strip() == "9"  # its line ends are as they were
    assert git(repository, "fsck", "--strict") == ""


def test_the_user_does_not_matter(source: Path, tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.mkdir()
    config = home / ".gitconfig"
    config.write_text(
        "[user]\nname = A\nemail = a@b\n[core]\nautocrlf = true\nfileMode = true\n[commit]\ngpgSign = true\n"
        "[i18n]\ncommitEncoding = latin1\n[init]\ndefaultBranch = trunk\ndefaultObjectFormat = sha256\n",
    )
    other = {
        "HOME": str(home),
        "GIT_CONFIG_GLOBAL": str(config),
        "GIT_DEFAULT_HASH": "sha256",
        "GIT_AUTHOR_NAME": "B",
        "GIT_DIR": str(tmp_path),
        "TZ": "Asia/Tokyo",
        "LC_ALL": "C",
    }
    (source / "src" / "a.py").chmod(0o755)
    before = os.umask(0o077)
    try:
        assert make_commit(source, tmp_path / "repo.git", env=other) == COMMIT
    finally:
        os.umask(before)


def test_build_leftovers_do_not_matter(source: Path, tmp_path: Path) -> None:
    for name in (
        "__pycache__/a.pyc",
        "src/b.pyc",
        "build/x",
        "dist/x.whl",
        "src/x.egg-info/PKG-INFO",
        "src/_C.so",
        ".x/y",
    ):
        (source / name).parent.mkdir(exist_ok=True)
        (source / name).write_bytes(b"leftover")
    assert make_commit(source, tmp_path / "repo.git") == COMMIT


def test_again_leaves_the_repository_alone(source: Path, tmp_path: Path) -> None:
    repository = tmp_path / "repo.git"
    first = make_commit(source, repository)
    before = {path: inode(path) for path in (repository, *repository.rglob("*"))}
    assert make_commit(source, repository) == first
    assert {path: inode(path) for path in (repository, *repository.rglob("*"))} == before
    assert {path.name for path in tmp_path.iterdir()} == {"source", "repo.git"}


def test_a_change_replaces_the_commit(source: Path, tmp_path: Path) -> None:
    repository = tmp_path / "repo.git"
    first = make_commit(source, repository)
    (source / "src" / "a.py").write_bytes(b"A = 2\n")
    second = make_commit(source, repository)
    assert second != first
    assert git(repository, "rev-list", "--all").split() == [second]
    assert {path.name for path in tmp_path.iterdir()} == {"source", "repo.git"}


def test_the_commit_can_be_fetched_by_its_hash(source: Path, tmp_path: Path) -> None:
    commit = make_commit(source, tmp_path / "repo.git")
    git(tmp_path / "clone", "init", "--quiet", "--bare")
    git(tmp_path / "clone", "fetch", "--quiet", "--depth=1", (tmp_path / "repo.git").as_uri(), commit)
    assert git(tmp_path / "clone", "rev-parse", "FETCH_HEAD").strip() == commit


def test_branch(source: Path, tmp_path: Path) -> None:
    done = run_script(source, tmp_path / "repo.git", "--branch", "release")
    assert done.stdout.strip() == COMMIT
    assert git(tmp_path / "repo.git", "symbolic-ref", "HEAD").strip() == "refs/heads/release"


def test_errors_are_one_line(source: Path, tmp_path: Path) -> None:
    mine = tmp_path / "mine.git"
    git(mine, "init", "--quiet", "--bare")
    (tmp_path / "empty").mkdir()
    (tmp_path / "linked").mkdir()
    (tmp_path / "linked" / "a").symlink_to(source)
    repository = tmp_path / "repo.git"
    expected = {
        (tmp_path / "absent", repository): f"{tmp_path}/absent is not a folder",
        (source, source / "repo.git"): f"{source}/repo.git lies inside {source}, whose content it would change",
        (source, mine): f"{mine} exists and was not made by this script; it is left as it is",
        (tmp_path / "empty", repository): f"{tmp_path}/empty holds no files",
        (tmp_path / "linked", repository): f"{tmp_path}/linked/a is neither a file nor a folder",
    }
    for (origin, target), message in expected.items():
        done = run_script(origin, target)
        assert (done.returncode, done.stdout, done.stderr) == (2, "", f"make_repository: {message}\n")
    assert not repository.exists()
    assert not list(tmp_path.glob(".*"))


def test_without_git(source: Path, tmp_path: Path) -> None:
    done = run_script(source, tmp_path / "repo.git", env={"PATH": str(tmp_path)})
    assert (done.returncode, done.stderr) == (2, "make_repository: git is not on PATH: install it\n")


def test_a_whole_archive_has_its_build_folder_and_nothing_of_git_or_of_a_build(source: Path, tmp_path: Path) -> None:
    for name in ("build/rules.cmake", "dist/x", ".hidden", ".git", "first.egg-info/PKG-INFO", ".archive"):
        (source / name).parent.mkdir(parents=True, exist_ok=True)
        (source / name).write_text("text")
    bare = tmp_path / "bare.git"
    done = run_script(source, bare, "--whole")
    assert done.returncode == 0, done.stderr
    names = {*git(bare, "ls-tree", "-r", "--name-only", "main").split("\n")}
    assert {"build/rules.cmake", "dist/x", ".hidden"} < names
    assert not names & {".git", "first.egg-info/PKG-INFO", ".archive"}
