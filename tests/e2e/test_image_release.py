"""The whole recipe of a release on a real Ubuntu 24.04, with stand-ins for its sources and for what Intel serves."""

from __future__ import annotations

import subprocess
from typing import TYPE_CHECKING

import pytest

from e2e.images import import_base
from e2e.support import caller, xpusetup
from standins.upstreams import git_environment

if TYPE_CHECKING:
    from pathlib import Path

    from e2e.images import Engine
    from standins.eras import Eras, Stand

pytestmark = [pytest.mark.e2e, pytest.mark.long, pytest.mark.xdist_group("image")]
UBUNTU = "deb [trusted=yes] http://archive.ubuntu.com/ubuntu noble main universe"
TOOLKIT = """#!/usr/bin/env bash
set -eu
mkdir -p /opt/intel
cp -a {oneapi} /opt/intel/oneapi
"""
BUNDLE = """[ -e /opt/intel/oneapi/{bundle}/bin ] || ln -s ../compiler/2024.1/bin /opt/intel/oneapi/{bundle}/bin
"""
RUNTIME = """#!/usr/bin/env bash
set -eu
apt-get update
apt-get install -y --no-install-recommends python3.12
useradd --create-home --uid 1001 xpu
"""
LOADED = """
import torch, torchvision, torchaudio
names = {line.split()[-1] for line in open("/proc/self/maps") if "libsycl.so" in line}
print(torch.__version__, torchvision.__version__, torchaudio.__version__, *names)
"""


@pytest.fixture
def folder(engine: Engine, eras: Eras, tmp_path: Path, name: str) -> tuple[Path, Stand]:
    """Write the image of a re-pinned profile; what would ask Intel's repositories installs stand-ins."""
    stand, base = eras.stand(name), "localhost/noble:base"
    import_base(engine, base, "noble", UBUNTU)
    words = ("--profile", str(stand.profile), "--os", "ubuntu-24.04", "--dialect", "portable", "--base", base)
    said = xpusetup("dockerfile", *words, "-o", str(tmp_path / "out"), env=caller(tmp_path / "home"))
    assert said.code == 0, said.err
    toolkit = TOOLKIT.format(oneapi=stand.oneapi)
    toolkit += BUNDLE.format(bundle="pytorch-gpu-dev-0.5") if name == "torch-2.5" else ""
    for script, text in {"driver": "exit 0\n", "toolkit": toolkit, "runtime": RUNTIME}.items():
        assert (tmp_path / f"out/system/{script}.sh").exists()
        (tmp_path / f"out/system/{script}.sh").write_text(text)
    return tmp_path / "out", stand


def write_settings(stand: Stand, engine: Engine, place: Path) -> tuple[str, ...]:
    """Give the options that let git and pip find the stand-ins, and pip the rest where it always is."""
    environment = git_environment(stand.upstreams)
    number = int(environment["GIT_CONFIG_COUNT"])
    for each in range(number):
        name, value = (environment[f"GIT_CONFIG_{part}_{each}"] for part in ("KEY", "VALUE"))
        subprocess.run(("git", "config", "--file", place / "gitconfig", "--add", name, value), check=True)
    subprocess.run(("git", "config", "--file", place / "gitconfig", "safe.directory", "*"), check=True)
    text = (engine.place / "pip.conf").read_text().splitlines()
    plain = [line for line in text if not line.startswith("find-links")]
    (place / "pip.conf").write_text("\n".join([*plain, f"find-links = {stand.base}/links", ""]))
    files = {"pip.conf": place, "gitconfig": place, "ca.crt": engine.place}
    secrets = [word for name, where in files.items() for word in ("--secret", f"id={name},src={where}/{name}")]
    folders = {stand.base, stand.upstreams.base, stand.oneapi}
    return (*secrets, *(word for path in sorted(map(str, folders)) for word in ("-v", f"{path}:{path}")))


@pytest.mark.parametrize(
    ("name", "versions", "runtime"),
    [
        ("torch-2.5", ["2.5.1+xpu", "0.20.1+xpu", "2.5.1+xpu"], "/opt/intel/oneapi/"),
        ("torch-2.14", ["2.14.1+xpu", "0.29.1+xpu", "2.11.0+xpu"], "/opt/xpusetup/venv/lib/"),
    ],
)
def test_every_layer(
    engine: Engine, folder: tuple[Path, Stand], tmp_path: Path, name: str, versions: list[str], runtime: str
) -> None:
    """Nothing is switched on where it runs, and the library of SYCL is found all the same.

    Layers that compile get none of the settings by which sources are found here, and ask for nothing.
    """
    out, stand = folder
    image = f"localhost/{name}"
    built = engine("bud", "--layers=false", *write_settings(stand, engine, tmp_path), "-t", image, str(out))
    assert "git asked for" not in built.out + built.err
    said = engine.run(image, "env", "-u", "LD_LIBRARY_PATH", "python", "-c", LOADED)
    assert said.out.split()[:3] == versions
    assert said.out.split()[3].startswith(runtime)
    verdict = engine.run(image, "/opt/xpusetup/entry.sh", check=False)
    assert verdict.code in {1, 4}, verdict.out  # a stand-in has no device, and little of torch
