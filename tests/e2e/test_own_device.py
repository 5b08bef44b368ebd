"""A device that lives outside of this project: a repository and a device file, and no change of ours for it.

The file and the commands are those of the page that tells people how it is done.

It is a copy of the simulated accelerator with another name, another module and another vendor, because that is a whole
device; nothing of what is asked of it knows where it came from. It lies as PyTorch's own example does: in one folder of
a tree whose submodules nobody serves, with a pyproject.toml that asks for torch, and a setup.py that calls CMake.
"""

from __future__ import annotations

import json
import re
import shlex
import shutil
import subprocess
import sys
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import pytest

from e2e.support import CHECKOUT, Said, caller, xpusetup
from xpusetup.config.devices import parse_device

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = [pytest.mark.e2e, pytest.mark.xdist_group("own_device")]
whole = pytest.mark.long
"""Minutes: PyTorch in an environment, a device compiled, and five verifications."""
PAGE = (CHECKOUT / "docs/bring-your-own-accelerator.md").read_text()
(FILE,) = re.findall(r'^```toml\n(name = "acme".*?)^```$', PAGE, re.DOTALL | re.MULTILINE)
LINES = re.findall(r"^xpusetup .*$", PAGE, re.MULTILINE)
REPO = parse_device(FILE).source_.repo  # type: ignore[union-attr]
PLACE = "test/extensions/acme"
CMAKE = """
cmake_minimum_required(VERSION 3.18)
project(ACME NONE)
option(USE_TEST "Build the tests" ON)
if(USE_TEST)
  message(FATAL_ERROR "GTest Not Found")
endif()
"""
CALL = """
import subprocess
subprocess.run(("cmake", "-S", ".", "-B", "build/cmake", "-DPYTORCH_INSTALL_DIR=/somewhere"), check=True)
"""


@dataclass(frozen=True)
class Acme:
    """The vendor's folder, which holds its device file, and a caller whose git finds the vendor's server."""

    folder: Path
    env: dict[str, str]
    root: Path

    def run(self, *words: str, **more: str) -> Said:
        """Run a command as somebody in the vendor's folder."""
        return xpusetup(*words, env={**self.env, **more}, cwd=self.folder)

    def copy(self, line: str) -> subprocess.CompletedProcess[str]:
        """Run a line of the page in a shell that finds the program."""
        programs = self.folder.parent / "bin"
        programs.mkdir(exist_ok=True)
        (programs / "xpusetup").write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -m xpusetup "$@"\n')
        (programs / "xpusetup").chmod(0o755)
        env = {**self.env, "PATH": f"{programs}:{self.env['PATH']}"}
        words = ("bash", "-euc", line)
        return subprocess.run(words, cwd=self.folder, env=env, check=False, capture_output=True, text=True)

    def options(self) -> tuple[str, ...]:
        """Give the options that mean the build."""
        return ("--profile", "acme.profile.toml", "--root", str(self.root))


def make_repository(upstream: Path) -> None:
    """Make the vendor's tree."""
    make_extension(upstream / PLACE)
    (upstream / "torch").mkdir()
    (upstream / "torch/__init__.py").write_text("raise ImportError('this is a source tree')\n")
    module = '[submodule "gtest"]\n\tpath = third_party/gtest\n\turl = https://nowhere.invalid/gtest\n'
    (upstream / ".gitmodules").write_text(module)
    git = ("git", "-c", "user.name=a", "-c", "user.email=a@acme.invalid", "-c", "init.defaultBranch=main")
    link = ("update-index", "--add", "--cacheinfo", f"160000,{'1' * 40},third_party/gtest")
    for words in (("init", "-q"), ("add", "-A"), link, ("commit", "-qm", "one"), ("tag", "v1.0.0")):
        subprocess.run((*git, *words), cwd=upstream, check=True, capture_output=True)


def make_extension(to: Path) -> None:
    """Make the vendor's source: every mention of the original is renamed, file names too."""
    shutil.copytree(CHECKOUT / "xpusetup/simxpu", to, ignore=shutil.ignore_patterns("__pycache__"))
    for path in sorted(to.rglob("*"), key=lambda each: len(each.parts), reverse=True):
        if path.is_file():
            text = path.read_text()
            path.write_text(text.replace("simxpu", "acme").replace("SIMXPU", "ACME"))
        if "simxpu" in path.name:
            path.rename(path.with_name(path.name.replace("simxpu", "acme")))
    project, setup = to / "pyproject.toml", to / "setup.py"
    project.write_text(project.read_text().replace('requires = ["', 'requires = ["torch", "'))
    assert '"torch"' in project.read_text()
    setup.write_text(setup.read_text().replace("\nsetup(", f"{CALL}\nsetup("))
    (to / "CMakeLists.txt").write_text(CMAKE)


@pytest.fixture(scope="module")
def vendor(tmp_path_factory: pytest.TempPathFactory) -> Acme:
    """Give the vendor's folder after the page's lines before the build."""
    place = tmp_path_factory.mktemp("acme")
    make_repository(place / "upstream")
    redirect = {
        "GIT_CONFIG_COUNT": "2",
        "GIT_CONFIG_KEY_0": f"url.file://{place}/upstream.insteadOf",
        "GIT_CONFIG_VALUE_0": REPO,
        "GIT_CONFIG_KEY_1": "uploadpack.allowAnySHA1InWant",
        "GIT_CONFIG_VALUE_1": "true",
    }
    device = Acme(place / "vendor", caller(place / "home", **redirect), place / "root")
    device.folder.mkdir()
    (device.folder / "acme.toml").write_text(FILE)
    verbs = ["profiles", "profiles", "plan", "build", "verify", "verify", "verify", "verify", "devices"]
    assert [line.split()[1] for line in LINES] == verbs
    for line in LINES[:3]:
        copy_line(device, line)
    return device


@pytest.fixture(scope="module")
def acme(vendor: Acme) -> Acme:
    """Give the device, built."""
    for line in LINES[3:]:
        copy_line(vendor, line)
    (root,) = (vendor.folder.parent / "home/.local/share/xpusetup").glob("acme.profile-*")
    return replace(vendor, root=root)


def copy_line(device: Acme, line: str) -> str:
    """Run a line of the page word by word, as who reads it copies it."""
    done = device.copy(line)
    assert done.returncode == 0, f"{line}\n{done.stdout}\n{done.stderr}"
    return done.stdout


def test_the_page_leads_to_a_plan(vendor: Acme) -> None:
    steps = [each["id"] for each in vendor.run("plan", "--profile", "acme.profile.toml", "--json").result["steps"]]
    assert {"acme.fetch", "acme.build", "acme.inspect", "acme.install", "verify.smoke"} <= set(steps)


@whole
def test_it_is_built_inspected_installed_and_verified(acme: Acme) -> None:
    status = acme.run("status", *acme.options(), "--json").result
    assert [(wheel["name"], wheel["intact"]) for wheel in status["wheels"]] == [("torch", True), ("acme", True)]
    assert status["verified"] is True
    assert status["verification"]["device"] == "acme:0"
    assert {"acme.inspect", "acme.install", "verify.smoke"} <= set(status["skipped"])
    assert acme.run("build", *acme.options(), "--json").result["ran"] == []


@whole
def test_of_its_tree_one_folder_is_here(acme: Acme) -> None:
    """What lies elsewhere in the tree, and a submodule that nobody serves, were not needed; CMake was told."""
    tree = acme.root / "src/acme"
    assert [path.name for path in tree.iterdir() if path.name != ".git"] == ["test"]
    cache = (tree / PLACE / "build/cmake/CMakeCache.txt").read_text()
    assert "USE_TEST:STRING=OFF" in cache


@whole
def test_its_file_reaches_the_verification(acme: Acme) -> None:
    script = (acme.root / "steps/verify.smoke.sh").read_text()
    assert "--device acme --expected" in script
    assert "api.mem_get_info=the driver does not tell" in script


@whole
def test_it_is_listed_and_loads(acme: Acme) -> None:
    """The profile that is named brings its device file along."""
    said = acme.run("verify", "--devices", *acme.options(), "--json").result
    (row,) = [each for each in said["devices"] if each["name"] == "acme"]
    assert (row["title"], row["present"], row["loads"], row["error"]) == ("Acme One", True, True, None)
    assert (row["entry"], row["package"], row["version"]) == ("acme = acme:_autoload", "acme", "1.0.0")


@whole
def test_its_faults_are_found(acme: Acme) -> None:
    broken = acme.run("verify", "--devices", *acme.options(), "--json", ACME_FAULT="broken-autoload")
    assert broken.code == 1
    (fault,) = [each for each in broken.document["result"]["findings"] if each["level"] == "fail"]
    assert fault["seen"].startswith("acme of acme 1.0.0 cannot be loaded: ImportError: ")
    wrong = acme.run("verify", *acme.options(), "--level", "quick", "--json", ACME_FAULT="wrong-numbers")
    assert wrong.code == 1
    failing = [each["id"] for each in wrong.document["result"]["checks"] if each["level"] in ("fail", "crash")]
    assert failing[0] == "numbers.matmul"


@whole
def test_an_environment_is_verified_with_the_file_alone(acme: Acme) -> None:
    """Who did not build it names the environment and the file."""
    words = ("verify", "--into", str(acme.root / "venv"), "--device", "acme.toml", "--level", "quick", "--json")
    found = acme.run(*words).result
    assert (found["device"], found["verified"]) == ("acme:0", True)


@whole
def test_the_page_of_the_table(acme: Acme) -> None:
    """The page was made by the last line."""
    page = (acme.folder / "DEVICES.md").read_text()
    assert "|  | cpu | acme:0 |\n" in page
    assert "\U0000274c" not in page.split("|  | cpu | acme:0 |")[1].split("\n\n")[0]


@whole
def test_results_side_by_side(acme: Acme) -> None:
    for name, more in (("cpu", ("--device", "cpu")), ("acme", ())):
        said = acme.run("verify", *acme.options(), "--level", "quick", *more, "--json")
        assert said.code == 0, said.err
        (acme.folder / f"{name}.json").write_text(said.out)
    table = acme.run("devices", "table", "cpu.json", str(acme.root), "--json").result
    assert [each["device"] for each in table["devices"]] == ["cpu", "acme:0"]
    assert {row["id"]: row["states"] for row in table["checks"]}["numbers.matmul"] == ["ok", "ok"]
    page = table["markdown"]
    assert "|  | cpu | acme:0 |\n| --- | :---: | :---: |\n" in page
    assert "| profile |  | acme-1 |\n" in page
    manifest = json.loads((acme.root / "manifest.json").read_text())
    assert manifest["verification"]["verified"] is True


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--device", "cpu"), "cpu names no extension"),
        (("--device", "acme.toml", "--rev", "v1.0"), "has no tag or branch 'v1.0'; did you mean v1.0.0?"),
        (("--device", "acme.toml", "--from", "torch-2.14"), "torch-2.14 compiles torch itself"),
        (("--repo", "https://x.invalid/y"), "--repo, --rev and --version are for a device"),
    ],
)
def test_what_no_profile_can_be_made_of(vendor: Acme, words: tuple[str, ...], message: str) -> None:
    said = vendor.run("profiles", "new", "other", *words)
    assert said.code == 2
    assert message in said.err
    assert not (vendor.folder / "other.toml").exists()
