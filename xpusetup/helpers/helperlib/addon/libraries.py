"""The libraries of an add-on: linked from what was compiled, with a body for each function that was left out."""

from __future__ import annotations

import os
import subprocess
from typing import TYPE_CHECKING, NamedTuple

from helperlib.addon.generate import keep
from helperlib.addon.installed import AddonError
from helperlib.output import whole

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from helperlib.addon.graph import Objects, Work

OPERATORS = ("_ZN2at", "_ZNK2at", "_ZN3sdp")
"""How the names of functions begin that operators are made of: those of at and sdp, in the linker's form."""
PATHS = "-Wl,-rpath,$ORIGIN:$ORIGIN/../torch/lib:$ORIGIN/../../.."
"""Where the libraries find each other, torch's, and Intel's run time in the environment's own lib."""
BODY = """\
extern "C" [[noreturn]] void missing_{number}() __asm__("{symbol}");
extern "C" void missing_{number}() {{ missing("{name}"); }}
"""
BEGINNING = """\
#include <stdexcept>
#include <string>
[[noreturn]] static void missing(const char* name) {
  throw std::runtime_error(std::string("this build of XPU was made without ") + name);
}
"""


class Libraries(NamedTuple):
    """The two libraries with the names that upstream gives them, the bindings, and the functions that are missing."""

    c10: Path
    torch: Path
    bindings: Path
    missing: list[str]


def link(work: Work, objects: Objects) -> Libraries:
    """Link what is older than what it is made of. Raises AddonError where the linker misses something else."""
    out, torch = work.folder / "libraries", work.torch.libraries
    out.mkdir(exist_ok=True)
    c10, whole_torch = out / "libc10_xpu.so", out / "libtorch_xpu.so"
    bindings = out / f"_bindings{work.torch.suffix}"
    sycl = next((work.home.folder / "lib").glob(f"libsycl.so.{work.home.interface.major}"))
    places = [f"-L{torch}", f"-L{out}"]
    _link(c10, objects.c10, [*places, "-lc10", str(sycl)])
    missing = _write_missing(work, objects.torch)
    extra = _compile_missing(work)
    libraries = ["-lc10_xpu", "-ltorch_cpu", "-lc10", str(sycl), "-ldl"]
    _link(whole_torch, [*objects.torch, extra], [*places, "-Wl,-z,defs", *libraries], after=(c10,))
    _link(bindings, objects.bindings, [*places, "-ltorch_xpu", "-ltorch_python", *libraries], after=(whole_torch,))
    return Libraries(c10, whole_torch, bindings, missing)


def _link(out: Path, objects: list[Path], words: list[str], after: Iterable[Path] = ()) -> None:
    command = (_cxx(), "-shared", f"-Wl,-soname,{out.name}", PATHS, *map(str, objects), *words)
    kept = out.with_suffix(".command")
    keep(kept, "\n".join(command))
    if out.is_file() and all(path.stat().st_mtime <= out.stat().st_mtime for path in (kept, *objects, *after)):
        return
    with whole(out) as draft:
        done = subprocess.run((*command, "-o", str(draft)), capture_output=True, text=True, check=False)
        if done.returncode:
            lines = [line for line in done.stderr.splitlines() if "undefined reference" in line or "error" in line]
            told = "; ".join(line.rpartition(": ")[2] for line in lines[:3]) or done.stderr[-300:]
            raise AddonError(f"{out.name} cannot be linked: {told}", "the sources belong to another torch than this")


def _write_missing(work: Work, objects: list[Path]) -> list[str]:
    """Write a body for each function of an operator that neither an object nor torch has; give their names."""
    torch = _symbols([work.torch.libraries / "libtorch_cpu.so"], "-D", "--defined-only")
    asked = {name for name in _symbols(objects, "-u") if name.startswith(OPERATORS)}
    missing = sorted(asked - _symbols(objects, "--defined-only") - torch)
    done = subprocess.run(("c++filt",), input="\n".join(missing), capture_output=True, text=True, check=True)
    names = done.stdout.splitlines()
    rows = enumerate(zip(missing, names, strict=True))
    bodies = (BODY.format(number=number, symbol=symbol, name=name) for number, (symbol, name) in rows)
    keep(work.folder / "missing.cpp", BEGINNING + "".join(bodies))
    return names


def _compile_missing(work: Work) -> Path:
    source, out = work.folder / "missing.cpp", work.folder / "objects/missing.o"
    if not out.is_file() or out.stat().st_mtime < source.stat().st_mtime:
        subprocess.run((_cxx(), "-w", "-fPIC", "-c", str(source), "-o", str(out)), check=True)
    return out


def _symbols(files: list[Path], *options: str) -> set[str]:
    done = subprocess.run(("nm", *options, *map(str, files)), capture_output=True, text=True, check=True)
    return {line.split()[-1].partition("@")[0] for line in done.stdout.splitlines() if line.strip()}


def _cxx() -> str:
    return os.environ.get("CXX", "g++")
