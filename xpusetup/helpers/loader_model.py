"""The dynamic loader of glibc as a model: which file of which folder a process gets for each name, in which order.

Pure: files are values that `look` gives for a path. The rules are those of ld.so(8): a name that is loaded already, by
its SONAME or the name it was asked by, is not searched; else the RPATH of whoever needs it and of what loaded that
(only where it has no RUNPATH itself), LD_LIBRARY_PATH, its own RUNPATH, the cache, the system's folders.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field, replace
from posixpath import dirname, join, normpath
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from elf_file import Asked

TOKEN = re.compile(r"\$(?:\{(ORIGIN|LIB|PLATFORM)\}|(ORIGIN|LIB|PLATFORM)\b)")


@dataclass(frozen=True)
class Library:
    """A file as the loader knows it. `identity` is the same for two names of one file; `broken`: it is no library.

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


@dataclass
class Loaded:
    """A library in a process, the names that stand for it, and who asked for it first."""

    library: Library
    loader: Loaded | None
    names: set[str]


@dataclass(frozen=True)
class Places:
    """Where a process looks: LD_LIBRARY_PATH, the cache {name: paths}, the system's folders; what $LIB stands for."""

    look: Callable[[str], Library | None]
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

    def fork(self) -> Process:
        """Give a process in the same state, so that what is loaded there is not loaded here."""
        copies = {id(one): replace(one, names=set(one.names)) for one in self.order}
        order = [copies[id(one)] for one in self.order]
        for one in order:
            one.loader = copies.get(id(one.loader))
        return Process(self.places, order, [copies[id(one)] for one in self.shared])

    def start(self, program: Library) -> list[Loaded]:
        """Load the program itself."""
        scope = self._load_all(Loaded(program, None, {program.path}))
        self.shared = list(scope)
        return scope

    def open(self, name: str, *, by: Loaded | None = None, shared: bool = False) -> list[Loaded] | None:
        """Open a library as dlopen does; a path has no loader. Gives it and all it needs, None where there is none."""
        found = self._map(name, None if "/" in name else by)
        if found is None:
            return None
        scope = self._load_all(found)
        if shared:
            self.shared += [one for one in scope if one not in self.shared]
        return scope

    def named(self, name: str) -> Loaded | None:
        """Give what stands for a name in this process."""
        return next((one for one in self.order if name in one.names or name == one.library.soname), None)

    def _load_all(self, root: Loaded) -> list[Loaded]:
        """Load what a library needs, level by level, and give all that it finds symbols in."""
        if all(one is not root for one in self.order):
            self.order.append(root)
        scope = [root]
        for one in scope:
            for name in one.library.needed:
                found = self._map(name, one)
                if found is None:
                    self.missing.append((name, one))
                elif all(found is not each for each in scope):
                    scope.append(found)
        return scope

    def _map(self, name: str, loader: Loaded | None) -> Loaded | None:
        there = self.named(name)
        if there is None:
            library = self._find(name, loader)
            if library is None:
                return None
            there = next((one for one in self.order if one.library.identity == library.identity), None)
            if there is None:
                there = Loaded(library, loader, {library.path})
                self.order.append(there)
        there.names.add(name)
        return there

    def _find(self, name: str, loader: Loaded | None) -> Library | None:
        """Take the first file that is a library for this machine; one that is no library at all ends the search."""
        machine = self.order[0].library.machine if self.order else 0
        for path in self.candidates(name, loader):
            library = self.places.look(path)
            if library is not None and library.broken:
                return None
            if library is not None and machine in (0, library.machine):
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
            for one in self._chain(loader):
                yield from self._expand(one.library, one.library.rpath or ())
        yield from self.places.variable
        if loader is not None:
            yield from self._expand(loader.library, loader.library.runpath or ())

    def _chain(self, loader: Loaded | None) -> Iterator[Loaded]:
        """Give who needs a name, what loaded that, and so on; last the program, where it is not among them."""
        seen: list[Loaded] = []
        one = loader
        while one is not None:
            seen.append(one)
            one = one.loader
        yield from seen
        if self.shared and self.shared[0] not in seen:
            yield self.shared[0]

    def _expand(self, library: Library, folders: tuple[str, ...]) -> Iterator[str]:
        words = {"ORIGIN": dirname(library.path), "LIB": self.places.lib, "PLATFORM": "x86_64"}
        for folder in folders:
            text = TOKEN.sub(lambda match: words[match[1] or match[2]], folder)
            yield normpath(text) if text else "."
