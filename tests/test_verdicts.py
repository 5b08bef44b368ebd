"""What a verification makes of what its checks saw: levels, causes, choices, and its JUnit form."""

from __future__ import annotations

import importlib
from pathlib import PurePosixPath
from types import SimpleNamespace
from typing import Any
from xml.etree import ElementTree as ET

import pytest

from golden import hold_one

verify_verdicts: Any = importlib.import_module("helperlib.verify.verdicts")
device_checks: Any = importlib.import_module("device_checks")
verify_bench: Any = importlib.import_module("helperlib.verify.bench")
verify_device: Any = importlib.import_module("verify_device")
checks_basics: Any = importlib.import_module("helperlib.checks.basics")
GAPS = {"ops.coverage": "no softmax yet"}


def result(name: str, level: str, verdict: str, since: str = "") -> Any:
    return verify_verdicts.BenchResult(name, name, level, "seen", verdict=verdict, since=since)


@pytest.mark.parametrize(
    ("one", "torch", "level"),
    [
        (result("ops.coverage", "ok", "ok"), "2.13.0", "info"),
        (result("ops.coverage", "fail", "unsupported"), "2.13.0", "skip"),
        (result("ops.coverage", "skip", "absent", "2.6"), "2.13.0", "skip"),
        (result("ops.coverage", "fail", "wrong"), "2.13.0", "fail"),
        (result("ops.coverage", "crash", "wrong"), "2.13.0", "crash"),
        (result("api.x", "ok", "ok"), "2.13.0", "ok"),
        (result("api.x", "fail", "unsupported"), "2.13.0", "fail"),
        (result("api.x", "skip", "absent", "2.6"), "2.5.1+xpu", "skip"),
        (result("api.x", "skip", "absent", "2.6"), "2.6.0", "fail"),
        (result("api.x", "skip", "absent", "2.10"), "2.9.0a0+git1234567", "skip"),
        (result("api.x", "skip", "absent", "2.10"), "2.13.0+cpu", "fail"),
        (result("api.x", "skip", "absent", "2.6"), "unknown", "fail"),
        (result("api.x", "skip", "absent"), "2.13.0", "skip"),
        (result("device.available", "skip", "absent"), "2.13.0", "skip"),
    ],
)
def test_levels(one: Any, torch: str, level: str) -> None:
    judged = verify_verdicts.judge_result(one, GAPS, torch)
    assert (judged.level, judged.verdict) == (level, one.verdict)
    assert (GAPS["ops.coverage"] in judged.seen) == (one.id in GAPS and level in ("info", "skip"))


@pytest.mark.parametrize(
    ("device", "kind", "listed"), [("xpu", "processor", True), ("cpu", "processor", False), ("xpu", "gpu", False)]
)
def test_what_no_processor_can_is_expected_where_one_stands_for_a_gpu(device: str, kind: str, *, listed: bool) -> None:
    gaps = verify_verdicts.list_gaps(device, {"devices": [{"kind": kind}]})
    assert ("models.infer_compiled" in gaps) == listed
    assert len(gaps) <= 5
    assert not {name.partition(".")[0] for name in gaps} & {"device", "numbers", "memory", "streams"}


@pytest.mark.parametrize(("files", "seen"), [(["a.so", "a.so.wheel"], True), (["a.so"], False), (None, False)])
def test_an_extension_whose_libraries_were_replaced_is_not_called_by_its_wheel(
    files: list[str] | None, *, seen: bool
) -> None:
    package = SimpleNamespace(name="demo", version="1", files=files and [PurePosixPath(name) for name in files])
    told = verify_device.describe_package(SimpleNamespace(dist=package, value="demo:load"))
    assert told == "demo 1" + (", no longer as its wheel: replaced in place" if seen else "")


RAISED = {
    "absent": (verify_bench.Absent("no such function, since 2.6"), ("skip", "absent", "2.6")),
    "nothing to try": (verify_bench.Absent("no float64 in this hardware"), ("skip", "absent", "")),
    "unsupported": (NotImplementedError("The operator 'aten::x' is not"), ("fail", "unsupported", "")),
    "an old torch": (RuntimeError("\"mm\" not implemented for 'Half'"), ("fail", "unsupported", "")),
    "wrong": (RuntimeError("device lost"), ("crash", "wrong", "")),
}


@pytest.mark.parametrize(("error", "expected"), RAISED.values(), ids=RAISED)
def test_what_is_raised(error: Exception, expected: tuple[str, str, str]) -> None:
    def run(_: object) -> None:
        raise error

    outcome = device_checks.perform(device_checks.BenchCheck("device.available", "available", run), None)
    assert (outcome.level, outcome.verdict, outcome.since) == expected


@pytest.mark.parametrize(
    ("failing", "name", "cause"),
    [
        (["device.memory"], "ops.coverage", "device.memory"),
        (["ops.coverage"], "api.mem_get_info", "ops.coverage"),
        (["numbers.matmul"], "api.mem_get_info", None),
        (["numbers.finite"], "api.gradient_checkpointing", "numbers.finite"),
        (["numbers.conv"], "models.resnet50", "numbers.conv"),
        (["numbers.conv", "amp.dtype"], "models.train_amp", "numbers.conv"),
        (["amp.dtype"], "models.train_amp", "amp.dtype"),
        (["amp.dtype"], "models.train", None),
        (["models.train"], "collectives.ddp", None),
    ],
)
def test_causes_are_areas(failing: list[str], name: str, cause: str | None) -> None:
    earlier = [result(one, "fail", "wrong") for one in failing]
    assert verify_verdicts.find_cause(result(name, "crash", "wrong"), earlier) == cause
    assert verify_verdicts.find_cause(result(name, "skip", "absent"), earlier) is None


def test_levels_are_nested_and_only_reaches_beyond() -> None:
    quick, smoke, full = (set(verify_verdicts.choose_checks(level)) for level in verify_verdicts.LEVELS)
    gates = set(device_checks.GATES)
    assert quick < smoke <= full
    assert gates <= quick
    assert set(verify_verdicts.choose_checks("quick", only=("api",))) - gates == {
        check.id for check in device_checks.CHECKS if check.id.startswith("api.")
    }
    without = verify_verdicts.choose_checks("smoke", skip=("numbers", "autoload"))
    assert set(without) == {name for name in smoke if not name.startswith("numbers.")}
    assert verify_verdicts.choose_checks("quick", only=("numbers.conv",))[-1] == "numbers.conv"


DUMP = """Timeout (0:00:05)!
Thread 0x0001 (most recent call first):
  File "/lib/python3.11/threading.py", line 5 in wait

Thread 0x0002 (most recent call first):
  File "/v/torch/accelerator/__init__.py", line 212 in synchronize
  File "/h/checks/basics.py", line 63 in check_responds
  File "/h/device_checks.py", line 50 in perform
  File "/h/device_checks.py", line 70 in watch
"""
STACK = ["accelerator/__init__.py:212 synchronize", "checks/basics.py:63 check_responds"]


@pytest.mark.parametrize(
    ("code", "text", "seen", "stack"),
    [
        (1, DUMP, f"no answer within 5 s, at {STACK[0]}", STACK),
        (-11, DUMP.replace("Timeout (0:00:05)!", "Fatal Python error"), f"Segmentation fault, at {STACK[0]}", STACK),
        (-9, "Timeout", "no answer within 5 s", []),
        (None, "Timeout", "it hangs inside the kernel, where no signal reaches it", []),
        (-9, "", "the process was ended: Killed", []),
        (3, "", "the process ended with exit code 3", []),
    ],
)
def test_ends(code: int | None, text: str, seen: str, stack: list[str]) -> None:
    found = verify_device.describe_end({"start": "device.responds", "within": 5}, code, text)
    assert (found.id, found.level, list(found.stack)) == ("device.responds", "crash", stack)
    assert found.seen.endswith(seen)


class Torch:
    """A torch with these accelerators, the first of them torch.accelerator's."""

    def __init__(self, *names: str, generic: bool = True) -> None:
        for name in names:
            setattr(self, name, self)
        if generic:
            self.accelerator = self
        self.names = names

    @property
    def type(self) -> str:
        return self.names[0]

    def is_available(self) -> bool:
        return bool(self.names)

    def current_accelerator(self) -> Torch:
        return self


@pytest.mark.parametrize(
    ("torch", "chosen"),
    [
        (Torch(), ("cpu", "no accelerator is available, so the CPU")),
        (Torch("xpu"), ("xpu", "xpu, available by torch.accelerator")),
        (Torch("cuda", "xpu"), ("cuda", "cuda, available by torch.accelerator; xpu not looked at")),
        (Torch("hpu", generic=False), ("hpu", "hpu, available by torch.hpu")),
    ],
)
def test_auto(torch: Torch, chosen: tuple[str, str]) -> None:
    assert checks_basics.choose_device(torch) == chosen


def test_golden_junit() -> None:
    blank = {"limit": None, "seconds": 0.25, "caused_by": None}
    document: dict[str, Any] = {
        "device": "simxpu:0",
        "devices": [{"name": "simulated"}],
        "versions": {"torch": "2.13.0+cpu"},
        "checks": [
            {**blank, "id": "device.available", "level": "ok", "seen": "one & only"},
            {**blank, "id": "numbers.matmul", "level": "fail", "seen": 'a "b" <c> \x1b[1m', "limit": "relative 1e-05"},
            {**blank, "id": "numbers.conv", "level": "crash", "seen": "it hung", "stack": STACK, "seconds": None},
            {**blank, "id": "amp.dtype", "level": "skip", "seen": "not run", "caused_by": "numbers.matmul"},
        ],
    }
    text = verify_verdicts.render_junit(document)
    assert [case.get("name") for case in ET.fromstring(text).iter("testcase")] == [  # noqa: S314, our own text
        check["id"] for check in document["checks"]
    ]
    hold_one("verify/junit.xml", text)
