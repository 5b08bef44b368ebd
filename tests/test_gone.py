"""Files that packages list and that are not there: how they are found in an environment, and what mends it."""

from __future__ import annotations

import importlib
import json
import sys
from typing import TYPE_CHECKING, Any

import pytest

from data.machines import machine
from data.profiles import device, shipped
from xpusetup.doctor.gone import check_gone
from xpusetup.doctor.question import Question

if TYPE_CHECKING:
    from pathlib import Path

environments: Any = importlib.import_module("environment_libraries")
env_distributions: Any = importlib.import_module("helperlib.env.distributions")


def put(site: Path, title: str, *files: str, gone: tuple[str, ...] = (), needs: tuple[str, ...] = ()) -> None:
    """Install a distribution as pip leaves it, without the files that are gone."""
    name, _, version = title.partition(" ")
    info = site / f"{name}-{version}.dist-info"
    info.mkdir(parents=True)
    lines = [f"Requires-Dist: {each}\n" for each in needs]
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n{''.join(lines)}\n")
    (info / "RECORD").write_text("".join(f"{path},sha256=x,1\n" for path in (*files, *gone)))
    for path in files:
        (site / path).parent.mkdir(parents=True, exist_ok=True)
        (site / path).touch()


def found_in(site: Path) -> dict[str, tuple[str, ...]]:
    return {
        one.owner.title: one.paths
        for one in env_distributions.find_gone(env_distributions.read_distributions([str(site)]))
    }


def test_what_an_uninstall_took_along(tmp_path: Path) -> None:
    put(tmp_path, "triton_ascend 3.2.0", "triton/backends/ascend/__init__.py", gone=("triton/__init__.py",))
    assert found_in(tmp_path) == {"triton-ascend 3.2.0": ("triton/__init__.py",)}


def test_what_torch_requires_is_held_too_and_others_are_not(tmp_path: Path) -> None:
    put(
        tmp_path,
        "torch 2.14.1+xpu",
        "torch/__init__.py",
        needs=("intel_sycl.rt==2026.1.0 ; x == 'y'", "a; extra == 'b'"),
    )
    put(tmp_path, "intel_sycl_rt 2026.1.0", gone=("../../libsycl.so.9",), needs=("intel-cmplr-lib-ur",))
    put(tmp_path, "intel_cmplr_lib_ur 2026.1.0", gone=("../../libur_loader.so.0",))
    put(tmp_path, "a 1.0", gone=("a/__init__.py",))
    assert list(found_in(tmp_path)) == ["intel-cmplr-lib-ur 2026.1.0", "intel-sycl-rt 2026.1.0"]


def test_what_an_image_was_slimmed_of_is_no_loss(tmp_path: Path) -> None:
    put(
        tmp_path,
        "torch 2.14.1+xpu",
        "torch/__init__.py",
        "torch/cuda.pyc",
        gone=("torch/cuda.py", "torch/test/test_a.py", "torch/include/a.h", "torch/__pycache__/a.cpython-312.pyc"),
    )
    assert found_in(tmp_path) == {}


@pytest.mark.parametrize(("gone", "level"), [("triton/runtime/__init__.py", "fail"), ("triton/tools/link.py", "warn")])
def test_the_helper_tells_of_it(
    tmp_path: Path, gone: str, level: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    site = tmp_path / "lib/python3.12/site-packages"
    put(site, "triton_xpu 3.8.0", "triton/__init__.py", gone=(gone,))
    monkeypatch.setattr(sys, "argv", ["environment_libraries.py", "--prefix", str(tmp_path)])
    assert environments.main() == 0
    (one,) = json.loads(capsys.readouterr().out)["conflicts"]
    assert (one["kind"], one["level"], one["names"], one["count"]) == ("gone", level, [gone], 1)
    assert one["owners"] == {"library": "triton-xpu 3.8.0"}


def mended(title: str, torch: str, requires: tuple[str, ...] = (), **there: str) -> list[str]:
    gone = {"kind": "gone", "level": "fail", "names": ["x"], "count": 1, "owners": {"library": title}}
    name, _, version = title.partition(" ")
    told = {"python": "python3", "prefix": "/v", "kind": "venv", "version": torch, "conflicts": [gone]}
    facts = machine(torch={**told, "requires": list(requires), "distributions": {name: version, **there}})
    answer = check_gone(Question(facts, shipped("torch-2.14"), device("xpu"), "run"))
    assert answer is not None
    return answer.words["commands"].replace("python3 -m pip ", "").splitlines()


TRITONS = "uninstall --yes triton triton-xpu"
OF_XPU = "--index-url https://download.pytorch.org/whl/xpu"


def test_both_go_and_the_one_that_is_wanted_comes() -> None:
    told = mended("triton-ascend 3.2.0", "2.13.0+cpu")
    assert told == ["uninstall --yes triton triton-ascend", "install --no-deps triton-ascend==3.2.0"]
    assert mended("triton-xpu 3.8.0", "2.14.1+xpu") == [TRITONS, f"install --no-deps triton-xpu==3.8.0 {OF_XPU}"]


def test_what_torch_pins_comes_in_the_place_of_another_triton() -> None:
    told = mended("triton 3.9.0", "2.14.1+xpu", ("triton-xpu==3.8.0",))
    assert told == [TRITONS, f"install --no-deps triton-xpu==3.8.0 {OF_XPU}"]


def test_torch_and_the_run_time_come_again_as_they_were() -> None:
    assert mended("torch 2.14.1+xpu", "2.14.1+xpu")[1] == f"install --no-deps torch==2.14.1+xpu {OF_XPU}"
    assert mended("intel-sycl-rt 2026.1.0", "2.14.1+xpu") == [
        "uninstall --yes intel-sycl-rt",
        "install --no-deps intel-sycl-rt==2026.1.0",
    ]
