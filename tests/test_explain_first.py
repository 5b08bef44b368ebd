"""The first line of a log that tells of an error, where nothing more is known."""

from __future__ import annotations

import pytest

from logs import explained

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
    "ModuleNotFoundError: No module named 'pkg_resources'",
    "urllib3.exceptions.ReadTimeoutError: timed out",
    "icpx: error: unable to execute command: Killed",
    "/bin/sh: 1: icpx: command not found",
    "/r/steps/torch.build.sh: line 40:  8123 Killed                  python setup.py",
    "bash: line 3: 77 Segmentation fault      (core dumped) python -c 'import torch'",
    "Killed",
    "xpusetup: torch.fetch: the tag moved",
    "OSError: [Errno 28] No space left on device",
    "E: You don't have enough free space in /var/cache/apt/archives/.",
    "builtins.Exception: x",
]


POINTING = [
    "FAILED: caffe2/x.o",
    "make[2]: *** [all] Error 2",
    "make: *** No rule to make target",
    "subprocess.CalledProcessError: Command died",
    "Exit_status = 265",
    "systemd[1]: llm.service: Main process exited, code=exited, status=216/GROUP",
    "alloc_buffer: can't allocate 6442450944 Bytes of memory on device",
    "[PID: 77] Getting socket times out.",
]


def log_with(*lines: str) -> str:
    return "".join(f"{text}\n" for text in (*HARMLESS, *lines))


@pytest.mark.parametrize("line", TELLING)
def test_telling(line: str) -> None:
    first = explained(log_with(line, "g++: error: later")).first_error
    assert first is not None
    assert (first.line, first.text) == (10, line)


@pytest.mark.parametrize("line", POINTING)
def test_pointing(line: str) -> None:
    """What only says that something failed is told where nothing says more."""
    alone = explained(log_with(line)).first_error
    assert alone is not None
    assert (alone.line, alone.text) == (10, line)
    better = explained(log_with(line, "g++: error: this")).first_error
    assert better is not None
    assert better.text == "g++: error: this"


@pytest.mark.parametrize("line", HARMLESS)
def test_harmless(line: str) -> None:
    assert explained(line).first_error is None
