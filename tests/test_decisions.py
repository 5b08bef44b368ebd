"""CMake decides by what it finds: it is told what a profile leaves out, and its decisions are held to that."""

from __future__ import annotations

import importlib
import subprocess
import sys
from typing import TYPE_CHECKING, Any
from zipfile import ZipFile

import pytest

from data.plans import plan_of
from data.profiles import SHIPPED, shipped
from xpusetup.base.model import Request
from xpusetup.commands.wheel_check import WheelOptions, words_of_profile
from xpusetup.plan.component import left_out_options
from xpusetup.verify.provenance import SBOM

if TYPE_CHECKING:
    from pathlib import Path

    from xpusetup.base.model import Step

check_configure: Any = importlib.import_module("check_configure")
build_tree: Any = importlib.import_module("build_tree")
OFF = ("USE_CUDA", "USE_ROCM", "USE_XPU")
OTHERS = {"cuda", "mpi", "rocm", "xccl", "xpu"}


def steps(profile: str, **asked: Any) -> dict[str, Step]:
    return {step.id: step for step in plan_of(shipped(profile), Request(**asked)).steps}


def words(step: Step) -> str:
    return "\n".join(" ".join(argv) for argv in step.run)


@pytest.mark.parametrize("component", ["torch", "vision", "audio"])
def test_a_build_for_the_cpu_switches_every_accelerator_off(component: str) -> None:
    step = steps("cpu-2.13", sources=(("torch", "/home/me/pytorch"),))[f"{component}.build"]
    assert {name: dict(step.env)[name] for name in OFF} == dict.fromkeys(OFF, "0")


def test_a_torch_of_ones_own_is_held_to_it_before_it_is_compiled() -> None:
    seen = steps("cpu-2.13", sources=(("torch", "/home/me/pytorch"),))
    held = "--off USE_CUDA --off USE_MPI --off USE_ROCM --off USE_XCCL --off USE_XPU"
    assert held in words(seen["torch.build"])
    assert {dict(seen["torch.build"].env)[name] for name in held.split() if name != "--off"} == {"0"}
    assert "--without cuda --without mpi --without rocm --without xccl --without xpu" in words(seen["torch.inspect"])
    assert "USE_MPI" not in dict(seen["vision.build"].env), "nothing but torch reads it as PyTorch does"


@pytest.mark.parametrize("name", [name for name in SHIPPED if shipped(name).accelerator == "xpu"])
def test_each_profile_for_xpu_says_what_must_be_on_and_what_must_be_off(name: str) -> None:
    """Each release that has oneCCL names it; only a tool chain without it takes it back."""
    kit = shipped(name).toolkit
    assert kit is not None
    collectives = "--on USE_XCCL" if "ccl/latest/env/vars.sh" in kit.scripts else "--off USE_XCCL"
    held = words(steps(name)["torch.configure"])
    for wanted in ("--off USE_CUDA", "--off USE_MPI", "--off USE_ROCM", "--on USE_XPU", collectives):
        assert wanted in held


def test_a_build_for_xpu_is_held_to_what_its_profile_says() -> None:
    seen = steps("torch-2.14")
    held = words(seen["torch.configure"])
    assert "--off USE_CUDA --off USE_MPI --off USE_ROCM --on USE_STATIC_MKL --on USE_XCCL --on USE_XPU" in held
    assert "--without cuda --without mpi --without rocm" in words(seen["torch.inspect"])
    assert "--without xpu" not in words(seen["torch.inspect"])
    assert not set(OFF) & dict(seen["triton.fetch"].env).keys()


def test_what_is_asked_for_by_hand_goes_before() -> None:
    seen = steps("torch-2.14", set=(("torch", "USE_MPI", "1"), ("torch", "USE_CUDA", "1")))
    assert "--on USE_CUDA --on USE_MPI" in words(seen["torch.configure"])
    assert "--without rocm" in words(seen["torch.inspect"])
    assert "--without cuda" not in words(seen["torch.inspect"])


def test_verify_wheel_asks_for_the_same() -> None:
    profile = shipped("cpu-2.13")
    vision = next(part for part in profile.components if part.name == "vision")
    assert vision.kind == "source"
    assert left_out_options(profile, vision) == ("--without", "cuda", "--without", "rocm", "--without", "xpu")


def test_a_wheel_that_others_published_may_have_their_libraries_for_collectives(tmp_path: Path) -> None:
    """Which device it is for is held; MPI and oneCCL only where a build of this profile made it, as its bill says."""
    name, bill = "torch-2.8.0-cp311-cp311-linux_x86_64.whl", f"torch-2.8.0.dist-info/{SBOM}"
    theirs = tmp_path / name
    with ZipFile(theirs, "w") as archive:
        archive.writestr("torch/__init__.py", "")
    asked = WheelOptions(profile="torch-2.8")
    assert [word for word in words_of_profile(theirs, asked) if word in OTHERS] == ["cuda", "rocm"]
    with ZipFile(theirs, "a") as archive:
        archive.writestr(bill, "{}")
    assert [word for word in words_of_profile(theirs, asked) if word in OTHERS] == ["cuda", "mpi", "rocm"]


XPU = "build lib/libtorch_xpu.so: CXX_SHARED_LIBRARY_LINKER x.o\n"
CUDA = "build lib/libtorch_cuda.so | lib/x: CXX_SHARED_LIBRARY_LINKER x.o\n"


@pytest.mark.parametrize(
    ("cache", "ninja", "held", "said"),
    [
        ({"USE_XPU": "ON"}, XPU, {"off": ["USE_XPU"]}, "CMake decided for XPU, which this build is to leave out"),
        (
            {},
            CUDA,
            {"off": ["USE_CUDA"]},
            "CMake decided for CUDA, which this build is to leave out (USE_CUDA is not set",
        ),
        ({"USE_MPI": "1"}, "", {"off": ["USE_MPI"]}, "CMake decided for MPI"),
        ({"USE_XPU": "OFF"}, "", {"on": ["USE_XPU"]}, "CMake decided against XPU (USE_XPU is OFF): no SYCL compiler"),
        ({}, "", {"on": ["USE_XPU"]}, "CMake decided against XPU (USE_XPU is not set): no SYCL compiler"),
        ({"USE_XPU": "1"}, "", {"on": ["USE_XPU"]}, "no libtorch_xpu.so to build: torch-xpu-ops left itself out"),
        ({"USE_XCCL": "OFF"}, "", {"on": ["USE_XCCL"]}, "CMake decided against XCCL (USE_XCCL is OFF)"),
    ],
)
def test_what_is_not_as_it_was_told_to_be_ends_the_step(
    cache: dict[str, str], ninja: str, held: dict[str, list[str]], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        check_configure.hold(cache, ninja, **{"on": [], "off": [], **held})
    assert said in "".join(capsys.readouterr())


def test_what_is_as_it_was_told_to_be_passes() -> None:
    use = "build x.o: CXX x.cpp\n  FLAGS = -L libtorch_cuda.so\n"
    cache = {"USE_XPU": "1", "USE_CUDA": "0", "USE_MPI": "OFF"}
    check_configure.hold(cache, XPU + use, on=["USE_XPU", "USE_STATIC_MKL"], off=["USE_CUDA", "USE_MPI", "USE_ROCM"])


@pytest.mark.e2e
def test_a_tree_of_torch_stops_when_it_is_configured(tmp_path: Path) -> None:
    """Its setup.py writes what CMake would; the wheel is never begun."""
    (tmp_path / "setup.py").write_text(
        "import pathlib, sys\n"
        "assert sys.argv[1:] == ['build', '--cmake', '--cmake-only']\n"
        "folder = pathlib.Path('build')\n"
        "folder.mkdir()\n"
        "(folder / 'CMakeCache.txt').write_text('USE_XPU:BOOL=ON\\n')\n"
        f"(folder / 'build.ninja').write_text({XPU!r})\n"
    )
    command = (sys.executable, build_tree.__file__, "--tree", str(tmp_path), "--outdir", str(tmp_path / "out"))
    done = subprocess.run((*command, "--off", "USE_XPU"), capture_output=True, text=True, check=False)
    assert done.returncode
    assert "CMake decided for XPU" in done.stdout + done.stderr
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("name", "text", "found"),
    [
        ("pyproject.toml", 'build-backend = "scikit_build_core.build"', "-Cbuild.targets=help"),
        ("setup.py", "setup()", ""),
    ],
)
def test_how_a_tree_is_configured(tmp_path: Path, name: str, text: str, found: str) -> None:
    (tmp_path / name).write_text(text)
    command = build_tree.find_configure(tmp_path, "out")
    assert found in command if found else command == ()
