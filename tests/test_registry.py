"""How checks are asked together: what crashes is a finding, and what follows from a cause is folded into it."""

from __future__ import annotations

import itertools
from typing import TYPE_CHECKING, Any

import pytest

from data.asking import findings
from data.machines import LAPTOP, NODE, machine, without_tool
from data.texts import TEXTS
from data.well import CARD, LADDER, REPORT, well
from xpusetup.doctor import registry
from xpusetup.doctor.question import Check, Question
from xpusetup.doctor.registry import CHECKS, about_machine, root_causes, sections_for
from xpusetup.machine.works import torch_works

if TYPE_CHECKING:
    from xpusetup.machine.facts import Facts


@pytest.mark.parametrize("facts", [machine(), well()])
def test_a_whole_machine_is_well(facts: Facts) -> None:
    for goal in ("build", "run"):
        found = findings(facts, goal)
        assert {finding.level for finding in found.values()} <= {"ok", "info"}
        assert root_causes(found.values()) == ()


def test_order_and_areas() -> None:
    found = findings(well(), "run")
    assert list(found) == [check.id for check in CHECKS if check.id in found]
    areas = [TEXTS[check.id].area for check in CHECKS]
    assert sum(a != b for a, b in itertools.pairwise(areas)) == len(set(areas)) - 1


LOST = {**CARD, "driver": None}
NO_NODE = {"gpus": [LOST], "nodes": []}
UNINITIALIZED = {"level_zero": {**LADDER, "init": 0x78000001}}
NO_DEVICE = {"report": {**REPORT, "available": False, "count": 0}}
AFTER_A_LOST_CARD = {"kmd.bound", "perm.dri_nodes", "umd.ze_init", "torch.available"}


@pytest.mark.parametrize(
    ("changes", "cause", "folded"),
    [
        (
            {"hardware": NO_NODE, "kernel": {"claims": {"e20b": []}}, "userland": UNINITIALIZED, "torch": NO_DEVICE},
            "kmd.force_probe",
            AFTER_A_LOST_CARD,
        ),
        (
            {"hardware": NO_NODE, "kernel": {"blacklisted": ["xe"]}, "userland": UNINITIALIZED, "torch": NO_DEVICE},
            "kmd.blacklisted",
            AFTER_A_LOST_CARD,
        ),
        (
            {"hardware": NO_NODE, "kernel": {"firmware": []}, "userland": UNINITIALIZED, "torch": NO_DEVICE},
            "fw.guc_missing",
            AFTER_A_LOST_CARD,
        ),
        (
            {
                "hardware": {"gpus": [CARD], "nodes": []},
                "container": {"kind": "podman"},
                "userland": UNINITIALIZED,
                "torch": NO_DEVICE,
            },
            "container.no_device",
            AFTER_A_LOST_CARD - {"kmd.bound"},
        ),
        (
            {
                "hardware": {"nodes": [{**NODE, "openable": False}]},
                "system": {"joined": [992]},
                "userland": UNINITIALIZED,
                "torch": NO_DEVICE,
            },
            "perm.session",
            {"perm.render_group", "umd.ze_init", "torch.available"},
        ),
        (
            {"hardware": {"gpus": [{**CARD, "bar": 256 << 20}]}, "userland": UNINITIALIZED, "torch": NO_DEVICE},
            "hw.small_bar",
            {"umd.ze_init", "torch.available"},
        ),
        (
            {"userland": {**UNINITIALIZED, "libraries": {"libze_loader.so.1": "/l"}}, "torch": NO_DEVICE},
            "umd.ze_intel_gpu",
            {"umd.ze_init", "torch.available"},
        ),
        (
            {"environment": {"LD_LIBRARY_PATH": "/opt/intel/oneapi/compiler/2025.3/lib"}, "torch": NO_DEVICE},
            "setvars.with_wheel",
            {"torch.available"},
        ),
    ],
)
def test_one_cause_for_many_symptoms(changes: dict[str, Any], cause: str, folded: set[str]) -> None:
    found = findings(well(**changes), "run")
    assert root_causes(found.values()) == (cause,)
    assert {name for name, finding in found.items() if finding.caused_by == cause} == folded


def test_a_failure_is_never_folded_into_a_warning() -> None:
    card = {**CARD, "driver": "i915", "bar": 256 << 20}
    found = findings(well(hardware={"gpus": [card]}, userland=UNINITIALIZED), "run")
    assert found["hw.small_bar"].level == "warn"
    assert root_causes(found.values()) == ("umd.ze_init",)


def test_only_what_is_read_is_probed() -> None:
    assert sections_for(["build"], ["git.present"]) == ("tools",)
    assert {"kernel", "userland", "torch", "gaudi"}.isdisjoint(sections_for(["build"]))
    assert {"kernel", "userland", "torch"} <= set(sections_for(["run"]))
    assert "torch" not in sections_for(["build", "run"], about_machine())


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


@pytest.mark.parametrize(("names", "works"), [(["AMD EPYC (processor)"], False), (["Intel(R) Arc(TM) B580"], True)])
def test_a_processor_that_torch_calls_xpu_is_no_gpu(names: list[str], *, works: bool) -> None:
    facts = well(torch={"report": {**REPORT, "available": True, "count": 1, "devices": names}})
    found = findings(facts, "run")["torch.available"]
    assert (torch_works(facts), found.level) == (works, "ok" if works else "info")
    assert ("no GPU" in found.seen) is not works


def test_what_was_not_looked_at_is_not_called_well() -> None:
    """One check by itself says nothing of those that it follows from, nor do those that warn."""
    facts = well(userland={"level_zero": {**LADDER, "init": 0x78000001}}, torch=None)
    alone = findings(facts, "run", only=("umd.ze_init",))["umd.ze_init"]
    assert alone.fix.say == "The causes that it can have were not all looked at: xpusetup doctor --for run"
    assert "are well" in findings(facts, "run")["umd.ze_init"].fix.say
