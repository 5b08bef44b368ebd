"""self: where the program came from, as installers note it, and the command that brings a newer one the same way."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from xpusetup.commands.self import (
    Origin,
    describe,
    find_installer,
    list_places,
    read_origin,
    uninstall_line,
    upgrade_line,
)

PYTHON = "/home/ann/xpu/bin/python"
ORIGINS = {
    "a clone": (
        {"url": "file:///home/ann/my%20src/xpusetup", "dir_info": {}},
        Origin("clone", "/home/ann/my src/xpusetup"),
    ),
    "a clone that is run": (
        {"url": "file:///src/xpusetup", "dir_info": {"editable": True}},
        Origin("clone", "/src/xpusetup", editable=True),
    ),
    "a wheel": (
        {"url": "file:///tmp/xpusetup-0.1.0-py3-none-any.whl", "archive_info": {}},
        Origin("wheel", "/tmp/xpusetup-0.1.0-py3-none-any.whl"),  # noqa: S108 - a path in a record
    ),
    "a repository": (
        {"url": "https://host.invalid/xpusetup", "vcs_info": {"vcs": "git", "commit_id": "a" * 40}},
        Origin("git", "https://host.invalid/xpusetup"),
    ),
    "another host": (
        {"url": "https://host.invalid/x.whl", "archive_info": {}},
        Origin("other", "https://host.invalid/x.whl"),
    ),
}


@pytest.mark.parametrize("name", ORIGINS)
def test_origin(name: str) -> None:
    told, origin = ORIGINS[name]
    assert read_origin(json.dumps(told)) == origin


@pytest.mark.parametrize("told", ["{", "[]", '"x"'])
def test_unreadable_origin(told: str) -> None:
    assert read_origin(told) == Origin("other")


def test_from_an_index_and_not_installed() -> None:
    assert read_origin("") == Origin("index")
    assert read_origin(None) == Origin("checkout", str(Path(__file__).parents[1]))


@pytest.mark.parametrize(
    ("installer", "origin", "line"),
    [
        ("uv tool", Origin("clone", "/my src"), "git -C '/my src' pull && uv tool install --reinstall '/my src'"),
        ("pipx", Origin("clone", "/src"), "git -C /src pull && pipx install --force /src"),
        ("pip", Origin("clone", "/src"), f"git -C /src pull && {PYTHON} -m pip install /src"),
        ("pip", Origin("clone", "/src", editable=True), f"git -C /src pull && {PYTHON} -m pip install -e /src"),
        ("pip", Origin("checkout", "/src"), "git -C /src pull"),
        ("uv tool", Origin("index"), "uv tool upgrade xpusetup"),
        ("pipx", Origin("index"), "pipx upgrade xpusetup"),
        ("pip", Origin("index"), f"{PYTHON} -m pip install --upgrade xpusetup"),
        ("pipx", Origin("git", "https://h.invalid/x"), "pipx reinstall xpusetup"),
        ("pip", Origin("git", "https://h.invalid/x"), f"{PYTHON} -m pip install --upgrade git+https://h.invalid/x"),
        ("pip", Origin("wheel", "/x.whl"), ""),
    ],
)
def test_upgrade(installer: str, origin: Origin, line: str) -> None:
    assert upgrade_line(installer, origin, PYTHON) == line


def test_uninstall() -> None:
    clone = Origin("clone", "/src")
    assert uninstall_line("uv tool", clone, PYTHON) == "uv tool uninstall xpusetup"
    assert uninstall_line("pipx", clone, PYTHON) == "pipx uninstall xpusetup"
    assert uninstall_line("pip", clone, PYTHON) == f"{PYTHON} -m pip uninstall xpusetup"
    assert uninstall_line("pip", Origin("checkout", "/src"), PYTHON) == ""


@pytest.mark.parametrize(
    ("file", "name"), [("uv-receipt.toml", "uv tool"), ("pipx_metadata.json", "pipx"), ("x", "pip")]
)
def test_installer(file: str, name: str, tmp_path: Path) -> None:
    (tmp_path / file).touch()
    assert find_installer(tmp_path) == name


def test_a_clone_that_is_gone(monkeypatch: pytest.MonkeyPatch) -> None:
    """The command for a clone that was removed would fail, so there is none."""
    told = json.dumps({"url": "file:///gone/xpusetup", "dir_info": {}})
    monkeypatch.setattr("xpusetup.commands.self._direct_url", lambda: told)
    data = describe().data
    assert (data.upgrade, data.note) == ("", "/gone/xpusetup is gone: clone it again, and install it from there")


def test_places(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("XDG_CACHE_HOME", "XDG_DATA_HOME", "XDG_CONFIG_HOME"):
        monkeypatch.setenv(name, str(tmp_path / name))
    monkeypatch.delenv("XPUSETUP_ROOT", raising=False)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "XDG_DATA_HOME/xpusetup").mkdir(parents=True)
    found = {place.what: place for place in list_places()}
    assert [name for name, place in found.items() if place.there] == ["builds, a folder each"]
    assert found["settings of this folder"].path == str(tmp_path / "xpusetup.toml")
    assert found["settings of yours"].path == str(tmp_path / "XDG_CONFIG_HOME/xpusetup/site.toml")
