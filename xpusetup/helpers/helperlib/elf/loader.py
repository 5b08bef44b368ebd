"""The dynamic loader of glibc as a model: which file of which folder a process gets for each name, in which order.

Pure: files are values that `look` gives for a path. The rules are those of ld.so(8): a name that is loaded already, by
its SONAME or the name it was asked by, is not searched; else the RPATH of whoever needs it and of what loaded that
(only where it has no RUNPATH itself), LD_LIBRARY_PATH, its own RUNPATH, the cache, the system's folders.
"""

from __future__ import annotations

import mmap
import os
import re
import struct
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from posixpath import dirname, join, normpath
from typing import TypeVar

from helperlib.elf.file import (
    NEEDED,
    RPATH,
    RUNPATH,
    SONAME,
    Asked,
    Elf,
    NotElfError,
    OtherClassError,
    Symbol,
    SymbolIndex,
    Symbols,
    read_asked,
    read_nodes,
    read_symbols,
    read_wanted,
)

T = TypeVar("T")

TOKEN = re.compile(r"\$(?:\{(ORIGIN|LIB|PLATFORM)\}|(ORIGIN|LIB|PLATFORM)\b)")


@dataclass(frozen=True)
class LoaderFile:
    """A file as the loader knows it. `identity` is the same for two names of one file; `broken`: it is no library.

    `other_class`: one of another word size, which the loader passes over.
    `rpath` is None where the file has a RUNPATH too, for then the loader does not look at it.
    """

    path: str
    identity: str
    machine: int = 0
    soname: str = ""
    needed: tuple[str, ...] = ()
    rpath: tuple[str, ...] | None = None
    runpath: tuple[str, ...] | None = None
    asks: tuple[Asked, ...] = ()
    has: frozenset[str] = frozenset()
    size: int = 0
    broken: str = ""
    other_class: bool = False


@dataclass(eq=False)
class Loaded:
    """A library in a process, the names that stand for it, and who asked for it first."""

    library: LoaderFile
    loader: Loaded | None
    names: set[str]


@dataclass(frozen=True)
class Places:
    """Where a process looks: LD_LIBRARY_PATH, the cache {name: paths}, the system's folders; what $LIB stands for."""

    look: Callable[[str], LoaderFile | None]
    variable: tuple[str, ...] = ()
    cache: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    system: tuple[str, ...] = ("/lib", "/usr/lib")
    lib: str = "lib"


@dataclass
class Process:
    """What is loaded, in order. `shared` is what all find symbols in: the program, what it needs, what is opened so."""

    places: Places
    order: list[Loaded] = field(default_factory=list)
    shared: list[Loaded] = field(default_factory=list)
    missing: list[tuple[str, Loaded]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._named: dict[str, Loaded] = {}
        self._files: dict[str, Loaded] = {}

    def fork(self) -> Process:
        """Give a process in the same state, so that what is loaded there is not loaded here."""
        copies = {id(one): replace(one, names=set(one.names)) for one in self.order}
        order = [copies[id(one)] for one in self.order]
        for one in order:
            one.loader = copies.get(id(one.loader))
        other = Process(self.places, order, [copies[id(one)] for one in self.shared])
        other._named = {name: copies[id(one)] for name, one in self._named.items()}
        other._files = {one.library.identity: one for one in order}
        return other

    def start(self, program: LoaderFile) -> list[Loaded]:
        """Load the program itself."""
        scope = self._load_all(self._add(Loaded(program, None, {program.path})))
        self.shared = list(scope)
        return scope

    def open(self, name: str, *, by: Loaded | None = None, shared: bool = False) -> list[Loaded] | None:
        """Open a library as dlopen does; a path has no loader. Gives it and all it needs, None where there is none."""
        found = self._map(name, None if "/" in name else by)
        if found is None:
            return None
        scope = self._load_all(found)
        if shared:
            self.shared = list(dict.fromkeys((*self.shared, *scope)))
        return scope

    def named(self, name: str) -> Loaded | None:
        return self._named.get(name)

    def holds(self, library: LoaderFile) -> bool:
        """Say whether a file is loaded, by whatever name."""
        return library.identity in self._files

    def call(self, one: Loaded, name: str) -> None:
        """Let what is loaded stand for a name that nothing stands for yet."""
        one.names.add(name)
        self._named.setdefault(name, one)

    def _add(self, one: Loaded) -> Loaded:
        self.order.append(one)
        self._files.setdefault(one.library.identity, one)
        for name in (one.library.soname, *one.names):
            self._named.setdefault(name, one)
        return one

    def _load_all(self, root: Loaded) -> list[Loaded]:
        """Load what a library needs, level by level, and give all that it finds symbols in."""
        scope, there = [root], {root}
        for one in scope:
            for name in one.library.needed:
                found = self._map(name, one)
                if found is None:
                    self.missing.append((name, one))
                elif found not in there:
                    scope.append(found)
                    there.add(found)
        return scope

    def _map(self, name: str, loader: Loaded | None) -> Loaded | None:
        there = self.named(name)
        if there is None:
            library = self._find(name, loader)
            if library is None:
                return None
            there = self._files.get(library.identity) or self._add(Loaded(library, loader, {library.path}))
        self.call(there, name)
        return there

    def _find(self, name: str, loader: Loaded | None) -> LoaderFile | None:
        """Take the first file that is a library for this machine; one that is no library at all ends the search."""
        machine = self.order[0].library.machine if self.order else 0
        for path in self.candidates(name, loader):
            library = self.places.look(path)
            if library is None or library.other_class:
                continue
            if library.broken:
                return None
            if machine in (0, library.machine):
                return library
        return None

    def candidates(self, name: str, loader: Loaded | None) -> Iterator[str]:
        """Give the paths at which a name is looked for, in order."""
        if "/" in name:
            yield from self._expand(loader.library, (name,)) if loader else (name,)
            return
        for folder in self._folders(loader):
            yield join(folder, name)
        yield from self.places.cache.get(name, ())
        for folder in self.places.system:
            yield join(folder, name)

    def _folders(self, loader: Loaded | None) -> Iterator[str]:
        if loader is None or loader.library.runpath is None:
            chain: list[Loaded] = []  # who needs the name, what loaded that, and so on
            one = loader
            while one is not None:
                chain.append(one)
                one = one.loader
            program = [each for each in self.shared[:1] if each not in chain]
            for each in chain + program:
                yield from self._expand(each.library, each.library.rpath or ())
        yield from self.places.variable
        if loader is not None:
            yield from self._expand(loader.library, loader.library.runpath or ())

    def _expand(self, library: LoaderFile, folders: tuple[str, ...]) -> Iterator[str]:
        words = {"ORIGIN": dirname(library.path), "LIB": self.places.lib, "PLATFORM": "x86_64"}
        for folder in folders:
            text = TOKEN.sub(lambda match: words[match[1] or match[2]], folder)
            yield normpath(text) if text else "."


# What the model of the loader asks of this machine: ELF files, the cache of ld.so, the folders of the system.


CACHE = "/etc/ld.so.cache"
MAGIC = b"glibc-ld.so.cache1.1"
ENTRY = struct.Struct("<iIIIQ")
ANY_LIBC6 = 0xFF
LIBC6 = 3
ONE_BY_ONE = 8
"""How many times as long a name takes that is looked up as one of many that are read."""


class FileReader:
    """Reads each file at most once. Below `sysroot` lie the cache and the folders of the system."""

    def __init__(self, sysroot: str = "") -> None:
        self.sysroot = sysroot.rstrip("/")
        self._libraries: dict[str, LoaderFile | None] = {}
        self._symbols: dict[str, Symbols] = {}
        self._asked: dict[str, tuple[Symbol, ...]] = {}
        self._wanted: dict[str, frozenset[str]] = {}
        self._nodes: dict[str, frozenset[str]] = {}
        self._indexes: dict[str, SymbolIndex | None] = {}
        self._looked: dict[str, int] = {}

    def look(self, path: str) -> LoaderFile | None:
        """Give what is at a path; None where nothing is that can be read."""
        if path not in self._libraries:
            self._libraries[path] = _read_library(path)
        return self._libraries[path]

    def symbols(self, library: LoaderFile) -> Symbols:
        """Give the symbols that a library has; none where they cannot be read."""
        return self._read(library, self._symbols, read_symbols, Symbols(frozenset(), frozenset()))

    def asked(self, library: LoaderFile) -> tuple[Symbol, ...]:
        """Give what a library asks others for, without reading what it has; nothing where that cannot be read."""
        return self._read(library, self._asked, read_asked, ())

    def wanted(self, library: LoaderFile) -> frozenset[str]:
        """Give the names without a version that a library cannot do without; none where they cannot be read."""
        return self._read(library, self._wanted, read_wanted, frozenset())

    def nodes(self, library: LoaderFile) -> frozenset[str]:
        """Give the `name@version` that a library cannot do without; none where they cannot be read."""
        return self._read(library, self._nodes, read_nodes, frozenset()) if library.asks else frozenset()

    def index(self, library: LoaderFile) -> SymbolIndex | None:
        """Give what finds single names of a library; None where it cannot be read."""
        return self._read(library, self._indexes, SymbolIndex, None)

    def lacking(self, library: LoaderFile, names: set[str], nodes: set[str]) -> tuple[set[str], set[str]]:
        """Give what a library lacks of names and of `name@version`: one by one until reading all costs no more."""
        looked = self._looked[library.identity] = self._looked.get(library.identity, 0) + len(names) + len(nodes)
        index = self.index(library)
        if index is not None and index.all is None and looked * ONE_BY_ONE < index.count:
            return index.lacking(names, nodes)
        return self.symbols(library).lacking(names, nodes)

    @staticmethod
    def _read(library: LoaderFile, known: dict[str, T], read: Callable[[Elf], T], nothing: T) -> T:
        if library.identity not in known:
            try:
                known[library.identity] = read(open_elf(library.path))
            except (OSError, NotElfError, struct.error):
                known[library.identity] = nothing
        return known[library.identity]

    def places(self, variable: str) -> Places:
        """Give where a process looks whose LD_LIBRARY_PATH this is."""
        folders = tuple(folder or "." for folder in re.split("[:;]", variable)) if variable else ()
        cache = {name: tuple(map(self._below, paths)) for name, paths in read_cache(self._below(CACHE)).items()}
        names = ("x86_64-linux-gnu", "aarch64-linux-gnu")
        folders_of = ((name, f"{base}/{name}") for name in names for base in ("/usr/lib", "/lib"))
        multi = next((name for name, folder in folders_of if Path(self._below(folder)).is_dir()), "")
        system = [f"{base}/{multi}" for base in ("/lib", "/usr/lib") if multi]
        system += ["/lib64", "/usr/lib64", "/lib", "/usr/lib"]
        lib = f"lib/{multi}" if multi else "lib64"
        return Places(self.look, folders, cache, tuple(map(self._below, system)), lib)

    def _below(self, path: str) -> str:
        return self.sysroot + path


def open_elf(path: str) -> Elf:
    """Map a file into memory. Raises OSError, and NotElfError for one that is none."""
    with open(path, "rb") as file:  # noqa: PTH123 - a thousand of them: this one is quicker
        if os.fstat(file.fileno()).st_size == 0:
            raise NotElfError("it is empty")
        return Elf(mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ))


def _read_library(path: str) -> LoaderFile | None:
    try:
        status = os.stat(path)  # noqa: PTH116 - same
        identity = f"{status.st_dev}:{status.st_ino}"
        return make_library(path, identity, status.st_size, open_elf(path))
    except OSError:
        return None
    except (NotElfError, struct.error) as error:
        return LoaderFile(path, identity, broken=str(error), other_class=isinstance(error, OtherClassError))


def make_library(path: str, identity: str, size: int, elf: Elf) -> LoaderFile:
    """Give what the loader knows of a file."""
    runpath = split_path(elf.texts(RUNPATH))
    return LoaderFile(
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
