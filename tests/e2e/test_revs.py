"""Any ref: a branch with pins of its own, one that moves on, what has no such ref, and the lock as a file."""

from __future__ import annotations

import shutil
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from standins.eras import run, xpusetup
from standins.repository import run_git, write_text
from standins.upstreams import AUDIO, TORCH, TORCH_XPU_OPS, VISION
from standins.wheels import pack_wheel

if TYPE_CHECKING:
    from pathlib import Path

    from standins.eras import Eras, Stand

pytestmark = [pytest.mark.e2e, pytest.mark.xdist_group("eras-2.14")]
NAME = "torch-2.14"
BRANCH = ("--rev", "torch=feature/new-ops")


@pytest.fixture(scope="module")
def stand(eras: Eras, tmp_path_factory: pytest.TempPathFactory) -> Stand:
    """Give the stand of 2.14 with upstreams of its own, in which torch has a branch that names other parts."""
    old, base = eras.stand(NAME), tmp_path_factory.mktemp("revs")
    repos = {url: shutil.copytree(path, base / path.name) for url, path in old.upstreams.repos.items()}
    stand = replace(old, base=base, upstreams=replace(old.upstreams, base=base, repos=repos))
    shutil.copytree(old.base / "links", base / "links")
    commit(stand, "feature/new-ops", "CHANGED", "one")
    triton = read(stand, TORCH, "feature/new-ops", ".ci/docker/ci_commit_pins/triton-xpu.txt").strip()
    pack_wheel(base / "links", "triton-xpu", f"3.9.0+git{triton[:8]}", {"triton/__init__.py": b"backend = 'xpu'\n"})
    return stand


def tip(stand: Stand, url: str) -> str:
    return run_git(stand.upstreams.repos[url], "rev-parse", "main")


def read(stand: Stand, url: str, rev: str, path: str) -> str:
    return run_git(stand.upstreams.repos[url], "show", f"{rev}:{path}")


def commit(stand: Stand, branch: str, name: str, text: str) -> str:
    """Put a commit on a branch of torch whose tree names the tips of torch-xpu-ops, vision and audio."""
    bare = stand.upstreams.repos[TORCH]
    tree = stand.base / "tree"
    run_git(stand.base, "clone", "--quiet", "--no-local", str(bare), str(tree))
    known = branch in run_git(bare, "branch", "--format=%(refname:short)").split()
    run_git(tree, "checkout", "--quiet", *(() if known else ("-b",)), branch, *(() if known else ("v2.14.1",)))
    pins = {"third_party/xpu.txt": TORCH_XPU_OPS, ".github/ci_commit_pins/vision.txt": VISION}
    pins[".github/ci_commit_pins/audio.txt"] = AUDIO
    texts = {path: f"{tip(stand, url)}\n" for path, url in pins.items()}
    texts |= {"version.txt": "2.15.0a0\n", ".ci/docker/triton_xpu_version.txt": "3.9.0\n", name: text}
    for path, content in texts.items():
        write_text(tree / path, content)
    run_git(tree, "add", "--all")
    run_git(tree, "commit", "--quiet", "--message", text)
    run_git(tree, "push", "--quiet", "origin", branch)
    rev = run_git(tree, "rev-parse", "HEAD")
    shutil.rmtree(tree)
    return rev


def head(root: Path, name: str) -> str:
    return run_git(root / "src" / name, "rev-parse", "HEAD")


@pytest.mark.long
def test_a_branch_is_built_with_its_own_pins(stand: Stand, tmp_path: Path) -> None:
    built = stand.build(tmp_path / "root", *BRANCH)
    wheels = {wheel["name"]: wheel["version"] for wheel in built.result["wheels"]}
    rev = run_git(stand.upstreams.repos[TORCH], "rev-parse", "feature/new-ops")
    triton = read(stand, TORCH, rev, ".ci/docker/ci_commit_pins/triton-xpu.txt")
    assert wheels == {
        "torch": f"2.15.0a0+xpu.git{rev[:9]}",
        "triton-xpu": f"3.9.0+git{triton[:8]}",
        "torchvision": f"0.29.1a0+xpu.git{tip(stand, VISION)[:9]}",
        "torchaudio": f"2.11.0a0+xpu.git{tip(stand, AUDIO)[:9]}",
    }
    for name, url in {"torch/third_party/torch-xpu-ops": TORCH_XPU_OPS, "vision": VISION, "audio": AUDIO}.items():
        assert head(built.root, name) == tip(stand, url)
    assert f"torch feature/new-ops {rev[:9]}" in built.progress
    assert "torch is 2.15 there" in built.progress
    again = stand.build(tmp_path / "root", *BRANCH)
    assert again.result["ran"] == []
    assert f"torch feature/new-ops is at {rev[:9]}" in again.progress


def test_a_branch_that_moves_is_followed_only_when_asked(stand: Stand, tmp_path: Path) -> None:
    root, until = tmp_path / "root", ("--until", "torch.fetch")
    first = commit(stand, "moving", "NEWS", "first")
    stand.build(root, "--rev", "torch=moving", *until)
    write_text(root / "src/torch/torch/lib/left.so", "of the first commit")
    write_text(root / "src/torch/build/kept.o", "of the first commit")
    second = commit(stand, "moving", "NEWS", "second")
    assert stand.build(root, "--rev", "torch=moving", *until).result["ran"] == []
    assert head(root, "torch") == first
    said = stand.call("profiles lock", "--rev", "torch=moving", "--root", root)
    assert said.returncode == 0, said.stderr
    assert second[:9] in said.stdout
    assert stand.build(root, "--rev", "torch=moving", *until).result["ran"] == ["torch.fetch"]
    assert head(root, "torch") == second
    assert not (root / "src/torch/torch/lib/left.so").exists()
    assert (root / "src/torch/build/kept.o").exists()


def test_a_pull_request_a_commit_and_a_server_that_refuses(stand: Stand, tmp_path: Path) -> None:
    rev = commit(stand, "from-a-fork", "NEWS", "request")
    bare = stand.upstreams.repos[TORCH]
    run_git(bare, "update-ref", "refs/pull/7/head", rev)
    run_git(bare, "branch", "-D", "from-a-fork")
    for setting in ("allowAnySHA1InWant", "allowReachableSHA1InWant", "allowTipSHA1InWant"):
        run_git(bare, "config", f"uploadpack.{setting}", "false")
    strict = replace(stand, upstreams=replace(stand.upstreams, refuse_sha=True))
    for ref in ("pr/7", "refs/pull/7/head"):
        root = tmp_path / ref.replace("/", "-")
        strict.build(root, "--rev", f"torch={ref}", "--until", "torch.fetch").result["ran"]
        assert head(root, "torch") == rev


def test_a_lock_as_a_file_is_a_profile(stand: Stand, tmp_path: Path) -> None:
    out = tmp_path / "mine.toml"
    assert stand.call("profiles lock", *BRANCH, "--out", out).returncode == 0
    said = stand.call("profiles lock", *BRANCH, "--out", out)
    assert (said.returncode, "is there already" in said.stderr) == (2, True)
    locked = replace(stand, profile=out)
    checked = run((xpusetup(), "profiles", "check", str(out)), stand.environment(), tmp_path)
    assert (checked.returncode, checked.stdout) == (0, " ✓ torch-2.14: torch, triton, vision, audio\n")
    locked.build(tmp_path / "root", "--until", "torch.fetch")
    assert head(tmp_path / "root", "torch") == run_git(stand.upstreams.repos[TORCH], "rev-parse", "feature/new-ops")


@pytest.mark.parametrize(
    ("rev", "code", "words"),
    [
        ("torch=feature/new-opps", 2, "did you mean feature/new-ops?"),
        ("vision=abcdef1", 2, "is part of a commit's name"),
        ("triton=main", 2, "triton is taken as a ready wheel"),
        ("torch=" + "0" * 40, 3, "git cannot read https://github.com/pytorch/pytorch"),
    ],
)
def test_refs_that_lead_nowhere(stand: Stand, tmp_path: Path, rev: str, code: int, words: str) -> None:
    built = stand.build(tmp_path / "root", "--rev", rev)
    assert (built.code, words in built.document["error"]["message"]) == (code, True), built.document
    assert not (tmp_path / "root").exists()
