"""What torch.__config__.show() says that a torch was built for. Pure."""

from __future__ import annotations

import re

SETTINGS = "- Build settings: "
FOR_XPU = re.compile(r"^\s*XPU backend\b|\bUSE_XPU=(?:ON|1)\b")
FOR_CUDA = re.compile(r"^\s*- CUDA Runtime (\d[\d.]*)|^\s*- NVCC architecture flags: |\bCUDA_VERSION=(\d[\d.]*)")
FOR_OTHERS = re.compile(r"\bUSE_(?:CUDA|ROCM)=(?:ON|1)\b|^\s*- (?:HIP Runtime|MIOpen)")
RELEASE = re.compile(r"\bTORCH_VERSION=((\d+)\.(\d+)\.\d+)\b")
WITH_XPU = (2, 5)
"""The first release whose settings name XPU, if only by "XPU backend" before them."""


def read_config(line: str) -> tuple[str, str] | None:
    """Give what a line of it tells: "xpu", "cuda 12.8", "no xpu" or nothing of it, and the version; None for others."""
    settings = SETTINGS in line
    if settings and FOR_XPU.search(line):
        return "xpu", _version(line)
    if (settings or line.lstrip().startswith("- ")) and (found := FOR_CUDA.search(line)):
        return f"cuda {found[1] or found[2] or ''}".strip(), _version(line)
    if not settings:
        return None
    version = RELEASE.search(line)
    none = version is not None and (int(version[2]), int(version[3])) >= WITH_XPU and not FOR_OTHERS.search(line)
    return "no xpu" if none else "", _version(line)


def _version(line: str) -> str:
    found = RELEASE.search(line)
    return found[1] if found else ""
