"""Unpacked source archives as source trees: their identity, their date, their submodules; and `--only` on them."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import subprocess
from typing import TYPE_CHECKING
from zipfile import ZipFile

import pytest

from e2e.support import SETUP, make_tiny, make_venv, xpusetup

if TYPE_CHECKING:
    from pathlib import Path

    from e2e.support import Said, Tiny

pytestmark = [pytest.mark.e2e, pytest.mark.xdist_group("archives")]
WHEN = 1738112400
ABOVE = """
[[components]]
kind = "source"
name = "above"
distribution = "above"
version = "2.0"
repo = "https://tiny.invalid/tiny"
tag = "v1.0"
rev = "{rev}"
source = "this test"
confidence = "confirmed"
frontend = "setup.py"
after = ["tiny"]
environment.TINY_VERSION = "2.0"

[[components]]
kind = "source"
name = "beside"
distribution = "beside"
version = "3.0"
repo = "https://tiny.invalid/nowhere"
tag = "v1.0"
rev = "{rev}"
source = "this test"
confidence = "confirmed"
frontend = "setup.py"
after = ["tiny"]
"""
GIT = """
import subprocess
with open("said-by-git.txt", "w") as stream:
    asked = subprocess.run(("git", "rev-parse", "HEAD"), capture_output=True, text=True)
    stream.write(asked.stdout)
"""


def unpack(tiny: Tiny, folder: Path, *, when: int = WHEN) -> Path:
    """Unpack what a server makes of a commit: no .git, all files at one date; a foreign repository lies around it."""
    folder.mkdir(parents=True)
    subprocess.run(("git", "init", "-q", str(folder.parent)), check=True)
    git = ("git", "-c", "user.name=t", "-c", "user.email=t@t.invalid", "-C", str(folder.parent))
    subprocess.run((*git, "commit", "-qm", "foreign", "--allow-empty"), check=True)
    packed = folder.parent / "tiny.tar"
    subprocess.run(("git", "archive", "-o", str(packed), "v1.0"), cwd=tiny.repository, check=True)
    subprocess.run(("tar", "xf", str(packed), "-C", str(folder)), check=True)
    for path in folder.iterdir():
        os.utime(path, (when, when))
    return folder


def build(tiny: Tiny, root: Path, *more: str) -> Said:
    return xpusetup("build", *tiny.options(root), "--verify", "off", "--json", *more, env=tiny.env)


def test_an_archive_is_built_and_told(tmp_path: Path) -> None:
    """Its identity is the hash of its files, its date that of the newest, and no repository around it is asked."""
    tiny = make_tiny(tmp_path / "tiny", setup_py=GIT + SETUP)
    tree, root = unpack(tiny, tmp_path / "outer/tiny-1.0"), tmp_path / "root"
    built = build(tiny, root, "--source", f"tiny={tree}").result
    assert "tiny.build" in built["ran"]
    assert (tree / "said-by-git.txt").read_text() == ""
    told = json.loads((root / "manifest.json").read_text())["own"]["tiny"]
    assert (told["folder"], len(told["archive"]), told["missing"]) == (str(tree), 64, [])
    assert (root / "results/tiny.source.date").read_text() == f"{WHEN}\n"
    with ZipFile(built["wheels"][0]["path"]) as wheel:
        dates = {info.date_time[:3] for info in wheel.infolist()}
    assert dates == {(2025, 1, 29)}
    status = xpusetup("status", *tiny.options(root), env=tiny.env)
    assert f"tiny from an unpacked archive, sha256 {told['archive'][:12]} of the tree, a source tree" in status.out
    (tree / "said-by-git.txt").unlink()
    assert build(tiny, root, "--source", f"tiny={tree}").result["ran"] == ["tiny.fetch", "tiny.build"]
    after = json.loads((root / "results/tiny.source.json").read_text())["archive"]
    assert after == told["archive"]  # what the build left in the tree is no source


def test_another_content_is_another_archive(tmp_path: Path) -> None:
    tiny = make_tiny(tmp_path / "tiny")
    one, two = (unpack(tiny, tmp_path / name / "tiny-1.0") for name in ("a", "b"))
    root, seen = tmp_path / "root", []
    for tree in (one, two, one):
        build(tiny, root, "--source", f"tiny={tree}", "--until", "tiny.fetch")
        seen.append(json.loads((root / "results/tiny.source.json").read_text())["archive"])
        (one / "tiny.c").write_text((one / "tiny.c").read_text() + "\n")
    assert seen[0] == seen[1] != seen[2]


@pytest.mark.long
def test_what_lies_in_submodules_is_named(tmp_path: Path) -> None:
    modules = '[submodule "a"]\npath = third_party/a\nurl = x\n[submodule "b"]\npath = third_party/b\nurl = y\n'
    tiny = make_tiny(tmp_path / "tiny")
    tree = unpack(tiny, tmp_path / "outer/tiny-1.0")
    (tree / ".gitmodules").write_text(modules)
    (tree / "third_party/a").mkdir(parents=True)
    (tree / "third_party/b").mkdir()
    (tree / "third_party/b/file.c").touch()
    root = tmp_path / "root"
    assert build(tiny, root, "--source", f"tiny={tree}").code == 0
    log = (root / "logs/tiny.fetch.log").read_text()
    assert "lacks what lies in submodules: third_party/a. With them: git clone --recurse-submodules --branch" in log
    assert "= your own archive, sha256 " in log
    assert "without 1 submodule" in log


def test_what_is_no_source_tree(tmp_path: Path) -> None:
    tiny = make_tiny(tmp_path / "tiny")
    (tmp_path / "empty").mkdir()
    said = xpusetup("build", *tiny.options(tmp_path / "root"), "--source", f"tiny={tmp_path / 'empty'}", env=tiny.env)
    assert said.code == 2
    assert "is neither a git checkout nor an unpacked source archive" in said.err.replace("\n   ", " ")


@pytest.mark.long
def test_one_component_on_what_is_ready(tmp_path: Path) -> None:
    """In an environment of others and in a root: what it is built on has to be there, and nothing else is built."""
    tiny = make_tiny(tmp_path / "tiny")
    tiny.profile.write_text(tiny.profile.read_text() + ABOVE.format(rev=tiny.rev))
    tree = unpack(tiny, tmp_path / "outer/above-2.0")
    setup = tree / "setup.py"
    setup.write_text(setup.read_text().replace('name="tiny"', 'name="above"'))
    env, root = tmp_path / "env", tmp_path / "root"
    make_venv(env)
    only = ("--only", "above", "--source", f"above={tree}", "--into", str(env))
    refused = build(tiny, root, *only)
    assert (refused.code, refused.document["error"]["code"]) == (3, 3)
    assert "--only above needs tiny 1.0, and" in refused.document["error"]["message"]
    fix = refused.document["error"]["fix"].partition("xpusetup ")[2]
    assert "--only tiny --only above " in fix
    assert not (root / "stamps").exists()
    mended = xpusetup(*shlex.split(fix), "--json", env=tiny.env)
    assert {wheel["name"] for wheel in mended.result["wheels"]} == {"tiny", "above"}
    root = tmp_path / "another"
    built = build(tiny, root, *only).result
    ran = {name for name in built["ran"] if "." in name}
    assert ran == {"tiny.ready", *(f"above.{end}" for end in ("fetch", "build", "inspect", "install"))}
    there = json.loads((root / "results/tiny.ready.json").read_text())
    assert (there["distribution"], there["version"]) == ("tiny", "1.0")
    assert not {path.name.split("-")[0] for path in (root / "wheels").iterdir()} - {"above"}
    again = build(tiny, root, *only).result["ran"]
    assert set(again) == {"tiny.ready", "above.fetch", "above.build"}  # the wheel is the same, byte for byte
    shutil.rmtree(next((env / "lib").glob("python*/site-packages/tiny-1.0.dist-info")))
    assert build(tiny, root, *only).code == 3
