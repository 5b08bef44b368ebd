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
    number = "-2" if release.triton == "3.8.0" else ""
    named = {"llvm": f"llvm-{release.llvm[:8]}-almalinux-x64{number}"}
    copy_template("llvm", folder / "trees" / named["llvm"], {"LLVM": release.llvm})
    if release.pybind11:
        named["pybind11"] = f"pybind11-{release.pybind11}"
        header = folder / "trees" / named["pybind11"] / "include/pybind11/pybind11.h"
        write_text(header, PYBIND11_HEADER.format(version=release.pybind11))
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
