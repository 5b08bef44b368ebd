"""What the model of the loader asks of this machine: ELF files, the cache of ld.so, the folders of the system."""

from __future__ import annotations

import mmap
import os
import re
import struct
from pathlib import Path

from elf_file import NEEDED, RPATH, RUNPATH, SONAME, Elf, NotElfError
from elf_symbols import Symbols, read_symbols
from loader_model import Library, Places

CACHE = "/etc/ld.so.cache"
MAGIC = b"glibc-ld.so.cache1.1"
ENTRY = struct.Struct("<iIIIQ")
ANY_LIBC6 = 0xFF
LIBC6 = 3
EMPTY = Symbols((), frozenset(), frozenset())


class Disk:
    """Reads each file at most once. Below `sysroot` lie the cache and the folders of the system."""

    def __init__(self, sysroot: str = "") -> None:
        self.sysroot = sysroot.rstrip("/")
        self._libraries: dict[str, Library | None] = {}
        self._symbols: dict[str, Symbols] = {}

    def look(self, path: str) -> Library | None:
        """Give what is at a path; None where nothing is that can be read."""
        if path not in self._libraries:
            self._libraries[path] = _read_library(path)
        return self._libraries[path]

    def symbols(self, library: Library) -> Symbols:
        """Give the symbols of a library; none where they cannot be read."""
        if library.identity not in self._symbols:
            self._symbols[library.identity] = _read_symbols(library.path)
        return self._symbols[library.identity]

    def places(self, variable: str) -> Places:
        """Give where a process looks whose LD_LIBRARY_PATH this is."""
        folders = tuple(folder or "." for folder in re.split("[:;]", variable)) if variable else ()
        cache = {name: tuple(map(self._below, paths)) for name, paths in read_cache(self._below(CACHE)).items()}
        names = ("x86_64-linux-gnu", "aarch64-linux-gnu")
        multi = next((name for name in names if self._there(f"/usr/lib/{name}") or self._there(f"/lib/{name}")), "")
        system = [f"{base}/{multi}" for base in ("/lib", "/usr/lib") if multi]
        system += ["/lib64", "/usr/lib64", "/lib", "/usr/lib"]
        lib = f"lib/{multi}" if multi else "lib64"
        return Places(self.look, folders, cache, tuple(map(self._below, system)), lib)

    def _below(self, path: str) -> str:
        return self.sysroot + path

    def _there(self, path: str) -> bool:
        return Path(self._below(path)).is_dir()


def open_elf(path: str) -> Elf:
    """Map a file into memory. Raises OSError, and NotElfError for one that is none."""
    with open(path, "rb") as file:  # noqa: PTH123 - a thousand of them: this one is quicker
        if os.fstat(file.fileno()).st_size == 0:
            raise NotElfError("it is empty")
        return Elf(mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ))


def _read_library(path: str) -> Library | None:
    try:
        status = os.stat(path)  # noqa: PTH116 - same
        identity = f"{status.st_dev}:{status.st_ino}"
        elf = open_elf(path)
        return make_library(path, identity, status.st_size, elf)
    except OSError:
        return None
    except (NotElfError, struct.error) as error:
        return Library(path, identity, broken=str(error))


def make_library(path: str, identity: str, size: int, elf: Elf) -> Library:
    """Give what the loader knows of a file."""
    runpath = split_path(elf.texts(RUNPATH))
    return Library(
        path=path,
        identity=identity,
        machine=elf.machine,
        soname=next(iter(elf.texts(SONAME)), ""),
        needed=elf.texts(NEEDED),
        rpath=split_path(elf.texts(RPATH)) if runpath is None else None,
        runpath=runpath,
        asks=tuple(asked for _, asked in elf.asked_versions()),
        has=frozenset(elf.own_versions().values()),
        size=size,
    )


def split_path(texts: tuple[str, ...]) -> tuple[str, ...] | None:
    """Give the folders of a search path; None where there is none."""
    return tuple(":".join(texts).split(":")) if texts else None


def _read_symbols(path: str) -> Symbols:
    try:
        return read_symbols(open_elf(path))
    except (OSError, NotElfError, struct.error):
        return EMPTY


def read_cache(path: str) -> dict[str, tuple[str, ...]]:
    """Read ld.so.cache: {name: paths} in its order, those of this word size first; empty where there is none."""
    try:
        data = Path(path).read_bytes()
    except OSError:
        return {}
    start = data.find(MAGIC)
    if start < 0:
        return {}
    found: dict[str, tuple[str, ...]] = {}
    count = struct.unpack_from("<I", data, start + len(MAGIC))[0]
    for number in range(count):
        flags, key, value, _, _ = ENTRY.unpack_from(data, start + 48 + number * ENTRY.size)
        if flags & ANY_LIBC6 == LIBC6 and flags & ~ANY_LIBC6:  # entries without a word size are of 32 bits
            name, place = _text(data, start + key), _text(data, start + value)
            found[name] = (*found.get(name, ()), place)
    return found


def _text(data: bytes, start: int) -> str:
    return data[start : data.index(b"\0", start)].decode("utf-8", "backslashreplace")
