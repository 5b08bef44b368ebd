"""What the compile of all SYCL sources says of itself, and what it takes from the profiles."""

from __future__ import annotations

import importlib
import json
import os
import re
import struct
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from e2e.support import CHECKOUT
from real.outside import UnavailableError
from real.sycl_ahead import command_for, count_compiled, left_out, read_ocloc, write_table
from real.sycl_sources import (
    Work,
    count_kernels,
    look_into,
    make_figures,
    read_flags,
    read_measures,
    read_release,
    write_heaviest,
)
from test_wheel_images import make_elf

call: Any = importlib.import_module("helperlib.sycl.call")
working: Any = importlib.import_module("helperlib.sycl.work")
images: Any = importlib.import_module("helperlib.sycl.images")
LOG = """\
ninja: Entering directory `build'
[1/4] Building SYCL (Device) object kernels_gen_AbsKernel.cpp.o
[2/4] Building SYCL (Device) object kernels_gen_Indexing.cpp.o
FAILED: native/kernels_gen_Indexing.cpp.o /b/native/kernels_gen_Indexing.cpp.o
In file included from /ops/Indexing.cpp:3:
/ops/Indexing.h:52:7: warning: unused variable 'a' [-Wunused-variable]
/ops/Indexing.h:60:9: error: 'b' was not declared in this scope
/ops/Indexing.h:61:9: error: follows from that
[3/4] Building SYCL (Device) object kernels_gen_1a2b3c4d_SortKernel.cpp.o
FAILED: native/kernels_gen_1a2b3c4d_SortKernel.cpp.o /b/native/kernels_gen_1a2b3c4d_SortKernel.cpp.o
g++: internal compiler error: Killed (signal 9)
ninja: build stopped: cannot make progress due to previous errors.
"""
"""From 2.14 on, the name of an object has a hash of its folder; in 2.6 it has `generated`."""


def spirv(*kernels: str) -> bytes:
    """Give the head of a SPIR-V module, an entry point for each kernel, and one of a shader."""
    words = [0x07230203, 0x00010400, 0, 9, 0]
    for model, name in (*((6, name) for name in kernels), (5, "shader")):
        text = name.encode() + b"\0" * (4 - len(name) % 4)
        words += [(3 + len(text) // 4) << 16 | 15, model, 7, *struct.unpack(f"<{len(text) // 4}I", text)]
    return struct.pack(f"<{len(words)}I", *words)


@pytest.mark.e2e
def test_each_failure_has_its_first_error_until_it_compiles(tmp_path: Path) -> None:
    work = Work(tmp_path, read_release("2.13"))
    made = [
        make_object(tmp_path, f"kernels_{name}.cpp.o") for name in ("generated_AbsKernel", "gen_1a2b3c4d_SortKernel")
    ]
    figures = make_figures(work, LOG, made[:1], 4)
    assert (figures["compiled"], figures["kernels"], figures["images"]) == (1, 2, 1)
    assert figures["failed"] == {
        "Indexing": "/ops/Indexing.h:60:9: error: 'b' was not declared in this scope",
        "SortKernel": "g++: internal compiler error: Killed (signal 9)",
    }
    assert list(make_figures(work, LOG, made, 4)["failed"]) == ["Indexing"]


def make_object(folder: Path, name: str, data: bytes = spirv("one", "two")) -> Path:
    """Make an object as the driver does, whose list names the kernels `one` and `two`."""
    image = images.DeviceImage("spir64", {"one": {}, "two": {}}, {}, data)
    held, _ = images.make_record(images.ObjectImages("a.cpp", (image,)))
    (folder / "held").write_bytes(b"".join(held))
    text = f'.section {images.SECTION},"al",@progbits\n.incbin "{folder}/held"\n'
    subprocess.run(("gcc", "-x", "assembler", "-c", "-o", str(folder / name), "-"), input=text.encode(), check=True)
    return folder / name


@pytest.mark.e2e
def test_kernels_are_counted_in_the_bytes_and_not_in_what_is_said_of_them(tmp_path: Path) -> None:
    assert count_kernels(spirv("one", "three")) == 2
    assert look_into(make_object(tmp_path, "a.o"))["kernels"] == 2
    with pytest.raises(ValueError, match="1 kernels in an image that is said to have 2"):
        look_into(make_object(tmp_path, "b.o", spirv("one")))


def test_flags_are_those_that_the_library_says_it_was_built_with(tmp_path: Path) -> None:
    told = b"\0 -D_GLIBCXX_USE_CXX11_ABI=0 -fabi-version=11 -fvisibility-inlines-hidden -DUSE_FBGEMM  -O2\0"
    (tmp_path / "a.so").write_bytes(b"\x7fELF\0-other" + told)
    assert read_flags(tmp_path / "a.so") == "-fvisibility-inlines-hidden;-DUSE_FBGEMM;-O2"
    (tmp_path / "b.so").write_bytes(b"\x7fELF\0")
    with pytest.raises(UnavailableError, match="does not say what it was built with"):
        read_flags(tmp_path / "b.so")


def test_what_a_pass_took_is_that_of_the_last_compile_that_came_to_its_end(tmp_path: Path) -> None:
    took = {"seconds": 9.0, "processor": 4.0, "memory": 700_000_000}
    lines = [
        {"pass": "device", "source": ["/o/A.cpp"], "code": 0, **took, "processor": 3.0},
        {"pass": "device", "source": ["/o/A.cpp"], "code": 0, **took},
        {"pass": "host", "source": ["/o/A.cpp"], "code": 1, **took},
        {"pass": "join", "source": [], "code": 0, **took},
    ]
    file = tmp_path / "measures.jsonl"
    file.write_text("".join(json.dumps(line) + "\n" for line in lines))
    assert read_measures(file) == {"A": {"device": took}}
    made = {"A": {"kernels": 104, "images": 4, "bytes": 700_000, **read_measures(file)["A"]}}
    assert "| A | 104 | 0.7 MB | 4 s, 0.7 GB |  |" in write_heaviest({"made": made})


@pytest.mark.e2e
def test_the_passes_of_a_compile_are_measured(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source, file = tmp_path / "A.cpp", tmp_path / "measures.jsonl"
    source.touch()
    monkeypatch.setenv(working.LOG, str(file))
    working.begin(call.parse_call("icpx", ["-fsycl", "-c", str(source), "-o", "A.o"]))

    def run(code: str, told: str) -> tuple[int, str]:
        found: tuple[int, str] = working.run_measured((sys.executable, "-c", code), told)
        return found

    assert run("b'x' * 400_000_000", "device") == (0, "")
    assert run("import sys; sys.exit('told')", "host") == (1, "told\n")
    assert run("print('said'); import os; os.kill(os.getpid(), 9)", "ocloc pvc,bmg")[0] == -9
    assert run("", "") == (0, "")
    lines = [json.loads(line) for line in file.read_text().splitlines()]
    assert [(line["pass"], line["code"]) for line in lines] == [("device", 0), ("host", 1), ("ocloc pvc,bmg", -9)]
    assert {line["source"][0] for line in lines} == {str(source)}
    assert read_measures(file).keys() == {"A"}
    assert read_measures(file)["A"]["device"]["memory"] > 400_000_000 > lines[1]["memory"] > 1_000_000
    assert all(line["seconds"] > 0 for line in lines)


def test_a_release_is_what_its_profile_says() -> None:
    release = read_release("2.13")
    assert release.ops == "bc294243807debb350dca694049ba7a806dfdceb"
    assert (release.torch, read_release("2.6").torch) == ("2.13.0", "2.6.0")
    assert release.targets.startswith("pvc,bmg")
    assert read_release("2.14").ops == "release/2.14"  # no source names its pin


LINK = (
    r"cd /b && /k/bin/icx -fPIC -fsycl -fsycl-targets=spir64_gen,spir64 -fsycl-link /b/k_gen_A.cpp.o /b/k_gen_B.cpp.o "
    r"""-Xs "-device\ pvc,xe-lpg\ -options\ '\ -cl-one'" -o /b/device.o"""
)


def test_the_command_of_a_device_link_for_one_source_and_one_gpu() -> None:
    changed = command_for(LINK, Path("/b/k_gen_B.cpp.o"), "bmg", Path("/w/B.o"))
    assert "-fsycl-link /b/k_gen_B.cpp.o -Xs" in changed
    assert changed.endswith(r"""-Xs "-device\ bmg\ -options\ '\ -cl-one'" -o /w/B.o""")
    later = LINK.replace("\\ ", " ")  # from 2.8 on the command is VERBATIM
    assert '-Xs "-device bmg -options' in command_for(later, Path("/b/k_gen_B.cpp.o"), "bmg", Path("/w/B.o"))


def test_what_ocloc_takes_is_told_as_a_multiple_of_the_device_pass(tmp_path: Path) -> None:
    line = {"source": ["/b/kernels_gen_A.cpp.o"], "code": 0, "seconds": 9.0}
    calls = [{**line, "pass": "ocloc bmg", "processor": 12.0, "memory": memory} for memory in (1_200_000_000, 10**9)]
    other = {**line, "pass": "join", "processor": 1.0, "memory": 1}
    (tmp_path / "measures").write_text("".join(json.dumps(each) + "\n" for each in (*calls, other)))
    took = read_ocloc(tmp_path / "measures")
    assert took == {"A": {"bmg": {"processor": 24.0, "memory": 1_200_000_000, "calls": 2}}}
    figures = {"made": {"A": {"kernels": 7, "device": {"processor": 8.0}}}}
    table = write_table(figures, {"bmg": {"A": {"bytes": 5_000_000}}, "pvc": {}}, took)
    assert table.splitlines()[-1] == "| A | 7 | 8 s | 24 s (3.0), 1.2 GB; 5.0 MB | not made |"
    said = "icpx: note: no machine code for dg2: _ZTS1A, _ZTS1B (ocloc ended with 245: error)\n"
    assert left_out(said) == {"dg2": 2}


def test_each_kernel_has_machine_code() -> None:
    code = make_elf(**{"__dot__text.one": b"code", "__dot__text.two": b"code"})
    image = images.DeviceImage("spir64_gen", {"one": {}, "two": {}}, {}, code)
    assert count_compiled(Path("a.o"), image) == 2
    with pytest.raises(ValueError, match=r"a.o: no code for \['three'\]"):
        count_compiled(Path("a.o"), image._replace(kernels={"one": {}, "three": {}}))


def test_a_second_configure_compiles_nothing_anew() -> None:
    """A header that each source includes was written anew, so that what was compiled did not stay."""
    text = (CHECKOUT / "tests/real/sycl_sources/CMakeLists.txt").read_text()
    assert "file(WRITE" not in text
    assert "file(CONFIGURE OUTPUT ${GENERATED}/c10/xpu/impl/xpu_cmake_macros.h" in text


@pytest.mark.e2e
def test_what_make_runs_by_name_is_found_without_pytest() -> None:
    names = re.findall(r"-m (real\.\w+)", (CHECKOUT / "Makefile").read_text())
    program = "; ".join(f"import {name}" for name in sorted(set(names)))
    clean = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    done = subprocess.run((sys.executable, "-c", program), env=clean, cwd=CHECKOUT / "tests", check=False)
    assert (done.returncode, "real.sycl_sources" in names) == (0, True)
