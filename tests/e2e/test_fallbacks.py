"""Operators that run on the CPU, seen by a real PyTorch, by pytest with and without workers, and in logs."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from data.fallbacks import LOG
from e2e.support import CHECKOUT, caller, xpusetup

if TYPE_CHECKING:
    from e2e.fixtures import Demo

pytestmark = [pytest.mark.e2e, pytest.mark.xdist_group("demo")]

HELPERS = CHECKOUT / "xpusetup/helpers"
KERNELS = CHECKOUT / "xpusetup/simxpu/src/simxpu/csrc/kernels.cpp"
WORDS = "The operator 'aten::{} on the XPU backend is falling back to run on the CPU."
TESTS = """
import warnings
import pytest

def say(name):
    warnings.warn("%s (Triggered internally at RegisterXPU.cpp:1.)" % WORDS.format(name))

@pytest.mark.parametrize("number", range(4))
def test_falls_back(number):
    say("take")
    say("take")
    if number == 3:
        say("_fft_r2c")

def test_cannot():
    raise NotImplementedError("The operator 'aten::nll_loss2d_forward' is not currently implemented for the XPU device.")

def test_quiet():
    warnings.warn("the operator of the crane")
"""  # noqa: E501 - as it is printed


def operators(document: dict[str, Any]) -> dict[str, dict[str, Any]]:
    """Give the operators of all tables of a result, by name."""
    return {one["name"]: one for table in document["result"]["tables"] for one in table["operators"]}


def own_kernels() -> set[str]:
    """Give the operators that simxpu's source registers one by one."""
    text = KERNELS.read_text()
    listed = [name for names in re.findall(r"for \(const char\* name : \{(.+?)\}\)", text) for name in names.split(",")]
    found = {*re.findall(r'm\.impl\("([\w.]+)"', text), *(name.strip().strip('"') for name in listed)}
    assert {"view", "mm.out", "native_batch_norm"} <= found
    return {f"aten::{name}" for name in found}


@pytest.mark.long
def test_simxpu_runs_nearly_everything_on_the_cpu(demo: Demo) -> None:
    document = demo.json("verify", "--fallbacks")
    assert document["ok"], [table["errors"] for table in document["result"]["tables"]]
    found = operators(document)
    assert {one["how"] for one in found.values()} == {"Silent"}
    assert {"aten::relu", "aten::_softmax.out", "aten::addcmul.out", "aten::linalg_eig", "aten::take"} <= set(found)
    assert not own_kernels() & set(found)
    assert all(one["releases"] == [] for one in found.values())
    assert all(not table["notes"] for table in document["result"]["tables"])
    piped = xpusetup("verify", "--fallbacks", "--profile", "sim", env=demo.env)
    assert "| `aten::linalg_eig` " in piped.out


def test_a_device_that_is_gone(demo: Demo) -> None:
    said = demo.json("verify", "--fallbacks", SIMXPU_FAULT="no-device")
    assert (said["ok"], said["error"]["code"]) == (False, 1)
    assert "cannot be used" in said["error"]["message"]


@pytest.mark.long
def test_the_cpu_falls_back_to_nothing(torch_python: str, tmp_path: Path) -> None:
    out = tmp_path / "x.json"
    command = (torch_python, str(HELPERS / "collect_fallbacks.py"), "--device", "cpu", "--out", str(out))
    subprocess.run(command, check=True, capture_output=True)
    workloads = json.loads(out.read_text())["workloads"]
    assert [one["operators"] for one in workloads] == [[]] * len(workloads)
    assert [one["errors"] for one in workloads] == [{}] * len(workloads)
    assert all(len(one["own"]) > 20 and not one["unseen"] for one in workloads)


SPEAK = """
import os, sys, warnings
sys.path.insert(0, sys.argv[1])
import collect_fallbacks as c
from helperlib.verify.bench import DeviceBench
def speak(torch, device):
    warnings.warn("The operator 'aten::take on the XPU backend is falling back to run on the CPU.")
    os.write(2, b"[W822 x.cpp:1] Warning: The operator 'aten::roll on the XPU backend is falling back to run on the CPU.")
def refuse(torch, device):
    raise NotImplementedError("The operator 'aten::nll_loss2d_forward' is not currently implemented for the XPU device.")
def fail(torch, device):
    torch.ones(2) @ torch.ones(3)
def go_on(torch, device):
    torch.ones(2) + 1
parts = {"speak": speak, "refuse": refuse, "fail": fail, "go on": go_on}
print(__import__("json").dumps(c.record(c.Workload("all", parts), DeviceBench("cpu"))))
"""  # noqa: E501 - as it is printed


def test_what_is_said_while_a_workload_runs(torch_python: str) -> None:
    done = subprocess.run((torch_python, "-c", SPEAK, str(HELPERS)), check=True, capture_output=True, text=True)
    found = json.loads(done.stdout)
    assert {one["name"]: (one["announced"], one["refused"]) for one in found["operators"]} == {
        "aten::take": (True, False),
        "aten::roll": (True, False),
        "aten::nll_loss2d_forward": (False, True),
    }
    assert list(found["errors"]) == ["fail"]
    assert found["own"]
    assert "aten::roll" in done.stderr, "what C++ wrote is passed on"


@pytest.mark.parametrize("workers", [(), ("-n", "2")], ids=["alone", "xdist"])
@pytest.mark.parametrize("strict", [(), ("-W", "default")], ids=["errors", "default"])  # the latter: once a line
def test_the_pytest_plugin(tmp_path: Path, workers: tuple[str, ...], strict: tuple[str, ...]) -> None:
    (tmp_path / "test_x.py").write_text(TESTS.replace("WORDS", repr(WORDS)))
    (tmp_path / "pytest.ini").write_text("[pytest]\nfilterwarnings =\n    error\n    default:the operator of\n")
    command = (sys.executable, "-m", "pytest", "-q", "-p", "fallback_plugin", "--fallbacks-out", "out/x.json")
    env = {**caller(tmp_path / "home"), "PYTHONPATH": str(HELPERS)}
    done = subprocess.run((*command, *workers, *strict), cwd=tmp_path, env=env, check=False, capture_output=True)
    assert b"1 failed, 5 passed" in done.stdout, done.stdout.decode()[-800:]
    found = json.loads((tmp_path / "out/x.json").read_text())["messages"]
    tests = [f"test_x.py::test_falls_back[{number}]" for number in range(4)]
    assert {(one["kind"], one["operator"]): (one["count"], one["tests"]) for one in found} == {
        ("announced", "aten::take"): (4 if strict else 8, tests),
        ("announced", "aten::_fft_r2c"): (1, tests[3:]),
        ("refused", "aten::nll_loss2d_forward"): (1, ["test_x.py::test_cannot"]),
    }


def test_a_log_and_a_release_on_the_screen(tmp_path: Path) -> None:
    env = caller(tmp_path / "home")
    (tmp_path / "x.log").write_text(LOG)
    for release, how in (("2.4", "Enabled"), ("2.14", "Manual")):
        said = xpusetup("verify", "--fallbacks", "--log", str(tmp_path / "x.log"), "--release", release, env=env)
        assert said.code == 0
        assert re.search(rf"^\| `aten::take` +\| {how} +\|$", said.out, re.MULTILINE), said.out
    published = xpusetup("verify", "--fallbacks", "--release", "2.4", env=env)
    for path in (Path(__file__).parents[1] / "golden/fallbacks").glob("2.4-*.md"):
        assert f"\n{path.read_text()}" in published.out
    assert xpusetup("verify", "--fallbacks", "--release", "1.0", env=env).code == 2
