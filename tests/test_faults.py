"""What the system answers about a file is said as it is: the true cause, and what mends that."""

from __future__ import annotations

import errno
import os
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

import pytest

from xpusetup.base.errors import NotReadyError, UsageError
from xpusetup.cli.finish import Finished, finish
from xpusetup.config.settings import Settings
from xpusetup.run.workspace import Where, load_settings, make_layout
from xpusetup.system import files
from xpusetup.system.files import cannot_write, unforeseen

if TYPE_CHECKING:
    from collections.abc import Callable


def answer(number: int, path: object = None) -> OSError:
    return OSError(number, os.strerror(number), path) if path else OSError(number, os.strerror(number))


def refuse(number: int) -> Callable[..., NoReturn]:
    def say(path: Path, *_args: object, **_words: object) -> NoReturn:
        raise answer(number, str(path))

    return say


@pytest.mark.parametrize("name", ["config/xpusetup/site.toml", "xpusetup.toml"])
@pytest.mark.parametrize(("number", "fix"), [(errno.EACCES, "check its permissions: ls -ld "), (errno.EIO, "dmesg")])
def test_a_settings_file_that_cannot_be_read_is_not_passed_over(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, number: int, fix: str
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    files.write_text(tmp_path / name, 'root = "/scratch"\n')
    monkeypatch.setattr(Path, "open", refuse(number))
    with pytest.raises(UsageError, match=rf"cannot read .*{name}: {os.strerror(number)}") as caught:
        load_settings()
    assert fix in caught.value.fix


@pytest.mark.parametrize(
    ("kind", "says"), [("folder", "Is a directory"), ("loop", "Too many levels of symbolic links")]
)
def test_what_stands_in_place_of_a_settings_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str, says: str
) -> None:
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "xpusetup.toml"
    path.mkdir() if kind == "folder" else path.symlink_to(path)
    with pytest.raises(UsageError, match=f"cannot read xpusetup.toml: {says}"):
        load_settings()


def test_a_home_that_is_closed_to_us_has_no_settings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As git has it: the program may run for another user than HOME says."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "home/.config"))
    stat = Path.stat

    def closed(path: Path, *, follow_symlinks: bool = True) -> os.stat_result:
        if "home" in path.parts:
            raise answer(errno.EACCES, str(path))
        return stat(path, follow_symlinks=follow_symlinks)

    monkeypatch.setattr(Path, "stat", closed)
    assert load_settings().root == ""


@pytest.mark.parametrize(
    ("number", "why", "fix"),
    [
        (errno.EROFS, "Read-only file system", "choose another place: --root DIR (or XPUSETUP_ROOT)"),
        (errno.EACCES, "Permission denied", "check its permissions: ls -ld {folder}; then choose another place: "),
        (errno.EMFILE, "Too many open files", "ulimit -n 4096"),
        (errno.ESTALE, "Stale file handle", "look at the disk or the network file system"),
        (errno.ENOMEM, "Cannot allocate memory", "free memory"),
        (errno.ETXTBSY, "Text file busy", "fuser -v {folder}/x"),
        (errno.ENAMETOOLONG, "File name too long", "choose a shorter name"),
    ],
)
def test_a_cause_and_what_mends_it(tmp_path: Path, number: int, why: str, fix: str) -> None:
    said = cannot_write(tmp_path / "x", answer(number, str(tmp_path / "x")))
    assert said.message == f"cannot write {tmp_path / 'x'}: {why}"
    assert fix.format(folder=tmp_path) in said.fix
    assert "free space" not in said.fix


def test_a_folder_that_a_link_leads_through_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A build whose Python lies in the closed home of another: `ls -ld` of the link tells nobody anything."""
    home, link = tmp_path / "home", tmp_path / "python"
    (home / "bin").mkdir(parents=True)
    link.symlink_to(home / "bin/python")
    monkeypatch.setattr(os, "access", lambda path, _how: home not in (path, *path.parents))
    said = unforeseen(answer(errno.EACCES, str(link)))
    assert said.message == f"{link}: Permission denied ({home} is closed to you)"
    assert said.fix == f"check its permissions: ls -ld {home}"


@pytest.mark.parametrize(
    ("place", "how"),
    [
        ("cache/xpusetup/git/x", "export XDG_CACHE_HOME=DIR"),
        ("config/xpusetup/trusted.jsonl", "export XDG_CONFIG_HOME=DIR"),
        ("out", "--out DIR"),
        ("out/nearer/x", "--prefix DIR"),
        ("out/again/../x", "--out DIR"),
        ("outer", "--root DIR (or XPUSETUP_ROOT)"),
    ],
)
def test_another_place_is_chosen_as_this_one_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, place: str, how: str
) -> None:
    for name in ("cache", "config"):
        monkeypatch.setenv(f"XDG_{name.upper()}_HOME", str(tmp_path / name))
    monkeypatch.setattr(files, "_CHOSEN", {})
    files.note_place(tmp_path / "out", "--out DIR")
    files.note_place(tmp_path / "out/nearer", "--prefix DIR")
    said = cannot_write(tmp_path / place, answer(errno.EROFS, ""))
    assert said.fix == f"choose another place: {how}"


def test_where_a_settings_file_chose_a_folder_the_option_that_is_stronger_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(files, "_CHOSEN", {})
    settings = Settings(build_dir=str(tmp_path / "scratch"))
    layout = make_layout(Where(profile="sim"), settings, tmp_path / "root")
    assert files.how_chosen(Path(layout.src) / "torch") == "--build-dir DIR"


def test_a_folder_that_is_not_there(tmp_path: Path) -> None:
    path = tmp_path / "no such/torch.1.events"
    with pytest.raises(NotReadyError) as caught:
        files.append_line(path, "text")
    assert caught.value.message == f"cannot write {path}: there is no folder {path.parent}"
    assert caught.value.fix == f"make it: mkdir -p '{path.parent}'"


def test_a_file_where_a_folder_has_to_be(tmp_path: Path) -> None:
    (tmp_path / "x").write_text("")
    with pytest.raises(NotReadyError) as caught:
        files.make_folder(tmp_path / "x/y/z")
    assert f"{tmp_path / 'x'} is a file, not a folder" in caught.value.message
    assert caught.value.fix.endswith(f"mv {tmp_path / 'x'} {tmp_path / 'x'}.old")


@pytest.mark.parametrize(
    ("error", "code", "message", "fix"),
    [
        (answer(errno.ENOSPC, "/dev/null"), 3, "/dev/null: No space left on device", "free space"),
        (answer(errno.EIO, b"/dev/null"), 3, "/dev/null: Input/output error", "dmesg"),
        (answer(errno.EMFILE), 3, "Too many open files", "ulimit -n"),
        (answer(errno.EBADF), 1, "Bad file descriptor", "with -v"),
        (answer(errno.ENOENT, "/dev/nothing"), 1, "/dev/nothing: No such file or directory", "with -v"),
        (answer(errno.ENOENT, "/nothing/x"), 3, "/nothing/x: there is no folder /nothing", "mkdir -p /nothing"),
        (OSError("odd"), 1, "odd", "with -v"),
    ],
)
def test_what_nothing_expected(error: OSError, code: int, message: str, fix: str) -> None:
    said = unforeseen(error)
    assert (said.code, said.message.partition(" (")[0]) == (code, message)
    assert fix in said.fix


@pytest.mark.parametrize("verbose", [False, True])
def test_more_is_said_where_it_is_asked_for(verbose: bool, capsys: pytest.CaptureFixture[str]) -> None:
    def work() -> NoReturn:
        raise answer(errno.EBADF)

    with pytest.raises(Finished) as ended:
        finish("status", work, json=False, verbose=verbose)
    assert ended.value.code == 1
    said = capsys.readouterr().err
    assert "Bad file descriptor" in said
    assert ("Traceback" in said and "in work" in said) is verbose
