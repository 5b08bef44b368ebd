"""Triton from source, against a stand-in that fetches as the real setup.py and CMake files do."""

from __future__ import annotations

import json
import shutil
import tarfile
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from e2e.support import by_name
from standins.eras import SITES, can_be_taken_away, rules_of, run, xpusetup
from standins.repository import run_git, write_text
from standins.upstreams import TRITON

if TYPE_CHECKING:
    from pathlib import Path

    from standins.eras import Built, Eras, Stand

pytestmark = [pytest.mark.e2e, pytest.mark.xdist_group("triton")]
NAMES = [by_name("torch-2.4"), "torch-2.5"]
ONLY = ("--only", "triton", "--verify", "off")
LLVM = "llvm-{}-almalinux-x64.tar.gz"


ON_REQUEST = ["torch-2.7-source", "torch-2.14-source"]
"""Releases that take the wheel of a Triton whose setup.py lies in python, and of one whose CMake does the rest."""
TAKEN = ("--take", "triton=source")


def build(stand: Stand, root: Path, *more: str) -> Built:
    site = "" if stand.profile.stem in ON_REQUEST else SITES["torch-2.5"]
    return stand.build(root, *ONLY, *more, site=site)


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Give a folder for roots that live as long as the tests: one a release."""
    return tmp_path_factory.mktemp("triton")


def llvm_of(name: str) -> str:
    return LLVM.format(rules_of(name).llvm[:8])


@pytest.mark.long
@pytest.mark.parametrize("name", NAMES)
def test_it_is_built_from_what_was_fetched_before(eras: Eras, root: Path, name: str) -> None:
    """No step without a network asked for one (`result` sees to that), and the wheel holds what the tree names."""
    rules, built = rules_of(name), build(eras.stand(name), root / name)
    (wheel,) = built.result["wheels"]
    assert (wheel["name"], wheel["version"]) == ("pytorch-triton-xpu", rules.triton)
    assert [each["name"] for each in built.result["unverified"]] == [llvm_of(name)]
    python = ("-c", "import triton; print(triton.backend(), triton.__version__, *triton.backends)")
    said = run((f"{root / name}/venv/bin/python", *python), {"PATH": "/usr/bin:/bin"}, root)
    assert said.stdout == f"SPIR-V 1.6, {rules.llvm}, {rules.pybind11} {rules.triton} amd intel nvidia\n"
    log = (root / name / "logs/triton.build.log").read_text()
    assert "downloading" not in log
    again = build(eras.stand(name), root / name).result
    assert again["ran"] == []


@pytest.mark.parametrize("name", [by_name(name) for name in ON_REQUEST])
def test_it_is_built_where_that_is_asked_for(eras: Eras, root: Path, name: str) -> None:
    """From what was fetched before, into a wheel that serves the release's requirement; nothing is put into HOME."""
    rules, stand = rules_of(name), eras.stand(name)
    rev = stand.upstreams.revs["triton"]
    built = build(stand, root / name, *TAKEN)
    (wheel,) = built.result["wheels"]
    old = name == "torch-2.7-source"
    assert wheel["name"] == ("pytorch-triton-xpu" if old else "triton-xpu")
    assert wheel["version"] == f"{rules.triton}+git{rev[:8]}"
    assert [each["name"] for each in built.result["unverified"]] == ([llvm_of(name)] if old else [])
    python = ("-c", "import triton; print(triton.backend(), *triton.backends)")
    said = run((f"{root / name}/venv/bin/python", *python), {"PATH": "/usr/bin:/bin"}, root)
    assert said.stdout.startswith(f"SPIR-V 1.6, {rules.llvm}, {'2.' if old else '3.'}"), said.stderr
    assert said.stdout.endswith(" amd intel nvidia\n")
    assert "downloading" not in (root / name / "logs/triton.build.log").read_text()
    folder = root / name / "src/triton" / ("python/build" if old else "build")
    assert [link.readlink().name for link in folder.rglob(".triton/llvm/*")] == ["triton.llvm"]
    told = stand.call("status", "--root", root / name, "--json")
    fix = json.loads(told.stdout)["result"]["fix"]
    assert "--take triton=source" in fix
    words = (xpusetup(), "build", "--root", str(root / name), *ONLY, "--json")  # the root knows how it was built
    again = run(words, stand.environment(), stand.base)
    assert json.loads(again.stdout)["result"]["ran"] == [], again.stderr


@pytest.mark.long
def test_another_way_in_the_same_root(eras: Eras, tmp_path: Path) -> None:
    """From the wheel to source and back, each time Triton alone; what leaving it out costs is said."""
    name = "torch-2.7-source"
    stand = eras.stand(name)
    root = tmp_path / "root"
    wheel = build(stand, root).result
    assert [each["version"] for each in wheel["wheels"]] == [rules_of(name).triton]
    source = build(stand, root, *TAKEN).result
    assert source["ran"] == ["triton.fetch", "triton.build", "triton.inspect", "triton.install"]
    back = build(stand, root).result
    assert back["ran"] == ["triton.fetch", "triton.install"]
    plan = stand.call("plan", "--root", root, "--take", "triton=skip", "--json")
    told = json.loads(plan.stdout)["result"]
    assert not any(step["id"].startswith("triton.") for step in told["steps"])
    assert "triton is left out, as --take asks: torch.compile has no code generator for Intel GPUs" in told["notes"]
    assert any("pip uninstall --yes pytorch-triton-xpu" in note for note in told["notes"])


def changed(stand: Stand, folder: Path, old: str, new: str = "") -> Stand:
    """Give a stand whose profile lacks one thing that the build needs."""
    text = stand.profile.read_text()
    assert old in text, old
    write_text(folder / stand.profile.name, text.replace(old, new))
    return replace(stand, profile=folder / stand.profile.name)


CLONES = 'clones = ["https://github.com/KhronosGroup/SPIRV-LLVM-Translator"]\n'
OFFLINE = 'TRITON_OFFLINE_BUILD = "1"\n'
PROTON = 'TRITON_BUILD_PROTON = "0"\n'
PTXAS = 'TRITON_PTXAS_PATH = "left-out"\n'
UNIT_TESTS = '[components.defines]\nTRITON_BUILD_UT = "OFF"\n'
HEADERS = 'define = "LLVM_EXTERNAL_SPIRV_HEADERS_SOURCE_DIR"\n'


@pytest.mark.parametrize(
    ("name", "old", "said"),
    [
        by_name("torch-2.5", OFFLINE, "downloads.invalid"),
        by_name("torch-2.5", PROTON, "Requested an offline build but JSON_SYSPATH is not set"),
        ("torch-2.5", CLONES, "spirv-llvm-translator"),
        by_name("torch-2.5", HEADERS, "spirv-headers"),
        by_name("torch-2.4", PTXAS, "downloads.invalid"),
        by_name("torch-2.4", UNIT_TESTS, "googletest"),
        by_name("torch-2.7-source", OFFLINE, "downloading and extracting"),
        by_name("torch-2.14-source", OFFLINE, "downloads.invalid"),
        by_name("torch-2.14-source", PROTON, "CUPTI_INCLUDE_DIR"),
    ],
)
def test_what_it_would_fetch_itself_ends_the_build(
    eras: Eras, root: Path, tmp_path: Path, name: str, old: str, said: str
) -> None:
    """Each thing that the profile does for this build is needed: without it the step fails, mostly for the network."""
    more = TAKEN if name in ON_REQUEST else ()
    assert build(eras.stand(name), root / name, *more).result["failed"] is None
    stand = changed(eras.stand(name), tmp_path, old)
    for folder in ("python/build", "build"):  # what was cloned before lies there
        shutil.rmtree(root / name / "src/triton" / folder, ignore_errors=True)
    failed = build(stand, root / name, *more, "--set", "triton.BROKEN=1")
    assert failed.document["result"]["failed"] == "triton.build"
    log = (root / name / "logs/triton.build.log").read_text()
    assert said in log
    if can_be_taken_away() and not said.startswith(("Requested an offline build", "CUPTI_INCLUDE_DIR")):
        assert failed.document["result"]["reached_out"] or "it asked for the network" in log


@pytest.mark.long
def test_a_tree_that_was_made_for_another_llvm(eras: Eras, tmp_path: Path) -> None:
    """It is refused before anything compiles, with the way to take another; the folder that is named is taken."""
    stand, tree = eras.stand("torch-2.5"), tmp_path / "triton"
    run_git(tmp_path, "clone", "--quiet", "--branch", "v3.1.0", str(stand.upstreams.repos[TRITON]), str(tree))
    other = "0729a74e" + "0" * 32
    write_text(tree / "cmake/llvm-hash.txt", f"{other}\n")
    refused = build(stand, tmp_path / "root", "--source", f"triton={tree}")
    assert refused.document["result"]["failed"] == "triton.fetch"
    assert f"names {other}" in refused.failure
    assert "--set triton.LLVM_SYSPATH=DIR" in refused.failure
    mine = tmp_path / "llvm"
    with tarfile.open(stand.base / "archives" / llvm_of("torch-2.5")) as tar:
        tar.extractall(mine)  # noqa: S202 - made by these tests
    (made,) = mine.iterdir()
    config = made / "lib/cmake/mlir/MLIRConfig.cmake"
    write_text(config, config.read_text().replace(rules_of("torch-2.5").llvm, other))
    taken = build(stand, tmp_path / "root", "--source", f"triton={tree}", "--set", f"triton.LLVM_SYSPATH={made}")
    assert taken.result["unverified"] == []
    assert not (tmp_path / "root/src/triton.llvm").exists()


@pytest.mark.long
def test_a_bundle_holds_the_llvm(eras: Eras, tmp_path: Path) -> None:
    stand, name = eras.stand("torch-2.5"), "torch-2.5"
    created = stand.call("bundle create", tmp_path / "b.tar", "--root", tmp_path / "made", site=SITES[name])
    assert created.returncode == 0, created.stderr
    with tarfile.open(tmp_path / "b.tar") as tar:
        names = tar.getnames()
    assert {each for each in names if each.startswith("archives/")} == {
        f"archives/{llvm_of(name)}",
        f"archives/pybind11-{rules_of(name).pybind11}.tar.gz",
    }
    alone = replace(stand, base=tmp_path / "elsewhere")
    built = alone.build(tmp_path / "root", *ONLY, "--bundle", str(tmp_path / "b.tar"), site=SITES[name])
    assert [wheel["name"] for wheel in built.result["wheels"]] == ["pytorch-triton-xpu"]
