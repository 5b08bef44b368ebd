"""The host pass of all SYCL sources of torch-xpu-ops, with the flags that a profile of ours leads to.

`make e2e-sycl-sources` calls it. Sources, their list, flags and CMake code are torch-xpu-ops' own, at the commit that
the profile pins; headers, FindSYCLToolkit.cmake and the flags of PyTorch itself are those of a published torch; SYCL's
headers and run-time libraries are Intel's, in the version that the profile's wheels require. g++ does the host pass:
device code is left out (host_pass.py). It takes hours and goes on where it stopped: what is compiled stays.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import tomli

from e2e.support import CHECKOUT
from real.outside import UnavailableError, outer_environment, run
from real.toolkit import Part, compiler_of, write_own
from real.torch_attempts import say

if TYPE_CHECKING:
    from collections.abc import Iterable

PROJECT = Path(__file__).with_name("sycl_sources")
TORCH = "2.13.0+cpu"
TOOLS = ("numpy", "cmake==3.31.10", "ninja==1.13.0")
HEADERS = Path("/usr/include/CL/cl.h")
FLAGS_OF_TORCH = """
import re, torch
print(re.search(r"CXX_FLAGS=(.*?), \\w+=", torch.__config__.show().partition("CXX_COMPILER=")[2])[1])
"""
FAILED = re.compile(r"^FAILED: .*_gen_(\w+)\.cpp\.o\b.*$", re.MULTILINE)
WRONG = re.compile(r"^\S+?:\d+:\d+: (?:fatal )?error: .*$|^.*internal compiler error.*$", re.MULTILINE)


@dataclass(frozen=True)
class Release:
    """What a profile says of a release: the commit of torch-xpu-ops, Intel's compiler, the targets."""

    name: str
    ops: str
    compiler: Part
    targets: str


def read_release(name: str) -> Release:
    """Read it out of the shipped profile; where that pins no commit, the head of the release's branch."""
    profile = tomli.loads((CHECKOUT / f"profiles/torch-{name}.toml").read_text())
    torch = next(part for part in profile["components"] if part["name"] == "torch")
    ops = next(part for part in torch["vendored"] if part["name"] == "torch-xpu-ops")
    compiler = compiler_of(profile["runtime_requirements"]["pins"])
    return Release(name, ops.get("rev") or f"release/{name}", compiler, ",".join(profile["arch"]["default"]))


@dataclass(frozen=True)
class Work:
    """The folder that everything lies in."""

    folder: Path
    release: Release

    @property
    def venv(self) -> Path:
        """The environment with torch, CMake and ninja: one for all releases."""
        return self.folder / "venv"

    @property
    def own(self) -> Path:
        """The folder of this release."""
        return self.folder / self.release.name

    @property
    def compiler(self) -> Path:
        """Intel's compiler, as far as it is to be had."""
        return self.own / "oneapi/compiler/latest"

    def environment(self) -> dict[str, str]:
        """Give what the profile's build steps see of this, and of nothing else."""
        path = f"{self.venv}/bin:{self.compiler}/bin:{os.environ['PATH']}"
        toolkit = {"SYCL_ROOT": str(self.compiler), "CMPLR_ROOT": str(self.compiler)}
        libraries = {"LD_LIBRARY_PATH": f"{self.compiler}/lib"}
        own = {"TORCH_XPU_ARCH_LIST": self.release.targets, "USE_XPU": "1", "CC": "gcc", "CXX": "g++", **self._flags()}
        return {**outer_environment(), "PATH": path, **toolkit, **libraries, **own}

    def _flags(self) -> dict[str, str]:
        """Ask our own plan for the flags of the compile."""
        words = (sys.executable, "-m", "xpusetup.cli", "plan", "--profile", f"torch-{self.release.name}")
        told = run((*words, "--root", str(self.own), "--json"), env=outer_environment(), cwd=CHECKOUT)
        steps = json.loads(told)["result"]["steps"]
        environment = next(step["env"] for step in steps if step["id"] == "torch.build")
        return {name: environment[name] for name in ("CFLAGS", "CXXFLAGS", "CPPFLAGS")}


def prepare(work: Work, ops: str) -> None:
    """Make the environment, the toolkit and the tree of torch-xpu-ops, as far as they are not there yet."""
    if not HEADERS.is_file():
        raise UnavailableError("OpenCL's headers and loader: apt-get install opencl-c-headers ocl-icd-opencl-dev")
    if not (work.venv / "bin/ninja").exists():
        run((sys.executable, "-m", "venv", str(work.venv)), env=outer_environment(), seconds=300)
        words = (str(work.venv / "bin/pip"), "install", "-q", f"torch=={TORCH}", *TOOLS)
        run(words, env={**outer_environment(), **_settings_of_pip()}, seconds=1800)
    write_own(work.release.compiler, work.own / "oneapi", work.folder / "wheels")
    tree = work.own / "torch-xpu-ops"
    if not tree.exists():
        fresh = tree.with_suffix(".part")
        shutil.rmtree(fresh, ignore_errors=True)
        run(("git", "clone", "-q", "--no-checkout", ops, str(fresh)), env=outer_environment(), seconds=600)
        run(("git", "checkout", "-q", work.release.ops), env=outer_environment(), cwd=fresh)
        fresh.rename(tree)


def _settings_of_pip() -> dict[str, str]:
    return {name: value for name, value in os.environ.items() if name.startswith("PIP_")}


def configure(work: Work) -> Path:
    """Let upstream's CMake code decide; give the build folder."""
    build = work.own / "build"
    environment = work.environment()
    told = run((str(work.venv / "bin/python"), "-c", FLAGS_OF_TORCH), env=environment)
    torch = run((str(work.venv / "bin/python"), "-c", "import torch; print(torch.__path__[0])"), env=environment)
    defines = {"OPS": work.own / "torch-xpu-ops", "TORCH": torch.strip(), "TORCH_FLAGS": ";".join(told.split())}
    words = (*(f"-D{name}={value}" for name, value in defines.items()), "-DCMAKE_BUILD_TYPE=Release", "-Wno-dev")
    run(("cmake", "-G", "Ninja", "-S", str(PROJECT), "-B", str(build), *words), env=environment, seconds=600)
    return build


def compile_all(work: Work, build: Path, jobs: int) -> None:
    """Compile what is not compiled yet, past every failure; what was said is added to the log."""
    with (work.own / "ninja.log").open("ab") as log:
        words = ("ninja", "-C", str(build), "-k", "0", "-j", str(jobs))
        subprocess.run(words, env=work.environment(), stdout=log, stderr=subprocess.STDOUT, check=False)


def make_figures(release: Release, log: str, objects: Iterable[Path], sources: int) -> dict[str, Any]:
    """Count what has an object, and give the first error of what failed; the rest was not tried."""
    made = {name for path in objects if (name := _source_of(path))}
    failed = {name: why for name, why in _failures(log).items() if name not in made}
    origin = {"release": release.name, "torch-xpu-ops": release.ops, "sycl": release.compiler.version, "torch": TORCH}
    return {**origin, "sources": sources, "compiled": len(made), "failed": failed}


def _source_of(path: Path) -> str:
    found = re.search(r"_gen_(\w+)\.cpp$", path.stem)
    return found[1] if found else ""


def _failures(log: str) -> dict[str, str]:
    """Give the last words of each source that failed; ninja writes the output of a command below its FAILED line."""
    found = {}
    for block in re.split(r"(?m)^(?=\[\d+/\d+\] |FAILED: )", log):
        if (failed := FAILED.match(block)) is not None:
            wrong = WRONG.search(block)
            found[failed[1]] = wrong[0] if wrong else "no line names an error"
    return found


def main() -> None:
    """Do what is not done yet, then write the figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("work", type=Path, help="the folder that keeps everything; about 8 GB")
    parser.add_argument("--ops", required=True, help="a git repository of torch-xpu-ops with all its commits")
    parser.add_argument("--release", action="append", help="2.13 and 2.14 unless named")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    asked = parser.parse_args()
    for name in asked.release or ("2.13", "2.14"):
        work = Work(asked.work.expanduser().resolve(), read_release(name))
        work.own.mkdir(parents=True, exist_ok=True)
        try:
            prepare(work, asked.ops)
            build = configure(work)
        except UnavailableError as error:
            sys.exit(f"e2e-sycl-sources: {error}")
        say(f"torch {name}: {work.own / 'ninja.log'}")
        compile_all(work, build, asked.jobs)
        log = (work.own / "ninja.log").read_text(errors="replace")
        figures = make_figures(work.release, log, build.rglob("*_gen_*.cpp.o"), count_sources(work, build))
        (work.own / "figures.json").write_text(json.dumps(figures, indent=2) + "\n")
        say(f"{figures['compiled']} of {figures['sources']} compiled, {len(figures['failed'])} failed")


def count_sources(work: Work, build: Path) -> int:
    """Ask ninja how many sources there are."""
    told = run(("ninja", "-C", str(build), "-t", "targets", "all"), env=work.environment())
    return len(set(re.findall(r"_gen_(\w+)\.cpp\.o: ", told)))


if __name__ == "__main__":
    main()
