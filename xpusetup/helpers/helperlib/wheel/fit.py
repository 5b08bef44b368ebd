"""Whether the libraries of a wheel can be loaded beside a torch: a model of the process, nothing is loaded or unpacked.

A library of the wheel is opened in the model as Python opens it after `import torch`: every name that it asks for must
be had by what the process holds already, or by what comes with it. All names are looked up at once, as RTLD_NOW does.
"""

import mmap
import re
import shutil
import struct
import tempfile
import zipfile
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from posixpath import basename, join, normpath
from typing import NamedTuple

from helperlib.elf.conflicts import (
    OF_DRIVER,
    OF_TORCH,
    SWITCHED,
    TORCH,
    is_other_abi,
    judge_majors,
    judge_versions,
    path_of,
    stem_of,
)
from helperlib.elf.file import BROKEN, MAGIC, Elf, NotElfError, Symbol, Symbols, name_machine, read_asked, read_symbols
from helperlib.elf.loader import FileReader, Loaded, LoaderFile, Process, make_library
from helperlib.env.distributions import InstalledDistribution, requires
from helperlib.wheel.contents import LIBRARY, LINKER_SCRIPT, NO_TARGETS, UNREADABLE, list_files, what_instead
from helperlib.wheel.images import Targets, read_targets
from helperlib.wheel.libraries import IMPORTED, installed


class ArchivePart(NamedTuple):
    """A library of an archive: what the loader knows of it, what it asks for and has, its device code."""

    library: LoaderFile
    asked: tuple[Symbol, ...]
    symbols: Symbols
    targets: Targets = Targets()


class WheelArchive:
    """The libraries of a wheel as if it were installed in a folder; each is unpacked alone, to be read, and let go."""

    def __init__(self, path: Path, place: str) -> None:
        self.path = path
        self.place = place
        self.zip = zipfile.ZipFile(path)
        self.members = {normpath(f"{place}/{installed(one.filename)}"): one for one in list_files(self.zip)}
        self.troubles: dict[str, str] = {}
        self._parts: dict[str, ArchivePart | None] = {}

    def part(self, path: str) -> ArchivePart | None:
        """Give what lies at a path; None for what is no library."""
        if path not in self._parts:
            self._parts[path] = self._read(path) if path in self.members else None
        return self._parts[path]

    def parts(self) -> list[ArchivePart]:
        return [part for path in sorted(self.members) if (part := self.part(path)) is not None]

    def _read(self, path: str) -> ArchivePart | None:
        info = self.members[path]
        try:
            with self.zip.open(info) as stream:
                first = stream.read(1 << 16)
                if not first.startswith(MAGIC):
                    self._note(path, say_unread(path, first))
                    return None
                with tempfile.TemporaryFile(prefix="xpusetup-") as copy:
                    copy.write(first)
                    shutil.copyfileobj(stream, copy, 1 << 20)
                    copy.flush()
                    return self._map(path, copy.fileno(), info.file_size)
        except (*UNREADABLE, NotElfError, struct.error) as error:
            self._note(path, BROKEN if isinstance(error, struct.error) else str(error))
            return None

    def _note(self, path: str, why: str) -> None:
        if why:
            self.troubles[path] = why

    def _map(self, path: str, number: int, size: int) -> ArchivePart:
        with mmap.mmap(number, 0, prot=mmap.PROT_READ) as data:
            elf = Elf(data)
            library = make_library(path, f"{self.path}:{path}", size, elf)
            targets = NO_TARGETS if elf.lacks_sections() else read_targets(elf)
            return ArchivePart(library, read_asked(elf), read_symbols(elf), targets)

    def text(self, ending: str) -> str:
        """Give a file of its .dist-info folder as text; empty where it has none."""
        for name in self.zip.namelist():
            folder, _, rest = name.partition("/")
            if folder.endswith(".dist-info") and rest == ending:
                return self.zip.read(name).decode("utf-8", "replace")
        return ""


class InstalledFiles:
    """The libraries of a distribution that lies in an environment; it answers what an Archive answers."""

    def __init__(self, one: InstalledDistribution, disk: FileReader) -> None:
        self.one = one
        self.place = one.place
        self.disk = disk
        self.members = sorted({normpath(join(one.place, path)) for path, _ in one.files if ".so" in basename(path)})
        self.troubles: dict[str, str] = {}

    def parts(self) -> list[ArchivePart]:
        return [ArchivePart(one, self.disk.asked(one), self.disk.symbols(one)) for one in self.libraries()]

    def libraries(self) -> list[LoaderFile]:
        """Give what the loader knows of its libraries; what is none is left out, what is cut off is a trouble."""
        found = [library for path in self.members if (library := self.disk.look(path)) is not None]
        unread = {one.path: say_unread(one.path, _head_of(one.path), one.broken) for one in found if one.broken}
        self.troubles = {path: why for path, why in unread.items() if why}
        return [one for one in found if not one.broken]

    def is_bound(self) -> bool:
        """Say whether one of its libraries is linked with torch, or one that nobody can read may be."""
        libraries = self.libraries()
        bound = any(TORCH.match(basename(name)) for one in libraries for name in one.needed)
        return bound or (bool(self.troubles) and requires(self.one, "torch"))


def _head_of(path: str) -> bytes:
    try:
        with open(path, "rb") as file:  # noqa: PTH123 - as everywhere here
            return file.read(64)
    except OSError:
        return b""


def say_unread(path: str, head: bytes, error: str = "") -> str:
    """Say why what has the name of a library is none; empty where nobody takes it for one of this system."""
    if head.startswith(MAGIC):
        return error
    name, told = basename(path), what_instead(head)
    imported = IMPORTED.match(name) and LIBRARY.search(name) and "-darwin" not in name
    return f"it {told}" if imported and told != LINKER_SCRIPT else ""


class World:
    """The files of an environment with those of archives laid over it; what is `hidden` is replaced by them."""

    def __init__(self, disk: FileReader, archives: Sequence[WheelArchive], hidden: Collection[str] = ()) -> None:
        self.disk = disk
        self.archives = archives
        self.hidden = hidden

    def look(self, path: str) -> LoaderFile | None:
        """Give the library at a path, as the loader's model asks for it."""
        part = self._part(path)
        if part is not None:
            return part.library
        return None if path in self.hidden else self.disk.look(path)

    def _part(self, path: str) -> ArchivePart | None:
        return next((part for one in self.archives if (part := one.part(path)) is not None), None)

    def asked(self, library: LoaderFile) -> tuple[Symbol, ...]:
        part = self._part(library.path)
        return part.asked if part is not None else self.disk.asked(library)

    def has(self, library: LoaderFile, name: str, version: str) -> bool:
        """Say whether a library has a name, in a version node where one is asked for and it has any."""
        part = self._part(library.path)
        if part is not None:
            return part.symbols.has(name, version if library.has else "")
        index = self.disk.index(library)
        return index is not None and index.has(name, version)

    def starting(self, library: LoaderFile, stem: str) -> Iterator[str]:
        """Give the names of a library that begin so."""
        part, index = self._part(library.path), self.disk.index(library)
        if part is not None:
            yield from (name for name in part.symbols.names if name.startswith(stem))
        elif index is not None:
            yield from index.starting(stem)


# What cannot be loaded, and why.


PYTHON = re.compile(r"_?Py(?:[A-Z_]|$)")
"""Names of Python itself, which the program or its library has."""
KEPT = 8
"""Names of symbols that a problem holds; `count` says how many there are."""
STABLE = re.compile(r"(?:aoti_)?torch_[a-z]")
"""Functions of the stable interface of libtorch: plain C, the same from one release to the next."""


@dataclass(frozen=True)
class LoadProblem:
    """One reason why a library cannot be loaded.

    `kind`: library (needed and nowhere), symbol, abi (the other std::string), version (a version node), major (another
    major is loaded already), machine (it is for another processor), file (it cannot be read). `certain` is false where
    what is missing may be brought by something that is not here. `first` is the file that lacks `names`, `near` what
    it has in their place.
    """

    kind: str
    library: str
    names: tuple[str, ...]
    count: int = 1
    first: str = ""
    near: tuple[str, ...] = ()
    certain: bool = True


@dataclass(frozen=True)
class JudgedLibrary:
    """A library that Python opens; `group` are those of which one is enough, `foreign`: of another accelerator, or MPI.

    `optional`: Python goes on where it does not load. `off` are libraries of a vendor's run time that its script
    switches on.
    """

    path: str
    group: str
    torch: int
    stable: int
    foreign: bool
    problems: tuple[LoadProblem, ...]
    optional: bool = False
    off: tuple[str, ...] = ()


@dataclass
class FitBench:
    """What libraries of a wheel are judged by: the process with torch in it, and what is known of its files.

    `closed`: an environment, whose libraries are all here; else `brought` names those that torch's requirements bring.
    `before` are libraries of the environment that the package's own code opens first, by name, `beside` the names of
    all.
    """

    world: World
    base: Process
    closed: bool
    brought: frozenset[str] = frozenset()
    brings: tuple[str, ...] = ()
    before: Mapping[str, LoaderFile] = field(default_factory=dict)
    beside: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        self.torch = [one for one in self.base.order if TORCH.match(basename(one.library.path))]
        self.siblings: list[LoaderFile] = []

    def judge(self, parts: Sequence[ArchivePart]) -> list[JudgedLibrary]:
        """Judge each library of a wheel that Python may open."""
        self.siblings = [part.library for part in parts]
        own = {name: part.library for part in reversed(parts) for name in names_of(part.library)}
        return [self._judge_one(part, {**self.before, **own}) for part in opened(parts)]

    def judge_unread(self, troubles: Mapping[str, str]) -> list[JudgedLibrary]:
        """Judge what cannot be read. What only Python asks for by such a name is certainly not loaded."""
        named = {path: why for path, why in troubles.items() if ".libs/" not in path}
        return [
            JudgedLibrary(
                path, group_of(path), 0, 0, foreign=False, problems=(LoadProblem("file", path, (why,), certain=sure),)
            )
            for path, why in named.items()
            for sure in (bool(IMPORTED.match(basename(path))),)
        ]

    def _judge_one(self, part: ArchivePart, own: Mapping[str, LoaderFile]) -> JudgedLibrary:
        asked = [symbol.name for symbol in part.asked]
        found = tuple(self._problems(part.library, own))
        problems = tuple(one for one in found if not is_switched(one))
        return JudgedLibrary(
            path=part.library.path,
            group=group_of(part.library.path),
            torch=sum(bool(OF_TORCH.match(name)) for name in asked),
            stable=sum(bool(STABLE.match(name)) for name in asked),
            foreign=any(one.kind in ("library", "major") and bool(OTHERS.match(one.names[0])) for one in problems),
            problems=problems,
            off=tuple(one.names[0] for one in found if is_switched(one)),
        )

    def _problems(self, library: LoaderFile, own: Mapping[str, LoaderFile]) -> Iterator[LoadProblem]:
        process = self.base.fork()
        before = len(process.missing)
        machine = process.order[0].library.machine if process.order else library.machine
        if library.machine != machine:
            yield LoadProblem("machine", library.path, (name_machine(library.machine),), first=name_machine(machine))
            return
        scope = process.open(library.path) or []
        self._open_before(process, own, before, scope)
        new = [one for one in process.order if not self.base.holds(one.library)]
        lost = [each for each in process.missing[before:] if process.named(each[0]) is None]
        yield from self._missing(lost)
        for conflict in judge_versions(process, new):
            yield LoadProblem("version", conflict.library, conflict.names, 1, conflict.first)
        for conflict in judge_majors(process, new):
            if not any(conflict.names[0] == name for name, _ in lost):
                yield LoadProblem("major", conflict.library, conflict.names, 1, conflict.first)
        where = list(dict.fromkeys((*process.shared, *scope, *new)))
        for one in new:
            yield from self._symbols(one, where, [name for name, _ in lost], process)

    def _open_before(self, process: Process, own: Mapping[str, LoaderFile], before: int, scope: list[Loaded]) -> None:
        """Open what the wheel holds itself and no search path leads to: its Python code opens that first."""
        for number in range(KEPT):
            if before + number >= len(process.missing):
                return
            name = process.missing[before + number][0]
            if name in own and process.named(name) is None:
                found = process.open(own[name].path) or []
                for one in found:
                    if one.library.path == own[name].path:
                        process.call(one, name)
                scope += [one for one in found if one not in scope]

    def _missing(self, lost: Iterable[tuple[str, Loaded]]) -> Iterator[LoadProblem]:
        offered = [*(one.library.soname or basename(one.library.path) for one in self.base.order), *self.brings]
        for name, one in lost:
            stem = stem_of(name)
            rivals = [each for each in offered if stem and stem_of(each) == stem and each != name]
            if TORCH.match(name):
                yield LoadProblem("library", one.library.path, (name,), certain=bool(self._core()))
            elif rivals:
                yield LoadProblem("major", one.library.path, (name,), 1, rivals[0])
            elif name not in self.brought:
                certain = self.closed and name not in OF_DRIVER and not FRAMEWORK.match(name)
                other = next((each for each in self.beside if stem and stem_of(each) == stem), "")
                yield LoadProblem("library", one.library.path, (name,), first=other, certain=certain)

    def _symbols(
        self, one: Loaded, scope: Sequence[Loaded], lost: Sequence[str], process: Process
    ) -> Iterator[LoadProblem]:
        missing: dict[str, list[str]] = {}
        told = {asked.version for asked in one.library.asks}
        for symbol in self.world.asked(one.library):
            if symbol.weak or (not self.closed and PYTHON.match(symbol.name)):
                continue
            if symbol.version and symbol.version in told:
                asked = process.named(symbol.file)  # where it is missing, or misses the node, that is told already
                if asked is None or (asked.library.has and symbol.version not in asked.library.has):
                    continue
            if not any(self.world.has(each.library, symbol.name, symbol.version) for each in scope):
                kind = self._kind(symbol.name)
                beside = self.siblings if kind == "symbol" else ()
                if any(self.world.has(each, symbol.name, symbol.version) for each in beside):
                    continue  # a plug-in of the wheel: its host opens the other library for all before
                missing.setdefault(kind, []).append(symbol.name)
        if any(map(SWITCHED.match, lost)):
            missing.pop("symbol", None)  # they are of what is not switched on
        for kind, names in missing.items():
            core, of_torch = self._core(), kind in ("torch", "abi")
            certain = bool(core) if of_torch else self.closed or not (lost or self.brought)
            first = core if of_torch else ""
            near = self._near(names[0]) if of_torch else ()
            kept = tuple(sorted(names)[:KEPT])
            yield LoadProblem(kind, one.library.path, kept, len(names), first, near, certain)

    def _kind(self, name: str) -> str:
        if not OF_TORCH.match(name):
            return "torch" if STABLE.match(name) else "symbol"
        return "abi" if is_other_abi(name, self._starting) else "torch"

    def _core(self) -> str:
        return next((one.library.path for one in self.torch if "libtorch_cpu" in one.library.path), "")

    def _near(self, name: str) -> tuple[str, ...]:
        """Give what torch has by the same name with other arguments."""
        stem = path_of(name)
        found = {each for each in self._starting(stem) if path_of(each) == stem} if len(stem) > len("_ZN2at") else ()
        return tuple(sorted(found)[:2])

    def _starting(self, stem: str) -> Iterator[str]:
        """Give the names of torch that begin so."""
        for one in self.torch:
            yield from self.world.starting(one.library, stem)


def names_of(library: LoaderFile) -> set[str]:
    return {basename(library.path), library.soname} - {""}


def opened(parts: Sequence[ArchivePart]) -> list[ArchivePart]:
    """Give the libraries that Python opens itself: none that another one of the wheel needs, and no program."""
    needers: dict[str, set[str]] = {}
    for part in parts:
        for name in part.library.needed:
            needers.setdefault(name, set()).add(part.library.path)
    return [part for part in parts if _is_opened(part.library, needers)]


def _is_opened(library: LoaderFile, needers: Mapping[str, set[str]]) -> bool:
    if ".so" not in basename(library.path) or ".libs/" in library.path:
        return False
    return not any(needers.get(name, set()) - {library.path} for name in names_of(library))


SERVED = r"cpu|cuda|cu|xpu|hip|rocm|sycl|mps|torch"
VARIANT = re.compile(rf"(?:[_-]?(?:{SERVED})[\d.]*(?![a-z\d]))(?:_nocublaslt)?|(?<=[a-z_])\d+(?=[.]|$)", re.IGNORECASE)
DEVICE = re.compile(
    r"lib(?:torch_(?:cuda|xpu|hip)\w*|c10_(?:cuda|xpu|hip)|cud\w*|cu[a-z]+|nv\w+|nccl|sycl|ur_loader|ze_loader"
    r"|amdhip\w*|roc\w+|hip\w+|hsa\w*|intelocl|mkl_sycl\w*|ccl)\.so"
)
"""Libraries of an accelerator's runtime, and torch's part for it."""


FRAMEWORK = re.compile(r"(?:lib(?:tensorflow\w*|jax_common|paddle\w*|phi\w*|mxnet\w*)|_pywrap_tensorflow\w*)\.so")
"""Libraries of frameworks other than torch: who imports none of them does not open what is linked to them."""
OTHERS = re.compile(f"{DEVICE.pattern}|{FRAMEWORK.pattern}")


def is_switched(problem: LoadProblem) -> bool:
    """Say whether a library is only not switched on in this shell."""
    return problem.kind == "library" and SWITCHED.match(problem.names[0]) is not None


def group_of(path: str) -> str:
    """Give a library's path without what tells variants of it apart: a device, the version of what it serves."""
    folder, _, name = path.rpartition("/")
    stem = name.partition(".")[0]
    return f"{folder}/{VARIANT.sub('', stem + '.').rstrip('.')}"
