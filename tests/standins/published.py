"""A package index with tiny wheels that have the names, versions and requirements of what is published."""

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from standins.wheels import pack_wheel

SYCL = ("intel-sycl-rt==2026.1.0",)
CUDA = ("nvidia-cublas-cu12==12.8.4.1", "triton==3.5.0")


class Packed(NamedTuple):
    """One wheel: its distribution, version and requirements, and the package folder that it owns."""

    distribution: str
    version: str
    requires: Sequence[str] = ()
    package: str = ""


XPU = (
    Packed("torch", "2.14.1+xpu", (*SYCL, "triton-xpu==3.8.0", "sympy"), "torch"),
    Packed("torchvision", "0.29.1+xpu", ("torch==2.14.1",), "torchvision"),
    Packed("torchaudio", "2.11.0+xpu", (), "torchaudio"),
    Packed("triton-xpu", "3.8.0", (), "triton"),
    Packed("intel-sycl-rt", "2026.1.0"),
    Packed("sympy", "1.14.0"),
)
"""What the profile of 2.14 takes, with one run-time library for all of them."""

OTHERS = (
    Packed("torch", "2.9.0", CUDA, "torch"),
    Packed("torch", "2.15.0", CUDA, "torch"),
    Packed("triton", "3.5.0", (), "triton"),
    Packed("nvidia-cublas-cu12", "12.8.4.1"),
    Packed("intel-extension-for-pytorch", "2.8.10+xpu", (), "intel_extension_for_pytorch"),
    Packed("needs-old-torch", "1.2.3", ("torch==2.9.0",)),
    Packed("likes-torch", "1.0", ("torch>=2",)),
    Packed("packaging", "26.3"),
)
"""What else people install."""


def make_index(folder: Path, wheels: Sequence[Packed] = (*XPU, *OTHERS)) -> str:
    """Make a simple index (PEP 503) of files and give its address."""
    for one in wheels:
        text = f"__version__ = {one.version!r}\nowner = {one.distribution!r}\n".encode()
        files = {f"{one.package}/__init__.py": text} if one.package else {}
        wheel = pack_wheel(folder / one.distribution, one.distribution, one.version, files, one.requires)
        page = folder / one.distribution / "index.html"
        before = page.read_text() if page.exists() else "<!DOCTYPE html>\n"
        page.write_text(f'{before}<a href="{wheel.name.replace("+", "%2B")}">{wheel.name}</a>\n')
    return folder.as_uri()
