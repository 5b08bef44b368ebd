"""The build of an add-on: a graph for ninja of its objects, and the libraries that are linked of them.

A function of an operator that was left out gets a body that says so.
"""

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

    from helperlib.addon.generate import Generated
    from helperlib.addon.installed import BaseTorch
    from helperlib.addon.operators import Choice
    from helperlib.addon.source import Trees
    from helperlib.sycl.home import Home

STANDARD = "c++17"
FLOATS = ("-fhonor-nans", "-fhonor-infinities", "-fno-associative-math", "-fno-approx-func")
"""Floating point of kernels, as torch-xpu-ops has it (cmake/BuildFlags.cmake)."""
KERNELS = ("-fsycl", "-fno-sycl-unnamed-lambda", "-sycl-std=2020", *FLOATS, "-Wno-absolute-value")
BINDINGS = ("torch/csrc/xpu/Module.cpp", "torch/csrc/xpu/Stream.cpp", "torch/csrc/xpu/Event.cpp")
C10 = tuple(f"c10/xpu/{name}.cpp" for name in ("XPUFunctions", "XPUStream", "XPUCachingAllocator", "impl/XPUGuardImpl"))
DEVICE = "aten/src/ATen/xpu"
BATCH_NORM = "native_batch_norm"
"""The operator that must not fall back by itself (files/batch_norm.cpp)."""

RULES = """\
builddir = {work}
pool heavy
  depth = 1
rule host
  command = {host} -MD -MF $out.d -c $in -o $out
  depfile = $out.d
  deps = gcc
  description = $in
rule kernels
  command = {kernels} -MD -MF $out.d -c $in -o $out
  depfile = $out.d
  deps = gcc
  description = $in
"""

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


class Objects(NamedTuple):
    """The objects of each library: c10_xpu, torch_xpu, and the bindings for Python."""

    c10: list[Path]
    torch: list[Path]
    bindings: list[Path]


class Work(NamedTuple):
    """What a build works with: its folder, the trees, the torch, the tool chain, for which device."""

    folder: Path
    trees: Trees
    torch: BaseTorch
    home: Home
    device: str
    own: Path
    """The folder of the add-on's own sources."""


def write_graph(work: Work, made: Generated, choice: Choice) -> Objects:
    """Write build.ninja, and give the objects that it makes."""
    torch, ops = work.trees.torch, work.trees.ops
    device = sorted((torch / DEVICE).rglob("*.cpp")) + sorted((ops / "src/ATen/xpu").glob("*.cpp"))
    ours = ["dispatch.cpp", "convolution.cpp", *(["batch_norm.cpp"] if BATCH_NORM in choice.left_out else [])]
    hosts = [*device, *choice.hosts, *(work.own / name for name in ours)]
    lines = [RULES.format(work=work.folder, host=_host(work, made), kernels=_kernels(work, made))]

    def build(path: Path, rule: str = "host", pool: str = "") -> Path:
        out = work.folder / "objects" / f"{_name(path, work)}.o"
        lines.append(f"build {_escape(out)}: {rule} {_escape(path)}\n{pool}")
        return out

    heavy = "  pool = heavy\n"
    registrations = [build(path, pool=heavy) for path in made.registrations]
    kernels = [build(path, "kernels") for path in choice.kernels]
    objects = Objects(
        [build(made.edited.get(name, torch / name)) for name in C10],
        registrations + kernels + [build(path) for path in hosts],
        [build(made.edited.get(name, torch / name)) for name in BINDINGS] + [build(work.own / "bindings.cpp")],
    )
    keep(work.folder / "build.ninja", "".join(lines))
    return objects


def _name(path: Path, work: Work) -> str:
    """Give a name for an object: where its source lies in its tree, in one word."""
    for root in (work.trees.torch, work.trees.ops, work.folder, work.own):
        if path.is_relative_to(root):
            return "-".join(path.relative_to(root).with_suffix("").parts)
    raise AssertionError(path)


def _escape(path: Path) -> str:
    return str(path).replace("$", "$$").replace(" ", "$ ").replace(":", "$:")


def _words(words: list[str]) -> str:
    return " ".join(word.replace("$", "$$") for word in words)


def _host(work: Work, made: Generated) -> str:
    python, sycl = ("-isystem", str(work.torch.headers)), ("-isystem", str(work.home.folder / "include"))
    return _words([os.environ.get("CXX", "g++"), *_common(work, made), *sycl, *python])


def _kernels(work: Work, made: Generated) -> str:
    split = ("-fsycl-device-code-split=per_kernel",) if work.device == "processor" else ()
    return _words([str(work.home.folder / "bin/icpx"), *KERNELS, *split, *_common(work, made)])


def _common(work: Work, made: Generated) -> list[str]:
    """Give the words of every compile: the macros of torch's own build, and headers in the order they are found.

    USE_XPU is not among the macros: torch's stubs would have a slot that those of this torch do not have. NDEBUG is, as
    in every release of torch; without it g++ 12.2 fails inside on UnarySignKernels of 2.6.
    """
    trees, include = work.trees, work.torch.folder / "include"
    macros = {
        "AT_PER_OPERATOR_HEADERS": "1",
        "HAVE_AVX2_CPU_DEFINITION": "1",
        "HAVE_AVX512_CPU_DEFINITION": "1",
        "SYCL_COMPILER_VERSION": work.home.interface.number,
        "__INTEL_LLVM_COMPILER_VERSION": work.home.interface.number,
        "_GLIBCXX_USE_CXX11_ABI": str(work.torch.cxx11_abi),
    }
    words = [f"-D{name}={value}" for name, value in macros.items()]
    words += [f"-DPYBIND11_{name}='\"{value}\"'" for name, value in work.torch.pybind.items()]
    ours = (made.overlay, made.headers, trees.ops / "src")
    theirs = (include, include / "torch/csrc/api/include", trees.torch / "aten/src", trees.torch)
    return [f"-std={STANDARD}", "-O2", "-DNDEBUG", "-fPIC", "-w", *words, *(f"-I{place}" for place in (*ours, *theirs))]


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
