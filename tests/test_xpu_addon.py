"""XPU for an installed torch: which sources and operators it takes, what it changes in them, what it refuses."""

from __future__ import annotations

import hashlib
import importlib
import json
import shutil
import sys
import types
import zipfile
from base64 import urlsafe_b64encode
from pathlib import Path
from typing import Any

import pytest

from data.addon_trees import TABLE, write_trees

change: Any = importlib.import_module("helperlib.addon.change")
generate: Any = importlib.import_module("helperlib.addon.generate")
graph: Any = importlib.import_module("helperlib.addon.graph")
installed: Any = importlib.import_module("helperlib.addon.installed")
loader: Any = importlib.import_module("helperlib.addon.loader")
operators: Any = importlib.import_module("helperlib.addon.operators")
packing: Any = importlib.import_module("helperlib.addon.pack")
source: Any = importlib.import_module("helperlib.addon.source")
OWN = Path(operators.__file__).parent / "files"


@pytest.fixture
def trees(tmp_path: Path) -> Path:
    return write_trees(tmp_path)


def choose(trees: Path, *names: str) -> Any:
    return operators.choose(trees / "torch", trees / "ops", names)


# Which operators and sources are taken.


def test_without_a_list_all_is_taken_and_the_table_stays(trees: Path) -> None:
    choice = choose(trees)
    assert [path.stem for path in choice.kernels] == ["Drawn", "Half", "Thrice", "Twice"]
    assert choice.operators == [
        *("both.out", "direct", "drawn_", "flat", "half", "lost", "scaled", "seen", "thrice", "twice.out"),
    ]
    assert (choice.left_out, choice.table) == ([], TABLE)


def test_an_operator_is_taken_with_the_kernels_that_it_needs(trees: Path) -> None:
    choice = choose(trees, "Twice")
    assert choice.operators == ["both.out", "flat", "seen", "twice.out"]
    assert choice.left_out == ["direct", "drawn_", "half", "lost", "scaled", "thrice"]
    assert [path.name for path in choice.hosts] == ["Host.cpp"]


def test_all_but_one_source_leaves_out_what_is_seen_to_need_it(trees: Path) -> None:
    choice = operators.choose(trees / "torch", trees / "ops", (), ("Half", "NoSuch"))
    assert [path.stem for path in choice.kernels] == ["Drawn", "Thrice", "Twice"]
    assert "lost" in choice.operators  # nobody sees its function: by a list of sources it would be left out
    assert {"half", "direct"} <= set(choice.left_out)
    assert "    CUDA: half_xpu\n" in choice.table


def test_what_falls_back_is_another_devices_in_the_table(trees: Path) -> None:
    table = choose(trees, "Twice").table
    assert "    XPU: twice_out\n    SparseCUDA: twice_sparse_out\n" in table
    assert "    CUDA: thrice_xpu\n" in table
    assert "    MPS: both_out\n" in choose(trees, "Thrice").table  # torchgen refuses a ufunc that names CUDA
    assert "#   XPU: nothing\n" in table


def test_helpers_structs_and_macros_are_followed_but_no_methods(trees: Path) -> None:
    assert "thrice" in choose(trees, "Thrice").operators  # by a helper; self.half_xpu() is dispatched anew
    assert "drawn_" in choose(trees, "Drawn").operators  # by a struct with the stub
    assert "thrice" not in choose(trees, "Half").operators


def test_what_calls_another_operator_as_xpus_own_needs_that_one(trees: Path) -> None:
    assert "direct" not in choose(trees, "Twice").operators
    assert {"direct", "half"} <= set(choose(trees, "Half").operators)


def test_a_stub_is_there_by_its_kernel_whatever_it_is_called(trees: Path) -> None:
    assert "scaled" in choose(trees, "Half").operators  # ScaleKernel, filled with a function before a kernel
    assert "both.out" in choose(trees, "Half").operators  # one of its two kernels is there
    assert "both.out" not in choose(trees, "Thrice").operators


def test_a_kernel_that_another_source_has_for_other_arguments_is_there_with_both(trees: Path) -> None:
    (trees / "ops/src/ATen/native/xpu/sycl/Again.cpp").write_text("void twice_kernel(const Tensor& a, bool b) {}")
    assert "twice.out" not in choose(trees, "Twice").operators
    assert "twice.out" in choose(trees, "Twice", "Again").operators


def test_a_list_names_sources_and_sets_of_them(trees: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(operators.SETS, "processor", ("Twice", "Drawn"))
    assert operators.read_sources("processor", trees / "ops") == ["Twice", "Drawn"]
    assert operators.read_sources("Half, processor,Twice", trees / "ops") == ["Half", "Twice", "Drawn"]
    assert operators.read_sources("all", trees / "ops") == []
    with pytest.raises(installed.AddonError, match=r"no source Other$"):
        operators.read_sources("processor,Other", trees / "ops")


# What is refused, and what is edited.


def test_trees_of_one_release_are_taken(trees: Path) -> None:
    found = source.read_trees(trees / "torch", trees / "ops")
    assert (found.release, found.pin) == ("2.6.0", "a" * 40)


@pytest.mark.parametrize(
    ("gone", "why"),
    [
        ("torch/version.txt", "no source tree of PyTorch"),
        ("torch/third_party/xpu.txt", "no source tree of PyTorch with XPU"),
        ("ops/yaml/native/native_functions.yaml", "no source tree of torch-xpu-ops"),
        ("ops/tools/codegen/remove_headers.py", "in a way that is not known here"),
    ],
)
def test_other_trees_are_refused(trees: Path, gone: str, why: str) -> None:
    (trees / gone).unlink()
    with pytest.raises(installed.AddonError, match=why):
        source.read_trees(trees / "torch", trees / "ops")


def test_an_edit_that_is_not_found_as_often_as_it_should_be_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.cpp"
    path.write_text("device.is_gpu() device.is_gpu() sycl::backend::ext_oneapi_level_zero")
    with pytest.raises(installed.AddonError, match="found 2 times instead of 1"):
        source.edit(path, source.PROCESSOR["c10/xpu/XPUFunctions.cpp"], tmp_path / "out.cpp")
    assert not (tmp_path / "out.cpp").exists()


def torch(**changes: Any) -> Any:
    told = {"version": "2.6.0+cu124", "git": "b" * 40, "xpu": False, "cxx11_abi": 0, "pybind": {}, "folder": Path("/t")}
    told |= {"headers": Path("/p"), "suffix": ".so", "python": "cp311", "platform": "linux_x86_64"}
    return installed.BaseTorch(**{**told, **changes})


def test_a_torch_with_xpu_and_one_of_another_version_are_refused_before_its_library_is_read() -> None:
    with pytest.raises(installed.AddonError, match="was built with XPU"):
        installed.check_torch(torch(xpu=True), "2.6.0")
    with pytest.raises(installed.AddonError, match=r"2\.6\.0\+cu124 is installed.*2\.7\.0"):
        installed.check_torch(torch(), "2.7.0")


@pytest.mark.parametrize(("device", "edited", "split"), [("gpu", 0, False), ("processor", 5, True)])
def test_upstreams_files_are_edited_for_the_processor_alone(
    trees: Path, monkeypatch: pytest.MonkeyPatch, device: str, edited: int, split: bool
) -> None:
    seen: list[str] = []

    def note(_path: Path, _edits: object, out: Path) -> Path:
        seen.append(out.name)
        return out

    monkeypatch.setattr(generate, "_run_torchgen", lambda *_: None)
    monkeypatch.setattr(generate, "edit", note)
    found = source.read_trees(trees / "torch", trees / "ops")
    choice = choose(trees)
    before = trees / "work/overlay/comm/DeviceProperties.h"
    generate.keep(before, "of a build for the processor")
    made = generate.generate(trees / "work", found, torch(), Path("python"), choice, device)
    assert seen[0] == "DispatchStub.h"  # a torch without XPU has no place for its kernels, whatever the device
    assert len(seen) - 1 == edited
    assert len(made.edited) == (3 if edited else 0)
    assert before.exists() == (device == "processor")
    home = types.SimpleNamespace(folder=Path("/tk"), interface=types.SimpleNamespace(number="20260100"))
    work = graph.Work(trees / "work", found, torch(), home, device, OWN)
    graph.write_graph(work, made, choice)
    assert ("-fsycl-device-code-split=per_kernel" in (trees / "work/build.ninja").read_text()) == split


# A change that is tried.


def tried(trees: Path) -> tuple[Any, Any]:
    """Give a build of the kernels of Twice, and a tree beside its own in which nothing is another way yet."""
    work = trees / "work"
    found = source.read_trees(trees / "torch", trees / "ops")
    copy = change.compare(trees / "ops", work / "ops")
    copy.sync()
    generate.keep(work / "build.ninja", "")
    generate.keep(work / generate.STAMP, generate._made_of(found, torch(), choose(trees, "Twice")))
    shutil.copytree(trees / "ops", trees / "mine")
    return found._replace(ops=trees / "mine"), work


def test_what_is_the_same_in_a_tree_stays_as_it_was_in_the_copy_of_another(trees: Path) -> None:
    mine, work = tried(trees)
    assert change.compare(mine.ops, work / "ops").changed == []
    native = mine.ops / "src/ATen/native/xpu"
    (native / "Host.cpp").write_text("other")
    (native / "Drawn.cpp").unlink()
    (native / "New.h").write_text("new")
    (mine.ops / "README.md").write_text("is read by people alone")
    before = {path: path.stat().st_mtime_ns for path in (work / "ops").rglob("*.cpp") if path.name != "Host.cpp"}
    copy = change.compare(mine.ops, work / "ops")
    assert copy.changed == [f"src/ATen/native/xpu/{name}" for name in ("Drawn.cpp", "Host.cpp", "New.h")]
    copy.sync()
    assert change.compare(mine.ops, work / "ops").changed == []
    assert {path.name for path, date in before.items() if not path.exists()} == {"Drawn.cpp"}
    assert all(path.stat().st_mtime_ns == date for path, date in before.items() if path.exists())


@pytest.mark.parametrize(
    ("file", "text", "why", "fix"),
    [
        ("src/ATen/native/xpu/sycl/Half.cpp", "other", "needs src/ATen/native/xpu/sycl/Half.cpp", "SOURCES,Half"),
        ("src/ATen/native/xpu/Drawn.cpp", "other", "needs src/ATen/native/xpu/Drawn.cpp", "the whole build"),
        ("src/ATen/native/xpu/sycl/New.cpp", "new", "needs src/ATen/native/xpu/sycl/New.cpp", "SOURCES,New"),
        ("cmake/BuildFlags.cmake", "new", "how it is built: cmake/BuildFlags.cmake", "nothing here reads"),
        ("yaml/native/native_functions.yaml", TABLE.replace("thrice_xpu", "other_xpu"), "operators that XPU", "whole"),
        (generate.FALLBACK, "other", "operators that XPU has", "the whole build"),
        ("src/ATen/native/xpu/Host.cpp", "REGISTER_XPU_DISPATCH(half_stub, f)", "operators that XPU has", "whole"),
    ],
)
def test_a_change_that_needs_more_than_the_sources_of_the_build_is_refused(
    trees: Path, file: str, text: str, why: str, fix: str
) -> None:
    mine, work = tried(trees)
    (mine.ops / file).parent.mkdir(exist_ok=True)
    (mine.ops / file).write_text(text)
    copy = change.compare(mine.ops, work / "ops")
    with pytest.raises(installed.AddonError, match=why) as caught:
        change.refuse(copy, mine, torch(), operators.choose(mine.torch, mine.ops, ["Twice"]))
    assert fix in caught.value.fix


def test_a_change_of_a_source_that_is_there_is_taken_and_one_before_the_first_build_is_not(trees: Path) -> None:
    mine, work = tried(trees)
    (mine.ops / "src/ATen/native/xpu/sycl/Twice.cpp").write_text("void twice_kernel(const Tensor& self) { other(); }")
    copy = change.compare(mine.ops, work / "ops")
    change.refuse(copy, mine, torch(), operators.choose(mine.torch, mine.ops, ["Twice"]))
    (work / "build.ninja").unlink()
    with pytest.raises(installed.AddonError, match="was not built here yet"):
        change.refuse(copy, mine, torch(), operators.choose(mine.torch, mine.ops, ["Twice"]))


# What is packed, and what loads it.


ABOUT = {"name": packing.NAME, "device": "processor", "torch": "2.6.0+cu124", "torch_git": "b" * 40}


def linked(tmp_path: Path, site: Path = Path("/s")) -> tuple[Any, Any]:
    """Give what is packed: a work for a torch of a site, and libraries."""
    places = [tmp_path / name for name in ("libc10_xpu.so", "libtorch_xpu.so", "_bindings.so")]
    for path in places:
        path.write_bytes(path.name.encode())
    libraries = types.SimpleNamespace(c10=places[0], torch=places[1], bindings=places[2])
    home = types.SimpleNamespace(wheels={"intel-sycl-rt": "2026.1.2"})
    return types.SimpleNamespace(torch=torch(folder=site / "torch"), home=home, device="processor", own=OWN), libraries


def packed(tmp_path: Path) -> Path:
    wheel: Path = packing.pack(*linked(tmp_path), ABOUT, tmp_path / "out")
    return wheel


def test_a_wheel_says_for_which_device_it_is_and_what_it_requires(tmp_path: Path) -> None:
    wheel = packed(tmp_path)
    assert wheel.name == "xpusetup_torch_xpu-2.6.0+processor-cp311-cp311-linux_x86_64.whl"
    with zipfile.ZipFile(wheel) as archive:
        info = "xpusetup_torch_xpu-2.6.0+processor.dist-info"
        metadata = archive.read(f"{info}/METADATA").decode()
        assert "[torch.backends]\nxpusetup_torch_xpu = xpusetup_torch_xpu:load\n" in (
            archive.read(f"{info}/entry_points.txt").decode()
        )
        rows = dict(line.split(",", 1) for line in archive.read(f"{info}/RECORD").decode().splitlines())
        assert set(rows) == set(archive.namelist())
        digest = urlsafe_b64encode(hashlib.sha256(b"libc10_xpu.so").digest()).rstrip(b"=").decode()
        assert rows["xpusetup_torch_xpu/libc10_xpu.so"] == f"sha256={digest},13"
    assert "Requires-Dist: torch==2.6.0\n" in metadata
    assert "Requires-Dist: intel-sycl-rt==2026.1.2\n" in metadata
    assert wheel.read_bytes() == packed(tmp_path).read_bytes()


def test_what_is_installed_is_replaced_in_place_and_its_list_of_files_says_so(tmp_path: Path) -> None:
    site = tmp_path / "site"
    with zipfile.ZipFile(packed(tmp_path)) as archive:
        archive.extractall(site)
    package, record = site / "xpusetup_torch_xpu", next(site.glob("*.dist-info/RECORD"))
    before, (work, libraries) = record.read_text(), linked(tmp_path, site)
    assert packing.replace_installed(work, libraries, ABOUT) == []
    assert record.read_text() == before
    for text in (b"second", b"third"):
        libraries.torch.write_bytes(text)
        assert packing.replace_installed(work, libraries, ABOUT) == ["libtorch_xpu.so"]
        assert (package / "libtorch_xpu.so").read_bytes() == text
        assert (package / "libtorch_xpu.so.wheel").read_bytes() == b"libtorch_xpu.so"
    rows = dict(line.split(",", 1) for line in record.read_text().splitlines())
    assert len(rows) == len(before.splitlines()) + 2  # the kept one, and who installed
    assert (record.parent / "INSTALLER").read_text() == "xpusetup\n"
    for name in ("libtorch_xpu.so", "libtorch_xpu.so.wheel", "libc10_xpu.so"):
        digest = hashlib.sha256((package / name).read_bytes()).digest()
        assert rows[f"{package.name}/{name}"].startswith(f"sha256={urlsafe_b64encode(digest).rstrip(b'=').decode()},")


def test_what_is_not_installed_for_this_torch_cannot_be_replaced(tmp_path: Path) -> None:
    with pytest.raises(installed.AddonError, match="is not installed for this torch"):
        packing.replace_installed(*linked(tmp_path, tmp_path / "site"), ABOUT)
    with zipfile.ZipFile(packed(tmp_path)) as archive:
        archive.extractall(tmp_path / "site")
    with pytest.raises(installed.AddonError, match="is not installed for this torch"):
        packing.replace_installed(*linked(tmp_path, tmp_path / "site"), {**ABOUT, "torch_git": "c" * 40})


def test_opencl_is_told_of_its_processor_where_that_is_the_device(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OCL_ICD_FILENAMES", "PYTORCH_ENABLE_XPU_FALLBACK"):
        monkeypatch.setenv(name, "")
        monkeypatch.delenv(name)
    import os  # noqa: PLC0415 - what it holds is looked at after each call

    loader.prepare({"device": "gpu"})
    assert os.environ["PYTORCH_ENABLE_XPU_FALLBACK"] == "1"
    assert "OCL_ICD_FILENAMES" not in os.environ
    loader.prepare({"device": "processor"})
    assert os.environ["OCL_ICD_FILENAMES"].endswith("libintelocl.so")


def test_a_torch_that_gets_xpu_says_so_as_one_that_was_built_with_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    about = {**ABOUT, "device": "gpu", "xpu": "20260102"}
    (tmp_path / "about.json").write_text(json.dumps(about))
    there: Any = types.SimpleNamespace(_C=types.SimpleNamespace(_has_xpu=False), __version__="2.6.0+cu124")
    there.version, there.__file__ = types.SimpleNamespace(git_version="b" * 40, xpu=None), "/t/__init__.py"
    bindings = types.SimpleNamespace(redirect=lambda _: None, bind=lambda _: None)
    monkeypatch.setitem(sys.modules, "torch", there)
    monkeypatch.setattr(loader, "HERE", tmp_path)
    monkeypatch.setattr(loader.importlib, "import_module", lambda _: bindings)
    monkeypatch.setattr(loader, "renew", lambda _: None)
    monkeypatch.setenv("PYTORCH_ENABLE_XPU_FALLBACK", "1")
    loader.load()
    assert (there._C._has_xpu, there.version.xpu) == (True, "20260102")


@pytest.mark.parametrize(
    ("version", "git", "xpu", "said"),
    [
        ("2.6.0+xpu", "b", True, "torch 2.6.0+xpu has XPU of its own"),
        ("2.6.0+cpu", "b", False, "it was built for torch 2.6.0+cu124, and this is 2.6.0+cpu; build it for this one"),
        (
            "2.6.0+cu124",
            "c",
            False,
            "it was built for torch 2.6.0+cu124, and this is 2.6.0+cu124; build it for this one",
        ),
        ("2.6.0+cu124", "b", False, ""),
    ],
)
def test_one_torch_alone_is_loaded_into(version: str, git: str, xpu: bool, said: str) -> None:
    there = types.SimpleNamespace(_C=types.SimpleNamespace(_has_xpu=xpu), __version__=version)
    there.version = types.SimpleNamespace(git_version=git)
    assert loader.refuse(there, {"torch": "2.6.0+cu124", "torch_git": "b"}) == said
