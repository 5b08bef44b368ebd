"""Looks at wheels and a torch, and says of each library of the wheels whether it could be loaded beside that torch.

Nothing is loaded and no interpreter of an environment is started: ELF files are mapped and read. One JSON document on
stdout: the torch, and for each wheel its metadata and its libraries with what stands against each. With --installed
the distributions that lie in the environment beside torch, and are linked with it, stand for wheels.
"""

import argparse
import ast
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, replace
from email.parser import HeaderParser
from pathlib import Path
from posixpath import basename
from typing import Any, NamedTuple

from environment_libraries import Environment, read_environment
from helperlib.elf.conflicts import stem_of
from helperlib.elf.loader import FileReader, LoaderFile, Process
from helperlib.env.distributions import ASIDE, canonical
from helperlib.wheel.contents import UNREADABLE
from helperlib.wheel.fit import ArchivePart, FitBench, InstalledFiles, JudgedLibrary, WheelArchive, World
from helperlib.wheel.images import names_for, names_of
from helperlib.wheel.runtime import Scripts, find_optional, scripts_of

BASE = "/site-packages"
"""Where the files of a wheel would lie, in a model that has no environment."""
ORDER = ("libtorch_global_deps.so", "libtorch.so", "libtorch_python.so")
"""What `import torch` opens; all else of torch comes with it, or is looked at as well."""
TIMEOUT_S = 30


class TorchArchives(NamedTuple):
    """The torch: the archives that hold it, the paths of its libraries, its environment where it has one."""

    archives: tuple[WheelArchive, ...]
    paths: tuple[str, ...]
    version: str
    environment: Environment | None


def parse_arguments(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("wheels", nargs="*", type=Path, metavar="WHEEL")
    parser.add_argument("--installed", action="store_true", help="what the environment holds itself")
    where = parser.add_mutually_exclusive_group(required=True)
    where.add_argument("--prefix", metavar="DIR", help="the environment that holds torch")
    where.add_argument("--torch-wheel", type=Path, metavar="FILE")
    where.add_argument("--torch-folder", type=Path, metavar="DIR", help="the folder of torch's libraries")
    where.add_argument("--no-torch", action="store_true", help="what can be said without one")
    parser.add_argument("--place", action="append", default=[], metavar="DIR", help="its site-packages")
    parser.add_argument("--library-path", default=os.environ.get("LD_LIBRARY_PATH", ""), metavar="LIST")
    parser.add_argument("--sysroot", default="", metavar="DIR", help="what stands for / where the system's files lie")
    options = parser.parse_args(arguments)
    if not options.wheels and not options.installed:
        parser.error("name a WHEEL, or --installed")
    return options


def find_torch(options: argparse.Namespace, disk: FileReader) -> TorchArchives:
    if options.prefix:
        environment = read_environment(options.prefix, options.place, disk)
        named = (one for one in environment.distributions if canonical(one.name) == "torch")
        version = next((one.version for one in named), "")
        return TorchArchives((), tuple(one.path for one in environment.torch), version, environment)
    if options.torch_wheel:
        archive = WheelArchive(options.torch_wheel, BASE)
        version = HeaderParser().parsestr(archive.text("METADATA")).get("Version", "")
        return TorchArchives((archive,), tuple(_in_order(archive.members)), version, None)
    folder = options.torch_folder
    if not folder:
        return TorchArchives((), (), "", None)
    names = [str(path) for path in sorted(folder.glob("*.so")) if path.is_file()]
    beside = folder.parent / "version.py"
    found = re.search(r"__version__ = '([^']+)'", beside.read_text()) if beside.is_file() else None
    return TorchArchives((), tuple(_in_order(names)), found[1] if found else "", None)


def _in_order(paths: Iterable[str]) -> Iterator[str]:
    """Give the libraries that `import torch` opens, then torch's module."""
    known = {basename(path): path for path in paths if "/lib/" in path or path.endswith(ORDER)}
    yield from (known[name] for name in ORDER if name in known)
    yield from (path for path in paths if re.search(r"/torch/_C\.[\w.-]*so$", path))


def make_bench(torch: TorchArchives, world: World, disk: FileReader, options: argparse.Namespace) -> FitBench:
    """Load torch in a model of the process."""
    environment = torch.environment
    places = replace(disk.places(options.library_path), look=world.look)
    process = Process(places)
    if environment and environment.program:
        process.start(environment.program)
    for path in torch.paths:
        process.open(path, shared="global_deps" in path)
    if environment:
        beside = tuple(one.soname or basename(one.path) for one in environment.libraries)
        return FitBench(world, process, closed=True, beside=beside)
    lost = frozenset(name for name, _ in process.missing)
    return FitBench(world, process, closed=False, brought=lost, brings=tuple(lost))


def examine(path: Path, torch: TorchArchives, disk: FileReader, options: argparse.Namespace) -> dict[str, Any]:
    """Give what a wheel says of itself, and what stands against its libraries."""
    place = torch.environment.places[0] if torch.environment and torch.environment.places else BASE
    archive = WheelArchive(path, place)
    about = HeaderParser().parsestr(archive.text("METADATA"))
    name = about.get("Name", path.name.partition("-")[0])
    # The wheel lies over the environment, in the place of what that has of the same distribution.
    listed = torch.environment.listed if torch.environment else {}
    hidden = {path for path, owner in listed.items() if canonical(owner.partition(" ")[0]) == canonical(name)}
    bench = make_bench(torch, World(disk, (archive, *torch.archives), hidden), disk, options)
    bench.closed = bench.closed and not _is_pending(about.get_all("Requires-Dist", []), torch.environment)
    scripts = Scripts([name for name in archive.zip.namelist() if name.endswith(".py")], archive.zip.read)
    judged = [] if options.no_torch else _judge(bench, archive, scripts, torch.environment)
    return {
        "file": path.name,
        "name": name,
        "version": about.get("Version", ""),
        "tags": HeaderParser().parsestr(archive.text("WHEEL")).get_all("Tag", []),
        "requires": about.get_all("Requires-Dist", []),
        "python": about.get("Requires-Python", ""),
        "libraries": [_short(asdict(one), place) for one in judged],
        "compiled": len(archive.parts()),
        "troubles": [f"{basename(file)}: {why}" for file, why in archive.troubles.items()],
        "overwrites": _overwrites(archive, torch.environment, canonical(name)),
        "device": device_code(archive.parts()),
        "broken": "",
        "hollow": hollow(archive),
    }


def _is_pending(requires: Iterable[str], environment: Environment | None) -> bool:
    """Say whether something that a wheel requires is not installed yet, which may bring what its libraries need."""
    there = {each.name for each in environment.distributions} if environment else set()
    named = (re.match(r"[\w.-]+", line) for line in requires if ";" not in line)
    return any(each is not None and canonical(each[0]) not in there for each in named)


def _judge(
    bench: FitBench, holder: WheelArchive | InstalledFiles, scripts: Scripts, environment: Environment | None
) -> list[JudgedLibrary]:
    """Judge its libraries, once more with those of the environment that its own code opens first."""
    parts = holder.parts()
    judged = bench.judge(parts)
    if environment and any(each.kind == "library" for one in judged for each in one.problems):
        before = _opened_before(scripts, environment, bench.world)
        judged = replace(bench, before=before).judge(parts) if before else judged
    return _with_optional([*judged, *bench.judge_unread(holder.troubles)], scripts)


OPENS = re.compile(rb"\b(?:CDLL|LoadLibrary|load_library|dlopen)\b")
IMPORTS = re.compile(rb"^\s*(?:import|from)\s+([A-Za-z_]\w*)", re.MULTILINE)
QUOTED = re.compile(rb"[\x22\x27](lib[\w.+-]+?\.so(?:\.\d+)*)[\x22\x27]")


def _opened_before(scripts: Scripts, environment: Environment, world: World) -> dict[str, LoaderFile]:
    """Give what is likely opened before: libraries of ENV/lib that its code names, those of packages it imports."""
    texts = [scripts.read(name) for name in scripts.names]
    named = {each.decode() for text in texts if OPENS.search(text) for each in QUOTED.findall(text)}
    found = ((name, world.look(f"{environment.prefix}/lib/{name}")) for name in sorted(named))
    own = {name: library for name, library in found if library is not None and not library.broken}
    modules = {each.decode() for text in texts for each in IMPORTS.findall(text)} - {"torch"}
    folders = tuple(f"{place}/{module}/" for place in environment.places for module in modules)
    imported = (one for one in environment.libraries if one.path.startswith(folders))
    return {**{name: one for one in imported for name in (one.soname, basename(one.path)) if name}, **own}


SMALL = 4096
"""A placeholder has no more bytes of code, all files together."""


def hollow(archive: WheelArchive) -> str:
    """Say that a wheel holds nothing of its own: "meta" without a file, "placeholder" with code that does nothing."""
    own = [one for one in archive.zip.infolist() if ".dist-info/" not in one.filename and not one.is_dir()]
    if not own:
        return "meta"
    if any(not one.filename.endswith(".py") for one in own) or sum(one.file_size for one in own) > SMALL:
        return ""
    return "placeholder" if all(_does_nothing(archive.zip.read(one)) for one in own) else ""


def _does_nothing(code: bytes) -> bool:
    """Say whether a module holds texts, its version and functions without a body alone."""
    try:
        top = ast.parse(code)
    except (SyntaxError, ValueError):
        return False
    return all(map(_is_idle, top.body))


def _is_idle(node: ast.stmt) -> bool:
    if isinstance(node, (ast.FunctionDef, ast.ClassDef)):
        return all(map(_is_idle, node.body))
    if isinstance(node, ast.Assign):
        return all(isinstance(one, ast.Name) and one.id.startswith("__") for one in node.targets)
    return isinstance(node, ast.Pass) or (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant))


def device_code(parts: Sequence[ArchivePart]) -> dict[str, Any]:
    """Give for which GPUs the libraries were compiled ahead of time, and why that cannot be read."""
    versions = {version for one in parts for version in one.targets.versions}
    also = {version for one in parts for version in one.targets.also}
    trouble = next((one.targets.trouble for one in parts if one.targets.trouble), "")
    generic = any(one.targets.generic for one in parts)
    return {"gpus": names_of(versions), "names": names_for(versions | also), "generic": generic, "trouble": trouble}


def _short(row: dict[str, Any], place: str) -> dict[str, Any]:
    """Give paths of the wheel as they stand in it."""
    prefix = f"{place}/"
    row["path"], row["group"] = row["path"].removeprefix(prefix), row["group"].removeprefix(prefix)
    for each in row["problems"]:
        each["library"], each["first"] = each["library"].removeprefix(prefix), each["first"].removeprefix(prefix)
    return row


OWN = ("torch", "triton", "triton-xpu", "pytorch-triton", "pytorch-triton-xpu")
"""What comes with torch."""


def examine_installed(torch: TorchArchives, disk: FileReader, options: argparse.Namespace) -> Iterator[dict[str, Any]]:
    """Give the same of each distribution that is linked with torch and lies beside it; torch is loaded once."""
    if torch.environment is None or not torch.paths:
        return
    bench = make_bench(torch, World(disk, ()), disk, options)
    for one in torch.environment.distributions:
        found = InstalledFiles(one, disk)
        if one.name in OWN or not found.is_bound():
            continue
        parts = found.parts()
        judged = _judge(bench, found, scripts_of(one), torch.environment)
        yield {
            **broken(Path(one.title), ""),
            "name": one.name,
            "version": one.version,
            "libraries": [_short(asdict(each), one.place) for each in judged],
            "compiled": len(parts),
            "troubles": [f"{basename(file)}: {why}" for file, why in found.troubles.items()],
        }


def _with_optional(judged: Sequence[JudgedLibrary], scripts: Scripts) -> list[JudgedLibrary]:
    """Mark the libraries of another accelerator, or of MPI, which a package goes on without, by its Python files."""
    idle = [one.path for one in judged if one.problems and (one.foreign or _is_of_mpi(one))]
    others = any(not one.problems for one in judged)
    optional = find_optional(idle, scripts, others=others) if idle else ()
    return [replace(one, foreign=one.foreign or one.path in optional, optional=one.path in optional) for one in judged]


def _is_of_mpi(one: JudgedLibrary) -> bool:
    """Say whether a library lacks one of MPI, which few machines have."""
    return any(each.kind == "library" and stem_of(each.names[0]).startswith("libmpi") for each in one.problems)


def _overwrites(archive: WheelArchive, environment: Environment | None, name: str) -> dict[str, int]:
    """Count the files of other distributions that the wheel would overwrite, by their owners."""
    found: dict[str, int] = {}
    if environment is None:
        return found
    paths = {path.removeprefix(f"{archive.place}/") for path in archive.members}
    for one in environment.distributions:
        if canonical(one.name) != name and one.place == archive.place:
            same = sum(path in paths and path.split("/")[0] not in ASIDE for path, _ in one.files)
            found.update({one.title: same} if same else {})
    return found


def demangle(documents: Iterable[dict[str, Any]]) -> dict[str, str]:
    """Give C++ names as people read them, by c++filt where that is there."""
    problems = [each for one in documents for row in one["libraries"] for each in row["problems"]]
    names = sorted({name for each in problems for name in (*each["names"], *each["near"]) if name.startswith("_Z")})
    program = shutil.which("c++filt") or shutil.which("llvm-cxxfilt")
    if not names or program is None:
        return {}
    text = "\n".join(names)
    try:
        done = subprocess.run((program,), input=text, capture_output=True, text=True, timeout=TIMEOUT_S, check=True)
    except (OSError, subprocess.SubprocessError):
        return {}
    return dict(zip(names, done.stdout.splitlines(), strict=False))


def broken(path: Path, why: str) -> dict[str, Any]:
    nothing: dict[str, Any] = {"tags": [], "requires": [], "libraries": [], "troubles": [], "overwrites": {}}
    named = {"file": path.name, "name": "", "version": "", "python": "", "compiled": 0, "broken": why, "hollow": ""}
    return {**named, **nothing, "device": device_code([])}


def main(arguments: Sequence[str] | None = None) -> int:
    options = parse_arguments(arguments)
    disk = FileReader(options.sysroot)
    try:
        torch = find_torch(options, disk)
    except UNREADABLE as error:
        sys.stderr.write(f"{options.torch_wheel} cannot be read: {error}\n")
        return 2
    documents = []
    for path in options.wheels:
        try:
            documents.append(examine(path, torch, disk, options))
        except UNREADABLE as error:  # noqa: PERF203 - a few wheels
            documents.append(broken(path, f"it cannot be read: {error}"))
    documents += examine_installed(torch, disk, options) if options.installed else ()
    told = {"version": torch.version, "libraries": list(map(basename, torch.paths))}
    print(json.dumps({"torch": told, "wheels": documents, "plain": demangle(documents)}))
    return 0


if __name__ == "__main__":
    sys.exit(main())
