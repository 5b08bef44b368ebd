"""The torch of an environment, and the libraries in it that cannot work together."""

import json
import os
import re
import sys
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Literal

from xpusetup.base.document import read_as
from xpusetup.machine.environments import EntryPoint, ImportReport, InstalledTorch, LibraryConflict
from xpusetup.machine.pairs import OPEN
from xpusetup.machine.parsers import DISTRIBUTIONS, EnvironmentLibraries, parse_entry_points, parse_torch_version
from xpusetup.machine.probe_fit import find_misfits, interpreter_of, site_packages
from xpusetup.system import files
from xpusetup.system.environment import is_own_environment, which_python
from xpusetup.system.files import Sysroot
from xpusetup.system.process import Notes, run_process

# The libraries of an environment that cannot work together, as helpers/environment_libraries.py reads them.


LOOK = "helpers/environment_libraries.py"
TIMEOUT_S = 60.0
"""Seconds that the look may take; it reads a few MiB, and on a network file system with a cold cache that is slow."""
MOST = 40
"""Conflicts that are kept: an environment of which more is wrong is not mended one by one."""


def probe_conflicts(
    prefix: Path, places: Iterable[Path], sysroot: Sysroot, notes: Notes
) -> list[LibraryConflict] | None:
    """Look for libraries that cannot work together, with the caller's LD_LIBRARY_PATH; None where that failed."""
    found = look_at_libraries(prefix, places, sysroot)
    if isinstance(found, str):
        notes["torch.conflicts"] = found
        return None
    return found.conflicts[:MOST]


def look_at_libraries(prefix: Path, places: Iterable[Path], sysroot: Sysroot) -> EnvironmentLibraries | str:
    """Give what the helper says of an environment, or why it says nothing. Nothing of the environment is started."""
    options = [word for place in places for word in ("--place", str(place))]
    options += ["--sysroot", sysroot.text] if sysroot.text else []
    words = (sys.executable, "-B", str(files.package_file(LOOK)), "--prefix", str(prefix), *options)
    kept = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "PYTHONHOME")}
    output = run_process(words, seconds=TIMEOUT_S, env=kept, cwd=Path("/"))
    try:
        return read_as(EnvironmentLibraries, json.loads(output.out))
    except json.JSONDecodeError:
        return output.why or next(reversed(output.err.strip().splitlines()), "it says nothing")
    except ValueError as error:
        return str(error)


# The torch of an environment: read from its files, and where it could matter, imported by its own interpreter.


IMPORT_PATIENCE = 20.0
"""Seconds that `import torch` may take; from a network file system and with a cold cache it is slow."""
REPORT = "helpers/torch_report.py"
GROUP = "torch.backends"
NAMED = re.compile(r"^(?P<name>.+?)-(?P<version>[^-]+)(-py[\d.]+.*)?\.(?:dist|egg)-info$")
LIBRARIES = re.compile(r"lib(sycl|ur_loader|ur_adapter_level_zero|umf|tcm|mkl_core|ccl|pti_view|OpenCL)\.so[.\d]*")
PIN = re.compile(r"^Requires-Dist: ([A-Za-z0-9._-]+)\s*\(?==\s*([^\s;)]+)", re.MULTILINE)
OF_TORCH = re.compile(r"^Requires-Dist: torch\s*\(?([<>=!~][^;)\n]*)", re.MULTILINE)
SYCL = re.compile(rb"libsycl\.so\.\d+")
GLIBCXX = re.compile(rb"GLIBCXX_3\.4\.(\d+)\0")


def probe_torch(
    environments: Sequence[str], sysroot: Sysroot, notes: Notes, *, imports: bool = True
) -> InstalledTorch | None:
    """Look at the first environment that holds a torch, else at the first that is there; None without any.

    After those that are named come the active ones and that of python3.
    """
    asked = dict.fromkeys(Path(prefix) for prefix in (*environments, *_at_hand()))
    there = ((prefix, places) for prefix in asked if (places := list(site_packages(prefix))))
    found = [each for each in there if _holds_torch(each[1]) or not is_own_environment(each[0])]
    if not found:
        notes["torch"] = "no Python environment is active or built here"
        return None
    prefix, places = next((each for each in found if _holds_torch(each[1])), found[0])
    seen = _look(prefix, places, sysroot)
    if seen.version is None and not seen.libraries:  # in any other environment nothing of ours can meet
        return seen
    worth = imports and seen.version is not None and (seen.xpu or seen.entry_points)
    with ThreadPoolExecutor() as pool:  # each starts a process that takes a second or more
        report = pool.submit(_import, seen.python, notes) if worth else None
        conflicts = pool.submit(probe_conflicts, prefix, places, sysroot, notes)
        misfits = find_misfits(prefix, places)
        return replace(seen, conflicts=conflicts.result(), misfits=misfits, report=report.result() if report else None)


def _at_hand() -> Iterator[str]:
    yield from (os.environ[name] for name in ("VIRTUAL_ENV", "CONDA_PREFIX") if os.environ.get(name))
    python = which_python("python3")
    if python is not None:
        yield str(Path(python).parent.parent)


def _holds_torch(places: Iterable[Path]) -> bool:
    return any((place / "torch/version.py").exists() for place in places)


def _look(prefix: Path, places: list[Path], sysroot: Sysroot) -> InstalledTorch:
    kept = [(place, entry) for place in places for entry in sorted(os.listdir(place)) if entry.endswith("-info")]  # noqa: PTH208 - names alone
    entries = list(_entries(kept))
    versions, doubled = _distributions(kept, {_canonical(entry.distribution) for entry in entries})
    home = next((place / "torch" for place in places if (place / "torch/version.py").exists()), None)
    said = parse_torch_version(files.read_text(home / "version.py") or "") if home else {}
    return InstalledTorch(
        python=str(interpreter_of(prefix)),
        prefix=str(prefix),
        kind=_kind(prefix),
        distributions=versions,
        doubled=doubled,
        requires=_requires(kept),
        asked=_asked(kept),
        entry_points=entries,
        version=said.get("__version__"),
        xpu=said.get("xpu", "") if said else None,
        cuda=said.get("cuda", "") if said else None,
        sycl=_sonames(home / "lib/libc10_xpu.so") if home else [],
        libraries=_libraries(prefix),
        glibcxx=_glibcxx(prefix / "lib/libstdc++.so.6") if _kind(prefix) == "conda" else None,
        glibcxx_system=_system_glibcxx(sysroot) if _kind(prefix) == "conda" else None,
    )


def _kind(prefix: Path) -> Literal["venv", "conda", "interpreter"]:
    if (prefix / "pyvenv.cfg").exists():
        return "venv"
    return "conda" if (prefix / "conda-meta").is_dir() else "interpreter"


def _canonical(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def _distributions(kept: list[tuple[Path, str]], more: set[str]) -> tuple[dict[str, str], list[str]]:
    """Give the watched distributions and `more` by normalised name, and those that lie twice in one place."""
    found: dict[str, tuple[Path, str]] = {}
    doubled = set()
    for place, entry in kept:
        named = NAMED.match(entry)
        name = _canonical(named["name"]) if named else ""
        if named is None or not (name in more or DISTRIBUTIONS.fullmatch(name)):
            continue
        if name in found and found[name][0] == place:
            doubled.add(name)
        found.setdefault(name, (place, named["version"]))
    return {name: version for name, (_, version) in sorted(found.items())}, sorted(doubled)


def _entries(kept: list[tuple[Path, str]]) -> Iterator[EntryPoint]:
    for place, entry in kept:
        text = files.read_text(place / entry / "entry_points.txt") or ""
        named = NAMED.match(entry)
        for name, value in parse_entry_points(text, GROUP).items():
            stem, version = (named["name"], named["version"]) if named else (entry, "")
            yield EntryPoint(name=name, value=value, distribution=stem, version=version)


def _requires(kept: list[tuple[Path, str]]) -> list[str]:
    for place, entry in kept:
        if re.match(r"torch-\d", entry) and entry.endswith(".dist-info"):
            found = PIN.findall(files.read_text(place / entry / "METADATA") or "")
            return sorted(f"{name.lower()}=={version}" for name, version in found)
    return []


def _asked(kept: list[tuple[Path, str]]) -> dict[str, str]:
    """Give what the companions of torch require of it."""
    found: dict[str, str] = {}
    for place, entry in kept:
        named = NAMED.match(entry)
        name = _canonical(named["name"]) if named else ""
        if name in OPEN and (told := OF_TORCH.search(files.read_text(place / entry / "METADATA") or "")):
            found.setdefault(name, told[1].strip())
    return found


def _libraries(prefix: Path) -> dict[str, str]:
    try:
        names = sorted(os.listdir(prefix / "lib"))  # noqa: PTH208 - names alone
    except OSError:
        return {}
    return {name: str(prefix / "lib" / name) for name in names if LIBRARIES.fullmatch(name)}


def _sonames(library: Path) -> list[str]:
    return sorted({found.decode() for found in SYCL.findall(files.read_bytes(library))})


def _glibcxx(library: Path) -> int | None:
    return max((int(number) for number in GLIBCXX.findall(files.read_bytes(library))), default=None)


def _system_glibcxx(sysroot: Sysroot) -> int | None:
    places = ("/usr/lib/x86_64-linux-gnu", "/usr/lib64", "/usr/lib")
    found = (sysroot.path(f"{place}/libstdc++.so.6") for place in places)
    return next((level for path in found if (level := _glibcxx(path)) is not None), None)


def _import(python: str, notes: Notes) -> ImportReport | None:
    output = run_process((python, "-B", str(files.package_file(REPORT))), seconds=IMPORT_PATIENCE, cwd=Path("/"))
    if output.code is None:
        notes["torch.report"] = output.why
        return None
    lines = output.out.strip().splitlines()
    try:
        return read_as(ImportReport, json.loads(lines[-1]))
    except (IndexError, ValueError):
        last = next(reversed(output.err.strip().splitlines()), "nothing")
        return ImportReport(error=f"import torch ended the process with {output.code}: {last}", seconds=0)
