"""Reads what CMake decided, and stops a build that has not what it was told to have, or has what it was to leave out.

CMake decides by what lies on the machine. Before 2.14 a missing SYCL compiler is only a warning, and a oneAPI in its
usual place makes a build for the CPU one for XPU. PyTorch forces its decision into the cache: off is
`USE_XPU:BOOL=OFF`, on keeps whatever was passed (`1`, `ON`). A second, silent way to lose XPU is that torch-xpu-ops
leaves itself out (for one when the host compiler is not GCC): then ninja has no libtorch_xpu.so to build.
"""

import argparse
import os
import re
from pathlib import Path

from helperlib.output import fail, say_summary, write_json

TOLD = ("CMAKE_BUILD_TYPE", "CMAKE_CXX_COMPILER", "BLAS", "USE_CUDA", "USE_XCCL", "USE_KINETO", "USE_MKLDNN")
ABI = ("GLIBCXX_USE_CXX11_ABI", "_GLIBCXX_USE_CXX11_ABI")
ON = {"1", "ON", "TRUE", "YES"}
LIBRARIES = {"USE_XPU": "libtorch_xpu.so", "USE_CUDA": "libtorch_cuda.so", "USE_ROCM": "libtorch_hip.so"}
"""What ninja builds where an accelerator is on. Only these have to be decided on: CMake may not know another name."""


def main() -> None:
    """Read the cache and ninja's file, write down the decisions, and stop where one is not as it was told to be."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", type=Path, required=True)
    parser.add_argument("--on", action="append", default=[], metavar="NAME", help="has to be on")
    parser.add_argument("--off", action="append", default=[], metavar="NAME", help="has to be off")
    parser.add_argument("--out", type=Path, required=True)
    options = parser.parse_args()
    cache, ninja = read_decisions(options.build)
    hold(cache, ninja, on=options.on, off=options.off)
    decisions = {name: cache[name] for name in ("USE_XPU", *TOLD) if name in cache}
    write_json(options.out, {"decisions": decisions, LIBRARIES["USE_XPU"]: LIBRARIES["USE_XPU"] in ninja})
    print(", ".join(f"{name}={value}" for name, value in decisions.items()))
    say_summary(*describe(cache, os.environ.get("TORCH_XPU_ARCH_LIST", "")))


def read_decisions(build: Path) -> tuple[dict[str, str], str]:
    """Read CMake's cache and ninja's file of a build folder; end where there is none."""
    return parse_cache(read(build / "CMakeCache.txt")), read(build / "build.ninja")


def hold(cache: dict[str, str], ninja: str, *, on: list[str], off: list[str]) -> None:
    """End where something is off that has to be on, or on that has to be off."""
    for name in on:
        hold_on(name, cache.get(name, ""), ninja)
    for name in off:
        hold_off(name, cache.get(name, ""), ninja)


def hold_on(name: str, decision: str, ninja: str) -> None:
    """End where CMake left out what has to be in."""
    library = LIBRARIES.get(name, "")
    xpu = name == "USE_XPU"
    if decision.upper() not in ON and (decision or library):
        fail(
            f"CMake decided against {name.removeprefix('USE_')} ({name} is {decision or 'not set'})"
            f"{': no SYCL compiler that it can use' if xpu else ', and it was asked for'}",
            "look for SYCL in the log above; what is missing:\n    xpusetup doctor --for build"
            if xpu
            else f"look for what it needs in the log above; to build without it: --set COMPONENT.{name}=0",
        )
    if library not in ninja:
        fail(
            f"{name} is on, and yet there is no {library} to build{': torch-xpu-ops left itself out' * xpu}",
            "look for 'Not compiling with XPU' in the log above; the host compiler has to be GCC"
            if xpu
            else f"look for {name} in the log above",
        )


def hold_off(name: str, decision: str, ninja: str) -> None:
    """End where CMake took what has to be left out."""
    library = LIBRARIES.get(name, "")
    makes = library and re.search(rf"^build [^:\n]*\b{re.escape(library)}\b", ninja, re.MULTILINE)
    if decision.upper() in ON or makes:
        fail(
            f"CMake decided for {name.removeprefix('USE_')}, which this build is to leave out"
            f" ({name} is {decision or 'not set'}{f', and {library} is to be built' if makes else ''})",
            f"{name}=0 was exported: a file of the tree switches it on; to have it: --set COMPONENT.{name}=1",
        )


def read(path: Path) -> str:
    """Read one of CMake's files; end when configure left none."""
    try:
        return path.read_text(errors="replace")
    except OSError as error:
        fail(f"configure left no {path}: {error.strerror}", "read the log above")


def parse_cache(text: str) -> dict[str, str]:
    """Read CMakeCache.txt: NAME:TYPE=VALUE, comments aside."""
    lines = (line for line in text.splitlines() if line and not line.startswith(("#", "//")))
    pairs = (line.partition("=") for line in lines if "=" in line)
    return {name.partition(":")[0]: value for name, _, value in pairs}


def describe(cache: dict[str, str], arch: str) -> list[str]:
    """Say what was decided in a few words; torch-xpu-ops takes the arch list from the environment, not the cache."""
    on = cache.get("USE_XPU", "").upper() in ON
    abi = next((cache[name] for name in ABI if name in cache), "").upper()
    told = {"": "", **dict.fromkeys(ON, "C++11 ABI")}.get(abi, "old C++ ABI")
    return ["XPU on" if on else "XPU off", told, arch if on else ""]


if __name__ == "__main__":
    main()
