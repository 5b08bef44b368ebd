"""The first line of a log that tells of an error."""

from __future__ import annotations

import pytest

from xpusetup.explain.first_error import find_first_error

HARMLESS = [
    "-- Performing Test COMPILER_HAS_WERROR - Success",
    "cc1plus: warning: unrecognized option",
    "[12/300] Building CXX object errors.cpp.o",
    "0 errors, 0 failures",
    "Requirement already satisfied: exceptiongroup",
    "g++ -Werror=return-type -o error.o",
    "-- error handling: on",
    "copying torch/errors.py",
    "",
]
TELLING = [
    "x.cpp:12:3: error: 'foo' was not declared in this scope",
    "x.cpp:1:10: fatal error: sycl/sycl.hpp: No such file or directory",
    "ERROR: Could not find a version that satisfies the requirement x",
    "fatal: unable to access 'https://example.org/'",
    "FAILED: caffe2/x.o",
    "make[2]: *** [all] Error 2",
    "make: *** No rule to make target",
    "ModuleNotFoundError: No module named 'pkg_resources'",
    "urllib3.exceptions.ReadTimeoutError: timed out",
    "subprocess.CalledProcessError: Command died",
    "icpx: error: unable to execute command: Killed",
    "/bin/sh: 1: icpx: command not found",
    "/r/steps/torch.build.sh: line 40:  8123 Killed                  python setup.py",
    "bash: line 3: 77 Segmentation fault      (core dumped) python -c 'import torch'",
    "Killed",
    "xpusetup: torch.fetch: the tag moved",
    "OSError: [Errno 28] No space left on device",
    "builtins.Exception: x",
]


@pytest.mark.parametrize("line", TELLING)
def test_telling(line: str) -> None:
    assert find_first_error([*(f"{text}\n" for text in HARMLESS), f"{line}\n", "error: later\n"]) == (10, line)


def test_cmake_says_where_and_then_what() -> None:
    lines = ["-- Configuring\n", "CMake Error at CMakeLists.txt:12 (message):\n", "\n", "  No SYCL compiler.\n"]
    assert find_first_error(lines) == (2, "CMake Error at CMakeLists.txt:12 (message): No SYCL compiler.")


@pytest.mark.parametrize("line", HARMLESS)
def test_harmless(line: str) -> None:
    assert find_first_error([line]) is None


def test_no_lines() -> None:
    assert find_first_error([]) is None
