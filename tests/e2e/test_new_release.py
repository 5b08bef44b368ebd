"""A release's profile from a checkout with tags, read by the real git, and from wheels, read by the real pip."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pytest

from data.upstream import REPLAYS
from e2e.support import xpusetup
from standins.repository import run_git
from standins.wheels import pack_wheel
from xpusetup.config.shipped import load_profile
from xpusetup.config.upstream import OPS

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.e2e
COMMIT = "b" * 40


@dataclass(frozen=True)
class Upstream:
    """A checkout of the torch tree with torch-xpu-ops in it, and the index of that day, as a folder of wheels."""

    checkout: Path
    rev: str
    ops: str
    env: dict[str, str]


def commit(folder: Path, files: dict[str, str], *tags: str) -> str:
    """Commit some files, with tags; the first of them annotated."""
    for path, text in files.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text)
    run_git(folder, "init", "-q", "-b", "main")
    run_git(folder, "add", *files)
    run_git(folder, "commit", "-q", "-m", "files")
    for number, tag in enumerate(tags):
        run_git(folder, "tag", *(["-a", "-m", tag] if number == 0 else []), tag)
    return run_git(folder, "rev-parse", "HEAD")


@pytest.fixture
def upstream(tmp_path: Path) -> Upstream:
    told = {**REPLAYS["2.14"].files(), "version.txt": "2.16.0a0\n"}
    checkout, index = tmp_path / "pytorch", tmp_path / "wheels"
    (checkout / OPS).mkdir(parents=True)
    own = {path.removeprefix(f"{OPS}/"): text for path, text in told.items() if path.startswith(OPS)}
    ops = commit(checkout / OPS, own)
    files = {path: text for path, text in told.items() if not path.startswith(OPS)} | {
        "third_party/xpu.txt": f"{ops}\n"
    }
    rev = commit(checkout, files, "v2.16.1", "v2.16.0", "v2.16.2-rc1")
    version = {"torch/version.py": f"git_version = '{COMMIT}'\n".encode()}
    pack_wheel(index, "torch", "2.16.1+xpu", version, ("triton-xpu==3.8.0", "intel-sycl-rt==2026.1.0"))
    pack_wheel(index, "torchvision", "0.31.0", {}, ("torch==2.16.1",))
    home = {"HOME": str(tmp_path), "PATH": os.environ["PATH"], "LANG": "C.UTF-8"}
    blocked = {
        "GIT_CONFIG_COUNT": "1",
        "GIT_CONFIG_KEY_0": "url.file:///nowhere/.insteadOf",
        "GIT_CONFIG_VALUE_0": "https://",
    }
    pip = {"PIP_FIND_LINKS": str(index), "PIP_NO_INDEX": "1", "PIP_DISABLE_PIP_VERSION_CHECK": "1"}
    return Upstream(checkout, rev, ops, {**home, **pip, **blocked})


def test_a_release_from_a_checkout_and_an_index(upstream: Upstream, tmp_path: Path) -> None:
    words = ("profiles", "new", "--release", "2.16", "--source", str(upstream.checkout), "--json")
    said = xpusetup(*words, env=upstream.env, cwd=tmp_path)
    assert said.code == 0, said.err + said.out
    told = json.loads(said.out)["result"]
    pins = {pin["pin"]: pin for pin in told["pins"]}
    assert (told["release"], pins["torch.rev"]["now"], pins["torch.rev"]["confidence"]) == (
        "2.16.1+xpu",
        upstream.rev,
        "confirmed",
    )
    assert pins["torch-xpu-ops.rev"]["now"] == upstream.ops
    assert pins["arch.default"]["confidence"] == "confirmed"
    assert pins["vision.version"]["now"] == "0.31.0+xpu"
    assert "torch-2.16.1+xpu-py3-none-any.whl" in pins["triton.version"]["source"]
    assert "which commit oneDNN's v3.12.3 is was not to be seen" in " ".join(told["notes"])
    profile = load_profile(str(tmp_path / "torch-2.16.toml"))
    assert profile.published
    assert profile.published.confidence == "likely"
    missing = xpusetup(*words[:3], "2.17", *words[4:], env=upstream.env, cwd=tmp_path)
    error = json.loads(missing.out)["error"]
    assert "has no tag v2.17.* (of 2.17 it has none)" in error["message"]
    assert error["fix"].endswith("fetch --tags origin")
