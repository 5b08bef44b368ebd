"""Gaudi's road with stand-ins for what Intel ships: the installer, the bridge with its entry points, libraries of an ABI.

What is shown is how the program deals with them; that they behave as the real ones do was read, and never run.
"""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pytest

from e2e.support import CHECKOUT, Said, caller, xpusetup
from standins.gaudi import PLUGIN, make_device_source, make_installer, pack_light

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = [pytest.mark.e2e, pytest.mark.xdist_group("gaudi")]
STEPS = ["venv", "gaudi.install", "pairing", "guard", "verify.smoke", "verify.lazy"]
NEW, OLD = "_ZN3c104nameERKNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEE", "_ZN3c104nameERKSs"


@dataclass(frozen=True)
class Place:
    """A root, and a caller on whose PATH the installer stands."""

    root: Path
    env: dict[str, str]
    profile: str = "gaudi-1.22"

    def run(self, command: str, *more: str, **variables: str) -> Said:
        """Run a command on the root."""
        options = ("--profile", self.profile, "--root", str(self.root))
        return xpusetup(command, *options, *more, env={**self.env, **variables})


def make_place(folder: Path, *wheels: Path, told: str = "1.22.0-740", **more: str) -> Place:
    """Make a place whose installer brings these wheels and tells this release."""
    there = make_installer(folder / "installer", *wheels, told=told)
    env = caller(folder / "home", **more)
    return Place(folder / "root", {**env, "PATH": f"{there}:{env['PATH']}"})


def compile_library(folder: Path, symbol: str) -> bytes:
    """Compile a library that needs torch's and asks it for a function that takes a std::string of one ABI."""
    (folder / "core.c").write_text(f"void {symbol}(void) {{}}\n")
    (folder / "caller.c").write_text(f"void {symbol}(void);\nvoid call(void) {{ {symbol}(); }}\n")
    gcc = ("gcc", "-shared", "-fPIC", "-o")
    subprocess.run((*gcc, "libc10.so", "core.c", "-Wl,-soname,libc10.so"), cwd=folder, check=True)
    subprocess.run((*gcc, "caller.so", "caller.c", "libc10.so"), cwd=folder, check=True)
    return (folder / "caller.so").read_bytes()


@pytest.fixture(scope="module")
def wheels(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, ...]:
    folder = tmp_path_factory.mktemp("light")
    return pack_light(folder, bridge=compile_library(folder, NEW))


@pytest.fixture(scope="module")
def place(wheels: tuple[Path, ...], tmp_path_factory: pytest.TempPathFactory) -> Place:
    """Install once, without a card."""
    made = make_place(tmp_path_factory.mktemp("gaudi"), *wheels)
    result = made.run("install", "--json", HABANA_SEEN=str(made.root.parent / "seen")).result
    assert (result["ran"], result["failed"], result["verified"]) == (STEPS, None, None)
    return made


def test_the_installer_fills_the_environment_and_the_pair_is_looked_at(place: Place) -> None:
    asked = (place.root.parent / "installer/asked").read_text()
    assert asked == "install --type pytorch --venv -y\n"
    brought = json.loads((place.root / "results/gaudi.json").read_text())
    assert (brought["release"], brought["brought"][PLUGIN]) == ("1.22.0", "1.22.0.740")
    seen = [row["seen"] for row in json.loads((place.root / "results/pairing.json").read_text())["checks"]]
    assert seen[-2:] == [
        "torch 2.7.1+hpu.1.22.0.740.git6dbe0a4: fork",
        "C++ ABI 1: torch and 1 library that call it",
    ]


def test_the_mode_is_set_before_the_bridge_is_imported(place: Place) -> None:
    """Each mode has a process of its own; whatever the caller has set does not reach it."""
    kernels = "/usr/lib/habanalabs/libtpc_kernels.so"
    lines = (place.root.parent / "seen").read_text().splitlines()
    assert [line for line in dict.fromkeys(lines) if line != "None None"] == [f"0 {kernels}", f"1 {kernels}"]
    told = place.run("env", "--json", PT_HPU_LAZY_MODE="1").result["set"]
    assert (told["PT_HPU_LAZY_MODE"], told["GC_KERNEL_PATH"]) == ("0", kernels)


def test_again_nothing_is_done(place: Place) -> None:
    for command in ("install", "build"):
        again = place.run(command, "--json").result
        assert (again["ran"], again["skipped"], again["verified"]) == ([], STEPS, None)


def test_without_a_card_it_is_installed_and_not_verified(place: Place) -> None:
    said = place.run("verify", "--mode", "lazy")
    assert said.code == 4
    assert "there is no Intel Gaudi here" in said.err
    other = place.run("verify", "--mode", "graph")
    assert other.code == 2
    assert "this build has no mode 'graph'" in other.err
    assert "eager, lazy" in other.err


def test_pip_keeps_the_fork_and_a_replaced_one_is_named(place: Place, wheels: tuple[Path, ...]) -> None:
    public = pack_light(place.root.parent / "public", torch="2.7.1")[0]
    pip = (str(place.root / "venv/bin/python"), "-m", "pip", "install", "-q", "--no-index", "--no-deps", str(public))
    refused = subprocess.run(pip, check=False, capture_output=True, text=True, env=place.env)
    assert refused.returncode != 0
    subprocess.run(pip, check=True, capture_output=True, env={**place.env, "PIP_CONSTRAINT": "/dev/null"})
    (row,) = place.run("status", "--json").document["result"]["replaced"]
    assert (row["name"], row["now"]) == ("torch", "2.7.1")
    assert place.run("install", "--json").result["ran"][0] == "gaudi.install"
    assert place.run("status", "--json").result["replaced"] == []
    assert len(wheels) == 2  # noqa: PLR2004 - torch and the bridge


def failure(place: Place, command: str = "install") -> tuple[str, str]:
    """Give the step that failed and its last words."""
    said = place.run(command, "--json")
    assert said.code == 1, said
    result = said.document["result"]
    return result["failed"], " ".join(result["failure"]["last_lines"])


def test_an_installer_of_another_release(wheels: tuple[Path, ...], tmp_path: Path) -> None:
    step, words = failure(make_place(tmp_path, *wheels, told="1.21.3-57"))
    assert step == "gaudi.install"
    assert "is of release 1.21.3, and 1.22.0 is wanted" in words


@pytest.mark.parametrize(
    ("mark", "words"),
    [("fails", "ended with 100"), ("idle", f"did not bring torch, {PLUGIN} into this environment")],
)
def test_an_installer_that_fails_goes_on_where_it_stopped(
    wheels: tuple[Path, ...], tmp_path: Path, mark: str, words: str
) -> None:
    place = make_place(tmp_path, *wheels)
    (tmp_path / f"installer/{mark}").touch()
    assert words in failure(place)[1]
    (tmp_path / f"installer/{mark}").unlink()
    assert place.run("install", "--verify", "off", "--json").result["ran"] == ["gaudi.install", "pairing", "guard"]


def test_libraries_of_the_other_abi_are_named(tmp_path: Path) -> None:
    old = pack_light(tmp_path, bridge=compile_library(tmp_path, NEW), late=compile_library(tmp_path, OLD))
    step, words = failure(make_place(tmp_path / "place", *old))
    assert step == "pairing"
    assert f"C++ ABI 0 in late.so of {PLUGIN} 1.22.0.740, and torch has 1" in words
    assert "_GLIBCXX_USE_CXX11_ABI=1" in words


def test_a_public_torch_where_the_fork_is_wanted(tmp_path: Path) -> None:
    step, words = failure(make_place(tmp_path / "place", *pack_light(tmp_path, torch="2.7.1")))
    assert (step, "torch 2.7.1: public, and wanted is fork" in words) == ("pairing", True)


def test_nothing_to_fetch_it_with(tmp_path: Path) -> None:
    """Offline, without the installer on PATH: it says what to put there."""
    profile = (CHECKOUT / "profiles/gaudi-1.22.toml").read_text()
    own = tmp_path / "own.toml"
    own.write_text(profile.replace("https://vault.habana.ai", "https://127.0.0.1:9"))
    step, words = failure(Place(tmp_path / "root", caller(tmp_path / "home"), str(own)))
    assert step == "gaudi.install"
    assert "put habanalabs-installer.sh on PATH" in words
