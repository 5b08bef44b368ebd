"""Repositories as GitPython reads them: real git made each of them."""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING

import pytest

from standins.repository import run_git
from xpusetup.base.errors import WorkFailedError
from xpusetup.system.git import Submodule, has_changed, list_submodules, read_tree

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.e2e

OTHER = ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_OBJECT_DIRECTORY")
MODULES = """\
[submodule "third_party/a"]
\tpath = third_party/a
\turl = ../a.git
[submodule "b"]
\tpath = b
\turl = https://x.invalid/b
\tupdate = none
[submodule "gone"]
\tpath = gone
\turl = https://x.invalid/gone
"""


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    """Make a repository with one commit."""
    place = tmp_path / "tree"
    place.mkdir()
    run_git(place, "init", "--quiet")
    (place / "one").write_text("1\n")
    run_git(place, "add", "one")
    run_git(place, "commit", "--quiet", "-m", "one")
    return place


def test_a_tree_and_its_changes(tree: Path) -> None:
    head = run_git(tree, "rev-parse", "HEAD")
    found = read_tree(tree)
    assert (found and found.rev, found and found.changed) == (head, False)
    (tree / "untracked").write_text("")
    assert read_tree(tree) == found
    (tree / "one").write_text("2\n")
    assert (changed := read_tree(tree))
    assert changed.changed


def test_a_worktree(tree: Path, tmp_path: Path) -> None:
    run_git(tree, "worktree", "add", "--quiet", "-b", "next", str(tmp_path / "beside"))
    found = read_tree(tmp_path / "beside")
    assert (found and found.rev) == run_git(tree, "rev-parse", "HEAD")


def test_variables_that_name_another_repository(tree: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Git sets them in its hooks."""
    found = read_tree(tree)
    for name in OTHER:
        monkeypatch.setenv(name, str(tmp_path / "elsewhere"))
    assert read_tree(tree) == found


def test_no_tree(tmp_path: Path) -> None:
    assert read_tree(tmp_path) is None
    assert read_tree(tmp_path / "absent") is None
    run_git(tmp_path, "init", "--quiet")
    assert read_tree(tmp_path) is None  # no commit yet
    (tmp_path / "broken/.git").mkdir(parents=True)
    assert read_tree(tmp_path / "broken") is None  # not the repository around it


def test_submodules(tree: Path) -> None:
    rev = run_git(tree, "rev-parse", "HEAD")
    (tree / ".gitmodules").write_text(MODULES)
    run_git(tree, "add", ".gitmodules")
    for path in ("third_party/a", "b"):
        run_git(tree, "update-index", "--add", "--cacheinfo", f"160000,{rev},{path}")
    run_git(tree, "commit", "--quiet", "-m", "submodules")
    (tree / ".gitmodules").write_text("")  # the commit counts, not what lies about
    assert list_submodules(tree, "HEAD") == [Submodule("third_party/a", "third_party/a", "../a.git", rev)]
    assert list_submodules(tree, rev) == []
    with pytest.raises(WorkFailedError, match="git cannot read"):
        list_submodules(tree, "0" * 40)


def test_a_tree_is_newer_than_a_moment_where_a_source_was_written_added_or_removed_since(tree: Path) -> None:
    since = time.time() + 10
    later = (since + 10, since + 10)
    (tree / "build").mkdir()
    (tree / "build/made.o").touch()
    os.utime(tree / "build/made.o", later)
    assert not has_changed(tree, since)
    new = tree / "new.py"
    new.touch()
    os.utime(new, later)
    assert has_changed(tree, since)
    assert not has_changed(tree, since, but=".py")
    new.unlink()
    assert not has_changed(tree, since)
    (tree / "one").unlink()
    assert not has_changed(tree, since)
    os.utime(tree, later)
    assert has_changed(tree, since)
    assert not has_changed(tree.parent, since)
