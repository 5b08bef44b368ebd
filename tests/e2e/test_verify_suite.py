"""The device suite on the CPU and on the simulated accelerator: right as they are, and caught where they are broken."""

from __future__ import annotations

import json
import os
import subprocess
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from e2e.support import by_name
from test_device_suite import CHECKS, read_breakages

pytestmark = [pytest.mark.e2e, pytest.mark.xdist_group("demo")]
HERE = Path(__file__).parent
HELPERS = HERE.parents[1] / "xpusetup/helpers"
TRIED = {"training.placement"}
"""What an environment without accelerate does not try."""
OF_DEVICES = {"memory.counters", "memory.info", "memory.pinned", "streams.order", "streams.time"}
"""What a CPU does not have."""


@cache
def run_script(python: str, name: str) -> str:
    command = (python, "-W", "ignore", str(HERE / "files" / name), str(HELPERS))
    environment = {**os.environ, "TORCH_DEVICE_BACKEND_AUTOLOAD": "1"}
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    assert done.returncode == 0, done.stderr
    return done.stdout


def verify(python: str, device: str, out: Path, *options: str) -> dict[str, Any]:
    script = (python, str(HELPERS / "verify_device.py"), "--device", device, "--level", "smoke", "--out", str(out))
    only = [word for name in CHECKS for word in ("--only", name)]
    done = subprocess.run((*script, *only, *options), capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    return {check["id"]: check for check in json.loads(out.read_text())["checks"]}


@pytest.mark.parametrize(("device", "lacks"), [by_name("cpu", OF_DEVICES), by_name("simxpu", set[str]())])
def test_the_suite_passes(torch_python: str, tmp_path: Path, device: str, lacks: set[str]) -> None:
    found = verify(torch_python, device, tmp_path / "suite.json")
    skipped = {name for name in CHECKS if found[name]["level"] == "skip"}
    assert skipped == lacks | TRIED
    assert {found[name]["level"] for name in CHECKS if name not in skipped} == {"ok"}


@pytest.mark.parametrize(("check", "case"), read_breakages())
def test_a_broken_device_is_named(torch_python: str, check: str, case: str) -> None:
    rows = map(json.loads, run_script(torch_python, "breakages.py").splitlines())
    (level, seen) = next((level, seen) for name, broken, level, seen in rows if (name, broken) == (check, case))
    assert level in {"fail", "crash"}, seen
    assert case in seen


def test_nothing_stays_broken(torch_python: str) -> None:
    """What the checks said before was not said of a device that an earlier breakage had left behind."""
    rows = map(json.loads, run_script(torch_python, "breakages.py").splitlines())
    assert {name: seen for name, broken, level, seen in rows if not broken and level not in {"ok", "skip"}} == {}


@pytest.mark.long
def test_no_case_is_blind(torch_python: str) -> None:
    found = json.loads(run_script(torch_python, "spoiled_cases.py"))
    assert found["blind"] == []
    assert found["cases"] > 800


@pytest.fixture(scope="module")
def accelerate_python(torch_python: str, tmp_path_factory: pytest.TempPathFactory) -> str:
    """Give a python that has accelerate, too: the same environment's files below another folder."""
    venv = tmp_path_factory.mktemp("accelerate") / "venv"
    subprocess.run(("cp", "-al", str(Path(torch_python).parents[1]), str(venv)), check=True)
    python = str(venv / "bin/python")
    subprocess.run((python, "-m", "pip", "install", "-q", "accelerate"), check=True, capture_output=True)
    return python


@pytest.mark.parametrize(
    ("device", "level", "seen"),
    [
        ("cpu", "ok", "2 cases, the worst: what it computes"),
        ("simxpu", "fail", "finds no memory of simxpu: all on the CPU"),
    ],
)
def test_where_accelerate_places_a_model(
    accelerate_python: str, tmp_path: Path, device: str, level: str, seen: str
) -> None:
    out = tmp_path / "placement.json"
    script = (accelerate_python, str(HELPERS / "verify_device.py"), "--device", device, "--out", str(out))
    subprocess.run((*script, "--only", "training.placement"), capture_output=True, check=False)
    found = {check["id"]: check for check in json.loads(out.read_text())["checks"]}["training.placement"]
    assert (found["level"], seen in found["seen"]) == (level, True), found


PLACED = """
import sys
sys.path.insert(0, sys.argv[1])
import accelerate
from helperlib.checks.training import check_placement
from helperlib.verify.bench import DeviceBench

accelerate.utils.get_max_memory = lambda: {"simxpu": 1 << 30}  # as it finds the memory of a GPU that it knows
accelerate.infer_auto_device_map = lambda model, max_memory: {"": "simxpu"}
print(check_placement(DeviceBench("simxpu")))
"""


def test_a_model_on_an_accelerator_gets_its_input_there(accelerate_python: str) -> None:
    """Where one device is enough accelerate moves the model alone; the first true GPU showed it."""
    script = (accelerate_python, "-c", PLACED, str(HELPERS))
    found = subprocess.run(script, check=True, capture_output=True, text=True).stdout
    assert "level='ok'" in found
    assert "2 cases" in found
