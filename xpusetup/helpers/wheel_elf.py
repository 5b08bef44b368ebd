"""What the ELF files of a wheel say about themselves: libraries they need, where they look, C++ ABI, device code."""

from __future__ import annotations

import mmap
import re
import struct
from dataclasses import dataclass
from typing import IO

from elf_file import MAGIC, NEEDED, RPATH, RUNPATH, SONAME, Elf, NotElfError
from loader_disk import split_path
from wheel_images import Targets, read_lists, read_targets

__all__ = ("MAGIC", "Library", "NotElfError", "highest_versions", "read_library")
NEW_STRINGS = re.compile(rb"__cxx11|B5cxx11")
OLD_STRINGS = re.compile(rb"^_ZNK?Ss\d|RKSs(?=[A-Z_\d]|$)")
"""Mangled std::string before C++11: its members, and functions that take a reference to one."""
DEVICE_IMAGES = re.compile(r"__CLANG_OFFLOAD_BUNDLE__|__sycl_offload|\.tgtimg|\.llvm\.offloading|llvm_offload_entries")
"""Names that LLVM's and Intel's linkers give to sections with device code."""
REGISTERS = b"__sycl_register_lib"
"""What a library with device code calls when it is loaded: without it the SYCL runtime knows of none."""
SYMBOL_VERSION = re.compile(r"(GLIBC|GLIBCXX|CXXABI)_(\d[\d.]*)")


NO_TARGETS = Targets()


@dataclass(frozen=True)
class Library:
    path: str
    soname: str | None = None
    needed: tuple[str, ...] = ()
    rpath: tuple[str, ...] | None = None  # DT_RPATH, which serves what a library loads as well
    runpath: tuple[str, ...] | None = None  # DT_RUNPATH, for the library itself
    images: tuple[str, ...] = ()
    registers: bool = False  # device code with the SYCL runtime
    targets: Targets = NO_TARGETS
    lists: frozenset[str] = frozenset()  # texts that are lists of GPUs
    floor: tuple[tuple[str, str], ...] = ()
    new_strings: int = 0
    old_strings: int = 0
    size: int = 0


def read_library(path: str, file: IO[bytes]) -> Library:
    """Read an ELF file. Raises NotElfError for one that cannot be read."""
    with mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ) as data:
        try:
            return _describe(path, Elf(data), len(data))
        except struct.error as error:
            raise NotElfError(f"its tables point outside of it: {error}") from error


def _describe(path: str, elf: Elf, size: int) -> Library:
    names = elf.strings().split(b"\0")
    sections = [section.name for section in elf.sections()]
    images = tuple(name for name in sections if DEVICE_IMAGES.search(name))
    return Library(
        path=path,
        soname=next(iter(elf.texts(SONAME)), None),
        needed=elf.texts(NEEDED),
        rpath=split_path(elf.texts(RPATH)),
        runpath=split_path(elf.texts(RUNPATH)),
        images=images,
        registers=REGISTERS in names,
        targets=read_targets(elf) if images else NO_TARGETS,
        lists=read_lists(elf) if images or "xpu" in path else frozenset(),
        floor=tuple(sorted(highest_versions([asked.version for _, asked in elf.asked_versions()]).items())),
        new_strings=sum(bool(NEW_STRINGS.search(name)) for name in names),
        old_strings=sum(bool(OLD_STRINGS.search(name)) for name in names),
        size=size,
    )


def highest_versions(names: list[str]) -> dict[str, str]:
    """Give the newest version of each kind (GLIBC, GLIBCXX, CXXABI) among the names of symbol versions."""
    highest: dict[str, str] = {}
    for match in filter(None, map(SYMBOL_VERSION.fullmatch, names)):
        kind, version = match.groups()
        highest[kind] = max(highest.get(kind, "0"), version, key=parse_version)
    return highest


def parse_version(text: str) -> tuple[int, ...]:
    return tuple(int(part) for part in text.split("."))
