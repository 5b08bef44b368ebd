"""Versions of the driver in user space as one number, whatever a distribution calls its package. Pure."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from xpusetup.machine.facts import Facts


DRIVER_PACKAGES = (
    *("libze-intel-gpu1", "intel-opencl-icd", "intel-level-zero-gpu", "intel-compute-runtime", "intel-level-zero"),
    *("libze_intel_gpu1", "intel-opencl"),
)
"""The packages of compute-runtime: as Ubuntu and Debian, Intel, Fedora, SUSE and Arch name them."""
LEVEL_ZERO_PACKAGES = (
    "libze-intel-gpu1",
    "intel-level-zero-gpu",
    "intel-level-zero",
    "libze_intel_gpu1",
    "intel-compute-runtime",
)
"""Those of them with Level Zero's driver, which may be older than OpenCL's beside it."""
COMPILERS = (
    *("libigc2", "intel-igc-core-2", "intel-graphics-compiler", "intel-igc", "intel-igc-core", "libigc1"),
    *("intel-igc-opencl-2", "intel-igc-opencl", "intel-igc-libs"),
)
"""The packages of the graphics compiler."""
LOADERS = ("libze1", "level-zero", "level-zero-loader", "oneapi-level-zero")
"""The packages of Level Zero's loader."""
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
