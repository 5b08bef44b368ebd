"""Where a build puts its environment: one that is there is taken as it is, one that is not is made."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from data.profiles import shipped
from data.targets import SIM
from xpusetup.base.errors import UsageError
from xpusetup.run.root import lock_document
from xpusetup.run.workspace import Where, open_workspace

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))
    return tmp_path


def make_venv(path: Path) -> Path:
    (path / "bin").mkdir(parents=True)
    (path / "bin/python").touch()
    return path


@pytest.mark.parametrize("into", ["ml", "~/ml", "a/b/ml", "empty"])
def test_a_new_environment(here: Path, into: str) -> None:
    (here / "empty").mkdir()
    workspace = open_workspace(Where(profile="sim", into=into, python="3.12", may_make=True))
    place = str(here / into.removeprefix("~/"))
    assert (workspace.layout.venv, workspace.layout.adopted, workspace.python) == (place, False, "3.12")
    assert workspace.options == f"--profile sim --into '{into}'".replace("'", "'" if "~" in into else "")


def test_it_stays_ours(here: Path) -> None:
    """The second run finds what the first one made, or had begun to make."""
    where = Where(profile="sim", into="ml", python="3.12", may_make=True)
    first = open_workspace(where)
    first.root.mkdir(parents=True)
    (first.root / "profile.lock.json").write_text(lock_document(shipped("sim"), SIM, first.layout, {}))
    (here / "ml").mkdir()
    (here / "ml/.half").touch()
    assert open_workspace(where).layout == first.layout
    make_venv(here / "ml")
    assert open_workspace(where).layout == first.layout
    assert open_workspace(Where(profile="sim", into="ml")).layout == first.layout  # as `run` and `status` ask
    other = open_workspace(Where(profile="sim", root="other", into="ml", may_make=True))
    assert other.layout.adopted


def test_one_that_is_there_is_taken_as_it_is(here: Path) -> None:
    venv = make_venv(here / "ml")
    for into in ("ml", "ml/bin/python"):
        layout = open_workspace(Where(profile="sim", into=into, may_make=True)).layout
        assert (layout.venv, layout.adopted) == (str(venv), True)


@pytest.mark.parametrize(
    ("where", "message"),
    [
        (Where(profile="sim", into="none"), "is no environment"),
        (Where(profile="sim", into="full", may_make=True), "is no environment"),
        (Where(profile="sim", into="file", may_make=True), "is no environment"),
        (Where(profile="sim", into="new", prefix="p", may_make=True), "exclude each other"),
        (Where(profile="sim", into="ml", python="3.12", may_make=True), "exclude each other"),
        (Where(profile="sim", into="a b", may_make=True), "holds ' '"),
    ],
    ids=["not made by run and status", "something else", "a file", "two names", "its own Python", "odd"],
)
def test_what_is_refused(here: Path, where: Where, message: str) -> None:
    make_venv(here / "ml")
    (here / "full").mkdir()
    (here / "full/notes.txt").touch()
    (here / "file").touch()
    with pytest.raises(UsageError, match=message):
        open_workspace(where)


@pytest.mark.parametrize("version", ["3.9", "3.15", "2.7.18"])
def test_a_python_that_the_release_does_not_take_is_not_looked_for(version: str) -> None:
    with pytest.raises(UsageError, match=r"takes Python >=3\.10,") as caught:
        open_workspace(Where(profile="torch-2.14", python=version))
    assert caught.value.fix == "leave --python out, or name one of these: 3.10, 3.11, 3.12, 3.13, 3.14"
    open_workspace(Where(profile="torch-2.14", python="3.14"))


@pytest.mark.parametrize(("name", "hint"), [("cpu", "; did you mean stack-cpu?"), ("xyzzy", "")])
def test_a_stack_that_does_not_ship(name: str, hint: str) -> None:
    with pytest.raises(UsageError) as caught:
        open_workspace(Where(stack=name))
    assert caught.value.message == f"there is no stack {name!r}{hint}"
