"""What the verifier says of devices that are right, wrong, absent, silent or dead."""

from __future__ import annotations

import importlib
import json
import math
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

HELPERS = Path(__file__).parents[1] / "xpusetup" / "helpers"
verify_device: Any = importlib.import_module("verify_device")
device_checks: Any = importlib.import_module("device_checks")
verify_bench: Any = importlib.import_module("helperlib.verify.bench")
verify_verdicts: Any = importlib.import_module("helperlib.verify.verdicts")

IDS = [
    "autoload.import",
    "device.available",
    "device.responds",
    "device.memory",
    "ops.coverage",
    "numbers.finite",
    "numbers.matmul",
    "numbers.conv",
    "numbers.autograd",
    "numbers.model",
    "amp.dtype",
    "tensors.factories",
    "tensors.copies",
    "tensors.views",
    "kernels.reductions",
    "random.seed",
]
KEYS = ["device", "devices", "versions", "checks", "verified", "verified_on", "not_checked", "level"]
CHECK_KEYS = ["id", "title", "level", "seen", "limit", "seconds", "caused_by", "verdict"]


def results(levels: dict[str, str], **own: Any) -> list[Any]:
    """Make the results of these checks and find their causes, in order."""
    found: list[Any] = []
    for name, level in levels.items():
        one = verify_verdicts.BenchResult(name, name, level, "", **own)
        found.append(verify_device.replace(one, caused_by=verify_verdicts.find_cause(one, found)))
    return found


@pytest.mark.parametrize(
    ("levels", "causes"),
    [
        ({"numbers.matmul": "ok", "numbers.conv": "fail"}, [None, None]),
        ({"numbers.matmul": "fail", "numbers.conv": "ok"}, [None, None]),
        ({"numbers.matmul": "fail", "numbers.conv": "crash"}, [None, "numbers.matmul"]),
        (
            {"numbers.finite": "fail", "numbers.matmul": "fail", "numbers.model": "fail"},
            [None, "numbers.finite", "numbers.finite"],
        ),
        ({"numbers.conv": "fail", "numbers.autograd": "fail"}, [None, None]),
        ({"numbers.autograd": "fail", "amp.dtype": "fail"}, [None, None]),
        ({"numbers.conv": "fail", "numbers.autograd": "fail", "numbers.model": "fail"}, [None, None, "numbers.conv"]),
    ],
)
def test_causes(levels: dict[str, str], causes: list[str | None]) -> None:
    assert [one.caused_by for one in results(levels)] == causes


def test_autocast_without_effect_does_not_follow_from_wrong_numbers() -> None:
    assert results({"numbers.matmul": "fail", "amp.dtype": "fail"}, own_fault=True)[1].caused_by is None


def test_the_order_of_the_checks() -> None:
    assert list(verify_verdicts.choose_checks("quick")) == IDS


@pytest.mark.parametrize(
    ("levels", "verified"),
    [
        (dict.fromkeys(IDS, "ok"), True),
        ({**dict.fromkeys(IDS, "ok"), "autoload.import": "warn"}, True),
        ({**dict.fromkeys(IDS, "ok"), "numbers.conv": "fail"}, False),
        ({**dict.fromkeys(IDS, "ok"), "numbers.conv": "crash"}, False),
        ({"autoload.import": "ok", "device.available": "skip"}, None),
        ({"autoload.import": "ok", "device.available": "fail"}, False),
        ({"autoload.import": "ok", "device.available": "ok", "device.responds": "crash"}, False),
    ],
)
def test_verified(levels: dict[str, str], *, verified: bool | None) -> None:
    filled = verify_verdicts.fill_in(results(levels), IDS)
    assert verify_verdicts.is_verified(filled) is verified
    assert [one.id for one in filled] == IDS
    assert {one.caused_by for one in filled[len(levels) :]} <= {list(levels)[-1]}


@pytest.mark.parametrize(
    ("device", "kind", "said"),
    [
        ("cpu", None, "processor"),
        ("xpu", "gpu", "gpu"),
        ("xpu", "cpu", "processor"),
        ("cuda", None, "gpu"),
        ("hpu", None, "gpu"),
        ("simxpu", "gpu", "simulated"),
    ],
)
def test_what_computes(device: str, kind: str | None, said: str) -> None:
    assert verify_bench.kind_of(device, kind) == said


def difference(case: str, relative: float, cosine: float = 1.0, limit: float = 1e-5) -> Any:
    return verify_bench.NumericDifference(case, relative, cosine, limit)


@pytest.mark.parametrize(
    ("found", "level", "seen"),
    [
        ([difference("a", 1e-6), difference("b", 2e-6)], "ok", "2.0e-06, cosine 1.000000 (2 cases, the worst: b)"),
        (
            [difference("a", 1e-3, limit=1e-2), difference("b", 2e-6)],
            "ok",
            "2.0e-06, cosine 1.000000 (2 cases, the worst: b)",
        ),
        ([difference("a", 1e-3, 0.9999995)], "fail", "1.0e-03, cosine 1.000000 (at a)"),
        ([difference("a", 1e-6, -1.0)], "fail", "1.0e-06, cosine -1.000000 (at a)"),
        ([difference("a", 1.0), difference("b", math.nan, math.nan)], "fail", "nan, cosine nan (at b)"),
    ],
)
def test_the_worst_case_is_named(found: list[Any], level: str, seen: str) -> None:
    outcome = verify_bench.judge(found)
    assert (outcome.level, outcome.seen) == (level, f"relative difference {seen}")


ERROR = RuntimeError("Failed to load the backend extension: demo. You can ...")
ERROR.__cause__ = ImportError("libdemo.so: cannot open\nmore lines")


@pytest.mark.parametrize(
    ("error", "seen"),
    [
        (ValueError(), "ValueError: "),
        (ERROR, f"RuntimeError: {ERROR} because ImportError: libdemo.so: cannot open"),
    ],
)
def test_what_raises_is_a_crash_in_one_line(error: Exception, seen: str) -> None:
    def run(_: object) -> None:
        raise error

    check = device_checks.BenchCheck("device.available", "available", run)
    assert device_checks.perform(check, verify_bench.DeviceBench("demo")) == verify_bench.BenchOutcome(
        "crash", seen, verdict="wrong"
    )


STAND_IN = """
import os
__version__ = "0.0.1"
class Generator:
    def manual_seed(self, seed): pass
default_generator = Generator()
class Device:
    is_available = staticmethod(lambda: {available})
    device_count = staticmethod(lambda: int({available}))
    get_device_name = staticmethod(lambda index: "stand-in")
demo = Device()
{at_import}
"""
LOAD = """
import importlib.metadata
for entry in importlib.metadata.entry_points(group="torch.backends"):
    if os.environ.get("TORCH_DEVICE_BACKEND_AUTOLOAD", "1") == "1":
        try:
            entry.load()()
        except Exception as error:
            raise RuntimeError(f"Failed to load the backend extension: {entry.name}. You can disable ...") from error
"""


def run_with_stand_in(
    folder: Path, *options: str, at_import: str = "", available: bool = False, autoload: str = "1"
) -> tuple[int, dict[str, Any], str]:
    """Run the helper where `import torch` finds a small module that behaves as told."""
    (folder / "torch.py").write_text(STAND_IN.format(at_import=at_import, available=available))
    environment = {**os.environ, "PYTHONPATH": str(folder), "TORCH_DEVICE_BACKEND_AUTOLOAD": autoload}
    return run_helper(sys.executable, folder, "--device", "demo", *options, env=environment)


def run_helper(python: str, folder: Path, *options: str, env: dict[str, str]) -> tuple[int, dict[str, Any], str]:
    out = folder / "results" / "verify.json"
    command = (python, str(HELPERS / "verify_device.py"), "--level", "quick", *options, "--out", str(out))
    done = subprocess.run(command, capture_output=True, text=True, env=env, cwd=folder, check=False)
    assert "Traceback" not in done.stdout + done.stderr
    assert [path.name for path in out.parent.iterdir()] == ["verify.json"]
    return done.returncode, json.loads(out.read_text()), done.stdout


def make_extension(folder: Path, body: str) -> None:
    (folder / "demo_extension.py").write_text(body)
    info = folder / "demo_extension-1.2.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: demo-extension\nVersion: 1.2\n")
    (info / "entry_points.txt").write_text("[torch.backends]\ndemo = demo_extension:load\n")


def first_trouble(document: dict[str, Any]) -> tuple[str, str, str]:
    assert (list(document), [check["id"] for check in document["checks"]]) == (KEYS, IDS)
    assert {tuple(key for key in check if key != "stack") for check in document["checks"]} == {tuple(CHECK_KEYS)}
    found = next(check for check in document["checks"] if check["level"] not in {"ok", "info"})
    assert {check["caused_by"] for check in document["checks"] if check["level"] == "skip"} <= {found["id"], None}
    seen, at, where = found["seen"].partition(", at ")  # the place is in a folder of another name each time
    assert where == (found["stack"][0] if at else "")
    return found["id"], found["level"], seen


@pytest.mark.e2e
@pytest.mark.parametrize(
    ("torch", "options", "code", "verified", "trouble"),
    [
        ({}, (), 4, None, ("device.available", "skip", "no demo device here")),
        ({}, ("--expected",), 1, False, ("device.available", "fail", "no demo device here")),
        ({"at_import": "del demo"}, (), 4, None, ("device.available", "skip", "this torch knows no device named demo")),
        (
            {"at_import": "raise ImportError('libc10.so: not found')"},
            (),
            1,
            False,
            ("autoload.import", "fail", "torch itself cannot be imported: ImportError: libc10.so: not found"),
        ),
        (
            {"at_import": "os.kill(os.getpid(), 11)"},
            (),
            1,
            False,
            ("autoload.import", "fail", "torch itself cannot be imported: the process was ended: Segmentation fault"),
        ),
        (
            {"available": True, "at_import": "Device.is_available = lambda _: __import__('time').sleep(60)"},
            ("--patience", "1"),
            1,
            False,
            ("device.available", "crash", "no answer within 1 s"),
        ),
        (
            {"available": True},
            (),
            1,
            False,
            ("device.responds", "crash", "AttributeError: module 'torch' has no attribute 'ones'"),
        ),
    ],
)
def test_a_torch_that_misbehaves(
    tmp_path: Path,
    torch: dict[str, Any],
    options: tuple[str, ...],
    code: int,
    verified: bool | None,
    trouble: tuple[str, str, str],
) -> None:
    ended, document, _ = run_with_stand_in(tmp_path, *options, **torch)
    assert (ended, document["verified"], first_trouble(document)) == (code, verified, trouble)


@pytest.mark.e2e
def test_a_broken_extension_is_told_from_a_broken_torch(tmp_path: Path) -> None:
    make_extension(tmp_path, "def load():\n    raise ImportError('libdemo.so: cannot open')\n")
    code, document, said = run_with_stand_in(tmp_path, at_import=LOAD)
    seen = (
        "extension demo (demo-extension 1.2) cannot be loaded: ImportError: libdemo.so: cannot open; torch itself can"
    )
    assert (code, first_trouble(document)) == (1, ("autoload.import", "fail", seen))
    *lines, summary = said.splitlines()
    assert lines == [f"fail  import torch: {seen}"]
    assert summary == f"= 1 of {len(IDS)} checks failed"
    assert document["versions"]["extensions"] == {"demo": "demo-extension 1.2"}


@pytest.mark.e2e
@pytest.mark.parametrize("value", ["0", "", "true"])
def test_extensions_are_loaded_even_where_they_are_turned_off(tmp_path: Path, value: str) -> None:
    make_extension(tmp_path, "def load():\n    print('loaded')\n")
    code, document, said = run_with_stand_in(tmp_path, at_import=LOAD, autoload=value)
    assert (code, document["checks"][0]["level"]) == (4, "warn")
    assert f"TORCH_DEVICE_BACKEND_AUTOLOAD={value} here turns extensions off" in document["checks"][0]["seen"]
    assert "loaded\n" not in said


def test_a_device_of_torch_itself_is_looked_at_without_them_where_they_are_turned_off(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Beside a loaded extension CUDA's backward passes fail: whoever turned it off is not to see that."""
    monkeypatch.setenv("TORCH_DEVICE_BACKEND_AUTOLOAD", "0")
    assert [verify_device.switch_for(name) for name in ("cuda", "xpu", "demo", "auto")] == ["0", "0", "1", "1"]
    found = verify_device.BenchResult("autoload.import", "import torch", "ok", "torch 2.13.0")
    told = verify_device.explain(found, "cuda", {"demo": "demo-extension 1.2"}, expected=False)
    assert (told.level, told.seen) == ("ok", "torch 2.13.0; TORCH_DEVICE_BACKEND_AUTOLOAD=0: without demo")
    monkeypatch.delenv("TORCH_DEVICE_BACKEND_AUTOLOAD")
    assert [verify_device.switch_for(name) for name in ("cuda", "demo")] == ["1", "1"]


@pytest.mark.e2e
@pytest.mark.parametrize("name", ["xpu:0", "", "two words"])
def test_bad_usage(name: str) -> None:
    command = (sys.executable, str(HELPERS / "verify_device.py"), "--device", name)
    assert subprocess.run(command, capture_output=True, check=False).returncode == 2


@pytest.mark.e2e
@pytest.mark.xdist_group("demo")
def test_the_cpu_computes_as_the_cpu(tmp_path: Path, torch_python: str) -> None:
    code, document, said = run_helper(torch_python, tmp_path, "--device", "cpu", env=dict(os.environ))
    assert (code, document["verified"], document["device"]) == (0, True, "cpu")
    assert [(check["id"], check["level"]) for check in document["checks"]] == [(name, "ok") for name in IDS]
    *lines, summary = said.splitlines()
    assert len(lines) == len(IDS)
    assert summary.startswith(f"= {len(IDS)} checks | ")
    assert document["versions"]["torch"].split(".")[0] == "2"


@pytest.mark.e2e
@pytest.mark.xdist_group("demo")
def test_a_device_that_torch_does_not_know(tmp_path: Path, torch_python: str) -> None:
    code, document, _ = run_helper(torch_python, tmp_path, "--device", "nonsense", env=dict(os.environ))
    assert (code, document["verified"], document["devices"]) == (4, None, [])
    assert document["not_checked"][: len(IDS) - 1] == IDS[1:]
