"""The environment that holds this program is nobody's Python: no probe finds it, nothing is installed into it."""

from __future__ import annotations

import sys
from importlib import metadata
from pathlib import Path

import pytest

from xpusetup.base.errors import UsageError
from xpusetup.commands.self import describe
from xpusetup.machine.probe_torch import probe_torch
from xpusetup.run.workspace import Where, open_workspace
from xpusetup.system.environment import which_python
from xpusetup.system.files import Sysroot


def make_python(prefix: Path, torch: str = "") -> Path:
    """Make what looks like an environment; with a torch of that version in it."""
    python = prefix / "bin/python3"
    python.parent.mkdir(parents=True)
    python.write_text("#!/bin/sh\n")
    python.chmod(0o755)
    packages = prefix / "lib/python3.12/site-packages"
    packages.mkdir(parents=True)
    (prefix / "pyvenv.cfg").write_text("home = /usr/bin\n")
    if torch:
        (packages / "torch").mkdir()
        (packages / "torch/version.py").write_text(f"__version__ = '{torch}'\n")
    return python


@pytest.fixture
def own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Give the environment of this program, which stands first on PATH; another one, theirs, stands behind it."""
    prefix = tmp_path / "own"
    make_python(prefix)
    for name in ("VIRTUAL_ENV", "CONDA_PREFIX"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(sys, "prefix", str(prefix))
    for name in ("probe_conflicts", "find_misfits"):  # which start a program to read libraries
        monkeypatch.setattr(f"xpusetup.machine.probe_torch.{name}", lambda *_words: [])
    monkeypatch.setenv("PATH", f"{prefix}/bin:{tmp_path}/theirs/bin")
    return prefix


def test_python_is_the_one_of_the_caller(own: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    theirs = make_python(tmp_path / "theirs")
    assert which_python("python3") == str(theirs)
    (tmp_path / "link").symlink_to(own)
    monkeypatch.setenv("PATH", f"{tmp_path}/link/bin:{theirs.parent}")
    assert which_python("python3") == str(theirs)
    monkeypatch.setattr(sys, "prefix", sys.base_prefix)  # a program of the system's own Python hides nothing
    assert which_python("python3") == f"{tmp_path}/link/bin/python3"


def test_a_torch_behind_this_program_is_seen(own: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A CPU build of torch, the commonest fault, was not found where this program stood first on PATH."""
    make_python(tmp_path / "theirs", "2.13.0+cpu")
    for active in ("", str(own)):
        monkeypatch.setenv("VIRTUAL_ENV", active)
        seen = probe_torch((), Sysroot(""), {}, imports=False)
        assert seen is not None
        assert (seen.prefix, seen.version) == (f"{tmp_path}/theirs", "2.13.0+cpu")


def test_alone_it_is_no_environment_of_torch(own: Path) -> None:
    notes: dict[str, str] = {}
    assert own.exists()
    assert probe_torch((), Sysroot(""), notes, imports=False) is None
    assert notes == {"torch": "no Python environment is active or built here"}


def test_who_put_torch_beside_this_program_is_told_of_it(own: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    packages = own / "lib/python3.12/site-packages/torch"
    packages.mkdir()
    (packages / "version.py").write_text("__version__ = '2.14.1+xpu'\n")
    monkeypatch.setenv("VIRTUAL_ENV", str(own))
    seen = probe_torch((), Sysroot(""), {}, imports=False)
    assert seen is not None
    assert seen.prefix == str(own)


@pytest.mark.parametrize("named", ["own", "own/bin/python3", "link"])
def test_nothing_is_installed_into_it(named: str, own: Path, tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(own)
    (own / "bin/python").symlink_to("python3")
    with pytest.raises(UsageError) as caught:
        open_workspace(Where(profile="torch-2.14", into=str(tmp_path / named), may_make=True))
    assert caught.value.message == f"{tmp_path / named} is xpusetup's own environment: PyTorch goes into another one"
    assert caught.value.fix == f"the same command with --into {Path.home()}/torch-env"


def test_no_build_is_in_it(own: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It may lie among the builds, in ~/.local/share/xpusetup."""
    monkeypatch.setenv("XPUSETUP_ROOT", str(tmp_path))
    with pytest.raises(UsageError, match="is xpusetup's own environment, and no build"):
        open_workspace(Where(profile="sim", name=own.name))


class Listed:
    """A distribution by its name alone."""

    def __init__(self, name: str) -> None:
        self.name = name


@pytest.mark.parametrize(
    ("others", "line"),
    [([], "rm -r {own} {link}"), (["rich", "pip"], "rm -r {own} {link}"), (["numpy"], "{python} -m pip uninstall")],
)
def test_an_environment_for_this_program_alone_is_removed_whole(
    others: list[str], line: str, own: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`pip uninstall xpusetup` left an environment of twenty packages that nothing uses."""
    link = tmp_path / "bin/xpusetup"
    link.parent.mkdir()
    (own / "bin/xpusetup").write_text("#!/bin/sh\n")
    (own / "bin/xpusetup").chmod(0o755)
    link.symlink_to(own / "bin/xpusetup")
    monkeypatch.setenv("PATH", str(link.parent))
    monkeypatch.setattr(metadata, "distributions", lambda **_: [Listed(name) for name in ("xpusetup", *others)])
    told = {"direct_url.json": '{"url": "file:///src", "dir_info": {}}', "INSTALLER": "pip\n"}
    monkeypatch.setattr("xpusetup.commands.self._read_record", told.get)
    monkeypatch.setattr("xpusetup.system.program.describe_version", lambda: "0.1.0")
    assert describe().data.uninstall.startswith(line.format(own=own, link=link, python=sys.executable))
