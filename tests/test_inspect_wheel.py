"""What the inspector says of small wheels that are made here, sound ones and broken ones."""

from __future__ import annotations

import base64
import hashlib
import importlib
import json
import platform
import subprocess
import sys
import zipfile
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from pathlib import Path

inspect_wheel: Any = importlib.import_module("inspect_wheel")
wheel_contents: Any = importlib.import_module("helperlib.wheel.contents")

PYTHON = f"cp{sys.version_info[0]}{sys.version_info[1]}"
TAG = f"{PYTHON}-{PYTHON}-linux_{platform.machine()}"
INFO = "demo-1.0+xpu.dist-info"
SOUND: dict[str, bytes] = {
    "demo/__init__.py": b"ONE = 1\n",
    f"{INFO}/METADATA": b"Metadata-Version: 2.4\nName: demo\nVersion: 1.0+xpu\nRequires-Dist: filelock\n",
    f"{INFO}/WHEEL": f"Wheel-Version: 1.0\nTag: {TAG}\n".encode(),
}
KEYS = ["wheel", "name", "version", "sha256", "size", "tags", "requires", "libraries", "checks", "ok"]
CHECK_KEYS = ["id", "title", "level", "seen", "limit", "why", "fix", "seconds", "caused_by"]


def record_line(path: str, content: bytes) -> str:
    digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
    return f"{path},sha256={digest},{len(content)}\n"


def make_wheel(
    folder: Path,
    files: dict[str, bytes] | None = None,
    *,
    changed: dict[str, bytes] | None = None,
    dropped: tuple[str, ...] = (),
    name: str = f"demo-1.0+xpu-{TAG}.whl",
) -> Path:
    """Make a wheel whose RECORD is right, then change or drop files as one does who tampers with it."""
    whole = {**SOUND, **(files or {})}
    record = "".join(record_line(path, content) for path, content in whole.items()) + f"{INFO}/RECORD,,\n"
    whole |= {f"{INFO}/RECORD": record.encode(), **(changed or {})}
    folder.mkdir(exist_ok=True)
    with zipfile.ZipFile(folder / name, "w", zipfile.ZIP_DEFLATED) as archive:
        for path, content in whole.items():
            if path not in dropped:
                archive.writestr(path, content)
    return folder / name


def run_inspector(folder: Path, *options: str | Path) -> tuple[int, dict[str, Any]]:
    out = folder / "results" / "inspect.json"
    code = inspect_wheel.main([*map(str, options), "--out", str(out)])
    assert [path.name for path in out.parent.iterdir()] == ["inspect.json"]
    return code, json.loads(out.read_text())


def levels(document: dict[str, Any]) -> dict[str, str]:
    return {check["id"].removeprefix("wheel."): check["level"] for check in document["checks"]}


def test_a_sound_wheel(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    wheel = make_wheel(tmp_path / "wheels")
    code, document = run_inspector(tmp_path, "--wheel", wheel, "--version", "1.0+xpu", "--forbid-prefix", "/made/src")
    assert (code, document["ok"]) == (0, True)
    assert (list(document), list(document["checks"][0])) == (KEYS, CHECK_KEYS)
    assert document["sha256"] == hashlib.sha256(wheel.read_bytes()).hexdigest()
    assert (document["size"], document["tags"], document["requires"]) == (wheel.stat().st_size, [TAG], ["filelock"])
    assert levels(document) == {
        **dict.fromkeys(("record", "version", "tags", "requires", "paths"), "ok"),
        **dict.fromkeys(("xpu", "others", "arch", "abi", "needed", "rpath", "floor", "size"), "info"),
    }
    assert capsys.readouterr().out.splitlines()[:2] == [
        "ok    files: 4 files as RECORD says",
        "ok    version: demo 1.0+xpu",
    ]


POINTER = b"version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 9\n"
OTHER_WHEEL = SOUND[f"{INFO}/WHEEL"].replace(PYTHON.encode(), b"cp39")
FORBID = ("--forbid-prefix", "/made/src", "/made/venv/")


@pytest.mark.parametrize(
    ("made", "options", "check", "level", "seen"),
    [
        ({"changed": {"demo/__init__.py": b"ONE = 2\n"}}, (), "record", "fail", "changed: demo/__init__.py"),
        ({"changed": {"demo/more.py": b""}}, (), "record", "fail", "not listed: demo/more.py"),
        ({"dropped": ("demo/__init__.py",)}, (), "record", "fail", "listed but missing: demo/__init__.py"),
        ({"files": {"../demo.py": b""}}, (), "record", "fail", "outside of the wheel: ../demo.py"),
        ({"files": {"demo/w.bin": POINTER}}, (), "record", "warn", "pointers of git-lfs in place of files: demo/w.bin"),
        ({"files": {"demo/w.py": POINTER + b"#" * 1024}}, (), "record", "ok", "5 files as RECORD says"),
        ({"changed": {f"{INFO}/RECORD.jws": b"{}"}}, (), "record", "ok", "4 files as RECORD says"),
        ({}, ("--version", "1.0"), "version", "fail", f"demo 1.0+xpu in demo-1.0+xpu-{TAG}.whl"),
        ({}, ("--distribution", "Demo"), "version", "ok", "demo 1.0+xpu"),
        ({}, ("--distribution", "torch"), "version", "fail", f"demo 1.0+xpu in demo-1.0+xpu-{TAG}.whl"),
        ({"name": f"demo-2.0-{TAG}.whl"}, (), "version", "fail", f"demo 1.0+xpu in demo-2.0-{TAG}.whl"),
        ({"files": {f"{INFO}/WHEEL": OTHER_WHEEL}}, (), "tags", "fail", f"the file name says {TAG}, WHEEL says "),
        ({}, ("--requires-xpu",), "xpu", "fail", "no libtorch_xpu.so in it: built without XPU"),
        ({}, ("--arch", "pvc,bmg"), "arch", "warn", "no library in it"),
        ({}, ("--abi", "1"), "abi", "warn", "no library in it"),
        ({}, ("--needed", "libsycl.so.*"), "needed", "fail", "no library needs libsycl.so.*"),
        (
            {"files": {"demo/x.so": b"\x7fELFbroken"}},
            (),
            "needed",
            "fail",
            "demo/x.so is no ELF file that can be read: ",
        ),
        (
            {"files": {"demo/libx.so": b"\x7fELFbroken"}},
            (),
            "needed",
            "warn",
            "demo/libx.so is no ELF file that can be read: ",
        ),
        ({"files": {"a.txt": b"in /made/src/a.c"}}, FORBID, "paths", "fail", "a folder of the build is named in a.txt"),
        ({"files": {"a.txt": b"/made/venv"}}, FORBID, "paths", "fail", "a folder of the build is named in a.txt"),
        ({"files": {"a.txt": b"/made/src2/a.c /made/src.old"}}, FORBID, "paths", "ok", "5 files"),
        (
            {"files": {"a.txt": b"-ffile-prefix-map=/made/src=."}},
            FORBID,
            "paths",
            "warn",
            "named as the option -f...-prefix-map in a.txt",
        ),
        (
            {"files": {"a.cmake": b'set(A "/made/src")', "a.pc": b"-ffile-prefix-map=/made/src=."}},
            ("--build-folder", "/made/src"),
            "paths",
            "warn",
            "a folder of the build is named in a.cmake; named as the option -f...-prefix-map in a.pc",
        ),
    ],
)
def test_one_trouble(
    tmp_path: Path, made: dict[str, Any], options: tuple[str, ...], check: str, level: str, seen: str
) -> None:
    wheel = make_wheel(tmp_path / "wheels", **made)
    code, document = run_inspector(tmp_path, "--wheel", wheel, *options)
    found = next(one for one in document["checks"] if one["id"] == f"wheel.{check}")
    assert (found["level"], found["seen"][: len(seen)]) == (level, seen)
    assert (code, document["ok"]) == ((1, False) if level == "fail" else (0, True))


@pytest.mark.parametrize(
    ("content", "seen"),
    [
        (b"no archive", "cannot be read: it is no zip archive"),
        (b"", "has 0 .dist-info folders instead of one"),
    ],
)
def test_no_wheel_at_all(tmp_path: Path, content: bytes, seen: str) -> None:
    wheel = tmp_path / f"demo-1.0-{TAG}.whl"
    wheel.write_bytes(content)
    if not content:
        zipfile.ZipFile(wheel, "w").close()
    code, document = run_inspector(tmp_path, "--wheel", wheel)
    assert (code, document["ok"], list(document)) == (1, False, KEYS)
    assert document["checks"][0]["seen"] == f"{wheel.name} {seen}"


def test_a_file_with_a_wrong_checksum_is_named(tmp_path: Path) -> None:
    stored = b"stored as it is, for the test to find"
    wheel = make_wheel(tmp_path / "wheels")
    with zipfile.ZipFile(wheel, "a") as archive:
        archive.writestr(zipfile.ZipInfo("demo/data.txt"), stored)
    wheel.write_bytes(wheel.read_bytes().replace(stored, stored.upper()))
    code, document = run_inspector(tmp_path, "--wheel", wheel)
    assert code == 1
    said = {check["id"]: check["seen"] for check in document["checks"]}["wheel.record"]
    assert "damaged: demo/data.txt cannot be read: Bad CRC-32" in said


def test_a_member_without_a_name_is_no_crash(tmp_path: Path) -> None:
    wheel = make_wheel(tmp_path / "wheels", {"demo/lost.txt": b"named once"})
    wheel.write_bytes(wheel.read_bytes().replace(b"demo/lost.txt", b"\0emo/lost.txt"))  # ends the name for a reader
    code, document = run_inspector(tmp_path, "--wheel", wheel)
    assert code == 1
    assert document["ok"] is False


@pytest.mark.parametrize(
    ("names", "said"),
    [
        ((), "no wheel of demo 1.0+xpu in"),
        (("demo-1.1+xpu-py3-none-any.whl",), "(there is demo-1.1+xpu-py3-none-any.whl)"),
        ((f"demo-1.0+xpu-{TAG}.whl", "demo-1.0+xpu-py3-none-any.whl"), "several wheels of demo 1.0+xpu in"),
    ],
)
def test_exactly_one_wheel(
    tmp_path: Path, names: tuple[str, ...], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in names:
        make_wheel(tmp_path, name=name)
    with pytest.raises(SystemExit) as ended:
        inspect_wheel.main(["--wheels", str(tmp_path), "--distribution", "demo", "--version", "1.0+xpu"])
    assert ended.value.code == 1
    assert said in capsys.readouterr().err


def test_a_wheel_of_any_version_that_is_not_there(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        inspect_wheel.main(["--wheels", str(tmp_path), "--distribution", "demo", "--version", ""])
    assert "no wheel of demo in" in capsys.readouterr().err


def test_the_one_wheel_of_a_folder(tmp_path: Path) -> None:
    make_wheel(tmp_path / "wheels")
    make_wheel(tmp_path / "wheels", name="demo-0.9-py3-none-any.whl")
    wanted = ("--wheels", tmp_path / "wheels", "--distribution", "demo", "--version", "1.0+xpu")
    assert run_inspector(tmp_path, *wanted)[1]["wheel"].endswith(f"demo-1.0+xpu-{TAG}.whl")


@pytest.mark.parametrize(
    "arguments",
    [
        (),
        ("--wheels", ".", "--version", "1"),
        ("--wheel", "missing.whl"),
        ("--wheel", __file__, "--forbid-prefix", "/"),
        ("--wheel", __file__, "--abi", "2"),
    ],
)
def test_bad_usage(arguments: tuple[str, ...]) -> None:
    with pytest.raises(SystemExit) as ended:
        inspect_wheel.main(list(arguments))
    assert ended.value.code == 2


@pytest.mark.parametrize("cut", range(31))
def test_a_text_is_found_across_chunks(cut: int) -> None:
    texts = {
        b"x-f-prefix-map=/made/src=. tail": (set(), {"/made/src"}),
        b"..... /made/srcs /made/src": ({"/made/src"}, set()),
    }
    for content, expected in texts.items():
        scanner = wheel_contents.Scanner(("/made/src",))
        for chunk in filter(None, (content[:cut], content[cut:])):
            scanner.feed(chunk)
        scanner.feed(b"")
        assert (scanner.found, scanner.mapped) == expected


@pytest.mark.parametrize(
    ("tag", "good"),
    [
        ("cp311-cp311-linux_x86_64", True),
        ("cp311-cp311-manylinux_2_28_x86_64", True),
        ("cp311-cp311-manylinux2014_x86_64", True),
        ("cp38-abi3-linux_x86_64", True),
        ("py3-none-any", True),
        ("cp310-cp310-linux_x86_64", False),
        ("cp312-abi3-linux_x86_64", False),
        ("cp311-cp311t-linux_x86_64", False),
        ("cp311-cp311-musllinux_1_2_x86_64", False),
        ("cp311-cp311-linux_aarch64", False),
    ],
)
def test_tags_of_this_python(tag: str, *, good: bool) -> None:
    assert inspect_wheel.fits(tag, wheel_contents.Wanted(python=(3, 11))) is good


def library(path: str, **parts: Any) -> Any:
    return wheel_contents.SharedObject(path=path, **parts)


def findings(*libraries: Any, wanted: Any = None) -> dict[str, tuple[str, str]]:
    """Run all checks on a wheel that holds these libraries."""
    members = tuple(wheel_contents.WheelMember(one.path, library=one) for one in libraries)
    wheel = wheel_contents.WheelContents(f"demo-1.0-{TAG}.whl", 1, "00", "demo", "1.0", (TAG,), (), (), members)
    found = {check.id: check.run(wheel, wanted or wheel_contents.Wanted()) for check in inspect_wheel.CHECKS}
    return {name.removeprefix("wheel."): (one.level, one.seen) for name, one in found.items()}


XPU = library("torch/lib/libtorch_xpu.so", needed=("libsycl.so.8",), images=(".tgtimg",), runpath=("$ORIGIN",))


@pytest.mark.parametrize(
    ("libraries", "level", "seen"),
    [
        ((XPU,), "ok", "libtorch_xpu.so needs libsycl.so.8; likely with device code, by its sections"),
        ((replace(XPU, images=()),), "fail", "libtorch_xpu.so needs libsycl.so.8; no device code"),
        ((replace(XPU, images=(), registers=True),), "warn", "libtorch_xpu.so needs libsycl.so.8; it has device code"),
        ((replace(XPU, needed=()),), "fail", "libtorch_xpu.so is in it and needs no libsycl.so"),
        (
            (XPU, library("torch/lib/libc10_xpu.so", needed=("libsycl.so.7",))),
            "fail",
            "libtorch_xpu.so is in it and needs libsycl.so.7, libsycl.so.8",
        ),
        ((library("torch/lib/libtorch_cpu.so"),), "fail", "no libtorch_xpu.so in it"),
    ],
)
def test_xpu(libraries: tuple[Any, ...], level: str, seen: str) -> None:
    found = findings(*libraries, wanted=wheel_contents.Wanted(xpu=True))["xpu"]
    assert (found[0], found[1][: len(seen)]) == (level, seen)


@pytest.mark.parametrize(
    ("one", "without", "level", "seen"),
    [
        (XPU, ("xpu",), "fail", "built for xpu, for it has or needs libsycl.so.8, libtorch_xpu.so"),
        (
            library("demo/_C.so", needed=("libc10_xpu.so",)),
            ("xpu",),
            "fail",
            "built for xpu, for it has or needs libc10_",
        ),
        (library("demo/_C.so", needed=("libcudart.so.13",)), ("cuda", "xpu"), "fail", "built for cuda, for it has or"),
        (
            library("demo/_C.so", needed=("libamdhip64.so.7",)),
            ("rocm",),
            "fail",
            "built for rocm, for it has or needs lib",
        ),
        (XPU, ("cuda", "rocm"), "ok", "nothing of cuda, rocm"),
        (library("demo/_C.so", needed=("libmpi.so.40",)), ("mpi",), "fail", "built for mpi, for it has or needs lib"),
        (library("demo/_C.so", needed=("libccl.so.1",)), ("xccl",), "fail", "built for xccl, for it has or needs lib"),
        (XPU, (), "info", "nothing was to be left out"),
    ],
)
def test_what_is_left_out(one: Any, without: tuple[str, ...], level: str, seen: str) -> None:
    found = findings(one, wanted=wheel_contents.Wanted(without=without))["others"]
    assert (found[0], found[1][: len(seen)]) == (level, seen)


BUNDLE = "__CLANG_OFFLOAD_BUNDLE__sycl-spir64"


@pytest.mark.parametrize(
    ("held", "arch", "level", "seen"),
    [
        ({"images": ()}, "pvc,bmg", "fail", "no device code, whatever list a library names"),
        ({"images": ()}, None, "info", "no list of GPUs was asked for, and no image for one of Intel's is in it"),
        ({"images": (BUNDLE,)}, "pvc,bmg", "fail", "nothing was compiled ahead of time: all its device code is SPIR-V"),
        ({"images": (BUNDLE,)}, "none", "warn", "no library names this list"),
        ({"images": (BUNDLE, f"{BUNDLE}_gen")}, "pvc,bmg", "ok", "likely built for these: named in libtorch_xpu.so"),
        ({"images": (".tgtimg",)}, "pvc,bmg", "ok", "likely built for these: named in libtorch_xpu.so"),
        ({"images": (), "registers": True}, "pvc,bmg", "ok", "likely built for these: named in libtorch_xpu.so"),
    ],
)
def test_a_list_of_gpus_passes_only_beside_device_code(
    held: dict[str, Any], arch: str | None, level: str, seen: str
) -> None:
    """PyTorch's own text of what it was built for is there whatever its compiler made of that."""
    one = replace(XPU, **held)
    member = wheel_contents.WheelMember(one.path, library=one, found=frozenset({"pvc,bmg"}))
    wheel = wheel_contents.WheelContents(f"demo-1.0-{TAG}.whl", 1, "00", "demo", "1.0", (TAG,), (), (), (member,))
    found = importlib.import_module("helperlib.wheel.libraries").check_arch(wheel, wheel_contents.Wanted(arch=arch))
    assert (found.level, found.seen[: len(seen)]) == (level, seen)


@pytest.mark.parametrize(
    ("sections", "arch", "level", "seen"),
    [
        ((BUNDLE, f"{BUNDLE}_gen"), "pvc,bmg", "fail", "none for bmg: compiled from SPIR-V when it is first used"),
        ((f"{BUNDLE}_gen",), "pvc,bmg", "fail", "none for bmg: never, there is no SPIR-V in it"),
        ((f"{BUNDLE}_gen",), "pvc", "ok", "2 device images, for pvc"),
        ((BUNDLE, f"{BUNDLE}_gen"), None, "info", "; on another GPU compiled from SPIR-V when it is first used"),
        ((f"{BUNDLE}_gen",), None, "info", "; on another GPU never, there is no SPIR-V in it"),
    ],
)
def test_a_gpu_runs_it_natively_or_compiles_it_or_never(
    sections: tuple[str, ...], arch: str | None, level: str, seen: str
) -> None:
    images = importlib.import_module("helperlib.wheel.images")
    one = replace(XPU, images=sections, targets=images.Targets(frozenset({"12.60"}), 2, generic=BUNDLE in sections))
    member = wheel_contents.WheelMember(one.path, library=one)
    wheel = wheel_contents.WheelContents(f"demo-1.0-{TAG}.whl", 1, "00", "demo", "1.0", (TAG,), (), (), (member,))
    found = importlib.import_module("helperlib.wheel.libraries").check_arch(wheel, wheel_contents.Wanted(arch=arch))
    assert (found.level, found.seen[-len(seen) :]) == (level, seen)


def test_kernels_that_the_offline_compiler_refused_are_named() -> None:
    images = importlib.import_module("helperlib.wheel.images")
    refused = (("dg2", "_ZTS1A"), ("dg2", "_ZTS1B"))
    one = replace(XPU, images=(".lrodata",), targets=images.Targets(frozenset({"12.55", "12.60"}), 2, refused=refused))
    found = findings(one, wanted=wheel_contents.Wanted(xpu=True, arch="pvc,dg2"))["arch"]
    assert found == ("warn", "2 device images, for dg2-g10, pvc; for dg2 it lacks _ZTS1A, _ZTS1B")


def test_what_is_built_without_a_device_compiler_on_purpose() -> None:
    wanted = wheel_contents.Wanted(xpu=True, arch="pvc,bmg", host_alone=True)
    found = findings(replace(XPU, images=()), wanted=wanted)
    assert found["xpu"] == ("warn", "libtorch_xpu.so needs libsycl.so.8; no device code, as it was to be")
    assert found["arch"] == ("warn", "no device code, whatever list a library names")
    assert findings(XPU, wanted=wanted)["xpu"][0] == "fail"


@pytest.mark.parametrize(
    ("counts", "wanted", "level"),
    [((9, 1), 1, "ok"), ((9, 1), 0, "fail"), ((0, 4), 0, "ok"), ((0, 4), 1, "fail"), ((0, 0), 1, "warn")],
)
def test_abi(counts: tuple[int, int], wanted: int, level: str) -> None:
    torch = library("torch/lib/libc10.so", new_strings=counts[0], old_strings=counts[1])
    other = library("torch/lib/libother.so", new_strings=50, old_strings=50)
    assert findings(torch, other, wanted=wheel_contents.Wanted(abi=wanted))["abi"][0] == level


NEEDS: dict[str, Any] = {"path": "torch/_C.so", "needed": ("libtorch.so",)}
TORCH = library("torch/lib/libtorch.so")


@pytest.mark.parametrize(
    ("libraries", "level", "seen"),
    [
        ((library(**NEEDS, runpath=("$ORIGIN/lib",)), TORCH), "ok", "all relative"),
        ((library(**NEEDS, runpath=("${ORIGIN}/../torch/lib",)), TORCH), "ok", "all relative"),
        ((library(**NEEDS, runpath=("$ORIGIN",)), TORCH), "fail", "not found beside it: torch/_C.so needs libtorch.so"),
        ((library(**NEEDS), TORCH), "fail", "not found beside it: torch/_C.so needs libtorch.so"),
        ((library("torch/bin/test", needed=("libtorch.so",)), TORCH), "warn", "not found beside it: torch/bin/test"),
        ((library(**NEEDS, runpath=("/home/me/lib",)),), "warn", "torch/_C.so looks in /home/me/lib"),
        ((library(**NEEDS, runpath=("/scratch/me/lib",)),), "fail", "torch/_C.so looks in /scratch/me/lib"),
        ((library(**NEEDS, runpath=("/opt/intel/oneapi/lib",)),), "warn", "torch/_C.so looks in /opt/intel/oneapi/lib"),
        ((library(**NEEDS, runpath=("",)),), "warn", "torch/_C.so looks in the current folder"),
        ((library(**NEEDS, runpath=("/made/src/build",)),), "fail", "torch/_C.so looks in /made/src/build"),
        # RPATH, unlike RUNPATH, serves the libraries that are loaded by its owner as well.
        (
            (library("torch/_C.so", rpath=("$ORIGIN/lib",)), library("torch/x.so", needed=("libtorch.so",)), TORCH),
            "ok",
            "",
        ),
        (
            (library("demo-1.0.data/platlib/torch/_C.so", needed=("libtorch.so",), rpath=("$ORIGIN/lib",)), TORCH),
            "ok",
            "",
        ),
    ],
)
def test_library_search(libraries: tuple[Any, ...], level: str, seen: str) -> None:
    found = findings(*libraries, wanted=wheel_contents.Wanted(forbidden=("/made/src",)))["rpath"]
    assert (found[0], found[1][: len(seen)]) == (level, seen)


@pytest.mark.parametrize(("folder", "level"), [("/scratch/me/python/lib", "warn"), ("/scratch/me/other/lib", "fail")])
def test_the_folder_of_the_interpreter_is_no_defect(folder: str, level: str) -> None:
    """A Python that has a shared library of its own writes that folder into every extension, by its own flags."""
    wanted = wheel_contents.Wanted(interpreter="/scratch/me/python/lib")
    found = findings(library("demo.so", rpath=(folder,)), wanted=wanted)["rpath"]
    assert found[:2] == (level, f"demo.so looks in {folder}")


@pytest.mark.parametrize(
    ("needed", "requires", "level", "seen"),
    [
        ("libc.so.6", (), "info", "requires nothing"),
        ("libtorch_cpu.so", (), "info", "requires nothing"),
        ("libze_loader.so.1", (), "info", "requires nothing"),
        ("libsycl.so.9", ("intel-sycl-rt==2026.1.0",), "ok", "intel-sycl-rt==2026.1.0"),
        ("libumf.so.1", ("Intel_SYCL.rt==2026.1.0",), "ok", "Intel_SYCL.rt==2026.1.0"),
        ("libsycl.so.9", (), "warn", "not required: x.so needs libsycl.so.9, which intel-sycl-rt brings"),
        ("libsycl.so.9", ("umf>=1",), "fail", "not required: x.so needs libsycl.so.9, which intel-sycl-rt brings"),
        ("libsycl.so.9", ('intel-sycl-rt; extra == "gpu"', "umf"), "fail", "not required: x.so needs libsycl.so.9"),
        ("libpng16.so.16", ("filelock",), "warn", "neither in the wheel nor of a distribution that is known: x.so"),
    ],
)
def test_requirements_hold_what_is_needed(needed: str, requires: tuple[str, ...], level: str, seen: str) -> None:
    found = _judge_requirements("demo/x.so", needed, requires)
    assert (found.level, found.seen[: len(seen)]) == (level, seen)


def test_what_a_plug_in_needs_stops_nothing() -> None:
    """Nobody loads it who does not ask for it, as libarcher.so in the published intel-openmp."""
    found = _judge_requirements("demo/libx.so", "libsycl.so.9", ("umf>=1",))
    assert found[:2] == ("warn", "not required: libx.so needs libsycl.so.9, which intel-sycl-rt brings")


@pytest.mark.parametrize(
    ("needed", "owner"), [("libdnnl.so.3", "onednn"), ("libhwloc.so.15", "tcmlib"), ("libsycl.so.8", "intel-sycl-rt")]
)
def test_a_manylinux_wheel_that_requires_nothing_does_not_load(needed: str, owner: str) -> None:
    """As cyllama-sycl 0.7.0, whose modules need SYCL's run time and oneDNN."""
    members = (wheel_contents.WheelMember("demo/x.so", library=library("demo/_x.abi3.so", needed=(needed,))),)
    tag = "cp311-cp311-manylinux_2_28_x86_64"
    wheel = wheel_contents.WheelContents(f"demo-1.0-{tag}.whl", 1, "00", "demo", "1.0", (tag,), (), (), members)
    found = importlib.import_module("helperlib.wheel.runtime").check_requires(wheel, wheel_contents.Wanted())
    assert (found.level, found.seen) == ("fail", f"not required: _x.abi3.so needs {needed}, which {owner} brings")


def _judge_requirements(path: str, needed: str, requires: tuple[str, ...]) -> Any:
    members = (wheel_contents.WheelMember(path, library=library(path, needed=(needed,))),)
    wheel = wheel_contents.WheelContents(f"demo-1.0-{TAG}.whl", 1, "00", "demo", "1.0", (TAG,), requires, (), members)
    return importlib.import_module("helperlib.wheel.runtime").check_requires(wheel, wheel_contents.Wanted())


@pytest.mark.parametrize(
    ("files", "seen"),
    [
        ({}, "no library in it"),
        ({"demo/x.pyd": b"MZ"}, "libraries of Windows, which are not read"),
        ({"demo/.dylibs/x.dylib": b"\xcf\xfa"}, "libraries of macOS, which are not read"),
    ],
)
def test_libraries_that_are_not_read_are_not_denied(tmp_path: Path, files: dict[str, bytes], seen: str) -> None:
    document = run_inspector(tmp_path, "--wheel", make_wheel(tmp_path / "wheels", files))[1]
    said = {check["id"].removeprefix("wheel."): check["seen"] for check in document["checks"]}
    assert {said[name] for name in ("xpu", "arch", "abi", "needed", "rpath", "floor")} == {seen}


def test_a_wheel_that_is_not_torch_says_what_it_is_linked_to() -> None:
    assert findings(library("demo/x.so"))["xpu"] == ("info", "no torch in it; nothing in it needs SYCL's runtime")
    asks = library("demo/x.so", needed=("libsycl.so.9",))
    assert findings(asks)["xpu"] == ("info", "no torch in it; libsycl.so.9 is needed by x.so")


def test_versions_of_system_libraries() -> None:
    assert wheel_contents.highest_versions(["GLIBC_2.9", "GLIBC_2.28", "GLIBC_PRIVATE", "GLIBCXX_3.4.21"]) == {
        "GLIBC": "2.28",
        "GLIBCXX": "3.4.21",
    }
    floors = ((("GLIBC", "2.9"),), (("GLIBC", "2.28"),))
    named = (library(f"{index}.so", floor=floor) for index, floor in enumerate(floors))
    assert findings(*named)["floor"] == ("info", "GLIBC 2.28 (1.so); manylinux_2_28 at best")


@pytest.mark.parametrize(
    ("tag", "one", "level"),
    [
        ("musllinux_1_2_x86_64", {"needed": ("libc.so.6",)}, "fail"),
        ("musllinux_1_2_x86_64", {"floor": (("GLIBC", "2.2.5"),)}, "fail"),
        ("musllinux_1_2_x86_64", {"needed": ("libc.musl-x86_64.so.1",)}, "info"),
        ("manylinux_2_28_x86_64", {"needed": ("libc.musl-x86_64.so.1",)}, "fail"),
        ("manylinux_2_28_x86_64", {"needed": ("libc.so",)}, "fail"),
        ("manylinux2014_x86_64", {"needed": ("libc.so.6",), "floor": (("GLIBC", "2.17"),)}, "info"),
        ("manylinux_2_17_x86_64", {"floor": (("GLIBC", "2.28"),)}, "warn"),
        ("linux_x86_64", {"needed": ("libc.musl-x86_64.so.1",)}, "info"),
    ],
)
def test_a_tag_promises_the_c_library_that_it_is_linked_to(tag: str, one: dict[str, Any], level: str) -> None:
    member = wheel_contents.WheelMember("demo/a.so", library=library("demo/a.so", **one))
    tags = (f"{PYTHON}-{PYTHON}-{tag}",)
    wheel = wheel_contents.WheelContents(f"demo-1.0-{tags[0]}.whl", 1, "00", "demo", "1.0", tags, (), (), (member,))
    check = importlib.import_module("helperlib.wheel.libraries").check_floor
    assert check(wheel, wheel_contents.Wanted()).level == level


SOURCE = """
#include <string>
__attribute__((section(".tgtimg"), used)) const char image[] = "spir64_gen -device pvc,bmg";
std::size_t size_of(const std::string& text) { return text.size(); }
"""


def compile_library(folder: Path, *, abi: int, options: tuple[str, ...]) -> bytes:
    """Make what stands for libtorch_xpu.so: a section for device code, a need for libsycl.so.8, a string."""
    (folder / "xpu.cpp").write_text(SOURCE)
    compiler = ("g++", "-shared", "-fPIC", f"-D_GLIBCXX_USE_CXX11_ABI={abi}", "-Wl,--no-as-needed")
    for command in (
        ("g++", "-shared", "-o", "libsycl.so", "-Wl,-soname,libsycl.so.8", "-x", "c++", "/dev/null"),
        (*compiler, "-o", "libtorch_xpu.so", "xpu.cpp", "-L.", "-lsycl", *options),
    ):
        subprocess.run(command, cwd=folder, check=True, capture_output=True)
    return (folder / "libtorch_xpu.so").read_bytes()


@pytest.mark.e2e
@pytest.mark.parametrize("abi", [0, 1])
def test_a_compiled_library(tmp_path: Path, abi: int) -> None:
    content = compile_library(tmp_path, abi=abi, options=("-Wl,-rpath,$ORIGIN:/usr/none", "-Wl,--enable-new-dtags"))
    wheel = make_wheel(tmp_path / "wheels", {"torch/lib/libtorch_xpu.so": content})
    wanted = ("--requires-xpu", "--abi", str(abi), "--arch", "pvc,bmg", "--needed", "libsycl.so.*")
    code, document = run_inspector(tmp_path, "--wheel", wheel, *wanted)
    assert code == 0
    assert document["libraries"][0]["rpath"] == ["$ORIGIN", "/usr/none"]
    assert "libsycl.so.8" in document["libraries"][0]["needed"]
    told = levels(document)
    assert {name: told[name] for name in ("xpu", "arch", "abi", "needed", "rpath")} == {
        **dict.fromkeys(("xpu", "arch", "abi", "needed"), "ok"),
        "rpath": "warn",
    }
    assert run_inspector(tmp_path, "--wheel", wheel, "--abi", str(1 - abi))[0] == 1
    assert "GLIBC" in {check["id"]: check["seen"] for check in document["checks"]}["wheel.floor"]
