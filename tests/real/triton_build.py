"""The true Triton for Intel GPUs from source through the product, and kernels compiled by it: no GPU is needed.

`make e2e-triton` calls it: a Debian sid with its own LLVM and MLIR, Triton 3.7.0 by `--take triton=source`, then
`verify --codegen` for the profile's targets by Debian's ocloc. It goes on where it stopped. The sources come from
checkouts that variables name (triton_sources.py).
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import sys
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from real import ocloc_table
from real.debian_root import why_not, write_other
from real.outside import UnavailableError
from real.torch_attempts import Work, list_attempts, run_attempt, say
from real.torch_build import install
from real.triton_sources import PROFILE, derive, write_sources
from xpusetup.machine.tables import gpu_table

if TYPE_CHECKING:
    from collections.abc import Callable

Document = dict[str, Any]
FILES = Path(__file__).with_name("triton")
PLACE = "triton"
LLVM = "/usr/lib/llvm-22"
SUITE = "sid"
PACKAGES = (
    *("clang-22", "lld-22", "llvm-22-dev", "llvm-22-tools", "libmlir-22-dev", "mlir-22-tools"),
    *("intel-ocloc", "libigc2"),
    *("g++", "python3-dev", "python3-venv", "zlib1g-dev", "procps", "util-linux"),
)
MIRRORED = {
    "https://github.com/intel/intel-xpu-backend-for-triton": "triton",
    "https://github.com/KhronosGroup/SPIRV-LLVM-Translator": "spirv-llvm-translator",
    "https://github.com/KhronosGroup/SPIRV-Headers": "spirv-headers",
}


@dataclass(frozen=True)
class Difference:
    """A patch or a setting that a build with the LLVM of Triton's makers would not need, and why."""

    what: str
    why: str


PATCHES = (
    Difference("debian_llvm_22.patch", "Debian's LLVM is one shared library, its MLIR is static"),
    Difference(
        "intel_alone.patch",
        "Intel's back end alone, without Proton's dialect and without tools: they name the parts of LLVM one by one",
    ),
)
MOVED = Difference(
    "/opt/triton/include", "LLVM 22.1 moved a header that Triton includes, and the translator, which no patch reaches"
)
CMAKE = (
    Difference("-DCMAKE_BUILD_TYPE=None", "nothing is optimised: it is compiled to be used some minutes"),
    Difference("-DCMAKE_CXX_FLAGS_NONE='-O0 -w'", "same; and Triton takes warnings of a newer compiler for errors"),
    Difference("-DCMAKE_C_COMPILER=clang-22", "the compiler of the same LLVM"),
    Difference("-DCMAKE_CXX_COMPILER=clang++-22", "same"),
    Difference("-DCMAKE_EXE_LINKER_FLAGS=-fuse-ld=lld-22", "same, of the link"),
    Difference("-DCMAKE_SHARED_LINKER_FLAGS=-fuse-ld=lld-22", "same"),
    Difference("-DCMAKE_PROJECT_triton_INCLUDE=/opt/triton/mlir_headers.cmake", "MLIR's headers are compiled once"),
)


def prepare(work: Work) -> None:
    """Make the root with the sources and the product, as far as they are not there yet."""
    steps: tuple[tuple[str, Callable[[], None]], ...] = (
        ("a Debian sid with LLVM, MLIR and ocloc", partial(write_other, work.root, SUITE, PACKAGES)),
        ("the sources as git repositories", partial(write_repositories, work)),
        ("xpusetup in the root", partial(install, work)),
    )
    for title, make in steps:
        say(title)
        make()
    (work.root / "build").mkdir(exist_ok=True)
    shutil.copytree(FILES, work.root / "opt/triton", dirs_exist_ok=True)


def write_repositories(work: Work) -> None:
    """Make the repositories and the profile that names them, and let git find them under upstream's addresses."""
    kept = work.root / "opt/copied.json"
    if not kept.exists():
        found = write_sources(work.root / "opt/sources")
        (work.root / "opt" / PROFILE.name).write_text(derive(PROFILE.read_text(), found))
        kept.write_text(json.dumps({name: asdict(one) for name, one in found.items()}, indent=2) + "\n")
    rules = (f'[url "file:///opt/sources/{name}.git"]\n\tinsteadOf = {url}\n' for url, name in MIRRORED.items())
    (work.root / "etc/gitconfig").write_text("".join(rules))


def words_of_build(jobs: int) -> tuple[str, ...]:
    """Give the words that say how this build is another one than the shipped profile's."""
    arguments = {"TRITON_APPEND_CMAKE_ARGS": " ".join(each.what for each in CMAKE)}
    settings = {"LLVM_SYSPATH": LLVM, "CPATH": MOVED.what, **arguments}
    told = [word for name, value in settings.items() for word in ("--set", f"triton.{name}={value}")]
    patched = [word for each in PATCHES for word in ("--patch", f"triton=/opt/triton/{each.what}")]
    return ("--take", "triton=source", *told, *patched, "--launcher", "none", "--verify", "off", "--jobs", str(jobs))


def build(work: Work, jobs: int) -> None:
    """Build in as many attempts as it takes. Raises UnavailableError where it fails: the next call goes on there."""
    attempts = list_attempts(work, PLACE)
    if any(one.code == 0 for one in attempts):
        return
    title = f"{PLACE}.{len(attempts) + 1}"
    attempt = run_attempt(work, [one.name for one in attempts], title, PLACE, 0, words_of_build(jobs))
    if attempt.code != 0:
        said = (work.folder / f"measures/{title}.err").read_text()
        raise UnavailableError(f"the build ended with {attempt.code}: {said[-2000:]}")


def generate(work: Work) -> Document:
    """Compile kernels for the profile's targets through the product, and for every GPU of its table by its helper.

    Raises UnavailableError where a target of the profile is not generated; of the others ocloc's words are kept.
    """
    told = json.loads(work.inside(*work.xpusetup("verify --codegen", PLACE, "--json")))["result"]
    if told["verified"] is not None:
        raise UnavailableError(f"it says verified: {told['verified']}, and there is no device")
    devices = sorted({family.device for family in gpu_table().families if family.accelerator == "xpu"})
    out, python = f"{work.inner(PLACE)}/every.json", f"{work.inner(PLACE)}/venv/bin/python"
    helper = "/opt/checkout/xpusetup/helpers/generate_kernels.py"
    work.inside(python, helper, "--targets", ",".join(devices), "--out", out)
    every = json.loads(Path(f"{work.root}{out}").read_text())["targets"]
    return {"profile": told, "every": every, "table": hold_table(work)}


def hold_table(work: Work) -> Document:
    """Hold the product's table of GPUs against what this ocloc says that it knows. Raises UnavailableError."""
    folder = f"{work.inner(PLACE)}/ocloc"
    work.inside("sh", "-c", 'mkdir -p "$0" && cd "$0" && ocloc query SUPPORTED_DEVICES -concat', folder)
    text = Path(f"{work.root}{folder}/{ocloc_table.FILE}").read_text()
    found = ocloc_table.compare(text, gpu_table().families, ocloc_table.wheel_images.VERSIONS)
    if wrong := ocloc_table.wrong_in(found):
        raise UnavailableError(f"the table of GPUs and ocloc differ: {wrong}")
    return found


def make_figures(work: Work, generated: Document) -> Document:
    """Gather what was built from what, how long it took, and what came of each target."""
    attempts = list_attempts(work, PLACE)
    (wheel,) = work.place(PLACE).glob("wheels/*.whl")
    (build,) = work.place(PLACE).glob("src/triton/build/cmake.*")
    ninja = (f"{work.inner(PLACE)}/venv/bin/ninja", "-C", f"{work.inner(PLACE)}/src/triton/build/{build.name}")
    library = next(build.parent.parent.glob("**/libtriton.so"))
    return {
        "copied": json.loads((work.root / "opt/copied.json").read_text()),
        "attempts": [round(one.ended - one.began) for one in attempts if one.ended],
        "edges": len(work.inside(*ninja, "-t", "commands", "all").splitlines()),
        "wheel": {"name": wheel.name, "bytes": wheel.stat().st_size, "library": library.stat().st_size},
        "targets": [describe(one["name"], one["why"], one["kernels"]) for one in generated["profile"]["targets"]],
        "every": [describe(one["name"], one["refused"], one["kernels"]) for one in generated["every"]],
        "table": generated["table"],
        "versions": {name: generated["profile"][name] for name in ("triton", "ocloc")},
    }


def describe(name: str, why: str, kernels: list[Document]) -> Document:
    """Give what came of a target in few words."""
    wrong = [f"{one['name']} {one['half']}: {one['error']}" for one in kernels if one["error"]]
    return {
        "name": name,
        "why": why or "; ".join(wrong),
        "versions": sorted({version for one in kernels for version in one["versions"]}),
        "matrix": [one["name"] for one in kernels if one["matrix"]],
        "half": [one["half"] for one in kernels if one["half"]],
        "bytes": [one["image_bytes"] for one in kernels],
        "seconds": round(sum(one["seconds"] for one in kernels), 1),
    }


def main() -> None:
    """Do what is not done yet, then write the figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("work", type=Path, help="the folder that keeps everything; about 6 GB")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    asked = parser.parse_args()
    work = Work(asked.work.expanduser().resolve(), PROFILE.name)
    if why := why_not():
        say(f"left out: {why}")
        return
    try:
        prepare(work)
        build(work, asked.jobs)
        figures = make_figures(work, generate(work))
    except UnavailableError as error:
        sys.exit(f"e2e-triton: {error}")
    (work.folder / "figures.json").write_text(json.dumps(figures, indent=2) + "\n")
    say(f"done: {work.folder / 'figures.json'}")


if __name__ == "__main__":
    main()
