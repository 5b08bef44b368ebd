"""How the toolkit is provided, changes, and is of no use: builds of torch alone, in one root of each era."""

import os
import shutil
import zipfile
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest

from standins.eras import Built, Eras, Stand, run
from standins.oneapi import make_dpclang, make_oneapi
from standins.repository import write_text

pytestmark = pytest.mark.e2e
OLD = pytest.param("torch-2.5", marks=pytest.mark.xdist_group("eras-2.5"))
NEW = pytest.param("torch-2.14", marks=pytest.mark.xdist_group("eras-2.14"))
old, new = pytest.mark.parametrize("name", [OLD]), pytest.mark.parametrize("name", [NEW])

MODULE = """
export CMPLR_ROOT={oneapi}/compiler/latest PTI_ROOT={oneapi}/pti/latest
export PATH=$CMPLR_ROOT/bin:$PATH LIBRARY_PATH=$CMPLR_ROOT/lib LD_LIBRARY_PATH=$CMPLR_ROOT/lib
"""


def build_torch(eras: Eras, stand: Stand, name: str, *args: str, site: str = "", **more: str) -> Built:
    return stand.build(eras.trial(name), "--only", "torch", *args, site=site, **more)


def sourced(stand: Stand) -> dict[str, str]:
    """Give the environment of a shell in which setvars.sh was sourced."""
    command = ("bash", "-c", f". {stand.oneapi}/setvars.sh >/dev/null; env -0")
    done = run(command, {"PATH": os.environ["PATH"]}, stand.base)
    return dict(entry.partition("=")[::2] for entry in done.stdout.split("\0") if entry)


def has_xpu(built: Built) -> bool:
    assert "torch.build" in built.result["ran"]
    checks = built.read("results/torch.inspect.json")["checks"]
    return ("wheel.xpu", "ok") in [(check["id"], check["level"]) for check in checks]


@pytest.mark.long
@old
def test_component_scripts(eras: Eras, name: str) -> None:
    built = build_torch(eras, eras.stand(name), name, site='[toolkit]\nprovider = "scripts"\n')
    assert has_xpu(built)
    assert "oneapi-vars.sh" in (built.root / "steps/torch.build.sh").read_text()


@pytest.mark.long
@new
def test_setvars(eras: Eras, name: str) -> None:
    built = build_torch(eras, eras.stand(name), name, site='[toolkit]\nprovider = "setvars"\n')
    assert has_xpu(built)
    assert "setvars.sh" in (built.root / "steps/torch.build.sh").read_text()


@pytest.mark.long
@old
def test_environment_modules(eras: Eras, name: str, tmp_path: Path) -> None:
    stand = eras.stand(name)
    write_text(tmp_path / "module.sh", MODULE.format(oneapi=stand.oneapi))
    site = f'[toolkit]\nprovider = "modules"\nprelude = ["source {tmp_path}/module.sh"]\n'
    built = build_torch(eras, stand, name, site=site, ONEAPI_ROOT="")
    assert has_xpu(built)
    assert f"source {tmp_path}/module.sh" in (built.root / "steps/torch.build.sh").read_text()


@pytest.mark.long
@old
def test_the_environment_as_it_is(eras: Eras, name: str) -> None:
    stand = eras.stand(name)
    assert has_xpu(build_torch(eras, stand, name, site='[toolkit]\nprovider = "environment"\n', **sourced(stand)))


@pytest.mark.long
@new
def test_a_new_toolkit_compiles_anew_and_fetches_nothing(eras: Eras, name: str, tmp_path: Path) -> None:
    stand = replace(eras.stand(name), oneapi=make_oneapi(tmp_path / "oneapi", version="2026.1.0"))
    only = ("--only", "torch", "--only", "vision")
    build = partial(stand.build, eras.trial(name), *only, site=f'[toolkit]\nroot = "{stand.oneapi}"\n')
    before = build().read("manifest.json")
    newer = make_oneapi(tmp_path / "newer", version="2026.1.2")
    shutil.rmtree(stand.oneapi / "compiler")
    (newer / "compiler").rename(stand.oneapi / "compiler")
    built = build()
    assert {"torch.configure", "torch.build", "torch.install", "vision.build"} <= set(built.result["ran"])
    assert not {"venv", "requirements", "torch.fetch", "vision.fetch"} & set(built.result["ran"])
    versions = [document["target"]["toolkit"]["version"] for document in (before, built.read("manifest.json"))]
    assert versions == ["2026.1.0", "2026.1.2"]
    for component, source in (("torch", "core.cpp"), ("torch", "add.cpp"), ("vision", "vision.cpp")):
        assert source in (built.root / f"logs/{component}.build.log").read_text(), "compiled by the old one"


@old
def test_no_toolkit_ends_with_3_and_names_the_packages(eras: Eras, name: str, tmp_path: Path) -> None:
    write_text(tmp_path / "etc/os-release", "ID=debian\nVERSION_ID=12\n")
    nowhere = {"ONEAPI_ROOT": "", "HOME": str(tmp_path), "XPUSETUP_SYSROOT": str(tmp_path)}
    built = eras.stand(name).build(tmp_path / "root", **nowhere)
    error = built.document["error"]
    assert (built.code, error["code"]) == (3, 3)
    assert "apt-get install -y intel-for-pytorch-gpu-dev-0.5 intel-pti-dev-0.9" in error["fix"]
    assert not (tmp_path / "root").exists()


def without_headers(stand: Stand, folder: Path, version: str) -> Stand:
    """Give a toolkit that says its version and compiles nothing."""
    oneapi = make_oneapi(folder / "oneapi", version=version)
    shutil.rmtree(oneapi / "compiler/latest/include/sycl")
    return replace(stand, oneapi=oneapi)


def causes(built: Built) -> list[str]:
    """Give what a failed step is put down to, best first."""
    assert built.code == 1, built.document
    return [cause["id"] for cause in built.document["result"]["failure"]["causes"]]


@pytest.mark.long
@old
def test_the_old_era_stops_where_cmake_decides_against_xpu(eras: Eras, name: str, tmp_path: Path) -> None:
    stand = without_headers(eras.stand(name), tmp_path, "2024.1.2")
    built = build_torch(eras, stand, name, site=f'[toolkit]\nroot = "{stand.oneapi}"\n')
    assert causes(built)[0] == "configure.sycl_not_found"
    assert built.document["result"]["failed"] == "torch.configure"
    assert "torch.build" not in built.document["result"]["ran"]


@pytest.mark.long
@old
def test_a_host_compiler_of_intel_leaves_xpu_out(eras: Eras, name: str) -> None:
    built = build_torch(eras, eras.stand(name), name, "--set", "torch.CXX=icpx", site=" ")
    assert causes(built)[0] == "configure.wrong_host_cxx"
    assert built.document["result"]["failed"] == "torch.configure"


@new
def test_the_new_era_stops_by_itself(eras: Eras, name: str, tmp_path: Path) -> None:
    stand = without_headers(eras.stand(name), tmp_path, "2026.1.1")
    built = build_torch(eras, stand, name, site=f'[toolkit]\nroot = "{stand.oneapi}"\n')
    log = (built.root / "logs/torch.configure.log").read_text()
    assert "XPU was explicitly requested (USE_XPU=1)" in log
    assert causes(built)[0] == "configure.sycl_not_found"
    assert built.document["result"]["failed"] == "torch.configure"


@pytest.mark.long
@new
def test_the_open_compiler(eras: Eras, name: str, tmp_path: Path) -> None:
    """Found in the site's folder, put on the paths of the steps that compile, and needed by the wheel itself."""
    stand, folder = eras.stand(name), make_dpclang(tmp_path / "dpc")
    site = f'[toolkit]\nroot = "{folder}"\n'
    root = tmp_path / "root"
    built = stand.build(root, "--only", "torch", "--toolkit", "dpclang", site=site, ONEAPI_ROOT="")
    assert has_xpu(built)
    assert built.read("manifest.json")["target"]["toolkit"]["version"] == "7.0.0"
    for step in ("torch.configure", "torch.build"):
        assert "icpx" not in (built.root / f"steps/{step}.sh").read_text()
    log = (built.root / "logs/torch.configure.log").read_text()
    assert f"{folder}/bin/dpclang++" in log
    (wheel,) = (each for each in built.result["wheels"] if each["name"] == "torch")
    with zipfile.ZipFile(wheel["path"]) as archive:
        metadata = next(archive.read(each).decode() for each in archive.namelist() if each.endswith("/METADATA"))
    assert "intel-sycl-rt" not in metadata
    again = stand.build(root, "--only", "torch", "--toolkit", "dpclang", site=site, ONEAPI_ROOT="")
    assert again.result["ran"] == []
    said = stand.call("env", "--root", root, site=site).stdout
    assert f"{folder}/lib" in said, "its library is switched on where the wheel runs"


@new
def test_an_open_compiler_that_is_too_old_is_refused_before_anything_is_fetched(
    eras: Eras, name: str, tmp_path: Path
) -> None:
    folder = make_dpclang(tmp_path / "dpc", version="6.2.0")
    site = f'[toolkit]\nroot = "{folder}"\n'
    built = eras.stand(name).build(tmp_path / "root", "--toolkit", "dpclang", site=site, ONEAPI_ROOT="")
    assert built.code == 3
    assert (
        "open SYCL compiler: here: 6.2.0; accepted: >=7,<8: PyTorch counts the open compiler 6 as oneAPI 2025"
        in (built.document["error"]["message"])
    )
    assert not (tmp_path / "root").exists()


@new
def test_a_target_that_this_ocloc_does_not_know_is_refused_before_anything_is_fetched(
    eras: Eras, name: str, tmp_path: Path
) -> None:
    built = eras.stand(name).build(tmp_path / "root", "--only", "torch", "--arch", "pvc,bmg-g31", site=" ")
    assert built.code == 3
    error = built.document["error"]
    assert "ocloc does not know bmg-g31" in error["message"]
    assert "--arch pvc" in error["fix"]
    assert not (tmp_path / "root").exists()
