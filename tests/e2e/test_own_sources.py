"""Source trees and patches of the user's own, with torch-2.14 re-pinned to stand-ins: what is edited there survives."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from dataclasses import replace
from typing import TYPE_CHECKING
from zipfile import ZipFile

import pytest

from standins.eras import rules_of, triton_of
from standins.repository import run_git, write_text
from standins.upstreams import TRITON, git_environment
from xpusetup.system.files import package_file

if TYPE_CHECKING:
    from pathlib import Path

    from standins.eras import Eras, Stand

pytestmark = [pytest.mark.e2e, pytest.mark.xdist_group("eras-2.14")]
TORCH = "https://github.com/pytorch/pytorch"
OPS = "https://github.com/intel/torch-xpu-ops.git"
ONLY = ("--only", "torch")


@pytest.fixture(scope="module")
def stand(eras: Eras) -> Stand:
    return eras.stand("torch-2.14")


def clone(stand: Stand, url: str, into: Path, rev: str) -> Path:
    """Clone as a developer does: with submodules, at a commit."""
    env = os.environ | git_environment(stand.upstreams)
    for command in (
        ("git", "clone", "--quiet", url, str(into)),
        ("git", "-C", str(into), "checkout", "--quiet", "-b", "mine", rev),
        ("git", "-C", str(into), "submodule", "--quiet", "update", "--init", "--recursive"),
    ):
        subprocess.run(command, check=True, env=env)
    return into


def append(path: Path, text: str) -> None:
    path.write_text(path.read_text() + text)


def state(tree: Path) -> tuple[str, str]:
    """Give what must not change: the commit, the branch, and what is not committed."""
    status = run_git(tree, "status", "--porcelain", "--untracked-files=no")
    return run_git(tree, "rev-parse", "HEAD", "--abbrev-ref", "HEAD"), status + run_git(tree, "diff")


@pytest.mark.long
def test_edits_survive_every_command(stand: Stand, tmp_path: Path) -> None:
    torch = clone(stand, TORCH, tmp_path / "pytorch", stand.upstreams.revs["torch"])
    ops = clone(stand, OPS, tmp_path / "ops", stand.upstreams.revs["torch-xpu-ops"])
    append(ops / "src/add.cpp", "// committed here\n")
    run_git(ops, "commit", "--quiet", "--all", "--message", "a commit of my own, which torch does not name")
    append(ops / "src/add.cpp", '\nextern "C" int my_kernel_of_today() { return 1; }\n')
    append(torch / "c10/core.cpp", '\nextern "C" int my_core_of_today() { return 1; }\n')
    before, root = (state(torch), state(ops)), tmp_path / "root"
    own = ("--source", f"torch={torch}", "--source", f"torch-xpu-ops={ops}", *ONLY)
    alone = stand.build(root, *own, "--target", "c10")
    assert (alone.result["ran"][-1], alone.result["wheels"]) == ("torch.target", [])
    assert [path.rpartition("/")[2] for path in alone.result["target"]["files"]] == ["libc10.so"]
    assert not list(torch.glob("build/**/libtorch_xpu.so"))
    told = stand.call("build", "--root", root, *own, "--target", "c10")
    assert "no wheel was made: without --target the same command goes on from here" in told.stdout
    compiled = set((torch / "build/.ninja_log").read_text().splitlines())
    first = stand.build(root, *own)
    assert compiled <= set((torch / "build/.ninja_log").read_text().splitlines())  # it went on in the same folder
    assert "torch.build" in first.result["ran"]
    assert (state(torch), state(ops)) == before
    assert sorted(path.name for path in tmp_path.iterdir()) == ["ops", "pytorch", "root"]
    libraries = root / "venv/lib"
    found = subprocess.run(
        ("grep", "-rlE", "my_(kernel|core)_of_today", str(libraries)), capture_output=True, check=True
    )
    assert {b"libc10.so", b"libtorch_xpu.so"} <= {line.rpartition(b"/")[2] for line in found.stdout.splitlines()}
    again = stand.build(root, *own)
    assert again.result["ran"] == ["torch.fetch", "torch.build"]  # ninja looked, and nothing came of it
    append(ops / "src/add.cpp", '\nextern "C" int my_kernel_of_tomorrow() { return 1; }\n')
    third = stand.build(root, *own)
    assert {"torch.build", "torch.inspect", "torch.install"} <= set(third.result["ran"])
    assert state(ops)[0] == before[1][0]
    told = stand.call("status", "--root", root)
    assert f"torch-xpu-ops at {before[1][0][:12]}, a source tree of your own, with changes" in told.stdout
    assert state(torch) == before[0]
    check_editable(stand, root, torch, ops)
    debug = stand.build(root, *own, "--set", "torch.DEBUG=1", "--until", "torch.configure")
    assert debug.read("results/torch.configure.json")["decisions"]["CMAKE_BUILD_TYPE"] == "Debug"


def check_editable(stand: Stand, root: Path, torch: Path, ops: Path) -> None:
    """Install the trees of a root as they lie: Python that is edited there is what runs; then take the wheel again."""
    own = ("--source", f"torch={torch}:editable", "--source", f"torch-xpu-ops={ops}", *ONLY)
    ran = stand.build(root, *own)
    assert ("torch.install" in ran.result["ran"], "torch.build" in ran.result["ran"]) == (True, False)
    assert (ran.result["wheels"], ran.result["editable"]) == ([], {"torch": str(torch)})
    append(torch / "torch/__init__.py", "\nedited = 'today'\n")
    code = "import torch; print(torch.edited, torch.__file__)"
    done = stand.call("run", "--root", root, "--", "python", "-c", code)
    assert done.stdout.split() == ["today", str(torch / "torch/__init__.py")], done.stderr
    assert stand.build(root, *own).result["ran"] == ["torch.fetch", "torch.install"]
    told = stand.call("status", "--root", root)
    assert (told.returncode, "a source tree of your own, installed editable, with changes" in told.stdout) == (0, True)
    run_git(torch, "checkout", "--quiet", "torch/__init__.py")
    back = stand.build(root, *[word.removesuffix(":editable") for word in own])
    assert {"torch.build", "torch.install"} <= set(back.result["ran"])
    done = stand.call("run", "--root", root, "--", "python", "-c", "import torch; print(torch.__file__)")
    assert done.stdout.startswith(str(root)), done.stderr


@pytest.mark.long
def test_editable_before_scikit_build_core(eras: Eras, tmp_path: Path) -> None:
    """To 2.13 setup.py builds what is linked; one target of its ninja comes first, and the rest goes on from there."""
    stand, root = eras.stand("torch-2.13"), tmp_path / "root"
    torch = clone(stand, TORCH, tmp_path / "pytorch", stand.upstreams.revs["torch"])
    own = ("--source", f"torch={torch}:editable", *ONLY)
    alone = stand.build(root, *own[:2], "--target", "c10")
    assert [path.rpartition("/")[2] for path in alone.result["target"]["files"]] == ["libc10.so"]
    compiled = set((torch / "build/.ninja_log").read_text().splitlines())
    assert "torch.install" in stand.build(root, *own).result["ran"]
    assert compiled <= set((torch / "build/.ninja_log").read_text().splitlines())
    (told,) = (root / "venv/lib").glob("python*/site-packages/torch-*.dist-info/direct_url.json")
    assert json.loads(told.read_text()) == {"dir_info": {"editable": True}, "url": f"file://{torch}"}
    append(torch / "torch/__init__.py", "\nedited = 'today'\n")
    done = stand.call("run", "--root", root, "--", "python", "-c", "import torch; print(torch.edited, torch.__file__)")
    assert done.stdout.split() == ["today", str(torch / "torch/__init__.py")], done.stderr


@pytest.mark.long
def test_triton_from_a_tree_of_ones_own(stand: Stand, tmp_path: Path) -> None:
    """What the profile takes as a ready wheel is built, under the profile's name and the tree's version."""
    triton = clone(stand, TRITON, tmp_path / "triton", stand.upstreams.revs["triton"])
    append(triton / "triton/__init__.py", "\nmine = True\n")
    before, root = state(triton), tmp_path / "root"
    built = stand.build(root, "--until", "triton.inspect", "--source", f"triton={triton}")
    (wheel,) = built.result["wheels"]
    assert (wheel["name"], wheel["version"]) == ("triton-xpu", rules_of("torch-2.14").triton)
    assert state(triton) == before
    with ZipFile(wheel["path"]) as packed:
        assert "mine = True" in packed.read("triton/__init__.py").decode()
    (published,) = stand.build(root, "--until", "triton.fetch", "--source", "triton=pinned").result["wheels"]
    assert published["version"] == triton_of("torch-2.14")
    assert [path.name for path in (root / "wheels").glob("*.whl")] == [published["path"].rpartition("/")[2]]


def test_the_fetched_tree_comes_back(stand: Stand, tmp_path: Path) -> None:
    ops = clone(stand, OPS, tmp_path / "ops", stand.upstreams.revs["torch-xpu-ops"])
    root, until = tmp_path / "root", ("--until", "torch.fetch")
    place = root / "src/torch/third_party/torch-xpu-ops"
    stand.build(root, *until).result["ran"]
    assert not place.is_symlink()
    stand.build(root, *until, "--source", f"torch-xpu-ops={ops}").result["ran"]
    assert place.readlink() == ops
    stand.build(root, *until).result["ran"]
    assert place.readlink() == ops  # who leaves the option out did not ask for another source
    stand.build(root, *until, "--source", "torch-xpu-ops=pinned").result["ran"]
    assert (place.is_symlink(), run_git(place, "status", "--porcelain", "--untracked-files=no")) == (False, "")
    assert (ops / ".git").is_dir()


def test_what_git_does_not_read_is_told_for_the_reason(tmp_path: Path) -> None:
    def look(tree: Path) -> str:
        words = (sys.executable, str(package_file("helpers/own_source.py")), "--tree", str(tree))
        done = subprocess.run(words, capture_output=True, text=True, check=False)
        return done.stdout + done.stderr

    (tmp_path / "outer/tree").mkdir(parents=True)
    outer, tree = tmp_path / "outer", tmp_path / "outer/tree"
    run_git(outer, "init", "--quiet")
    run_git(outer, "commit", "--quiet", "--allow-empty", "--message", "one")
    run_git(tree, "init", "--quiet")
    assert "has no commit yet" in look(tree)
    run_git(tree, "commit", "--quiet", "--allow-empty", "--message", "one")
    run_git(tree, "worktree", "add", "--quiet", "--detach", str(tmp_path / "work"))
    for name in ("build/x", "tiny.egg-info/x", "mine.c"):
        (tree / name).parent.mkdir(exist_ok=True)
        (tree / name).touch()
    assert look(tree).endswith("1 file changed\n")
    (tree / ".git/HEAD").unlink()  # git would take the repository above for it
    assert f"{tree}/.git is broken" in look(tree)
    shutil.rmtree(tree)
    assert f"is a worktree or submodule of {tree}/.git/worktrees/work, which is not there" in look(tmp_path / "work")


def test_what_a_tree_lacks_of_its_commit_is_told(tmp_path: Path) -> None:
    """A compiler would miss it after hours; a clone without files, submodules or folders looks well to git."""

    def look(name: str) -> str:
        words = (sys.executable, str(package_file("helpers/own_source.py")), "--tree", str(tmp_path / name))
        done = subprocess.run(words, capture_output=True, text=True, check=False)
        return done.stdout + done.stderr

    local = ("-c", "protocol.file.allow=always")
    for name in ("part", "whole"):
        write_text(tmp_path / f"{name}/far/a.c", "// a\n")
        run_git(tmp_path / name, "init", "--quiet")
    run_git(tmp_path / "part", "add", "--all")
    run_git(tmp_path / "part", "commit", "--quiet", "--message", "one")
    run_git(tmp_path / "whole", *local, "submodule", "--quiet", "add", str(tmp_path / "part"), "third_party/part")
    run_git(tmp_path / "whole", "add", "--all")
    run_git(tmp_path / "whole", "commit", "--quiet", "--message", "one")
    assert look("whole").endswith("| nothing changed\n")
    for words in (("--no-checkout", "empty"), ("plain",), ("--sparse", "sparse")):
        run_git(tmp_path, "clone", "--quiet", *words[:-1], str(tmp_path / "whole"), words[-1])
    assert f"git -C {tmp_path}/empty checkout HEAD -- ." in look("empty")
    assert f"third_party/part. To get it: git -C {tmp_path}/plain submodule update --init --recursive" in look("plain")
    assert look("plain").endswith("| nothing changed | without 1 submodule\n")
    assert "1 file left out" in look("sparse")
    assert f"git -C {tmp_path}/sparse sparse-checkout disable" in look("sparse")


def test_patches_go_on_and_come_off(stand: Stand, tmp_path: Path) -> None:
    ops = clone(stand, OPS, tmp_path / "ops", stand.upstreams.revs["torch-xpu-ops"])
    append(ops / "src/add.cpp", "// from a patch\n")
    write_text(tmp_path / "fix.patch", run_git(ops, "diff") + "\n")
    root, until = tmp_path / "root", ("--until", "torch.fetch")
    patched = (*until, "--patch", f"torch-xpu-ops={tmp_path / 'fix.patch'}")
    place = root / "src/torch/third_party/torch-xpu-ops"
    assert stand.build(root, *patched).result["ran"] == ["torch.fetch"]
    assert (place / "src/add.cpp").read_text().endswith("// from a patch\n")
    assert stand.build(root, *patched).result["ran"] == []
    append(ops / "src/add.cpp", "// and another line\n")
    write_text(tmp_path / "fix.patch", run_git(ops, "diff") + "\n")
    assert stand.build(root, *patched).result["ran"] == ["torch.fetch"]
    assert (place / "src/add.cpp").read_text().count("// from a patch\n") == 1
    assert (place / "src/add.cpp").read_text().endswith("// and another line\n")
    assert stand.build(root, *until).result["ran"] == ["torch.fetch"]
    assert run_git(place, "status", "--porcelain", "--untracked-files=no") == ""
    write_text(tmp_path / "fix.patch", "--- a/src/nosuch.cpp\n+++ b/src/nosuch.cpp\n@@ -1 +1 @@\n-a\n+b\n")
    refused = stand.build(root, *patched)
    assert "does not fit" in refused.failure
    assert run_git(place, "status", "--porcelain", "--untracked-files=no") == ""


NAMED = 'patches = [{ file = "fixes/318.patch", source = "torch-xpu-ops#318", confidence = "likely" }]'


@pytest.fixture(scope="module")
def patched(eras: Eras, tmp_path_factory: pytest.TempPathFactory) -> Stand:
    """Give torch-2.4 whose profile brings a patch for torch-xpu-ops, in a folder beside it."""
    stand, folder = eras.stand("torch-2.4"), tmp_path_factory.mktemp("patched")
    ops = clone(stand, OPS, folder / "ops", stand.upstreams.revs["torch-xpu-ops"])
    append(ops / "src/add.cpp", '\nextern "C" int from_the_profile() { return 318; }\n')
    write_text(folder / "fixes/318.patch", run_git(ops, "diff") + "\n")
    lines = stand.profile.read_text().splitlines()
    where = lines.index('name = "torch-xpu-ops"') + 1
    write_text(folder / "torch-2.4.toml", "\n".join((*lines[:where], NAMED, *lines[where:])))
    return replace(stand, profile=folder / "torch-2.4.toml")


@pytest.mark.long
def test_a_profile_brings_its_patch(patched: Stand, tmp_path: Path) -> None:
    """It is on after the fetch, in the manifest, in the key, and in what is written for elsewhere."""
    root, until = tmp_path / "root", ("--until", "torch.fetch")
    source = root / "src/torch/third_party/torch-xpu-ops/src/add.cpp"
    assert patched.build(root, *until).result["ran"] == ["torch.fetch"]
    assert source.read_text().count("from_the_profile") == 1
    patches = {patch["source"]: patch for patch in json.loads((root / "manifest.json").read_text())["patches"]}
    told = patches["torch-xpu-ops"]
    assert told["file"] == "fixes/318.patch"
    assert patched.build(root, *until).result["ran"] == []
    assert patched.call("emit shell", "--out", tmp_path / "elsewhere").returncode == 0
    name = f"torch-xpu-ops-318-{told['sha256']}.patch"
    carried = (tmp_path / "elsewhere/helpers/patches" / name).read_text()
    assert carried == (patched.profile.parent / "fixes/318.patch").read_text()
    append(patched.profile.parent / "fixes/318.patch", "\n")
    assert patched.build(root, *until).result["ran"] == ["torch.fetch"]
    assert source.read_text().count("from_the_profile") == 1


@pytest.mark.long
def test_what_a_profile_patches_is_in_the_library(patched: Stand, tmp_path: Path) -> None:
    patched.build(tmp_path / "root", "--until", "torch.install").result["ran"]
    grep = ("grep", "-rl", "from_the_profile", str(tmp_path / "root/venv/lib"))
    found = subprocess.run(grep, capture_output=True, check=True)
    assert b"libtorch_xpu.so" in found.stdout


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--source", "torch=/no/such"), "there is no folder /no/such"),
        (("--source", "torch"), "is not COMPONENT=DIR"),
        (("--patch", "torch=/no/such"), "there is no patch"),
        (("--source", "nosuch=."), "this profile has no source 'nosuch'"),
        (("--target", "c10", "--only", "vision"), "vision has no build by CMake"),
    ],
)
def test_refused(stand: Stand, tmp_path: Path, words: tuple[str, ...], said: str) -> None:
    run_git(tmp_path, "init", "--quiet")
    done = stand.call("plan", "--root", tmp_path / "root", *[word.replace("=.", f"={tmp_path}") for word in words])
    assert (done.returncode, said in done.stderr) == (2, True), done.stderr
