"""The files of an environment that matter to the loader: its program, torch's libraries, those of all packages."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from file_owners import libraries_of, read_distributions

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from file_owners import Distribution
    from loader_disk import Disk
    from loader_model import Library

RUNTIME = re.compile(r"lib(sycl|ur_|umf|tcm|mkl|ccl|mpi|pti|OpenCL|ze_|imf|svml|irng|intlc)[\w-]*\.so[.\d]*")
"""Libraries of a device's runtime that lie in an environment's lib folder, also where no RECORD lists them."""
TORCH = ("libtorch_global_deps.so", "libtorch_python.so", "libtorch.so")
PLACES = ("lib/python3*/site-packages", "lib64/python3*/site-packages", "lib/python3/dist-packages")


@dataclass(frozen=True)
class Environment:
    """An environment. `listed` says whose a library is; of several names of one library that by which it is loaded."""

    prefix: str
    places: tuple[str, ...]
    program: Library | None
    torch: tuple[Library, ...]
    libraries: tuple[Library, ...]
    distributions: list[Distribution]
    listed: dict[str, str]
    disk: Disk


def read_environment(prefix: str, places: Sequence[str], disk: Disk) -> Environment:
    """Look at an environment; without `places` its site-packages are looked for."""
    prefix = os.path.abspath(prefix)  # noqa: PTH100 - links are kept
    places = tuple(places) or _site_packages(Path(prefix))
    distributions = read_distributions(places)
    listed = libraries_of(distributions)
    loose = [*_of_torch(places), *_runtime(Path(prefix, "lib"))]
    found = (disk.look(path) for path in sorted({*listed, *loose}))
    libraries = _by_soname(each for each in found if each is not None and not each.broken)
    program = disk.look(os.path.realpath(f"{prefix}/bin/python3"))
    program = None if program is None or program.broken else program
    fitting = [each for each in libraries if program is None or each.machine == program.machine]
    torch = [each for name in TORCH for each in fitting if each.path.endswith(f"/torch/lib/{name}")]
    modules = [each for each in fitting if re.search(r"/torch/_C\.[\w.-]*so$", each.path)]
    return Environment(prefix, places, program, (*torch, *modules), tuple(fitting), distributions, listed, disk)


def _site_packages(prefix: Path) -> tuple[str, ...]:
    """Give the site-packages below a prefix, each once: lib64 may be a link to lib."""
    found = [path for pattern in PLACES for path in sorted(prefix.glob(pattern))]
    return tuple({path.resolve(): str(path) for path in reversed(found)}.values())


def _of_torch(places: Iterable[str]) -> list[str]:
    patterns = ("torch/lib/*.so", "torch/_C.*.so")
    return [str(path) for place in places for pattern in patterns for path in Path(place).glob(pattern)]


def _runtime(folder: Path) -> list[str]:
    names = sorted(os.listdir(folder)) if folder.is_dir() else ()  # noqa: PTH208 - names alone
    return [str(folder / name) for name in names if RUNTIME.fullmatch(name)]


def _by_soname(libraries: Iterable[Library]) -> list[Library]:
    """Of files in one folder that have the same SONAME, wheels know no links, keep the one that is called so."""
    found: dict[tuple[str, str], Library] = {}
    for each in libraries:
        folder, _, name = each.path.rpartition("/")
        key = (folder, each.soname or name)
        if key not in found or name == each.soname:
            found[key] = each
    return list(found.values())
