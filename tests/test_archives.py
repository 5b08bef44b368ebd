"""Archives that a build takes ready made: held to their hash, unpacked whole, and not fetched where a user has one."""

from __future__ import annotations

import hashlib
import importlib
import io
import re
import subprocess
import tarfile
from typing import TYPE_CHECKING, Any

import pytest

from data.profiles import TOP
from data.targets import plan_for
from xpusetup.base.errors import UsageError
from xpusetup.base.model import Layout, Request
from xpusetup.config.load import parse_profile
from xpusetup.emit.script import kept_patterns
from xpusetup.plan.steps import find_unverified, make_plan

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from xpusetup.base.model import Plan, Step
    from xpusetup.config.profile import Profile

fetch_archive: Any = importlib.import_module("fetch_archive")
URL = "https://archives.example/llvm-10dc3a8e-almalinux-x64.tar.gz"
NAME = URL.rpartition("/")[2]
TABLE = f"""
[[components.archives]]
name = "llvm"
url = "{URL}"
variable = "LLVM_SYSPATH"
source = "a test"
confidence = "unconfirmed"
"""
FREE = 'reason = "nobody published its hash"\n'
HASH = "a" * 64
INFO = '{{"llvm_hash": "{}", "build_number": 2, "sha256sum": {{"almalinux-x64": "' + HASH + '"}}}}\n'


def profile(more: str) -> Profile:
    """Give torch-2.14 whose last component takes an archive."""
    return parse_profile((TOP / "profiles/torch-2.14.toml").read_text() + TABLE + more, "torch-2.14.toml")


def plan(more: str, **asked: object) -> Plan:
    target = plan_for("torch-2.14").target
    return make_plan(profile(more), Request(**asked), target, Layout())  # type: ignore[arg-type]


def step(found: Plan, name: str) -> Step:
    return next(each for each in found.steps if each.id == name)


@pytest.mark.parametrize("more", [FREE, f'sha256 = "{HASH}"\n'])
def test_it_is_brought_beside_the_tree_and_the_build_is_told_where(more: str) -> None:
    found = plan(more)
    fetch = step(found, "audio.fetch")
    (words,) = (argv for argv in fetch.run if argv[1].endswith("/fetch_archive.py"))
    assert words[-2:] == ("--into", "@ROOT@/src/audio.llvm")
    assert ("--sha256" in words) == ("sha256" in more)
    assert "@ROOT@/src/audio.llvm/.archive" in fetch.makes
    assert ("LLVM_SYSPATH", "@ROOT@/src/audio.llvm") in step(found, "audio.build").env
    assert "XPUSETUP_ARCHIVES" in kept_patterns(fetch, found.target).split()
    assert "XPUSETUP_ARCHIVES" not in kept_patterns(step(found, "vision.fetch"), found.target)


def test_one_of_the_users_own_is_taken_as_it_is() -> None:
    found = plan(FREE, set=(("audio", "LLVM_SYSPATH", "/usr/lib/llvm-20"),))
    assert not any("fetch_archive" in word for each in found.steps for argv in each.run for word in argv)
    assert ("LLVM_SYSPATH", "/usr/lib/llvm-20") in step(found, "audio.build").env
    assert NAME not in find_unverified(profile(FREE), found)


def test_what_has_no_published_hash_is_said_and_refused_where_hashes_are_required() -> None:
    assert NAME in find_unverified(profile(FREE), plan(FREE))
    assert NAME not in find_unverified(profile(f'sha256 = "{HASH}"\n'), plan(f'sha256 = "{HASH}"\n'))
    with pytest.raises(UsageError, match=re.escape(NAME)):
        plan(FREE, require_hashes=True)


@pytest.mark.parametrize(("more", "words"), [("", "a sha256 that is absent needs a reason"), ('sha256 = "ab"\n', "64")])
def test_a_table_that_says_too_little(more: str, words: str) -> None:
    with pytest.raises(UsageError, match=words):
        profile(more)


# The helper.


def pack(path: Path, **members: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    with tarfile.open(path, "w:gz") as tar:
        for name, text in members.items():
            inside = tarfile.TarInfo(name)
            inside.size = len(text)
            tar.addfile(inside, io.BytesIO(text.encode()))
    return path


@pytest.fixture
def fetch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Path]:
    """Call the helper for an archive in the place that the variable names; gives the folder that it becomes."""
    monkeypatch.setenv("XPUSETUP_ARCHIVES", str(tmp_path / "place"))

    def called(sha256: str = "", store: str = "store", told: Sequence[str] = ()) -> Path:
        into = tmp_path / "src" / "audio.llvm"
        into.parent.mkdir(exist_ok=True)
        words = ["--url", URL, "--store", str(tmp_path / store), "--record", str(tmp_path / "origins")]
        words += ["--into", str(into), *(("--sha256", sha256) if sha256 else ()), *told]
        monkeypatch.setattr("sys.argv", ["fetch_archive.py", *words])
        fetch_archive.main()
        return into

    return called


def test_without_a_folder_it_stays_as_it_came(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The offline installer that a bundle carries is no archive."""
    place = tmp_path / "place" / "kit.sh"
    place.parent.mkdir()
    place.write_text("echo kit\n")
    monkeypatch.setenv("XPUSETUP_ARCHIVES", str(place.parent))
    words = [
        "--url",
        "https://mirror.example/kit.sh",
        "--store",
        str(tmp_path / "kit"),
        "--record",
        str(tmp_path / "o"),
    ]
    monkeypatch.setattr("sys.argv", ["fetch_archive.py", *words])
    fetch_archive.main()
    assert (tmp_path / "kit/kit.sh").read_text() == "echo kit\n"
    assert (tmp_path / "o/archives/kit.sh").read_text().split()[0] == hash_of(place)


def hash_of(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def test_the_one_folder_inside_is_what_it_becomes(tmp_path: Path, fetch: Callable[..., Path]) -> None:
    made = pack(tmp_path / "place" / NAME, **{"llvm-x/lib/a.txt": "one", "llvm-x/include/b.h": "two"})
    into = fetch(hash_of(made))
    assert (into / "lib/a.txt").read_text() == "one"
    assert {each.name for each in into.iterdir()} == {"lib", "include", ".archive"}
    made.unlink()
    (into / "lib/a.txt").write_text("changed")
    assert (fetch(hash_of(tmp_path / "store" / NAME)) / "lib/a.txt").read_text() == "changed", (
        "this very one lies there"
    )
    assert [each.name for each in into.parent.iterdir()] == ["audio.llvm"]


def test_another_hash_than_the_published_one_is_refused(tmp_path: Path, fetch: Callable[..., Path]) -> None:
    pack(tmp_path / "place" / NAME, one="1")
    with pytest.raises(SystemExit):
        fetch(HASH)
    assert not (tmp_path / "store" / NAME).exists()
    assert not (tmp_path / "src/audio.llvm").exists()


def test_an_unpacked_program_takes_no_rights_of_its_owner(tmp_path: Path, fetch: Callable[..., Path]) -> None:
    path = tmp_path / "place" / NAME
    path.parent.mkdir(parents=True)
    with tarfile.open(path, "w:gz") as tar:
        inside = tarfile.TarInfo("llvm-x/bin/clang")
        inside.mode = 0o4777
        tar.addfile(inside, io.BytesIO())
        tar.addfile(tarfile.TarInfo("llvm-x/empty"), io.BytesIO())
    assert (fetch(hash_of(path)) / "bin/clang").stat().st_mode & 0o7777 == 0o755


def test_without_a_published_hash_the_first_one_is_held_to(
    tmp_path: Path, fetch: Callable[..., Path], capsys: pytest.CaptureFixture[str]
) -> None:
    first = pack(tmp_path / "place" / NAME, one="1")
    into = fetch()
    assert "unverified origin" in capsys.readouterr().out
    assert (tmp_path / "origins/archives" / NAME).read_text().split() == [hash_of(first), NAME]
    pack(tmp_path / "place" / NAME, one="2")
    with pytest.raises(SystemExit):
        fetch(store="another")
    assert (into / "one").read_text() == "1"
    assert "is not the archive that was used at first" in capsys.readouterr().err


@pytest.mark.parametrize("name", ["../out", "/out", "a/../../out"])
def test_what_leads_out_of_the_folder_is_refused(tmp_path: Path, fetch: Callable[..., Path], name: str) -> None:
    pack(tmp_path / "place" / NAME, **{name: "1"})
    with pytest.raises(SystemExit):
        fetch()
    assert list((tmp_path / "src").iterdir()) == []
    assert not (tmp_path / "out").exists()


def test_a_link_that_leads_out_is_refused(tmp_path: Path, fetch: Callable[..., Path]) -> None:
    (tmp_path / "place").mkdir()
    with tarfile.open(tmp_path / "place" / NAME, "w:gz") as tar:
        for name, target in (("top/inside", "lib/a"), ("top/lib/out", "../../../etc")):
            link = tarfile.TarInfo(name)
            link.type, link.linkname = tarfile.SYMTYPE, target
            tar.addfile(link)
    with pytest.raises(SystemExit):
        fetch()


@pytest.mark.parametrize("target", ["lib", "lib/../lib"])
def test_nothing_lies_behind_a_link_and_none_goes_down_and_up(
    tmp_path: Path, fetch: Callable[..., Path], target: str
) -> None:
    (tmp_path / "place").mkdir()
    with tarfile.open(tmp_path / "place" / NAME, "w:gz") as tar:
        tar.addfile(tarfile.TarInfo("top/lib/a"), io.BytesIO())
        link = tarfile.TarInfo("top/inside")
        link.type, link.linkname = tarfile.SYMTYPE, target
        tar.addfile(link)
        if target == "lib":
            tar.addfile(tarfile.TarInfo("top/inside/b"), io.BytesIO())
    with pytest.raises(SystemExit):
        fetch()


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("10dc3a8e916d73291269e5e2b82dd22681489aa1\n", ""),
        ("ce80c80dca45c7b4636a3e143973e2c6cbdb2884\n", "--set audio.LLVM_SYSPATH=DIR"),
        (INFO.format("10dc3a8e916d73291269e5e2b82dd22681489aa1"), ""),
        (INFO.format("62b7cf9623fc310525f39ed69aaecc318a909731"), "names 62b7cf96"),
        ("10dc3a8e\n", "names no commit"),
        (f"{HASH}\n", "names no commit"),
        (None, "cannot read"),
    ],
)
def test_a_tree_that_was_made_for_another_one(
    tmp_path: Path, fetch: Callable[..., Path], capsys: pytest.CaptureFixture[str], text: str | None, words: str
) -> None:
    pack(tmp_path / "place" / NAME, one="1")
    if text is not None:
        (tmp_path / "llvm-hash.txt").write_text(text)
    told = ("--pin-file", str(tmp_path / "llvm-hash.txt"), "--setting", "audio.LLVM_SYSPATH")
    if not words:
        assert (fetch(told=told) / "one").exists()
        return
    with pytest.raises(SystemExit):
        fetch(told=told)
    assert words in capsys.readouterr().err
    assert not (tmp_path / "store").exists()


@pytest.mark.parametrize("content", [b"no archive", b""])
def test_what_is_no_archive(tmp_path: Path, fetch: Callable[..., Path], content: bytes) -> None:
    (tmp_path / "place").mkdir()
    (tmp_path / "place" / NAME).write_bytes(content)
    with pytest.raises(SystemExit):
        fetch()
    assert list((tmp_path / "src").iterdir()) == []


def test_a_place_that_lacks_it(tmp_path: Path, fetch: Callable[..., Path], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        fetch()
    assert f"{tmp_path / 'place'} has no {NAME}" in capsys.readouterr().err


class TestOfTheIndex:
    """An archive that is named by the package index, whose files lie where only the index knows."""

    URL = "index:demo-pack/demo_pack-1.0.tar.gz"

    @staticmethod
    def answers(monkeypatch: pytest.MonkeyPatch, code: int, text: str) -> list[Sequence[str]]:
        asked: list[Sequence[str]] = []

        def run(words: Sequence[str], **_more: object) -> subprocess.CompletedProcess[str]:
            asked.append(words)
            return subprocess.CompletedProcess(words, code, text)

        monkeypatch.setattr(fetch_archive.subprocess, "run", run)
        return asked

    def test_pip_fetches_it(self, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
        asked = self.answers(monkeypatch, 0, "true")
        fetch_archive.fetch_by_pip(self.URL, tmp_path / "draft")
        assert tuple(asked[0][2:]) == ("--to", str(tmp_path / "draft"), "file", "demo-pack/demo_pack-1.0.tar.gz")

    @pytest.mark.parametrize(("code", "text"), [(0, "false"), (1, "")])
    def test_one_that_it_has_not(self, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, code: int, text: str) -> None:
        self.answers(monkeypatch, code, text)
        with pytest.raises(OSError, match=r"has no demo_pack-1\.0\.tar\.gz"):
            fetch_archive.fetch_by_pip(self.URL, tmp_path / "draft")

    @pytest.mark.e2e
    def test_by_the_real_pip(self, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
        """From a folder of files, as pip's settings may name one."""
        (tmp_path / "demo_pack-1.0.tar.gz").write_bytes(b"packed")
        monkeypatch.setenv("PIP_NO_INDEX", "1")
        monkeypatch.setenv("PIP_FIND_LINKS", str(tmp_path))
        fetch_archive.fetch_by_pip(self.URL, tmp_path / "draft")
        assert (tmp_path / "draft").read_bytes() == b"packed"
        with pytest.raises(OSError, match="has no other"):
            fetch_archive.fetch_by_pip("index:demo-pack/other", tmp_path / "none")
