"""All SYCL sources of torch-xpu-ops, both passes, with the flags that a profile of ours leads to.

`make e2e-sycl-sources` calls it. Sources, their list, flags and CMake code are torch-xpu-ops' own, at the commit that
the profile pins; headers, FindSYCLToolkit.cmake and PyTorch's own flags are those of the release's published torch; the
compiler is the one that `xpusetup toolkit` makes of Intel's
wheels for that profile. Kernels are counted in the bytes of the objects. It takes hours and goes on where it stopped:
what is compiled stays. There is no device link; sycl_ahead.py does those of single sources.
"""

from __future__ import annotations

import argparse
import importlib
import json
import os
import re
import shutil
import struct
import subprocess
import sys
import zipfile
from dataclasses import dataclass
from mmap import ACCESS_READ, mmap
from pathlib import Path
from typing import TYPE_CHECKING, Any

import tomli

from e2e.support import CHECKOUT
from real.outside import UnavailableError, outer_environment, run
from real.torch_attempts import say

if TYPE_CHECKING:
    from collections.abc import Iterable

images: Any = importlib.import_module("helperlib.sycl.images")
link: Any = importlib.import_module("helperlib.sycl.link")
PROJECT = Path(__file__).with_name("sycl_sources")
MEASURE = Path(__file__).with_name("sycl_measure.py")
LAUNCHER = """\
#!/bin/sh
exec {python} {measure} {toolkit} {file} "${{0##*/}}" "$@"
"""
PASSES = ("device", "host")
KERNEL, ENTRY_POINT, BEGIN = 6, 15, 5
"""SPIR-V: the execution model of kernels, the operation that names one, the words of a module's head."""
TOOLS = ("numpy", "cmake==3.31.10", "ninja==1.13.0")
HEADERS = Path("/usr/include/CL/cl.h")
BUILT_WITH = re.compile(rb"\0([^\0]*-fvisibility-inlines-hidden[^\0]*)\0")
NOT_OURS = ("-D_GLIBCXX_USE_CXX11_ABI=0", "-fabi-version=11", "-fdiagnostics-color=always")
"""The old ABI of wheels for CUDA up to 2.6, which those for XPU never had; and colours, which a log cannot use."""
FAILED = re.compile(r"^FAILED: .*_gen(?:erated)?_(?:[0-9a-f]{8}_)?(\w+)\.cpp\.o\b.*$", re.MULTILINE)
WRONG = re.compile(r"^\S+?:\d+:\d+: (?:fatal )?error: .*$|^.*internal compiler error.*$", re.MULTILINE)


@dataclass(frozen=True)
class Release:
    """What a profile says of a release: the version of torch, the commit of torch-xpu-ops, the targets."""

    name: str
    torch: str
    ops: str
    targets: str


def read_release(name: str) -> Release:
    """Read it out of the shipped profile; where that pins no commit, the head of the release's branch."""
    profile = tomli.loads((CHECKOUT / f"profiles/torch-{name}.toml").read_text())
    torch = next(part for part in profile["components"] if part["name"] == "torch")
    ops = next(part for part in torch["vendored"] if part["name"] == "torch-xpu-ops")
    version = torch["version"].partition("+")[0]
    return Release(name, version, ops.get("rev") or f"release/{name}", ",".join(profile["arch"]["default"]))


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
    def toolkit(self) -> Path:
        """The tool chain of wheels."""
        return self.own / "toolkit"

    @property
    def compiler(self) -> Path:
        """The same one, whose passes are measured."""
        return self.own / "measured"

    @property
    def torch(self) -> Path:
        """What a published torch of this release says of itself: headers, and CMake's files."""
        return self.own / "torch"

    @property
    def measures(self) -> Path:
        """What each pass took."""
        return self.own / "measures.jsonl"

    def environment(self) -> dict[str, str]:
        """Give what the profile's build steps see of this, and of nothing else."""
        path = f"{self.venv}/bin:{self.compiler}/bin:{os.environ['PATH']}"
        toolkit = {"SYCL_ROOT": str(self.compiler), "CMPLR_ROOT": str(self.compiler)}
        libraries = {"LD_LIBRARY_PATH": f"{self.compiler}/lib"}
        own = {"TORCH_XPU_ARCH_LIST": self.release.targets, "USE_XPU": "1", "CC": "gcc", "CXX": "g++", **self._flags()}
        return {**outer_environment(), "PATH": path, **toolkit, **libraries, **own}

    def _flags(self) -> dict[str, str]:
        """Ask our own plan for the flags of the compile."""
        words = (sys.executable, "-m", "xpusetup", "plan", "--profile", f"torch-{self.release.name}")
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
        installed = (str(work.venv / "bin/pip"), "install", "-q", *TOOLS)
        run(installed, env={**outer_environment(), **_settings_of_pip()}, seconds=1800)
    words = (sys.executable, "-m", "xpusetup", "toolkit", str(work.toolkit), "--profile")
    run(
        (*words, f"torch-{work.release.name}"),
        env={**outer_environment(), **_settings_of_pip()},
        cwd=CHECKOUT,
        seconds=1800,
    )
    write_measured(work)
    if not (work.torch / "flags").is_file():
        unpack_torch(work)
    tree = work.own / "torch-xpu-ops"
    if not tree.exists():
        fresh = tree.with_suffix(".part")
        shutil.rmtree(fresh, ignore_errors=True)
        run(("git", "clone", "-q", "--no-checkout", ops, str(fresh)), env=outer_environment(), seconds=600)
        run(("git", "checkout", "-q", work.release.ops), env=outer_environment(), cwd=fresh)
        fresh.rename(tree)


def unpack_torch(work: Work) -> None:
    """Take headers and flags out of the release's wheel, whatever it was built for; its code is not used."""
    fresh = work.torch.with_suffix(".part")
    shutil.rmtree(fresh, ignore_errors=True)
    words = (
        str(work.venv / "bin/pip"),
        "download",
        "-q",
        "--no-deps",
        "-d",
        str(fresh),
        f"torch=={work.release.torch}",
    )
    run(words, env={**outer_environment(), **_settings_of_pip()}, seconds=3600)
    (wheel,) = fresh.glob("*.whl")
    with zipfile.ZipFile(wheel) as opened:
        for name in opened.namelist():
            if name.startswith(("torch/include/", "torch/share/cmake/")):
                opened.extract(name, fresh)
        library = Path(opened.extract("torch/lib/libtorch_cpu.so", fresh))
    (fresh / "torch/flags").write_text(read_flags(library))
    library.unlink()
    shutil.rmtree(work.torch, ignore_errors=True)
    (fresh / "torch").rename(work.torch)
    shutil.rmtree(fresh)


def read_flags(library: Path) -> str:
    """Give the compiler flags that torch.__config__ tells, as a list of CMake's."""
    with library.open("rb") as stream, mmap(stream.fileno(), 0, access=ACCESS_READ) as data:
        found = BUILT_WITH.search(data)
        told = found[1].decode() if found else ""
    if not told:
        raise UnavailableError(f"{library} does not say what it was built with")
    return ";".join(each for each in told.split() if each not in NOT_OURS)


def write_measured(work: Work) -> None:
    """Lay out the tool chain once more, with launchers that measure."""
    told = {"python": sys.executable, "measure": MEASURE, "toolkit": work.toolkit, "file": work.measures}
    (work.compiler / "bin").mkdir(parents=True, exist_ok=True)
    for name in ("include", "lib"):
        if not (work.compiler / name).is_symlink():
            (work.compiler / name).symlink_to(work.toolkit / name)
    for name in ("icpx", "icx"):
        launcher = work.compiler / "bin" / name
        launcher.write_text(LAUNCHER.format(**told))
        launcher.chmod(0o755)


def _settings_of_pip() -> dict[str, str]:
    return {name: value for name, value in os.environ.items() if name.startswith("PIP_")}


def configure(work: Work, tree: str) -> Path:
    """Let upstream's CMake code decide; give the build folder. `tree` may be empty."""
    build = work.own / "build"
    environment = work.environment()
    places = {"OPS": work.own / "torch-xpu-ops", "TORCH": work.torch, "TREE": tree}
    defines = {**places, "TORCH_FLAGS": (work.torch / "flags").read_text(), "CMAKE_BUILD_TYPE": "Release"}
    words = (*(f"-D{name}={value}" for name, value in defines.items()), "-Wno-dev")
    run(("cmake", "-G", "Ninja", "-S", str(PROJECT), "-B", str(build), *words), env=environment, seconds=900)
    return build


def compile_all(work: Work, build: Path, jobs: int, names: Iterable[str]) -> None:
    """Compile what is not compiled yet (of `names`, or of all), past every failure; the log gets what was said."""
    objects = [each for each in list_objects(work, build) if not names or source_of(Path(each)) in names]
    with (work.own / "ninja.log").open("ab") as log:
        words = ("ninja", "-C", str(build), "-k", "0", "-j", str(jobs), *objects)
        subprocess.run(words, env=work.environment(), stdout=log, stderr=subprocess.STDOUT, check=False)


def list_objects(work: Work, build: Path) -> list[str]:
    """Ask ninja for the objects of all sources."""
    told = run(("ninja", "-C", str(build), "-t", "targets", "all"), env=work.environment())
    return sorted(set(re.findall(r"(?m)^([^/ ][^ :]*_gen(?:erated)?_\w+\.cpp\.o): ", told)))


def make_figures(work: Work, log: str, objects: Iterable[Path], sources: int) -> dict[str, Any]:
    """Say what each object holds and took, and give the first error of what failed; the rest was not tried."""
    took = read_measures(work.measures)
    made = {name: {**look_into(path), **took.get(name, {})} for path in objects if (name := source_of(path))}
    failed = {name: why for name, why in _failures(log).items() if name not in made}
    about = {
        "release": work.release.name,
        "torch-xpu-ops": work.release.ops,
        "torch": work.release.torch,
        "sycl": _version(work),
    }
    counts = {key: sum(each[key] for each in made.values()) for key in ("kernels", "images", "bytes")}
    return {**about, "sources": sources, "compiled": len(made), **counts, "failed": failed, "made": made}


def _version(work: Work) -> str:
    about = work.toolkit / "toolkit.json"
    return str(json.loads(about.read_text())["version"]) if about.is_file() else ""


def look_into(path: Path) -> dict[str, int]:
    """Count kernels and images in the bytes of an object. Raises ValueError where its list names others."""
    kernels = found = size = 0
    for record in link.read_images(path):
        for image in record.images:
            inside = count_kernels(image.data)
            if inside != len(image.kernels):
                raise ValueError(f"{path}: {inside} kernels in an image that is said to have {len(image.kernels)}")
            kernels, found, size = kernels + inside, found + 1, size + len(image.data)
    return {"kernels": kernels, "images": found, "bytes": size}


def count_kernels(spirv: bytes) -> int:
    """Count the entry points of a SPIR-V module that are kernels."""
    words = struct.unpack(f"<{len(spirv) // 4}I", spirv)
    at, found = BEGIN, 0
    while at < len(words):
        operation, length = words[at] & 0xFFFF, words[at] >> 16
        found += operation == ENTRY_POINT and words[at + 1] == KERNEL
        at += length
    return found


def read_measures(file: Path) -> dict[str, dict[str, Any]]:
    """Give what the last compile of each source took: seconds, those of processors, bytes of memory, for each pass."""
    found: dict[str, dict[str, Any]] = {}
    for line in file.read_text().splitlines() if file.is_file() else ():
        told = json.loads(line)
        if told["pass"] in PASSES and told["source"] and told["code"] == 0:
            took = {key: told[key] for key in ("seconds", "processor", "memory")}
            found.setdefault(Path(told["source"][0]).stem, {})[told["pass"]] = took
    return found


def source_of(path: Path) -> str:
    """Name the source of an object by FindSYCL's name for that; empty for any other file."""
    found = re.search(r"_gen(?:erated)?_(?:[0-9a-f]{8}_)?(\w+)\.cpp$", path.stem)
    return found[1] if found else ""


def _failures(log: str) -> dict[str, str]:
    """Give the last words of each source that failed; ninja writes the output of a command below its FAILED line."""
    found = {}
    for block in re.split(r"(?m)^(?=\[\d+/\d+\] |FAILED: )", log):
        if (failed := FAILED.match(block)) is not None:
            wrong = WRONG.search(block)
            found[failed[1]] = wrong[0] if wrong else "no line names an error"
    return found


def heaviest(figures: dict[str, Any], count: int = 10) -> list[str]:
    """Name the sources whose passes took most of a processor."""
    made = figures["made"]
    return sorted(made, key=lambda name: -sum(made[name].get(each, {}).get("processor", 0) for each in PASSES))[:count]


def write_heaviest(figures: dict[str, Any]) -> str:
    """Give a table of them."""
    made = figures["made"]
    lines = ["| source | kernels | SPIR-V | device pass | host pass |", "|---|---|---|---|---|"]
    for name in heaviest(figures):
        each_pass = [made[name].get(each) for each in PASSES]
        cells = [f"{each['processor']:.0f} s, {each['memory'] / 1e9:.1f} GB" if each else "" for each in each_pass]
        lines.append(f"| {name} | {made[name]['kernels']} | {made[name]['bytes'] / 1e6:.1f} MB | {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def main() -> None:
    """Do what is not done yet, then write the figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("work", type=Path, help="the folder that keeps everything; about 8 GB")
    parser.add_argument("--ops", required=True, help="a git repository of torch-xpu-ops with all its commits")
    parser.add_argument("--tree", default="", help="PyTorch's sources of that release, for headers that no wheel holds")
    parser.add_argument("--release", action="append", help="2.13, 2.14 and 2.6 unless named")
    parser.add_argument("--source", action="append", default=[], help="the name of a source; all unless named")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    asked = parser.parse_args()
    for name in asked.release or ("2.13", "2.14", "2.6"):
        work = Work(asked.work.expanduser().resolve(), read_release(name))
        work.own.mkdir(parents=True, exist_ok=True)
        try:
            prepare(work, asked.ops)
            build = configure(work, asked.tree)
            say(f"torch {name}: {work.own / 'ninja.log'}")
            compile_all(work, build, asked.jobs, asked.source)
            sources = len(list_objects(work, build))
        except UnavailableError as error:
            sys.exit(f"e2e-sycl-sources: {error}")
        log = (work.own / "ninja.log").read_text(errors="replace")
        figures = make_figures(work, log, build.rglob("*_gen*_*.cpp.o"), sources)
        (work.own / "figures.json").write_text(json.dumps(figures, indent=2) + "\n")
        (work.own / "heaviest.md").write_text(write_heaviest(figures))
        counts = f"{figures['kernels']} kernels, {len(figures['failed'])} failed"
        say(f"{figures['compiled']} of {sources} compiled, {counts}")


if __name__ == "__main__":
    main()
