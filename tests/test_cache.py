"""What lies in the store, what of it can go, and that trees keep what they have."""

from __future__ import annotations

import fcntl
import importlib
import os
import shutil
from typing import TYPE_CHECKING, Any

import pytest

from xpusetup.commands import cache
from xpusetup.commands import cache as module
from xpusetup.commands.cache import list_repositories, measure_roots
from xpusetup.system.process import ProcessOutput

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

store_of_helpers: Any = importlib.import_module("helperlib.git.store")
NAMES = {"used": "pytorch-pytorch-0123456789ab.git", "idle": "pybind-pybind11-ba9876543210.git"}


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Make a store with two repositories, of one of which a tree has links."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    folder = tmp_path / "xpusetup/git"
    for name, size in {"used": 3000, "idle": 2000}.items():
        packs = folder / NAMES[name] / "objects/pack"
        packs.mkdir(parents=True)
        (packs / "pack-1.pack").write_bytes(b"x" * size)
    os.link(folder / NAMES["used"] / "objects/pack/pack-1.pack", tmp_path / "a-tree.pack")
    return folder


def test_what_is_there(store: Path) -> None:
    found = [(one.name, one.bytes, one.used) for one in list_repositories(store)]
    assert found == [("pytorch-pytorch", 3000, True), ("pybind-pybind11", 2000, False)]
    assert list_repositories(store / "nowhere") == []


def test_what_no_tree_uses_goes(store: Path) -> None:
    told = cache.prune(everything=False).data
    assert ([one.name for one in told.removed], told.freed) == (["pybind-pybind11"], 2000)
    assert [path.name for path in store.iterdir()] == [NAMES["used"]]


def test_all_goes_and_a_tree_keeps_its_objects(store: Path, tmp_path: Path) -> None:
    told = cache.prune(everything=True).data
    assert (len(told.removed), told.freed) == (2, 2000)
    assert list(store.iterdir()) == []
    assert (tmp_path / "a-tree.pack").stat().st_size == 3000


def test_what_a_fetch_writes_to_stays(store: Path) -> None:
    with (store / NAMES["idle"] / module.LOCK).open("ab") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        told = cache.prune(everything=False).data
    assert (told.removed, [one.name for one in told.busy]) == ([], ["pybind-pybind11"])
    assert (store / NAMES["idle"]).is_dir()


def test_who_waited_for_what_was_removed_holds_the_new_one(store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A fetch that waited for `cache prune` held a lock that was gone, and the next prune took all from under it."""
    kept = store_of_helpers.ObjectStore(store)
    place = kept.place("https://host.invalid/pybind/pybind11")
    place.mkdir()
    real, waited = fcntl.flock, list[str]()
    with (place / module.LOCK).open("ab") as held:
        real(held, fcntl.LOCK_EX)

        def wait(stream: Any, how: int) -> None:
            if how == fcntl.LOCK_EX and not waited:  # and so long the removal comes to its end
                waited.append("once")
                shutil.rmtree(place)
                real(held, fcntl.LOCK_UN)
            real(stream, how)

        monkeypatch.setattr(fcntl, "flock", wait)
        with kept.lock("https://host.invalid/pybind/pybind11") as found:
            assert (found, waited) == (place, ["once"])
            assert not module.remove_repository(place)
            assert place.is_dir()
        assert module.remove_repository(place)
    assert not place.exists()


def test_a_file_system_that_never_gives_the_same_file(store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A fetch that would wait for ever there goes on without the store."""
    monkeypatch.setattr(os.path, "samestat", lambda _one, _other: False)
    with pytest.raises(OSError, match="Stale"), store_of_helpers.ObjectStore(store).lock("https://host.invalid/a/b"):
        pass


def test_a_removal_that_is_cut_off_leaves_nothing_for_whole(store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What says that packs are whole goes before them."""
    (store / NAMES["idle"] / module.KEPT).write_text("commit 1\npack pack-1\n")
    monkeypatch.setattr(shutil, "rmtree", lambda path: (_ for _ in ()).throw(OSError(f"{path} is read-only")))
    assert [one.name for one in cache.prune(everything=False).data.busy] == ["pybind-pybind11"]
    assert not (store / NAMES["idle"] / module.KEPT).exists()


def test_roots(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Second builds are among them, and what is in none of the parts: published wheels, archives."""
    for name in ("sim", ".rebuilt/sim-at-a-longer-path"):
        (tmp_path / name / "src").mkdir(parents=True)
        (tmp_path / name / "published").mkdir()
        (tmp_path / name / "profile.lock.json").write_text("{}")
    (tmp_path / "not-a-root").mkdir()
    monkeypatch.setattr(module, "run_process", _du)
    again, root = measure_roots(tmp_path)
    assert (root.name, root.parts) == ("sim", {"src": 7 * 1024, "venv": 0, "wheels": 0, "rest": 14 * 1024})
    assert (again.name, again.parts) == ("sim-at-a-longer-path", root.parts)


def _du(argv: Sequence[str], **_: object) -> ProcessOutput:
    """Seven KiB for each path."""
    paths = argv[argv.index("--") + 1 :]
    return ProcessOutput(0, "".join(f"7\t{path}\n" for path in paths) + f"{7 * len(paths)}\ttotal\n", "")


def test_what_lies_beside_the_sources(store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Unpacked bundles and sources of suites took gigabytes that no command told of."""
    for name in ("bundles/0a1b", "suites/pytorch", "of-a-newer-version"):
        (store.parent / name).mkdir(parents=True)
    monkeypatch.setattr(module, "run_process", _du)
    told = [(one.what, one.path, one.bytes) for one in cache.size().data.others]
    names = {"bundles, unpacked": "bundles", "of-a-newer-version": "of-a-newer-version"} | {
        "sources of test suites": "suites"
    }
    assert told == [(what, str(store.parent / name), 7 * 1024) for what, name in names.items()]


def test_unpacked_bundles_go_where_no_build_is_at_work(store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (store.parent / "bundles/0a1b").mkdir(parents=True)
    monkeypatch.setattr(module, "run_process", _du)
    told = cache.prune(everything=False).data
    assert told.unpacked == str(store.parent / "bundles")
    assert told.freed >= 7 * 1024
    assert not (store.parent / "bundles").exists()
    assert cache.prune(everything=False).data.unpacked is None


def test_a_size_that_nobody_could_find_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "run_process", lambda *_, **__: ProcessOutput(None, "7\tcut o", "", "too slow"))
    assert module.measure(tmp_path) is None
