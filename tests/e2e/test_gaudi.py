"""Gaudi's road with stand-ins for what Intel ships: installer, bridge with its entry points, libraries of an ABI.

What is shown is how the program deals with them; that they behave as the real ones do was read, and never run.
"""

from __future__ import annotations

import json
import subprocess
import sys
import zipfile
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pytest

from e2e.support import CHECKOUT, Said, caller, xpusetup
from standins.gaudi import PLUGIN, make_installer, pack_light

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
    assert len(wheels) == 2


def run_helper(name: str, *options: str, python: str = sys.executable, **variables: str) -> Said:
    """Run a helper by itself: what it refuses needs no environment of its own."""
    env = {"PATH": "/usr/bin:/bin", **variables}
    command = (python, "-B", str(CHECKOUT / "xpusetup/helpers" / name), *options)
    done = subprocess.run(command, check=False, capture_output=True, text=True, env=env)
    assert "Traceback" not in done.stderr, done.stderr
    return Said(done.returncode, done.stdout, done.stderr)


def install_by_hand(
    folder: Path, *, url: str = "https://127.0.0.1:9/habanalabs-installer.sh", **variables: str
) -> Said:
    """Let the helper run an installer that is on PATH, or is not."""
    options = (
        *(
            "--program",
            "habanalabs-installer.sh",
            "--url",
            url,
            "--into",
            str(folder / "fetched"),
            "--release",
            "1.22.0",
        ),
        *("--record", str(folder / "origins")),
        *("--ask=-v", "--prefix-variable", "HABANALABS_VIRTUAL_DIR", "--prefix", str(folder), "--brings", "torch=2.7"),
        *("--brings", f"{PLUGIN}=1.22.0", "--out", str(folder / "out.json"), "--", "install", "--type", "pytorch"),
    )
    return run_helper("makers_installer.py", *options, **variables)


@pytest.mark.parametrize(
    ("told", "mark", "words"),
    [
        ("1.21.3-57", "", "is of release 1.21.3, and 1.22.0 is wanted"),
        ("1.22.0-740", "fails", "ended with 100"),
        ("no idea", "fails", "ended with 100"),
        ("1.22.0-740", "idle", f"{PLUGIN} into this environment"),
    ],
)
def test_an_installer_that_does_not_do_it(tmp_path: Path, told: str, mark: str, words: str) -> None:
    there = make_installer(tmp_path, told=told)
    (tmp_path / (mark or "nothing")).touch()
    said = install_by_hand(tmp_path, PATH=f"{there}:/usr/bin:/bin")
    assert (said.code, words in " ".join(said.err.split())) == (1, True), said.err
    assert not (tmp_path / "out.json").exists()


def test_an_installer_that_is_fetched(tmp_path: Path) -> None:
    there = make_installer(tmp_path / "server", told="1.20.1-97")
    said = install_by_hand(tmp_path, url=f"file://{there}/habanalabs-installer.sh")
    assert f"{tmp_path}/fetched/1.22.0/habanalabs-installer.sh is of release 1.20.1" in said.err
    assert not (tmp_path / "origins").exists()  # the wrong one is nothing to hold to
    nowhere = install_by_hand(tmp_path / "other")
    assert nowhere.code == 1
    assert "put habanalabs-installer.sh on PATH" in nowhere.err


def look_at_pair(folder: Path, wheels: tuple[Path, ...]) -> Said:
    """Look at an environment into which wheels were unpacked."""
    subprocess.run((sys.executable, "-m", "venv", "--without-pip", str(folder)), check=True)
    (packages,) = folder.glob("lib/python3*/site-packages")
    for wheel in wheels:
        zipfile.ZipFile(wheel).extractall(packages)
    wants = ("--wants", "torch=2.7", "--wants", f"{PLUGIN}=1.22.0", "--pytorch", "fork", "--out", str(folder / "out"))
    return run_helper("inspect_pairing.py", *wants, python=str(folder / "bin/python"))


def test_libraries_of_the_other_abi_are_named(tmp_path: Path) -> None:
    old = pack_light(tmp_path, bridge=compile_library(tmp_path, NEW), late=compile_library(tmp_path, OLD))
    said = look_at_pair(tmp_path / "venv", old)
    assert said.code == 1
    assert f"C++ ABI 0 in late.so of {PLUGIN} 1.22.0.740, and torch has 1" in said.err
    assert f"_GLIBCXX_USE_CXX11_ABI=1, or remove them: pip uninstall {PLUGIN}" in said.err


@pytest.mark.parametrize(
    ("torch", "release", "words"),
    [
        ("2.7.1", "1.22.0.740", "torch 2.7.1: public, and wanted is fork"),
        ("2.7.1+cpu", "1.22.0.740", "torch 2.7.1+cpu: public, and wanted is fork"),
        ("2.9.0+hpu_1.23.1-25.git8598e6d", "1.22.0.740", "torch 2.9.0+hpu.1.23.1.25.git8598e6d, and wanted is 2.7"),
        ("2.7.1a0+git4989c73", "1.21.0.555", f"{PLUGIN} 1.21.0.555, and wanted is 1.22.0"),
    ],
)
def test_a_pair_that_does_not_belong_together(tmp_path: Path, torch: str, release: str, words: str) -> None:
    said = look_at_pair(tmp_path / "venv", pack_light(tmp_path, torch=torch, release=release))
    assert (said.code, words in said.err) == (1, True), said.err
    assert ("public" in said.err) == ("public" in words)
