"""self: where the program came from, as installers note it, and the command that brings a newer one the same way."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from xpusetup.commands.self import (
    InstallOrigin,
    Self,
    add_line,
    describe,
    find_installer,
    list_places,
    read_origin,
    uninstall_line,
    upgrade_line,
)
from xpusetup.system.process import ProcessOutput

PYTHON = "/home/ann/xpu/bin/python"
UV_TOOL = "uv tool upgrade --reinstall-package xpusetup xpusetup"
UV_PIP = f"uv pip install --python {PYTHON} --reinstall-package xpusetup"
GIT = InstallOrigin("git", "https://h.invalid/x")
ORIGINS = {
    "a clone": (
        {"url": "file:///home/ann/my%20src/xpusetup", "dir_info": {}},
        InstallOrigin("clone", "/home/ann/my src/xpusetup"),
    ),
    "a clone that is run": (
        {"url": "file:///src/xpusetup", "dir_info": {"editable": True}},
        InstallOrigin("clone", "/src/xpusetup", editable=True),
    ),
    "a wheel": (
        {"url": "file:///tmp/xpusetup-0.1.0-py3-none-any.whl", "archive_info": {}},
        InstallOrigin("wheel", "/tmp/xpusetup-0.1.0-py3-none-any.whl"),  # noqa: S108 - a path in a record
    ),
    "a repository": (
        {"url": "https://host.invalid/xpusetup", "vcs_info": {"vcs": "git", "commit_id": "a" * 40}},
        InstallOrigin("git", "https://host.invalid/xpusetup"),
    ),
    "a branch of one": (
        {"url": "https://host.invalid/x", "vcs_info": {"vcs": "git", "requested_revision": "main"}},
        InstallOrigin("git", "https://host.invalid/x", ref="main"),
    ),
    "another host": (
        {"url": "https://host.invalid/x.whl", "archive_info": {}},
        InstallOrigin("other", "https://host.invalid/x.whl"),
    ),
}


@pytest.mark.parametrize("name", ORIGINS)
def test_origin(name: str) -> None:
    told, origin = ORIGINS[name]
    assert read_origin(json.dumps(told)) == origin


@pytest.mark.parametrize("told", ["{", "[]", '"x"'])
def test_unreadable_origin(told: str) -> None:
    assert read_origin(told) == InstallOrigin("other")


def test_from_an_index_and_not_installed() -> None:
    assert read_origin("") == InstallOrigin("index")
    assert read_origin(None) == InstallOrigin("checkout", str(Path(__file__).parents[1]))


@pytest.mark.parametrize(
    ("installer", "origin", "line"),
    [
        ("uv tool", InstallOrigin("clone", "/my src"), f"git -C '/my src' pull && {UV_TOOL}"),
        ("pipx", InstallOrigin("clone", "/src"), "git -C /src pull && pipx reinstall xpusetup"),
        ("pip", InstallOrigin("clone", "/src"), f"git -C /src pull && {PYTHON} -m pip install /src"),
        ("pip", InstallOrigin("clone", "/src", editable=True), f"git -C /src pull && {PYTHON} -m pip install -e /src"),
        ("uv", InstallOrigin("clone", "/my src"), f"git -C '/my src' pull && {UV_PIP} '/my src'"),
        ("uv", InstallOrigin("clone", "/src", editable=True), f"git -C /src pull && {UV_PIP} -e /src"),
        ("", InstallOrigin("checkout", "/src"), "git -C /src pull"),
        ("uv tool", InstallOrigin("index"), "uv tool upgrade xpusetup"),
        ("pipx", InstallOrigin("index"), "pipx upgrade xpusetup"),
        ("pip", InstallOrigin("index"), f"{PYTHON} -m pip install --upgrade xpusetup"),
        ("uv", InstallOrigin("index"), f"uv pip install --python {PYTHON} --upgrade xpusetup"),
        ("uv tool", GIT, UV_TOOL),
        ("pipx", GIT, "pipx reinstall xpusetup"),
        ("pip", GIT, f"{PYTHON} -m pip install --force-reinstall git+https://h.invalid/x"),
        ("uv", GIT, f"{UV_PIP} git+https://h.invalid/x"),
        ("pip", replace(GIT, ref="v2"), f"{PYTHON} -m pip install --force-reinstall git+https://h.invalid/x@v2"),
        ("pip", InstallOrigin("wheel", "/x.whl"), ""),
    ],
)
def test_upgrade(installer: str, origin: InstallOrigin, line: str) -> None:
    """A newer one may have the version of before: pip's --upgrade and uv tool's left what was there.

    And `uv tool install` again leaves out what was installed along (cryptography, by which `sign` signs).
    """
    assert upgrade_line(installer, origin, PYTHON) == line


@pytest.mark.parametrize(
    ("file", "told", "line"),
    [
        (
            "uv-receipt.toml",
            {"url": "file:///my%20src", "dir_info": {}},
            "uv tool install --with cryptography '/my src'",
        ),
        ("pipx_metadata.json", {"url": "file:///src", "dir_info": {}}, "pipx inject xpusetup cryptography"),
        ("x", {"url": "file:///src", "dir_info": {}}, f"{PYTHON} -m pip install cryptography"),
    ],
)
def test_a_package_comes_beside_this_program(
    file: str, told: dict[str, object], line: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What `sign` lacks: the advice named the folder of the shell as the program's clone."""
    (tmp_path / file).touch()
    monkeypatch.setattr("xpusetup.commands.self._read_record", {"direct_url.json": json.dumps(told)}.get)
    monkeypatch.setattr("sys.prefix", str(tmp_path))
    monkeypatch.setattr("sys.executable", PYTHON)
    assert add_line("cryptography") == line


def test_uninstall() -> None:
    clone = InstallOrigin("clone", "/src")
    assert uninstall_line("uv tool", clone, PYTHON) == "uv tool uninstall xpusetup"
    assert uninstall_line("pipx", clone, PYTHON) == "pipx uninstall xpusetup"
    assert uninstall_line("uv", clone, PYTHON) == f"uv pip uninstall --python {PYTHON} xpusetup"
    assert uninstall_line("pip", clone, PYTHON) == f"{PYTHON} -m pip uninstall xpusetup"
    assert uninstall_line("", InstallOrigin("checkout", "/src"), PYTHON) == ""


@pytest.mark.parametrize(
    ("file", "name"), [("uv-receipt.toml", "uv tool"), ("pipx_metadata.json", "pipx"), ("x", "pip")]
)
def test_installer(file: str, name: str, tmp_path: Path) -> None:
    (tmp_path / file).touch()
    assert find_installer(tmp_path) == name


def test_an_environment_of_uv_has_no_pip(tmp_path: Path) -> None:
    assert [find_installer(tmp_path, told) for told in ("uv\n", "pip\n", "")] == ["uv", "pip", "pip"]
    (tmp_path / "uv-receipt.toml").touch()
    assert find_installer(tmp_path, "uv") == "uv tool"


def _described(told: dict[str, object], monkeypatch: pytest.MonkeyPatch) -> Self:
    records = {"direct_url.json": json.dumps(told), "INSTALLER": "pip\n"}
    monkeypatch.setattr("xpusetup.commands.self._read_record", records.get)
    monkeypatch.setattr("xpusetup.system.program.describe_version", lambda: "0.1.0")  # which asks git
    monkeypatch.setattr("sys.executable", PYTHON)
    return describe().data


@pytest.mark.parametrize(
    ("said", "why"),
    [
        (None, "it is no clone of git"),
        (ProcessOutput(128, "", "fatal: HEAD does not point to a branch\n"), "HEAD does not point to a branch"),
        (ProcessOutput(0, "origin/main\n", ""), ""),
    ],
)
def test_a_clone_that_git_cannot_pull(
    said: ProcessOutput | None, why: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An unpacked archive, and a checkout of a tag: the command that was named failed there."""
    if said:
        (tmp_path / ".git").mkdir()
        monkeypatch.setattr("xpusetup.commands.self.ask_git", lambda *_words, **_more: said)
    data = _described({"url": tmp_path.as_uri(), "dir_info": {}}, monkeypatch)
    install = f"{PYTHON} -m pip install {tmp_path}"
    note = f"git pull cannot bring it ({why}): bring the newer sources to {tmp_path}, then: {install}" if why else ""
    assert (data.upgrade, data.note) == ("" if why else f"git -C {tmp_path} pull && {install}", note)


def test_a_file_and_a_named_revision(monkeypatch: pytest.MonkeyPatch) -> None:
    data = _described({"url": "file:///x/xpusetup-0.1.0-py3-none-any.whl", "archive_info": {}}, monkeypatch)
    by = f"{PYTHON} -m pip install --force-reinstall FILE"
    assert (data.upgrade, data.note) == ("", f"it came as a file; a newer one, FILE, comes by: {by}")
    data = _described({"url": "https://h.invalid/x", "vcs_info": {"requested_revision": "v2"}}, monkeypatch)
    assert data.note.startswith("it is of v2, which was named")


def test_what_runs_is_not_what_is_installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """By PYTHONPATH another checkout runs than the one that pip knows of."""
    monkeypatch.setattr("xpusetup.commands.self.PACKAGE", tmp_path / "xpusetup")
    monkeypatch.setattr("xpusetup.system.program.describe_version", lambda: "0.1.0")
    data = describe().data
    assert (data.installer, data.origin, data.uninstall) == ("", str(tmp_path), "")
    assert data.note == f"git pull cannot bring it (it is no clone of git): bring the newer sources to {tmp_path}"


def test_a_clone_that_is_gone(monkeypatch: pytest.MonkeyPatch) -> None:
    """The command for a clone that was removed would fail, so there is none."""
    data = _described({"url": "file:///gone/xpusetup", "dir_info": {}}, monkeypatch)
    assert data.upgrade == ""
    assert data.note.startswith("git pull cannot bring it (it is gone): bring the newer sources to /gone/xpusetup, ")


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
