"""adopt with real uv and pip, on stand-ins that require of torch what real packages do; what docs/adopt.md shows."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
import tomli
from packaging.requirements import Requirement

from e2e.support import caller, xpusetup
from standins.wheels import pack_wheel

pytestmark = pytest.mark.e2e

DATA = tomli.loads((Path(__file__).parents[1] / "data/adopt.toml").read_text())
PACKAGES = tuple(DATA["requires"])
SHORT = ("torchvision==0.28.0", "timm==1.0.29")
UV = ("uv add", "uv sync", "uv run")
PIP = ("pip install", "pip install -U")
OURS = {"torch": "2.14.1+xpu", "triton-xpu": "3.8.0"}


@pytest.fixture(scope="module")
def uv(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Install the real uv, and give the folder that it lies in."""
    folder = tmp_path_factory.mktemp("uv")
    pip = (sys.executable, "-m", "pip", "install", "-q", "--disable-pip-version-check", "--target", str(folder), "uv")
    subprocess.run(pip, check=True, capture_output=True)
    return folder / "bin"


class Bench:
    """An index of stand-ins, wheels of one's own torch, and a caller of uv and pip who knows nothing else."""

    def __init__(self, folder: Path, uv: Path) -> None:
        self.folder, self.index, self.own = folder, folder / "index", folder / "own"
        pack_wheel(self.own, "torch", OURS["torch"], {"torch/version.py": b""}, ["triton-xpu==3.8.0"])
        pack_wheel(self.own, "triton-xpu", OURS["triton-xpu"], {"triton/__init__.py": b"xpu = True\n"})
        for version, requires in DATA["torch"].items():
            pack_wheel(self.index, "torch", version, {"torch/version.py": b"cuda\n"}, requires)
        for version in ("2.2.0", "3.4.0", "3.7.0", "3.8.0"):
            pack_wheel(self.index, "triton", version, {"triton/__init__.py": b""})
        for name, requires in (*DATA["requires"].items(), *DATA["beside"].items()):
            package, _, version = name.partition("==")
            pack_wheel(self.index, package, version, {f"{package.replace('-', '_')}.py": b""}, requires)
        more = {"UV_OFFLINE": "1", "UV_CACHE_DIR": str(folder / "cache"), "PATH": f"{uv}:{os.environ['PATH']}"}
        self.env = caller(folder / "home", PIP_NO_INDEX="1", PIP_FIND_LINKS=str(self.index), **more)

    def run(self, *words: str, cwd: Path) -> subprocess.CompletedProcess[str]:
        return subprocess.run(words, cwd=cwd, env=self.env, check=False, capture_output=True, text=True)

    def project(self, depends: str = "") -> Path:
        """Make a project whose environment holds a torch of one's own."""
        place = self.folder / "project"
        shutil.rmtree(place, ignore_errors=True)
        place.mkdir()
        index = f'[[tool.uv.index]]\nname = "all"\nurl = "{self.index}"\nformat = "flat"\ndefault = true\n'
        head = '[project]\nname = "p"\nversion = "0"\nrequires-python = ">=3.10"  # mine\n'
        (place / "pyproject.toml").write_text(f"{head}dependencies = [{depends}]\n\n{index}")
        made = self.run("uv", "venv", "-q", "--python", sys.executable, ".venv", cwd=place)
        assert made.returncode == 0, made.stderr
        wheels = [str(path) for path in sorted(self.own.iterdir())]
        made = self.run("uv", "pip", "install", "-q", "--no-config", "--no-deps", *wheels, cwd=place)
        assert made.returncode == 0, made.stderr
        return place

    def there(self, place: Path) -> dict[str, str]:
        """Give what of torch and Triton lies in a project's environment."""
        folders = (
            path.name.partition(".dist-info")[0] for path in place.glob(".venv/lib/python3*/site-packages/*-info")
        )
        found = {name.replace("_", "-"): version for name, _, version in (each.partition("-") for each in folders)}
        return {name: version for name, version in found.items() if name in ("torch", "triton", "triton-xpu")}


@pytest.fixture(scope="module")
def bench(uv: Path, tmp_path_factory: pytest.TempPathFactory) -> Bench:
    return Bench(tmp_path_factory.mktemp("bench"), uv)


def words_of(how: str, package: str) -> tuple[str, ...]:
    """Give the command; pip is that of the tests, at work in the project's environment."""
    if how.startswith("uv"):
        return {"uv add": ("uv", "add", package), "uv sync": ("uv", "sync")}.get(how, ("uv", "run", "python", "-c", ""))
    return (sys.executable, "-m", "pip", "--python", ".venv/bin/python", *how.split()[1:], package)


def replaces(how: str, package: str) -> bool:
    """Say whether a command replaces torch where nothing was adopted, or brings a second Triton.

    uv always does; pip where the package does not take the torch that is there, or asks for Triton by CUDA's name.
    """
    wanted = [Requirement(each) for each in DATA["requires"][package]]
    refused = any(each.name == "torch" and not each.specifier.contains(OURS["torch"]) for each in wanted)
    return how in UV or refused or any(each.name == "triton" for each in wanted)


def try_one(bench: Bench, how: str, package: str, *, adopt: bool) -> tuple[bool, int]:
    """Say whether torch and its one Triton are still what they were, and how the command ended."""
    place = bench.project(f'"{package}"' if how in ("uv sync", "uv run") else "")
    if adopt:
        said = xpusetup("adopt", str(place), "--yes", "--json", env=bench.env)
        assert said.result["written"], said
    done = bench.run(*words_of(how, package), cwd=place)
    return bench.there(place) == OURS, done.returncode


@pytest.mark.parametrize("package", SHORT)
@pytest.mark.parametrize("how", [*UV, *PIP])
def test_torch_stays_where_it_was_adopted(bench: Bench, how: str, package: str) -> None:
    stays, code = try_one(bench, how, package, adopt=True)
    assert stays
    assert (code == 0) == (how in UV or not replaces(how, package))
    assert try_one(bench, how, package, adopt=False)[0] != replaces(how, package)


def test_all_members_of_a_workspace_keep_it(bench: Bench) -> None:
    """Also one that asks for another torch, from a place of its own."""
    place = bench.project()
    member = place / "packages/a"
    member.mkdir(parents=True)
    own = '[tool.uv.sources]\ntorch = { index = "all" }\n'
    head = '[project]\nname = "a"\nversion = "0"\nrequires-python = ">=3.10"\ndependencies = ["torch>2.14.1"]\n'
    (member / "pyproject.toml").write_text(f"{head}\n{own}")
    with (place / "pyproject.toml").open("a") as stream:
        stream.write('\n[tool.uv.workspace]\nmembers = ["packages/*"]\n')
    refused = xpusetup("adopt", str(member), "--into", str(place / ".venv"), "--yes", env=bench.env)
    assert (refused.code, f"xpusetup adopt {place} --into" in refused.err) == (2, True), refused.err
    assert xpusetup("adopt", str(place), "--yes", env=bench.env).code == 0
    done = bench.run("uv", "sync", "--all-packages", cwd=place)
    assert (done.returncode, bench.there(place)) == (0, OURS), done.stderr


@pytest.mark.long
@pytest.mark.parametrize("package", PACKAGES)
@pytest.mark.parametrize("how", [*UV, *PIP])
def test_each_package_by_each_command(bench: Bench, how: str, package: str) -> None:
    stays, code = try_one(bench, how, package, adopt=True)
    assert stays
    assert (code == 0) == (how in UV or not replaces(how, package))
    assert try_one(bench, how, package, adopt=False)[0] != replaces(how, package)


def test_fifty_packages() -> None:
    assert len({package.partition("==")[0] for package in PACKAGES}) >= 50


def test_undo_takes_it_back_after_uv_changed_the_file(bench: Bench) -> None:
    place = bench.project()
    before = {path.name: path.read_bytes() for path in place.iterdir() if path.is_file()}
    assert xpusetup("adopt", str(place), env=bench.env).code == 0
    assert {path.name: path.read_bytes() for path in place.iterdir() if path.is_file()} == before
    xpusetup("adopt", str(place), "--yes", env=bench.env)
    assert xpusetup("adopt", str(place), "--undo", "--yes", "--json", env=bench.env).result["undone"]
    assert {path.name: path.read_bytes() for path in place.iterdir() if path.is_file()} == before
    assert not (place / ".venv/pip.conf").exists()
    xpusetup("adopt", str(place), "--yes", env=bench.env)
    assert bench.run("uv", "add", "timm==1.0.29", cwd=place).returncode == 0
    xpusetup("adopt", str(place), "--undo", "--yes", env=bench.env)
    told = (place / "pyproject.toml").read_text()
    assert tomli.loads(told)["project"]["dependencies"] == ["timm==1.0.29"]
    assert "# mine" in told
    assert "override" not in told


def test_requirements_are_for_pip_and_uv(bench: Bench) -> None:
    place = bench.project()
    (place / "pyproject.toml").unlink()
    (place / "requirements.txt").write_text("timm\n")
    xpusetup("adopt", str(place), "--yes", env=bench.env)
    new = bench.run("uv", "venv", "-q", "--clear", "--python", sys.executable, ".venv", cwd=place)
    assert new.returncode == 0, new.stderr
    done = bench.run(*words_of("pip install", "-r"), "requirements.txt", cwd=place)
    assert (done.returncode, bench.there(place)) == (0, OURS), done.stderr
    done = bench.run("uv", "pip", "install", "--no-index", "-r", "requirements.txt", "-U", cwd=place)
    assert bench.there(place) == OURS, done.stderr


def test_on_top_of_a_module_torch_is_never_installed(bench: Bench) -> None:
    """A module brings torch by PYTHONPATH; the project's environment above it holds none."""
    place = bench.project('"timm"')
    module = bench.folder / "module"
    shutil.rmtree(module, ignore_errors=True)
    (place / ".venv").rename(module)
    made = bench.run("uv", "venv", "-q", "--python", sys.executable, ".venv", cwd=place)
    assert made.returncode == 0, made.stderr
    (site,) = module.glob("lib/python3*/site-packages")
    env = {**bench.env, "PYTHONPATH": str(site)}
    assert xpusetup("adopt", str(place), "--into", str(module), "--yes", env=env).code == 0
    done = subprocess.run(("uv", "sync"), cwd=place, env=env, check=False, capture_output=True, text=True)
    assert (done.returncode, bench.there(place)) == (0, {}), done.stderr
