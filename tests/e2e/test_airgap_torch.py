"""A bundle of a torch release: stand-in sources with submodules, vendored sources, run-time libraries, no toolkit."""

from __future__ import annotations

import json
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

from standins.eras import run
from standins.repository import run_git
from standins.upstreams import ASMJIT, SYCL_TLA, TORCH
from xpusetup.bundle import without_network

if TYPE_CHECKING:
    from pathlib import Path

    from standins.eras import Eras

pytestmark = [pytest.mark.e2e, pytest.mark.long, pytest.mark.xdist_group("eras-2.14")]
NAME = "torch-2.14"


def test_a_release_from_a_bundle(eras: Eras, tmp_path: Path) -> None:
    """Created where there is no toolkit; built without a network to the wheels of the build that had one."""
    stand, online = eras.stand(NAME), eras.built(NAME).result
    bundle, root = tmp_path / "torch.tar", tmp_path / "gathering"
    done = stand.call("bundle create", bundle, "--root", root, "--json", ONEAPI_ROOT=str(tmp_path / "none"))
    assert done.returncode == 0, done.stderr
    created = json.loads(done.stdout)["result"]
    addresses = {each["address"].removesuffix(".git") for each in created["repositories"]}
    assert {TORCH, ASMJIT, SYCL_TLA} <= addresses
    assert any(name.startswith("intel_sycl_rt-") for name in created["wheels"])
    assert any(name.startswith("triton_xpu-") for name in created["wheels"])
    verified = run((sys.executable, "-m", "xpusetup", "bundle", "verify", str(bundle), "--json"), {}, tmp_path)
    assert json.loads(verified.stdout)["result"]["missing"] == []
    plain = {name: value for name, value in stand.environment().items() if not name.startswith(("GIT_", "PIP_", "UV_"))}
    words = ("build", "--bundle", str(bundle), "--profile", str(stand.profile), "--root", str(tmp_path / "root"))
    program = (sys.executable, "-I", str(without_network.__file__), "xpusetup", *words, "--json")
    env = {**plain, "XDG_CACHE_HOME": str(tmp_path / "cache"), "PATH": f"{sys.prefix}/bin:{plain['PATH']}"}
    built = subprocess.run(program, check=False, capture_output=True, text=True, env=env, cwd=tmp_path)
    assert built.returncode == 0, built.stdout[-3000:] + built.stderr
    result = json.loads(built.stdout)["result"]
    assert result["reached_out"] == []
    shas = [{wheel["name"]: wheel["sha256"] for wheel in each["wheels"]} for each in (result, online)]
    assert shas[0] == shas[1]
    assert run_git(tmp_path / "root/src/torch", "rev-parse", "HEAD") == stand.upstreams.revs["torch"]
