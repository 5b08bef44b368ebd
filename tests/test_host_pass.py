"""icpx without device code: what it takes, what it refuses, and which commands come of what upstream's builds pass."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

from real import host_pass
from real.host_pass import UnknownError, make_command, parse_words
from real.toolkit import compiler_of, write_compiler

HOME = Path("/opt/intel/oneapi/compiler/2025.0")
FOLDERS = tuple(f"-I{HOME}/include{below}" for below in ("/sycl", "/sycl/stl_wrappers", ""))
KERNEL = [
    *("-MD", "-MF", "a.o.SYCL-depend", "-c", "/src/AbsKernel.cpp", "-o", "a.o", "-I/src"),
    "-fsycl-host-compiler=/usr/bin/g++",
    '-fsycl-host-compiler-options=-I/src -I"/with blank" -fPIC -std=c++17 -DUSE_XPU ',
    *("-fsycl", "-fsycl-targets=spir64_gen,spir64", "-fno-sycl-unnamed-lambda", "-sycl-std=2020", "-fhonor-nans"),
    *("-fhonor-infinities", "-fno-associative-math", "-fno-approx-func", "-Wno-absolute-value", "-no-ftz"),
    *("-D__INTEL_PREVIEW_BREAKING_CHANGES", "-fsycl-fp64-conv-emu", "-DUSE_XPU"),
]  # fmt: skip
"""What FindSYCL/run_sycl.cmake passes at 28cfac20, with the kernel options of BuildFlags.cmake."""
LINK = [
    *("-fPIC", "-fsycl", "-fsycl-max-parallel-link-jobs=2", "-fsycl-targets=spir64_gen,spir64", "-fsycl-link"),
    *("-Xs", r"-device\ pvc,xe-lpg,ats-m150\ -options\ '\ -cl-poison-unsupported-fp64-kernels'", "-o", "device.o"),
]
"""What SYCL_LINK_DEVICE_OBJECTS of FindSYCL.cmake passes there, but the objects, as the true CMake writes it."""


def test_a_kernel_goes_to_the_host_compiler_with_its_own_options_alone() -> None:
    command = make_command(parse_words(KERNEL), "icpx", HOME)
    own = ("-include", f"{HOME}/bin/compiler/integration.h", *FOLDERS, "-o", "a.o", "-MD", "-MF", "a.o.SYCL-depend")
    options = ("-I/src", "-I/with blank", "-fPIC", "-std=c++17", "-DUSE_XPU")
    assert command == ("/usr/bin/g++", "-c", "/src/AbsKernel.cpp", *own, *options)
    assert make_command(parse_words(KERNEL), "icpx", HOME, "/usr/bin/ccache") == ("/usr/bin/ccache", *command)


def test_of_several_options_for_the_host_compiler_the_last_ones_hold() -> None:
    call = parse_words(["-fsycl", "-fsycl-host-compiler-options=-DA", "-fsycl-host-compiler-options=-DB -DC"])
    assert call.host_options == ("-DB", "-DC")


def test_without_a_host_compiler_the_words_are_those_of_the_driver() -> None:
    """What CHECK_SYCL_FLAG of BuildFlags.cmake does."""
    command = make_command(parse_words(["-fsycl", "a.cpp", "-o", "a", "-fsycl-fp64-conv-emu"]), "icpx", HOME)
    assert command[:2] == ("g++", "-D__INTEL_LLVM_COMPILER=20250004")
    assert command[2:] == ("-DSYCL_LANGUAGE_VERSION=202012L", *FOLDERS, "a.cpp", "-o", "a", f"-L{HOME}/lib", "-lsycl")
    plain = make_command(parse_words(["-c", "a.c", "-fiopenmp", "-fcolor-diagnostics"]), "icx", HOME)
    assert plain[0] == "gcc"
    assert plain[2:] == ("-c", "a.c", "-fopenmp", "-fdiagnostics-color=always")


def test_the_device_link_gives_an_object_that_holds_nothing(tmp_path: Path) -> None:
    kernel = tmp_path / "kernel.o"
    kernel.touch()
    command = make_command(parse_words([*LINK, str(kernel)]), "icpx", HOME)
    assert command == ("g++", "-fPIC", "-x", "c++", "-c", "/dev/null", "-o", "device.o")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["-fsycl-of-tomorrow"], "unknown argument: '-fsycl-of-tomorrow'"),
        (["-fno-sycl-rdc"], "unknown argument: '-fno-sycl-rdc'"),
        (["-foffload-fp32-prec-div"], "unknown argument: '-foffload-fp32-prec-div'"),
        (["-sycl-std=2030"], "unknown argument: '-sycl-std=2030'"),
        (["-fsycl-targets=spir64,nvptx64"], "invalid target 'nvptx64' in '-fsycl-targets=spir64,nvptx64'"),
        (["-Xs"], "argument to '-Xs' is missing (expected 1 value)"),
        (["-fsycl", "-fsycl-link"], "no input files"),
        (["-fsycl", "-fsycl-link", "gone.o"], "no such file or directory: 'gone.o'"),
        (["-fsycl", "-fsycl-link", "-fsycl-targets=spir64_gen", __file__], "ocloc: device is not specified"),
    ],
)
def test_what_it_does_not_know_is_refused(words: list[str], said: str) -> None:
    with pytest.raises(UnknownError) as refused:
        make_command(parse_words(words), "icpx", HOME)
    assert str(refused.value).startswith(said)


def test_what_it_includes_is_listed_as_clang_lists_it() -> None:
    """A file a line, behind the object: two in one line are none that exists to torch-xpu-ops' make2cmake.cmake."""
    listed = host_pass.list_as_clang("a.o: /src/a.cpp \\\n /with\\ blank/b.h /usr/c.h \\\n /usr/d.h\n")
    assert listed == "a.o: \\\n  /src/a.cpp \\\n  /with\\ blank/b.h \\\n  /usr/c.h \\\n  /usr/d.h\n"


def run_icpx(*words: str) -> subprocess.CompletedProcess[str]:
    line = (sys.executable, "-IS", str(host_pass.__file__), "icpx", *words)
    return subprocess.run(line, check=False, capture_output=True, text=True)


@pytest.mark.e2e
def test_as_a_program() -> None:
    assert run_icpx("--version").stdout.startswith("Intel(R) oneAPI DPC++/C++ Compiler 2025.0.4 (2025.0.4.")
    refused = run_icpx("-fsycl", "-fsycl-of-tomorrow", "a.cpp")
    assert (refused.returncode, refused.stderr) == (1, "icpx: error: unknown argument: '-fsycl-of-tomorrow'\n")
    assert run_icpx("-c", "-f-g++-does-not-know", "a.cpp").returncode == 1


def test_a_compiler_is_that_of_a_profile_and_says_its_version(tmp_path: Path) -> None:
    compiler = compiler_of(["dpcpp-cpp-rt==2026.1.0", "intel-sycl-rt==2026.1.0", "umf==1.1.0", "numpy==2.4.6"])
    assert (compiler.version, compiler.wheels) == ("2026.1.0", ("intel-sycl-rt==2026.1.0", "umf==1.1.0"))
    (tmp_path / "lib").mkdir()
    write_compiler(tmp_path, compiler.version)
    assert {path.name for path in (tmp_path / "bin").iterdir()} == {"icpx", "icx", "ocloc", "compiler"}
    later = ModuleType("later")
    exec((tmp_path / "bin/compiler/host_pass.py").read_text(), vars(later))  # noqa: S102 - the file under test
    assert later.BANNER.startswith("Intel(R) oneAPI DPC++/C++ Compiler 2026.1.0 (")
    command = later.make_command(later.parse_words([*KERNEL, "-foffload-fp32-prec-div"]), "icpx", HOME)
    assert f"-isystem{HOME}/include/sycl" in command
    assert later.NUMBER == "20260100"
