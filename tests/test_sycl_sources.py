"""What the compile of all SYCL sources says of itself, and what it takes from the profiles."""

from __future__ import annotations

from pathlib import Path

from real.sycl_sources import make_figures, read_release

LOG = """\
ninja: Entering directory `build'
[1/4] Building SYCL (Device) object host_pass_gen_AbsKernel.cpp.o
[2/4] Building SYCL (Device) object host_pass_gen_Indexing.cpp.o
FAILED: native/host_pass_gen_Indexing.cpp.o /b/native/host_pass_gen_Indexing.cpp.o
In file included from /ops/Indexing.cpp:3:
/ops/Indexing.h:52:7: warning: unused variable 'a' [-Wunused-variable]
/ops/Indexing.h:60:9: error: 'b' was not declared in this scope
/ops/Indexing.h:61:9: error: follows from that
[3/4] Building SYCL (Device) object host_pass_gen_SortKernel.cpp.o
FAILED: native/host_pass_gen_SortKernel.cpp.o /b/native/host_pass_gen_SortKernel.cpp.o
g++: internal compiler error: Killed (signal 9)
ninja: build stopped: cannot make progress due to previous errors.
"""


def test_each_failure_has_its_first_error_until_it_compiles() -> None:
    release = read_release("2.13")
    figures = make_figures(release, LOG, [Path("/b/native/host_pass_gen_AbsKernel.cpp.o")], 4)
    assert figures["compiled"] == 1
    assert figures["failed"] == {
        "Indexing": "/ops/Indexing.h:60:9: error: 'b' was not declared in this scope",
        "SortKernel": "g++: internal compiler error: Killed (signal 9)",
    }
    objects = [Path(f"/b/host_pass_gen_{name}.cpp.o") for name in ("AbsKernel", "Indexing", "SortKernel")]
    assert make_figures(release, LOG, objects, 4)["failed"] == {}


def test_a_release_is_what_its_profile_says() -> None:
    release = read_release("2.13")
    assert release.ops == "bc294243807debb350dca694049ba7a806dfdceb"
    assert release.compiler.version == "2026.0.0"
    assert release.compiler.wheels[:2] == ("intel-sycl-rt==2026.0.0", "intel-cmplr-lib-rt==2026.0.0")
    assert read_release("2.14").ops == "release/2.14"  # no source names its pin
