"""What the build itself clones in the middle of a compile: it comes from what was fetched, whatever names it."""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from e2e.support import by_name, kill_all
from standins.eras import can_be_taken_away, rules_of
from standins.git_server import serve
from standins.repository import run_git, write_text
from standins.upstreams import IDEEP, MKL_DNN, ONEDNN, TORCH

if TYPE_CHECKING:
    from collections.abc import Iterator

    from standins.eras import Eras, Stand
    from standins.git_server import GitServer

pytestmark = [pytest.mark.e2e, pytest.mark.xdist_group("eras-2.14")]
NAME = "torch-2.14"
FIND = "cmake/Modules/FindMKLDNN.cmake"
CLONE = "build/xpu_mkldnn_proj-prefix/src/xpu_mkldnn_proj"
TORCH_ALONE = ("--until", "torch.build")
HELD = """#!/bin/sh
# What git calls to pack objects for a clone; it hangs until the folder is gone.
touch "{folder}/began"
while [ -e "{folder}" ]; do sleep 0.05; done
exec "$@"
"""


def libraries(root: Path) -> bytes:
    """Give the library that oneDNN is linked into, as it lies in the built tree."""
    (found,) = [path for path in (root / "src/torch").rglob("libtorch_xpu.so") if "CMakeFiles" not in path.parts][:1]
    return found.read_bytes()


def without_item(stand: Stand, folder: Path) -> Stand:
    """Give the stand with a profile that does not name what the build clones."""
    text, count = re.subn(
        r'\[\[components\.vendored\]\]\nname = "onednn"\n.*?\n\n', "", stand.profile.read_text(), flags=re.DOTALL
    )
    assert count == 1
    write_text(folder / stand.profile.name, text)
    return replace(stand, profile=folder / stand.profile.name)


def tree_of(stand: Stand, folder: Path, tag: str, url: str = "") -> Path:
    """Clone torch into a tree of one's own in which the build clones oneDNN at another tag, and commit that."""
    if not folder.exists():
        env = stand.environment()
        run = ("git", "clone", "--quiet", "--recurse-submodules", "-b", f"v{rules_of(NAME).torch}", TORCH, str(folder))
        subprocess.run(run, env=env, check=True, capture_output=True)
    text = re.sub(r"GIT_TAG \S+", f"GIT_TAG {tag}", (folder / FIND).read_text())
    text = re.sub(r"GIT_REPOSITORY \S+", f"GIT_REPOSITORY {url}", text) if url else text
    write_text(folder / FIND, text)
    run_git(folder, "commit", "--quiet", "--all", "--message", tag)
    return folder


@pytest.fixture
def own(eras: Eras, tmp_path: Path) -> Stand:
    """Give the stand of 2.14 with a oneDNN of its own that may be changed."""
    stand = eras.stand(NAME)
    repos = dict(stand.upstreams.repos)
    repos[ONEDNN] = shutil.copytree(repos[ONEDNN], tmp_path / "upstreams/oneDNN.git")
    repos[TORCH] = shutil.copytree(repos[TORCH], tmp_path / "upstreams/torch.git")
    upstreams = replace(stand.upstreams, base=tmp_path / "upstreams", repos=repos)
    return replace(stand, upstreams=upstreams)


@pytest.fixture(scope="module")
def server(eras: Eras, tmp_path_factory: pytest.TempPathFactory) -> Iterator[GitServer]:
    folder = tmp_path_factory.mktemp("server")
    shutil.copytree(eras.stand(NAME).upstreams.repos[ONEDNN], folder / "oneDNN")
    with serve(folder) as found:
        yield found


@pytest.mark.long
def test_the_release_is_built_with_what_was_fetched(eras: Eras) -> None:
    built = eras.built(NAME)
    rev = eras.stand(NAME).upstreams.revs["oneDNN"]
    assert built.result["reached_out"] == []
    assert rev.encode() in libraries(built.root)
    assert run_git(built.root / "src/torch" / CLONE, "config", "remote.origin.url") == ONEDNN


@pytest.mark.long
def test_it_would_be_cloned(eras: Eras, tmp_path: Path) -> None:
    """Where nothing was fetched for it and there is no network: the step, the address and what to do are named."""
    if not can_be_taken_away():
        pytest.skip("the network cannot be taken away here: it might be cloned from afar")
    stand, root = without_item(eras.stand(NAME), tmp_path), eras.trial(NAME)
    failed = stand.build(root, *TORCH_ALONE)
    assert failed.code == 1, failed.document
    (row,) = failed.document["result"]["reached_out"]
    assert (row["step"], row["addresses"]) == ("torch.build", [ONEDNN])
    assert row["times"] > 0
    said = " ".join(stand.call("build", "--root", root, *TORCH_ALONE).stdout.split())
    assert f"torch.build asked for {ONEDNN}, which was not fetched for it" in said
    assert "[[components.vendored]]" in said
    built = eras.stand(NAME).build(root, *TORCH_ALONE)
    assert "torch.build" in built.result["ran"]


def test_a_clone_that_goes_well_is_counted_too(eras: Eras, server: GitServer, tmp_path: Path) -> None:
    """A network that answers hides nothing: the build passes, and says what it took."""
    stand = without_item(eras.stand(NAME), tmp_path)
    home = tmp_path / "home"
    write_text(home / ".gitconfig", f'[url "{server.address}"]\n\tinsteadOf = https://github.com/uxlfoundation/\n')
    env = {"HOME": str(home), "PATH": f"{Path(sys.executable).parent}:/usr/local/bin:/usr/bin:/bin"}
    plain = replace(stand, base=tmp_path / "base")
    shutil.copytree(stand.base / "links", tmp_path / "base/links")
    (tmp_path / "base/held").mkdir()
    write_text(tmp_path / "base/held/bash", '#!/bin/bash -p\nexec /bin/bash "$@"\n')
    (tmp_path / "base/held/bash").chmod(0o755)
    root = eras.trial(NAME)
    shutil.rmtree(root / "src/torch/build/xpu_mkldnn_proj-prefix", ignore_errors=True)  # of the test before
    built = plain.build(root, *TORCH_ALONE, **env)
    assert built.code == 0, built.document
    (row,) = built.document["result"]["reached_out"]
    assert (row["step"], row["addresses"]) == ("torch.build", [f"{server.address}oneDNN"])
    assert row["times"] >= 1


@pytest.mark.long
def test_a_build_that_is_killed_in_the_midst_of_the_clone_goes_on(eras: Eras, tmp_path: Path) -> None:
    stand, hang, home = eras.stand(NAME), tmp_path / "hang", tmp_path / "home"
    hang.mkdir()
    write_text(tmp_path / "pack", HELD.format(folder=hang))
    (tmp_path / "pack").chmod(0o755)
    write_text(home / ".gitconfig", f"[uploadpack]\n\tpackObjectsHook = {tmp_path}/pack\n")
    root = tmp_path / "root"
    assert stand.build(root, "--until", "torch.configure").code == 0
    program = (str(Path(sys.executable).with_name("xpusetup")), "build", "--profile", str(stand.profile))
    with (tmp_path / "log").open("wb") as log:
        words = (*program, "--root", str(root), *TORCH_ALONE)
        env = stand.environment(HOME=str(home))
        process = subprocess.Popen(words, env=env, cwd=tmp_path, stdout=log, stderr=subprocess.STDOUT)
        end = time.monotonic() + 300
        while not (hang / "began").exists() and process.poll() is None and time.monotonic() < end:
            time.sleep(0.02)
    assert (hang / "began").exists(), (tmp_path / "log").read_text()
    assert (root / "src/torch" / CLONE).is_dir()
    kill_all(process)
    shutil.rmtree(hang)
    built = stand.build(root, *TORCH_ALONE, HOME=str(home))
    assert built.result["ran"] == ["torch.build"]
    assert stand.upstreams.revs["oneDNN"].encode() in libraries(root)


@pytest.mark.parametrize("kind", ["commit", by_name("branch"), by_name("tag")])
def test_a_branch_of_torch_that_clones_another(eras: Eras, own: Stand, tmp_path: Path, kind: str) -> None:
    """A lock reads it out of the tree's own file, and the build takes just that, from another address too."""
    bare = own.upstreams.repos[ONEDNN]
    tip = run_git(bare, "rev-parse", "main")
    run_git(bare, "branch", "dev/sdpa", tip)
    run_git(bare, "tag", "v9.0", tip)
    named = {"commit": tip, "branch": "dev/sdpa", "tag": "v9.0"}[kind]
    tree = tree_of(own, tmp_path / "torch", named, "https://github.com/oneapi-src/oneDNN.git")
    run_git(own.upstreams.repos[TORCH], "fetch", "--quiet", str(tree), f"HEAD:refs/heads/{kind}")
    built = own.build(eras.trial(NAME), "--rev", f"torch={kind}", "--only", "torch", *TORCH_ALONE)
    assert "torch.build" in built.result["ran"]
    assert tip.encode() in libraries(built.root)
    assert f"onednn {tip[:9]}" in " ".join(built.progress.split())
    assert (kind == "commit") == (
        run_git(built.root / "src/torch/third_party/onednn", "tag", "--points-at", "HEAD") == ""
    )


@pytest.mark.long
def test_a_tree_of_ones_own_that_clones_another(eras: Eras, own: Stand, tmp_path: Path) -> None:
    """Its clone stays in the build folder and follows, by whatever name; CMake alone would not get it there."""
    bare, pinned, root = own.upstreams.repos[ONEDNN], own.upstreams.revs["oneDNN"], eras.trial(NAME)
    tip = run_git(bare, "rev-parse", "main")
    run_git(bare, "tag", "v9.0", tip)
    for named, rev in (("v9.0", tip), (pinned, pinned), (tip, tip), (rules_of(NAME).onednn, pinned)):
        tree = tree_of(own, tmp_path / "torch", named)
        built = own.build(root, "--source", f"torch={tree}", *TORCH_ALONE)
        assert (built.code, built.document["result"]["reached_out"]) == (0, []), built.document
        assert run_git(tree / "third_party/onednn", "rev-parse", "HEAD") == rev
        assert run_git(tree / CLONE, "rev-parse", "HEAD") == rev
    refused = own.build(root, "--source", f"onednn={tree}")
    assert refused.code == 2
    assert f"name your commit in {FIND}" in str(refused.document["error"])


@pytest.mark.long
@pytest.mark.xdist_group("eras-2.5")
def test_up_to_2_6_it_is_a_submodule_of_a_submodule(eras: Eras) -> None:
    built, stand = eras.built("torch-2.5"), eras.stand("torch-2.5")
    assert not (built.root / "src/torch/third_party/onednn").exists()
    assert IDEEP in stand.upstreams.repos
    assert (
        run_git(built.root / "src/torch/third_party/ideep/mkl-dnn", "rev-parse", "HEAD")
        == stand.upstreams.revs["mkl-dnn"]
    )
    assert MKL_DNN in run_git(built.root / "src/torch/third_party/ideep/mkl-dnn", "config", "remote.origin.url")
    assert stand.upstreams.revs["mkl-dnn"].encode() in libraries(built.root)
