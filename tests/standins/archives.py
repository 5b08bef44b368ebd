"""What builds take ready made, packed as their makers pack it: one folder with all in it, the same bytes each time."""

import gzip
import io
import tarfile
from pathlib import Path

from standins.releases import Release
from standins.repository import copy_template, write_text

PYBIND11_HEADER = """#pragma once
#define PYBIND11_VERSION "{version}"
"""


def make_archives(folder: Path, release: Release) -> dict[str, Path]:
    """Pack what the Triton of a release is built with, by the name of the archive in the profile."""
    if not release.llvm:
        return {}
    llvm, pybind11 = f"llvm-{release.llvm[:8]}-almalinux-x64", f"pybind11-{release.pybind11}"
    copy_template("llvm", folder / "trees" / llvm, {"LLVM": release.llvm})
    header = folder / "trees" / pybind11 / "include/pybind11/pybind11.h"
    write_text(header, PYBIND11_HEADER.format(version=release.pybind11))
    named = {"llvm": llvm, "pybind11": pybind11}
    return {name: pack(folder / f"{top}.tar.gz", folder / "trees" / top) for name, top in named.items()}


def pack(path: Path, tree: Path) -> Path:
    """Pack a folder, without dates and owners."""
    memory = io.BytesIO()
    with tarfile.open(fileobj=memory, mode="w") as tar:
        for file in sorted(each for each in tree.rglob("*") if each.is_file()):
            inside = tarfile.TarInfo(f"{tree.name}/{file.relative_to(tree)}")
            inside.size = file.stat().st_size
            tar.addfile(inside, io.BytesIO(file.read_bytes()))
    path.write_bytes(gzip.compress(memory.getvalue(), mtime=0))
    return path
