"""Fetching from servers as rude as real ones: what may pass is tried again, what may not is told at once."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from e2e.fetching import STORE, notes, summary
from standins.git_server import Manner, serve
from standins.repository import run_git
from standins.superproject import HELPER, HOST, Size, Super, find_rubbish, make_super, snapshot
from xpusetup.base.errors import NotReadyError
from xpusetup.base.model import FoundRef
from xpusetup.bundle.io import list_trees
from xpusetup.system.git import list_refs, read_files

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = [pytest.mark.e2e, pytest.mark.xdist_group("fetch")]

OFF = ("xpusetup.store", "off")


def test_a_tree_is_as_git_makes_it(upstream: Super, wanted: dict[str, tuple[int, str]], tmp_path: Path) -> None:
    """File for file, and git knows the submodules as its own: it finds nothing to do."""
    with serve(upstream.folder) as server:
        env = upstream.environment(tmp_path / "home", server)
        done = upstream.fetch(tmp_path / "tree", env, "--tag", "v1.0")
        assert re.fullmatch(r"= v1\.0 [0-9a-f]{7} \| \d+ KiB \| 4 submodules", summary(done)), done.stdout
        asked = len(server.served.requests)
        update = ("git", "submodule", "update", "--init", "--recursive")
        updated = subprocess.run(update, cwd=tmp_path / "tree", env=env, check=True, capture_output=True, text=True)
        assert (updated.stdout, len(server.served.requests)) == ("", asked)
    assert snapshot(tmp_path / "tree") == wanted
    assert find_rubbish(tmp_path / "tree", tmp_path / "home" / STORE) == []
    assert run_git(tmp_path / "tree", "remote") == ""
    assert run_git(tmp_path / "tree/third_party/one", "remote") == "origin"
    shutil.move(tmp_path / "tree", tmp_path / "moved")
    assert run_git(tmp_path / "moved", "status", "--porcelain") == ""


def test_a_sparse_tree(upstream: Super, wanted: dict[str, tuple[int, str]], tmp_path: Path) -> None:
    """Only its folders get files and submodules; what else the same tree needs later is all that is asked for then."""
    tree = tmp_path / "tree"
    with serve(upstream.folder) as server:
        env = upstream.environment(tmp_path / "home", server)
        done = upstream.fetch(tree, env, "--sparse", "third_party/one/external")
        assert summary(done).endswith(" | 2 submodules"), done.stdout
        one = {path: what for path, what in wanted.items() if path.startswith("third_party/one/")}
        assert snapshot(tree) == one
        assert run_git(tree, "status", "--porcelain") == ""
        assert [found.rev for found in list_trees(tree, (HOST,), ["third_party/one"])] == [
            upstream.revs[name] for name in ("super", "one", "deep")
        ]
        assert [found.rev for found in list_trees(tree, (HOST,), ["d0"])] == [upstream.revs["super"]]
        gone = upstream.fetch(tree, env, "--sparse", "d0", "--sparse", "nowhere")
        assert (gone.returncode, "has no folder nowhere at" in gone.stderr) == (1, True)
        assert {*snapshot(tree)} == {*one, *(path for path in wanted if path.startswith("d0/"))}
        before = len(server.served.requests)
        assert summary(upstream.fetch(tree, env)).endswith(" | 4 submodules")
        assert {path.split("/")[1] for path in server.served.requests[before:]} == {"part1", "part2"}
    assert snapshot(tree) == wanted
    assert find_rubbish(tree, tmp_path / "home" / STORE) == []


def test_progress_is_counted_over_all_repositories(upstream: Super, tmp_path: Path) -> None:
    with serve(upstream.folder, Manner(rate=200_000)) as server:
        done = upstream.fetch(tmp_path / "tree", upstream.environment(tmp_path / "home", server))
    counted = [line for line in done.stdout.splitlines() if line.startswith("[")]
    assert all(re.fullmatch(r"\[\d+/\d+\] objects, [\d.]+ \w+(, \d of \d repositories)?", line) for line in counted)
    assert len(counted) > 1
    last = re.match(r"\[(\d+)/(\d+)\] objects, .*, 5 of 5 repositories", counted[-1])
    assert last is not None
    assert last[1] == last[2]
    assert int(last[1]) > 300


RUDE = {
    "502": (Manner(broken=3), "returned error: 502"),
    "cut": (Manner(cut=4, seed=7), ""),
    "stalled": (Manner(stalled=1, seed=2), "too slow"),
    "slow": (Manner(delay=0.2, rate=400_000), ""),
}


@pytest.mark.parametrize("name", RUDE)
def test_a_server_that_comes_to_itself(
    upstream: Super, wanted: dict[str, tuple[int, str]], tmp_path: Path, name: str
) -> None:
    """Each repository is asked again by itself, and each time is told."""
    manner, words = RUDE[name]
    with serve(upstream.folder, replace(manner)) as server:
        patience = (("http.lowSpeedLimit", "100"), ("http.lowSpeedTime", "1"))
        done = upstream.fetch(tmp_path / "tree", upstream.environment(tmp_path / "home", server, *patience))
        assert done.returncode == 0, done.stdout + done.stderr
        assert len(notes(done)) == manner.broken + manner.cut + manner.stalled, done.stdout
    assert all("tried again in" in note for note in notes(done))
    assert words in "".join(notes(done))
    assert snapshot(tmp_path / "tree") == wanted
    assert find_rubbish(tmp_path / "tree", tmp_path / "home" / STORE) == []


@pytest.mark.parametrize("seed", range(6))
def test_connections_that_end_at_random_bytes(upstream: Super, tmp_path: Path, seed: int) -> None:
    """Whatever git makes of an answer that ends early, it is taken for what it is."""
    with serve(upstream.folder, Manner(cut=4, seed=seed * 100)) as server:
        done = upstream.fetch(tmp_path / "tree", upstream.environment(tmp_path / "home", server))
        assert done.returncode == 0, done.stdout + done.stderr
        assert server.manner.cut == 0
    assert find_rubbish(tmp_path / "tree", tmp_path / "home" / STORE) == []


def test_a_server_that_stays_broken_is_given_up(upstream: Super, tmp_path: Path) -> None:
    with serve(upstream.folder, Manner(broken=10_000)) as server:
        done = upstream.fetch(tmp_path / "tree", upstream.environment(tmp_path / "home", server))
        assert len(server.served.requests) == 6
    assert done.returncode == 1
    assert "xpusetup: cannot get" in done.stderr
    assert "502" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    ("manner", "words"),
    [
        (Manner(password="secret"), "could not read Username"),  # noqa: S106 - of this test
        (Manner(hidden=("/super",)), "not found"),
    ],
    ids=["password", "absent"],
)
def test_what_no_patience_helps_is_told_at_once(upstream: Super, tmp_path: Path, manner: Manner, words: str) -> None:
    """Nobody is asked for a password, whatever program a desktop has for that, and nothing is tried again."""
    asker = tmp_path / "asker"
    asker.write_text(f"#!/bin/sh\ntouch {tmp_path}/asked\necho secret\n")
    asker.chmod(0o755)
    with serve(upstream.folder, manner) as server:
        env = upstream.environment(tmp_path / "home", server, ("core.askPass", str(asker)))
        done = upstream.fetch(tmp_path / "tree", {**env, "GIT_ASKPASS": str(asker), "SSH_ASKPASS": str(asker)})
    assert (done.returncode, notes(done)) == (1, [])
    assert words in done.stderr
    assert not (tmp_path / "asked").exists()


def test_a_server_that_refuses_commits(tmp_path: Path) -> None:
    """Over HTTP: the root comes by its tag, submodules whole."""
    strict = make_super(tmp_path / "strict", Size(modules=2, files=40), refuse_sha=True)
    with serve(strict.folder) as server:
        done = strict.fetch(tmp_path / "tree", strict.environment(tmp_path / "home", server), "--tag", "v1.0")
    assert done.returncode == 0, done.stdout + done.stderr
    assert notes(done) == []
    assert find_rubbish(tmp_path / "tree") == []


def drop_pin(upstream: Super, name: str, folder: Path) -> Super:
    """Give the same upstream without one pinned commit: no branch, tag or server has it any more."""
    shutil.copytree(upstream.folder, folder)
    run_git(folder / name, "tag", "--delete", "v1.0")
    run_git(folder / name, "update-ref", "refs/heads/main", f"{upstream.revs[name]}~1")
    run_git(folder / name, "reflog", "expire", "--expire=now", "--all")
    run_git(folder / name, "gc", "--quiet", "--prune=now")
    return replace(upstream, folder=folder)


def test_a_pin_that_vanished_comes_from_the_fallback(
    upstream: Super, wanted: dict[str, tuple[int, str]], tmp_path: Path
) -> None:
    """Without a fallback the submodule is named, and the next run fetches it alone."""
    poor = drop_pin(upstream, "part2", tmp_path / "poor")
    with serve(poor.folder) as server, serve(upstream.folder) as mirror:
        done = poor.fetch(tmp_path / "tree", poor.environment(tmp_path / "home", server))
        assert done.returncode == 1
        assert f"cannot get {upstream.revs['part2']} of third_party/part2 from {HOST}part2: " in done.stderr
        assert [path.name for path in (tmp_path / "tree").iterdir()] == [".git"]
        asked = len(server.served.requests)
        fallback = (f"xpusetup.{mirror.address}.fallbackOf", HOST)
        done = poor.fetch(tmp_path / "tree", poor.environment(tmp_path / "home", server, fallback))
        assert done.returncode == 0, done.stdout + done.stderr
        assert len(notes(done)) == 1
        assert f"asking {mirror.address}part2" in notes(done)[0]
        assert {line.split()[1].split("/")[1] for line in server.served.requests[asked:]} == {"part2"}
        assert {line.split()[1].split("/")[1] for line in mirror.served.requests} == {"part2"}
    assert snapshot(tmp_path / "tree") == wanted


def test_two_submodules_that_are_gone_are_told_together(upstream: Super, tmp_path: Path) -> None:
    with serve(upstream.folder, Manner(hidden=("/part1", "/part2"))) as server:
        done = upstream.fetch(tmp_path / "tree", upstream.environment(tmp_path / "home", server, OFF))
    assert done.returncode == 1
    assert "and 1 more" in done.stderr
    assert all(f"of third_party/part{number} from" in done.stdout for number in (1, 2))


def make_repository(folder: Path, **files: str) -> str:
    """Make a repository of these files, with a commit; `_` before an ending stands for the dot."""
    folder.mkdir()
    for name, text in files.items():
        (folder / ".".join(name.rsplit("_", 1))).write_text(text)
    for words in (("init", "--quiet"), ("add", "--all"), ("commit", "--quiet", "--message", "one")):
        run_git(folder, *words)
    return run_git(folder, "rev-parse", "HEAD").strip()


def fetch(
    folder: Path | str, rev: str, tree: Path, env: dict[str, str], *more: str
) -> subprocess.CompletedProcess[str]:
    repo = folder if isinstance(folder, str) else f"file://{folder}"
    words = ("--repo", repo, "--rev", rev, "--into", str(tree), *more, "--pauses", "0")
    return subprocess.run((sys.executable, str(HELPER), *words), env=env, check=False, capture_output=True, text=True)


POINTER = "version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 9\n"
TOLD = r"= %s \| \d+ B \| 1 file of git-lfs not there"


def test_files_that_git_lfs_did_not_bring(tmp_path: Path) -> None:
    """They are named, and how they come; where git-lfs is here it is told whom to ask, as the tree has no remote."""
    texts = {"_gitattributes": "*.bin filter=lfs -text\n", "w_bin": POINTER, "about_txt": f"It says\n{POINTER}"}
    rev = make_repository(tmp_path / "upstream", **texts)
    env = {"HOME": str(tmp_path), "PATH": os.environ["PATH"], "LANG": "C.UTF-8"}
    done = fetch(tmp_path / "upstream", rev, tmp_path / "tree", env)
    assert re.fullmatch(TOLD % rev[:7], summary(done)), done.stdout
    first, how = notes(done)
    assert first.startswith("note: w.bin: pointers of git-lfs")
    assert f"rm -r {tmp_path}/tree;" in how
    smudge = "git config remote.origin.url #"
    settings = {"GIT_CONFIG_COUNT": "1", "GIT_CONFIG_KEY_0": "filter.lfs.smudge", "GIT_CONFIG_VALUE_0": smudge}
    shutil.rmtree(tmp_path / "tree")
    done = fetch(tmp_path / "upstream", rev, tmp_path / "tree", env | settings)
    assert (tmp_path / "tree/w.bin").read_text() == f"file://{tmp_path}/upstream\n", done.stdout
    assert notes(done) == []


def test_a_submodule_in_a_folder_of_this_machine(tmp_path: Path) -> None:
    """Git refuses it unless that is allowed; what is advised works in the shell that builds."""
    make_repository(tmp_path / "leaf", a_h="int leaf;\n")
    make_repository(tmp_path / "upstream", b_h="int b;\n")
    run_git(tmp_path / "upstream", "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", "../leaf")
    run_git(tmp_path / "upstream", "commit", "--quiet", "--message", "two")
    rev = run_git(tmp_path / "upstream", "rev-parse", "HEAD").strip()
    env = {"HOME": str(tmp_path), "PATH": os.environ["PATH"], "LANG": "C.UTF-8"}
    refused = fetch(tmp_path / "upstream", rev, tmp_path / "tree", env)
    assert (refused.returncode, "transport 'file' not allowed" in refused.stderr) == (1, True)
    advice = refused.stderr.partition("that is allowed: export ")[2].split()
    done = fetch(tmp_path / "upstream", rev, tmp_path / "tree", env | dict(word.split("=", 1) for word in advice))
    assert (tmp_path / "tree/leaf/a.h").read_text() == "int leaf;\n", done.stderr


def test_a_tag_and_a_commit_that_are_not_there(tmp_path: Path) -> None:
    """A tag that nobody has is not said to be what came; a commit that nobody has is no matter of the network."""
    rev = make_repository(tmp_path / "upstream", b_h="int b;\n")
    env = {"HOME": str(tmp_path), "PATH": os.environ["PATH"], "LANG": "C.UTF-8"}
    done = fetch(tmp_path / "upstream", rev, tmp_path / "tree", env, "--tag", "v9")
    assert notes(done) == [f"note: file://{tmp_path}/upstream has no tag v9; the commit is the one that is pinned"]
    assert summary(done).startswith(f"= {rev[:7]} | ")
    gone = fetch(tmp_path / "upstream", "0" * 40, tmp_path / "other", env)
    assert (gone.returncode, f"pin a commit that it has: git ls-remote file://{tmp_path}/upstream" in gone.stderr) == (
        1,
        True,
    )


@pytest.mark.parametrize("by_settings", [False, True])
def test_a_folder_that_is_no_repository_is_no_matter_of_the_network(tmp_path: Path, by_settings: bool) -> None:
    env = {"HOME": str(tmp_path), "PATH": os.environ["PATH"], "LANG": "C.UTF-8"}
    address = f"file://{tmp_path}/gone"
    if by_settings:
        address = "https://host.invalid/gone"
        named = {"GIT_CONFIG_KEY_0": f"url.{tmp_path}/.insteadOf", "GIT_CONFIG_VALUE_0": "https://host.invalid/"}
        env |= {"GIT_CONFIG_COUNT": "1", **named}
    for seen in ("is not there", "is no repository of git, or may not be read"):
        done = fetch(address, "0" * 40, tmp_path / "tree", env)
        assert (done.returncode, f"{tmp_path}/gone {seen}: bring the repository there" in done.stderr) == (1, True)
        assert "network" not in done.stderr
        with pytest.raises(NotReadyError) as caught:
            list_refs(address, ("refs/heads/main",), env)
        assert "network" not in caught.value.fix
        (tmp_path / "gone").mkdir(exist_ok=True)


def test_a_commit_that_a_server_lacks_is_no_matter_of_the_network(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_repository(tmp_path / "upstream", b_h="int b;\n")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    env = {"HOME": str(tmp_path)}
    with pytest.raises(NotReadyError, match="it has no commit 0000000") as caught:
        read_files(f"file://{tmp_path}/upstream", FoundRef("0" * 40), ["a"], env)
    assert f"a commit that it has: git ls-remote file://{tmp_path}/upstream" in caught.value.fix
