"""What a device pass may not leave behind: kernels that are missing, and what this tool chain cannot finish.

The library says nothing of any of it; a program would fail when it runs, or compute something else.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from helperlib.sycl.images import MOST
from helperlib.sycl.spirv import read_imports

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from helperlib.sycl.images import DeviceImage, ObjectImages

CONSTANT = "2020SpecConstantValue"
"""What stands for a specialization constant until a pass makes it one, which the library does not have."""
ESIMD_HEADER = "/sycl/ext/intel/esimd.hpp"
ESIMD = (
    "kernels of ESIMD are refused: their headers need vectors of clang, and g++ compiles the host's half; "
    "name a clang by -fsycl-host-compiler="
)
RUN_TIME = ("__spirv_", "__devicelib_")
"""How functions are called that the run time or a driver adds."""


def find_trouble(images: Sequence[DeviceImage], names: Iterable[str]) -> str:
    """Say why the images of a source, whose host pass asks for these kernels, cannot be used; empty where they can."""
    missing = set(names) - {name for each in images for name in each.kernels}
    if missing:
        return f"kernels that the device pass left out in silence: {', '.join(sorted(missing))}"
    for each in images:
        if any(CONSTANT in name for name in read_imports(each.data)):
            kernels = ", ".join(each.kernels)
            return (
                "specialization constants are refused: the library does not lower them, and the kernel could not be "
                f"built when it is launched (one of {kernels}); use a template parameter or a kernel argument"
            )
    if len(images) > MOST:
        return f"{len(images)} device images in one object; {MOST} is the most"
    return ""


def is_esimd(images: Iterable[DeviceImage], included: Iterable[str]) -> bool:
    """Say whether a source is written for ESIMD."""
    marked = any("isEsimdImage" in values for each in images for values in each.properties.values())
    return marked or any(each.endswith(ESIMD_HEADER) for each in included)


def find_undefined(records: Sequence[ObjectImages]) -> str:
    """Say which functions of device code are asked for and in none of the records; empty where there is none."""
    images = [image for record in records for image in record.images]
    there = {name for image in images for name in image.properties.get("SYCL/exported symbols", {})}
    for record in records:
        for image in record.images:
            lacking = set(image.properties.get("SYCL/imported symbols", {})) - there
            lacking = {name for name in lacking if not name.startswith(RUN_TIME)}
            if lacking:
                return f"undefined in device code: {', '.join(sorted(lacking))} (asked for in {record.source})"
    return ""


def find_mixed(records: Sequence[ObjectImages]) -> str:
    """Say which source gives a function to others and has device globals; empty where there is none.

    The run time links such an image to those that ask for it, and then launches its own kernels with globals that
    nobody set: a program crashes (intel-sycl-rt 2026.1.0 and 2026.1.2).
    """
    images = [(record.source, image.properties) for record in records for image in record.images]
    wanted = {name for _, held in images for name in held.get("SYCL/imported symbols", {})}
    for source, held in images:
        given = wanted & set(held.get("SYCL/exported symbols", {}))
        if given and "SYCL/device globals" in held:
            names = ", ".join(sorted(given))
            return (
                f"{source} has device globals, and functions for kernels of others ({names}): part them in two sources"
            )
    return ""
