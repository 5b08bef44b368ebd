"""What a wheel holds: its files, its metadata, and what its libraries say of themselves."""

from __future__ import annotations

import base64
import csv
import hashlib
import lzma
import mmap
import re
import struct
import tempfile
import zipfile
import zlib
from dataclasses import dataclass
from email.parser import BytesHeaderParser
from functools import partial
from typing import IO, TYPE_CHECKING, NamedTuple

from helperlib.elf.file import MAGIC, NEEDED, RPATH, RUNPATH, SONAME, Elf, NotElfError
from helperlib.elf.loader import split_path
from helperlib.env.pins import hash_file
from helperlib.wheel.images import Targets, numbers_of, read_lists, read_targets

if TYPE_CHECKING:
    from collections.abc import Collection
    from email.message import Message
    from pathlib import Path


# What the ELF files of a wheel say about themselves: libraries they need, where they look, C++ ABI, device code.


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
            elf = Elf(data)
            names = elf.strings().split(b"\0")
            images = tuple(section.name for section in elf.sections() if DEVICE_IMAGES.search(section.name))
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
                size=len(data),
            )
        except struct.error as error:
            raise NotElfError(f"its tables point outside of it: {error}") from error


def highest_versions(names: list[str]) -> dict[str, str]:
    """Give the newest version of each kind (GLIBC, GLIBCXX, CXXABI) among the names of symbol versions."""
    highest: dict[str, str] = {}
    for match in filter(None, map(SYMBOL_VERSION.fullmatch, names)):
        kind, version = match.groups()
        highest[kind] = max(highest.get(kind, "0"), version, key=numbers_of)
    return highest


# The wheel, read in one pass without holding any of its files in memory: hashes, forbidden texts, ELF, metadata.


IN_MEMORY = 8 << 20
"""An ELF file beyond this size is read from a temporary file."""
LARGEST_TEXT = 64 << 20
"""METADATA and RECORD beyond this size are none: torch's RECORD has 2 MB."""
UNREADABLE = (
    zipfile.BadZipFile,
    zlib.error,
    lzma.LZMAError,
    EOFError,
    UnicodeDecodeError,
    csv.Error,
    NotImplementedError,  # a way of packing that Python does not know
    RuntimeError,  # encrypted
    OSError,  # a broken bzip2 stream, an offset beyond the end
)
FILE_NAME = re.compile(r"[^-/]+-[^-/]+(-\d[^-/]*)?-[^-/]+-[^-/]+-[^-/]+\.whl")
MAPPED = b"prefix-map="
NAME_GOES_ON = re.compile(rb"[\w.+-]")


class NotAWheelError(ValueError):
    """The file cannot be read as a wheel at all."""


@dataclass(frozen=True)
class Member:
    path: str
    size: int = 0
    sha256: str = ""
    found: frozenset[str] = frozenset()
    mapped: frozenset[str] = frozenset()  # found in a compiler option that takes this very text out of the results
    library: Library | None = None
    trouble: str | None = None


class Opened(NamedTuple):
    """A library that Python code of the wheel opens: in which file, and by what name (NUL: any text).

    `guarded`: an error there is caught, and the code goes on without it.
    """

    path: str
    name: str
    guarded: bool = False


@dataclass(frozen=True)
class Wheel:
    file_name: str
    size: int
    sha256: str
    name: str
    version: str
    tags: tuple[str, ...]
    requires: tuple[str, ...]
    record: tuple[tuple[str, str], ...]
    members: tuple[Member, ...]
    opened: tuple[Opened, ...] = ()

    @property
    def libraries(self) -> tuple[Library, ...]:
        return tuple(member.library for member in self.members if member.library)


@dataclass(frozen=True)
class Wanted:
    distribution: str | None = None
    version: str | None = None
    xpu: bool = False
    host_alone: bool = False  # it was built without a device compiler, on purpose
    abi: int | None = None
    arch: str | None = None
    forbidden: tuple[str, ...] = ()  # folders that may not be named
    build_folders: tuple[str, ...] = ()  # those that better were not
    interpreter: str = ""  # the folder of the libraries of the Python that built it
    needed: tuple[str, ...] = ()
    python: tuple[int, int] = (3, 10)
    abi_flags: str = ""  # "t" where Python is free-threaded
    machine: str = "x86_64"
    any_python: bool = False  # the wheel may be for another interpreter than the one that looks at it

    @property
    def folders(self) -> tuple[str, ...]:
        return (*self.forbidden, *self.build_folders)


class Finding(NamedTuple):
    level: str
    seen: str
    limit: str | None = None


def some(names: Collection[str], count: int = 3) -> str:
    shown = ", ".join(sorted(names)[:count])
    return shown + (f" and {len(names) - count} more" if len(names) > count else "")


class Scanner:
    """Looks for texts in a stream, also where one lies across two chunks."""

    def __init__(self, texts: tuple[str, ...]) -> None:
        self.texts = {text: text.encode() for text in texts}
        self.keep = max(map(len, self.texts.values()), default=0) + len(MAPPED) + 1
        self.tail = b""
        self.found: set[str] = set()
        self.mapped: set[str] = set()

    def feed(self, chunk: bytes) -> None:
        """Search a chunk; an empty one is the end."""
        window, last = self.tail + chunk, not chunk
        for text, wanted in self.texts.items():
            start = window.find(wanted, max(0, len(self.tail) - len(wanted)))
            while start >= 0:
                end = start + len(wanted)
                if (end < len(window) or last) and not NAME_GOES_ON.match(window, end):
                    (self.mapped if window.endswith(MAPPED, 0, start) else self.found).add(text)
                start = window.find(wanted, end)
        self.tail = window[-self.keep :]


def list_files(archive: zipfile.ZipFile) -> list[zipfile.ZipInfo]:
    """Give the members that are no folders; of one whose name is empty ZipInfo.is_dir cannot be asked."""
    return [member for member in archive.infolist() if not member.filename.endswith("/")]


def read_wheel(path: Path, texts: tuple[str, ...]) -> Wheel:
    if not FILE_NAME.fullmatch(path.name):
        raise NotAWheelError(f"{path.name} is no name of a wheel")
    try:
        with zipfile.ZipFile(path) as archive:
            return _read_archive(path, archive, texts)
    except UNREADABLE as error:
        raise NotAWheelError(f"{path.name} cannot be read: {error}") from error


def _read_archive(path: Path, archive: zipfile.ZipFile, texts: tuple[str, ...]) -> Wheel:
    folders = {name.split("/")[0] for name in archive.namelist() if name.split("/")[0].endswith(".dist-info")}
    if len(folders) != 1:
        raise NotAWheelError(f"{path.name} has {len(folders)} .dist-info folders instead of one")
    folder = folders.pop()
    metadata, about = _headers(archive, f"{folder}/METADATA"), _headers(archive, f"{folder}/WHEEL")
    record = csv.reader(_read_small(archive, f"{folder}/RECORD").decode().splitlines())
    return Wheel(
        file_name=path.name,
        size=path.stat().st_size,
        sha256=hash_file(path),
        name=metadata.get("Name", ""),
        version=metadata.get("Version", ""),
        tags=tuple(about.get_all("Tag", [])),
        requires=tuple(metadata.get_all("Requires-Dist", [])),
        record=tuple((row[0], row[1] if len(row) > 1 else "") for row in record if row),
        members=tuple(read_member(archive, one, texts) for one in list_files(archive)),
    )


def _headers(archive: zipfile.ZipFile, name: str) -> Message:
    return BytesHeaderParser().parsebytes(_read_small(archive, name))


def _read_small(archive: zipfile.ZipFile, name: str) -> bytes:
    """Read a file that is held in memory; what the archive says of its size may be wrong."""
    if name not in archive.namelist():
        raise NotAWheelError(f"it has no {name}")
    with archive.open(name) as stream:
        data = stream.read(LARGEST_TEXT + 1)
    if len(data) > LARGEST_TEXT:
        raise NotAWheelError(f"its {name} is longer than {LARGEST_TEXT >> 20} MiB")
    return data


def read_member(archive: zipfile.ZipFile, info: zipfile.ZipInfo, texts: tuple[str, ...]) -> Member:
    scanner, digest = Scanner(texts), hashlib.sha256()
    with tempfile.SpooledTemporaryFile(max_size=IN_MEMORY) as copy:
        try:
            with archive.open(info) as stream:
                for chunk in iter(partial(stream.read, 1 << 20), b""):
                    digest.update(chunk)
                    scanner.feed(chunk)
                    if copy.tell() or chunk.startswith(MAGIC):
                        copy.write(chunk)
        except UNREADABLE as error:
            return Member(info.filename, trouble=f"cannot be read: {error}")
        scanner.feed(b"")
        library, trouble = None, None
        try:
            library = read_library(info.filename, copy) if copy.tell() else None
        except NotElfError as error:
            trouble = f"is no ELF file that can be read: {error}"
    sha256 = base64.urlsafe_b64encode(digest.digest()).rstrip(b"=").decode()
    found, mapped = frozenset(scanner.found), frozenset(scanner.mapped)
    return Member(info.filename, info.file_size, sha256, found, mapped, library, trouble)
