"""What the model and collective checks conclude from what they saw, without torch."""

from __future__ import annotations

import importlib
import json
import math
import sys
from collections import Counter
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

HELPERS = Path(__file__).parents[1] / "xpusetup" / "helpers"
checks_models: Any = importlib.import_module("helperlib.checks.models")
checks_collectives: Any = importlib.import_module("helperlib.checks.collectives")
checks_guide: Any = importlib.import_module("helperlib.checks.guide")
verify_bench: Any = importlib.import_module("helperlib.verify.bench")

ORDER = {"backend": "gloo", "device": "cpu", "devices": 1, "start": 120, "each": 60}


@pytest.mark.parametrize(
    ("kinds", "seen"),
    [
        ({"float16": 54}, None),
        ({"float32": 54}, "of 54 results of convolutions and linear layers 54 in float32: autocast has no effect"),
        (
            {"float32": 1, "float16": 53},
            "of 54 results of convolutions and linear layers 1 in float32: autocast misses some",
        ),
        ({}, "of 0 results of convolutions and linear layers none ran: autocast has no effect"),
    ],
)
def test_autocast_is_judged_by_what_comes_out(kinds: dict[str, int], seen: str | None) -> None:
    found = checks_models.judge_dtypes(Counter(kinds), "float16")
    assert (found and found.seen) == seen


def test_a_dtype_that_the_device_does_not_list_is_unsupported() -> None:
    torch = SimpleNamespace(float16="half", bfloat16="brain")
    module = SimpleNamespace(get_amp_supported_dtype=lambda: ["brain"])
    bench: Any = SimpleNamespace(name="demo", torch=torch, module=module)
    checks_models.refuse_dtype(bench, "bfloat16")
    with pytest.raises(NotImplementedError, match=r"autocast to float16: torch\.demo does not list it"):
        checks_models.refuse_dtype(bench, "float16")


@pytest.mark.parametrize(
    ("counts", "trouble"),
    [
        ({"calls": 3, "graphs": 1, "runs": 3, "kernels": 70}, ""),
        ({"calls": 3, "graphs": 2, "runs": 6, "breaks": 1}, ""),
        ({"calls": 3}, "nothing was compiled"),
        ({"calls": 3, "graphs": 1, "runs": 1}, "compiled code ran in 1 of 3 calls"),
        ({"calls": 3, "graphs": 1, "runs": 3, "kernels": 0}, "inductor wrote no kernel"),
    ],
)
def test_only_code_that_ran_counts_as_compiled(counts: dict[str, int], trouble: str) -> None:
    assert checks_models.Compiled("inductor", **counts).find_trouble() == trouble


def test_a_switch_that_turns_compiling_off_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TORCHDYNAMO_DISABLE", "1")
    compiled = checks_models.Compiled("inductor", calls=3)
    assert compiled.find_trouble() == "nothing was compiled (TORCHDYNAMO_DISABLE=1)"
    assert str(compiled) == "inductor: 0 graphs, 0 graph breaks"


@pytest.mark.parametrize(
    ("device", "there", "why"),
    [
        ("xpu", {"nvidia": 1, "amd": 1}, "Triton is installed for amd, nvidia and not for intel"),
        ("xpu", {"intel": 1}, ""),
        ("cuda", {"nvidia": 1}, ""),
        ("xpu", None, ""),
    ],
)
def test_the_triton_of_other_devices_is_said(
    device: str, there: dict[str, int] | None, why: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "triton", None if there is None else SimpleNamespace())
    monkeypatch.setitem(sys.modules, "triton.backends", None if there is None else SimpleNamespace(backends=there))
    assert checks_models.lacks_triton(device) == why


def test_a_missing_compiler_is_told_from_other_errors() -> None:
    missing = RuntimeError("backend failed")
    missing.__cause__ = type("InvalidCxxCompiler", (RuntimeError,), {})("No working C++ compiler found")
    with pytest.raises(verify_bench.Absent, match=r"no C\+\+ compiler here"):
        checks_models.refuse_missing_compiler(missing)
    checks_models.refuse_missing_compiler(RuntimeError("backend failed"))


def difference(run: str, relative: float, cosine: float = 1.0) -> Any:
    return verify_bench.NumericDifference(run, relative, cosine, 1e-4)


@pytest.mark.parametrize(
    ("found", "level", "seen"),
    [
        ([difference("run 1", 1e-6), difference("run 2", 2e-6)], "ok", "relative difference 2.0e-06, cosine 1.00000"),
        (
            [difference("run 1", 1e-3), difference("run 2", 0)],
            "fail",
            "relative difference 1.0e-03, cosine 1.00000 in run 1",
        ),
        ([difference("run 1", 1e-6, 0.5)], "fail", "relative difference 1.0e-06, cosine 0.50000 in run 1"),
        (
            [difference("run 1", 1.0), difference("run 2", math.nan, math.nan)],
            "fail",
            "relative difference nan, cosine nan in run 2",
        ),
    ],
)
def test_every_run_has_to_be_right(found: list[Any], level: str, seen: str) -> None:
    outcome = checks_models.judge_logits(found, 0.9999)
    assert (outcome.level, outcome.seen) == (level, seen)


@pytest.mark.parametrize(
    ("ours", "right", "distance"),
    [([2.0, 1.0], [2.0, 1.0], 0.0), ([2.0, 1.5], [2.0, 1.0], 0.5), ([2.0, math.nan], [2.0, 1.0], math.nan)],
)
def test_losses_are_compared_step_by_step(ours: list[float], right: list[float], distance: float) -> None:
    pair = [checks_guide.Trained(losses, [True, True]) for losses in (ours, right)]
    assert checks_guide.find_distance(*pair) == pytest.approx(distance, nan_ok=True)


@pytest.mark.parametrize(
    ("cost", "text"),
    [
        (((1.5,), 3 << 30, True), "1.50 s, peak 3.0 GiB"),
        (((1.5, 0.3, 0.2), 100 << 20, False), "1.50 s, then 0.20 s, peak 100 MiB of the process"),
    ],
)
def test_what_it_cost(cost: tuple[tuple[float, ...], int, bool], text: str) -> None:
    seconds, peak, of_device = cost
    assert str(verify_bench.Cost(seconds, peak, of_device=of_device)) == text


STACK = """Timeout (0:00:05)!
Thread 0x00007f0000000001 (most recent call first):
  File "/env/lib/python3.11/threading.py", line 1002 in run

Thread 0x00007f0000000002 (most recent call first):
  File "/env/site-packages/torch/distributed/distributed_c10d.py", line 3245 in all_reduce
  File "/root/helpers/collective_rank.py", line 56 in check_all_reduce
"""
AT = "distributed/distributed_c10d.py:3245 all_reduce, helpers/collective_rank.py:56 check_all_reduce"
DONE = {"done": "all_reduce", "level": "ok", "seen": "exact"}
WRONG = {"done": "all_reduce", "level": "fail", "seen": "wrong in bfloat16"}
END = ({"start": "end"}, {"done": "end", "level": "ok", "seen": ""})
START = {"start": "all_reduce"}


def told(*events: dict[str, Any], stacks: str = "") -> Any:
    return checks_collectives.read_rank("".join(json.dumps(event) + "\n" for event in events), stacks)


@pytest.mark.parametrize(
    ("ranks", "log", "level", "seen"),
    [
        ([told(START, DONE, *END)] * 2, "", "ok", "2 ranks over gloo: all_reduce (exact)"),
        ([told(DONE, *END), told(WRONG, *END)], "", "fail", "all_reduce, rank 1: wrong in bfloat16"),
        (
            [told(START, stacks=STACK), told(START, stacks=STACK)],
            "",
            "fail",
            f"no answer within 60 s at all_reduce: rank 0: {AT}; rank 1: {AT}",
        ),
        (
            [told({"start": "start"}, stacks=STACK), told({"start": "start"})],
            "",
            "fail",
            f"no answer within 120 s at start: rank 0: {AT}; rank 1: no stack",
        ),
        (
            [
                told(START, {"error": "RuntimeError: connection closed", "time": 2.0}),
                told(START, {"error": "RuntimeError: device lost", "time": 1.0}),
            ],
            "",
            "fail",
            "rank 1 at all_reduce: RuntimeError: device lost",
        ),
        (
            [
                told(START, {"error": "RuntimeError: connection closed", "time": 2.0}),
                told(START, stacks=STACK.replace("Timeout (0:00:05)!", "Fatal Python error: Segmentation fault\n")),
            ],
            "",
            "fail",
            "rank 1 at all_reduce: Segmentation fault, distributed/distributed_c10d.py:3245 all_reduce",
        ),
        ([told(DONE, *END), told(START)], "", "fail", "rank 1 ended at all_reduce"),
        (
            [told(), told()],
            "Traceback (most recent call last):\nOSError: no loopback\n====\n",
            "fail",
            "rank 0 ended at its beginning, rank 1 ended at its beginning; OSError: no loopback",
        ),
    ],
)
def test_what_kept_two_ranks_from_their_end(ranks: list[Any], log: str, level: str, seen: str) -> None:
    outcome = checks_collectives.judge_ranks(ranks, ORDER, log)
    assert (outcome.level, outcome.seen) == (level, seen)


def test_one_device_that_two_ranks_cannot_share_is_no_fault() -> None:
    ranks = [told(START, {"error": "RuntimeError: device busy", "time": 1.0}), told(START)]
    order = {**ORDER, "backend": "xccl", "device": "xpu"}
    shared = checks_collectives.judge_ranks(ranks, order, "")
    seen = "2 ranks on the one device, which xccl may refuse: rank 0 at all_reduce: RuntimeError: device busy"
    assert (shared.level, shared.seen) == ("skip", seen)
    assert checks_collectives.judge_ranks(ranks, {**order, "devices": 2}, "").level == "fail"
    wrong = [told(WRONG, *END), told(DONE, *END)]
    assert checks_collectives.judge_ranks(wrong, order, "").level == "fail"


def make_bench(name: str, *backends: str, named: str = "", registered: str = "", built: bool = True) -> Any:
    dist = SimpleNamespace(
        is_available=lambda: built,
        is_backend_available=lambda backend: backend in backends,
        Backend=SimpleNamespace(default_device_backend_map={name: registered} if registered else {}),
    )
    module = SimpleNamespace(device_count=lambda: 1)
    return SimpleNamespace(name=name, collectives=named, torch=SimpleNamespace(distributed=dist), module=module)


@pytest.mark.parametrize(
    ("bench", "backend"),
    [
        (make_bench("cpu", "gloo"), "gloo"),
        (make_bench("xpu", "xccl"), "xccl"),
        (make_bench("demo", "democcl", registered="democcl"), "democcl"),
        (make_bench("demo", "other", named="other", registered="democcl"), "other"),
    ],
)
def test_the_back_end_of_a_device(bench: Any, backend: str) -> None:
    assert checks_collectives.choose_backend(bench) == backend


@pytest.mark.parametrize(
    ("bench", "error", "text"),
    [
        (make_bench("demo"), NotImplementedError, "no back end of torch.distributed for demo"),
        (make_bench("xpu"), verify_bench.Absent, "xccl: this torch was built without it"),
        (make_bench("cpu", built=False), verify_bench.Absent, "torch.distributed: this torch was built without it"),
    ],
)
def test_no_back_end(bench: Any, error: type[Exception], text: str) -> None:
    with pytest.raises(error, match=text):
        checks_collectives.choose_backend(bench)


def test_ranks_that_need_a_device_each_are_not_started_on_one() -> None:
    outcome = checks_collectives.check_ranks(make_bench("cuda", "nccl"))
    assert (outcome.level, outcome.seen) == ("skip", "nccl needs a device for each of 2 ranks; there is 1")


def test_an_error_that_announces_its_cause_is_told_with_it() -> None:
    text = "backend='compile_graph' raised:\nModuleNotFoundError: No module named 'setuptools'\n\nSet TORCH_LOGS"
    assert verify_bench.describe_error(RuntimeError(text)) == (
        "RuntimeError: backend='compile_graph' raised: ModuleNotFoundError: No module named 'setuptools'"
    )
    assert verify_bench.describe_error(RuntimeError("one\ntwo")) == "RuntimeError: one"
    assert verify_bench.describe_error(RuntimeError()) == "RuntimeError: "
