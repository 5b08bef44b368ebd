"""What was read is not validated again, and counts only where it is the user's own, whole, and of this program."""

from __future__ import annotations

import os
import pickle
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pytest

from data.profiles import SHIPPED, shipped, small_text
from xpusetup.base.document import to_table
from xpusetup.base.errors import UsageError
from xpusetup.config.devices import parse_device
from xpusetup.config.load import parse_profile, read_profile
from xpusetup.config.profile import Pins, Profile
from xpusetup.config.toolkit import Packages
from xpusetup.doctor.question import parse_check_texts
from xpusetup.emit.image_system import parse_images
from xpusetup.explain.finder import parse_signatures
from xpusetup.machine.first_releases import parse_firsts
from xpusetup.machine.gpus import parse_costs, parse_gpus, parse_targets
from xpusetup.machine.known_bad import parse_known_bad
from xpusetup.machine.platforms import parse_distributions, parse_platforms
from xpusetup.system import kept
from xpusetup.system.files import package_text, package_texts
from xpusetup.system.kept import keep

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

ONE = Pins(pins=["a==1"], note="one")
OTHER = Pins(pins=["b==2"])


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(kept, "cache_folder", lambda name: tmp_path / "cache" / name)
    return tmp_path / "cache" / kept.FOLDER


TABLES: dict[Callable[[str], object], str] = {
    parse_check_texts: "data/checks.toml",
    parse_costs: "data/target_costs.toml",
    parse_device: "data/devices/xpu.toml",
    parse_distributions: "data/distributions.toml",
    parse_firsts: "data/first_releases.toml",
    parse_gpus: "data/gpus.toml",
    parse_images: "data/images.toml",
    parse_known_bad: "data/known_bad.toml",
    parse_platforms: "data/platforms.toml",
    parse_signatures: "data/signatures",
    parse_targets: "data/targets.toml",
}


def refuse(*_given: object) -> Pins:
    raise AssertionError("it was read again")


def test_a_text_is_read_once(folder: Path) -> None:
    assert keep(Pins, "text", lambda: ONE) == ONE
    assert keep(Pins, "text", refuse) == ONE
    assert folder.stat().st_mode & 0o777 == 0o700
    assert [path.stat().st_mode & 0o777 for path in folder.iterdir()] == [0o600]


@pytest.mark.usefixtures("folder")
def test_another_text_type_or_program_is_read_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    keep(Pins, "text", lambda: ONE)
    assert keep(Pins, "other", lambda: OTHER) == OTHER
    assert keep(Packages, "text", Packages) == Packages()
    monkeypatch.setattr(kept, "_code", lambda _package: ("changed",))
    assert keep(Pins, "text", lambda: OTHER) == OTHER


def test_what_cannot_be_read_is_told_each_time(folder: Path) -> None:
    for _ in range(2):
        with pytest.raises(UsageError, match="colour: unknown key"):
            parse_profile(f'colour = "red"\n{small_text()}', "x.toml")
    assert not folder.exists()


@pytest.mark.parametrize("name", SHIPPED)
@pytest.mark.usefixtures("folder")
def test_a_profile_is_the_same_again(name: str) -> None:
    whole = shipped(name)
    document = to_table(whole)
    assert read_profile(document) == whole
    again = read_profile(document)
    assert again == whole
    assert to_table(again) == document


@pytest.mark.parametrize(("parse", "name"), TABLES.items())
@pytest.mark.usefixtures("folder")
def test_a_table_of_the_program_is_read_once(
    parse: Callable[[str], object], name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = parse(package_texts(name) if "." not in name else package_text(name))
    monkeypatch.setattr("xpusetup.base.document.reader_of", refuse)
    assert parse(package_texts(name) if "." not in name else package_text(name)) == first


def only(folder: Path) -> Path:
    keep(Pins, "text", lambda: ONE)
    (path,) = folder.iterdir()
    return path


@pytest.mark.parametrize("text", [b"", b"\x80", b"\x80\x05.", b"no pickle", b"\x80\x05N.", pickle.dumps(3)])
def test_a_file_that_is_cut_or_strange_is_read_anew(folder: Path, text: bytes) -> None:
    only(folder).write_bytes(text)
    assert keep(Pins, "text", lambda: OTHER) == OTHER
    assert keep(Pins, "text", refuse) == OTHER


@dataclass
class Evil:
    path: str

    def __reduce__(self) -> tuple[object, tuple[str]]:
        return os.mkdir, (self.path,)


def test_nothing_is_called(folder: Path, tmp_path: Path) -> None:
    only(folder).write_bytes(pickle.dumps(Evil(str(tmp_path / "made"))))
    assert keep(Pins, "text", lambda: OTHER) == OTHER
    assert not (tmp_path / "made").exists()


@pytest.mark.parametrize("parent", [False, True])
def test_what_others_can_write_is_not_believed(folder: Path, *, parent: bool) -> None:
    path = only(folder)
    (folder if parent else path).chmod(0o777)
    assert keep(Pins, "text", lambda: OTHER) == OTHER


def test_what_is_someone_elses_is_not_believed(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    only(folder)
    monkeypatch.setattr(os, "geteuid", lambda: os.getuid() + 1)
    assert keep(Pins, "text", lambda: OTHER) == OTHER


def test_a_folder_that_cannot_be_written_costs_nothing(folder: Path) -> None:
    folder.parent.mkdir()
    folder.write_text("a file in the way")
    assert keep(Pins, "text", lambda: ONE) == ONE


def test_the_oldest_go(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(kept, "MOST", 3)
    for number in range(5):
        keep(Pins, str(number), lambda: ONE)
        for age, path in enumerate(sorted(folder.iterdir(), key=lambda each: each.stat().st_mtime_ns)):
            os.utime(path, (age + number, age + number))
    assert len(list(folder.iterdir())) == 3
    assert keep(Pins, "4", refuse) == ONE


def test_a_type_is_what_was_asked_for(folder: Path) -> None:
    only(folder).write_bytes(pickle.dumps(Packages()))
    assert keep(Pins, "text", lambda: OTHER) == OTHER
    assert isinstance(keep(Profile, "text", lambda: shipped("sim")), Profile)
