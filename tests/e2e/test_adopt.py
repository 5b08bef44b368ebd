"""adopt with real uv and pip, on stand-ins that require of torch what real packages do; what docs/install.md shows."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import threading
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote

import pytest
import tomli
from packaging.requirements import Requirement

from e2e.support import caller, xpusetup
from standins.wheels import pack_wheel
from xpusetup.adopt.keeping import COMPANIONS
from xpusetup.machine.companions import INDEX

if TYPE_CHECKING:
    from collections.abc import Iterator

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


def goes_on(how: str, package: str) -> bool:
    """Say whether a command ends well where torch was adopted: what it brings of companions is not on this bench."""
    wanted = {Requirement(each).name for each in (package, *DATA["requires"][package])}
    return wanted.isdisjoint(COMPANIONS) and (how in UV or not replaces(how, package))


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
    assert (code == 0) == goes_on(how, package)
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
    assert (code == 0) == goes_on(how, package)
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


# From indexes, as everybody has torch who did not build it: pip and uv ask them by name, and each has its own wheels.


OF_INDEXES = {
    "whl/xpu": {
        "torch==2.10.0+xpu": ["triton-xpu==3.6.0", "markupsafe"],
        "triton-xpu==3.6.0": [],
        "torchvision==0.25.0+xpu": ["torch==2.10.0"],
        "torchaudio==2.10.0+xpu": [],
        "torchaudio==2.11.0+xpu": [],
        "markupsafe==3.0.4": [],
    },
    "whl/cpu": {"torchcodec==0.10.0+cpu": [], "torchvision==0.25.0+cpu": ["torch==2.10.0"], "markupsafe==3.0.4": []},
    "simple": {
        "torch==2.15.0": ["triton"],
        "triton==3.9.0": [],
        "triton-xpu==3.3.0b1": [],
        "torchvision==0.29.2": ["torch>=2.14.0"],
        "torchaudio==2.11.1": [],
        "torchcodec==0.17.0": [],
        "markupsafe==3.0.3": [],
        "app==1.0": ["markupsafe>=2.0"],
    },
}
"""What each has, with what the real wheels of these names require of each other."""


class Web:
    """The indexes on this machine, and an environment whose torch for XPU came from one of them."""

    def __init__(self, folder: Path, uv: Path) -> None:
        self.folder = folder
        for index, wheels in OF_INDEXES.items():
            for each, requires in wheels.items():
                self._add(folder / index, each, requires)
        handler = partial(SimpleHTTPRequestHandler, directory=str(folder))
        self.server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        self.url = f"http://127.0.0.1:{self.server.server_port}"
        more = {"UV_CACHE_DIR": str(folder / "cache"), "PATH": f"{uv}:{os.environ['PATH']}"}
        more |= {"UV_DEFAULT_INDEX": f"{self.url}/simple", "PIP_INDEX_URL": f"{self.url}/simple"}
        self.env = caller(folder / "home", **more)

    def _add(self, index: Path, what: str, requires: list[str]) -> None:
        name, _, version = what.partition("==")
        files = {f"{name.replace('-', '_')}.py": b""}
        wheel = pack_wheel(index / name, name, version, files, requires)
        if version == "3.0.4":  # torch's index has it for a Python that is not this one
            wheel.rename(wheel.with_name(wheel.name.replace("py3-none-any", "cp399-cp399-linux_x86_64")))
        names = sorted(each.name for each in index.glob(f"{name}/*.whl"))
        links = "".join(f'<a href="{quote(each)}">{each}</a>\n' for each in names)
        (index / name / "index.html").write_text(f"<html><body>{links}</body></html>")

    def run(self, *words: str, cwd: Path) -> subprocess.CompletedProcess[str]:
        return subprocess.run(words, cwd=cwd, env=self.env, check=False, capture_output=True, text=True)

    def project(self, name: str, depends: str, more: str = "") -> Path:
        place = self.folder / name
        place.mkdir()
        head = '[project]\nname = "p"\nversion = "0"\nrequires-python = ">=3.10"\n'
        (place / "pyproject.toml").write_text(f"{head}dependencies = [{depends}]\n{more}")
        self.made(place, "uv", "venv", "-q", "--python", sys.executable, ".venv")
        index = ("--default-index", f"{self.url}/whl/xpu", "--no-config", "--no-deps")
        self.made(place, "uv", "pip", "install", "-q", *index, "torch==2.10.0+xpu", "triton-xpu==3.6.0")
        return place

    def made(self, place: Path, *words: str) -> None:
        done = self.run(*words, cwd=place)
        assert done.returncode == 0, done.stderr

    def adopt(self, place: Path) -> list[str]:
        """Adopt a project, with the indexes here in the place of the real ones; gives what is told."""
        said = xpusetup("adopt", str(place), "--yes", "--json", env=self.env)
        assert said.result["written"], said
        for path in (place / "pyproject.toml", *place.glob("requirements.txt")):
            path.write_text(path.read_text().replace(INDEX, f"{self.url}/whl"))
        return list(said.result["notes"])

    def there(self, place: Path) -> dict[str, str]:
        infos = place.glob(".venv/lib/python3*/site-packages/*.dist-info")
        pairs = (path.name.removesuffix(".dist-info").partition("-") for path in infos)
        return {name.replace("_", "-"): version for name, _, version in pairs}


@pytest.fixture(scope="module")
def web(uv: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Web]:
    found = Web(tmp_path_factory.mktemp("web"), uv)
    yield found
    found.server.shutdown()
    found.server.server_close()


OF_XPU = {"torch": "2.10.0+xpu", "triton-xpu": "3.6.0"}


def test_what_has_no_local_version_comes_from_the_index_of_torch_too(web: Web) -> None:
    """triton-xpu of the package index is a beta, and nothing locks without the one that torch requires."""
    place = web.project("triton", '"torch", "app"')
    assert web.adopt(place) == []
    web.made(place, "uv", "lock")
    web.made(place, "uv", "sync")
    assert web.there(place) == {**OF_XPU, "app": "1.0", "markupsafe": "3.0.3"}


def test_a_companion_that_comes_later_is_of_this_torch(web: Web) -> None:
    """The torchaudio of the package index is for CUDA and requires no torch; the newest for XPU is of another one."""
    place = web.project("later", '"torch"')
    web.adopt(place)
    web.made(place, "uv", "add", "torchaudio", "torchvision", "torchcodec")
    wanted = {"torchaudio": "2.10.0+xpu", "torchvision": "0.25.0+xpu", "torchcodec": "0.10.0+cpu"}
    assert web.there(place) == {**OF_XPU, **wanted, "markupsafe": "3.0.3"}


def test_a_companion_that_pip_brings_later_is_of_this_torch(web: Web) -> None:
    place = web.project("pip", '"torch"')
    (place / "requirements.txt").write_text("torchaudio\n")
    web.adopt(place)
    pip = (sys.executable, "-m", "pip", "--python", ".venv/bin/python", "install", "--no-deps")
    web.made(place, *pip, "-r", "requirements.txt")
    assert web.there(place) == {**OF_XPU, "torchaudio": "2.10.0+xpu"}
    refused = web.run(*pip, "torchvision", cwd=place)
    assert (refused.returncode, web.there(place).get("torchvision")) == (1, None), refused.stderr


@pytest.mark.parametrize("name", ['name = "mine"\n', ""])
def test_an_index_of_torch_that_is_asked_for_all_is_told_of(web: Web, name: str) -> None:
    """What is told is done as it stands there, and only then uv finds a wheel for this Python."""
    index = f'[[tool.uv.index]]\n{name}url = "{web.url}/whl/xpu"\n'
    more = f'[tool.uv]\nindex-strategy = "unsafe-best-match"\n\n{index}'
    place = web.project(f"open{len(name)}", '"torch", "app"', more)
    failed = web.run("uv", "sync", cwd=place)
    assert "markupsafe" in failed.stderr, failed
    below, strategy, again, *_ = web.adopt(place)
    told = place / "pyproject.toml"
    told.write_text(told.read_text().replace(index, f"{index}{below.partition(chr(10))[2]}\n"))
    line = strategy.removeprefix("take out ").partition(":")[0]
    assert line in told.read_text()
    told.write_text(told.read_text().replace(f"{line}\n", ""))
    web.made(place, *again.splitlines()[1].split())
    web.made(place, "uv", "sync")
    assert web.there(place) == {**OF_XPU, "app": "1.0", "markupsafe": "3.0.3"}
