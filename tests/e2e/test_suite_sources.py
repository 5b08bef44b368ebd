"""The tree of a suite: what moves is asked for anew, what does not is kept, and two who want it share one."""

from __future__ import annotations

import subprocess
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import pytest

from e2e.support import caller
from standins.git_server import Manner, serve
from xpusetup.base.errors import NotReadyError
from xpusetup.suites.sources import fetch_tree

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.e2e


@pytest.fixture
def env(tmp_path: Path) -> dict[str, str]:
    return caller(tmp_path / "home")


@pytest.fixture
def repo(tmp_path: Path, env: dict[str, str]) -> Path:
    """Make a repository with a commit, a branch and a tag."""
    place = tmp_path / "repo"
    place.mkdir()
    git(place, "init", "-q", "-b", "main", env=env)
    commit(place, "first", env)
    git(place, "branch", "side", env=env)
    git(place, "tag", "v1", env=env)
    return place


def git(place: Path, *words: str, env: dict[str, str]) -> None:
    named = ("-c", "user.name=me", "-c", "user.email=me@here")
    subprocess.run(("git", "-C", str(place), *named, *words), check=True, env=env, capture_output=True)


def commit(place: Path, text: str, env: dict[str, str]) -> None:
    (place / "test_it.py").write_text(f"# {text}\n")
    git(place, "add", ".", env=env)
    git(place, "commit", "-q", "-m", text, env=env)


def text(tree: Path) -> str:
    return (tree / "test_it.py").read_text().removeprefix("# ").strip()


@pytest.mark.parametrize("ref", ["HEAD", "main", "refs/heads/main"])
def test_what_moves_is_fetched_anew(tmp_path: Path, repo: Path, env: dict[str, str], ref: str) -> None:
    first = fetch_tree(f"file://{repo}", ref, tmp_path / "suites/tree", env)
    assert text(first) == "first"
    assert fetch_tree(f"file://{repo}", ref, tmp_path / "suites/tree", env) == first
    commit(repo, "second", env)
    second = fetch_tree(f"file://{repo}", ref, tmp_path / "suites/tree", env)
    assert text(second) == "second"
    assert text(first) == "first", "who runs it still has it"


def test_a_tag_stays_and_needs_nobody_again(tmp_path: Path, repo: Path, env: dict[str, str]) -> None:
    first = fetch_tree(f"file://{repo}", "refs/tags/v1", tmp_path / "suites/tree", env)
    repo.rename(tmp_path / "gone")
    assert fetch_tree(f"file://{repo}", "refs/tags/v1", tmp_path / "suites/tree", env) == first


def test_two_at_once_fetch_one_tree(tmp_path: Path, repo: Path, env: dict[str, str]) -> None:
    with ThreadPoolExecutor(4) as pool:
        several = [pool.submit(fetch_tree, f"file://{repo}", "side", tmp_path / "suites/tree", env) for _ in range(4)]
        assert len({each.result() for each in several}) == 1
    assert [path.suffix for path in (tmp_path / "suites").iterdir() if path.name.startswith(".")] == [".lock"]


@pytest.mark.parametrize("ref", ["refs/tags/v2", "none", "HEAD"])
def test_what_is_not_there_leaves_nothing(tmp_path: Path, repo: Path, env: dict[str, str], ref: str) -> None:
    where = f"file://{tmp_path}/none" if ref == "HEAD" else f"file://{repo}"
    with pytest.raises(NotReadyError, match=f"{ref} of {where} cannot be fetched"):
        fetch_tree(where, ref, tmp_path / "suites/tree", env)
    assert [path.suffix for path in (tmp_path / "suites").glob(".*")] in ([], [".lock"])


def test_what_a_killed_run_left_is_in_nobodys_way(tmp_path: Path, repo: Path, env: dict[str, str]) -> None:
    left = tmp_path / "suites/.tree.abc.part"
    git(tmp_path, "init", "-q", str(left), env=env)
    assert text(fetch_tree(f"file://{repo}", "refs/tags/v1", tmp_path / "suites/tree", env)) == "first"
    assert not left.exists()


@pytest.mark.parametrize("ref", ["main", "refs/tags/v1"])
def test_nobody_is_asked_for_a_password(tmp_path: Path, repo: Path, env: dict[str, str], ref: str) -> None:
    """A desktop's dialog would be waited for."""
    asker = tmp_path / "asker"
    asker.write_text(f"#!/bin/sh\ntouch {tmp_path}/asked\necho secret\n")
    asker.chmod(0o755)
    manner, asked = Manner(password="secret"), {**env, "GIT_ASKPASS": str(asker)}  # noqa: S106 - of this test
    with serve(repo.parent, manner) as server, pytest.raises(NotReadyError, match="could not read Username"):
        fetch_tree(f"{server.address}repo", ref, tmp_path / "suites/tree", asked)
    assert not (tmp_path / "asked").exists()
