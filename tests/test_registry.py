"""How checks are asked together: what crashes is a finding, and what follows from a cause is folded into it."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from data.machines import LAPTOP, NODE, machine, without_tool
from data.profiles import device, shipped
from xpusetup.catalog import parse_check_texts
from xpusetup.checks import registry
from xpusetup.checks.question import Check, Question
from xpusetup.checks.registry import CHECKS, examine, root_causes

if TYPE_CHECKING:
    from xpusetup.facts import Facts
    from xpusetup.model import Finding

TEXTS = parse_check_texts((Path(__file__).parents[1] / "xpusetup/data/checks.toml").read_text())


def findings(facts: Facts, goal: Any = "build", profile: str = "torch-2.14", **choice: Any) -> dict[str, Finding]:
    wanted = shipped(profile)
    question = Question(facts, wanted, device(wanted.accelerator), goal)
    return {finding.id: finding for finding in examine(question, TEXTS, **choice)}


def test_a_whole_machine_is_well() -> None:
    for goal in ("build", "run"):
        found = findings(machine(), goal)
        assert {finding.level for finding in found.values()} == {"ok"}
        assert root_causes(found.values()) == ()


def test_order_and_areas() -> None:
    found = findings(machine())
    assert list(found) == [check.id for check in CHECKS]
    areas = [finding.area for finding in found.values()]
    assert [area for number, area in enumerate(areas) if area not in areas[:number]] == list(dict.fromkeys(areas))
    assert sum(a != b for a, b in itertools.pairwise(areas)) == len(set(areas)) - 1


@pytest.mark.parametrize(
    ("changes", "goal", "causes", "folded"),
    [
        ({}, "build", (), {}),
        (
            {"hardware": {"gpus": [], "nodes": []}},
            "run",
            ("hw.intel_gpu_present",),
            {"perm.dri_nodes": "hw.intel_gpu_present"},
        ),
        (
            {"hardware": {"gpus": [], "nodes": []}},
            "build",
            (),
            {"perm.dri_nodes": "hw.intel_gpu_present"},
        ),
        (
            {"hardware": {"gpus": [], "nodes": [{**NODE, "vendor": None, "openable": False}]}},
            "run",
            ("hw.intel_gpu_present",),
            {"perm.render_group": "hw.intel_gpu_present"},
        ),
        (
            {"toolkits": {"found": []}},
            "build",
            ("oneapi.compiler",),
            {"oneapi.version_vs_torch": "oneapi.compiler"},
        ),
        ({"tools": without_tool("g++")}, "build", ("cc.gcc",), {"cc.gcc_version": "cc.gcc"}),
        ({"tools": []}, "build", ("cc.gcc", "git.present"), {"cc.gcc_version": "cc.gcc"}),
    ],
)
def test_root_causes(changes: dict[str, Any], goal: str, causes: tuple[str, ...], folded: dict[str, str]) -> None:
    found = findings(machine(**changes), goal)
    assert root_causes(found.values()) == causes
    skipped = {name: finding.caused_by for name, finding in found.items() if finding.level == "skip"}
    assert skipped == folded
    for name, cause in folded.items():
        assert (found[name].seen, found[name].why, found[name].fix.commands) == (f"waits for {cause}", "", ())


def test_a_cause_that_was_left_out_folds_nothing() -> None:
    found = findings(machine(LAPTOP), only=["oneapi.version_vs_torch"])
    assert root_causes(found.values()) == ("oneapi.version_vs_torch",)


def test_only_and_skip() -> None:
    assert list(findings(machine(), only=["git.present", "cc.gcc"])) == ["cc.gcc", "git.present"]
    assert "git.present" not in findings(machine(), skip=["git.present"])
    assert list(findings(machine(), only=["cc.gcc"], skip=["cc.gcc"])) == []


def test_what_fails_says_why_and_how_to_mend_it() -> None:
    finding = findings(machine(LAPTOP))["oneapi.compiler"]
    assert finding.level == "fail"
    assert finding.why.startswith("Nothing can compile for XPU without oneAPI 2026.1.")
    assert finding.fix.commands_for(("debian",))[-1] == (
        "sudo apt-get install -y intel-deep-learning-essentials-2026.1"
    )
    assert not any("<" in line.replace("<<", "") for line in finding.fix.commands_for(("debian",)))


def test_a_crash_does_not_stop_the_others(monkeypatch: pytest.MonkeyPatch) -> None:
    def crash(_question: Question) -> None:
        raise ZeroDivisionError("by nothing")

    monkeypatch.setattr(registry, "CHECKS", (Check("cc.gcc", crash), *(each for each in CHECKS if each.id != "cc.gcc")))
    found = findings(machine())
    assert found["cc.gcc"].level == "crash"
    assert found["cc.gcc"].seen == "the check itself failed: ZeroDivisionError: by nothing"
    assert found["cc.gcc_version"].level == "ok"
    assert root_causes(found.values()) == ("cc.gcc",)
    assert found["git.present"].level == "ok"
