"""fits on extensions that gcc links with a real torch: each answer is held to an import; what docs/wheels.md shows."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import sysconfig
from typing import TYPE_CHECKING, Any

import pytest

from e2e.support import by_name, xpusetup
from real.fits import CHILD
from standins.wheels import pack_wheel

if TYPE_CHECKING:
    from pathlib import Path

    from e2e.fixtures import Demo

pytestmark = [pytest.mark.e2e, pytest.mark.xdist_group("demo")]

HEAD = "#define Py_LIMITED_API 0x030a0000\n#include <Python.h>\n#include <string>\n"
MODULE = """
static PyModuleDef module = {PyModuleDef_HEAD_INIT, "_C", nullptr, -1, nullptr};
PyMODINIT_FUNC PyInit__C() { %s return PyModule_Create(&module); }
"""
SHIM = 'extern "C" { int32_t aoti_torch_device_type_cpu(); int32_t aoti_torch_of_next_year(); }\n'
THROWS = "namespace c10 { namespace detail { [[noreturn]] void torchCheckFail(%s); } }\n"
GONE = "namespace at { void function_of_another_release(long); }\n"
CASES: dict[str, tuple[str, str, tuple[str, ...], str, str]] = {
    "sound": (
        THROWS % "const char*, const char*, unsigned, const std::string&",
        'if (PyErr_Occurred()) c10::detail::torchCheckFail("", "", 0, std::string());',
        (),
        "fits",
        "the one name that it asks torch for is there, of its C++ interface",
    ),
    "stable": (
        SHIM,
        "aoti_torch_device_type_cpu();",
        (),
        "fits",
        "the one name that it asks torch for is there, through the stable interface alone",
    ),
    "newer": (SHIM, "aoti_torch_of_next_year();", (), "does_not_fit", "_C.abi3.so needs aoti_torch_of_next_year"),
    "gone": (
        GONE,
        "at::function_of_another_release(1);",
        (),
        "does_not_fit",
        "_C.abi3.so needs at::function_of_another_release(long), which that torch has not",
    ),
    "old-strings": (
        THROWS % "const char*, const char*, unsigned, const std::string&",
        'if (PyErr_Occurred()) c10::detail::torchCheckFail("", "", 0, std::string());',
        ("-D_GLIBCXX_USE_CXX11_ABI=0",),
        "does_not_fit",
        "_C.abi3.so was built with the other C++ ABI: it needs c10::detail::torchCheckFail(",
    ),
    "private-python": (
        'extern "C" void _PyOfAnotherPython();\n',
        "_PyOfAnotherPython();",
        (),
        "does_not_fit",
        "_C.abi3.so needs _PyOfAnotherPython, which nothing here has",
    ),
}


def make_wheel(folder: Path, torch: Path, name: str) -> Path:
    """Build an extension with gcc and pack it into a wheel."""
    declares, does, options, _, _ = CASES[name]
    folder.mkdir()
    (folder / "c.cpp").write_text(f"{HEAD}{declares}{MODULE % does}")
    include = sysconfig.get_path("include")
    libraries = (f"-L{torch / 'lib'}", "-Wl,--no-as-needed", "-ltorch_cpu", "-lc10")
    words = ("-shared", "-fPIC", "-O1", *options, f"-I{include}", "c.cpp", *libraries, "-o", "_C.abi3.so")
    subprocess.run(("g++", *words), cwd=folder, check=True)
    files = {"acme/__init__.py": b"import torch\nfrom acme import _C\n"}
    return pack_wheel(folder, "acme", "1.0", {**files, "acme/_C.abi3.so": (folder / "_C.abi3.so").read_bytes()})


def imports(python: Path, wheel: Path, folder: Path) -> str:
    """Import the package of a wheel; why that failed, empty where it did not."""
    subprocess.run((sys.executable, "-m", "zipfile", "-e", wheel, folder), check=True)
    line = (str(python), "-c", "import os, sys; sys.setdlopenflags(os.RTLD_NOW); import acme")
    env = {**os.environ, "PYTHONPATH": str(folder)}
    done = subprocess.run(line, cwd=folder, env=env, check=False, capture_output=True, text=True)
    return done.stderr.strip().splitlines()[-1] if done.returncode else ""


def ask(demo: Demo, wheel: Path, *words: str) -> tuple[int, dict[str, Any]]:
    """Give the exit code and the wheel's row."""
    said = xpusetup("wheel", "fits", str(wheel), *words, "--json", env=demo.env)
    (one,) = said.document["result"]["wheels"]
    return said.code, one


@pytest.mark.parametrize("name", [name if name == "sound" else by_name(name) for name in CASES])
def test_what_is_told_is_what_an_import_says(demo: Demo, tmp_path: Path, name: str) -> None:
    venv = demo.root / "venv"
    torch = next(venv.glob("lib/python3*/site-packages/torch"))
    wheel = make_wheel(tmp_path / "wheel", torch, name)
    *_, answer, reason = CASES[name]
    failed = imports(venv / "bin/python", wheel, tmp_path / "tree")
    assert (failed == "") == (answer == "fits"), failed
    for words in (("--into", str(venv)), ("--profile", "sim"), ("--torch", "2.13.0")):
        code, one = ask(demo, wheel, *words)
        assert (one["answer"], code, one["reason"][: len(reason)]) == (answer, int(answer != "fits"), reason)


@pytest.mark.long
def test_a_folder_and_a_wheel_are_a_torch_too(demo: Demo, tmp_path: Path) -> None:
    torch = next((demo.root / "venv").glob("lib/python3*/site-packages/torch"))
    place = ("--torch", str(torch / "lib"))
    assert ask(demo, make_wheel(tmp_path / "sound", torch, "sound"), *place)[1]["answer"] == "fits"
    assert ask(demo, make_wheel(tmp_path / "gone", torch, "gone"), *place)[0] == 1
    (wheel,) = (demo.root / "wheels").glob("torch-*.whl")
    assert ask(demo, tmp_path / "sound/acme-1.0-py3-none-any.whl", "--torch", str(wheel))[1]["answer"] == "fits"


def test_without_that_torch_it_is_unknown(demo: Demo, tmp_path: Path) -> None:
    torch = next((demo.root / "venv").glob("lib/python3*/site-packages/torch"))
    code, one = ask(demo, make_wheel(tmp_path / "wheel", torch, "sound"), "--torch", "2.1.0")
    assert (code, one["answer"], one["notes"]) == (
        3,
        "unknown",
        ["pip download --no-deps torch==2.1.0, then --torch FILE"],
    )


# What lies in the environment already.


def run_line(line: str, env: dict[str, str]) -> None:
    """Run a command that was told, as a shell does."""
    subprocess.run(("bash", "-c", line), check=True, capture_output=True, text=True, env=env)


@pytest.mark.long
def test_what_was_made_for_another_torch_is_told_until_it_is_mended(demo: Demo, tmp_path: Path) -> None:
    venv = demo.root / "venv"
    torch = next(venv.glob("lib/python3*/site-packages/torch"))
    assert demo.json("status")["result"]["misfits"] == []
    install = f"{venv}/bin/python -m pip install -q --no-deps --no-index"
    run_line(f"{install} {make_wheel(tmp_path / 'sound', torch, 'sound')}", demo.env)
    assert demo.json("status")["result"]["misfits"] == []
    run_line(f"{install} --force-reinstall {make_wheel(tmp_path / 'gone', torch, 'gone')}", demo.env)
    told = demo.json("status")["result"]
    (row,) = told["misfits"]
    gone = "_C.abi3.so needs at::function_of_another_release(long), which that torch has not"
    assert (row["name"], row["version"], row["reason"]) == ("acme", "1.0", f"was made for another torch: {gone}")
    assert row["fix"] in [" ".join(each["argv"]) for each in told["next"]]
    assert f"acme 1.0 was made for another torch: {gone}" in " ".join(
        xpusetup("status", "--profile", "sim", env=demo.env).out.split()
    )
    assert demo.json("build")["result"]["misfits"] == told["misfits"]
    diagnosis = demo.json("doctor", "--only", "torch.fits")["result"]
    (finding,) = diagnosis["findings"]
    (line,) = finding["fix"]["commands"]
    assert (finding["level"], line.partition(" -m ")[2]) == ("fail", row["fix"].partition(" -m ")[2])
    run_line(row["fix"], demo.env)
    assert demo.json("status")["result"]["misfits"] == []
    assert demo.json("doctor", "--only", "torch.fits")["result"]["findings"][0]["level"] == "ok"


def test_no_folder_of_these_tests_stands_for_a_package(tmp_path: Path) -> None:
    """As tests/real/triton, which torchao took for Triton when its import was the measure."""
    (tmp_path / "torch.py").touch()
    (tmp_path / "acme.py").write_text("import triton\n")
    line = (sys.executable, "-B", str(CHILD), str(tmp_path), "acme")
    done = subprocess.run(line, check=True, capture_output=True, text=True, env={"PYTHONPATH": str(tmp_path)})
    assert json.loads(done.stdout)["error"] == "No module named 'triton'"
