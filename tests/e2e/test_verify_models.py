"""The guide's examples and two ranks, for real: on the CPU, on simxpu, and on a simxpu that misbehaves."""

from __future__ import annotations

import json
import subprocess
from typing import TYPE_CHECKING, Any

import pytest

from e2e.support import by_name

if TYPE_CHECKING:
    from pathlib import Path

    from e2e.fixtures import Demo

pytestmark = [pytest.mark.e2e, pytest.mark.xdist_group("demo")]
MODELS = [
    *("models.infer_fp32", "models.infer_amp_bf16", "models.infer_amp_fp16", "models.infer_compiled"),
    *("models.train_fp32", "models.train_amp_fp16", "models.learns"),
]
RANKS = "collectives.two_ranks"
SIMXPU = ("--device", "simxpu", "--compile-backend", "aot_eager", "--collectives", "simccl")


def verify(demo: Demo, out: Path, *options: str, only: list[str], fault: str = "") -> dict[str, Any]:
    """Run the verifier with some checks; give those by id."""
    chosen = (f"--only={name}" for name in only)
    command = (demo.root / "venv/bin/python", demo.root / "helpers/verify_device.py", *options, *chosen, "--out", out)
    env = {**demo.env, **({"SIMXPU_FAULT": fault} if fault else {})}
    done = subprocess.run([str(word) for word in command], env=env, check=False, capture_output=True, text=True)
    assert "Traceback" not in done.stdout + done.stderr
    document = json.loads(out.read_text())
    assert done.returncode == (0 if document["verified"] else 1)
    return {check["id"]: check for check in document["checks"] if check["id"] in only}


@pytest.mark.long
def test_the_models_and_the_ranks_pass_on_the_cpu(demo: Demo, tmp_path: Path) -> None:
    """On simxpu all do so, among all checks, in test_verify.py."""
    found = verify(demo, tmp_path / "out.json", "--device", "cpu", only=[*MODELS, RANKS])
    assert {name: check["level"] for name, check in found.items()} == dict.fromkeys([*MODELS, RANKS], "ok")
    assert all("random weights, synthetic data" in found[name]["seen"] for name in MODELS)
    assert "inductor: 1 graph, " in found["models.infer_compiled"]["seen"]
    assert "0 graph breaks" in found["models.infer_compiled"]["seen"]
    assert " steps skipped" in found["models.train_amp_fp16"]["seen"]
    exact = "all_reduce (exact), all_gather (exact), broadcast (exact), a step of DistributedDataParallel"
    assert found[RANKS]["seen"].startswith(f"2 ranks over gloo: {exact}")


@pytest.mark.long
@pytest.mark.parametrize(
    ("fault", "levels", "seen"),
    [
        (
            "wrong-numbers",
            {
                "models.infer_fp32": "fail",
                "models.infer_compiled": "fail",
                "models.train_fp32": "fail",
                "models.learns": "ok",
            },
            "relative difference 5",
        ),
        by_name(
            "amp-noop",
            {"models.infer_fp32": "ok", "models.infer_amp_bf16": "fail", "models.train_amp_fp16": "fail"},
            "in float32: autocast has no effect",
        ),
    ],
)
def test_faults_fail_the_models_that_they_touch(
    demo: Demo, tmp_path: Path, fault: str, levels: dict[str, str], seen: str
) -> None:
    found = verify(demo, tmp_path / "out.json", *SIMXPU, only=list(levels), fault=fault)
    assert {name: check["level"] for name, check in found.items()} == levels
    assert seen in next(check["seen"] for check in found.values() if check["level"] == "fail")


HANG = """
import json
from helperlib.checks import collectives
from helperlib.verify import bench
outcome = collectives.check_ranks(bench.DeviceBench("simxpu", collectives="simccl"), each=3)
print(json.dumps([outcome.level, outcome.seen]))
"""


def test_ranks_that_hang_end_with_their_stacks(demo: Demo) -> None:
    done = subprocess.run(
        (str(demo.root / "venv/bin/python"), "-c", HANG),
        cwd=demo.root / "helpers",
        env={**demo.env, "SIMXPU_FAULT": "collective-hang"},
        check=True,
        capture_output=True,
        text=True,
    )
    level, seen = json.loads(done.stdout)
    assert level == "fail"
    assert seen.startswith("no answer within 3 s at all_reduce: rank 0: simxpu/collectives.py:")
    first, second = seen.split("; rank 1: ")
    assert "helpers/collective_rank.py" in first
    assert "threading.py" in second
    assert "simxpu/collectives.py" in second
