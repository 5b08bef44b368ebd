"""Two Unified Runtimes: the one that is found first, held against what an environment asks for."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import TYPE_CHECKING

from xpusetup.effects import files
from xpusetup.facts import Runtime

if TYPE_CHECKING:
    from collections.abc import Mapping

LOADER = "libur_loader.so."
SYMBOL = re.compile(rb"(?<=\0)(?:ur[A-Z][A-Za-z0-9]{3,}|LIBUR_LOADER_[\d.]+)(?=\0)")
"""Names as they stand in a library's table of strings, those that it asks for and those that it has alike."""


def probe_runtime(libraries: Mapping[str, str]) -> Runtime | None:
    """Find the loader that hides the environment's own, and the functions that it lacks; None where nothing hides it.

    `libraries` are those of the environment, {soname: path}.
    """
    own = next((path for name, path in libraries.items() if name.startswith(LOADER)), None)
    sycl = next((path for name, path in libraries.items() if name.startswith("libsycl.so.")), None)
    first = _first(Path(own)) if own else None
    if own is None or sycl is None or first is None:
        return None
    lacks = (_names(Path(sycl)) & _names(Path(own))) - _names(first)
    return Runtime(sycl=sycl, own=own, first=str(first), lacks=sorted(lacks))


def _first(own: Path) -> Path | None:
    """Give what the dynamic linker takes in place of `own`: LD_LIBRARY_PATH goes before a RUNPATH."""
    folders = (Path(folder) for folder in os.environ.get("LD_LIBRARY_PATH", "").split(":") if folder)
    found = next((folder / own.name for folder in folders if (folder / own.name).exists()), None)
    return None if found is None or found.resolve() == own.resolve() else found


def _names(library: Path) -> set[str]:
    return {name.decode() for name in SYMBOL.findall(files.read_bytes(library))}
