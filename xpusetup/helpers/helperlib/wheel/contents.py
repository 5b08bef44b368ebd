"""What a wheel holds: its files, its metadata, and what its libraries say of themselves."""

import base64
import csv
import errno
import hashlib
import lzma
import mmap
import re
import stat
import struct
import tempfile
import zipfile
import zlib
from collections.abc import Collection
from dataclasses import dataclass, replace
from email.message import Message
from email.parser import HeaderParser
from functools import partial
from itertools import product
from pathlib import Path
from posixpath import basename
from typing import IO, NamedTuple

from helperlib.elf.file import (
    BROKEN,
    MAGIC,
    NEEDED,
    READ,
    RPATH,
    RUNPATH,
    SONAME,
    SYMBOL,
    SYMTAB,
    Elf,
    NotElfError,
    machine_of,
)
from helperlib.elf.loader import split_path
from helperlib.env.pins import hash_file
from helperlib.output import render_size
from helperlib.sycl.images import LINKED, find_records
from helperlib.wheel.images import Targets, numbers_of, read_lists, read_targets

# What the ELF files of a wheel say about themselves: libraries they need, where they look, C++ ABI, device code.


NEW_STRINGS = re.compile(rb"__cxx11|B5cxx11")
OLD_STRINGS = re.compile(rb"^_ZNK?Ss\d|RKSs(?=[A-Z_\d]|$)")
"""Mangled std::string before C++11: its members, and functions that take a reference to one."""
OF_STD = re.compile(rb"_Z(?:GTt)?(?:T[VTIS]|GV|T[hv][\dn_]+_)?(?:N[VKrRO]*)?S[tabsiod]")
"""Names of the standard library itself. A newer gcc on an old system puts those of both ABIs into what it links."""
OTHER_CODE = {".nv_fatbin": "NVIDIA", "__nv_relfatbin": "NVIDIA", ".hip_fatbin": "AMD"}
"""Sections with device code that is for no Intel GPU, and for whose it is."""
DEVICE_IMAGES = re.compile(r"__CLANG_OFFLOAD_BUNDLE__|__sycl_offload|\.tgtimg|\.llvm\.offloading|llvm_offload_entries")
"""Names that LLVM's and Intel's linkers give to sections with device code."""
REGISTERS = b"__sycl_register_lib"
"""What a library with device code calls when it is loaded: without it the SYCL runtime knows of none."""
SYMBOL_VERSION = re.compile(r"(GLIBC|GLIBCXX|CXXABI)_(\d[\d.]*)")
FIRST_WITH = {"GLIBC_ABI_DT_RELR": "GLIBC_2.36"}
"""Nodes that name no version, and the one that brought them: glibc looks whether it has them before it loads."""


NO_TARGETS = Targets()


@dataclass(frozen=True)
class SharedObject:
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
    others: frozenset[str] = frozenset()  # whose GPUs it has code for, beside Intel's
    cut: bool = False  # the table of its sections is cut off
    runnable_stack: bool = False
    program: bool = False


def read_library(path: str, file: IO[bytes]) -> SharedObject:
    """Read an ELF file. Raises NotElfError for one that cannot be read."""
    with mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ) as data:
        try:
            return _read_elf(path, Elf(data))
        except NotElfError:
            raise
        except (struct.error, ValueError, LookupError, TypeError) as error:
            raise NotElfError(BROKEN) from error


def _read_elf(path: str, elf: Elf) -> SharedObject:
    cut = elf.lacks_sections()
    sections = () if cut else tuple(section.name for section in elf.sections())
    own = () if cut or next(find_records(elf, bare=True), None) is None else (LINKED,)
    images = (*own, *(name for name in sections if DEVICE_IMAGES.search(name)))
    new, old = count_strings(elf)
    return SharedObject(
        path=path,
        soname=next(iter(elf.texts(SONAME)), None),
        needed=elf.texts(NEEDED),
        rpath=split_path(elf.texts(RPATH)),
        runpath=split_path(elf.texts(RUNPATH)),
        images=images,
        registers=b"\0" + REGISTERS + b"\0" in elf.strings(),
        targets=read_targets(elf) if images else NO_TARGETS,
        lists=read_lists(elf) if images or ("xpu" in path and not cut) else frozenset(),
        floor=tuple(sorted(highest_versions([asked.version for _, asked in elf.asked_versions()]).items())),
        new_strings=new,
        old_strings=old,
        size=len(elf.data),
        others=frozenset(OTHER_CODE[name] for name in sections if name in OTHER_CODE),
        cut=cut,
        runnable_stack=elf.wants_runnable_stack(),
        program=elf.is_program() and not LIBRARY.search(basename(path)),
    )


def count_strings(elf: Elf) -> tuple[int, int]:
    """Count the names that tell the C++ ABI, new and old: what it asks others for, and what is not of C++ itself."""
    strings = elf.strings()
    if not (NEW_STRINGS.search(strings) or b"Ss" in strings):
        return 0, 0
    start = elf.offset_of(elf.value(SYMTAB))
    table = elf.data[start : start + elf.count_symbols() * SYMBOL.size]
    counts = [0, 0]
    for place, _, _, section, _, _ in SYMBOL.iter_unpack(table):
        name = strings[place : strings.find(b"\0", place)]
        for number, pattern in enumerate((NEW_STRINGS, OLD_STRINGS)):
            counts[number] += bool(pattern.search(name)) and not (section and OF_STD.match(name))
    return counts[0], counts[1]


def highest_versions(names: list[str]) -> dict[str, str]:
    """Give the newest version of each kind (GLIBC, GLIBCXX, CXXABI) among the names of symbol versions."""
    highest: dict[str, str] = {}
    for match in filter(None, (SYMBOL_VERSION.fullmatch(FIRST_WITH.get(name, name)) for name in names)):
        kind, version = match.groups()
        highest[kind] = max(highest.get(kind, "0"), version, key=numbers_of)
    return highest


# The wheel, read in one pass without holding any of its files in memory: hashes, forbidden texts, ELF, metadata.


IN_MEMORY = 8 << 20
"""An ELF file beyond this size is read from a temporary file."""
LARGEST_TEXT = 64 << 20
"""METADATA and RECORD beyond this size are none: torch's RECORD has 2 MB."""
BOMB = 200
"""Maximum ratio of unpacked to packed size. Of two hundred published wheels none reaches 10."""
BOMB_FROM = 2 << 30
"""Bytes that are always unpacked, however small the wheel is."""
NO_ROOM = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})
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
class WheelMember:
    path: str
    size: int = 0
    sha256: str = ""
    found: frozenset[str] = frozenset()
    mapped: frozenset[str] = frozenset()  # found in a compiler option that takes this very text out of the results
    library: SharedObject | None = None
    trouble: str | None = None
    machine: str = ""  # of an ELF file: the processor that it is for
    unread: str = ""  # of a sound library: whose it is that none is read of
    instead: str = ""  # what it is, where its name is that of a library


class Opened(NamedTuple):
    """A library that Python code of the wheel opens: in which file, and by what name (NUL: any text).

    `guarded`: an error there is caught, and the code goes on without it.
    """

    path: str
    name: str
    guarded: bool = False


@dataclass(frozen=True)
class WheelContents:
    file_name: str
    size: int
    sha256: str
    name: str
    version: str
    tags: tuple[str, ...]
    requires: tuple[str, ...]
    record: tuple[tuple[str, str], ...]
    members: tuple[WheelMember, ...]
    opened: tuple[Opened, ...] = ()
    folder: str = ""  # .dist-info
    format: str = "1.0"  # of the wheel itself
    links: tuple[str, ...] = ()  # members that are symbolic links
    python: str = ""  # Requires-Python
    modes: tuple[tuple[str, int], ...] = ()  # with which rights files come, where the archive says it

    @property
    def promised(self) -> tuple[str, ...]:
        """Give the tags of its file name, which are what installers go by."""
        parts = (part.split(".") for part in self.file_name.removesuffix(".whl").split("-")[-3:])
        return tuple("-".join(tag) for tag in product(*parts))

    @property
    def libraries(self) -> tuple[SharedObject, ...]:
        return tuple(member.library for member in self.members if member.library)


@dataclass(frozen=True)
class Wanted:
    distribution: str | None = None
    version: str | None = None
    xpu: bool = False
    without: tuple[str, ...] = ()  # the accelerators that it may hold nothing of
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


class WheelFinding(NamedTuple):
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


def read_wheel(path: Path, texts: tuple[str, ...]) -> WheelContents:
    if not FILE_NAME.fullmatch(path.name):
        known = "NAME-VERSION-PYTHON-ABI-PLATFORM.whl"
        raise NotAWheelError(f"{path.name} is no name of a wheel, and pip takes none without: {known}")
    try:
        with zipfile.ZipFile(path) as archive:
            return _read_archive(path, archive, texts)
    except UnicodeDecodeError as error:
        raise NotAWheelError(f"{path.name} cannot be read: its RECORD, or a name in it, is not in UTF-8") from error
    except UNREADABLE as error:
        if isinstance(error, OSError) and error.errno in NO_ROOM:
            raise
        why = "the list of its files points outside of it" if isinstance(error, OSError) else str(error)
        raise NotAWheelError(f"{path.name} cannot be read: {_no_archive(path) or why}") from error


def _no_archive(path: Path) -> str:
    """Say what a file is that is no whole archive; empty where it is one."""
    if zipfile.is_zipfile(path):
        return ""
    with path.open("rb") as file:
        head = file.read(64)
    known = {
        b"PK": "it was cut off: the list of its files, which is at the end, is missing",
        b"<": "it is a page of HTML or XML, such as a server gives with an error",
        b"version https://git-lfs": "it is a pointer of Git LFS: git lfs pull",
    }
    said = (text for begin, text in known.items() if head.lstrip().startswith(begin))
    return next(said, "it is no zip archive" if head else "it is empty")


def _read_archive(path: Path, archive: zipfile.ZipFile, texts: tuple[str, ...]) -> WheelContents:
    folders = {name.split("/")[0] for name in archive.namelist() if name.split("/")[0].endswith(".dist-info")}
    if len(folders) != 1:
        raise NotAWheelError(f"{path.name} has {len(folders)} .dist-info folders instead of one")
    size, whole = path.stat().st_size, sum(one.file_size for one in archive.infolist())
    if whole > max(BOMB * size, BOMB_FROM):
        raise NotAWheelError(f"{path.name} would grow from {render_size(size)} to {render_size(whole)}: not unpacked")
    folder = folders.pop()
    metadata, about = _headers(archive, f"{folder}/METADATA"), _headers(archive, f"{folder}/WHEEL")
    record = csv.reader(_read_small(archive, f"{folder}/RECORD").decode().splitlines())
    return WheelContents(
        file_name=path.name,
        size=size,
        sha256=hash_file(path),
        name=metadata.get("Name", ""),
        version=metadata.get("Version", ""),
        tags=tuple(about.get_all("Tag", [])),
        requires=tuple(metadata.get_all("Requires-Dist", [])),
        record=tuple((row[0], row[1] if len(row) > 1 else "") for row in record if row),
        members=tuple(read_member(archive, one, texts) for one in list_files(archive)),
        folder=folder,
        format=about.get("Wheel-Version", ""),
        python=metadata.get("Requires-Python", ""),
        links=tuple(one.filename for one in archive.infolist() if stat.S_ISLNK(one.external_attr >> 16)),
        modes=tuple((one.filename, one.external_attr >> 16) for one in archive.infolist()),
    )


def _headers(archive: zipfile.ZipFile, name: str) -> Message:
    """Read headers as text: those of METADATA are in UTF-8, and what is not stands for itself."""
    return HeaderParser().parsestr(_read_small(archive, name).decode("utf-8", "replace"))


def _read_small(archive: zipfile.ZipFile, name: str) -> bytes:
    """Read a file that is held in memory; what the archive says of its size may be wrong."""
    if name not in archive.namelist():
        raise NotAWheelError(f"it has no {name}")
    with archive.open(name) as stream:
        data = stream.read(LARGEST_TEXT + 1)
    if len(data) > LARGEST_TEXT:
        raise NotAWheelError(f"its {name} is longer than {LARGEST_TEXT >> 20} MiB")
    return data


def read_member(archive: zipfile.ZipFile, info: zipfile.ZipInfo, texts: tuple[str, ...]) -> WheelMember:
    scanner, digest, head = Scanner(texts), hashlib.sha256(), b""
    with tempfile.SpooledTemporaryFile(max_size=IN_MEMORY) as copy:
        try:
            with archive.open(info) as stream:
                for chunk in iter(partial(stream.read, 1 << 20), b""):
                    head = head or chunk[:64]
                    digest.update(chunk)
                    scanner.feed(chunk)
                    if copy.tell() or chunk.startswith(MAGIC):
                        copy.write(chunk)
        except UNREADABLE as error:
            if isinstance(error, OSError) and error.errno in NO_ROOM:
                raise
            return WheelMember(info.filename, trouble=f"cannot be read: {error}")
        scanner.feed(b"")
        member = _look(info, head, copy)
    sha256 = base64.urlsafe_b64encode(digest.digest()).rstrip(b"=").decode()
    found, mapped = frozenset(scanner.found), frozenset(scanner.mapped)
    return replace(member, size=info.file_size, sha256=sha256, found=found, mapped=mapped)


# What a file is by its first bytes.


LIBRARY = re.compile(r"\.so(\.\d+)*$")
SCRIPT = re.compile(rb"/\* GNU ld|(?:INPUT|GROUP|OUTPUT_FORMAT) *\(")
OF_SYSTEMS = {
    **dict.fromkeys((b"\xcf\xfa\xed\xfe", b"\xce\xfa\xed\xfe", b"\xca\xfe\xba\xbe"), "is a library of macOS"),
    b"MZ": "is a library of Windows",
    b"!<arch>\n": "is a static library",
    b"version https://git-lfs": "is a pointer of git-lfs, which stands for a file that did not come along",
}
LINKER_SCRIPT = "is a text for the linker, which nothing can load"


def _look(info: zipfile.ZipInfo, head: bytes, copy: IO[bytes]) -> WheelMember:
    """Read an ELF file; of what has the name of a library and is none, say what it is."""
    name = info.filename
    if not head.startswith(MAGIC):
        return WheelMember(name, instead=_instead(info, head) if LIBRARY.search(basename(name)) else "")
    machine = machine_of(head)
    if machine and head[4:6] != READ:
        return WheelMember(name, machine=machine, unread=machine)
    try:
        return WheelMember(name, machine=machine, library=read_library(name, copy))
    except NotElfError as error:
        return WheelMember(name, machine=machine, trouble=f"is no ELF file that can be read: {error}")


def _instead(info: zipfile.ZipInfo, head: bytes) -> str:
    if stat.S_ISLNK(info.external_attr >> 16):
        return "is a symbolic link, of which pip makes a small text file"
    return what_instead(head)


def what_instead(head: bytes) -> str:
    """Say by its first bytes what a file is that has the name of a library and is no ELF file."""
    if not head:
        return "is empty"
    if SCRIPT.search(head):
        return LINKER_SCRIPT
    return next((said for mark, said in OF_SYSTEMS.items() if head.startswith(mark)), "is no library")
