"""A small stack of real members where stacks are used: in an image, built and installed, and on Slurm.

Its members are those of `stack-cpu` that take least: two wheels, and one extension in C++ from its source.
"""

from __future__ import annotations

import subprocess
from typing import TYPE_CHECKING

import pytest

from e2e.cluster import start_cluster
from e2e.images import emit_image
from e2e.support import CHECKOUT, caller, xpusetup

if TYPE_CHECKING:
    from pathlib import Path

    from e2e.images import Engine

pytestmark = [pytest.mark.e2e, pytest.mark.long]

WHEELS = ("safetensors", "einops")
SOURCE = "spline-conv"
ROOT = "/opt/xpusetup"
HEAD = "\n[[members]]\n"
SITE = """
[scheduler]
gpu_partition = "gpu"
gres = "gpu:xpu:1"
cpus = 1
memory_gib = 2
verify_cpus = 1
verify_memory_gib = 2
scratch = "{folder}/node"
nodes = 1
"""
COMPUTE = """
import torch, torch_spline_conv, einops, safetensors.torch
assert torch.__version__ == "2.13.0+cpu"
print(einops.reduce(torch.ones(2, 3), "a b -> a", "sum").tolist(), hasattr(torch.ops.torch_spline_conv, "spline_basis"))
"""


def write_stack(folder: Path, *names: str) -> Path:
    """Write a stack of these members of the shipped one."""
    head, *members = (CHECKOUT / "stacks/stack-cpu.toml").read_text().split(HEAD)
    kept = [each for each in members if each.partition('name = "')[2].partition('"')[0] in names]
    assert len(kept) == len(names)
    path = folder / "small.toml"
    path.write_text(HEAD.join([head.replace('name = "stack-cpu"', 'name = "small"'), *kept]))
    return path


def results(engine: Engine, image: str, *names: str) -> list[str]:
    """Give what the proofs in an image say."""
    paths = [f"{ROOT}/results/{name}.proof.json" for name in names]
    return engine.run(image, "grep", "-ho", '"proven": [a-z]*', *paths).out.split("\n")[: len(names)]


@pytest.mark.xdist_group("image")
def test_it_is_built_in_an_image(engine: Engine, system: str, tmp_path: Path) -> None:
    """`build --stack` as layers: the extension is compiled there, and every member proved before the image is done."""
    assert system
    folder = emit_image(str(write_stack(tmp_path, *WHEELS, SOURCE)), tmp_path / "out")
    engine.build(folder, "localhost/stack")
    said = engine.run("localhost/stack", "python", "-c", COMPUTE)
    assert said.out == "[3.0, 3.0] True\n"
    assert results(engine, "localhost/stack", "einops", SOURCE) == ['"proven": true'] * 2


@pytest.mark.xdist_group("image")
def test_it_is_installed_in_an_image(engine: Engine, system: str, tmp_path: Path) -> None:
    """`install --stack` as layers: wheels alone, each held against torch and proved."""
    assert system
    folder = emit_image(str(write_stack(tmp_path, *WHEELS)), tmp_path / "out", "--from", "wheels")
    engine.build(folder, "localhost/wheels")
    assert results(engine, "localhost/wheels", "safetensors", "einops") == ['"proven": null', '"proven": true']


@pytest.mark.xdist_group("slurm")
@pytest.mark.parametrize(("origin", "members"), [("source", (*WHEELS, SOURCE)), ("wheels", WHEELS)])
def test_by_a_scheduler(tmp_path: Path, origin: str, members: tuple[str, ...]) -> None:
    home, out = tmp_path / "home", tmp_path / "out"
    env = caller(home)
    (home / ".config/xpusetup").mkdir(parents=True)
    (home / ".config/xpusetup/site.toml").write_text(SITE.format(folder=tmp_path))
    words = ("--stack", str(write_stack(tmp_path, *members)), "--from", origin, "-o", str(out))
    said = xpusetup("emit", "slurm", *words, env=env)
    assert said.code == 0, said.err
    with start_cluster(tmp_path / "slurm") as cluster:
        for name in ("fetch.sh", "submit.sh"):
            done = subprocess.run(
                ("bash", name), cwd=out, env={**env, **cluster.env}, check=False, capture_output=True, text=True
            )
            assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
        cluster.wait(seconds=3600)
    (row,) = xpusetup("status", "--root", str(out), "--json", env=env).result["builds"]
    assert row["verified"] is True
    found = xpusetup("status", "--root", str(out / row["name"]), "--json", env=env).result["members"]
    proofs = {each["name"]: (each["how"], each["proven"]) for each in found}
    assert proofs == {
        each: ("source" if each == SOURCE else "wheel", each != "safetensors" or None) for each in members
    }
