"""Which cause comes first, what is left out, and what is said when nothing is known."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from logs import explained, ids, signatures
from xpusetup.base.document import fields_of
from xpusetup.explain.explanation import describe_cause, explain

if TYPE_CHECKING:
    from xpusetup.explain.finder import Signature

REFUSED = "fatal: unable to access 'https://github.com/pytorch/kineto.git/': Could not resolve host: github.com"
SUBMODULE = "fatal: clone of 'https://github.com/pytorch/kineto.git' into submodule path 'third_party/kineto' failed"
EMPTY = "Could not find /src/pytorch/third_party/kineto/CMakeLists.txt"
NO_SYCL = "CMake Warning at cmake/Dependencies.cmake:1 (message):\n  Not compiling with XPU.  Could NOT find SYCL.\n"
STOPPED = "xpusetup: CMake decided against XPU (USE_XPU is OFF): no SYCL compiler that it can use"
EIGEN = "CMake Warning at x.cmake:1 (message):\n  MKL could not be found.  Defaulting to Eigen\n"
RETRIED = (
    "WARNING: Retrying (Retry(total=4)) after connection broken by 'NewConnectionError('<x>: Failed to establish a new "
    "connection: [Errno -3] Temporary failure in name resolution')': /simple/wheel/"
)
UNKNOWN = "x.cpp:3:5: error: the moon of ‘y’ is not full"
NINJA = "ninja: build stopped: subcommand failed."


@pytest.mark.parametrize(
    ("log", "expected"),
    [
        # a consequence comes after what it follows from, wherever it stands
        (f"{REFUSED}\n{SUBMODULE}\n{EMPTY}", ["clone.url_error", "submodule.clone_failed", "submodule.missing"]),
        (f"{EMPTY}\n{SUBMODULE}\n{REFUSED}", ["clone.url_error", "submodule.missing", "submodule.clone_failed"]),
        # two that have nothing to do with each other: the first one first
        (
            "x: No space left on device\ny.so: undefined symbol: iJIT_NotifyEvent",
            ["compile.disk_full", "import.ijit"],
        ),
        # never a warning over an error, known or not
        (f"{EIGEN}\ng++: fatal error: Killed signal terminated program cc1plus", ["compile.oom_kill"]),
        (f"{EIGEN}\n{UNKNOWN}", []),
        (EIGEN, ["configure.mkl_fallback"]),
        # but for one that an error follows from
        (f"{NO_SYCL}-- Build files have been written\n{STOPPED}", ["configure.sycl_not_found"]),
        (
            f"{RETRIED}\nERROR: Could not find a version that satisfies the requirement wheel",
            ["pip.network", "pip.no_match"],
        ),
        # what was said as a warning only, and went well in the end
        (f"{RETRIED}\nSuccessfully installed wheel-0.45", []),
        # a line that only points is a cause only by itself
        (f"FAILED: x.o\n{UNKNOWN}\n{NINJA}", []),
        (f"[1/2] a\n{NINJA}", ["build.ninja_stopped"]),
        (f"FAILED: x.o\nc++: internal compiler error: in foo, at bar.c:1\n{NINJA}", ["compile.ice"]),
        # the same words in a later release are an error
        (NO_SYCL.replace("Warning", "Error"), ["configure.sycl_not_found"]),
    ],
)
def test_order(log: str, expected: list[str]) -> None:
    assert ids(explained(log + "\n")) == expected


@pytest.mark.parametrize(
    ("log", "line"),
    [
        (f"a\nmake[2]: *** [x.o] Error 1\n{UNKNOWN}", 3),
        # what was wrong before ninja began did not stop it
        (f"error: unknown option\n[1/2] a\nFAILED: x.o\nc++ -c x.cpp\n{UNKNOWN}\n{NINJA}", 5),
        (f"FAILED: x.o\nc++ -c x.cpp\n{NINJA}", 1),
        ("a\nCMake Error at CMakeLists.txt:7 (message):\n\n  This needs a moon.\n\n-- Configuring incomplete", 2),
        ("collect2: error: ld returned 1 exit status\nx.o: undefined reference to `f'", 2),
        ("##[error]Process completed with exit code 2.", 1),
    ],
)
def test_first_decisive_line(log: str, line: int) -> None:
    first = explained(log).first_error
    assert first is not None
    assert first.line == line


def test_cmake_says_where_and_then_what() -> None:
    first = explained("CMake Error at CMakeLists.txt:7 (message):\n\n  This needs a moon.\n").first_error
    assert first is not None
    assert first.text == "CMake Error at CMakeLists.txt:7 (message): This needs a moon."


CHAIN = """\
Traceback (most recent call last):
  File "setup.py", line 3, in <module>
    raise OSError("error: No space left on device")
OSError: the first of them

{}

Traceback (most recent call last):
  File "setup.py", line 9, in main
    raise RuntimeError("Killed") from error
RuntimeError: what came of it
"""


@pytest.mark.parametrize(
    "between",
    [
        "During handling of the above exception, another exception occurred:",
        "The above exception was the direct cause of the following exception:",
    ],
)
def test_innermost_cause_of_a_traceback(between: str) -> None:
    found = explained(CHAIN.format(between))
    assert found.first_error
    assert (ids(found), found.first_error.line, found.first_error.text) == ([], 4, "OSError: the first of them")


@pytest.mark.parametrize(
    "line",
    [
        "+ echo 'error: No space left on device'",
        '   12 |   throw Error("fatal error: Killed signal terminated program cc1plus");',
        "t.py::test_x[No space left on device] PASSED [ 10%]",
        "SKIPPED [1] t.py:20: No XPU devices are available",
        "test_x (t.T) ... skipped 'No XPU devices are available'",
        " 3/12 Test  #3: killed: No space left on device .....   Passed    0.01 sec",
        "make: [Makefile:3: x] Error 1 (ignored)",
        "-- Could NOT find SYCL (missing: SYCL_COMPILER)",
        "0 errors, 0 failures",
        "x.cpp:1:2: note: an error: here",
    ],
)
def test_what_nobody_complains_of(line: str) -> None:
    found = explained(f"a\n{line}\nb\n")
    assert (ids(found), found.first_error) == ([], None)


def test_later_errors_are_counted() -> None:
    found = explained(f"a\ng++: fatal error: Killed signal terminated program cc1plus\n{UNKNOWN}\n{UNKNOWN}\n{NINJA}\n")
    assert (found.causes[0].line, found.later, found.describe().later_errors_more) == (2, 3, False)


def test_many_errors_are_not_all_counted() -> None:
    found = explained("\n".join([UNKNOWN] * 2500 + ["x: No space left on device"]))
    assert ids(found) == ["compile.disk_full"]
    assert explained("\n".join([UNKNOWN] * 2500)).describe().later_errors_more is True


def test_document() -> None:
    document = explained(f"{REFUSED}\n{SUBMODULE}\n").describe()
    assert [(cause.id, cause.caused_by) for cause in document.causes] == [
        ("clone.url_error", None),
        ("submodule.clone_failed", "clone.url_error"),
    ]
    assert {"id", "phase", "line", "text", "cause", "fix", "source", "confidence"} <= set(fields_of(document.causes[0]))
    assert (document.first_error_line, document.lines) == (1, 2)


def test_the_command_that_builds_is_offered() -> None:
    log = b"g++: fatal error: Killed signal terminated program cc1plus\n"
    document = explain([log], signatures()).describe("xpusetup build sim")
    assert "xpusetup build sim --jobs 2" in document.causes[0].commands


def test_a_general_cause_stands_behind_one_that_says_more() -> None:
    general = "xe 0000:03:00.0: probe with driver xe failed with error -22"
    telling = "modprobe: ERROR: could not insert 'i915': Key was rejected by service"
    assert ids(explained(f"{general}\n")) == ["kmd.probe"]
    assert ids(explained(f"{general}\n{telling}\n")) == ["kmd.key", "kmd.probe"]


@pytest.mark.parametrize(
    ("log", "host"),
    [
        (f"{REFUSED}\n", "github.com"),
        (f"{RETRIED}\nERROR: No matching distribution found for wheel", ""),
    ],
)
def test_a_name_that_is_not_resolved_is_asked_for_by_name(log: str, host: str) -> None:
    """The command asks for the server that the log names; where it names none there is no such command."""
    commands = [command for cause in explained(log).causes for command in describe_cause(cause, None, {}).commands]
    assert [each for each in commands if each.startswith("getent")] == [f"getent hosts {host}"] * bool(host)


def test_the_table_says_whether_a_cause_is_sure_and_no_word_of_its_sentence() -> None:
    """The word `or` decided it: whoever wrote it into a sentence for other reasons made a cause a guess."""
    known = next(each for each in signatures() if each.id == "compile.python_headers")
    told = [f"{known.example}\n".encode()]

    def likely(signature: Signature) -> bool:
        return explain(told, [signature], failed=True).describe().causes[0].likely

    sure = replace(known, confidence="high", likely=False, when=[], cause="one thing or another")
    assert not likely(sure)
    assert likely(replace(sure, likely=True))
