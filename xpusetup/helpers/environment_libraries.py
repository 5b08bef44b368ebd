"""Says which libraries the packages of an environment load, from where, and which of them cannot work together.

A static look: ELF files and lists of packages are read, nothing is loaded and no interpreter of the environment is
started. One JSON document on stdout: `conflicts` and how many files were looked at.
"""

from __future__ import annotations

import argparse
import gc
import json
import os
import re
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from helperlib.elf.conflicts import (
    TORCH as TORCH_LIBRARY,
)
from helperlib.elf.conflicts import (
    FileConflict,
    KnownFiles,
    judge_hidden,
    judge_majors,
    judge_missing,
    judge_symbols,
    judge_versions,
    stem_of,
)
from helperlib.elf.loader import FileReader, Loaded, LoaderFile, Process
from helperlib.env.distributions import (
    Gone,
    InstalledDistribution,
    Overlap,
    Owners,
    find_gone,
    find_overlaps,
    libraries_of,
    read_distributions,
)
from helperlib.output import write_text
from helperlib.wheel.fit import group_of
from helperlib.wheel.runtime import find_optional, scripts_of

DRIVERS = ("libze_loader.so.1", "libze_intel_gpu.so.1", "libigc.so.2", "libigc.so.1", "libOpenCL.so.1")
"""What a runtime opens on the system: it lives with the libraries that the environment has loaded before."""
TRITON = ("triton-xpu", "pytorch-triton-xpu")
"""They compile against the libsycl that the shell offers, and load it beside torch's."""
SPREAD = ("extend_path", "declare_namespace")
"""What the __init__.py of a folder says that several distributions fill on purpose."""


class Prover:
    """Loads the libraries of an environment into a model of its process, one after another, and judges each."""

    def __init__(self, environment: Environment, library_path: str, preload: str) -> None:
        self.environment = environment
        self.disk = environment.disk
        self.places = self.disk.places(library_path)
        disk = self.disk
        self.known = KnownFiles(disk.asked, disk.wanted, disk.nodes, disk.lacking, disk.symbols, self._others)
        self.base = Process(self.places)
        self.judged: set[str] = set()
        self.found: list[FileConflict] = []
        self.named: dict[str, list[LoaderFile]] = {}
        self.needs: dict[str, set[str]] = {}
        self.variants: dict[str, set[str]] = {}
        self.wanted = {name for one in environment.libraries for name in one.needed}
        self._sort()
        # What every process of this environment holds: the program, and torch where there is one.
        if environment.program is not None:
            self.base.start(environment.program)
        for name in preload.replace(":", " ").split():
            self.base.open(name, shared=True)
        for library in environment.torch:
            self._open(self.base, library.path, shared="global_deps" in library.path)

    def _sort(self) -> None:
        """Sort the environment's libraries once: by SONAME and stem, what each owner's need, variants of modules."""
        for one in self.environment.libraries:
            for name in {one.soname, stem_of(one.soname)} - {""}:
                self.named.setdefault(name, []).append(one)
            self.needs.setdefault(self.environment.listed.get(one.path, ""), set()).update(one.needed)
            self.variants.setdefault(variant_of(one.path), set()).add(one.path)

    def prove(self) -> list[FileConflict]:
        for library in sorted(self.environment.libraries, key=lambda one: is_wanted(one, self.wanted)):
            if library.identity in self.judged and is_wanted(library, self.wanted):
                continue  # Python opens none that another one brings, and it was judged with that one
            if self.base.named(library.path) is None and not self.base.holds(library):
                run = self.base.fork()
                self._open(run, library.path)
        for name in DRIVERS:
            run = self.base.fork()
            new = self._new(run, run.open(name) or ())
            self.found += self._versions(run, new)
        self.found += judge_hidden(self.environment.libraries, self._offered(), self.known)
        return self._settled()

    def _open(self, process: Process, path: str, *, shared: bool = False) -> None:
        before = len(process.missing)
        scope = process.open(path, shared=shared) or []
        new = self._new(process, scope)
        self.found += self._versions(process, new)
        others = {one.library.path for name, one in process.missing[before:] if TORCH_LIBRARY.match(name)}
        for one in new:
            if one.library.path in others:
                continue  # made for a torch of another build, as a plug-in may be: that is no matter of symbols
            folder = one.library.path.rpartition("/")[0]
            own = one.library.path.startswith(f"{self.environment.prefix}/")
            if own or folder not in self.places.system:
                self.found += judge_symbols(process, one, scope, self.known)
        self.found += judge_majors(process, new)
        self.found += judge_missing(process, process.missing[before:], self.known)

    def _new(self, process: Process, scope: Sequence[Loaded]) -> list[Loaded]:
        """Leave out what was judged before: all that the base holds, and in the base itself what came earlier."""
        if process is self.base:
            new = [one for one in scope if one.library.identity not in self.judged]
        else:
            new = [one for one in scope if not self.base.holds(one.library)]
        self.judged |= {one.library.identity for one in new}
        return new

    def _versions(self, process: Process, new: Sequence[Loaded]) -> Iterator[FileConflict]:
        for conflict in judge_versions(process, new):
            first = self.disk.look(conflict.first)
            others = self._others(first.soname if first else "")  # a file of the same SONAME that has the version node
            yield replace(conflict, has=next((each.path for each in others if set(conflict.names) <= each.has), ""))

    def _others(self, name: str) -> list[LoaderFile]:
        """Give the files that may stand for a SONAME or a stem: the environment's own, and those that are found."""
        own = self.named.get(name, [])
        paths = [f"{folder}/{name}" for folder in (*self.places.variable, f"{self.environment.prefix}/lib")]
        paths += self.places.cache.get(name, ())
        there = (self.disk.look(path) for path in paths if ".so" in name)
        return own + [each for each in there if each is not None and not each.broken]

    def _offered(self) -> list[LoaderFile]:
        """Give the libraries of LD_LIBRARY_PATH under the names by which they are loaded, those found first."""
        found: dict[str, LoaderFile] = {}
        for folder in self.places.variable:
            for name in sorted(os.listdir(folder)) if os.path.isdir(folder) else ():  # noqa: PTH112, PTH208 - names alone
                library = self.disk.look(f"{folder}/{name}") if ".so" in name and stem_of(name) else None
                if library is not None and library.soname == name:
                    found.setdefault(name, library)
        return list(found.values())

    def _settled(self) -> list[FileConflict]:
        """Leave out what is told twice, what another variant of a package makes good, and what is not linked at all."""
        first: dict[tuple[object, ...], FileConflict] = {}
        for one in self.found:
            first.setdefault((one.kind, one.library, one.names, one.first), one)
        unique = list(first.values())
        proven = {one.first for one in unique if one.kind in ("symbol", "version")}
        kept = [one for one in unique if not (one.kind == "hidden" and one.first in proven)]
        compiles = any(each.name in TRITON for each in self.environment.distributions)
        kept = [replace(one, level="fail") if one.kind == "offered" and compiles else one for one in kept]
        kept = [one for one in kept if not (one.kind == "majors" and not one.has and self._has_variant(one))]
        lacking = {one.library for one in kept if one.kind == "missing"}
        return [one for one in kept if not (one.kind == "missing" and self._is_served(one.library, lacking))]

    def _is_served(self, path: str, lacking: set[str]) -> bool:
        """Say whether another variant lacks nothing, as of mpi4py's for each MPI, bitsandbytes' for each device.

        A package may go on without it too. Torch's own libraries, and what others need by name, are no choice of one.
        """
        library = self.disk.look(path)
        if library is None or is_wanted(library, self.wanted) or TORCH_LIBRARY.match(path.rpartition("/")[2]):
            return False
        return bool(self.variants.get(variant_of(path), set()) - {path} - lacking) or self._is_optional(path, lacking)

    def _is_optional(self, path: str, lacking: set[str]) -> bool:
        listed = self.environment.listed
        owner = listed.get(path, "")
        loaded = (each for each in listed if each not in lacking and each.rpartition("/")[2] not in self.wanted)
        others = any(listed[each] == owner and ".libs/" not in each for each in loaded)
        packages = (one for one in self.environment.distributions if one.title == owner)
        return any(path in find_optional([path], scripts_of(one), others=others) for one in packages)

    def _has_variant(self, conflict: FileConflict) -> bool:
        """Say whether the package brings the same for the major that is here: it chooses when it is imported."""
        owner, first = self.environment.listed.get(conflict.library, ""), self.disk.look(conflict.first)
        return bool(owner) and first is not None and first.soname in self.needs.get(owner, ())


def is_wanted(library: LoaderFile, names: set[str]) -> bool:
    """Say whether a library is among those that others need, by SONAME or by the name of its file."""
    return library.soname in names or library.path.rpartition("/")[2] in names


def variant_of(path: str) -> str:
    """Give what variants share: `MPI` of MPI.mpich.cpython-312.so, `libx` of libx_cuda118.so and libx_xpu2025.so."""
    folder, _, name = path.rpartition("/")
    return f"{folder}/{name.partition('.')[0]}" if MODULE.search(path) else group_of(path)


def judge_overlap(overlap: Overlap, place: str) -> FileConflict | None:
    """Tell of two distributions that overwrote each other, unless they share a folder that is meant for several."""
    if len(overlap.paths) == 1 and overlap.paths[0].endswith("__init__.py"):
        text = Path(place, overlap.paths[0])
        if text.is_file() and any(word in text.read_text(encoding="utf-8", errors="replace") for word in SPREAD):
            return None
    owners = {"library": overlap.owners[0], "first": overlap.owners[1]}
    return FileConflict("files", "fail", "", overlap.paths[:3], len(overlap.paths), owners=owners)


def judge_gone(gone: Gone) -> FileConflict:
    """Tell of files that are gone: without a library, or what makes a folder a package, an import fails."""
    first = sorted(gone.paths, key=lambda path: (path.count("/"), not path.endswith("__init__.py"), path))
    needed = any(".so" in path or path.endswith("/__init__.py") for path in first)
    level = "fail" if needed else "warn"
    return FileConflict("gone", level, "", tuple(first[:3]), len(first), owners={"library": gone.owner.title})


def examine(environment: Environment, options: argparse.Namespace) -> dict[str, Any]:
    prover = Prover(environment, options.library_path, options.preload)
    owners = Owners(environment.listed, environment.prefix, options.sysroot)
    rows = []
    for one in prover.prove():
        files = {"library": one.library, "first": one.first, "has": one.has}
        named = {part: owner for part, path in files.items() if path and (owner := owners.of(path))}
        rows.append(replace(one, owners=named))
    overlaps = (judge_overlap(each, environment.places[0]) for each in find_overlaps(environment.distributions))
    rows += [one for one in overlaps if one is not None]
    rows += [judge_gone(each) for each in find_gone(environment.distributions)]
    document: dict[str, Any] = {"prefix": environment.prefix, "looked": len(environment.libraries)}
    document["conflicts"] = [vars(one) for one in rows]
    return document


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--prefix", required=True, metavar="DIR", help="the environment")
    parser.add_argument("--place", action="append", default=[], metavar="DIR", help="its site-packages")
    parser.add_argument("--library-path", default=os.environ.get("LD_LIBRARY_PATH", ""), metavar="LIST")
    parser.add_argument("--preload", default=os.environ.get("LD_PRELOAD", ""), metavar="LIST")
    parser.add_argument("--sysroot", default="", metavar="DIR", help="what stands for / where the system's files lie")
    parser.add_argument("--out", type=Path, metavar="FILE", help="write the document there instead")
    options = parser.parse_args()
    if not Path(options.prefix).is_dir():
        sys.stderr.write(f"there is no environment {options.prefix}\n")
        return 2
    gc.disable()  # a million names are kept to the end, and looking through them again and again costs a sixth
    environment = read_environment(options.prefix, options.place, FileReader(options.sysroot))
    text = json.dumps(examine(environment, options))
    if options.out:
        write_text(options.out, text + "\n")
    else:
        print(text)
    return 0


# The files of an environment that matter to the loader: its program, torch's libraries, those of all packages.


RUNTIME = re.compile(r"lib(sycl|ur_|umf|tcm|mkl|ccl|mpi|pti|OpenCL|ze_|imf|svml|irng|intlc)[\w-]*\.so[.\d]*")
"""Libraries of a device's runtime that lie in an environment's lib folder, also where no RECORD lists them."""
TORCH = ("libtorch_global_deps.so", "libtorch_python.so", "libtorch.so")
OF_TORCH = ("torch/lib/*.so", "torch/_C.*.so")
MODULE = re.compile(r"\.(?:cpython-[\w-]+|abi3)\.so$|/torch/_C\.[\w.-]*so$")
PLACES = ("lib/python3*/site-packages", "lib64/python3*/site-packages", "lib/python3/dist-packages")


@dataclass(frozen=True)
class Environment:
    """An environment. `listed` says whose a library is; of several names of one library that by which it is loaded."""

    prefix: str
    places: tuple[str, ...]
    program: LoaderFile | None
    torch: tuple[LoaderFile, ...]
    libraries: tuple[LoaderFile, ...]
    distributions: list[InstalledDistribution]
    listed: dict[str, str]
    disk: FileReader


def read_environment(prefix: str, places: Sequence[str], disk: FileReader) -> Environment:
    prefix = os.path.abspath(prefix)  # noqa: PTH100 - links are kept
    ours = [path for pattern in PLACES for path in sorted(Path(prefix).glob(pattern))]
    each_once = {path.resolve(): str(path) for path in reversed(ours)}  # lib64 may be a link to lib
    places = tuple(places) or tuple(each_once.values())
    distributions = read_distributions(places)
    listed = libraries_of(distributions)
    loose = [str(path) for place in places for pattern in OF_TORCH for path in Path(place).glob(pattern)]
    folder = Path(prefix, "lib")
    loose += [str(path) for path in (folder.iterdir() if folder.is_dir() else ()) if RUNTIME.fullmatch(path.name)]
    found = (disk.look(path) for path in sorted({*listed, *loose}))
    libraries = _by_soname(each for each in found if each is not None and not each.broken)
    program = disk.look(os.path.realpath(f"{prefix}/bin/python3"))
    program = None if program is None or program.broken else program
    fitting = [each for each in libraries if program is None or each.machine == program.machine]
    torch = [each for name in TORCH for each in fitting if each.path.endswith(f"/torch/lib/{name}")]
    modules = [each for each in fitting if re.search(r"/torch/_C\.[\w.-]*so$", each.path)]
    return Environment(prefix, places, program, (*torch, *modules), tuple(fitting), distributions, listed, disk)


def _by_soname(libraries: Iterable[LoaderFile]) -> list[LoaderFile]:
    """Of files in one folder that have the same SONAME, wheels know no links, keep the one that is called so."""
    found: dict[tuple[str, str], LoaderFile] = {}
    for each in libraries:
        folder, _, name = each.path.rpartition("/")
        key = (folder, each.soname or name)
        if key not in found or name == each.soname:
            found[key] = each
    return list(found.values())


if __name__ == "__main__":
    sys.exit(main())
