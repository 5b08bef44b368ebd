"""Reads what CMake decided, and stops a build that would go on without the accelerator.

Before 2.14 a missing SYCL compiler is only a warning. PyTorch forces its decision into the cache: off is
`USE_XPU:BOOL=OFF`, on keeps whatever was passed (`1`, `ON`). A second, silent way to lose it is that torch-xpu-ops
leaves itself out (for one when the host compiler is not GCC): then ninja has no libtorch_xpu.so to build.
"""

from __future__ import annotations

import argparse
import os
from pathlib import Path

from helperlib.output import fail, say_summary, write_json

TOLD = ("CMAKE_BUILD_TYPE", "CMAKE_CXX_COMPILER", "BLAS", "USE_CUDA", "USE_XCCL", "USE_KINETO", "USE_MKLDNN")
ABI = ("GLIBCXX_USE_CXX11_ABI", "_GLIBCXX_USE_CXX11_ABI")
ON = {"1", "ON", "TRUE", "YES"}
LIBRARY = "libtorch_xpu.so"


def main() -> None:
    """Read the cache and ninja's file, write down the decisions, and stop without XPU when it was wanted."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", type=Path, required=True)
    parser.add_argument("--xpu", action="store_true")
    parser.add_argument("--out", type=Path, required=True)
    options = parser.parse_args()
    cache = parse_cache(read(options.build / "CMakeCache.txt"))
    has_library = LIBRARY in read(options.build / "build.ninja")
    decision = cache.get("USE_XPU", "")
    if options.xpu and decision.upper() not in ON:
        fail(
            f"CMake decided against XPU (USE_XPU is {decision or 'not set'}): no SYCL compiler that it can use",
            "look for SYCL in the log above; what is missing: xpusetup doctor --for build",
        )
    if options.xpu and not has_library:
        fail(
            f"USE_XPU is on, and yet there is no {LIBRARY} to build: torch-xpu-ops left itself out",
            "look for 'Not compiling with XPU' in the log above; the host compiler has to be GCC",
        )
    decisions = {name: cache[name] for name in ("USE_XPU", *TOLD) if name in cache}
    write_json(options.out, {"decisions": decisions, LIBRARY: has_library})
    print(", ".join(f"{name}={value}" for name, value in decisions.items()))
    say_summary(*describe(cache, os.environ.get("TORCH_XPU_ARCH_LIST", "")))


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
