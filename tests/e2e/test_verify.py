"""verify for real: every fault of simxpu by name, other devices and environments, hangs and deaths that it survives."""

from __future__ import annotations

import json
import subprocess
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree as ET

import pytest

from e2e.support import CHECKOUT, by_name, xpusetup

if TYPE_CHECKING:
    from pathlib import Path

    from e2e.fixtures import Demo
    from e2e.support import Said

pytestmark = [pytest.mark.e2e, pytest.mark.xdist_group("demo")]
FAULTS = {
    "no-device": "device.available",
    "oom": "device.memory",
    "wrong-numbers": "numbers.matmul",
    "nan": "numbers.finite",
    "missing-op": "ops.coverage",
    "amp-noop": "amp.dtype",
    "hang": "device.responds",
    "broken-autoload": "autoload.import",
}
BY_NAME = {"nan", "amp-noop", "missing-op", "broken-autoload", "oom"}
HELPER = CHECKOUT / "xpusetup/helpers/verify_device.py"


def verify(demo: Demo, *options: str, **more: str) -> Said:
    return xpusetup("verify", *options, "--json", env={**demo.env, **more})


def failing(result: dict[str, Any]) -> list[dict[str, Any]]:
    return [check for check in result["checks"] if check["level"] in ("fail", "crash")]


@pytest.mark.parametrize(
    ("fault", "check"), [by_name(*each) if each[0] in BY_NAME else each for each in FAULTS.items()]
)
def test_each_fault_is_named_first_by_its_check(demo: Demo, fault: str, check: str) -> None:
    said = verify(demo, "--profile", "sim", "--level", "quick", "--patience", "15", SIMXPU_FAULT=fault)
    result = said.document["result"]
    found = failing(result)
    assert (said.code, result["verified"], found[0]["id"]) == (1, False, check)
    assert [each["caused_by"] for each in found] == [None] + [check] * (len(found) - 1)
    assert {each["caused_by"] for each in result["checks"] if each["seen"] == "not run"} <= {check}


def test_every_fault_of_the_device_is_tried(demo: Demo) -> None:
    """That of the ranks is in test_verify_models.py."""
    code = "from simxpu.faults import FAULTS; print(*sorted(FAULTS))"
    done = subprocess.run(
        (str(demo.root / "venv/bin/python"), "-c", code), env=demo.env, check=True, capture_output=True, text=True
    )
    assert done.stdout.split() == sorted([*FAULTS, "collective-hang"])


@pytest.mark.parametrize("level", ["quick", by_name("smoke")])
def test_a_healthy_device(demo: Demo, tmp_path: Path, level: str) -> None:
    """The demo itself was built and verified with smoke."""
    report = tmp_path / "reports/verify.xml"
    said = verify(demo, "--profile", "sim", "--level", level, "--junit", str(report))
    result = said.result
    assert (said.code, result["verified"], failing(result)) == (0, True, [])
    assert (result["level"], result["device"]) == (level, "simxpu:0")
    assert all(check["verdict"] == "ok" for check in result["checks"] if check["id"].startswith("api."))
    suite = ET.parse(report).getroot()[0]  # noqa: S314, our own file
    assert [case.get("name") for case in suite.findall("testcase")] == [check["id"] for check in result["checks"]]
    assert (suite.get("failures"), suite.get("errors")) == ("0", "0")
    if level == "smoke":
        look_at_smoke(result)


def look_at_smoke(result: dict[str, Any]) -> None:
    assert all(check["level"] == "ok" for check in result["checks"] if check["id"].startswith(("models.", "coll")))
    compiled = next(check["seen"] for check in result["checks"] if check["id"] == "models.infer_compiled")
    ranks = next(check["seen"] for check in result["checks"] if check["id"] == "collectives.two_ranks")
    assert ("aot_eager: 1 graph, " in compiled, "2 ranks over simccl" in ranks) == (True, True)
    peaks = [check.get("peak_bytes") for check in result["checks"] if check["id"] == "device.memory"]
    assert peaks[0] >= 1 << 28


@pytest.mark.long
def test_the_cpu_passes_in_the_same_environment(demo: Demo) -> None:
    before = (demo.root / "manifest.json").read_text()
    result = verify(demo, "--profile", "sim", "--device", "cpu", "--level", "quick").result
    assert (result["device"], result["verified"]) == ("cpu", True)
    assert {check["level"] for check in result["checks"]} == {"ok"}
    assert (demo.root / "manifest.json").read_text() == before


def test_a_device_that_is_not_here(demo: Demo) -> None:
    said = verify(demo, "--profile", "sim", "--device", "xpu")
    assert (said.code, said.document["error"]["code"]) == (4, 4)
    assert "there is no Intel GPU here" in said.document["error"]["message"]


@pytest.mark.long
def test_any_environment_and_whatever_device_it_has(demo: Demo, tmp_path: Path) -> None:
    """No root, no profile: the environment is named, the device found."""
    env = {name: value for name, value in demo.env.items() if name != "HOME"} | {"HOME": str(tmp_path)}
    options = ("--into", str(demo.root / "venv"), "--level", "quick", "--only", "numbers.matmul", "--json")
    result = xpusetup("verify", *options, env=env).result
    assert (result["device"], result["verified"]) == ("simxpu:0", True)
    assert result["chosen_by"] == "simxpu, available by torch.accelerator"
    assert [check["id"] for check in result["checks"]][-1] == "numbers.matmul"
    assert not list(tmp_path.glob("**/profile.lock.json"))


def test_an_environment_without_torch(demo: Demo, tmp_path: Path) -> None:
    subprocess.run(("python3", "-m", "venv", "--without-pip", str(tmp_path / "venv")), check=True, env=demo.env)
    said = verify(demo, "--into", str(tmp_path / "venv"))
    assert (said.code, said.document["error"]["message"]) == (3, f"there is no torch in {tmp_path / 'venv'}")
    assert said.document["error"]["fix"] == f"xpusetup install --into {tmp_path / 'venv'}"
    said = verify(demo, "--into", str(tmp_path))
    assert (said.code, "is no environment" in said.document["error"]["message"]) == (2, True)


@pytest.mark.parametrize("option", ["--only", "--skip"])
def test_a_check_that_does_not_exist(demo: Demo, option: str) -> None:
    said = verify(demo, "--profile", "sim", option, "numbers.matmull")
    assert said.code == 2
    assert said.document["error"]["message"] == "there is no check numbers.matmull; did you mean numbers.matmul?"


def test_the_list_needs_no_build(demo: Demo) -> None:
    rows = xpusetup("verify", "--list", "--json", env=demo.env).result["list"]
    assert [row["level"] for row in rows[:3]] == ["gate"] * 3
    assert set(FAULTS.values()) <= {row["id"] for row in rows}


HANGER = """
import ctypes, os, signal, time
def load():
    import torch
    def hang(*_, **__):
        {how}
    torch.Tensor.softmax = hang
"""
ENDS = ("sleeps", "holds-the-gil", "crashes", "killed", "exits")
WAYS = {
    "time.sleep(600)": "no answer within 5 s, at {folder}/hanger.py:6 hang",
    "ctypes.PyDLL(None).sleep(600)": "no answer within 5 s, at {folder}/hanger.py:6 hang",
    "os.kill(os.getpid(), signal.SIGSEGV)": "the process was ended: Segmentation fault, at {folder}/hanger.py:6 hang",
    "os.kill(os.getpid(), signal.SIGKILL)": "the process was ended: Killed",
    "os._exit(0)": "the process ended with exit code 0",
}


@pytest.mark.parametrize(
    ("how", "seen"), [way if "SEGV" in way[0] else by_name(*way) for way in WAYS.items()], ids=ENDS
)
def test_the_next_check_goes_on(demo: Demo, tmp_path: Path, how: str, seen: str) -> None:
    """An extension that breaks softmax: the checks that need it end, the others are done all the same."""
    (tmp_path / "hanger.py").write_text(HANGER.format(how=how))
    info = tmp_path / "hanger-1.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: hanger\nVersion: 1\n")
    (info / "entry_points.txt").write_text("[torch.backends]\nhanger = hanger:load\n")
    words = ("--device", "cpu", "--patience", "5", "--only", "numbers.finite", "--only", "numbers.matmul")
    command = (str(demo.root / "venv/bin/python"), str(HELPER), *words, "--out", str(tmp_path / "out.json"))
    env = {**demo.env, "PYTHONPATH": str(tmp_path)}
    done = subprocess.run(command, env=env, check=False, capture_output=True, text=True)
    assert (done.returncode, "Traceback" in done.stderr) == (1, False)
    checks = {check["id"]: check for check in json.loads((tmp_path / "out.json").read_text())["checks"]}
    assert checks["numbers.finite"]["level"] == "crash"
    assert checks["numbers.finite"]["seen"] == seen.format(folder=tmp_path.name)
    assert checks["numbers.matmul"]["level"] == "ok"
    assert len(done.stdout.splitlines()) == len(checks) + 1


def test_a_gap_that_is_expected_is_no_failure(demo: Demo, tmp_path: Path) -> None:
    words = ("--device", "simxpu", "--only", "ops.coverage", "--gap", "ops.coverage=no softmax yet")
    command = (str(demo.root / "venv/bin/python"), str(HELPER), *words, "--out", str(tmp_path / "out.json"))
    levels = []
    for fault in ("missing-op", ""):
        env = {**demo.env, "SIMXPU_FAULT": fault}
        done = subprocess.run(command, env=env, check=False, capture_output=True, text=True)
        check = json.loads((tmp_path / "out.json").read_text())["checks"][-1]
        levels.append((done.returncode, check["level"], check["verdict"]))
        assert "no softmax yet" in check["seen"]
    assert levels == [(0, "skip", "unsupported"), (0, "info", "ok")]
