"""The commands of a compile: the words of the device pass, and the command lines of g++."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from helperlib.sycl.call import CallError

if TYPE_CHECKING:
    from helperlib.sycl.call import CompilerCall, Input
    from helperlib.sycl.home import Home

ALWAYS = ("-fno-sycl-unnamed-lambda",)
"""g++ knows no names for kernels that have none, so each kernel needs one."""
BFLOAT16 = "/sycl-jit-toolchain/{libraries}/libsycl-fallback-bfloat16.bc"
"""Conversions of bfloat16, which the run time adds to SPIR-V alone: machine code has to hold them. It is a file inside
the library; the other one there asks for instructions that not every device has."""
ATTRIBUTES = ("sycl", "intel")
"""The families of attributes that say something to the device pass alone."""
NAMED_ATTRIBUTES = 12
"""The version of g++ from which on it takes the families of attributes that it is not to warn of."""
DROPPED = ("-include",)
"""Options that the library drops in silence, and takes behind -Xclang."""


ROUNDED = re.compile(r"-foffload-fp32-prec-(div|sqrt)")
NATIVE_ROUNDED = "-ze-fp32-correctly-rounded-divide-sqrt"


def image_options(call: CompilerCall) -> str:
    """Give what an image asks of the compiler of the run time: libsycl puts each back end's own word in its place.

    (AddImpliedTargetArgs of intel/llvm, clang/lib/Driver/ToolChains/SYCL.cpp.) Without it a GPU divides float by float
    to 2.5 units in the last place, whatever the SPIR-V says.
    """
    return " ".join(dict.fromkeys(each for each in call.device if ROUNDED.fullmatch(each)))


def native_options(call: CompilerCall) -> list[str]:
    """Give what the same words ask of ocloc."""
    return [NATIVE_ROUNDED] if image_options(call) else []


def host_driver(call: CompilerCall, language: str = "c++") -> str:
    """Give the host's compiler: the one that is named, or g++; gcc for C."""
    if call.host_compiler and call.sycl:
        return call.host_compiler
    return "gcc" if call.name == "icx" and language == "c" and not call.sycl else "g++"


@cache
def _quiet(compiler: str) -> tuple[str, ...]:
    """Give the words by which g++ does not warn of attributes that are the device pass's."""
    if "clang" in compiler:
        return ()
    done = subprocess.run((compiler, "-dumpversion"), check=False, capture_output=True, text=True)
    major = done.stdout.partition(".")[0].strip()
    named = major.isdigit() and int(major) >= NAMED_ATTRIBUTES
    return tuple(f"-Wno-attributes={name}::" for name in ATTRIBUTES) if named else ("-Wno-attributes",)


@cache
def install_folder(compiler: str) -> str:
    """Give the folder of g++'s own files, by which clang finds the same libstdc++. Raises CallError without g++."""
    try:
        words = (compiler, "-print-libgcc-file-name")
        found = subprocess.run(words, check=True, capture_output=True, text=True).stdout
    except (OSError, subprocess.CalledProcessError) as error:
        raise CallError(f"the host compiler {compiler} does not run: {error}; apt-get install g++") from error
    return str(Path(found.strip()).parent)


def device_words(call: CompilerCall, source: Input, home: Home) -> list[str]:
    """Give the words of the device pass, but for where it writes."""
    words = [*ALWAYS, f"--gcc-install-dir={install_folder(host_driver(call))}"]
    if Path(source.word).suffix not in {".cpp", ".cc", ".cxx", ".C"}:
        words += ["-x", "c++"]
    if "spir64_gen" in call.targets:
        words += behind_clang("-mlink-builtin-bitcode", BFLOAT16.format(libraries=home.interface.libraries))
    given = _without_own_headers([*_preview(call), *call.both, *call.device], home)
    while given:
        word = given.pop(0)
        if word in DROPPED:
            words += behind_clang(word, given.pop(0))
        else:
            words.append(word)
    return words


def behind_clang(*words: str) -> list[str]:
    """Give words of the compiler proper, which its driver does not know."""
    return [each for word in words for each in ("-Xclang", word)]


def _without_own_headers(words: list[str], home: Home) -> list[str]:
    """Leave out -I of SYCL's own headers, which both passes have as system headers; the library has them inside."""
    own = {home.include.resolve(), home.include.resolve() / "sycl"}
    found, left = [], list(words)
    while left:
        word = left.pop(0)
        if word.startswith(("-I", "-isystem")):
            value = word.removeprefix("-isystem") if word.startswith("-isystem") else word[2:]
            separate = not value
            value = value or left.pop(0)
            if Path(value).resolve() in own:
                continue
            found += [word, value] if separate else [word]
        else:
            found.append(word)
    return found


def host_command(call: CompilerCall, source: Input, home: Home, header: Path | None, given: str = "") -> list[str]:
    """Give the command of the host pass, but for its output; `given` is the file that stands for the source."""
    command = [host_driver(call, source.language)]
    language = source.language
    if given or language not in _by_suffix(source.word):
        command += ["-x", "c++" if call.sycl and language == "c" else language]
    if call.sycl:
        command += [*(("-include", str(header)) if header else ()), *_folders(home), *_quiet(command[0])]
        command += _preview(call)
        command += ["-Wno-attributes"] if call.suffix else []  # of types that are seen further than their fields
    if call.host_compiler and call.sycl:
        return [*command, *call.host_options, given or source.word]
    return [
        *command,
        f"-D__INTEL_LLVM_COMPILER={home.interface.number}",
        *_without_own_headers(call.both, home),
        *call.host,
        given or source.word,
    ]


def _preview(call: CompilerCall) -> list[str]:
    """Give what SYCL's headers go by where a program is linked with libsycl-preview."""
    return ["-D__INTEL_PREVIEW_BREAKING_CHANGES"] if call.preview else []


def _by_suffix(name: str) -> set[str]:
    """Give the languages that g++ itself sees in a name."""
    suffix = Path(name).suffix
    return {"c"} if suffix == ".c" else {"assembler"} if suffix in {".s", ".S"} else {"c++"} if suffix else set()


def _folders(home: Home) -> list[str]:
    """Give SYCL's headers as system headers."""
    return [f"-isystem{home.include}{below}" for below in ("/sycl", "/sycl/stl_wrappers", "")]


def environment() -> dict[str, str]:
    """Give the environment of a pass: without what steers the run time, which would keep headers and logs from us."""
    return {name: value for name, value in os.environ.items() if not name.startswith(("SYCL_", "ONEAPI_", "UR_"))}


def show(command: list[str]) -> str:
    """Give a command as a line of a shell."""
    return shlex.join(command)
