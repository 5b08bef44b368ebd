"""The folder of a toolkit that is made of Intel's wheels, and what is known of its versions.

The folder is laid out as oneAPI's: `bin/icpx` and `bin/icx` start `libexec/xpusetup/sycl_driver.py`; `include` holds
SYCL's headers, `lib` the libraries, and `toolkit.json` says which wheels they are of:

    {"schema": 1, "version": "2026.1.2", "jit": "lib/libsycl-jit.so.22.1", "wheels": {"intel-sycl-rt": "2026.1.2"}}
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from pathlib import Path

SCHEMA = 1
RECORD = "toolkit.json"


class Interface(NamedTuple):
    """What a version of the wheel expects of its callers.

    `descriptor` is the version of the structures by which a program registers its images (intel/llvm,
    sycl/source/detail/compiler.hpp), `major` that of libsycl, `compiler` what the compiler itself says, with its day.
    `libraries` is the folder inside the library that holds the device libraries.
    """

    descriptor: int
    major: int
    compiler: str
    day: str
    libraries: str = "lib"

    @property
    def number(self) -> str:
        """Give the version as the macro __INTEL_LLVM_COMPILER has it: 20260101 of 2026.1.1."""
        return "{:0>4}{:0>2}{:0>2}".format(*self.compiler.split("."))


KNOWN = {
    "2026.0.0": Interface(3, 9, "2026.0.0", "20260331"),
    "2026.1.0": Interface(3, 9, "2026.1.0", "20260617"),
    "2026.1.2": Interface(3, 9, "2026.1.1", "20260724"),
    "2026.2.0": Interface(3, 9, "2026.2.0", "20261001", "lib/dpcpp-2026/sycl"),
}
"""The versions of intel-sycl-rt that compiled, linked and ran programs here. The function that compiles is no interface
that Intel promises to keep, so any other version is refused."""
TOO_OLD = {"2025.2", "2025.3"}
"""Releases of the wheel that hold the compiler, but not the device libraries as bitcode."""


class HomeError(Exception):
    """A toolkit that cannot be used; the text says why and what mends it."""


class Home(NamedTuple):
    """A toolkit: its folder, the version of intel-sycl-rt, the compiler's library, the version of each wheel."""

    folder: Path
    version: str
    jit: Path
    wheels: dict[str, str]

    @property
    def interface(self) -> Interface:
        """Give what this version expects."""
        return KNOWN[self.version]

    @property
    def include(self) -> Path:
        """Give the folder of SYCL's headers."""
        return self.folder / "include"

    @property
    def lib(self) -> Path:
        """Give the folder of the libraries."""
        return self.folder / "lib"


def read_home(folder: Path) -> Home:
    """Read which toolkit lies in a folder. Raises HomeError where it is none, or none that is known."""
    try:
        told = json.loads((folder / RECORD).read_text(encoding="utf-8"))
        schema, version, jit = told["schema"], str(told["version"]), folder / str(told["jit"])
        wheels = {str(name): str(value) for name, value in told["wheels"].items()}
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        mend = f"make the folder anew: xpusetup toolkit {folder}"
        raise HomeError(f"{folder / RECORD} cannot be read ({type(error).__name__}); {mend}") from error
    if schema != SCHEMA:
        raise HomeError(f"{folder / RECORD} has schema {schema}, and this driver knows {SCHEMA}")
    if not jit.is_file():
        raise HomeError(f"{jit} is not there; make the folder anew: xpusetup toolkit {folder}")
    check_version(version)
    return Home(folder, version, jit, wheels)


def check_version(version: str) -> None:
    """Refuse a version of intel-sycl-rt by which nothing was compiled yet, with the reason."""
    if version in KNOWN:
        return
    known = ", ".join(KNOWN)
    if ".".join(version.split(".")[:2]) in TOO_OLD:
        why = "it lacks the device libraries that its compiler links"
    else:
        why = "nothing was compiled by it here yet, and the interface of its compiler may differ"
    raise HomeError(f"intel-sycl-rt {version} is refused: {why}; known are {known}")
