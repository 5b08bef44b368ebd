"""The build of an add-on as a graph for ninja: every object by its source, with the headers that it was made of."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, NamedTuple

from helperlib.addon.generate import keep

if TYPE_CHECKING:
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

    USE_XPU is not among the macros: torch's stubs would have a slot that those of this torch do not have.
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
    return [f"-std={STANDARD}", "-O2", "-fPIC", "-w", *words, *(f"-I{place}" for place in (*ours, *theirs))]
