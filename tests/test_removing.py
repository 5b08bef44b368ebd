"""remove: what is ours goes, what is not stays, and nothing goes that nobody named."""

from __future__ import annotations

import json
import os
import re
import shutil
from dataclasses import asdict, replace
from io import StringIO
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING

import pytest

from data.profiles import shipped
from data.targets import NEW, SIM, plan_for
from test_standing import make_root
from xpusetup.base.errors import NotReadyError, UsageError, XpuError
from xpusetup.base.model import ROOT, Layout, Request
from xpusetup.commands import remove as removing
from xpusetup.commands.list import list_builds
from xpusetup.commands.remove import LeftPlace
from xpusetup.config.shipped import profile_names
from xpusetup.emit.script import render_shell
from xpusetup.plan.install import purpose_of_build
from xpusetup.run import removal
from xpusetup.run.keys import Made, Stamp, render_stamp
from xpusetup.run.lock import hold_lock
from xpusetup.run.removal import forget_constraint, measure
from xpusetup.run.root import Root, clear_drafts, find_roots, lock_document
from xpusetup.run.workspace import Where
from xpusetup.ui.console import Terminal
from xpusetup.ui.list import show_list
from xpusetup.ui.remove import show_before, show_removed

if TYPE_CHECKING:
    from collections.abc import Callable

    from xpusetup.commands.remove import Removed


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in ("HOME", "XPUSETUP_ROOT", "XDG_CONFIG_HOME"):
        monkeypatch.setenv(name, str(tmp_path))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def make(path: Path, layout: Layout) -> Path:
    """Make a root whose folders are elsewhere."""
    root = make_root(path, done=3)
    (root / "profile.lock.json").write_text(lock_document(shipped("sim"), SIM, layout, {}, named="sim"))
    return root


def screen(data: Removed, *, before: bool) -> str:
    """Give what is shown, as words."""
    file = StringIO()
    console = Terminal(width=100, no_color=True, file=file, highlight=False, soft_wrap=True, _environ={})
    if before:
        show_before(console, data)
    else:
        show_removed(console, data, verbose=False)
    return " ".join(file.getvalue().split())


def remove(root: Path) -> Removed:
    return removing.remove(removing.look(Where(root=str(root))), lambda _text: None).data


def test_what_a_bundle_was_packed_in_goes(here: Path) -> None:
    """It is no build, so `list` shows none; while one is being packed it stays."""
    place = here / "r/packing"
    (place / "src").mkdir(parents=True)
    (place / "profile.lock.json").write_text("{}")
    with hold_lock(place / "lock", print), pytest.raises(NotReadyError, match="a bundle is being packed"):
        removing.look(Where(root=str(here / "r")))
    assert find_roots(here) == []
    assert remove(here / "r").gone


def test_a_bundle_that_was_not_finished_is_listed(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XPUSETUP_ROOT", str(here))
    place = here / "torch-2.14/packing"
    place.mkdir(parents=True)
    with hold_lock(place / "lock", print):
        assert list_builds().data.packing == []
    assert list_builds().data.packing == [str(place)]
    shown = StringIO()
    show_list(Terminal(width=200, file=shown, _environ={}), list_builds().data, verbose=False)
    assert "rm -rf ~/torch-2.14/packing" in shown.getvalue()
    with pytest.raises(UsageError, match="say which build") as caught:
        removing.look(Where())
    assert "there is: torch-2.14; name one: xpusetup remove NAME" in caught.value.fix
    assert remove(here / "torch-2.14").gone


@pytest.mark.parametrize("built", [True, False])
def test_without_a_name_it_says_how_the_program_itself_goes(
    built: bool, here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XPUSETUP_ROOT", str(here))
    if built:
        make_root(here / "r", done=3)
    with pytest.raises(XpuError) as caught:
        removing.look(Where())
    assert "how this program itself goes: xpusetup self" in caught.value.fix


def test_a_build_goes_whole(here: Path) -> None:
    root = make_root(here / "r", done=3)
    for name in ("wheels", "published", "launcher", "nightlies/venv", "toolkit", "tools/bin"):
        (root / name).mkdir(parents=True)
    (root / "wheels/a.whl").write_bytes(b"x" * 100_000)
    for name in ("report.html", "helpers.tar", ".manifest.json.a_b0c1d2", "lock.owner", "lock.step.torch.build"):
        (root / name).touch()
    (root / "lock.owner").unlink()
    told = remove(root)
    assert (told.gone, told.left, told.environment) == (True, [], None)
    assert isinstance(told.freed, int)
    assert told.freed >= 100_000
    assert not root.exists()
    assert here.is_dir()


@pytest.mark.parametrize("name", profile_names())
def test_all_that_steps_write_is_ours(name: str) -> None:
    """What steps name in their root: `origins`, `archives` and `installers` were said to be nobody's, and stayed."""
    profile = shipped(name)
    plan = purpose_of_build(profile).make(profile, Request(), replace(NEW, accelerator=profile.accelerator), Layout())
    found = set(re.findall(rf"{re.escape(ROOT)}/([\w-]+)", repr(plan)))
    assert "venv" in found
    assert found - removing.OURS == set()


def test_a_second_build_goes_whole(here: Path) -> None:
    """What `rebuild` wrote there was said to be of no command of this program; a home of somebody's is not ours."""
    for name, gone in {"again": True, "theirs": False}.items():
        root = make_root(here / name, done=3)
        for each in ("home", "zone", *(["rebuild.json"] if gone else [])):
            (root / each).mkdir()
        assert remove(root).gone is gone
        assert root.exists() is not gone


def test_what_emit_wrote_is_not_said_to_be_nobodys(here: Path) -> None:
    root, text = make_root(here / "r", done=3), render_shell(plan_for("sim"))["build.sh"]
    (root / "build.sh").write_text(text)
    (root / "mine.sh").write_text("#!/bin/sh\n")
    whose = {Path(each.path).name: each.why for each in remove(root).left}
    assert whose == {"build.sh": "emit wrote it; it may have been changed since", "mine.sh": removing.WRITTEN_BY_OTHERS}


def test_a_folder_that_cannot_go_is_told(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A mount point: it was said to hold what is not ours, and nothing was named."""
    root = make_root(here / "r", done=3)
    monkeypatch.setattr(removal, "remove_empty", lambda _path: False)
    monkeypatch.setattr(Path, "is_mount", lambda _path: True)
    told = remove(root)
    assert (told.gone, told.left) == (False, [LeftPlace(str(root), "empty now: a mount point")])


def test_a_removal_that_is_cut_off_leaves_no_half_of_an_environment(
    here: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The next build took what was left of venv for an environment of somebody else, and refused it."""
    root = make_root(here / "r", done=3)
    (root / "venv/lib").mkdir(parents=True)

    def cut_off(_path: Path) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(shutil, "rmtree", cut_off)
        with pytest.raises(KeyboardInterrupt):
            remove(root)
    (root / "lock").unlink()  # this process still lives
    going = [path.name for path in root.iterdir() if path.name.endswith(".removing")]
    assert len(going) == 1
    assert not (root / going[0].strip(".").removesuffix(".removing")).exists()
    for name in ("venv", "src/tree"):
        (root / name).mkdir(parents=True, exist_ok=True)
        (root / name).rename((root / name).with_name(f".{Path(name).name}.removing"))
    clear_drafts(Root(root))
    assert not list(root.rglob("*.removing"))
    assert remove(root).gone


def test_a_root_of_somebody_else(here: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The advice was to choose another root to remove."""
    root = make_root(here / "r", done=3)
    monkeypatch.setattr(os, "access", lambda path, _how: path != root)
    monkeypatch.setattr(removing, "name_user", lambda _number: "ann")
    with pytest.raises(NotReadyError, match="belongs to ann") as caught:
        removing.look(Where(root=str(root)))
    assert caught.value.fix == "as that user: xpusetup remove r"
    monkeypatch.setattr(os, "statvfs", lambda _path: SimpleNamespace(f_flag=os.ST_RDONLY))
    with pytest.raises(NotReadyError, match="is on a read-only file system"):
        removing.look(Where(root=str(root)))


def test_what_nobody_of_us_wrote_stays(here: Path) -> None:
    root = make_root(here / "r")
    (root / "notes.txt").write_text("mine")
    (root / "src").mkdir()
    (here / "elsewhere").mkdir()
    (here / "elsewhere/mine").touch()
    (root / "src/link").symlink_to(here / "elsewhere")
    (root / "wheels").symlink_to(here / "elsewhere")
    told = remove(root)
    assert told.left == [LeftPlace(str(root / "notes.txt"), "no command of this program wrote it")]
    assert [path.name for path in root.iterdir()] == ["notes.txt"]
    assert (here / "elsewhere/mine").exists()
    assert "is removed, but for what is not ours: " in screen(told, before=False)


def test_folders_elsewhere_go_as_far_as_the_build_made_them(here: Path) -> None:
    layout = replace(Layout(), src=str(here / "scratch"), venv=str(here / "env"))
    for name in ("scratch/simxpu", "scratch/simxpu.git", "scratch/other", "env/bin", "two/env"):
        (here / name).mkdir(parents=True)
    for mark in (here / "env/pyvenv.cfg", here / "two/env/pyvenv.cfg"):
        mark.touch()
    root = make(here / "r", layout)
    made = Made("0", 0, "0", str(here / "env/pyvenv.cfg"), "0", 0)
    (root / "stamps/venv").write_text(render_stamp(Stamp("key", (made,))))
    assert remove(root).gone is True
    assert sorted(path.name for path in here.iterdir()) == ["scratch", "two"]
    assert [path.name for path in (here / "scratch").iterdir()] == ["other"]
    remove(make(here / "r2", replace(layout, venv=str(here / "two/env"))))  # no step of it made that one
    assert (here / "two/env/pyvenv.cfg").exists()


def test_an_environment_of_somebodys_loses_what_is_ours_alone(here: Path) -> None:
    env = here / "env"
    for name in ("bin", "share/xpusetup", "lib/torch"):
        (env / name).mkdir(parents=True)
    (env / "bin/python").touch()
    ours = env / "xpusetup-constraints.txt"
    ours.write_text("torch==2.13.0\n")
    (env / "pip.conf").write_text(f"[global]\ntimeout = 60\n[install]\nconstraint = /site/all.txt {ours}\n")
    layout = replace(Layout(), venv=str(env), adopted=True)
    other, root = make(here / "other", layout), make(here / "r", layout)
    wheel = {"name": "torch", "version": "2.13.0", "path": "w.whl", "sha256": "0"}
    (root / "manifest.json").write_text(json.dumps({"schema": 1, "wheels": [wheel]}))
    assert removing.look(Where(root=str(root))).environment == ""  # another build guards it
    removing.remove(removing.look(Where(root=str(other))), lambda _text: None)
    found = removing.look(Where(root=str(root)))
    assert "goes helpers" not in screen(found.describe(removed=False), before=True)
    told = removing.remove(found, lambda _text: None).data
    assert (told.environment, told.uninstall) == (str(env), f"{env}/bin/python -m pip uninstall torch")
    assert f"its packages go with: {told.uninstall}" in screen(found.describe(removed=False), before=True)
    assert sorted(path.name for path in env.iterdir()) == ["bin", "lib", "pip.conf", "share"]
    said = (env / "pip.conf").read_text().split()
    assert said == ["[global]", "timeout", "=", "60", "[install]", "constraint", "=", "/site/all.txt"]
    assert list((env / "share").iterdir()) == []


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("[install]\nconstraint = /c.txt\n", None),
        ("[install]\nconstraint = /c.txt\nuser = no\n", "[install]\nuser = no\n\n"),
        ("[install]\nconstraint = /d.txt\n# mine\n", "[install]\nconstraint = /d.txt\n# mine\n"),
        ("no settings", "no settings"),
    ],
)
def test_settings_of_pip(text: str, left: str | None, here: Path) -> None:
    (here / "pip.conf").write_text(text)
    forget_constraint(here / "pip.conf", "/c.txt")
    assert ((here / "pip.conf").read_text() if left is not None else (here / "pip.conf").exists()) == (left or False)


def test_what_comes_free_is_not_what_others_have_links_to(here: Path) -> None:
    for name in ("a", "b"):
        (here / name).mkdir()
        (here / f"{name}/file").write_bytes(b"x" * 8192)
    os.link(here / "a/file", here / "a/twice")
    os.link(here / "b/file", here / "kept")
    size = (here / "a/file").stat().st_blocks * 512
    assert measure([here / "a"]) == (size, size)
    assert measure([here / "b"]) == (size, 0)
    assert measure([here / "b", here / "kept"]) == (size, size)
    assert measure([here / "none"]) == (0, 0)


def plain(here: Path) -> Path:
    (here / "r").mkdir()
    (here / "r/mine").touch()
    return here / "r"


def broken(here: Path) -> Path:
    (make_root(here / "r") / "profile.lock.json").write_text("{}")
    return here / "r"


@pytest.mark.parametrize("make_folder", [plain, broken])
def test_what_is_no_build_is_refused(make_folder: Callable[[Path], Path], here: Path) -> None:
    folder = make_folder(here)
    before = sorted(folder.rglob("*"))
    with pytest.raises(UsageError, match="is no build of xpusetup"):
        removing.look(Where(root=str(folder)))
    assert sorted(folder.rglob("*")) == before


def test_of_a_folder_of_builds_they_are_named(here: Path) -> None:
    make_root(here / "all/sim")
    with pytest.raises(UsageError) as caught:
        removing.look(Where(root=str(here / "all")))
    assert caught.value.fix == f"it holds builds: sim; name one: xpusetup remove --root {here}/all/NAME"


def test_nothing_goes_that_nobody_named(here: Path) -> None:
    make_root(here / "sim")
    with pytest.raises(UsageError) as caught:
        removing.look(Where())
    assert caught.value.fix.startswith(f"in {here} there is: sim; name one: xpusetup remove NAME\n")
    assert removing.look(Where(name="sim")).root.path == here / "sim"
    assert removing.look(Where(profile="sim")).root.path == here / "sim"
    with pytest.raises(NotReadyError, match="nothing is built in"):
        removing.look(Where(name="none"))


def test_where_nothing_is_built_nothing_is_asked_for(here: Path) -> None:
    with pytest.raises(NotReadyError, match=f"nothing is built in {here}"):
        removing.look(Where())


def test_a_lock_that_was_written_by_hand_leads_nowhere_else(here: Path) -> None:
    (here / "mine").mkdir()
    root = make_root(here / "r")
    lock = json.loads((root / "profile.lock.json").read_text())
    lock["profile"]["components"] = [{"kind": "source", "name": "../mine"}, {"kind": "source", "name": ".."}]
    lock["layout"] = {**asdict(Layout()), "src": str(here / "scratch")}
    (root / "profile.lock.json").write_text(json.dumps(lock))
    remove(root)
    assert [path.name for path in here.iterdir()] == ["mine"]
