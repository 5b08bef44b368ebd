"""Files are written whole or not at all, and the package finds its own."""

from __future__ import annotations

import io
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from xpusetup.base.errors import NotReadyError, UsageError
from xpusetup.system import files

if TYPE_CHECKING:
    from collections.abc import Callable


def test_written_and_read(tmp_path: Path) -> None:
    path = tmp_path / "a/b/c.txt"
    files.write_text(path, "two\nlines·\n")
    assert files.read_text(path) == "two\nlines·\n"
    assert [each.name for each in path.parent.iterdir()] == ["c.txt"]


@pytest.mark.parametrize(("executable", "mode"), [(False, 0o644), (True, 0o755)])
def test_modes(tmp_path: Path, executable: bool, mode: int) -> None:
    path = tmp_path / "x"
    files.write_text(path, "text", executable=executable)
    assert path.stat().st_mode & 0o777 == mode


def test_the_same_text_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "x"
    files.write_text(path, "text")
    before = path.stat()
    files.write_text(path, "text")
    assert (path.stat().st_ino, path.stat().st_mtime_ns) == (before.st_ino, before.st_mtime_ns)
    files.write_text(path, "other")
    assert path.stat().st_ino != before.st_ino


def test_line_ends_are_part_of_the_text(tmp_path: Path) -> None:
    path = tmp_path / "x"
    path.write_bytes(b"a\r\n")
    files.write_text(path, "a\n")
    assert path.read_bytes() == b"a\n"


def test_a_file_of_somebody_keeps_its_mode_and_its_link(tmp_path: Path) -> None:
    real, link = tmp_path / "real", tmp_path / "link"
    real.write_text("old")
    real.chmod(0o600)
    link.symlink_to("real")
    files.write_text(link, "new", theirs=True)
    assert (link.is_symlink(), real.read_text(), real.stat().st_mode & 0o777) == (True, "new", 0o600)
    files.write_text(tmp_path / "fresh", "x", theirs=True)
    assert (tmp_path / "fresh").stat().st_mode & 0o777 == 0o644


def test_what_is_no_file_is_written_into_and_stays(tmp_path: Path) -> None:
    """As `-o /dev/stdout` and `-o >(gzip)`: it was read first, which waits for ever, and then replaced."""
    (tmp_path / "pipe").mkdir()
    os.mkfifo(tmp_path / "pipe/fifo")
    reader = os.open(tmp_path / "pipe/fifo", os.O_RDONLY | os.O_NONBLOCK)
    files.write_text(tmp_path / "pipe/fifo", "text")
    assert os.read(reader, 99) == b"text"
    assert [path.is_fifo() for path in (tmp_path / "pipe").iterdir()] == [True]
    os.close(reader)
    reader, writer = os.pipe()
    files.write_text(Path(f"/dev/fd/{writer}"), "more")
    assert os.read(reader, 99) == b"more"
    os.close(reader)
    os.close(writer)
    files.write_text(Path("/dev/null"), "x")
    assert Path("/dev/null").is_char_device()


@pytest.mark.parametrize("write", [files.write_text, files.append_line])
def test_what_a_name_of_an_open_file_stands_for_goes_on(tmp_path: Path, write: Callable[[Path, str], None]) -> None:
    """As in `-o /dev/stdout >> log`: by its name the file was emptied, or written over from its beginning."""
    handle = os.open(tmp_path / "log", os.O_WRONLY | os.O_CREAT)
    os.write(handle, b"before ")
    write(Path(f"/dev/fd/{handle}"), "text")
    os.write(handle, b" after")
    os.close(handle)
    assert (tmp_path / "log").read_text().replace("\n", "") == "before text after"


def test_a_failure_leaves_the_old_file_and_no_other(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "x"
    files.write_text(path, "old")

    def full(self: Path, _target: Path) -> Path:
        raise OSError(28, "No space left on device", str(self))

    monkeypatch.setattr(Path, "replace", full)
    with pytest.raises(NotReadyError) as caught:
        files.write_text(path, "new")
    assert caught.value.message.startswith(f"cannot write {path}: No space left on device (/")
    assert caught.value.message.endswith(" left)")
    assert caught.value.fix == "free space or choose another place: --root DIR (or XPUSETUP_ROOT)"
    assert path.read_text() == "old"
    assert [each.name for each in tmp_path.iterdir()] == ["x"]


def test_a_file_is_in_the_way(tmp_path: Path) -> None:
    (tmp_path / "x").write_text("a file")
    path = tmp_path / "x/y"
    with pytest.raises(NotReadyError, match="cannot write"):
        files.write_text(path, "text")
    with pytest.raises(NotReadyError, match="cannot write"):
        files.append_line(path, "line")
    with pytest.raises(NotReadyError, match="cannot write"):
        files.make_folder(path)


@pytest.mark.parametrize("name", ["absent", "folder", "file/below", "x" * 300])
def test_what_cannot_be_read_is_none(tmp_path: Path, name: str) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "file").touch()
    assert files.read_text(tmp_path / name) is None


def test_bytes_that_are_no_text(tmp_path: Path) -> None:
    (tmp_path / "x").write_bytes(b"a\xff\xfeb")
    assert files.read_text(tmp_path / "x") == "a\ufffd\ufffdb"


def test_lines_are_added(tmp_path: Path) -> None:
    for line in ("one", "two"):
        files.append_line(tmp_path / "x", line)
    assert (tmp_path / "x").read_text() == "one\ntwo\n"


@pytest.mark.parametrize("behind", ["", "theirs\n"])
def test_a_line_that_does_not_fit_takes_nobody_elses_with_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, behind: str
) -> None:
    """Others may have added lines since the file was opened, and behind ours."""
    path = tmp_path / "x"
    path.write_text("first\n")

    class Full(io.FileIO):
        def write(self, data: Any) -> int:
            os.write(self.fileno(), b"second\n")
            written = super().write(bytes(data)[:3])
            os.pwrite(self.fileno(), behind.encode(), 0)  # O_APPEND: at the end all the same
            return written

    def open_it(path: Path, _mode: str) -> io.FileIO:
        return Full(os.open(path, os.O_WRONLY | os.O_APPEND), "a")

    with monkeypatch.context() as patch:
        patch.setattr(files, "_open", open_it)
        with pytest.raises(NotReadyError, match="No space left"):
            files.append_line(path, "third")
    assert path.read_text() == ("first\nsecond\nthitheirs\n" if behind else "first\nsecond\n")


def test_hash(tmp_path: Path) -> None:
    (tmp_path / "y").touch()
    assert files.hash_file(tmp_path / "y") == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"


@pytest.mark.parametrize("name", ["profiles", "profiles/sim.toml", "data/checks.toml", "helpers/step.sh", "simxpu"])
def test_package_files_in_a_checkout(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert files.package_file(name).exists()


def test_package_files_in_a_wheel(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    package = tmp_path / "site-packages/xpusetup"
    shipped = package / "_shipped/profiles/sim.toml"
    shipped.parent.mkdir(parents=True)
    shipped.touch()
    (tmp_path / "site-packages/profiles").mkdir()
    monkeypatch.setattr(files, "PACKAGE", package)
    assert files.package_file("profiles/sim.toml") == shipped
    assert files.package_file("profiles") == shipped.parent


def test_a_package_file_that_is_missing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "PACKAGE", tmp_path)
    with pytest.raises(UsageError, match=r"^xpusetup was installed without its file data/none") as caught:
        files.package_file("data/none")
    assert caught.value.fix == "install it again: pip install xpusetup"


def test_umask_does_not_decide_the_mode(tmp_path: Path) -> None:
    old = os.umask(0o077)
    try:
        files.write_text(tmp_path / "x", "text")
    finally:
        os.umask(old)
    assert (tmp_path / "x").stat().st_mode & 0o777 == 0o644


def test_a_file_that_is_to_be_written_after_hours_of_work_is_tried_before(tmp_path: Path) -> None:
    (tmp_path / "there").touch()
    for good in ("there", "new", "a/b/new"):
        files.check_output(tmp_path / good)
    for bad, why in ((".", "Is a directory"), ("there/new", "there is a file, not a folder")):
        with pytest.raises(NotReadyError, match=why):
            files.check_output(tmp_path / bad)
