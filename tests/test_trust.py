"""Files that are not the caller's alone: read and shown by all, run only as they were when he trusted them."""

from __future__ import annotations

import json
import os
import shlex
import stat
from typing import TYPE_CHECKING

import pytest

from data.profiles import small_text
from data.well import WELL
from xpusetup.base.document import read_as, to_table
from xpusetup.base.errors import UsageError
from xpusetup.base.model import Patch, Request
from xpusetup.cli import complete
from xpusetup.commands.build import BuildOptions, build, install
from xpusetup.commands.devices import list_devices
from xpusetup.commands.env import ChosenPython
from xpusetup.commands.profiles import check_profile, trust_files
from xpusetup.commands.recommend import way_of
from xpusetup.commands.verify import VerifyOptions, verify
from xpusetup.machine.facts import Facts
from xpusetup.run.workspace import Where, load_settings, open_workspace
from xpusetup.system import trust
from xpusetup.system.files import package_text
from xpusetup.system.trust import Foreign, UntrustedError, foreign_file, record_file, require_trust, why_foreign

if TYPE_CHECKING:
    from pathlib import Path

    from in_process import Program

DEVICE = 'name = "acme"\ntitle = "Acme"\n[tool]\nname = "touch"\nquery = ["CANARY"]\n'
PATCH = "--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n"
ME = 1000


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def written(path: Path, text: str, mode: int = 0o646) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(mode)
    return path


def status(uid: int, mode: int = 0o644, gid: int = 4242) -> os.stat_result:
    return os.stat_result((stat.S_IFREG | mode, 1, 1, 1, uid, gid, 0, 0, 0, 0))


@pytest.mark.parametrize(
    ("seen", "why"),
    [
        (status(ME), ""),
        (status(0), ""),
        (status(0, 0o664, 0), "the group root may write it"),
        (status(54321), "it belongs to the user 54321"),
        (status(54321, 0o666), "it belongs to the user 54321"),
        (status(ME, 0o646), "everyone may write it"),
        (status(ME, 0o664), "the group 4242 may write it"),
    ],
)
def test_who_else_decides(seen: os.stat_result, why: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: ME)
    assert why_foreign(seen, tmp_path) == why


class Entry:
    def __init__(self, **words: object) -> None:
        self.__dict__.update(words)


@pytest.mark.parametrize(
    ("members", "group", "listed", "foreign"),
    [
        ([], "me", [], False),
        (["me"], "me", [], False),
        (["me", "eve"], "me", [], True),
        ([], "staff", [], True),
        ([], "me", [trust.ACCESS_LIST], True),
    ],
)
def test_a_group_of_ones_own(
    members: list[str], group: str, listed: list[str], foreign: bool, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Where each user has a group, umask is 002; a list of access makes its bits say something else."""
    monkeypatch.setattr(os, "geteuid", lambda: ME)
    monkeypatch.setattr("pwd.getpwuid", lambda _uid: Entry(pw_name="me", pw_gid=7))
    monkeypatch.setattr("grp.getgrgid", lambda gid: Entry(gr_gid=gid, gr_name=group, gr_mem=members))
    monkeypatch.setattr(os, "listxattr", lambda _path: listed)
    assert bool(why_foreign(status(ME, 0o664, 7), tmp_path)) is foreign


def test_a_profile_of_others_is_read_and_not_run(tmp_path: Path, program: Program) -> None:
    text = package_text("profiles/torch-2.14.toml").replace('name = "torch-2.14"', 'name = "p"', 1)
    file = written(tmp_path / "p.toml", text)
    assert check_profile("p.toml").code == 0
    assert program("profiles show p.toml").code == 0
    assert open_workspace(Where(profile="p.toml")).foreign[0].why == "everyone may write it"
    for run in (build, install):
        with pytest.raises(UntrustedError) as refused:
            run(Where(profile="p.toml"), Request(), BuildOptions())
        assert refused.value.code == 2
        assert refused.value.fix.endswith(f"xpusetup profiles trust {file}")
    assert not (tmp_path / "data").exists()


def test_the_whole_command_is_given(tmp_path: Path, program: Program) -> None:
    file = written(tmp_path / "it's/p.toml", small_text())
    ran = program(f"build -p {file} --json")
    assert ran.code == 2
    error = json.loads(ran.out)["error"]
    assert f"xpusetup profiles trust {shlex.quote(str(file))}" in error["fix"]
    assert "is not yours alone: everyone may write it" in error["message"]


def test_what_was_trusted_runs_until_it_changes(tmp_path: Path) -> None:
    file = written(tmp_path / "p.toml", small_text())
    told = trust_files(["p.toml"]).data
    assert told.record == str(record_file())
    assert record_file().stat().st_mode & 0o777 == 0o600
    open_workspace(Where(profile="p.toml")).trust_files()
    trust_files(["p.toml"])
    assert len(record_file().read_text().splitlines()) == 1
    file.write_text(file.read_text() + "# changed\n")
    with pytest.raises(UntrustedError):
        open_workspace(Where(profile="p.toml")).trust_files()
    file.chmod(0o644)
    open_workspace(Where(profile="p.toml")).trust_files()


def test_another_place_is_another_file(tmp_path: Path) -> None:
    written(tmp_path / "p.toml", small_text())
    trust_files(["p.toml"])
    written(tmp_path / "q.toml", small_text())
    with pytest.raises(UntrustedError, match=r"q\.toml"):
        open_workspace(Where(profile="q.toml")).trust_files()
    (tmp_path / "link.toml").symlink_to("p.toml")
    open_workspace(Where(profile="link.toml")).trust_files()


def test_what_belongs_to_a_profile_counts_too(tmp_path: Path) -> None:
    """Its device file and its patches, though it is the caller's own; one command trusts both."""
    text = small_text(('accelerator = "cpu"', 'accelerator = "acme"\ndevice = "acme.toml"'))
    written(tmp_path / "p.toml", text, 0o644)
    written(tmp_path / "acme.toml", DEVICE)
    patch = Patch(source="torch", file=str(written(tmp_path / "a.patch", PATCH)), text=PATCH)
    with pytest.raises(UntrustedError) as refused:
        open_workspace(Where(profile="p.toml")).trust_files(Request(patches=(patch,)))
    names = [f"{tmp_path}/acme.toml", f"{tmp_path}/a.patch"]
    assert refused.value.fix.endswith(f"xpusetup profiles trust {' '.join(names)}")
    trust_files(names)
    open_workspace(Where(profile="p.toml")).trust_files(Request(patches=(patch,)))


def test_settings_of_others_are_not_obeyed(tmp_path: Path, program: Program) -> None:
    """A prelude would be run to look for the toolkit, by plan too."""
    written(tmp_path / "xpusetup.toml", '[toolkit]\nprovider = "modules"\nprelude = ["touch CANARY"]\n')
    ran = program("plan -p torch-2.14")
    assert ran.code == 2
    assert f"xpusetup profiles trust {tmp_path}/xpusetup.toml" in ran.err
    assert program("doctor -p torch-2.14").code == 2
    problem = way_of(read_as(Facts, {"schema": 1, **WELL})).data.error
    assert problem is not None
    assert "profiles trust" in problem.fix
    assert complete.names("") == []
    assert not (tmp_path / "CANARY").exists()
    trust_files(["xpusetup.toml"])
    assert load_settings().toolkit.prelude == ["touch CANARY"]


def test_the_program_of_a_device_is_not_asked(tmp_path: Path) -> None:
    file = str(written(tmp_path / "acme.toml", DEVICE))
    with pytest.raises(UntrustedError):
        list_devices(Where(), (file,))
    with pytest.raises(UntrustedError):
        verify(Where(), VerifyOptions(device=file), lambda _text: None)


def test_a_lock_that_gives_the_profile(tmp_path: Path) -> None:
    """It decides what is built where no profile is named; beside one that is named it only tells of the last build."""
    workspace = open_workspace(Where(profile="sim", root=str(tmp_path / "root")))
    lock = {"schema": 1, "named": "/gone/p.toml", "profile": to_table(workspace.profile)}
    written(tmp_path / "root/profile.lock.json", json.dumps(lock))
    with pytest.raises(UntrustedError, match=r"profile\.lock\.json"):
        open_workspace(Where(root=str(tmp_path / "root"))).trust_files()
    open_workspace(Where(profile="sim", root=str(tmp_path / "root"))).trust_files()


def test_a_bundle_is_a_file_as_well(tmp_path: Path) -> None:
    file = written(tmp_path / "b.tar", "x" * (1 << 21))
    assert [each.why for each in foreign_file(file)] == ["everyone may write it"]
    file.chmod(0o600)
    assert foreign_file(file) == ()


def test_a_record_that_others_may_write_proves_nothing(tmp_path: Path) -> None:
    found = Foreign(str(tmp_path / "p.toml"), "0" * 64, "everyone may write it")
    trust.trust([found])
    require_trust([found])
    record_file().chmod(0o666)
    with pytest.raises(UsageError, match="which profiles you trust, and everyone may write it") as refused:
        require_trust([found])
    assert "chmod 600" in refused.value.fix


@pytest.mark.parametrize("line", ["", "{", "[]", "1", '{"path": 1}', "[" * 100_000, "\0"])
def test_a_record_with_other_lines(line: str, tmp_path: Path) -> None:
    found = Foreign(str(tmp_path / "p.toml"), "0" * 64, "everyone may write it")
    trust.trust([found])
    record_file().write_text(f"{line}\n{record_file().read_text()}")
    require_trust([found])


def test_what_ships_is_trusted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trust, "why_foreign", lambda _status, _path: "everyone may write it")
    open_workspace(Where(profile="torch-2.14")).trust_files()
    open_workspace(Where(profile="sim")).trust_files()


def test_who_is_there_is_asked(tmp_path: Path, program: Program, monkeypatch: pytest.MonkeyPatch) -> None:
    """Not a program that reads, nor a pipe that answers."""
    written(tmp_path / "acme.toml", DEVICE.partition("[tool]")[0])
    asked: list[str] = []
    monkeypatch.setattr("xpusetup.commands.devices.choose_python", lambda _where: ChosenPython("", ""))
    monkeypatch.setenv("PATH", "")  # a machine with a GPU may have the tool that lists it
    answers = iter((False, True))

    def confirm(text: str, **_words: object) -> bool:
        asked.append(text)
        return next(answers)

    monkeypatch.setattr("typer.confirm", confirm)
    assert program("verify --devices --list --device acme.toml").code == 2
    assert asked == []
    monkeypatch.setattr("xpusetup.cli.finish._is_terminal", lambda: True)
    assert program("verify --devices --list --device acme.toml").code == 2
    assert program("verify --devices --list --device acme.toml").code == 0
    assert program("verify --devices --list --device acme.toml").code == 0
    assert asked == [" Trust this file as it is now, and go on?"] * 2


@pytest.mark.parametrize("name", ["none.toml", "folder"])
def test_what_is_no_file(name: str, tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    with pytest.raises(UsageError, match="there is no file"):
        trust_files([name])
