"""What became of a guarded environment, and who did it."""

from __future__ import annotations

import base64
import hashlib
import importlib
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from data.profiles import shipped
from data.targets import NEW, plan_for
from xpusetup.base.model import Layout, Request
from xpusetup.plan.install import make_install_plan
from xpusetup.run.guard import (
    WINDOW,
    CurrentDistribution,
    DistributionChange,
    Guard,
    RecordedDistribution,
    ReplacedPackage,
    UnwantedDistribution,
    describe,
    find_altered,
    find_changes,
    find_replaced,
    find_steps,
    parse_guard,
)

GUARD = Guard(
    packages="/env/site-packages",
    kept=(
        RecordedDistribution(name="torch", version="2.14.1+xpu"),
        RecordedDistribution(name="triton-xpu", version="3.8.0"),
    ),
    conflicts=(
        UnwantedDistribution(name="triton", of="triton-xpu", why="it owns the folder triton"),
        UnwantedDistribution(name="pytorch-triton", of="triton-xpu", why="it owns the folder triton"),
    ),
)
AS_IT_WAS = {"torch": "2.14.1+xpu", "triton-xpu": "3.8.0", "numpy": "2.4.6"}
NOON = 1_795_000_000.0
REPLACED = DistributionChange(name="torch", was="2.14.1+xpu", now="2.9.0", of="torch")


def torch(**more: Any) -> CurrentDistribution:
    return CurrentDistribution(**{"name": "torch", "version": "2.9.0", "installer": "pip", "installed": NOON, **more})


def other(*requires: str, name: str = "accelerate", at: float = 0, **more: Any) -> CurrentDistribution:
    return CurrentDistribution(
        name=name, version="1.2.3", requires=requires, installed=NOON + at, installer="pip", **more
    )


def _said(seconds: float) -> str:
    return datetime.fromtimestamp(seconds).astimezone().isoformat(timespec="seconds")


def judge(*now: CurrentDistribution, change: DistributionChange = REPLACED) -> ReplacedPackage:
    return find_replaced([change], now)[0]


@pytest.mark.parametrize(
    ("now", "rewritten", "changes"),
    [
        ({}, {}, []),
        ({"torch": "2.14.1+xpu"}, {"torch": False}, []),
        ({"torch": "2.14.1"}, {}, [("torch", "2.14.1+xpu", "2.14.1", "torch")]),
        ({"torch": "2.14.1+cpu"}, {}, [("torch", "2.14.1+xpu", "2.14.1+cpu", "torch")]),
        ({"torch": None}, {}, [("torch", "2.14.1+xpu", None, "torch")]),
        ({}, {"torch": True}, [("torch", "2.14.1+xpu", "2.14.1+xpu", "torch")]),
        ({"triton": "3.5.0"}, {}, [("triton", None, "3.5.0", "triton-xpu")]),
        ({"numpy": "1.26"}, {}, []),
    ],
)
def test_changes(now: dict[str, str | None], rewritten: dict[str, bool], changes: list[Any]) -> None:
    seen = {name: version for name, version in {**AS_IT_WAS, **now}.items() if version}
    found = find_changes(GUARD, seen, rewritten)
    assert [(each.name, each.was, each.now, each.of) for each in found] == changes


@pytest.mark.parametrize(
    ("others", "culprit", "why"),
    [
        (
            [other("torch==2.9.0")],
            "accelerate 1.2.3",
            "accelerate 1.2.3 (installed at the same time) requires torch==2.9.0",
        ),
        (
            [other("torch<2.10", at=-WINDOW - 1)],
            "accelerate 1.2.3",
            "accelerate 1.2.3 requires torch<2.10",
        ),
        (
            [other("torch>=2")],
            "accelerate 1.2.3",
            "requires torch>=2, which 2.14.1+xpu satisfied: an upgrade was asked for",
        ),
        ([other("torch>=2", at=-WINDOW - 1)], "", "nothing here says who asked for it"),
        ([other("torch==2.14.1")], "accelerate 1.2.3", "which 2.14.1+xpu satisfied"),
        ([other("torch>=2"), other("torch==2.9.0", name="peft")], "peft 1.2.3", "peft 1.2.3 (installed at the same"),
        ([other('torch==2.9.0; extra == "gpu"')], "", "nothing here says"),
        ([other('torch==2.9.0; python_version < "3"')], "", "nothing here says"),
        ([other("torch (==2.9.0)")], "accelerate 1.2.3", "requires torch==2.9.0"),
        ([other("not a requirement !")], "", "nothing here says"),
        ([], "", "nothing here says who asked for it"),
    ],
)
def test_the_culprit_of_a_replaced_torch(others: list[CurrentDistribution], culprit: str, why: str) -> None:
    found = judge(torch(), *others)
    assert found.culprit == culprit
    assert why in found.why
    assert (found.was, found.now, found.by, found.when) == ("2.14.1+xpu", "2.9.0", "pip", _said(NOON))


@pytest.mark.parametrize(
    ("installer", "command"),
    [("pip", "pip install torch"), ("uv", "uv pip install torch"), ("conda", "by conda torch")],
)
def test_asked_for_by_name(installer: str, command: str) -> None:
    found = judge(torch(installer=installer, requested=True), other("torch>=2"))
    assert (found.culprit, found.why) == ("torch 2.9.0", f"it was asked for by name: {command}")


def test_one_that_needs_another_version_goes_before_the_name() -> None:
    found = judge(torch(requested=True), other("torch==2.9.0"))
    assert found.culprit == "accelerate 1.2.3"


def test_what_an_earlier_one_needs_does_not_excuse_whoever_asked() -> None:
    found = judge(torch(requested=True), other("torch==2.9.0", at=-WINDOW - 1))
    assert found.culprit == "torch 2.9.0"


def test_a_cuda_build_is_called_so() -> None:
    needs = ("nvidia-cublas-cu12==12.8.4.1; platform_system == 'Linux'",)
    assert judge(torch(requires=needs)).why.endswith("; this one is built for CUDA")


def test_what_is_gone_has_no_culprit() -> None:
    change = DistributionChange(name="torch", was="2.14.1+xpu", now=None, of="torch")
    found = judge(other("torch==2.9.0"), change=change)
    assert (found.culprit, found.when, found.by) == ("", None, "")
    assert found.why == "nothing that is left says who removed it"


def test_a_second_triton_names_who_brought_it() -> None:
    change = DistributionChange(name="triton", was=None, now="3.5.0", of="triton-xpu", why="it owns the folder triton")
    came = CurrentDistribution(name="triton", version="3.5.0", installed=NOON, installer="pip")
    found = judge(torch(requires=("triton==3.5.0",)), came, change=change)
    assert found.culprit == "torch 2.9.0"
    assert found.why == "it owns the folder triton; torch 2.9.0 (installed at the same time) requires triton==3.5.0"


CHANGES = {
    "torch": REPLACED,
    "torch-again": DistributionChange(name="torch", was="2", now="2", of="torch"),
    "gone": DistributionChange(name="torch", was="2", now=None, of="torch"),
    "triton": DistributionChange(name="triton", was=None, now="3.5.0", of="triton-xpu"),
    "library": DistributionChange(name="intel-sycl-rt", was="2026.1.0", now="2025.3", of="intel-sycl-rt"),
}


@pytest.mark.parametrize(
    ("name", "built", "installed"),
    [
        ("torch", "torch.install", "wheels.install"),
        ("triton", "triton.install", "wheels.install"),
        ("library", "runtime", "wheels.install"),
    ],
)
def test_steps_that_mend_it(name: str, built: str, installed: str) -> None:
    plans = {
        built: plan_for("torch-2.14"),
        installed: make_install_plan(shipped("torch-2.14"), Request(), NEW, Layout()),
    }
    for step, plan in plans.items():
        assert find_steps([CHANGES[name]], plan.steps) == {step: describe(CHANGES[name])}


def test_a_plan_that_installs_nothing_mends_nothing() -> None:
    assert find_steps([CHANGES["library"]], plan_for("sim").steps) == {}


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("torch", "torch 2.14.1+xpu was replaced by 2.9.0"),
        ("torch-again", "torch 2 was replaced by another build of the same version"),
        ("gone", "torch 2 was removed from the environment"),
        ("triton", "triton 3.5.0 came into the environment"),
    ],
)
def test_words(name: str, words: str) -> None:
    assert describe(CHANGES[name]) == words


def test_the_record_is_read_back() -> None:
    kept = {"name": "torch", "version": "1", "record": "r", "sha256": "s", "size": 1, "changed": 2}
    conflict = {"name": "triton", "of": "triton-xpu", "why": "w"}
    document = {"schema": 1, "packages": "/p", "settings": "/c", "distributions": [kept], "conflicts": [conflict]}
    assert parse_guard(document) == Guard(
        packages="/p",
        kept=(RecordedDistribution(name="torch", version="1", record="r", sha256="s", size=1, changed=2),),
        conflicts=(UnwantedDistribution(name="triton", of="triton-xpu", why="w"),),
    )


def test_a_script_is_held_to_what_it_was_when_it_was_guarded(tmp_path: Path) -> None:
    """Not to its list of files: since then it computes its place. The helper writes what the program reads."""
    packages, script = tmp_path / "lib/python3.11/site-packages", tmp_path / "bin/torchrun"
    record = packages / "torch-1.dist-info/RECORD"
    for path, text in ((packages / "torch.py", "x = 1\n"), (script, "#!/bin/sh\n")):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    record.parent.mkdir()
    listed = base64.urlsafe_b64encode(hashlib.sha256(b"x = 1\n").digest()).rstrip(b"=").decode()
    record.write_text(
        f"torch.py,sha256={listed},6\n../../../bin/torchrun,sha256=ofpip,12\ntorch-1.dist-info/RECORD,,\n"
    )
    scripts = importlib.import_module("guard_environment").scripts(record)
    kept = {"name": "torch", "version": "1", "record": str(record), "scripts": scripts}
    document: dict[str, object] = {"packages": str(packages), "distributions": [kept], "conflicts": []}
    assert find_altered(document) == {}
    script.write_text("#!/bin/sh\nmine\n")
    assert find_altered(document) == {str(record): f"{script} was changed after it was installed"}
    script.unlink()
    assert find_altered(document) == {str(record): f"{script} is missing"}


@pytest.mark.parametrize("document", [{}, {"packages": "/p"}, {"packages": "/p", "distributions": [{"x": 1}]}])
def test_what_is_no_record_guards_nothing(document: dict[str, Any]) -> None:
    assert parse_guard(document) is None
