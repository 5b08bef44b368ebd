"""Every release that ships, built whole against stand-ins with its own rules; and each rule, when it is broken."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from standins.eras import PROFILES, rules_of, run, runtime_of, triton_of
from standins.releases import RELEASES
from standins.repository import run_git, write_text
from standins.upstreams import TORCH
from xpusetup.config.load import parse_profile

if TYPE_CHECKING:
    from pathlib import Path

    from standins.eras import Built, Eras, Stand

pytestmark = pytest.mark.e2e
WHOLE_ELSEWHERE = {"torch-2.5", "torch-2.14"}
"""In test_eras.py, where torch-2.5 stands for all of them in CI; all plans are golden files."""


def group(name: str) -> pytest.MarkDecorator:
    """Keep the tests of a release on the worker that built it."""
    return pytest.mark.xdist_group(f"release-{name}")


NAMES = [
    pytest.param(name, marks=group(name))
    for name in (f"torch-{release}" for release in RELEASES)
    if name not in WHOLE_ELSEWHERE
]
OLD_GCC = """#!/bin/sh
case "$1" in
  --version | -dumpfullversion) echo "{0} (Debian 10.2.1-6) 10.2.1 20210110"; exit ;;
esac
exec /usr/bin/{0} -U__GNUC__ -D__GNUC__=10 -U__GNUC_MINOR__ -D__GNUC_MINOR__=2 "$@"
"""
TRITON = """[[components]]
kind = "source"
name = "triton"
distribution = "pytorch-triton-xpu"
version = "{version}"
repo = "https://github.com/intel/intel-xpu-backend-for-triton"
tag = "v{version}"
rev = "{rev}"
source = "a stand-in"
confidence = "confirmed"
frontend = "setup.py"
directory = "{directory}"
environment.TRITON_WHEEL_NAME = "pytorch-triton-xpu"

"""


@pytest.mark.long
@pytest.mark.parametrize("name", NAMES)
def test_a_release_becomes_its_wheels(eras: Eras, name: str) -> None:
    rules, built = rules_of(name), eras.built(name)
    wheels = {wheel["name"]: wheel["version"] for wheel in built.result["wheels"]}
    expected = {"torch": rules.torch, "torchvision": rules.vision, "torchaudio": rules.audio}
    ours = {name: version for name, version in wheels.items() if "triton" not in name}
    assert ours == {name: f"{version}+xpu" for name, version in expected.items()}
    triton = {version for name, version in wheels.items() if "triton" in name}
    assert triton == {triton_of(name)}
    inspected = built.read("results/torch.inspect.json")
    levels = {check["id"]: check["level"] for check in inspected["checks"]}
    assert {levels[f"wheel.{check}"] for check in ("version", "tags", "xpu", "abi", "arch", "rpath")} == {"ok"}
    runtime = {requirement for requirement in inspected["requires"] if "sycl" in requirement}
    assert runtime == (set() if name == "torch-2.4" else {f"intel-sycl-rt=={runtime_of(name)}"})


def changed(eras: Eras, name: str, folder: Path, *changes: tuple[str, str]) -> Stand:
    """Give a stand whose profile breaks a rule of its release."""
    stand = eras.stand(name)
    text = stand.profile.read_text()
    for old, new in changes:
        assert old in text, old
        text = text.replace(old, new)
    write_text(folder / stand.profile.name, text)
    return replace(stand, profile=folder / stand.profile.name)


def configure(eras: Eras, name: str, stand: Stand, *args: str, **more: str) -> Built:
    """Configure in the root that was built whole, or begin one."""
    return stand.build(eras.built(name).root, "--until", "torch.configure", *args, **more)


@pytest.mark.long
@group("torch-2.4")
def test_the_first_release_takes_the_new_abi_alone(eras: Eras) -> None:
    name = "torch-2.4"
    built = configure(eras, name, eras.stand(name), "--set", "torch._GLIBCXX_USE_CXX11_ABI=0")
    assert "XPU is supported with the new C++11 ABI alone" in built.failure


@pytest.mark.long
@group("torch-2.8")
def test_a_script_that_is_not_sourced(eras: Eras, tmp_path: Path) -> None:
    stand = changed(eras, "torch-2.8", tmp_path, ('  "ccl/latest/env/vars.sh",\n', ""))
    assert "CCL_ROOT is not set" in configure(eras, "torch-2.8", stand).failure


@pytest.mark.long
@group("torch-2.8")
def test_a_cmake_that_is_too_old(eras: Eras, tmp_path: Path) -> None:
    old = ("cmake==3.31.6", "cmake==3.26.4")
    refused = configure(eras, "torch-2.8", changed(eras, "torch-2.8", tmp_path / "told", old))
    assert refused.code == 2
    assert "cmake==3.26.4 is not the >=3.27 that this release takes" in refused.document["error"]["message"]
    silent = changed(eras, "torch-2.8", tmp_path / "silent", old, ('cmake = ">=3.27"\n', ""))
    assert "CMake 3.27 or higher is required" in configure(eras, "torch-2.8", silent).failure


@pytest.mark.long
@group("torch-2.9")
def test_requirements_in_a_file_of_their_own(eras: Eras, tmp_path: Path) -> None:
    stand = changed(eras, "torch-2.9", tmp_path, ("setuptools==79.0.1", "setuptools==80.10.2"))
    failure = configure(eras, "torch-2.9", stand).failure
    assert "requirements-build.txt asks for setuptools<80.0,>=70.1.0, and 80.10.2 is installed" in failure


@pytest.mark.long
@group("torch-2.10")
def test_sycl_tla_would_be_downloaded(eras: Eras, tmp_path: Path) -> None:
    stand = changed(eras, "torch-2.10", tmp_path, ('define = "FETCHCONTENT_SOURCE_DIR_REPO-SYCL-TLA"\n', ""))
    assert "sycl-tla" in configure(eras, "torch-2.10", stand).failure


def old_gcc(folder: Path) -> str:
    """Give a PATH on which GCC is 10.2."""
    for name in ("gcc", "g++"):
        write_text(folder / name, OLD_GCC.format(name))
        (folder / name).chmod(0o755)
    return f"{folder}:/usr/local/bin:/usr/bin:/bin"


@pytest.mark.long
@group("torch-2.12")
def test_a_gcc_that_is_too_old(eras: Eras, tmp_path: Path) -> None:
    """The build does not begin; the tree itself refuses it too, where a step is run by hand."""
    name, path = "torch-2.12", old_gcc(tmp_path)
    refused = configure(eras, name, eras.stand(name), PATH=path)
    assert refused.code == 3
    assert "10.2.1" in str(refused.document["error"])
    script = eras.built(name).root / "steps/torch.configure.sh"
    by_hand = run(("bash", str(script)), eras.stand(name).environment(PATH=path, XPUSETUP_FORCE="1"), tmp_path)
    assert by_hand.returncode != 0
    assert "GCC-11.3 or newer is required" in by_hand.stdout + by_hand.stderr


@pytest.mark.long
@group("torch-2.11")
def test_the_same_gcc_serves_the_release_before(eras: Eras, tmp_path: Path) -> None:
    name = "torch-2.11"
    assert configure(eras, name, eras.stand(name), PATH=old_gcc(tmp_path)).code == 0


def with_triton(eras: Eras, name: str, folder: Path, directory: str) -> Stand:
    """Give a stand that builds Triton from source, whose setup.py is looked for in `directory`."""
    stand = eras.stand(name)
    part = TRITON.format(version=rules_of(name).triton, rev=stand.upstreams.revs["triton"], directory=directory)
    shipped = re.compile(r'\[\[components\]\]\nkind = "\w+"\nname = "triton"\n.*?(?=\[\[components)', re.DOTALL)
    text, count = shipped.subn(part, stand.profile.read_text())
    assert count == 1
    write_text(folder / stand.profile.name, text)
    return replace(stand, profile=folder / stand.profile.name)


def refuse_setup(stand: Stand, root: Path) -> None:
    refused = stand.build(root, "--only", "triton")
    assert refused.document["result"]["failed"] == "triton.build"


@pytest.mark.long
@group("torch-2.8")
def test_triton_is_set_up_at_the_root(eras: Eras, tmp_path: Path) -> None:
    name = "torch-2.8"
    root = eras.built(name).root
    refuse_setup(with_triton(eras, name, tmp_path / "wrong", "python"), root)
    built = with_triton(eras, name, tmp_path / "right", ".").build(root, "--only", "triton").result
    found = {wheel["name"]: wheel["version"] for wheel in built["wheels"]}
    assert ("triton.build" in built["ran"], found["pytorch-triton-xpu"]) == (True, rules_of(name).triton)


@pytest.mark.long
@group("torch-2.4")
def test_triton_is_set_up_in_python_before(eras: Eras, tmp_path: Path) -> None:
    stand = changed(eras, "torch-2.4", tmp_path, ('directory = "python"', 'directory = "."'))
    refuse_setup(stand, eras.built("torch-2.4").root)


def test_the_moving_profile_is_pinned_with_the_parts_that_torch_names(eras: Eras, tmp_path: Path) -> None:
    stand = replace(eras.stand("torch-2.14"), profile=PROFILES / "main.toml")
    done = stand.call("profiles lock", "--out", tmp_path / "locked.toml")
    assert done.returncode == 0, done.stderr
    parts = {part.name: part for part in parse_profile((tmp_path / "locked.toml").read_text(), "x").components}
    revs, upstreams = {name: getattr(part, "rev", None) for name, part in parts.items()}, stand.upstreams
    assert revs["torch"] == run_git(upstreams.repos[TORCH], "rev-parse", "main") != upstreams.revs["torch"]
    assert (revs["vision"], revs["audio"]) == (upstreams.revs["torchvision"], upstreams.revs["torchaudio"])
    triton = parts["triton"]
    assert triton.kind == "wheel"
    assert triton.version == f"3.8.0+git{upstreams.revs['triton'][:8]}"
    assert triton.index == triton.nightly
