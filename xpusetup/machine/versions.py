"""Versions of the driver in user space as one number, whatever a distribution calls its package. Pure."""

import re
from collections.abc import Mapping

from xpusetup.machine.facts import Facts

LEVEL_ZERO = {
    "apt": ("libze-intel-gpu1", "intel-level-zero-gpu"),
    "rpm": ("intel-level-zero-gpu", "intel-level-zero", "intel-compute-runtime"),
    "zypper": ("libze_intel_gpu1",),
    "pacman": ("intel-compute-runtime",),
}
"""The packages of which one brings Level Zero's driver, by the manager that has them."""
LOADER = {
    "apt": ("libze1", "level-zero"),
    "rpm": ("level-zero", "oneapi-level-zero"),
    "pacman": ("level-zero-loader",),
}
"""The packages of which one brings Level Zero's loader."""
COMPILER = {
    "apt": ("libigc1", "libigc2", "intel-igc-core", "intel-igc-core-2"),
    "rpm": ("intel-igc-core", "intel-igc-core-2", "intel-igc", "intel-igc-libs", "intel-graphics-compiler"),
    "pacman": ("intel-graphics-compiler",),
}
"""The packages of which one brings the graphics compiler."""
OPENCL = ("intel-opencl-icd", "intel-opencl")
"""The packages of OpenCL's driver alone."""


def _all(part: Mapping[str, tuple[str, ...]]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(name for names in part.values() for name in names))


LEVEL_ZERO_PACKAGES = _all(LEVEL_ZERO)
LEVEL_ZERO_ALONE = tuple(name for name in LEVEL_ZERO_PACKAGES if name != "intel-compute-runtime")
"""Those of them that do not bring OpenCL's driver too."""
DRIVER_PACKAGES = (LEVEL_ZERO_PACKAGES[0], *OPENCL, *LEVEL_ZERO_PACKAGES[1:])
"""The packages of compute-runtime, of which the first that is there tells its version."""
COMPILERS = (*_all(COMPILER)[::-1], "intel-igc-opencl-2", "intel-igc-opencl")
LOADERS = _all(LOADER)
WITHOUT_OLD = 30872
"""The build of 24.35: drivers from it on have nothing for graphics before Gen12."""
BUILD = re.compile(r"^(?:\d+:)?(?:\d{2}\.\d{2}|1\.\d{1,3})\.(\d{5})\b")
LISTED = re.compile(r"\[(?:\d{2}\.\d{2}|1\.\d{1,3})\.(\d{5})(?:[.+]\d+)?\]")


OF_INTEL = re.compile(r"~2\d\.04|\.el\d|-i\d{3}|-\d{3,4}(?:~|$)")
"""How Intel's own repositories number a package behind the release: 23.43.27642.50-803~22.04."""


def is_stock(version: str) -> bool:
    """Say whether a version of the driver is that of Ubuntu 24.04's own archive (23.43), and not Intel's package."""
    return version.startswith("23.43.27642") and OF_INTEL.search(version) is None


def first_package(facts: Facts, names: tuple[str, ...]) -> str:
    """Give the version of the first of these packages that is there; empty without one."""
    packages = (facts.userland.packages or {}) if facts.userland else {}
    return next((packages[name] for name in names if name in packages), "")


def driver_build(facts: Facts) -> int | None:
    """Give the build of compute-runtime: the third number of 25.40.35563.7, as of 1.6.35563 in Level Zero's words.

    It grows from release to release. Without a package it is read from what sycl-ls says of the GPU.
    """
    found = BUILD.match(first_package(facts, DRIVER_PACKAGES))
    if found is None and facts.userland:
        lines = [line for line in facts.userland.sycl or [] if ":gpu]" in line]
        lines += [device.name for device in facts.userland.level_zero.devices] if facts.userland.level_zero else []
        found = next(filter(None, map(LISTED.search, lines)), None)
    return int(found[1]) if found else None


def level_zero_build(facts: Facts) -> int | None:
    """Give the build of Level Zero's driver; where no package of its own is told, that of the driver in general."""
    found = BUILD.match(first_package(facts, LEVEL_ZERO_PACKAGES))
    return int(found[1]) if found else driver_build(facts)
