"""The stand-in oneAPI is as rude as Intel's, and its compiler driver answers as Intel's does."""

import os
import subprocess
from pathlib import Path

import pytest

from standins.oneapi import ARGS, BUNDLE, FUNCTION, NOTE, UNSET, make_oneapi
from standins.workshop import dynamic

pytestmark = pytest.mark.e2e

PATH = {"PATH": os.environ["PATH"]}


@pytest.fixture(scope="session")
def oneapi(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_oneapi(tmp_path_factory.mktemp("oneapi"))


def bash(script: str, *args: str, **env: str) -> subprocess.CompletedProcess[str]:
    command = ("bash", "-c", script, "bash", *args)
    return subprocess.run(command, check=False, env=PATH | env, capture_output=True, text=True)


def environment(script: str, **env: str) -> dict[str, str]:
    """Read the environment as it is after a script."""
    dump = bash(f"{script} >/dev/null; env -0", **env).stdout
    return dict(entry.partition("=")[::2] for entry in dump.split("\0") if entry)


@pytest.mark.parametrize(
    ("before", "args", "code"),
    [
        ("", (), 0),
        ("", ("--help",), 254),
        ("", ("--help", "--force"), 254),
        ("SETVARS_COMPLETED=1;", (), 3),
        ("SETVARS_COMPLETED=1;", ("--force",), 0),
        ("PATH=/nowhere;", (), 251),
    ],
)
def test_setvars_reads_the_arguments_of_its_caller(before: str, args: tuple[str, ...], code: int, oneapi: Path) -> None:
    done = bash(f"{before} source {oneapi}/setvars.sh; echo returned $?", *args)
    assert done.stdout.endswith(f"returned {code}\n")
    assert ("has already been run" in done.stdout) == (code == 3)


@pytest.mark.parametrize("option", ["-e", "-u", "-eu"])
def test_setvars_ends_a_strict_shell(option: str, oneapi: Path, tmp_path: Path) -> None:
    script = f"set {option}; source {oneapi}/setvars.sh; echo alive"
    assert bash(script).returncode != 0
    assert "alive" not in bash(script).stdout
    polite = make_oneapi(tmp_path, rude=False)
    assert bash(script.replace(str(oneapi), str(polite))).stdout.endswith("alive\n")


def test_activation_leaves_values_that_are_hard_to_capture(oneapi: Path) -> None:
    seen = environment(f"source {oneapi}/setvars.sh one two", **{UNSET: "here before", "CPATH": "/mine"})
    assert seen["SETVARS_COMPLETED"] == "1"
    assert seen["ONEAPI_ROOT"] == str(oneapi)
    assert seen["CMPLR_ROOT"] == f"{oneapi}/compiler/2025.3"
    assert seen["CPATH"].endswith(f"{oneapi}/compiler/2025.3/include:/mine")
    assert {"NLSPATH", "LIBRARY_PATH", "LD_LIBRARY_PATH", "MKLROOT", "I_MPI_ROOT"} <= set(seen)
    assert seen[NOTE].count("\n") == 1
    assert seen[ARGS] == "one two"
    assert FUNCTION in seen
    assert UNSET not in seen


def test_what_fails_is_not_marked_as_done(oneapi: Path) -> None:
    assert "SETVARS_COMPLETED" not in environment(f"set -- --help; source {oneapi}/setvars.sh")


def test_component_scripts_are_quiet_and_set_their_own(oneapi: Path) -> None:
    done = bash(
        f"set -eu; source {oneapi}/compiler/latest/env/vars.sh; source {oneapi}/pti/latest/env/vars.sh; icpx -v"
    )
    assert done.returncode == 0
    assert done.stdout == ""
    seen = environment(f"source {oneapi}/pti/latest/env/vars.sh")
    assert seen["PTI_ROOT"] == f"{oneapi}/pti/2025.3"
    assert "CMPLR_ROOT" not in seen


def test_the_bundle_of_torch_2_5_brings_the_compiler_without_pti(oneapi: Path) -> None:
    seen = environment(f"source {oneapi}/{BUNDLE}/oneapi-vars.sh")
    assert seen["CMPLR_ROOT"] == f"{oneapi}/compiler/2025.3"
    assert "PTI_ROOT" not in seen


@pytest.mark.parametrize(("version", "soname"), [("2024.1", "7"), ("2025.3", "8"), ("2026.1.3", "9")])
def test_each_year_has_its_own_libsycl(version: str, soname: str, tmp_path: Path) -> None:
    compiler = make_oneapi(tmp_path, version=version) / "compiler/latest"
    assert f"[libsycl.so.{soname}]" in dynamic(compiler / "lib/libsycl.so")
    assert (compiler / "lib/libOpenCL.so").exists()


@pytest.mark.parametrize("driver", ["icpx", "icx"])
def test_the_driver_says_that_it_is_intels(driver: str, oneapi: Path) -> None:
    text = bash(f"{oneapi}/compiler/latest/bin/{driver} --version").stdout
    assert text.startswith("Intel(R) oneAPI DPC++/C++ Compiler 2025.3.1 (2025.3.1.20251023)\n")
    assert not {"g++", "gcc", "GNU"} & set(text.replace("(", " ").split())


def test_the_driver_compiles_and_links_sycl(oneapi: Path, tmp_path: Path) -> None:
    source = '#include <sycl/sycl.hpp>\\nint main() { return standin_sycl_submit("k") == SYCL_LANGUAGE_VERSION; }'
    flags = '-fsycl -fsycl-targets=spir64_gen -Xs "-device pvc" -Xsycl-target-backend=spir64_gen "-q"'
    icpx = f"{oneapi}/compiler/latest/bin/icpx"
    script = f"cd {tmp_path}; printf '{source}' > k.cpp; {icpx} {flags} -c k.cpp -o k.o && {icpx} {flags} k.o -o k"
    assert bash(script).returncode == 0
    assert "[libsycl.so.8]" in dynamic(tmp_path / "k")
    assert "argument to '-Xs' is missing" in bash(f"{icpx} -Xs").stderr
    assert bash(f"cd {tmp_path}; {icpx} -c k.cpp").returncode == 1
