"""The profile that a device file becomes, and what is asked where something is missing."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from data.profiles import shipped
from golden import hold_one
from xpusetup.base.errors import UsageError
from xpusetup.base.model import FoundRef
from xpusetup.config.devices import parse_device, shipped_device
from xpusetup.config.load import parse_profile
from xpusetup.config.new_profile import (
    ExtensionSource,
    NewProfileOptions,
    extension_of,
    make_device_profile,
    ready_torch,
    render_profile,
    repo_of,
    version_in,
)

if TYPE_CHECKING:
    from pathlib import Path

REV = "5c488690838c8b6c0c3d3a3c3b1a1c9d2e8f7a6b"
TABLES = """
name = "acme"
title = "Acme accelerator"
[extension]
distribution = "Acme_Torch"
module = "acme"
[source]
repo = "https://acme.example/torch"
version = "1.0"
"""
ACME = parse_device(TABLES, "acme.toml")


def test_golden_profile() -> None:
    found = FoundRef(REV, "refs/tags/v1.0")
    source = ExtensionSource(repo="https://acme.example/torch", found=found, version="1.0", when="v1.0, 2026-11-21")
    profile = make_device_profile("acme-1", shipped("sim"), ACME, "acme.toml", source)
    text = render_profile(profile, "Begun for a device. Check it: xpusetup profiles check FILE")
    assert parse_profile(text, "acme-1.toml") == profile
    hold_one("profiles/acme.toml", text.partition("[hashes]")[0])


def test_a_branch_stays_a_branch() -> None:
    source = ExtensionSource(repo="https://example.com/r", found=FoundRef(REV, "refs/heads/main"), version="1.0")
    part = make_device_profile("a", shipped("sim"), ACME, "acme.toml", source).components[1]
    assert part.kind == "source"
    assert (part.ref, part.tag, part.rev, part.directory) == ("refs/heads/main", "", REV, ".")


def test_how_it_is_built_comes_from_the_device_file() -> None:
    """What begins with OpenReg's file is what ships for it, as far as its source is meant."""
    device = shipped_device("openreg")
    source = ExtensionSource(repo="https://example.com/r", found=FoundRef(REV), version="0.0.1", known=device.source_)
    part = make_device_profile("mine", shipped("sim"), device, "openreg", source).components[1]
    (ours,) = (each for each in shipped("openreg-2.13").components if each.kind == "source")
    how = {"directory", "sparse", "frontend", "cmake", "defines"}
    assert {name: getattr(part, name) for name in how} == {name: getattr(ours, name) for name in how}


@pytest.mark.parametrize(
    ("files", "asked", "version"),
    [
        ({"pyproject.toml": '[project]\nversion = "2.1"\n'}, "", "2.1"),
        ({"pyproject.toml": '[project]\nversion = "2.1"\n'}, "3.0", "3.0"),
        ({"pyproject.toml": '[project]\ndynamic = ["version"]\n', "version.txt": "2.2\n"}, "", "2.2"),
        ({"pyproject.toml": "not TOML", "version.txt": None}, "", "1.0"),
        ({"pyproject.toml": "project = 1"}, "", "1.0"),
        ({}, "", "1.0"),
        ({"version.txt": "2.2.0.RC1"}, "", "2.2.0rc1"),
    ],
)
def test_versions(files: dict[str, str | None], asked: str, version: str) -> None:
    assert version_in(files, ACME.source_, NewProfileOptions(version=asked)) == version


def test_what_nobody_says() -> None:
    with pytest.raises(UsageError, match="the tree does not say its version in words"):
        version_in({}, None, NewProfileOptions())
    with pytest.raises(UsageError, match="'one' is no version of a wheel"):
        version_in({}, None, NewProfileOptions(version="one"))
    bare = replace(ACME, source_=None)
    with pytest.raises(UsageError, match=r"acme.toml does not say where the source of acme is"):
        repo_of(bare, NewProfileOptions(), "acme.toml")
    assert repo_of(bare, NewProfileOptions(repo="git@host:r"), "acme.toml") == "git@host:r"
    with pytest.raises(UsageError, match="cpu names no extension"):
        extension_of(shipped_device("cpu"), "cpu")


@pytest.mark.parametrize("repo", ["tree", "./tree", "~/tree", "sub/../tree"])
def test_a_folder_of_the_command_line_is_named_whole(
    repo: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / "tree").mkdir()
    assert repo_of(ACME, NewProfileOptions(repo=repo), "acme.toml") == str(tmp_path / "tree")


@pytest.mark.parametrize("repo", ["github.com/a/b", "nothing", "./x", "~/x"])
def test_what_is_neither_address_nor_folder_is_refused_before_anybody_is_asked(repo: str) -> None:
    with pytest.raises(UsageError, match=re.escape(f"--repo {repo} is no address, and there is no ")):
        repo_of(ACME, NewProfileOptions(repo=repo), "acme.toml")


def test_a_base_needs_a_ready_torch() -> None:
    assert ready_torch(shipped("sim")).version == "2.13.0+cpu"
    with pytest.raises(UsageError, match=r"torch-2.14 compiles torch itself"):
        ready_torch(shipped("torch-2.14"))
