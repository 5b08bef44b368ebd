"""A running step is watched for failures after which going on is a waste."""

from __future__ import annotations

import pytest

from logs import noise, signatures
from xpusetup.explain.scan import Watcher

MISSING = (
    "CMake Warning at cmake/Dependencies.cmake:12 (message):",
    "  Not compiling with XPU.  Could NOT",
    "  find SYCL.  Suppress this warning with -DUSE_XPU=OFF.",
    "Call Stack (most recent call first):",
)


@pytest.mark.parametrize("together", [True, False])
def test_stops_at_a_missing_toolkit(together: bool) -> None:
    watcher = Watcher(signatures())
    assert watcher.feed(noise(300)) is None
    groups = [MISSING] if together else [(line,) for line in MISSING]
    found = next((match for group in groups if (match := watcher.feed(group))), None)
    assert found is not None
    assert (found.signature.id, found.line) == ("configure.sycl_not_found", 302)


@pytest.mark.parametrize(
    ("line", "name"),
    [
        ("Not compiling with XPU. Currently only support GCC compiler on Linux", "configure.wrong_host_cxx"),
        ("CMake Warning at x:1: Failed to include ATen XPU implementation target", "configure.aten_xpu_missing"),
        ("\x1b[31mCan NOT find SYCL compiler tool kit!\x1b[0m", "configure.no_sycl_toolkit"),
    ],
)
def test_stops(line: str, name: str) -> None:
    found = Watcher(signatures()).feed(["-- a", line])
    assert found is not None
    assert found.signature.id == name


@pytest.mark.parametrize(
    "line",
    [
        "g++: fatal error: Killed signal terminated program cc1plus",
        "-- Could NOT find SYCL (missing: SYCL_COMPILER)",
        "+ grep 'Not compiling with XPU. Could NOT find SYCL' log",
        "CMake Warning: MKL could not be found.  Defaulting to Eigen",
    ],
)
def test_goes_on(line: str) -> None:
    assert Watcher(signatures()).feed([line, *noise(20)]) is None
