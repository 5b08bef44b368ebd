"""Reads an ELF file as the dynamic loader does: by its dynamic segment. Nothing of it runs, nothing is loaded.

A *version node* is a name such as GLIBCXX_3.4.30 that a library gives to a set of its symbols (verdef) or asks of a
library that it needs (verneed).
"""

import mmap
import os
import struct
from collections.abc import Container, Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple, Union

Buffer = Union[bytes, mmap.mmap]


MAGIC = b"\x7fELF"
LOAD, DYNAMIC, INTERPRETER, STACK = 1, 2, 3, 0x6474E551
RUNS = 1
"""The flag of a segment whose bytes may be run as code."""
NEEDED, STRTAB, SYMTAB, STRSZ, SONAME, RPATH, RUNPATH = 1, 5, 6, 10, 14, 15, 29
HASH, GNU_HASH, VERDEF, VERNEED, VERSYM = 4, 0x6FFFFEF5, 0x6FFFFFFC, 0x6FFFFFFE, 0x6FFFFFF0
DYNSYM = 11
HEADER = struct.Struct("<16xHHIQQQIHHHHHH")
SEGMENT = struct.Struct("<IIQQQQQQ")
SECTION = struct.Struct("<IIQQQQIIQQ")
TAG = struct.Struct("<qQ")
SYMBOL = struct.Struct("<IBBHQQ")
KEY = struct.Struct("<IBBH16x")
"""A symbol without its address and size."""
HIDDEN = 0x8000
OWN = 2
"""Version numbers below this one stand for no version."""


class NotElfError(ValueError):
    """The file is no ELF file of 64 bits, little-endian, or its tables point outside of it."""


class OtherClassError(NotElfError):
    """The file is of another word size or byte order: the loader passes it over, and looks further."""


BROKEN = "it was cut off or is broken: its tables point outside of it"
READ = b"\2\1"
"""What says of an ELF file that it is of 64 bits and little-endian."""
MACHINES = {
    3: (b"\1\1", "i686"),
    21: (READ, "ppc64le"),
    62: (READ, "x86_64"),
    183: (READ, "aarch64"),
    243: (READ, "riscv64"),
    22: (b"\2\2", "s390x"),
    40: (b"\1\1", "armv7l"),
    258: (READ, "loongarch64"),
}
"""The processors of machines on which Python runs, as tags of wheels call them; others are those of devices."""


def machine_of(head: bytes) -> str:
    """Tell by its first bytes for which processor an ELF file is; nothing of one that is a device's."""
    number = int.from_bytes(head[18:20], "big" if head[5:6] == b"\2" else "little")
    usual, name = MACHINES.get(number, (b"", ""))
    bits, order = ("32", "64")[head[4:5] == b"\2"], (", big-endian" if head[5:6] == b"\2" else "")
    return name if head[4:6] == usual or not name else f"{name} with {bits} bits{order}"


def name_machine(number: int) -> str:
    return MACHINES[number][1] if number in MACHINES else f"processor {number}"


def ends_early(path: Path) -> bool:
    """Say whether a file was cut short: ELF by its beginning, and the table of its sections lies beyond its end."""
    with path.open("rb") as stream:
        head = stream.read(HEADER.size)
        size = stream.seek(0, os.SEEK_END)
    if len(head) < HEADER.size or head[:6] != MAGIC + b"\2\1":
        return False
    shoff, shsize, shnum = (HEADER.unpack(head)[index] for index in (5, 10, 11))
    return bool(size < shoff + shsize * shnum)


class Section(NamedTuple):
    name: str
    offset: int
    size: int


class Symbol(NamedTuple):
    """A dynamic symbol. `version` is empty where none was given; `file` is whose version an undefined one asks for."""

    name: str
    version: str = ""
    weak: bool = False
    file: str = ""


class Asked(NamedTuple):
    """A version node that is asked of a file; a weak one may be missing."""

    file: str
    version: str
    weak: bool


@dataclass(frozen=True)
class Segment:
    kind: int
    flags: int
    offset: int
    address: int
    size: int


class Elf:
    """An ELF file in memory. Raises NotElfError for one that cannot be read."""

    def __init__(self, data: Buffer) -> None:
        self.data = data
        if data[:4] != MAGIC:
            raise NotElfError("it is no ELF file")
        if data[4:6] != READ:
            machine = machine_of(bytes(data[:20]))
            raise OtherClassError(f"it is for {machine}" if machine else "it is not of 64 bits, little-endian")
        try:
            self._read_header()
            self._read_dynamic()
        except (struct.error, UnicodeDecodeError) as error:
            raise NotElfError(BROKEN) from error

    def _read_header(self) -> None:
        _, self.machine, _, _, phoff, shoff, _, _, phsize, phnum, *sections = HEADER.unpack_from(self.data)
        rows = (SEGMENT.unpack_from(self.data, phoff + number * phsize) for number in range(phnum))
        self.segments = tuple(Segment(row[0], row[1], row[2], row[3], row[5]) for row in rows)
        self._sections = (shoff, *sections)
        whole = max((one.offset + one.size for one in self.segments if one.kind == LOAD), default=0)
        if whole > len(self.data):
            raise NotElfError(f"it was cut off: {len(self.data)} of at least {whole} bytes are there")

    def lacks_sections(self) -> bool:
        """Say whether the table of its sections lies beyond its end: it can be loaded, and was cut off all the same."""
        offset, size, count, _ = self._sections
        return bool(offset + size * count > len(self.data))

    def is_program(self) -> bool:
        """Say whether it is started, not loaded: it names the loader that is to start it."""
        return any(one.kind == INTERPRETER for one in self.segments)

    def wants_runnable_stack(self) -> bool:
        """Say whether it asks for a stack whose bytes may be run as code."""
        return any(one.kind == STACK and one.flags & RUNS for one in self.segments)

    def _read_dynamic(self) -> None:
        segment = next((each for each in self.segments if each.kind == DYNAMIC), None)
        self.tags: list[tuple[int, int]] = []
        if segment is not None:
            size = segment.size // TAG.size * TAG.size
            table = bytes(self.data[segment.offset : segment.offset + size])
            if len(table) != size:
                raise struct.error(f"{size} bytes at {segment.offset}")
            for tag, value in TAG.iter_unpack(table):
                if tag == 0:
                    break
                self.tags.append((tag, value))
            if size and not self.value(STRTAB):
                raise NotElfError("what the loader needs to know of it is missing: its dynamic segment is empty")
        self._strings = self.offset_of(self.value(STRTAB))

    def value(self, tag: int) -> int:
        """Give the first value of a tag; 0 where there is none."""
        return next((value for name, value in self.tags if name == tag), 0)

    def offset_of(self, address: int) -> int:
        """Give where an address of memory lies in the file."""
        for one in self.segments:
            if one.kind == LOAD and one.address <= address < one.address + one.size:
                return address - one.address + one.offset
        return address

    def text(self, place: int) -> str:
        start = self._strings + place
        end = self.data.find(b"\0", start)
        if not 0 <= start <= end:
            raise struct.error(f"a name at {start}")
        return bytes(self.data[start:end]).decode("utf-8", "backslashreplace")

    def strings(self) -> bytes:
        return bytes(self.data[self._strings : self._strings + self.value(STRSZ)])

    def texts(self, tag: int) -> tuple[str, ...]:
        return tuple(self.text(value) for name, value in self.tags if name == tag)

    def asked_versions(self) -> Iterator[tuple[int, Asked]]:
        """Give the version nodes that it asks of others, with the numbers that its symbols use for them."""
        place = self.offset_of(self.value(VERNEED)) if self.value(VERNEED) else 0
        while place:
            _, count, file, first, following = struct.unpack_from("<HHIII", self.data, place)
            entry = place + first
            for _ in range(count):
                _, flags, number, name, ahead = struct.unpack_from("<IHHII", self.data, entry)
                yield number & ~HIDDEN, Asked(self.text(file), self.text(name), bool(flags & 2))
                entry += ahead
            place = place + following if following else 0

    def own_versions(self) -> dict[int, str]:
        """Give the version nodes that it has, by number; the first is the name of the file itself."""
        place = self.offset_of(self.value(VERDEF)) if self.value(VERDEF) else 0
        found = {}
        while place:
            _, _, number, _, _, first, following = struct.unpack_from("<HHHHIII", self.data, place)
            found[number & ~HIDDEN] = self.text(struct.unpack_from("<I", self.data, place + first)[0])
            place = place + following if following else 0
        return found

    def sections(self) -> tuple[Section, ...]:
        """Give the names and places of its sections, which no loader looks at; none where they were cut off."""
        return tuple(Section(self._name_of(row[0]), row[4], row[5]) for row in self._section_rows())

    def _section_rows(self) -> list[tuple[int, ...]]:
        offset, size, count, _ = self._sections
        return [SECTION.unpack_from(self.data, offset + number * size) for number in range(count)]

    def _name_of(self, place: int) -> str:
        offset, size, count, names = self._sections
        if names >= count:
            return ""
        start = SECTION.unpack_from(self.data, offset + names * size)[4] + place
        return bytes(self.data[start : self.data.find(b"\0", start)]).decode("utf-8", "backslashreplace")

    def count_symbols(self) -> int:
        """Give how many dynamic symbols there are: by its section, else by the tables that find them by name."""
        if not self.value(SYMTAB):
            return 0
        rows = (row for row in ([] if self.lacks_sections() else self._section_rows()) if row[1] == DYNSYM)
        if (row := next(rows, None)) is not None:
            return int(row[5] // SYMBOL.size)
        if self.value(HASH):
            return int(struct.unpack_from("<II", self.data, self.offset_of(self.value(HASH)))[1])
        return self._count_hashed() if self.value(GNU_HASH) else 0

    def count_asked(self) -> int:
        """Give how many symbols from the first on hold all that are asked of others: what is hashed follows them."""
        first, last, _ = self._hashed() if self.value(GNU_HASH) else (0, 0, 0)
        return first if 0 < first <= last else self.count_symbols()

    def _hashed(self) -> tuple[int, int, int]:
        """Give the first symbol that is hashed, the last that begins a bucket, and where the chains are."""
        place = self.offset_of(self.value(GNU_HASH))
        buckets, first, bloom, _ = struct.unpack_from("<IIII", self.data, place)
        start = place + 16 + 8 * bloom
        last = max(struct.unpack_from(f"<{buckets}I", self.data, start), default=0)
        return first, last, start + 4 * buckets

    def _count_hashed(self) -> int:
        first, last, chain = self._hashed()
        if last < first:
            return int(first)
        while not struct.unpack_from("<I", self.data, chain + 4 * (last - first))[0] & 1:
            last += 1
        return int(last) + 1


# The dynamic symbols of an ELF file: those that it asks others for, and those that others find in it.


WEAK = 2
SEEN = (1, WEAK, 10)
"""Bindings that others see: global, weak, unique in the process."""
BOUND = frozenset(binding << 4 | kind for binding in SEEN for kind in range(16))
DEFAULT, PROTECTED = 0, 3


class Symbols(NamedTuple):
    """What is there: plain names, and `name@version` where it has version nodes."""

    names: frozenset[str]
    versioned: frozenset[str]
    nodes: bool = False

    def has(self, name: str, version: str) -> bool:
        return f"{name}@{version}" in self.versioned if version else name in self.names

    def lacking(self, names: set[str], nodes: set[str]) -> tuple[set[str], set[str]]:
        """Give what is not there of plain names and of `name@version`."""
        plain = {one for one in nodes if one.partition("@")[0] not in self.names} if not self.nodes else nodes
        return names - self.names, plain - self.versioned


def read_symbols(elf: Elf) -> Symbols:
    """Read all that is there. Raises struct.error where a table is cut off."""
    own = elf.own_versions()
    names: set[str] = set()
    versioned: set[str] = set()
    for name, _, other, number in _rows(elf, elf.count_symbols(), there=True):
        if other & 3 in (DEFAULT, PROTECTED):
            names.add(name)
            if number >= OWN and own:
                versioned.add(f"{name}@{own.get(number, '')}")
    return Symbols(frozenset(names), frozenset(versioned), bool(own))


def read_asked(elf: Elf) -> tuple[Symbol, ...]:
    """Read what a file asks others for, and nothing of what it has, which may be a hundred times as much.

    Raises struct.error where a table is cut off.
    """
    needed = dict(elf.asked_versions())
    found = []
    for name, info, _, number in _rows(elf, elf.count_asked(), there=False):
        node = needed.get(number, NOTHING)
        found.append(Symbol(name, node.version, info >> 4 == WEAK, node.file))
    return tuple(found)


def read_wanted(elf: Elf) -> frozenset[str]:
    """Read the names without a version that a file cannot do without. Raises struct.error as read_asked does."""
    nodes = {number for number, node in elf.asked_versions() if node.version}
    rows = _rows(elf, elf.count_asked(), there=False)
    return frozenset([name for name, info, _, number in rows if info >> 4 != WEAK and number not in nodes])


def read_nodes(elf: Elf) -> frozenset[str]:
    """Read the `name@version` alone that a file cannot do without. Raises struct.error as read_asked does."""
    nodes = {number: f"@{node.version}" for number, node in elf.asked_versions() if node.version}
    rows = _rows(elf, elf.count_asked(), there=False, only=nodes)
    return frozenset(name + nodes[number] for name, info, _, number in rows if info >> 4 != WEAK)


def _rows(
    elf: Elf, count: int, *, there: bool, only: Container[int] | None = None
) -> Iterator[tuple[str, int, int, int]]:
    """Give name, kind, visibility and version of the symbols that are there, or of those that are not.

    `only` those of some versions.
    """
    start = elf.offset_of(elf.value(SYMTAB))
    rows = KEY.iter_unpack(elf.data[start : start + count * SYMBOL.size])
    numbered, versym = elf.value(VERSYM), elf.offset_of(elf.value(VERSYM))
    versions = struct.unpack_from(f"<{count}H", elf.data, versym) if numbered else (0,) * count
    texts, first = (elf.strings(), 0) if there else (elf.data, elf.offset_of(elf.value(STRTAB)))
    for (place, info, other, section), number in zip(rows, versions, strict=True):
        if place and info in BOUND and bool(section) is there and (only is None or number & ~HIDDEN in only):
            name = texts[first + place : texts.find(b"\0", first + place)].decode("utf-8", "backslashreplace")
            yield name, info, other, number & ~HIDDEN


NOTHING = Asked("", "", weak=True)


class SymbolIndex:
    """Finds a name among those that a file has, as the loader does: by its hash table, without reading the others."""

    def __init__(self, elf: Elf) -> None:
        self.elf = elf
        self.own = elf.own_versions()
        self.count = elf.count_symbols()
        self.place = elf.offset_of(elf.value(GNU_HASH)) if elf.value(GNU_HASH) else 0
        self.symbols, self.strings, self.versym = (elf.offset_of(elf.value(tag)) for tag in (SYMTAB, STRTAB, VERSYM))
        self.all = None if self.place else read_symbols(elf)

    def has(self, name: str, version: str = "") -> bool:
        """Say whether it has a name; with `version`, in that version node, unless it has no nodes at all."""
        if self.all is not None:
            return self.all.has(name, version if self.own else "")
        found = self._find(name.encode())
        return version in found if version and self.own else bool(found)

    def lacking(self, names: set[str], nodes: set[str]) -> tuple[set[str], set[str]]:
        """Give what is not there of plain names and of `name@version`."""
        return {one for one in names if not self.has(one)}, {one for one in nodes if not self.has(*one.split("@", 1))}

    def starting(self, stem: str) -> Iterator[str]:
        """Give the names that begin so, by the table of strings alone: quicker than all symbols."""
        if self.all is not None:
            yield from (name for name in self.all.names if name.startswith(stem))
            return
        data, wanted = self.elf.data, b"\0" + stem.encode()
        start, end = self.strings, self.strings + self.elf.value(STRSZ)
        while (start := data.find(wanted, start, end)) >= 0:
            place, start = start + 1, data.find(b"\0", start + 1)
            name = bytes(data[place:start]).decode("utf-8", "backslashreplace")
            if self.has(name):
                yield name

    def _find(self, name: bytes) -> set[str]:
        """Give the version nodes under which a name is there."""
        hashed = _gnu_hash(name)
        data, place = self.elf.data, self.place
        buckets, first, bloom, _ = struct.unpack_from("<IIII", data, place)
        start = place + 16 + 8 * bloom
        index = struct.unpack_from("<I", data, start + 4 * (hashed % buckets))[0] if buckets else 0
        found: set[str] = set()
        while index >= first > 0:
            chain = struct.unpack_from("<I", data, start + 4 * (buckets + index - first))[0]
            if chain | 1 == hashed | 1 and self._is(index, name):
                found.add(self._version(index))
            if chain & 1:
                break
            index += 1
        return found

    def _is(self, index: int, name: bytes) -> bool:
        text, info, other, section, _, _ = SYMBOL.unpack_from(self.elf.data, self.symbols + index * SYMBOL.size)
        start = self.strings + text
        same = bytes(self.elf.data[start : start + len(name) + 1]) == name + b"\0"
        return same and section != 0 and info >> 4 in SEEN and other & 3 in (DEFAULT, PROTECTED)

    def _version(self, index: int) -> str:
        if not self.own:
            return ""
        number = struct.unpack_from("<H", self.elf.data, self.versym + 2 * index)[0]
        return self.own.get(number & ~HIDDEN, "") if number & ~HIDDEN >= OWN else ""


@lru_cache(maxsize=100_000)  # one name is looked up in one library after another
def _gnu_hash(name: bytes) -> int:
    found = 5381
    for letter in name:
        found = (found * 33 + letter) & 0xFFFFFFFF
    return found
