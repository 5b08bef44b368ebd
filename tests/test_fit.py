"""fits: what stands against a wheel beside a torch, from libraries made by hand, and what is made of it."""

from __future__ import annotations

import importlib
import json
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest
from packaging.tags import Tag

from data.elf import make_elf
from data.places import PLACES
from standins.wheels import pack_wheel
from test_wheel_images import SECTION, archive
from test_wheel_images import make_elf as make_sections
from xpusetup.base.document import read_as
from xpusetup.base.errors import UsageError
from xpusetup.base.model import Misfit
from xpusetup.commands import wheel_fits
from xpusetup.config.shipped import versions_beside
from xpusetup.machine.companions import TorchThere
from xpusetup.machine.fit import (
    FitTarget,
    FitTorch,
    describe,
    judge_fit,
    judge_installed,
    mend_command,
    name_misfits,
)
from xpusetup.machine.fit_read import DeviceCode, FitLibrary, FitProblem, InspectedFit, Inspection, SeenTorch, in_words

if TYPE_CHECKING:
    from pathlib import Path

inspect_fit: Any = importlib.import_module("inspect_fit")
elf_file: Any = importlib.import_module("helperlib.elf.file")
wheel_fit: Any = importlib.import_module("helperlib.wheel.fit")

NEW = "_ZN3c105ErrorC1ENSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEE"
OLD = "_ZN3c105ErrorC1ESs"
DEF = "_ZN5torch7Library4_defEv"
SHIM = "aoti_torch_get_dtype"


# The hash table of names, by which a library of half a gigabyte is asked for a few of them.


@pytest.mark.parametrize("count", [0, 1, 2, 9])
def test_a_name_is_found_by_its_hash(count: int) -> None:
    names = [f"name{number}" for number in range(count)]
    elf = elf_file.Elf(make_elf(names, asked=("other", "more")))
    index = elf_file.SymbolIndex(elf)
    assert (index.all, [name for name in (*names, "name10", "other", "") if index.has(name)]) == (None, names)
    assert elf_file.read_symbols(elf).names == frozenset(names)
    assert [one.name for one in elf_file.read_asked(elf)] == ["other", "more"]
    assert sorted(index.starting("name")) == names
    assert [*index.starting("name1")] == names[1:2]
    assert [*index.starting("ot")] == []


@pytest.fixture(autouse=True)
def _mangled(monkeypatch: pytest.MonkeyPatch) -> None:
    """Leave c++filt alone, which is a process."""
    monkeypatch.setattr(inspect_fit.shutil, "which", lambda _: None)


# What the helper says of a wheel and a folder of torch's libraries.


def look(capsys: pytest.CaptureFixture[str], folder: Path, files: dict[str, bytes], **torch: bytes) -> Any:
    """Give what is said of a wheel with these files beside a torch whose libraries these are."""
    place = folder / "torch/lib"
    place.mkdir(parents=True)
    (folder / "torch/version.py").write_text("__version__ = '2.13.0+cpu'\n")
    for name, content in torch.items():
        (place / f"{name}.so").write_bytes(content)
    wheel = pack_wheel(folder / "wheels", "acme", "1.0", files, requires=["torch==2.12.0"])
    assert inspect_fit.main([str(wheel), "--torch-folder", str(place), "--sysroot", str(folder / "nothing")]) == 0
    return json.loads(capsys.readouterr().out)


TORCH = {
    "libtorch_global_deps": make_elf(soname="libtorch_global_deps.so"),
    "libtorch": make_elf(
        needed=("libtorch_cpu.so", "libc10.so", "libcudart.so.13"), soname="libtorch.so", runpath="$ORIGIN"
    ),
    "libtorch_cpu": make_elf((DEF, SHIM), soname="libtorch_cpu.so"),
    "libc10": make_elf((NEW,), soname="libc10.so"),
}
LOADED = ["libtorch_global_deps.so", "libtorch.so"]
CORE = ("libtorch_cpu.so", "libc10.so")


@pytest.mark.parametrize(
    ("asked", "needed", "told"),
    [
        ((DEF, NEW), CORE, []),
        ((SHIM,), CORE, []),
        (("PyLong_FromLong", DEF), CORE, []),
        ((OLD,), CORE, [("abi", OLD, True)]),
        (("_ZN2at4goneEv",), CORE, [("torch", "_ZN2at4goneEv", True)]),
        (("aoti_torch_new",), CORE, [("torch", "aoti_torch_new", True)]),
        (("of_cuda",), (*CORE, "libcudart.so.13"), [("symbol", "of_cuda", False)]),
        ((), (*CORE, "libcudart.so.12"), [("major", "libcudart.so.12", True)]),
        ((), (*CORE, "libcudart.so.13"), []),
        ((), ("libtorch_xpu.so",), [("library", "libtorch_xpu.so", True)]),
        ((), ("libavcodec.so.60",), [("library", "libavcodec.so.60", False)]),
    ],
)
def test_what_stands_against_a_library(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, asked: tuple[str, ...], needed: tuple[str, ...], told: list[Any]
) -> None:
    document = look(capsys, tmp_path, {"acme/_C.so": make_elf(asked=asked, needed=needed)}, **TORCH)
    assert document["torch"] == {"version": "2.13.0+cpu", "libraries": LOADED}
    (wheel,) = document["wheels"]
    (one,) = wheel["libraries"]
    assert [(each["kind"], each["names"][0], each["certain"]) for each in one["problems"]] == told
    assert (wheel["requires"], one["path"], one["group"]) == (["torch==2.12.0"], "acme/_C.so", "acme/_C")


def test_a_library_for_another_processor(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    (wheel,) = look(capsys, tmp_path, {"acme/_C.so": make_elf(machine=183)}, **TORCH)["wheels"]
    assert [each["kind"] for each in wheel["libraries"][0]["problems"]] == ["machine"]


def test_what_torch_has_by_that_name_is_told(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    document = look(capsys, tmp_path, {"acme/_C.so": make_elf(asked=(f"{DEF[:-1]}i",), needed=CORE)}, **TORCH)
    (problem,) = document["wheels"][0]["libraries"][0]["problems"]
    assert (problem["near"], problem["first"].rpartition("/")[2]) == ([DEF], "libtorch_cpu.so")


def test_libraries_of_the_wheel_serve_each_other(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """By no search path, as torchaudio's: Python opens the one first that the other one needs."""
    files = {
        "acme/_C.so": make_elf(asked=("helper",), needed=("libacme.so",)),
        "acme/lib/libacme.so": make_elf(("helper",), soname="libacme.so"),
    }
    libraries = look(capsys, tmp_path, files, **TORCH)["wheels"][0]["libraries"]
    assert [(one["path"], one["problems"]) for one in libraries] == [("acme/_C.so", [])]


def test_what_cannot_be_read_is_told(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    (wheel,) = look(capsys, tmp_path, {"acme/_C.so": make_elf()[:90]}, **TORCH)["wheels"]
    assert [each.partition(":")[0] for each in wheel["troubles"]] == ["_C.so"]
    (problem,) = wheel["libraries"][0]["problems"]
    assert (problem["kind"], problem["certain"]) == ("file", True)
    broken = tmp_path / "acme-2.0-py3-none-any.whl"
    broken.write_bytes(b"PK no")
    assert inspect_fit.main([str(broken), "--no-torch"]) == 0
    assert "cannot be read" in json.loads(capsys.readouterr().out)["wheels"][0]["broken"]


def narrow(content: bytes) -> bytes:
    """Make it one of 32 bits, for i686."""
    return content[:4] + b"\1" + content[5:18] + b"\3\0" + content[20:]


@pytest.mark.parametrize(
    ("name", "content", "answer", "reason"),
    [
        ("_C.cpython-311-x86_64-linux-gnu.so", narrow(make_elf()), "does_not_fit", "so: it is for i686"),
        ("_C.abi3.so", make_elf()[:90], "does_not_fit", "so: it was cut off"),
        ("_C.abi3.so", b"", "does_not_fit", "so: it is empty"),
        ("_C.abi3.so", b"\xcf\xfa\xed\xfe", "does_not_fit", "so: it is a library of macOS"),
        ("_C.abi3.so", b"version https://git-lfs.github.com/spec/v1", "does_not_fit", "it is a pointer of git-lfs"),
        ("_C.abi3.so", make_elf(machine=183), "does_not_fit", "is for aarch64, and that torch for x86_64"),
        ("_C.cpython-311-darwin.so", b"\xcf\xfa\xed\xfe", "fits", "it is Python alone"),
        ("libacme.so", narrow(make_elf()), "unknown", "so: it is for i686"),
        ("libacme.so", b"INPUT(libc10.so)", "fits", "it is Python alone"),
        ("libacme.so", b"", "fits", "it is Python alone"),
    ],
)
def test_what_is_no_library_of_this_machine_is_told_by_what_it_is(
    capsys: pytest.CaptureFixture[str], tmp_path: Path, name: str, content: bytes, answer: str, reason: str
) -> None:
    found = read_as(Inspection, look(capsys, tmp_path, {f"acme/{name}": content}, **TORCH))
    told = judge_fit(replace(found.wheels[0], requires=[]), replace(TARGET, tags=None))
    assert (told.answer, reason in told.reason) == (answer, True), told.reason


def test_a_torch_in_a_wheel_is_read_in_it(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    inside = {f"torch/lib/{name}.so": content for name, content in TORCH.items()}
    torch = pack_wheel(tmp_path / "torch", "torch", "2.13.0", inside)
    wheel = pack_wheel(tmp_path, "acme", "1.0", {"acme/_C.so": make_elf(asked=(OLD,), needed=CORE)})
    assert inspect_fit.main([str(wheel), "--torch-wheel", str(torch)]) == 0
    document = json.loads(capsys.readouterr().out)
    assert document["torch"] == {"version": "2.13.0", "libraries": LOADED}
    assert [each["kind"] for each in document["wheels"][0]["libraries"][0]["problems"]] == ["abi"]


# What lies in an environment already.


def install(place: Path, distribution: str, files: dict[str, bytes]) -> None:
    """Put a distribution into an environment, with its list of files."""
    info = f"{distribution}.dist-info"
    for name, content in files.items():
        (place / name).parent.mkdir(parents=True, exist_ok=True)
        (place / name).write_bytes(content)
    (place / info).mkdir()
    (place / info / "RECORD").write_text("".join(f"{name},,\n" for name in (*files, f"{info}/RECORD")))


def test_what_is_linked_with_torch_is_looked_at(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    place = tmp_path / "lib/python3.11/site-packages"
    install(place, "torch-2.13.0", {f"torch/lib/{name}.so": content for name, content in TORCH.items()})
    install(place, "sound-1.0", {"sound/_C.so": make_elf(asked=(DEF,), needed=CORE)})
    install(place, "other_abi-2.0", {"other/_C.so": make_elf(asked=(OLD,), needed=CORE)})
    install(place, "not_linked-3.0", {"alone/_C.so": make_elf(asked=(OLD,))})
    install(place, "cut-4.0", {"cut/_C.so": make_elf(asked=(DEF,), needed=CORE), "cut/_D.so": make_elf()[:90]})
    install(place, "text-5.0", {"text/_C.so": b"INPUT(libc10.so)"})
    for name, asked in (("half_of", "torch (>=2)"), ("half-beside", "torchvision")):
        install(place, f"{name}-1.0+cpu", {f"{name}/_C.abi3.so": b""})
        (place / f"{name}-1.0+cpu.dist-info/METADATA").write_text(f"Name: {name}\nRequires-Dist: {asked}\n\ntorch\n")
    assert inspect_fit.main(["--installed", "--prefix", str(tmp_path), "--sysroot", str(tmp_path / "nothing")]) == 0
    found = read_as(Inspection, json.loads(capsys.readouterr().out))
    told = {one.name: [each.kind for row in one.libraries for each in row.problems] for one in found.wheels}
    assert told == {"sound": [], "other-abi": ["abi"], "cut": ["file"], "half-of": ["file"]}
    assert [one.name for one in found.wheels if one.troubles] == ["cut", "half-of"]
    cut, half, misfit = name_misfits(found, "3.11")
    assert (half.reason, half.damaged) == ("cannot be loaded here: _C.abi3.so: it is empty", True)
    assert (cut.name, cut.damaged, misfit.damaged) == ("cut", True, False)
    assert (misfit.name, misfit.version) == ("other-abi", "2.0")
    assert misfit.reason.startswith("was made for another torch: _C.so was built with the other C++ ABI: it needs ")


def test_without_a_wheel_or_an_environment_there_is_nothing_to_look_at(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        inspect_fit.main(["--no-torch"])
    assert "name a WHEEL, or --installed" in capsys.readouterr().err
    assert inspect_fit.main(["--no-torch", "--installed"]) == 0
    assert json.loads(capsys.readouterr().out)["wheels"] == []


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("a/libcore4.so", "a/libcore8.so", True),
        ("b/libbits_cpu.so", "b/libbits_cuda118.so", True),
        ("b/libbits_xpu2025.so", "b/libbits_xpu2026.so", True),
        ("b/libbits_cuda118_nocublaslt.so", "b/libbits_cuda118.so", True),
        ("c/addon_torch24-cpu.so", "c/addon_torch210-cuda.so", True),
        ("a/libcore4.so", "b/libcore4.so", False),
        ("a/_C_mxfp8.so", "a/_C_cutlass_90a.so", False),
        ("a/libtorchvision.so", "a/libtorchaudio.so", False),
        ("a/_C.so", "a/image.so", False),
        ("a/_C.abi3.so", "a/_C_flash.abi3.so", False),
    ],
)
def test_variants_of_a_library_are_of_one_group(one: str, other: str, same: bool) -> None:
    assert (wheel_fit.group_of(one) == wheel_fit.group_of(other)) is same


# What is made of it.


TARGET = FitTarget(
    torch=FitTorch(version="2.13.0+cpu", where="/env", read=True, python="3.11"),
    tags=frozenset({Tag("cp311", "cp311", "linux_x86_64"), Tag("py3", "none", "any")}),
    known={"torchvision": "0.28.0"},
)
WHEEL = InspectedFit(
    file="torchvision-0.25.0-cp311-cp311-linux_x86_64.whl",
    name="torchvision",
    version="0.25.0",
    tags=[],
    requires=["numpy", "torch==2.10.0", "gdown>=4; extra == 'gdown'"],
    python=">=3.10",
    libraries=[],
    compiled=1,
    troubles=[],
    overwrites={},
    device=DeviceCode(gpus=[], names=[], generic=False, trouble=""),
    broken="",
)


def problem(kind: Any = "torch", name: str = "at::gone()", *, certain: bool = True, **more: Any) -> FitProblem:
    words = {"count": 1, "first": "torch/lib/libtorch_cpu.so", "near": [], **more}
    return FitProblem(kind=kind, library="torchvision/_C.so", names=[name], certain=certain, **words)


def library(
    *problems: FitProblem, path: str = "torchvision/_C.so", group: str = "", foreign: bool = False
) -> FitLibrary:
    return FitLibrary(path=path, group=group or path, torch=3, stable=2, foreign=foreign, problems=list(problems))


def judged(*libraries: FitLibrary, target: FitTarget = TARGET, **words: Any) -> Any:
    return judge_fit(replace(WHEEL, libraries=list(libraries), **words), target)


UNSURE = problem("library", "libavcodec.so.60", certain=False)


@pytest.mark.parametrize(
    ("libraries", "answer", "reason"),
    [
        ((library(),), "fits", "all 5 names that it asks torch for are there, of its C++ interface"),
        ((library(problem()),), "does_not_fit", "_C.so needs at::gone(), which that torch has not"),
        ((library(UNSURE),), "unknown", "_C.so needs libavcodec.so.60, which is found nowhere"),
        ((library(UNSURE, problem()),), "does_not_fit", "_C.so needs at::gone(), which that torch has not"),
        ((library(UNSURE), library(problem(), path="b")), "does_not_fit", "_C.so needs at::gone()"),
        ((library(problem(), group="g"), library(path="b", group="g")), "fits", "all 10 names"),
        ((library(problem(), group="g"), library(UNSURE, path="b", group="g")), "unknown", "_C.so needs libavcodec"),
        ((library(), library(problem(), path="b", foreign=True)), "fits", "all 5 names"),
        ((library(), library(problem(), path="_D.cpython-310-x86_64-linux-gnu.so")), "fits", "all 10 names"),
        ((library(), library(problem(), path="_D.cpython-311-x86_64-linux-gnu.so")), "does_not_fit", "_C.so needs"),
        ((library(problem(), path="_D.cpython-310-x86_64-linux-gnu.so"),), "does_not_fit", "_C.so needs"),
        ((library(problem(), foreign=True),), "does_not_fit", "_C.so needs at::gone()"),
        ((library(problem("symbol", "f"), problem("abi", "c10::f(std::string)")),), "does_not_fit", "_C.so was built"),
    ],
)
def test_answers(libraries: tuple[FitLibrary, ...], answer: str, reason: str) -> None:
    found = judged(*libraries)
    assert (found.answer, found.reason[: len(reason)]) == (answer, reason)


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        ({"file": "torchvision-0.25.0-cp312-cp312-linux_x86_64.whl"}, "it is for cp312-cp312-linux_x86_64"),
        ({"file": "torchvision.whl"}, "Invalid wheel filename"),
        ({"python": ">=3.12"}, "it requires Python >=3.12, and that torch is for 3.11"),
        ({"overwrites": {"triton 3.5.0": 40}}, "it would overwrite 40 files of triton 3.5.0"),
        ({"broken": "it cannot be read: cut off"}, "it cannot be read: cut off"),
        ({"compiled": 0}, "it requires torch==2.10.0, and that is torch 2.13.0+cpu"),
    ],
)
def test_what_else_is_against_a_wheel(words: dict[str, Any], reason: str) -> None:
    found = judged(*([] if words.get("compiled") == 0 else [library()]), **words)
    assert (found.answer, found.reason[: len(reason)]) == ("does_not_fit", reason)


ARC = {"Arc B580 (Battlemage)": ["bmg-g21"]}


@pytest.mark.parametrize(
    ("names", "more", "answer", "reason"),
    [
        ("pvc", {}, "does_not_fit", "its device code is for pvc, and none of it for Arc B580 (Battlemage)"),
        ("bmg-g21", {}, "fits", "all 5 names"),
        ("pvc", {"generic": True}, "fits", "all 5 names"),
        ("", {}, "fits", "all 5 names"),
        ("", {"trouble": "packed"}, "unknown", "its device code cannot be read: packed"),
    ],
)
def test_device_code_is_held_against_the_gpus_here(names: str, more: dict[str, Any], answer: str, reason: str) -> None:
    code = replace(WHEEL.device, gpus=names.split(), names=names.split(), **more)
    here = replace(TARGET, gpus=ARC)
    found = judged(library(), target=here, device=code)
    assert (found.answer, found.reason[: len(reason)]) == (answer, reason)
    assert ("its device code is for pvc: here it is compiled when it is first used" in found.notes) is bool(
        code.generic
    )
    assert judged(library(), device=code).answer == "fits", "no GPU is here"
    idle = library(problem("library", "libsycl.so.9"), path="_xpu.so", foreign=True)
    assert judged(library(), idle, target=here, device=code).answer == "fits", "its part for XPU is left over"


def test_a_wheel_that_goes_on_without_its_libraries_says_so() -> None:
    lost = problem("library", "libcudart.so.12")
    found = judged(replace(library(lost, foreign=True), optional=True))
    assert (found.answer, found.compiled) == ("fits", "does_not_load")
    assert found.reason.startswith("its Python works, and its compiled part does not load: _C.so needs libcudart.so.12")
    needed = judged(library(lost, foreign=True))
    assert (needed.answer, needed.compiled) == ("does_not_fit", "does_not_load")


def test_a_part_for_the_accelerator_of_that_torch_is_not_spare() -> None:
    """Of xpu-kernels beside a torch for XPU, whose libsycl is of another major."""
    other = problem("major", "libsycl.so.8")
    found = judged(replace(library(other, foreign=True), optional=True))
    assert (found.answer, found.compiled) == ("does_not_fit", "does_not_load")


@pytest.mark.parametrize("optional", [False, True])
@pytest.mark.parametrize("kind", ["library", "major", "torch"])
def test_what_is_installed_is_judged_as_its_wheel(kind: str, optional: bool) -> None:
    """Of torchao `wheel fits` said that it does not fit, and doctor said nothing."""
    one = replace(library(problem(kind, "libcudart.so.12"), foreign=True), optional=optional)
    wheel = replace(WHEEL, libraries=[one])
    installed = judge_installed(wheel, TARGET.torch)
    found = judge_fit(wheel, TARGET)
    assert (found.answer, found.reason) == (installed.answer, installed.reason)


def test_device_code_of_a_wheel_is_read(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    files = {"acme/_C.so": make_sections(**{SECTION: archive("64.12.60.7/", "64.12.55.8/")})}
    (wheel,) = look(capsys, tmp_path, files, **TORCH)["wheels"]
    names = ["acm-g10", "ats-m150", "dg2-g10", "pvc", "pvc-sdv", "xe-hpc"]
    assert wheel["device"] == {"gpus": ["dg2-g10", "pvc"], "names": names, "generic": False, "trouble": ""}


def test_the_gpus_here(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of the saved facts of a machine with a B580."""
    monkeypatch.setattr(wheel_fits, "probe", lambda _sections: PLACES["b580-ubuntu-26.04"])
    assert wheel_fits._gpus() == ARC


def test_variants_for_other_releases_of_torch_are_not_opened() -> None:
    """As torch-c-dlpack-ext, which has one for each: that of another release could be loaded, and is not."""
    variants = [library(path=f"a/lib_torch{number}-cpu.so", group="a/lib_") for number in ("24", "29", "210")]
    found = judged(*variants)
    assert (found.answer, found.reason) == (
        "does_not_fit",
        "it has libraries for torch 2.4, 2.9, 2.10, and none for 2.13.0+cpu",
    )
    assert judged(*variants, library(path="a/lib_torch213-cpu.so", group="a/lib_")).answer == "fits"


@pytest.mark.parametrize(
    ("kind", "name", "told"),
    [
        ("torch", "at::gone()", "was made for another torch: "),
        ("abi", "c10::f()", "was made for another torch: "),
        ("major", "libsycl.so.8", "was made for another torch: "),
        ("library", "libtorch_xpu.so", "was made for another torch: "),
        ("library", "libavcodec.so.60", "cannot be loaded here: "),
        ("symbol", "f", "cannot be loaded here: "),
    ],
)
def test_what_is_installed_is_judged_by_its_libraries_alone(kind: str, name: str, told: str) -> None:
    """Not by the tags of a name that it no longer has, and not by what its metadata asks for."""
    bad = replace(WHEEL, file="", python=">=3.99", libraries=[library(problem(kind, name))])
    sound = replace(WHEEL, file="", libraries=[library()])
    unsure = replace(WHEEL, file="", libraries=[library(UNSURE)], troubles=["_D.so: cut off"])
    torch = SeenTorch(version="2.13.0+cpu", libraries=[])
    found = name_misfits(Inspection(torch=torch, wheels=[sound, bad, unsure], plain={name: name}), "3.11")
    assert [(one.name, one.version, one.reason[: len(told)]) for one in found] == [("torchvision", "0.25.0", told)]


@pytest.mark.parametrize(
    ("torch", "version", "command"),
    [
        ("2.13.0+cpu", "0.25.0", "install --no-deps torchvision==0.28.0+cpu --index-url {index}/cpu"),
        ("2.13.0+own", "0.25.0", "install --no-deps torchvision==0.28.0+cpu --index-url {index}/cpu"),
        ("2.13.0", "0.25.0", "install --no-deps torchvision==0.28.0"),
        ("2.13.0", "0.28.0", "uninstall --yes torchvision"),
    ],
)
def test_the_command_that_mends(torch: str, version: str, command: str) -> None:
    told = mend_command(Misfit("torchvision", version, ""), "/env/bin/python", TorchThere(torch, TARGET.known))
    assert told == f"/env/bin/python -m pip {command.format(index='https://download.pytorch.org/whl')}"


def test_what_is_damaged_comes_anew() -> None:
    bad = Misfit("torchvision", "0.28.0+xpu", "", damaged=True)
    told = mend_command(bad, "python", TorchThere("2.13.0+cpu", TARGET.known))
    assert told == (
        "python -m pip install --no-deps --force-reinstall torchvision==0.28.0+xpu"
        " --index-url https://download.pytorch.org/whl/xpu"
    )


def test_a_wheel_without_files_fits_as_what_it_requires_does() -> None:
    plain = replace(WHEEL, compiled=0, libraries=[], requires=["torchcodec-xpu"])
    found = judge_fit(replace(plain, hollow="meta"), TARGET)
    assert (found.answer, "torchcodec-xpu" in found.reason) == ("unknown", True)
    assert judge_fit(plain, TARGET).answer == "fits"


@pytest.mark.parametrize(
    ("version", "reason", "command"),
    [
        ("2.13.0", "libtorch_npu.so needs libhccl.so, which is found nowhere", "source /usr/local/Ascend"),
        ("2.13.0", "libtorch_npu.so needs libtorch_cuda.so, which is found nowhere", "python -m pip uninstall"),
        ("2.14.0", "libtorch_npu.so needs libhccl.so, which is found nowhere", "python -m pip install"),
    ],
)
def test_what_a_script_of_cann_switches_on_is_not_missing(version: str, reason: str, command: str) -> None:
    told = mend_command(Misfit("torch_npu", version, reason), "python", TorchThere("2.13.0+cpu"))
    assert told.startswith(command)
    assert ("torch-npu==2.13.0.*" in told) == (version == "2.14.0")


def test_what_would_fit() -> None:
    assert judged(library(problem())).instead == "torchvision==0.28.0+cpu"
    assert judged(library(problem()), target=replace(TARGET, known={})).instead == "torch==2.10.0"
    assert judged(library(problem()), target=replace(TARGET, known={}), requires=[]).instead is None
    assert judged(library()).instead is None


def test_a_requirement_of_another_torch_is_a_note_where_all_names_are_there() -> None:
    notes = judged(library()).notes
    assert [note.partition(":")[0] for note in notes] == [
        "it requires torch==2.10.0",
        "only names were compared, not the layout of the classes behind them",
    ]
    assert judged(library(), requires=["torch>=2.10"]).notes == []


def test_without_the_libraries_of_that_torch_it_is_not_known() -> None:
    target = replace(TARGET, torch=replace(TARGET.torch, read=False), tags=None)
    assert judged(target=target).answer == "unknown"
    assert judged(target=target, compiled=0, requires=["torch>=2"]).answer == "fits"
    assert judged(library(), target=target, python=">=3.12").answer == "does_not_fit"


@pytest.mark.parametrize(
    ("kind", "says"),
    [
        ("file", "_C.so: X"),
        ("machine", "is for X, and that torch for libtorch_cpu.so"),
        ("version", "needs X of libtorch_cpu.so, which that one has not"),
        ("major", "needs X, and libtorch_cpu.so is what that torch has"),
        ("library", "needs X, which is found nowhere"),
        ("abi", "the other C++ ABI: it needs X and 2 more"),
        ("torch", "needs X and 2 more, which that torch has not; it has Y"),
        ("symbol", "needs X and 2 more, which nothing here has"),
    ],
)
def test_each_problem_has_words(kind: str, says: str) -> None:
    assert says in describe(problem(kind, "X", count=3, near=["Y"]))


# Where the torch is.


def test_versions_that_belong_to_a_release() -> None:
    assert versions_beside("2.13.0+cpu")["torchvision"].partition("+")[0] == "0.28.0"
    assert (versions_beside("1.0"), versions_beside("")) == ({}, {})


def test_tags_of_another_python() -> None:
    found = wheel_fits._tags("3.13t")
    assert found is not None
    abis = {(each.interpreter, each.abi) for each in found}
    assert ("cp313", "cp313t") in abis
    assert not abis & {("cp313", "cp313"), ("cp313", "abi3"), ("cp311", "cp311")}
    assert wheel_fits._tags("") is None


@pytest.mark.parametrize("name", ["torch.whl", "acme-1.0-py3-none-any.whl", "none", "empty"])
def test_what_is_no_torch(tmp_path: Path, name: str) -> None:
    (tmp_path / "empty").mkdir()
    (tmp_path / "torch.whl").touch()
    (tmp_path / "acme-1.0-py3-none-any.whl").touch()
    with pytest.raises(UsageError):
        wheel_fits._find_torch(str(tmp_path / name))


def test_a_folder_of_torch_says_its_python(tmp_path: Path) -> None:
    (tmp_path / "torch/lib").mkdir(parents=True)
    (tmp_path / "torch/lib/libtorch_cpu.so").touch()
    (tmp_path / "torch/_C.cpython-313t-x86_64-linux-gnu.so").touch()
    assert wheel_fits._find_torch(str(tmp_path)).python == "3.13t"


def test_what_the_helper_writes_is_what_the_program_reads(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    document = look(capsys, tmp_path, {"acme/_C.so": make_elf(asked=(OLD,), needed=CORE)}, **TORCH)
    inspection = read_as(Inspection, document)
    plain = in_words(inspection.wheels[0], {OLD: "c10::Error::Error(std::string)"})
    assert plain.libraries[0].problems[0].names == ["c10::Error::Error(std::string)"]
