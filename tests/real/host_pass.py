"""icpx and icx of oneAPI without device code: the true host pass by g++, device objects that hold nothing.

It stands in a folder laid out as Intel's, behind `bin/icpx` and `bin/icx`, and needs Python's standard library alone.
Which version it is, whoever puts it there writes into it (real/toolkit.py).
What it takes beside the words of g++ are the options that upstream's builds pass, each from the file that passes it:

- torch-xpu-ops 28cfac20 to a4c530f0, cmake/BuildFlags.cmake (kernel options, device link) and cmake/Modules/
  FindSYCL.cmake with FindSYCL/run_sycl.cmake (the host compiler with its options, `-fsycl-link`);
- oneDNN v3.5.3, cmake/platform.cmake, cmake/SYCL.cmake and cmake/host_compiler.cmake;
- PyTorch 2.6.0, cmake/Modules/FindSYCLToolkit.cmake and FindMKLDNN.cmake, and CMake's own FindOpenMP.

Any other option of SYCL is refused in clang's words, and what is none of SYCL's goes to g++, which refuses what it
does not know. Named host compilers see their own options alone, and the last set of them, as in Intel's driver:
oneDNN's cmake/utils.cmake says each definition and folder twice for that reason.
"""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

VERSION = "2025.0.4"
BANNER = f"""\
Intel(R) oneAPI DPC++/C++ Compiler {VERSION} ({VERSION}.20241205)
Target: x86_64-unknown-linux-gnu
Thread model: posix
InstalledDir: {{home}}/bin/compiler
"""
NUMBER, LANGUAGE = "{:0>4}{:0>2}{:0>2}".format(*VERSION.split(".")), "202012L"
INTEGRATION = "bin/compiler/integration.h"
INTEGRATION_TEXT = f"""\
#include <sycl/detail/defines_elementary.hpp>
#include <sycl/detail/kernel_desc.hpp>
#ifndef SYCL_LANGUAGE_VERSION
#define SYCL_LANGUAGE_VERSION {LANGUAGE}
#endif
"""
"""How the header begins that the true driver generates and includes before a named host compiler's source. Its order
matters: the first header decides about deprecations, in words that g++ 12 does not take, while the version is unset
(such headers are public; intel/llvm, clang/lib/Sema/SemaSYCL.cpp, SYCLIntegrationHeader::emit)."""
SYSTEM_FROM = "20250300"
"""Since then its headers are system headers to the host compiler (cmake/BuildFlags.cmake of torch-xpu-ops bc294243)."""
TARGETS = {"spir64", "spir64_gen"}
TAKEN = re.compile(
    r"-fsycl|-fsycl-link|-fsycl-fp64-conv-emu|-fno-sycl-unnamed-lambda|-fno-sycl-id-queries-fit-in-int"
    r"|-fsycl-max-parallel-link-jobs=\d+|-sycl-std=2020|-fpreview-breaking-changes|--offload-compress"
    r"|-fhonor-nans|-fhonor-infinities|-fno-approx-func|-no-ftz|-ffp-model=(?:precise|strict|fast)"
    + (r"|-foffload-fp32-prec-(?:div|sqrt)" if NUMBER >= "20250100" else "")
)
"""Options that speak of device code, or of floating point in words that g++ does not have."""
DEVICE = re.compile(r"-fsycl|-fno-sycl|-sycl-|-foffload|-Xsycl|--offload|-fpreview-|-ftarget-")
"""How options of device code begin: what is not taken is unknown."""
IN_GCC = {
    "-fiopenmp": "-fopenmp",
    "-qopenmp": "-fopenmp",
    "-fcolor-diagnostics": "-fdiagnostics-color=always",
    "-fno-color-diagnostics": "-fdiagnostics-color=never",
}
"""Clang's and Intel's words for what g++ has too; ccache adds the one for colours."""
STOPS = {"-c", "-E", "-S"}
WITH_FILE = {"-MF", "-MT", "-MQ"}
LISTS = {"-MD", "-MMD", "-MP", "-MG"}
WITH_WORD = {"-I", "-L", "-D", "-U", "-T", "-x", "-z", "-include", "-isystem", "-idirafter", "-iquote", "-Xlinker"}
"""Options of g++ whose argument may be the next word, which is no file to compile."""
LAUNCHER = "CMAKE_SYCL_COMPILER_LAUNCHER"
"""What stands before device compiles, where torch-xpu-ops heeds it (autumn 2026, #5154): here before the host pass."""


class UnknownError(Exception):
    """An option that this compiler does not have, or that lacks what belongs to it."""


class Call(NamedTuple):
    """The words of a call, told apart: those for g++, a named host compiler with its options, what it lists, the rest.

    `offline` is what `-Xs` hands to the offline compiler, `listing` what asks for the files that are included.
    """

    words: tuple[str, ...] = ()
    inputs: tuple[str, ...] = ()
    sycl: bool = False
    link: bool = False
    targets: tuple[str, ...] = ()
    offline: str = ""
    host: str = ""
    host_options: tuple[str, ...] = ()
    listing: tuple[str, ...] = ()
    out: str = ""


def parse_words(words: list[str]) -> Call:
    """Tell the words of a call apart. Raises UnknownError as the true driver would."""
    call, left = Call(), list(words)
    while left:
        word = left.pop(0)
        name, _, value = word.partition("=")
        if word in {"-Xs", "-o", *WITH_FILE, *WITH_WORD}:
            if not left:
                raise UnknownError(f"argument to '{word}' is missing (expected 1 value)")
            call = _with_argument(call, word, left.pop(0))
        elif name == "-fsycl-targets":
            call = call._replace(targets=_targets(value))
        elif name == "-fsycl-host-compiler":
            call = call._replace(host=value)
        elif name == "-fsycl-host-compiler-options":
            call = call._replace(host_options=tuple(shlex.split(value)))
        elif TAKEN.fullmatch(word):
            call = call._replace(sycl=call.sycl or word == "-fsycl", link=call.link or word == "-fsycl-link")
        elif DEVICE.match(word):
            raise UnknownError(f"unknown argument: '{word}'")
        elif word in LISTS:
            call = call._replace(listing=(*call.listing, word))
        else:
            files = (*call.inputs, *(() if word.startswith("-") else (word,)))
            call = call._replace(words=(*call.words, IN_GCC.get(word, word)), inputs=files)
    return call


def _with_argument(call: Call, word: str, value: str) -> Call:
    if word == "-Xs":
        return call._replace(offline=value)
    if word == "-o":
        return call._replace(out=value)
    if word in WITH_WORD:
        return call._replace(words=(*call.words, word, value))
    return call._replace(listing=(*call.listing, word, value))


def _targets(value: str) -> tuple[str, ...]:
    targets = tuple(value.split(","))
    for target in targets:
        if target not in TARGETS:
            raise UnknownError(f"invalid target '{target}' in '-fsycl-targets={value}'")
    return targets


def make_command(call: Call, name: str, home: Path, launcher: str = "") -> tuple[str, ...]:
    """Give the command that does what can be done of a call without a device compiler."""
    out = ("-o", call.out) if call.out else ()
    if call.link:
        _check_link(call)
        return ("g++", "-fPIC", "-x", "c++", "-c", os.devnull, *out)
    before = (launcher,) if launcher and "-c" in call.words else ()
    if call.host and call.sycl and STOPS & set(call.words):
        stop = next(word for word in call.words if word in STOPS)
        own = ("-include", str(home / INTEGRATION), *_folders(home))
        return (*before, call.host, stop, *call.inputs, *own, *out, *call.listing, *call.host_options)
    driver = "gcc" if name == "icx" and not call.sycl else "g++"
    sycl = (f"-DSYCL_LANGUAGE_VERSION={LANGUAGE}", *_folders(home)) if call.sycl else ()
    links = (f"-L{home}/lib", "-lsycl") if call.sycl and not STOPS & set(call.words) else ()
    return (*before, driver, f"-D__INTEL_LLVM_COMPILER={NUMBER}", *sycl, *call.words, *out, *call.listing, *links)


def _check_link(call: Call) -> None:
    """Ask of a device link what the true one cannot do without.

    Blanks in what `-Xs` hands on may stand behind backslashes: up to 2.7 FindSYCL.cmake's command is not VERBATIM, so
    that CMake puts them there, within quotes of the shell. The published wheels were made by that very line.
    """
    if not call.inputs:
        raise UnknownError("no input files")
    for name in call.inputs:
        if not Path(name).is_file():
            raise UnknownError(f"no such file or directory: '{name}'")
    if "spir64_gen" in call.targets and not re.search(r"-device\\? [\w.,-]+", call.offline):
        raise UnknownError("ocloc: device is not specified: -Xs '-device LIST'")


def _folders(home: Path) -> tuple[str, ...]:
    """Give the folders of headers that the driver tells a host compiler of."""
    include = home / "include"
    flag = "-isystem" if NUMBER >= SYSTEM_FROM else "-I"
    return tuple(f"{flag}{include}{below}" for below in ("/sycl", "/sycl/stl_wrappers", ""))


def main(name: str, words: list[str]) -> int:
    """Answer what is asked of the compiler itself, or run g++."""
    home = Path(__file__).resolve().parents[2]
    if "--version" in words:
        sys.stdout.write(BANNER.format(home=home))
        return 0
    try:
        call = parse_words(words)
        command = make_command(call, name, home, os.environ.get(LAUNCHER, ""))
    except UnknownError as error:
        sys.stderr.write(f"{name}: error: {error}\n")
        return 1
    code = subprocess.call(command)
    listed = dict(pairwise(call.listing)).get("-MF")
    if code == 0 and listed:
        path = Path(listed)
        path.write_text(list_as_clang(path.read_text()))
    return code


def list_as_clang(rule: str) -> str:
    """Give a rule of make with one file a line, as clang writes it: torch-xpu-ops' make2cmake.cmake reads no other."""
    files = re.split(r"(?<!\\)\s+", rule.replace("\\\n", " ").strip())
    return " \\\n  ".join(files) + "\n"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2:]))
