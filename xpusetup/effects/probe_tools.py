"""Programs, interpreters and toolkits: what is there, and what each says of its version."""

from __future__ import annotations

import os
import re
import shutil
from typing import TYPE_CHECKING

from xpusetup.effects.process import run_process
from xpusetup.facts import Tool, Toolkits, ToolkitSeen

if TYPE_CHECKING:
    from collections.abc import Iterator

    from xpusetup.effects.sysroot import Sysroot
    from xpusetup.facts import Facts
    from xpusetup.settings import Settings

PROGRAMS = ("gcc", "g++", "git", "cmake", "ninja", "uv", "ccache")
PATIENCE = 3.0
"""Seconds that a program may take to say its version."""
COMPILER = re.compile(r"Compiler (\d+\.\d+(?:\.\d+)*)")


def probe_programs() -> list[Tool]:
    """Find the programs of a build on PATH, with the first line that each says of its version."""
    found = ((name, shutil.which(name)) for name in PROGRAMS)
    return [Tool(name=name, path=path, version=_first_line(path)) for name, path in found if path]


def _first_line(path: str) -> str | None:
    output = run_process((path, "--version"), seconds=PATIENCE)
    lines = output.out.splitlines()
    return lines[0] if output.code == 0 and lines else None


def probe_toolkits(sysroot: Sysroot, extra: str = "") -> Toolkits:
    """Look for oneAPI where its users put it, the place that was named first."""
    home = os.environ.get("HOME", "")
    named = [extra, os.environ.get("ONEAPI_ROOT", "")]
    places = [place for place in (*named, "/opt/intel/oneapi", f"{home}/intel/oneapi") if place]
    searched = list(dict.fromkeys(place.rstrip("/") for place in places))
    return Toolkits(found=list(_toolkits(sysroot, searched)), searched=searched)


def _toolkits(sysroot: Sysroot, places: list[str]) -> Iterator[ToolkitSeen]:
    for place in places:
        for compiler in _compilers(sysroot, place):
            path = sysroot.path(compiler)
            setvars = f"{place}/setvars.sh"
            yield ToolkitSeen(
                root=place,
                compiler=compiler,
                version=parse_compiler_version(run_process((str(path), "--version"), seconds=PATIENCE).out),
                setvars=setvars if sysroot.path(setvars).exists() else None,
                scripts=list(_scripts(sysroot, place)),
            )


def _scripts(sysroot: Sysroot, place: str) -> Iterator[str]:
    base = sysroot.path(place)
    for pattern in ("*/latest/env/vars.sh", "*/oneapi-vars.sh"):
        for path in sorted(base.glob(pattern)):
            yield f"{place}/{path.relative_to(base)}"


def _compilers(sysroot: Sysroot, place: str) -> Iterator[str]:
    """Yield every icpx once: that of `latest` first, other versions, then bundles whose folders lie together."""
    base = sysroot.path(place)
    seen = set()
    for pattern in ("compiler/latest/bin/icpx", "compiler/[0-9]*/bin/icpx", "*/bin/icpx"):
        for path in sorted(base.glob(pattern), reverse=True):
            if path.resolve() not in seen:
                seen.add(path.resolve())
                yield f"{place}/{path.relative_to(base)}"


def parse_compiler_version(text: str) -> str | None:
    """Read the version from what icpx says: "Intel(R) oneAPI DPC++/C++ Compiler 2025.3.1 (2025.3.1.2025...)"."""
    found = COMPILER.search(text)
    return found[1] if found else None


def with_toolkit_of_shell(facts: Facts, settings: Settings) -> Facts:
    """Add the toolkit of the site's prelude, or of the caller's environment, where the site says that it is there."""
    if facts.toolkits is None or settings.toolkit.provider not in ("modules", "environment"):
        return facts
    from xpusetup.effects.toolkit import find_through_shell  # noqa: PLC0415 - a cycle otherwise

    seen = find_through_shell(tuple(settings.toolkit.prelude))
    found = [seen] if seen is not None else []
    searched = [*settings.toolkit.prelude, "$PATH"]
    return facts.model_copy(update={"toolkits": Toolkits(found=found, searched=searched)})
