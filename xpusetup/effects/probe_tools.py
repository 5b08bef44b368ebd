"""Programs, interpreters and toolkits: what is there, and what each says of its version."""

from __future__ import annotations

import os
import shutil
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

from xpusetup.effects.notes import PATIENCE, ask
from xpusetup.effects.process import run_process
from xpusetup.facts import Tool, Toolkits, ToolkitSeen
from xpusetup.outputs.tools import parse_compiler_version, parse_ocloc_targets

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from xpusetup.effects.notes import Notes
    from xpusetup.effects.sysroot import Sysroot
    from xpusetup.facts import Facts
    from xpusetup.settings import Settings

PROGRAMS = ("gcc", "g++", "clang++", "git", "cmake", "ninja", "uv", "ccache")
PARTS = ("compiler", "mkl", "pti", "ccl", "mpi", "umf", "tcm", "tbb", "dnnl", "ocloc", "dpl")


def probe_programs(compilers: Mapping[str, str] | None = None) -> list[Tool]:
    """Find the programs of a build on PATH, with the first line that each says of its version.

    `compilers` are those that a site has instead of gcc and g++, under whose names they are told, also where they lack.
    """
    own = {name: word for name, word in (compilers or {}).items() if word != name}
    found = [(name, path) for name in PROGRAMS if (path := shutil.which(own.get(name, name)) or own.get(name))]
    with ThreadPoolExecutor(len(PROGRAMS)) as pool:
        versions = pool.map(lambda pair: _first_line(pair[1]), found)
        return [
            Tool(name=name, path=path, version=version) for (name, path), version in zip(found, versions, strict=True)
        ]


def _first_line(path: str) -> str | None:
    output = run_process((path, "--version"), seconds=PATIENCE) if "/" in path else None  # else it is not on PATH
    lines = output.out.splitlines() if output else []
    return lines[0] if output and output.code == 0 and lines else None


def probe_toolkits(sysroot: Sysroot, extra: str, notes: Notes) -> Toolkits:
    """Look for oneAPI where its users put it, the place that was named first; and for the device compiler."""
    home = os.environ.get("HOME", "")
    named = [extra, os.environ.get("ONEAPI_ROOT", "")]
    places = [place for place in (*named, "/opt/intel/oneapi", f"{home}/intel/oneapi") if place]
    searched = list(dict.fromkeys(place.rstrip("/") for place in places))
    ocloc = _ocloc(sysroot, searched)
    targets = ask(notes, "toolkits.ocloc", (ocloc, "compile", "--help")) if ocloc else None
    return Toolkits(
        found=list(_toolkits(sysroot, searched)),
        searched=searched,
        ocloc=ocloc,
        targets=None if targets is None else parse_ocloc_targets(targets),
    )


def _ocloc(sysroot: Sysroot, places: list[str]) -> str | None:
    """Find the device compiler: on PATH, in a package that names it by version, or in a toolkit."""
    if (path := shutil.which("ocloc")) is not None:
        return path
    versioned = [str(path) for path in sorted(sysroot.path("/usr/bin").glob("ocloc-[0-9]*"))]
    patterns = ("*/latest/bin/ocloc", "*/bin/ocloc", "bin/ocloc")
    found = (path for place in places for pattern in patterns for path in sorted(sysroot.path(place).glob(pattern)))
    bundled = [str(path) for path in found]
    return next(reversed(versioned), next(iter(bundled), None))


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
                parts=[part for part in PARTS if sysroot.path(f"{place}/{part}").is_dir()],
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


def with_toolkit_of_shell(facts: Facts, settings: Settings) -> Facts:
    """Add the toolkit of the site's prelude, or of the caller's environment, where the site says that it is there."""
    if facts.toolkits is None or settings.toolkit.provider not in ("modules", "environment"):
        return facts
    from xpusetup.effects.toolkit import find_through_shell  # noqa: PLC0415 - a cycle otherwise

    seen = find_through_shell(tuple(settings.toolkit.prelude))
    found = [seen] if seen is not None else []
    searched = [*settings.toolkit.prelude, "$PATH"]
    return facts.model_copy(
        update={"toolkits": facts.toolkits.model_copy(update={"found": found, "searched": searched})}
    )
