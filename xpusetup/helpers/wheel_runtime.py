"""What a wheel needs at run time: libraries from outside, held against the distributions that it requires."""

from __future__ import annotations

import re
from fnmatch import fnmatch
from posixpath import basename
from typing import TYPE_CHECKING

from summary import render_size
from wheel_contents import Finding, some
from wheel_python import opens

if TYPE_CHECKING:
    from collections.abc import Iterator

    from wheel_contents import Wanted, Wheel

SYSTEM = (
    *("ld-linux*.so.*", "libc.so.6", "libm.so.6", "libdl.so.2", "librt.so.1", "libpthread.so.0", "libutil.so.1"),
    *("libresolv.so.2", "libnsl.so.1", "libanl.so.1", "libmvec.so.1", "libgcc_s.so.1", "libstdc++.so.6"),
    *("libz.so.1", "libexpat.so.1", "libatomic.so.1", "libX11.so.6", "libXext.so.6", "libXrender.so.1"),
    *("libICE.so.6", "libSM.so.6", "libGL.so.1", "libglib-2.0.so.0", "libgobject-2.0.so.0", "libgthread-2.0.so.0"),
)
"""What wheels of the manylinux tags may take from any system: PEP 600 and the policies of auditwheel."""
OF_DRIVER = (
    "libze_loader.so.1",
    "libOpenCL.so.1",
    "libcuda.so.1",
    "libnvidia-*.so.*",
    "libascend_hal.so",
    "libdrm*.so.2",
)
"""What the driver of a device brings, which no distribution may."""
BROUGHT = {
    "intel-sycl-rt": ("libsycl.so.*", "libsycl-*.so*", "libpstloffload.so.*"),
    "intel-cmplr-lib-ur": ("libur_*.so*",),
    "intel-cmplr-lib-rt": ("libimf.so", "libsvml.so", "libirng.so", "libirc.so", "libintlc.so.5", "libdpcpp*.so*"),
    "intel-openmp": ("libiomp*.so*", "libomptarget*.so*"),
    "intel-opencl-rt": ("libintelocl*.so*",),
    "intel-pti": ("libpti*.so*",),
    "umf": ("libumf.so.*",),
    "tcmlib": ("libtcm.so.*",),
    "tbb": ("libtbb*.so*",),
    "mkl": ("libmkl_[!s]*.so*", "libmkl_sequential.so*", "libmkl_scalapack*.so*"),
    "onemkl-sycl-blas": ("libmkl_sycl_blas.so*",),
    "onemkl-sycl-lapack": ("libmkl_sycl_lapack.so*",),
    "onemkl-sycl-dft": ("libmkl_sycl_dft.so*",),
    "onemkl-sycl-rng": ("libmkl_sycl_rng.so*",),
    "onemkl-sycl-sparse": ("libmkl_sycl_sparse.so*",),
    "oneccl": ("libccl.so*",),
    "impi-rt": ("libmpi.so*", "libmpicxx.so*", "libmpifort.so*"),
    "torch": ("libtorch*.so", "libc10*.so", "libshm.so"),
}
"""Distributions of the package index and the libraries that are in them."""
BRINGS_ALL = {
    "dpcpp-cpp-rt": ("intel-sycl-rt", "intel-cmplr-lib-ur", "intel-cmplr-lib-rt", "intel-openmp", "umf", "tcmlib"),
    "intel-sycl-rt": ("intel-cmplr-lib-ur", "intel-cmplr-lib-rt", "umf", "tcmlib"),
    "intel-cmplr-lib-ur": ("umf",),
    "intel-opencl-rt": ("intel-cmplr-lib-rt", "tbb", "tcmlib"),
    "mkl": ("intel-openmp", "tbb", "tcmlib"),
    "onemkl-sycl-blas": ("mkl", "intel-openmp", "tbb", "tcmlib", "intel-sycl-rt", "dpcpp-cpp-rt"),
    "torch": ("intel-sycl-rt", "intel-cmplr-lib-ur", "intel-cmplr-lib-rt", "mkl", "umf", "tcmlib", "oneccl", "impi-rt"),
}
"""What they require in turn."""
REQUIREMENT = re.compile(r"^\s*([A-Za-z0-9][\w.-]*)")


def plain(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def required(wheel: Wheel) -> set[str]:
    """Give the distributions that a wheel requires, leaving out those of extras, and those that these require."""
    lines = (line for line in wheel.requires if "extra ==" not in line)
    direct = {plain(match[1]) for match in map(REQUIREMENT.match, lines) if match}
    more = {each for name in direct for each in BRINGS_ALL.get(name, ())}
    return direct | more | {each for name in more for each in BRINGS_ALL.get(name, ())}


def owner_of(library: str) -> str:
    """Give the distribution that brings a library; empty where none is known."""
    return next((name for name, globs in BROUGHT.items() if any(fnmatch(library, glob) for glob in globs)), "")


def from_outside(wheel: Wheel) -> dict[str, str]:
    """Give the libraries that are neither in the wheel nor any system's or driver's, and for each one who needs it."""
    inside = {basename(member.path) for member in wheel.members}
    inside |= {one.soname for one in wheel.libraries if one.soname}
    found: dict[str, str] = {}
    for one in wheel.libraries:
        for name in one.needed:
            if name not in inside and not any(fnmatch(name, glob) for glob in (*SYSTEM, *OF_DRIVER)):
                found.setdefault(name, basename(one.path))
    return found


def check_requires(wheel: Wheel, _: Wanted) -> Finding:
    """Hold the libraries from outside against the requirements: whoever installs the wheel gets no other."""
    there = required(wheel)
    told = "; ".join(line for line in wheel.requires if "extra ==" not in line) or "requires nothing"
    lost, foreign, with_torch = [], [], False
    for name, by in sorted(from_outside(wheel).items()):
        owner = owner_of(name)
        if owner == "torch":  # what is linked to torch is imported by torch or after it, whether it says so or not
            with_torch = True
        elif owner and owner not in there and owner != plain(wheel.name):
            lost.append(f"{by} needs {name}, which {owner} brings")
        elif not owner:
            foreign.append(f"{by} needs {name}")
    claims = bool(there & (BROUGHT.keys() - {"torch"}))
    portable = any("manylinux" in tag for tag in wheel.tags)
    if lost:
        return Finding("fail" if claims else "warn", f"not required: {some(lost)}", told)
    if foreign:  # torch has loaded what it requires itself, of which CUDA's libraries are not known here
        text = f"neither in the wheel nor of a distribution that is known: {some(foreign)}"
        return Finding("fail" if portable and not (there - PURE or with_torch) else "warn", text, told)
    return Finding("ok" if there else "info", told)


PURE = {"filelock", "typing-extensions", "setuptools", "sympy", "networkx", "jinja2", "fsspec", "packaging", "torch"}
"""Requirements that bring no libraries for others to use."""


def wrong_names(wheel: Wheel) -> Iterator[tuple[str, bool]]:
    """Name the libraries that are asked for by a SONAME under which no file lies in the wheel.

    With each, whether it may be loaded by then, and answers to that name: others need it as its file is called, as
    in the published torchvision, or Python opens it.
    """
    files = {basename(member.path) for member in wheel.members}
    needed = {need for one in wheel.libraries for need in one.needed}
    names: dict[str, str] = {one.soname: basename(one.path) for one in wheel.libraries if one.soname}
    for name in sorted((needed - files) & names.keys()):
        file = names[name]
        loaded = file in needed or any(opens(one.name, file) for one in wheel.opened)
        yield f"{file} is needed as {name}, and no file is called so", loaded


def check_sizes(wheel: Wheel, _: Wanted) -> Finding:
    """Say how large the wheel is and which libraries make it so."""
    rows = sorted(wheel.libraries, key=lambda one: -one.size)[:3]
    parts = ", ".join(f"{basename(one.path)} {render_size(one.size)}" for one in rows)
    whole = sum(member.size for member in wheel.members)
    return Finding("info", f"{render_size(whole)} unpacked" + (f"; {parts}" if parts else ""))
