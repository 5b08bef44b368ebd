"""What the ELF files of a wheel say about themselves: libraries they need, where they look, C++ ABI, device code."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import IO, Any

from elftools.elf.elffile import ELFFile

MAGIC = b"\x7fELF"
NEW_STRINGS = re.compile(rb"__cxx11|B5cxx11")
OLD_STRINGS = re.compile(rb"^_ZNK?Ss\d|RKSs(?=[A-Z_\d]|$)")
"""Mangled std::string before C++11: its members, and functions that take a reference to one."""
DEVICE_IMAGES = re.compile(r"__CLANG_OFFLOAD_BUNDLE__|__sycl_offload|\.tgtimg|\.llvm\.offloading|llvm_offload_entries")
"""Names that LLVM's and Intel's linkers give to sections with device code."""
SYMBOL_VERSION = re.compile(r"(GLIBC|GLIBCXX|CXXABI)_(\d[\d.]*)")


@dataclass(frozen=True)
class Library:
    path: str
    soname: str | None = None
    needed: tuple[str, ...] = ()
    rpath: tuple[str, ...] | None = None  # DT_RPATH, which serves what a library loads as well
    runpath: tuple[str, ...] | None = None  # DT_RUNPATH, for the library itself
    images: tuple[str, ...] = ()
    floor: tuple[tuple[str, str], ...] = ()
    new_strings: int = 0
    old_strings: int = 0


def read_library(path: str, file: IO[bytes]) -> Library:
    elf = ELFFile(file)
    tags = read_dynamic(elf)
    names = section_data(elf, ".dynstr").split(b"\0")
    return Library(
        path=path,
        soname=next(iter(tags.get("DT_SONAME", ())), None),
        needed=tuple(tags.get("DT_NEEDED", ())),
        rpath=split_path(tags.get("DT_RPATH")),
        runpath=split_path(tags.get("DT_RUNPATH")),
        images=tuple(section.name for section in elf.iter_sections() if DEVICE_IMAGES.search(section.name)),
        floor=tuple(sorted(highest_versions(read_versions(elf)).items())),
        new_strings=sum(bool(NEW_STRINGS.search(name)) for name in names),
        old_strings=sum(bool(OLD_STRINGS.search(name)) for name in names),
    )


def section_data(elf: Any, name: str) -> bytes:
    section = elf.get_section_by_name(name)
    return section.data() if section else b""


def read_dynamic(elf: Any) -> dict[str, list[str]]:
    """Collect the dynamic entries that hold text."""
    section = elf.get_section_by_name(".dynamic")
    found: dict[str, list[str]] = {}
    for tag in section.iter_tags() if section else ():
        kind = tag.entry.d_tag
        if kind in {"DT_SONAME", "DT_NEEDED", "DT_RPATH", "DT_RUNPATH"}:
            found.setdefault(kind, []).append(getattr(tag, kind.removeprefix("DT_").lower()))
    return found


def split_path(texts: list[str] | None) -> tuple[str, ...] | None:
    return None if texts is None else tuple(":".join(texts).split(":"))


def read_versions(elf: Any) -> list[str]:
    section = elf.get_section_by_name(".gnu.version_r")
    return [one.name for _, needed in section.iter_versions() for one in needed] if section else []


def highest_versions(names: list[str]) -> dict[str, str]:
    """Give the newest version of each kind (GLIBC, GLIBCXX, CXXABI) among the names of symbol versions."""
    highest: dict[str, str] = {}
    for match in filter(None, map(SYMBOL_VERSION.fullmatch, names)):
        kind, version = match.groups()
        highest[kind] = max(highest.get(kind, "0"), version, key=parse_version)
    return highest


def parse_version(text: str) -> tuple[int, ...]:
    return tuple(int(part) for part in text.split("."))
