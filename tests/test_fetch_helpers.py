"""What the fetch helpers decide without a server: failures by their words, progress, submodules, stores."""

from __future__ import annotations

import importlib
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from xpusetup.base.model import parse_progress
from xpusetup.bundle import contents
from xpusetup.system import git

git_gather: Any = importlib.import_module("helperlib.git.gather")
git_process: Any = importlib.import_module("helperlib.git.process")
git_store: Any = importlib.import_module("helperlib.git.store")
git_tree: Any = importlib.import_module("helperlib.git.tree")

HUNG_UP = "fatal: the remote end hung up unexpectedly"
REV, OTHER = "a" * 40, "b" * 40


@pytest.mark.parametrize(
    ("kind", "words"),
    [
        ("passing", "fatal: unable to access 'https://h/r/': The requested URL returned error: 502"),
        ("passing", "fatal: unable to access 'https://h/r/': The requested URL returned error: 429"),
        ("passing", "fatal: unable to access 'https://h/r/': Could not resolve host: h"),
        ("passing", "fatal: unable to access 'https://h/r/': Failed to connect to h port 443 after 3 ms"),
        ("passing", "error: RPC failed; curl 92 HTTP/2 stream 5 was not closed cleanly: CANCEL (err 8)"),
        ("passing", "error: RPC failed; curl 28 Operation too slow. Less than 100 bytes/sec transferred"),
        ("passing", f"fetch-pack: unexpected disconnect while reading sideband packet\nfatal: early EOF\n{HUNG_UP}"),
        (
            "passing",
            "ssh: connect to host h port 22: Connection timed out\nfatal: Could not read from remote repository.",
        ),
        (
            "passing",
            "fatal: unable to access 'https://h/r/': GnuTLS recv error (-110): The TLS connection was non-properly",
        ),
        ("passing", "fatal: git stalled: not a word for 600 s"),
        ("refused", f"fatal: remote error: upload-pack: not our ref {REV}"),
        ("refused", f"error: Server does not allow request for unadvertised object {REV}"),
        ("refused", f"fatal: remote error: upload-pack: not our ref {REV}\n{HUNG_UP}"),
        ("refused", "fatal: couldn't find remote ref refs/tags/v9"),
        ("refused", "fatal: dumb http transport does not support shallow capabilities"),
        ("denied", "fatal: unable to access 'https://h/r/': The requested URL returned error: 403"),
        ("denied", "fatal: could not read Username for 'https://h': terminal prompts disabled"),
        ("denied", "remote: Not Found\nfatal: repository 'https://h/r/' not found"),
        ("denied", f"git@h: Permission denied (publickey).\nfatal: Could not read from remote repository.\n{HUNG_UP}"),
        (
            "denied",
            "fatal: '/m/r' does not appear to be a git repository\nfatal: Could not read from remote repository.",
        ),
        ("denied", "fatal: unable to access 'https://h/r/': SSL certificate problem: self-signed certificate"),
        ("denied", "fatal: transport 'file' not allowed"),
        ("denied", "error: RPC failed; HTTP 403 curl 22 The requested URL returned error: 403"),
        ("denied", "fatal: unable to access 'https://h/r/': Received HTTP code 407 from proxy after CONNECT"),
        ("room", "error: file write error: No space left on device\nfatal: unable to write loose object file"),
        ("room", f"fatal: write error: Disk quota exceeded\nfatal: fetch-pack: invalid index-pack output\n{HUNG_UP}"),
        ("other", "fatal: something that nobody has seen"),
        ("other", ""),
    ],
)
def test_a_failure_by_its_words(kind: str, words: str) -> None:
    assert git_process.sort_failure(words) == kind


@pytest.mark.parametrize(
    ("words", "last"),
    [
        (f"fatal: early EOF\n{HUNG_UP}", "early EOF"),
        ("remote: Not Found\nfatal: repository 'x' not found", "repository 'x' not found"),
        ("error: only an error", "only an error"),
        ("words\n", "words"),
        ("\n", "it gave no message"),
    ],
)
def test_the_words_that_are_told(words: str, last: str) -> None:
    assert git_process.last_words(words) == last


def test_progress_of_several_repositories() -> None:
    """Objects, bytes and places are summed, no more often than is readable, and the last word is always said."""
    said: list[str] = []
    time = [0.0]
    progress = git_gather.GatherProgress(said.append, lambda: time[0])
    progress.expect(2)
    assert progress.take("one", "Receiving objects:  10% (10/100)")
    assert progress.take("one", "Receiving objects:  50% (50/100), 1.50 MiB | 2.00 MiB/s")
    time[0] = 1.0
    assert progress.take("two", "Receiving objects:   1% (1/40), 512 bytes | 1.00 KiB/s")
    progress.have()
    assert progress.take("one", "Receiving objects: 100% (100/100), 3.00 MiB | 2.00 MiB/s, done.")
    assert progress.take("two", "Receiving objects: 100% (40/40), 1.00 KiB | 1.00 KiB/s, done.")
    progress.have()
    assert said == [
        "[10/100] objects, 0 B, 0 of 2 repositories",
        "[51/140] objects, 1.5 MiB, 0 of 2 repositories",
        "[140/140] objects, 3.0 MiB, 2 of 2 repositories",
    ]
    assert parse_progress(said[1]) == (51, 140)


@pytest.mark.parametrize(
    ("line", "taken"),
    [
        ("remote: Counting objects:  12% (3/25)", True),
        ("remote: Enumerating objects: 251, done.", True),
        ("remote: Compressing objects: 100% (25/25), done.", True),
        ("Resolving deltas: 100% (4/4), done.", True),
        ("remote: Total 251 (delta 4), reused 12 (delta 0)", False),
        ("remote: Not Found", False),
        ("fatal: early EOF", False),
        ("From https://h/r", False),
    ],
)
def test_lines_that_no_log_needs(line: str, taken: bool) -> None:
    assert git_gather.GatherProgress(print).take("one", line) is taken


@pytest.mark.parametrize(
    ("address", "parent", "found"),
    [
        ("../deep", "https://h/group/super", "https://h/group/deep"),
        ("../deep.git", "https://h/group/super.git/", "https://h/group/deep.git"),
        ("../../other/deep", "https://h/group/super", "https://h/other/deep"),
        ("./below", "https://h/super", "https://h/super/below"),
        ("../deep", "git@h:super", "git@h:deep"),
        ("../deep", "git@h:group/super", "git@h:group/deep"),
        ("https://h/x", "https://h/super", "https://h/x"),
    ],
)
def test_addresses_relative_to_the_parent(address: str, parent: str, found: str) -> None:
    assert git_tree.resolve_address(address, parent) == found
    assert contents.resolve_address(parent, address) == found  # a bundle is scanned by the program


def make_parent(tmp_path: Path) -> Any:
    return git_tree.TreeRepository(address="https://h/super", rev=REV, folder=tmp_path / ".git", tree=tmp_path)


def test_submodules_as_git_lists_them(tmp_path: Path) -> None:
    listed = (
        "submodule.third_party/a.b.path\nthird_party/a.b\0submodule.third_party/a.b.url\n../a\0"
        "submodule.not.path\nnot\0submodule.not.url\nhttps://h/n\0submodule.not.update\nnone\0core.x\n1\0"
    )
    modules = [module for module in git_tree.parse_modules(listed) if git_tree.is_wanted(module)]
    links = dict(git_tree.parse_links(f"160000 commit {OTHER}\tthird_party/a.b\x00100644 blob {REV}\tnot\0"))
    assert links == {"third_party/a.b": OTHER}
    (module,) = modules
    made = git_tree.make_submodule(make_parent(tmp_path), module, OTHER)
    assert (made.address, made.rev, made.path) == ("https://h/a", OTHER, "third_party/a.b")
    assert (made.folder, made.tree) == (tmp_path / ".git/modules/third_party/a.b", tmp_path / "third_party/a.b")
    assert made.depth == 1


@pytest.mark.parametrize(
    "module",
    [
        {"name": "../../x", "path": "x", "url": "https://h/x"},
        {"name": "x", "path": "../x", "url": "https://h/x"},
        {"name": "x", "path": "/etc", "url": "https://h/x"},
        {"name": "x", "path": ".git/hooks", "url": "https://h/x"},
        {"name": "x", "path": "x", "url": "--upload-pack=touch /tmp/x"},
    ],
)
def test_a_hostile_submodule_is_refused(tmp_path: Path, module: dict[str, str]) -> None:
    with pytest.raises(git_process.FetchError, match="has a submodule"):
        git_tree.make_submodule(make_parent(tmp_path), module, OTHER)


def test_a_submodule_behind_a_link_is_refused(tmp_path: Path) -> None:
    (tmp_path / "tree").mkdir()
    (tmp_path / "tree/third_party").symlink_to(tmp_path)
    module = {"name": "x", "path": "third_party/x", "url": "https://h/x"}
    made = git_tree.make_submodule(make_parent(tmp_path / "tree"), module, OTHER)
    with pytest.raises(git_process.FetchError, match="leads out of"):
        git_tree.check_place(made, tmp_path / "tree")


@pytest.mark.parametrize(
    ("environment", "named", "found"),
    [
        ({"HOME": "/home/me"}, (), ["/home/me/.cache/xpusetup/git"]),
        ({"HOME": "/home/me", "XDG_CACHE_HOME": "/scratch"}, (), ["/scratch/xpusetup/git"]),
        ({"HOME": "/home/me"}, ("/site",), ["/site", "/home/me/.cache/xpusetup/git"]),
        ({"HOME": "/home/me"}, ("/site", "off"), []),
        ({}, (), []),
    ],
)
def test_where_objects_are_kept(environment: dict[str, str], named: tuple[str, ...], found: list[str]) -> None:
    git = git_process.Git(environment, {"xpusetup.store": named})
    assert [str(store.folder) for store in git_store.find_stores(git)] == found


def test_addresses_that_mean_the_same_share_a_place(tmp_path: Path) -> None:
    store = git_store.ObjectStore(tmp_path)
    place = store.place("https://github.com/pytorch/pytorch")
    assert place.name.startswith("pytorch-pytorch-")
    assert (
        store.place("https://github.com/pytorch/pytorch.git")
        == store.place("https://github.com/pytorch/pytorch/")
        == place
    )
    assert store.place("https://github.com/intel/pytorch") != place
    assert store.place("git@h:../../x").parent == tmp_path


def test_only_what_is_written_down_counts(tmp_path: Path) -> None:
    """A pack that a killed fetch left is there, and is not given to anybody."""
    store = git_store.ObjectStore(tmp_path / "store")
    place, target = store.place("https://h/r"), tmp_path / "tree"
    for repository in (place, target):
        git_store.make_repository(repository, bare=repository == place)
    for name in ("pack-1", "pack-2"):
        for suffix in (".pack", ".idx"):
            (place / f"objects/pack/{name}{suffix}").write_text(name)
    git_store.WholeObjects(frozenset({REV}), frozenset({"pack-1"}), frozenset({REV})).write(place)
    assert store.holds("https://h/r", REV)
    assert not store.holds("https://h/r", OTHER)
    assert git_store.link_objects(place, target) == len("pack-1")
    assert sorted(path.name for path in (target / "objects/pack").iterdir()) == ["pack-1.idx", "pack-1.pack"]
    assert (target / "objects/pack/pack-1.pack").samefile(place / "objects/pack/pack-1.pack")
    assert (target / "shallow").read_text() == f"{REV}\n"
    (target / "objects/pack/own.pack").touch()
    (target / "shallow").write_text(f"{REV}\n{OTHER}\n")
    git_store.unlink_objects(place, target)
    assert [path.name for path in (target / "objects/pack").iterdir()] == ["own.pack"]
    assert (target / "shallow").read_text() == f"{OTHER}\n"
    git_store.link_objects(place, target)
    store.forget("https://h/r")
    assert not store.holds("https://h/r", REV)
    assert (target / "objects/pack/pack-1.pack").read_text() == "pack-1"


def test_what_a_killed_git_left_is_cleared(tmp_path: Path) -> None:
    git_store.make_repository(tmp_path / "r", bare=True)
    for name in ("shallow.lock", "refs/xpusetup.lock", "objects/pack/tmp_pack_x", "objects/pack/pack-1.pack"):
        (tmp_path / "r" / name).touch()
    kept = ("objects/pack/pack-2.pack", "objects/pack/pack-2.idx", "shallow")
    for name in kept:
        (tmp_path / "r" / name).touch()
    git_store.clear(tmp_path / "r")
    found = {str(path.relative_to(tmp_path / "r")) for path in (tmp_path / "r").rglob("*") if path.is_file()}
    assert found == {"HEAD", "config", *kept}


def test_a_fallback_stands_for_a_beginning() -> None:
    git = git_process.Git({}, {"xpusetup.https://m/GitHub/.fallbackof": ("https://github.com/",)})
    assert list(git.fallbacks("https://github.com/a/b")) == ["https://m/GitHub/a/b"]
    assert list(git.fallbacks("https://gitlab.com/a/b")) == []


@pytest.mark.parametrize(
    ("sparse", "path", "found"),
    [
        ((), "third_party/one", True),
        (("test/device",), "test/device", True),
        (("test/device",), "test/device/third_party/one", True),
        (("test/device",), "test", True),
        (("test/device",), "test/devices", False),
        (("test/device",), "third_party/one", False),
        (("a", "b/c"), "b/c/d", True),
    ],
)
def test_what_a_sparse_tree_has(sparse: tuple[str, ...], path: str, found: bool) -> None:
    """Two programs that know nothing of each other say the same: who fetches, and who packs a bundle."""
    tree = git_tree.TreeRepository(address="x", rev=REV, folder=Path(), tree=Path(), sparse=sparse)
    assert (tree.has_files(path), contents.has_files(path, sparse)) == (found, found)


def test_the_cheapest_way_comes_first() -> None:
    place = {"folder": Path("x/.git"), "tree": Path("x")}
    wanted = git_tree.TreeRepository(address="https://h/x", rev=REV, ref="refs/tags/v1", **place)
    found = [way[: way.index("--")] + way[way.index("--") + 2 :] for way in git_gather.ways("https://h/x", wanted)]
    assert found == [
        ("--depth", "1", REV),
        ("--depth", "1", "refs/tags/v1"),
        ("--tags", "--force", "+refs/heads/*:refs/remotes/origin/*"),
    ]


def test_a_value_of_gits_configuration() -> None:
    assert git_tree.quote('a "b" \\c') == '"a \\"b\\" \\\\c"'


def test_the_program_asks_git_as_the_steps_do() -> None:
    """Nobody is asked for a password, and a server that says nothing is given up after the same time."""
    assert (git.QUIET, git.SSH, git.SLOW) == (git_process.QUIET, git_process.SSH, git_process.SLOW)


def test_why_a_fetch_is_tried_again_is_said_once(monkeypatch: pytest.MonkeyPatch, capsys: Any) -> None:
    answer = git_process.GitAnswer(128, "", "fatal: unable to access 'x': Could not resolve host: github.com")
    assert answer.kind == git_process.PASSING
    git = SimpleNamespace(call=lambda *_words, **_more: answer)
    monkeypatch.setattr(git_gather.time, "sleep", lambda _seconds: None)
    git_gather.Servers.try_often(SimpleNamespace(git=git), "torch", "fetch", progress=None, pauses=(1, 1, 1))
    notes = capsys.readouterr().out.splitlines()
    assert [note.count("Could not resolve host") for note in notes] == [1, 0, 0]
    assert all("tried again in" in note for note in notes)
