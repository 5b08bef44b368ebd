"""The true FindMKLDNN.cmake of a PyTorch release builds the true oneDNN that our profile vendors, without a network.

    ONEDNN=CLONE TORCH_FINDMKLDNN_2_7=FILE TORCH_FINDMKLDNN_2_14=FILE make e2e-onednn

CLONE is a clone of oneDNN with its tags, FILE cmake/Modules/FindMKLDNN.cmake of that release. The commands that fetch
and the settings of git are those of the plans. Headers and libraries of SYCL are Intel's, from the package index; the
compiler does the host's half alone (host_pass.py). It goes on where it stopped.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from data.profiles import shipped
from data.targets import NEW
from real.toolkit import compiler_of, write_own
from standins.eras import WITHOUT
from standins.repository import write_text
from xpusetup.base.model import Layout, Request
from xpusetup.plan.steps import make_plan

if TYPE_CHECKING:
    from collections.abc import Mapping

HELPERS = Path(__file__).resolve().parents[2] / "xpusetup/helpers"
PROJECT = """cmake_minimum_required(VERSION 3.18)
project(Torch C CXX)
include(ExternalProject)
set(USE_XPU ON)
set(XPU_SYCL_COMPILER "$ENV{CMPLR_ROOT}/bin/icx")
list(APPEND CMAKE_MODULE_PATH "${PROJECT_SOURCE_DIR}/cmake/Modules")
find_package(MKLDNN)
add_executable(probe probe.cpp)
target_link_directories(probe PRIVATE "$ENV{CMPLR_ROOT}/lib")
# What a static library needs stands after it on the linker's line.
target_link_libraries(xpu_mkldnn INTERFACE sycl OpenCL dl pthread)
target_link_libraries(probe PRIVATE xpu_mkldnn)
"""
PROBE = """#include <oneapi/dnnl/dnnl.h>
#include <cstdio>

int main() {
  const dnnl_version_t* found = dnnl_version();
  std::printf("v%d.%d.%d %s\\n", found->major, found->minor, found->patch, found->hash);
}
"""


class Release(NamedTuple):
    """A release: its profile, and the variable that names its file."""

    profile: str
    variable: str


RELEASES = (Release("torch-2.7", "TORCH_FINDMKLDNN_2_7"), Release("torch-2.14", "TORCH_FINDMKLDNN_2_14"))


def main() -> None:
    """Build for each release whose file is named."""
    work, clone = Path(sys.argv[1]), os.environ.get("ONEDNN", "")
    asked = [release for release in RELEASES if os.environ.get(release.variable)]
    if not clone or not asked:
        sys.exit(__doc__)
    for release in asked:
        build(work / release.profile, release, Path(clone).resolve(), Path(os.environ[release.variable]))


def build(folder: Path, release: Release, clone: Path, file: Path) -> None:
    """Fetch as the plan does, then configure and build where there is no network, and run what was linked."""
    profile, tree = shipped(release.profile), folder / "src/torch"
    assert profile.runtime_requirements is not None
    toolkit = write_own(compiler_of(profile.runtime_requirements.pins), folder / "oneapi", folder / "oneapi/wheels")
    texts = {"CMakeLists.txt": PROJECT, "probe.cpp": PROBE, "cmake/Modules/FindMKLDNN.cmake": file.read_text()}
    for name, text in texts.items():
        if not (tree / name).exists() or (tree / name).read_text() != text:
            write_text(tree / name, text)
    plan = make_plan(profile, Request(), NEW, Layout())
    steps = {step.id: step for step in plan.steps}
    (fetch,) = (argv for argv in steps["torch.fetch"].run if argv[-1].endswith("third_party/onednn"))
    mirror = dict(step_settings(fetch, clone))
    run([sys.executable, *(placed(word, folder) for word in fetch[1:])], {**plain(), **mirror})
    settings = {
        name: placed(value, folder) for name, value in steps["torch.build"].env if name.startswith("GIT_CONFIG")
    }
    env = {**plain(), **settings, **activated(toolkit), "CXXFLAGS": f"-ffile-prefix-map={tree}=torch"}
    made = folder / "build"
    run([*WITHOUT, "cmake", "-G", "Ninja", "-S", str(tree), "-B", str(made)], env)
    run([*WITHOUT, "cmake", "--build", str(made)], env)
    said = run([str(made / "probe")], env)
    head = run(["git", "-C", str(tree / "third_party/onednn"), "rev-parse", "HEAD"], plain()).strip()
    tag = fetch[fetch.index("--tag") + 1]
    if said.split() != [f"{tag}.0"[: len(said.split()[0])], head]:
        sys.exit(f"{release.profile}: the library says {said!r}, and {tag} is {head}")
    sys.stdout.write(f"{release.profile}: {file} built {tag} {head} without a network\n")


def plain() -> dict[str, str]:
    """Give what programs need of this place."""
    kept = ("PATH", "HOME", "TMPDIR", "CCACHE_DIR", "MAX_JOBS")
    return {"LC_ALL": "C.UTF-8", **{name: os.environ[name] for name in kept if name in os.environ}}


def activated(compiler: Path) -> dict[str, str]:
    """Give what the toolkit's scripts would set, and the compiler cache where there is one."""
    cached = {f"CMAKE_{name}_COMPILER_LAUNCHER": "ccache" for name in ("C", "CXX")} if shutil.which("ccache") else {}
    home = str(compiler)
    paths = {"PATH": f"{home}/bin:{os.environ['PATH']}", "LD_LIBRARY_PATH": f"{home}/lib"}
    return {"CMPLR_ROOT": home, "SYCL_ROOT": home, **paths, **cached}


def step_settings(fetch: tuple[str, ...], clone: Path) -> dict[str, str]:
    """Give the settings by which the addresses of a fetch are found in a clone that lies here."""
    address = fetch[fetch.index("--repo") + 1]
    pairs = {f"url.{clone}.insteadOf": address, "uploadpack.allowAnySHA1InWant": "true", "safe.directory": "*"}
    numbered = {f"GIT_CONFIG_KEY_{number}": key for number, key in enumerate(pairs)}
    numbered |= {f"GIT_CONFIG_VALUE_{number}": value for number, value in enumerate(pairs.values())}
    return {"GIT_CONFIG_COUNT": str(len(pairs)), **numbered}


def placed(word: str, folder: Path) -> str:
    """Give a word of a plan for a root."""
    return word.replace("@ROOT@/helpers", str(HELPERS)).replace("@ROOT@", str(folder))


def run(command: list[str], env: Mapping[str, str]) -> str:
    """Run to the end, its output shown and given back. An attempt to reach out is a failure."""
    sys.stdout.write(f"+ {' '.join(command)}\n")
    sys.stdout.flush()
    said = []
    with subprocess.Popen(
        command, env=dict(env), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    ) as process:
        assert process.stdout is not None
        for line in process.stdout:
            sys.stdout.write(line)
            sys.stdout.flush()
            said.append(line)
    if process.returncode or any("asked for the network" in line for line in said):
        sys.exit(f"{command[0]} ended with {process.returncode}; the same command goes on there")
    return "".join(said)


if __name__ == "__main__":
    main()
