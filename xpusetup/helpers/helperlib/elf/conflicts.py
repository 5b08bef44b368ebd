"""What cannot work together in one process, judged from files alone: each conflict by symbol, file and who needs it.

A conflict is told only where it is certain: of a symbol that nobody has, the library that should have it must be known,
by the version node that was asked for, by another file of the same SONAME that has it, or by torch's own namespaces.
"""

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from posixpath import basename

from helperlib.elf.file import Symbol, Symbols
from helperlib.elf.loader import Loaded, LoaderFile, Process

STEM = re.compile(r"^(lib[\w+-]+?)\.so(?:\.|$)")
ONCE = ("libsycl", "libur_loader", "libze_loader", "libccl", "libmpi", "libtorch", "libtorch_cpu", "libc10")
"""Libraries that hold the state of a device or of torch: of two majors in one process, each knows half of it."""
OF_DRIVER = ("libze_loader.so.1", "libcuda.so.1", "libOpenCL.so.1")
"""What only a machine with the device has to have."""
SWITCHED = re.compile(
    r"lib(?:hccl\w*|ascend\w*|acl_\w+|atb\w*|runtime|graph\w*|ge_(?:runner|compiler|executor|common\w*)|fmk_\w+|op_proto"
    r"|opapi\w*|nnopbase|msprofiler|tsdclient|c_sec|register|platform|error_manager|metadef)\.so$"
)
"""Libraries of CANN, which its set_env.sh puts on the library path: not missing, but not switched on."""
OF_TORCH = re.compile(r"^_Z(?:T[ISV])?N?[KVRO]*(?:2at|3c10|5torch)")
TORCH = re.compile(r"^lib(?:torch|c10)[\w]*\.so")
NEW_STRINGS = re.compile(r"__cxx11|B5cxx11")
OLD_STRINGS = re.compile(r"^_ZNK?Ss\d|RKSs(?=[A-Z_\d]|$)|[^\d]Ss(?=$|S_|[A-Z])")
KEPT = 12
"""Names of symbols that a conflict holds; `count` says how many there are."""


@dataclass(frozen=True)
class FileConflict:
    """One thing that cannot work. `kind`: symbol, version, abi, torch, majors, missing, hidden, offered, files or gone.

    `library` needs `names` and gets `first`, which lacks them; `has` is a file that has them. Empty where unknown.
    """

    kind: str
    level: str
    library: str = ""
    names: tuple[str, ...] = ()
    count: int = 0
    first: str = ""
    has: str = ""
    owners: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class KnownFiles:
    """What the rules ask of files: what they need and lack, all their symbols, and other files of a SONAME.

    `wanted` are the names without a version that a file cannot do without, `nodes` its `name@version`. `served` keeps
    which files had all of it.
    """

    asked: Callable[[LoaderFile], tuple[Symbol, ...]]
    wanted: Callable[[LoaderFile], frozenset[str]]
    nodes: Callable[[LoaderFile], frozenset[str]]
    lacking: Callable[[LoaderFile, set[str], set[str]], tuple[set[str], set[str]]]
    symbols: Callable[[LoaderFile], Symbols]
    others: Callable[[str], Sequence[LoaderFile]]
    served: dict[tuple[str, frozenset[str] | None], frozenset[str]] = field(default_factory=dict)
    _hidden: dict[str, Sequence[LoaderFile]] = field(default_factory=dict)
    _only: dict[tuple[str, str], frozenset[str]] = field(default_factory=dict)

    def hidden(self, first: LoaderFile) -> Sequence[LoaderFile]:
        """Give the other files of a library's SONAME, which it hides."""
        if first.identity not in self._hidden:
            others = (each for each in self.others(first.soname) if each.identity != first.identity)
            self._hidden[first.identity] = tuple(others)
        return self._hidden[first.identity]

    def only_in(self, one: LoaderFile, other: LoaderFile) -> frozenset[str]:
        """Give the names that one file has and another one has not, and which a library may be linked with."""
        key = one.identity, other.identity
        if key not in self._only:
            names = self.symbols(one).names - self.symbols(other).names
            self._only[key] = frozenset(name for name in names if not name.startswith("PyInit_"))
        return self._only[key]


NOTHING = frozenset[str]()
NOBODY = frozenset(("",))
"""A file that no process holds."""


def stem_of(name: str) -> str:
    """Give a library's name without its version; empty for what is none."""
    found = STEM.match(basename(name))
    return found[1] if found else ""


def judge_versions(process: Process, new: Iterable[Loaded]) -> Iterator[FileConflict]:
    """Hold the version nodes that libraries ask for against those of the files that stand for these names."""
    for one in new:
        for asked in one.library.asks:
            first = process.named(asked.file)
            if first is None or asked.weak or not first.library.has or asked.version in first.library.has:
                continue
            yield FileConflict("version", "fail", one.library.path, (asked.version,), 1, first.library.path)


def judge_symbols(process: Process, one: Loaded, scope: Sequence[Loaded], known: KnownFiles) -> Iterator[FileConflict]:
    """Look up what a library asks for as the loader does: what is shared by all first, then what came with it."""
    where = list(dict.fromkeys((*process.shared, *scope)))
    hidden = [(each.library, other) for each in where for other in known.hidden(each.library)]
    linked = any(TORCH.match(name) for name in one.library.needed)
    torch = [each for each in where if TORCH.match(each.library.soname)] if linked else []
    wanted = None if torch else NOTHING.union(*(known.only_in(other, first) for first, other in hidden))
    found: dict[tuple[str, str, str], list[str]] = {}
    for symbol in _found_nowhere(one.library, where, known, wanted):
        if symbol.version:
            place = _by_version(process, symbol.name, symbol.version, symbol.file, known)
        else:
            place = _by_name(symbol.name, hidden, torch, known)
        if place is not None:
            found.setdefault(place, []).append(symbol.name)
    for (kind, first, has), names in found.items():
        yield FileConflict(kind, "fail", one.library.path, tuple(sorted(names)[:KEPT]), len(names), first, has)


def _found_nowhere(
    library: LoaderFile, where: Iterable[Loaded], known: KnownFiles, wanted: frozenset[str] | None
) -> list[Symbol]:
    """Give what a library asks for and no file has; of names without a version those that are `wanted`, None: all.

    Of others nobody could say whose they would be. There are millions of pairs of a name and a file. So whole sets are
    held against a file: those that the library names come first, and small ones before large ones, of which most are
    never looked at. Where the files that had all of it are there again, as in another process with the same libraries,
    nothing is looked up.
    """
    there = {each.library.identity: each.library for each in where}
    key = library.identity, wanted
    if known.served.get(key, NOBODY) <= there.keys():
        return []
    names = NOTHING if wanted == NOTHING else known.wanted(library)
    left = set(names if wanted is None else names & wanted), set(known.nodes(library))
    served: set[str] = set()
    files = {asked.file for asked in library.asks}
    del there[library.identity]
    for one in sorted(there.values(), key=lambda one: (one.soname not in (*files, *library.needed), one.size)):
        if not any(left):
            break
        before, left = left, known.lacking(one, *left)
        if left != before:
            served.add(one.identity)
    if not any(left):
        known.served[key] = frozenset(served)
        return []
    asked = (one for one in known.asked(library) if not one.weak)
    return [one for one in asked if (f"{one.name}@{one.version}" in left[1] if one.version else one.name in left[0])]


def _by_version(process: Process, name: str, version: str, file: str, known: KnownFiles) -> tuple[str, str, str] | None:
    """Name the file that the version is of; where it lacks the whole node, that is told already."""
    first = process.named(file)
    if first is None or (first.library.has and version not in first.library.has):
        return None
    others = (each for each in known.others(file) if f"{name}@{version}" in known.symbols(each).versioned)
    return "symbol", first.library.path, next((each.path for each in others), "")


def _by_name(
    name: str, hidden: Iterable[tuple[LoaderFile, LoaderFile]], torch: Sequence[Loaded], known: KnownFiles
) -> tuple[str, str, str] | None:
    """Find whose symbol it would be: that of a file that another one of its name hides, or torch's."""
    for first, other in hidden:
        if name in known.symbols(other).names:
            return "symbol", first.path, other.path
    if not torch or not OF_TORCH.match(name):
        return None
    core = next((each for each in torch if each.library.soname.startswith("libc10")), torch[0])
    names = (each for one in torch for each in known.symbols(one.library).names)
    return ("abi" if is_other_abi(name, lambda _: names) else "torch"), core.library.path, ""


def is_other_abi(name: str, starting: Callable[[str], Iterable[str]]) -> bool:
    """Say whether the same function is there with the std::string of the other C++ ABI.

    `starting` gives the names that torch has and that begin so, maybe others too.
    """
    wanted = OLD_STRINGS if NEW_STRINGS.search(name) else NEW_STRINGS if OLD_STRINGS.search(name) else None
    if wanted is None:
        return False
    stem = path_of(name)
    return any(each.startswith(stem) and wanted.search(each) for each in starting(stem))


def path_of(name: str) -> str:
    """Give the part of a mangled name before its arguments: _ZN3c106detail14torchCheckFail of _ZN3c10...FailEPKc."""
    match = re.match(r"_Z(?:T[ISV])?N?[KVRO]*", name)
    place = match.end() if match else 0
    while (digits := re.match(r"\d+", name[place:])) is not None:
        place += digits.end() + int(digits[0])
    return name[:place]


def judge_majors(process: Process, new: Sequence[Loaded]) -> Iterator[FileConflict]:
    """Look for two majors of a library in one process, of which there may be only one."""
    for one in new:
        name = one.library.soname
        stem = stem_of(name)
        if stem not in ONCE:
            continue
        same = (each for each in process.order if stem_of(each.library.soname) == stem)
        if (other := next((each for each in same if each.library.soname != name), None)) is not None:
            needer = one.loader.library.path if one.loader else one.library.path
            yield FileConflict("majors", "fail", needer, (name,), 1, other.library.path, one.library.path)


def judge_missing(process: Process, missing: Iterable[tuple[str, Loaded]], known: KnownFiles) -> Iterator[FileConflict]:
    """Tell of libraries that are found nowhere, where another major of them is there or torch itself needs them.

    Without a torch what is linked to it is a plug-in of a package that does without, as open3d is.
    """
    torch = any(stem_of(each.library.path) in ("libtorch", "libtorch_cpu", "libc10") for each in process.order)
    for name, one in missing:
        if TORCH.match(name) and not torch:
            continue
        stem = stem_of(name)
        rivals = [each.library for each in process.order if stem and stem_of(each.library.soname) == stem]
        rivals = rivals or [each for each in known.others(stem) if each.identity != one.library.identity]
        if rivals:
            yield FileConflict("majors", "fail", one.library.path, (name,), 1, rivals[0].path)
        elif (
            name not in OF_DRIVER
            and not SWITCHED.match(name)
            and (TORCH.match(basename(one.library.path)) or stem in ONCE)
        ):
            yield FileConflict("missing", "fail", one.library.path, (name,), 1)


def judge_hidden(own: Iterable[LoaderFile], path: Sequence[LoaderFile], known: KnownFiles) -> Iterator[FileConflict]:
    """Hold what LD_LIBRARY_PATH offers against what the environment brings itself, for libraries of devices."""
    mine = {each.soname: each for each in own if stem_of(each.soname) in ONCE}
    for offered in path:
        stem = stem_of(offered.soname)
        if offered.soname in mine:
            own_one = mine[offered.soname]
            lacks = known.symbols(own_one).names - known.symbols(offered).names
            if lacks and own_one.identity != offered.identity:
                names = tuple(sorted(lacks)[:KEPT])
                yield FileConflict("hidden", "warn", "", names, len(lacks), offered.path, own_one.path)
        elif rival := next((each for each in mine.values() if stem_of(each.soname) == stem), None):
            yield FileConflict("offered", "warn", "", (offered.soname,), 1, offered.path, rival.path)
