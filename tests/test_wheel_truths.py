"""What is said of wheels whose names, libraries and archives promise what is not so."""

from __future__ import annotations

import errno
import importlib
import stat
import struct
import zipfile
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from test_inspect_wheel import INFO, PYTHON, findings, library, make_wheel, run_inspector

if TYPE_CHECKING:
    from pathlib import Path

inspect_wheel: Any = importlib.import_module("inspect_wheel")
contents: Any = importlib.import_module("helperlib.wheel.contents")
libraries: Any = importlib.import_module("helperlib.wheel.libraries")
elf_file: Any = importlib.import_module("helperlib.elf.file")

STRTAB, SYMTAB, STRSZ, HASH = 5, 6, 10, 4
HERE = f"{PYTHON}-{PYTHON}"
X86 = "manylinux_2_28_x86_64"
MAC = "cp37-none-macosx_10_9_x86_64"


def make_shared(
    *names: tuple[str, bool], machine: int = 62, kind: bytes = b"\2\1", stack: int = 0, extra: int = 0x6474E551
) -> bytes:
    """Make an ELF file that has dynamic symbols: each a name, and whether it is in the file itself."""
    strings = b"\0" + b"".join(name.encode() + b"\0" for name, _ in names)
    symbols = b"\0" * 24
    for name, own in names:
        symbols += struct.pack("<IBBHQQ", strings.find(b"\0" + name.encode() + b"\0") + 1, 0x12, 0, int(own), 0, 0)
    hashes = struct.pack("<IIII", 1, len(names) + 1, 0, 0)
    start = 64 + 3 * 56
    places = [start, start + len(strings), start + len(strings) + len(symbols)]
    tags = ((STRTAB, places[0]), (SYMTAB, places[1]), (STRSZ, len(strings)), (HASH, places[2]), (0, 0))
    dynamic = b"".join(struct.pack("<qQ", *tag) for tag in tags)
    at = places[2] + len(hashes)
    whole = at + len(dynamic)
    head = (b"\x7fELF" + kind + b"\1" + b"\0" * 9, 3, machine, 1, 0, 64, 0, 0, 64, 56, 3, 64, 0, 0)
    segments = ((1, 5, 0, 0, 0, whole, whole, 1), (2, 4, at, at, at, len(dynamic), len(dynamic), 8))
    rows = (*segments, (extra, stack, 0, 0, 0, 0, 0, 1))
    packed = struct.pack("<16sHHIQQQIHHHHHH", *head) + b"".join(struct.pack("<IIQQQQQQ", *row) for row in rows)
    return packed + strings + symbols + hashes + dynamic


def seen(folder: Path, check: str, files: dict[str, bytes], tag: str = f"{HERE}-{X86}", **made: Any) -> tuple[str, str]:
    """Give what a check says of a wheel with these files and this tag, inside and in its name."""
    about = f"Wheel-Version: 1.0\nTag: {tag}\n".encode()
    wheel = make_wheel(folder / "wheels", {f"{INFO}/WHEEL": about, **files}, name=f"demo-1.0+xpu-{tag}.whl", **made)
    document = run_inspector(folder, "--wheel", wheel, "--any-python")[1]
    found = next(one for one in document["checks"] if one["id"] == f"wheel.{check}")
    return found["level"], found["seen"]


ASKED_OLD = ("_ZN3c105ErrorC1ERKSs", False)
ASKED_NEW = ("_Z3fooRKNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEE", False)
OF_GCC = (
    ("_ZNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEE6appendEPKc", True),
    ("_ZGTtNSt11logic_errorC1ERKNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEE", True),
)
"""What a newer gcc on an old system puts into each library, of the ABI that the library does not have."""


@pytest.mark.parametrize(
    ("names", "counts"),
    [
        ((ASKED_OLD, *OF_GCC), (0, 1)),
        ((ASKED_NEW, ("_ZNSs4swapERSs", True)), (1, 0)),
        ((("_ZN2ov3Any4ImplINSt7__cxx1112basic_stringEE3getEv", True),), (1, 0)),
        ((("puts", False),), (0, 0)),
    ],
)
def test_the_abi_is_told_by_what_is_asked_of_others(names: Any, counts: tuple[int, int]) -> None:
    assert contents.count_strings(elf_file.Elf(make_shared(*names))) == counts


def test_libraries_of_both_abis_are_named() -> None:
    mixed = (library("a.so", new_strings=9), library("b.so", old_strings=2, needed=("libtorch.so",)))
    said = "both C++ ABIs: the new one in a.so, the old one in b.so"
    assert findings(*mixed)["abi"] == ("info", said)
    assert findings(*mixed, wanted=contents.Wanted(abi=1))["abi"] == ("fail", said)
    apart = (mixed[0], replace(mixed[1], needed=()))
    assert findings(*apart, wanted=contents.Wanted(abi=1))["abi"] == ("warn", said)


def test_the_libstdcxx_of_a_wheel_says_nothing_of_its_abi() -> None:
    own = library("demo.libs/libstdc++-5d72f927.so.6", new_strings=38)
    assert findings(own, library("a.so"))["abi"] == ("info", "no symbol with std::string: either C++ ABI")


@pytest.mark.parametrize(
    ("tag", "machine", "level", "said"),
    [
        (f"{HERE}-{X86}", 62, "ok", f"{HERE}-{X86}"),
        (f"{HERE}-{X86}", 183, "fail", f"{HERE}-{X86}, and _C.so is for aarch64"),
        (f"{HERE}-{X86}", 190, "ok", f"{HERE}-{X86}"),
        (f"{HERE}-manylinux2014_aarch64", 62, "fail", f"{HERE}-manylinux2014_aarch64, and _C.so is for x86_64"),
        ("py3-none-any", 62, "warn", "py3-none-any, and _C.so is for Linux on x86_64 alone"),
        (f"{HERE}-win_amd64", 62, "fail", f"{HERE}-win_amd64, and _C.so is for Linux, not for {HERE}-win_amd64"),
    ],
)
def test_libraries_are_for_the_machine_of_the_tag(
    tmp_path: Path, tag: str, machine: int, level: str, said: str
) -> None:
    assert seen(tmp_path, "tags", {"demo/_C.so": make_shared(machine=machine)}, tag) == (level, said)


@pytest.mark.parametrize(
    ("name", "level"),
    [("_D.so", "fail"), ("d.abi3.so", "fail"), ("attach_linux_x86.so", "warn"), ("aarch64/_C.so", "ok")],
)
def test_a_library_for_other_machines_may_be_handed_to_them(tmp_path: Path, name: str, level: str) -> None:
    files = {"demo/_C.so": make_shared(), f"demo/{name}": make_shared(machine=183)}
    assert seen(tmp_path, "tags", files)[0] == level


def test_a_library_of_32_bits_is_one_and_is_not_read(tmp_path: Path) -> None:
    old = {"demo/_C.so": make_shared(machine=3, kind=b"\1\1")}
    tag = f"{HERE}-manylinux1_i686"
    for check in ("xpu", "arch", "abi", "needed", "rpath", "floor"):
        assert seen(tmp_path, check, old, tag) == ("info", "libraries of i686, which are not read")
    assert seen(tmp_path, "tags", old) == ("fail", f"{HERE}-{X86}, and _C.so is for i686")


@pytest.mark.parametrize(
    ("files", "tag", "level"),
    [
        (("_D.cpython-39-x86_64-linux-gnu.so",), f"cp311-cp311-{X86}", "fail"),
        (("_D.cpython-39-x86_64-linux-gnu.so", "_C.so"), f"cp311-cp311-{X86}", "warn"),
        (("_D.cpython-39-x86_64-linux-gnu.so", "_D.abi3.so"), f"cp311-cp311-{X86}", "ok"),
        (("_D.cpython-313t-x86_64-linux-gnu.so",), f"cp313-cp313t-{X86}", "ok"),
        (("_D.cpython-313-x86_64-linux-gnu.so",), f"cp313-cp313t-{X86}", "fail"),
        (("_D.cpython-311-x86_64-linux-gnu.so",), f"cp311-cp311d-{X86}", "ok"),
        (("_D.cpython-37m-x86_64-linux-gnu.so",), f"cp37-cp37m-{X86}", "ok"),
        (("_D.cpython-311-x86_64-linux-gnu.so",), f"cp39-abi3-{X86}", "warn"),
        (("_D.cpython-311-x86_64-linux-gnu.so",), f"py311-none-{X86}", "ok"),
        (("_D.cpython-311-aarch64-linux-gnu.so",), f"cp311-cp311-{X86}", "fail"),
    ],
)
def test_modules_are_for_the_python_of_the_tag(tmp_path: Path, files: tuple[str, ...], tag: str, level: str) -> None:
    told, said = seen(tmp_path, "tags", {f"demo/{name}": make_shared() for name in files}, tag)
    assert told == level
    assert ("only the Python that is named in it imports _D.cpython" in said) is (level != "ok")


@pytest.mark.parametrize(
    ("inside", "level", "said"),
    [
        ("Wheel-Version: 2.0\nTag: {}\n", "fail", f"{MAC}, and pip does not install Wheel-Version 2.0"),
        ("Tag: {}\n", "fail", f"{MAC}, and pip does not install Wheel-Version without"),
        (
            "Wheel-Version: 1.0\nTag: cp37-cp37m-macosx_10_11_x86_64\n",
            "warn",
            "the file name says cp37-none-macosx_",
        ),
    ],
)
def test_what_wheel_says_of_itself(tmp_path: Path, inside: str, level: str, said: str) -> None:
    found = seen(tmp_path, "tags", {f"{INFO}/WHEEL": inside.format(MAC).encode()}, MAC)
    assert (found[0], found[1][: len(said)]) == (level, said)


@pytest.mark.parametrize(
    ("tag", "floor", "level", "said"),
    [
        ("manylinux2014_x86_64", {"GLIBC": "2.27"}, "warn", "more than the tag says: GLIBC 2.27 (a.so); it "),
        ("manylinux1_x86_64", {"GLIBC": "2.4"}, "info", "GLIBC 2.4 (a.so)"),
        ("manylinux_2_27_x86_64.manylinux_2_28_x86_64", {"GLIBC": "2.28"}, "warn", "more than the tag says: "),
        (X86, {"GLIBC": "2.4", "GLIBCXX": "3.4.29"}, "warn", "more than the tag says: GLIBCXX 3.4.29 (a.so); it needs"),
        (X86, {"GLIBC": "2.28", "GLIBCXX": "3.4.24"}, "info", "GLIBC 2.28 (a.so), GLIBCXX 3.4.24 (a.so)"),
        ("linux_x86_64", {"GLIBC": "2.17", "GLIBCXX": "3.4.30"}, "info", "GLIBC 2.17 (a.so), GLIBCXX 3.4.30 (a.so); "),
    ],
)  # fmt: skip
def test_the_tags_of_the_name_promise_a_glibc_and_a_libstdcxx(
    tag: str, floor: dict[str, str], level: str, said: str
) -> None:
    member = contents.WheelMember("demo/a.so", library=library("demo/a.so", floor=tuple(floor.items())))
    inside = (f"{HERE}-linux_x86_64",)
    wheel = contents.WheelContents(f"demo-1.0-{HERE}-{tag}.whl", 1, "00", "demo", "1.0", inside, (), (), (member,))
    found = libraries.check_floor(wheel, contents.Wanted())
    assert (found.level, found.seen[: len(said)]) == (level, said)
    assert ("manylinux_2_35 at best" in found.seen) is (tag == "linux_x86_64")
    own = contents.WheelMember("demo.libs/libstdc++-1.so.6", library=library("demo.libs/libstdc++-1.so.6"))
    found = libraries.check_floor(replace(wheel, members=(member, own)), contents.Wanted())
    assert "more than the tag says: GLIBCXX" not in found.seen


def test_packed_relocations_need_the_glibc_that_knows_them() -> None:
    assert contents.highest_versions(["GLIBC_2.4", "GLIBC_ABI_DT_RELR"]) == {"GLIBC": "2.36"}


def test_an_executable_stack_is_told(tmp_path: Path) -> None:
    level, said = seen(tmp_path, "floor", {"demo/_C.so": make_shared(stack=7)})
    assert (level, said.partition("; ")[2]) == (
        "warn",
        "glibc from 2.41 on does not load _C.so: an executable stack is asked for",
    )
    assert seen(tmp_path, "floor", {"demo/_C.so": make_shared(stack=6)})[0] == "info"


@pytest.mark.parametrize(
    ("name", "content", "level", "said"),
    [
        ("_C.so", make_shared()[:-30], "fail", "demo/_C.so is no ELF file that can be read: it was cut off: "),
        ("libx.so", make_shared()[:-30], "warn", "demo/libx.so is no ELF file that can be read: it was cut off: "),
        (
            "_C.so",
            make_shared()[:40],
            "fail",
            "demo/_C.so is no ELF file that can be read: it was cut off or ",
        ),
        ("_C.so", b"", "fail", "demo/_C.so is empty"),
        ("_C.so", b"MZ\0", "fail", "demo/_C.so is a library of Windows"),
        ("_C.so", b"libdemo.so.1", "fail", "demo/_C.so is no library"),
        ("_C.so", b"/* GNU ld script */ INPUT(libdemo.so)", "fail", "demo/_C.so is a text for the linker"),
        ("libx.so", b"/* GNU ld script */ INPUT(libdemo.so)", "info", "no library in it"),
    ],
)
def test_what_has_the_name_of_a_library_and_is_none(
    tmp_path: Path, name: str, content: bytes, level: str, said: str
) -> None:
    found = seen(tmp_path, "needed", {f"demo/{name}": content})
    assert (found[0], found[1][: len(said)]) == (level, said)
    assert "buffer" not in found[1]


def _without_sections() -> bytes:
    content = bytearray(make_shared(ASKED_NEW))
    content[40:48], content[60:62] = struct.pack("<Q", len(content) + 1), struct.pack("<H", 3)
    return bytes(content)


def test_a_library_without_the_table_of_its_sections_is_read_all_the_same(tmp_path: Path) -> None:
    elf = elf_file.Elf(_without_sections())
    assert elf.lacks_sections()
    assert contents.count_strings(elf) == (1, 0)
    files = {"demo/libx.so": _without_sections(), "demo/liby.so": make_shared()[:-30]}
    wheel = make_wheel(tmp_path / "wheels", files)
    archive = importlib.import_module("helperlib.wheel.fit").WheelArchive(wheel, "/place")
    assert [part.library.path for part in archive.parts()] == ["/place/demo/libx.so"]
    assert list(archive.troubles) == ["/place/demo/liby.so"]
    assert "was cut off: the table of its sections is missing" in seen(tmp_path, "needed", files)[1]


@pytest.mark.parametrize(
    ("made", "level", "said"),
    [
        ({"demo/a": b"x", "demo/a/b": b"y"}, "fail", "both a file and a folder: demo/a"),
        ({"demo-1.0.data/foo/run": b""}, "fail", "in a folder that pip knows no place for: demo-1.0.data/foo/run"),
        ({"demo-1.0.data/scripts/run": b""}, "ok", "5 files as RECORD says"),
    ],
)
def test_files_that_pip_refuses(tmp_path: Path, made: dict[str, bytes], level: str, said: str) -> None:
    assert seen(tmp_path, "record", made) == (level, said)


def test_two_hashes_of_one_file(tmp_path: Path) -> None:
    right = make_wheel(tmp_path / "first")
    with zipfile.ZipFile(right) as archive:
        text = archive.read(f"{INFO}/RECORD").decode()
    twice = text.replace("demo/__init__.py,sha256=", "demo/__init__.py,sha256=A", 1) + text
    found = seen(tmp_path, "record", {}, changed={f"{INFO}/RECORD": twice.encode()})
    assert found[1].startswith("listed twice, with different hashes: demo/__init__.py")


def test_symbolic_links_are_told(tmp_path: Path) -> None:
    wheel = make_wheel(tmp_path / "wheels", {"demo/libx.so": b"libdemo.so"})
    document = run_inspector(tmp_path, "--wheel", _with_modes(wheel, stat.S_IFLNK | 0o777, ".so"))[1]
    found = {one["id"]: (one["level"], one["seen"]) for one in document["checks"]}
    assert found["wheel.record"] == ("warn", "symbolic links, of which pip makes small text files: demo/libx.so")
    assert found["wheel.needed"][0] == "warn"


def _with_modes(wheel: Path, mode: int, ending: str) -> Path:
    with zipfile.ZipFile(wheel) as archive:
        members = [(info, archive.read(info)) for info in archive.infolist()]
    with zipfile.ZipFile(wheel, "w") as archive:
        for info, content in members:
            if info.filename.endswith(ending):
                info.external_attr = mode << 16
            archive.writestr(info, content)
    return wheel


@pytest.mark.parametrize(
    ("path", "mode", "level"),
    [
        ("demo/bin/ptxas", 0o644, "warn"),
        ("demo/bin/ptxas", 0, "warn"),
        ("demo/bin/ptxas", 0o755, "ok"),
        ("demo-1.0+xpu.data/scripts/ptxas", 0o644, "ok"),
    ],
)
def test_a_program_comes_with_the_right_to_run_it(tmp_path: Path, path: str, mode: int, level: str) -> None:
    wheel = make_wheel(tmp_path / "wheels", {path: make_shared(extra=3)})
    document = run_inspector(tmp_path, "--wheel", _with_modes(wheel, stat.S_IFREG | mode, "ptxas"))[1]
    found = next(one for one in document["checks"] if one["id"] == "wheel.record")
    assert found["level"] == level
    assert ("programs that nobody may run" in found["seen"]) is (level == "warn")


def test_hashes_that_are_not_compared_are_not_called_changes(tmp_path: Path) -> None:
    lines = [f"{path},sha512=abc,1\n" for path in ("demo/__init__.py", f"{INFO}/METADATA", f"{INFO}/WHEEL")]
    found = seen(tmp_path, "record", {}, changed={f"{INFO}/RECORD": "".join(lines).encode()})
    assert found[0] == "warn"
    assert found[1].startswith(
        "hashed by something else than sha256, and not compared: demo-1.0+xpu.dist-info/METADATA"
    )
    bare = [line.replace("sha512=abc,1", ",") for line in lines]
    found = seen(tmp_path, "record", {}, changed={f"{INFO}/RECORD": "".join(bare).encode()})
    assert (found[0], found[1].partition(":")[0]) == ("fail", "listed without a hash")


NAMED = "Metadata-Version: 2.1\nName: demo\nVersion: {}\n"


@pytest.mark.parametrize(
    ("metadata", "level", "said"),
    [
        (NAMED.format("1.0+xpu") + "Requires-Dist: naïve\n", "ok", "demo 1.0+xpu"),
        (NAMED.format("1.0.0+XPU"), "ok", "demo 1.0.0+XPU"),
        (NAMED.format("1.1+xpu"), "fail", "demo 1.1+xpu in demo-1.0+xpu-"),
        ("\ufeff" + NAMED.format("1.0+xpu"), "fail", "METADATA gives no name and no version"),
        ("", "fail", "METADATA gives no name and no version"),
        ("Version: 1.0+xpu\n", "fail", "METADATA gives no name"),
    ],
)
def test_metadata_as_people_write_it(tmp_path: Path, metadata: str, level: str, said: str) -> None:
    found = seen(tmp_path, "version", {f"{INFO}/METADATA": metadata.encode()})
    assert (found[0], found[1][: len(said)]) == (level, said)


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("1.0", "1.0.0", True),
        ("1.0.rc1", "1.0rc1", True),
        ("1.0-RC1", "1.0c1", True),
        ("1.0-r1", "1.0.post1", True),
        ("v1.0", "1.0", True),
        ("1.0+a_b", "1.0+a.b", True),
        ("1.0", "1!1.0", False),
        ("1.0", "1.1", False),
        ("10.0", "1.0", False),
        ("1.0", "1.0+cpu", False),
        ("1.0", "1.0.dev1", False),
    ],
)
def test_a_version_may_be_spelled_otherwise(one: str, other: str, *, same: bool) -> None:
    assert inspect_wheel.is_same(one, other) is same


def test_the_folder_of_metadata_is_that_of_the_wheel(tmp_path: Path) -> None:
    files = {f"foo-1.0.dist-info/{name}": b"" for name in ("METADATA", "WHEEL", "RECORD")}
    files["foo-1.0.dist-info/METADATA"] = NAMED.format("1.0+xpu").encode()
    dropped = tuple(f"{INFO}/{name}" for name in ("METADATA", "WHEEL", "RECORD"))
    found = seen(tmp_path, "version", files, dropped=dropped)
    assert found == ("fail", "its folder foo-1.0.dist-info is that of another name or version")


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"", "it is empty"),
        (b"<!DOCTYPE html>", "it is a page of HTML or XML, such as a server gives with an error"),
        (b"version https://git-lfs.github.com/spec/v1\n", "it is a pointer of Git LFS: git lfs pull"),
        (b"PK\3\4" + b"x" * 99, "it was cut off: the list of its files, which is at the end, is missing"),
        (b"\x1f\x8b", "it is no zip archive"),
    ],
)
def test_what_is_no_archive_is_told(tmp_path: Path, content: bytes, said: str) -> None:
    path = tmp_path / "demo-1.0-py3-none-any.whl"
    path.write_bytes(content)
    with pytest.raises(contents.NotAWheelError, match=said):
        contents.read_wheel(path, ())


def test_an_archive_that_contradicts_itself_is_told(tmp_path: Path) -> None:
    wheel = make_wheel(tmp_path / "wheels", {"demo/_C.so": b""})
    whole = wheel.read_bytes()
    end = whole.rfind(b"PK\5\6")
    wheel.write_bytes(whole[: end + 16] + b"\xff\xff\xff\0" + whole[end + 20 :])
    with pytest.raises(contents.NotAWheelError, match="the list of its files points outside of it"):
        contents.read_wheel(wheel, ())
    wheel.write_bytes(whole.replace(b"demo/__init__.py", b"evil/__init__.py", 1))
    found = {one["id"]: one["seen"] for one in run_inspector(tmp_path, "--wheel", wheel)[1]["checks"]}
    assert found["wheel.record"].startswith("damaged: demo/__init__.py cannot be read: File name in directory")
    assert found["wheel.needed"] == "demo/_C.so is empty"


def test_a_bomb_is_not_unpacked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(contents, "BOMB_FROM", 1 << 16)
    wheel = make_wheel(tmp_path / "wheels", {"demo/zeros": b"\0" * (4 << 20)})
    with pytest.raises(contents.NotAWheelError, match=r"would grow from .* to 4\.0 MiB: not unpacked"):
        contents.read_wheel(wheel, ())


def test_a_full_disk_is_no_fault_of_the_wheel(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def full(*_: Any) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    wheel = make_wheel(tmp_path / "wheels", {"demo/_C.so": make_shared()})
    monkeypatch.setattr(contents, "_look", full)
    monkeypatch.setattr(contents.Scanner, "feed", full)
    with pytest.raises(SystemExit) as ended:
        inspect_wheel.main(["--wheel", str(wheel), "--any-python"])
    assert ended.value.code == 1
    assert "there is no room to unpack its libraries" in capsys.readouterr().err


def test_device_code_for_other_gpus_is_told() -> None:
    both = (library("a.so", others=frozenset({"NVIDIA"})), library("b.so", images=("__x__sycl-spir64",)))
    said = "SPIR-V, compiled when it is first used: b.so; code for GPUs of NVIDIA: a.so"
    assert findings(*both)["arch"][1].endswith(said)


def test_a_library_that_nobody_imports_ends_nothing() -> None:
    needs = library("demo/lib/libplug.so", needed=("libibverbs.so.1",))
    member = contents.WheelMember(needs.path, library=needs)
    name = f"demo-1.0-py3-none-{X86}.whl"
    wheel = contents.WheelContents(name, 1, "00", "demo", "1.0", (), (), (), (member,))
    check = importlib.import_module("helperlib.wheel.runtime").check_requires
    assert check(wheel, contents.Wanted()).level == "warn"
    module = contents.WheelMember("demo/_C.so", library=replace(needs, path="demo/_C.so"))
    assert check(replace(wheel, members=(module,)), contents.Wanted()).level == "fail"


@pytest.mark.parametrize("name", ["libc.so", "libc.musl-x86_64.so.1"])
def test_musl_is_of_the_system(name: str) -> None:
    found = findings(library("demo/_C.so", needed=(name,)))["requires"]
    assert found == ("info", "requires nothing")


def test_a_copy_of_a_library_of_the_driver_may_lie_where_nothing_looks() -> None:
    """torch_directml for Linux: Windows puts libdxcore.so where the loader of its Linux finds it."""
    for name, level in (("libdxcore.so", "warn"), ("libown.so", "fail")):
        needs, there = library("demo/_C.so", needed=(name,)), library(f"demo/lib/{name}")
        assert findings(needs, there)["rpath"] == (level, f"not found beside it: demo/_C.so needs {name}")


@pytest.mark.parametrize(
    ("requires", "allowed"),
    [
        ("", True),
        (">=3.10", True),
        (">=3.11.4", True),
        (">=3.12", False),
        ("<3.11", False),
        ("<3.11.2", True),
        (">=3.8, <3.12", True),
        ("!=3.11.*", False),
        ("!=3.11.0", True),
        ("~=3.9", True),
        ("~=3.10.2", False),
        ("==3.11.*", True),
        (">=3", True),
    ],
)
def test_the_python_of_the_tags_is_one_that_metadata_wants(requires: str, *, allowed: bool) -> None:
    assert inspect_wheel.allows(requires, (3, 11)) is allowed


def test_a_wheel_that_no_python_may_have_fails(tmp_path: Path) -> None:
    files = {f"{INFO}/METADATA": (NAMED.format("1.0+xpu") + "Requires-Python: >=3.12\n").encode()}
    assert seen(tmp_path, "tags", files, f"cp311-cp311-{X86}")[0] == "fail"
    assert seen(tmp_path, "tags", files, f"cp313-cp313-{X86}")[0] == "ok"
    assert seen(tmp_path, "tags", files, f"cp39-abi3-{X86}")[0] == "ok"
