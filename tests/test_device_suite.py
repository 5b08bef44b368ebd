"""The device suite on paper: how it judges, and that a broken device exists for each check."""

from __future__ import annotations

import ast
import importlib
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Callable

ROOT = Path(__file__).parents[1]
verdicts: Any = importlib.import_module("helperlib.verify.verdicts")
verify_bench: Any = importlib.import_module("helperlib.verify.bench")
CHECKS = {check.id: check for check in verdicts.SUITE}
BENCH = verify_bench.DeviceBench("demo")


def read_breakages() -> list[tuple[str, str]]:
    """Give the check and the case of each breakage, from a script that only an environment with torch can run."""
    tree = ast.parse((ROOT / "tests/e2e/files/breakages.py").read_text())
    table = next(one for one in tree.body if isinstance(one, ast.AnnAssign) and ast.unparse(one.target) == "BREAKAGES")
    assert isinstance(table.value, ast.Tuple)
    rows = [row.elts[:2] for row in table.value.elts if isinstance(row, ast.Tuple)]
    return [(str(ast.literal_eval(check)), str(ast.literal_eval(case))) for check, case in rows]


def test_ids_are_unique() -> None:
    assert len(CHECKS) == len(verdicts.SUITE)


def test_a_device_is_broken_for_every_check() -> None:
    alone = {"training.placement"}  # needs accelerate, so it has a test of its own
    assert {check for check, _ in read_breakages()} == set(CHECKS) - alone


def test_an_interface_that_the_backend_left_out_is_absent(monkeypatch: pytest.MonkeyPatch) -> None:
    """As torch 2.11 says of CUDA: only from the release on that has it for Intel GPUs it is a fault."""
    api = importlib.import_module("helperlib.checks.api")
    error = RuntimeError("Backend doesn't support getting device capabilities.\nException raised from ...")

    cuda = SimpleNamespace(is_available=lambda: True, get_device_capability=fail(error))
    monkeypatch.setitem(sys.modules, "torch", SimpleNamespace(cuda=cuda))
    row = api.ApiRow("get_device_capability", "2.13", "", lambda _, function: function())
    with pytest.raises(verify_bench.Absent, match="Backend doesn't support getting device capabilities") as caught:
        api.check_row(row, verify_bench.DeviceBench("cuda"))
    result = verdicts.BenchResult("api.x", "x", "skip", str(caught.value), verdict="absent", since=caught.value.since)
    levels = [verdicts.judge_result(result, {}, torch).level for torch in ("2.11.0+cu130", "2.13.0")]
    assert levels == ["skip", "fail"]


@pytest.mark.parametrize(
    ("name", "current", "rival"),
    [("cuda", "simxpu", "simxpu"), ("cuda", "cuda", ""), ("cpu", "xpu", ""), ("xpu", None, ""), ("xpu", "", "")],
)
def test_another_accelerator_of_the_process(
    name: str, current: str | None, rival: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As CUDA beside a loaded extension was seen to fail in every backward pass. None: no torch.accelerator."""
    told = SimpleNamespace(type=current) if current else None
    torch = SimpleNamespace() if current is None else SimpleNamespace(accelerator=SimpleNamespace())
    if current is not None:
        torch.accelerator.current_accelerator = lambda: told
    monkeypatch.setitem(sys.modules, "torch", torch)
    basics = importlib.import_module("helperlib.checks.basics")
    assert basics.find_rival(verify_bench.DeviceBench(name)) == rival


@pytest.mark.parametrize(
    ("variables", "found"),
    [
        ({}, ""),
        ({"TORCH_ALLOW_TF32_CUBLAS_OVERRIDE": "1"}, "TORCH_ALLOW_TF32_CUBLAS_OVERRIDE=1"),
        ({"NVIDIA_TF32_OVERRIDE": "0", "ONEDNN_DEFAULT_FPMATH_MODE": "STRICT"}, ""),
        ({"ONEDNN_DEFAULT_FPMATH_MODE": "BF16"}, "ONEDNN_DEFAULT_FPMATH_MODE=BF16"),
    ],
)
def test_what_takes_digits_from_float32(variables: dict[str, str], found: str, monkeypatch: pytest.MonkeyPatch) -> None:
    basics = importlib.import_module("helperlib.checks.basics")
    for name in basics.LOWERING:
        monkeypatch.delenv(name, raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    assert basics.find_lowered() == found


def test_a_device_whose_memory_others_hold(monkeypatch: pytest.MonkeyPatch) -> None:
    error = RuntimeError("CUDA error: out of memory\nSearch for it")
    torch = SimpleNamespace(ones=lambda *_, **__: fail(error)())
    monkeypatch.setitem(sys.modules, "torch", torch)
    basics = importlib.import_module("helperlib.checks.basics")
    outcome = basics.check_responds(verify_bench.DeviceBench("cuda"))
    assert (outcome.level, "another process holds its memory" in outcome.seen) == ("fail", True)


def fail(error: Exception) -> Callable[[], Any]:
    def run() -> None:
        raise error

    return run


def fact(name: str, found: Any, right: Any = 1) -> Any:
    return verify_bench.fact(name, fail(found) if isinstance(found, Exception) else lambda: found, right)


@pytest.mark.parametrize(
    ("cases", "level", "seen"),
    [
        ([fact("a", 1), fact("b", "x", "x")], "ok", "2 cases, all equal"),
        ([fact("a", 1), fact("b", 2)], "fail", "b: 2 instead of 1; wrong: 1 of 2 cases"),
        ([fact("a", (1, 2), (1,))], "fail", "a: 2 results instead of 1; wrong: 1 of 1 cases"),
        ([fact("a", (1, 3), (1, 2))], "fail", "a: 3 instead of 2; wrong: 1 of 1 cases"),
        ([fact("a", ValueError("no\nmore"))], "fail", "a: ValueError: no; wrong: 1 of 1 cases"),
        (
            [fact(name, 2) for name in "abcdef"],
            "fail",
            "a: 2 instead of 1; also b, c, d, ...; wrong: 6 of 6 cases",
        ),
        (
            [fact("a", NotImplementedError("aten::x")), fact("b", 2)],
            "fail",
            "b: 2 instead of 1; wrong: 1 of 2 cases",
        ),
    ],
)
def test_verdicts(cases: list[Any], level: str, seen: str) -> None:
    outcome = verify_bench.run_cases(BENCH, cases)
    assert (outcome.level, outcome.seen) == (level, seen)


@pytest.mark.parametrize(
    "error",
    [
        NotImplementedError("aten::x"),
        RuntimeError("\"x_cpu\" not implemented for 'Half'"),
        RuntimeError("Backend doesn't support elapsedTime."),
    ],
)
def test_what_a_device_lacks_is_not_wrong(error: Exception) -> None:
    with pytest.raises(NotImplementedError, match=r"a: .*; unsupported: 1 of 2 cases"):
        verify_bench.run_cases(BENCH, [fact("a", error), fact("b", 1)])


def test_the_worst_case_is_that_nearest_to_its_limit() -> None:
    verdicts = [
        verify_bench.CaseVerdict("a", relative=1e-3, share=0.1),
        verify_bench.CaseVerdict("b", relative=1e-6, share=0.9),
    ]
    assert verify_bench.describe_worst(verdicts) == ", the worst: b, relative 1.0e-06"


@pytest.mark.parametrize(
    ("device", "text", "since"),
    [
        ("cpu", "the CPU has no mem_get_info", ""),
        ("xpu", "torch.xpu.mem_get_info, since 2.6", "2.6"),
        ("demo", "torch.demo.mem_get_info, since 2.9", "2.9"),
    ],
)
def test_what_a_torch_lacks_is_said_with_its_release(
    device: str, text: str, since: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "torch", sys)  # a module that has nothing of torch
    with pytest.raises(verify_bench.Absent, match=text) as raised:
        verify_bench.find_function(verify_bench.DeviceBench(device), "mem_get_info", "2.6")
    assert raised.value.since == since
