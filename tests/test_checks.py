"""What each check says of machines made by hand, for building and for running."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, get_args

import pytest

from data.cases import CASES
from data.machines import BMG, GIB, KIT, LAPTOP, NODE, NVIDIA, WORKSTATION, machine, with_gcc, without_tool
from data.profiles import device, shipped
from data.well import well
from xpusetup.doctor.question import Check, CheckAnswer, Question, check_texts
from xpusetup.doctor.registry import CHECKS
from xpusetup.machine.facts import Section
from xpusetup.machine.tables import gpu_table, known_bad

GPUS = gpu_table()
BY_ID = {check.id: check for check in CHECKS}
CLOSED = {**NODE, "openable": False}
ADOPTED = {
    "prefix": "/opt/conda/envs/x",
    "kind": "conda",
    "pip": True,
    "installed": {"numpy": "2.1.0", "pip": "26.0"},
}
DISK = WORKSTATION["resources"]["disks"][0]
ICPX = "/opt/intel/oneapi/compiler/latest/bin/icpx"


OF_OTHER_RELEASES = {"cc.gcc_warning", "src.path", "dpclang.compiler"}
"""What no machine can make them say for the release of the tables: test_gcc_version, test_paths, test_toolchains."""


def ask(name: str, goal: Any, facts: Any, profile: str = "torch-2.14") -> str:
    """Give level and what was seen as one text; empty where the check does not apply."""
    wanted = shipped(profile)
    answer = BY_ID[name].ask(Question(facts, wanted, device(wanted.accelerator), goal))
    return f"{answer.level}: {answer.seen}" if answer else ""


def ask_well(name: str, goal: Any, facts: Any) -> str:
    """Ask as the registry does: with the table of GPUs, and for the check's goals alone."""
    wanted = shipped("torch-2.14")
    check = BY_ID[name]
    question = Question(facts, wanted, device(wanted.accelerator), goal, GPUS, known_bad())
    answer = check.ask(question) if goal in check.goals else None
    return f"{answer.level}: {answer.seen}" if answer else ""


BOTH = [
    ("hw.intel_gpu_present", {}, "ok: 8086:e20b at 0000:03:00.0", "ok: 8086:e20b at 0000:03:00.0"),
    (
        "hw.intel_gpu_present",
        {"hardware": {"gpus": [NVIDIA], "nodes": []}},
        "warn: no Intel GPU on the PCI bus",
        "fail: no Intel GPU on the PCI bus",
    ),
    ("hw.intel_gpu_present", {"hardware": None}, "", ""),
    ("perm.dri_nodes", {}, "ok: /dev/dri/renderD128", "ok: /dev/dri/renderD128"),
    (
        "perm.dri_nodes",
        {"hardware": {"nodes": []}},
        "warn: no /dev/dri/renderD* (0000:03:00.0: xe)",
        "fail: no /dev/dri/renderD* (0000:03:00.0: xe)",
    ),
    (
        "perm.dri_nodes",
        {"hardware": {"gpus": [{**BMG, "driver": None}], "nodes": [{**NODE, "vendor": "10de"}]}},
        "warn: no /dev/dri/renderD* (0000:03:00.0: no driver)",
        "fail: no /dev/dri/renderD* (0000:03:00.0: no driver)",
    ),
    ("perm.render_group", {}, "ok: me may open it", "ok: me may open it"),
    (
        "perm.render_group",
        {"hardware": {"nodes": [CLOSED]}},
        "warn: me may not open it: /dev/dri/renderD128 belongs to group 992",
        "fail: me may not open it: /dev/dri/renderD128 belongs to group 992",
    ),
    ("perm.render_group", {"hardware": {"nodes": []}}, "", ""),
    ("oneapi.compiler", {}, f"ok: {ICPX} (2026.1.0)", ""),
    (
        "oneapi.compiler",
        {"toolkits": {"found": []}},
        "fail: no icpx below /opt/intel/oneapi, /home/me/intel/oneapi",
        "",
    ),
    (
        "oneapi.compiler",
        {"toolkits": {"found": [], "by_site": "[toolkit] modules of site.toml"}},
        "fail: no icpx on PATH after [toolkit] modules of site.toml",
        "",
    ),
    ("oneapi.compiler", {"toolkits": {"found": [{**KIT, "version": None}]}}, f"ok: {ICPX} (no version)", ""),
    ("oneapi.version_vs_torch", {}, "ok: 2026.1.0 (accepted: >=2026.0,<2026.2)", ""),
    (
        "oneapi.version_vs_torch",
        {"toolkits": {"found": [{**KIT, "version": "2026.0.1"}, KIT]}},
        "ok: 2026.1.0 (accepted: >=2026.0,<2026.2)",
        "",
    ),
    (
        "oneapi.version_vs_torch",
        {"toolkits": {"found": [{**KIT, "version": "2025.3.1"}, {**KIT, "version": None}]}},
        "fail: here: 2025.3.1, unknown; accepted: >=2026.0,<2026.2",
        "",
    ),
    ("setvars.completed", {}, "ok: not sourced in this shell", "ok: not sourced in this shell"),
    (
        "setvars.completed",
        {"environment": {"SETVARS_COMPLETED": "1"}},
        "info: setvars.sh was sourced in this shell",
        "warn: setvars.sh was sourced in this shell",
    ),
    ("cc.gcc", {}, "ok: /usr/bin/g++: g++ (Ubuntu 13.3.0-6ubuntu2~24.04) 13.3.0", ""),
    ("cc.gcc", {"tools": without_tool("g++")}, "fail: no g++ on PATH", ""),
    (
        "cc.gcc",
        {"tools": with_gcc("Apple clang version 15.0.0")},
        "fail: /usr/bin/g++ is not GCC: Apple clang version 15.0.0",
        "",
    ),
    ("cc.gcc", {"tools": None}, "", ""),
    ("cc.gcc_version", {}, "ok: 13.3.0 (needed: >=11.3)", ""),
    (
        "cc.gcc_version",
        {"tools": with_gcc("g++ (GCC) 11.2.1 20220127 (Red Hat 11.2.1-9)")},
        "fail: 11.2.1 (needed: ",
        "",
    ),
    ("cc.gcc_version", {"tools": with_gcc("g++ of my own")}, "warn: its version cannot be read", ""),
    ("cc.gcc_version", {"tools": with_gcc(None)}, "warn: its version cannot be read", ""),
    ("git.present", {}, "ok: git version 2.43.0", ""),
    ("git.present", {"tools": without_tool("git")}, "fail: no git on PATH", ""),
    (
        "py.version",
        {},
        "ok: 3.11.9 at /usr/bin/python3.11 (needed: >=3.10,<3.15,!=3.14.1)",
        "ok: 3.11.9 at /usr/bin/python3.11 (needed: >=3.10,<3.15,!=3.14.1)",
    ),
    ("py.version", {"python": {"version": "3.9.18"}}, "fail: 3.9.18 at /usr/bin/", "fail: 3.9.18 at /usr/bin/"),
    ("py.headers", {}, "ok: Python.h", ""),
    ("py.headers", {"python": {"headers": False}}, "fail: no Python.h", ""),
    ("py.venv", {}, "ok: venv, ensurepip", "ok: venv, ensurepip"),
    ("py.venv", {"python": {"adopted": ADOPTED}}, "", ""),
    ("py.version", {"python": {"free_threaded": True}}, "fail: 3.11.9, free-threaded,", "fail: 3.11.9, free-threaded,"),
    ("py.environment", {}, "ok: a new one", ""),
    (
        "py.environment",
        {"python": {"adopted": ADOPTED}},
        "ok: /opt/conda/envs/x, a conda environment of Python 3.11.9, 2 distributions",
        "",
    ),
    (
        "py.environment",
        {"python": {"adopted": {**ADOPTED, "notes": ["old libstdc++"]}}},
        "warn: /opt/conda/envs/x, a conda environment",
        "",
    ),
    (
        "py.environment",
        {"python": {"adopted": {**ADOPTED, "refused": "it is frozen"}}},
        "fail: /opt/conda/envs/x: it is frozen",
        "",
    ),
    ("py.venv", {"python": {"venv": False}}, "fail: no venv or ensurepip", "fail: no venv or ensurepip"),
    ("res.disk", {}, "ok: 500 GiB free at /home/me (needed: 15 to 40 GiB, a guess)", ""),
    (
        "res.disk",
        {"resources": {"disks": [{**DISK, "free": 9 * GIB}]}},
        "fail: 9 GiB free at /home/me (needed: 15 to 40 GiB, a guess)",
        "",
    ),
    ("res.disk", {"resources": {"disks": [{**DISK, "writable": False}]}}, "fail: /home/me may not be written to", ""),
    (
        "res.disk",
        {"resources": {"disks": [DISK, {**DISK, "path": "/ro", "holds": ["cache"], "read_only": True}]}},
        "warn: /ro is on a file system that is mounted read-only",
        "",
    ),
    (
        "res.disk",
        {
            "resources": {
                "disks": [{**DISK, "path": "/x", "holds": ["cache"], "writable": False}, {**DISK, "free": GIB}]
            }
        },
        "fail: 1 GiB free at /home/me (needed: 15 to 40 GiB, a guess)",
        "",
    ),
    ("res.disk", {"resources": {"disks": []}}, "", ""),
    ("res.disk", {"resources": {"disks": [{**DISK, "free": 0, "total": 0}]}}, "", ""),
    ("res.filesystem", {}, "ok: ext4 at /home/me", ""),
    ("res.filesystem", {"resources": {"disks": [{**DISK, "filesystem": "nfs4"}]}}, "info: nfs4 at /home/me", ""),
    ("res.filesystem", {"resources": {"disks": [{**DISK, "filesystem": None}]}}, "ok: unknown at /home/me", ""),
    ("res.memory_jobs", {}, "ok: 16 jobs at 4 GiB each, 64 GiB of memory", ""),
    ("res.memory_jobs", {"resources": {"memory": 3 * GIB}}, "warn: 1 job at 4 GiB each, 3 GiB of memory", ""),
    ("res.cgroup", {}, "ok: none below the machine's own", ""),
    (
        "res.cgroup",
        {"resources": {"memory_limit": 8 * GIB, "cpu_limit": 2.5}},
        "info: memory 8.0 of 64 GiB, 2.5 of 16 processors",
        "",
    ),
    ("res.cgroup", {"resources": {"memory_limit": 80 * GIB, "cpu_limit": 32}}, "ok: none below the machine's own", ""),
]


@pytest.mark.parametrize(("name", "changes", "build", "run"), BOTH)
def test_check(name: str, changes: dict[str, Any], build: str, run: str) -> None:
    facts = machine(**changes)
    for goal, wanted in (("build", build), ("run", run)):
        found = ask(name, goal, facts)
        assert found.startswith(wanted)
        assert bool(found) == bool(wanted)


@pytest.mark.parametrize(("name", "changes", "build", "run"), CASES)
def test_check_of_a_well_machine(name: str, changes: dict[str, Any], build: str, run: str) -> None:
    """The gate probes only what the checks say they read: another section must not change an answer."""
    whole = well(**changes)
    others: dict[str, Any] = {section: None for section in get_args(Section) if section not in BY_ID[name].reads}
    narrow = replace(whole, **others)
    for goal, wanted in (("build", build), ("run", run)):
        found = ask_well(name, goal, whole)
        assert found.startswith(wanted)
        assert bool(found) == bool(wanted)
        assert ask_well(name, goal, narrow) == found


def test_the_tables_ask_every_check() -> None:
    assert {row[0] for row in (*BOTH, *CASES)} == set(BY_ID)


def test_every_check_of_the_tables_can_say_two_things() -> None:
    said: dict[str, set[str]] = {}
    for name, _, build, run in (*BOTH, *CASES):
        said.setdefault(name, set()).update(text.partition(":")[0] for text in (build, run))
    assert {name for name, levels in said.items() if len(levels) < 2} == OF_OTHER_RELEASES


def test_facts_that_were_not_taken_are_no_fault() -> None:
    facts = machine({"schema": 1, "taken": "now"})
    said = {(name, goal): ask(name, goal, facts) for name in BY_ID for goal in ("build", "run")}
    assert {check: text for check, text in said.items() if text} == {}


@pytest.mark.parametrize("profile", ["sim"])
def test_no_gpu_is_asked_for_where_none_is_needed(profile: str) -> None:
    asked = ("hw.intel_gpu_present", "perm.dri_nodes", "perm.render_group", "oneapi.compiler", "setvars.completed")
    for name in asked:
        for goal in ("build", "run"):
            assert ask(name, goal, machine(LAPTOP), profile) == ""


def test_a_disk_whose_need_is_not_known() -> None:
    assert ask("res.disk", "build", machine(), "gaudi-1.22") == "ok: 500 GiB free at /home/me (needed: unknown)"


def test_answers_are_values() -> None:
    assert CheckAnswer("ok", "x") == CheckAnswer("ok", "x", {})
    assert Check("a.b", lambda _question: None).ask(Question(machine(), shipped("sim"), device("cpu"), "run")) is None


@pytest.mark.parametrize("line", ["source /no.sh", "module load x"])
def test_modules_are_listed_where_a_module_failed(line: str) -> None:
    """Who had a bad `source` in the prelude was told to list modules."""
    notes = {"toolkits.prelude": f"`{line}` in [toolkit] prelude of xpusetup.toml ended with 1"}
    wanted = shipped("torch-2.14")
    answer = BY_ID["oneapi.prelude"].ask(Question(machine(notes=notes), wanted, device("xpu"), "build"))
    assert answer is not None
    assert ("commands" in answer.words) == line.startswith("source")


def test_full_disk_reads_alike_for_one_place_and_many_and_for_any_build() -> None:
    why = check_texts()["res.disk"].why
    assert "these places" not in why
    assert "hours" not in why


@pytest.mark.parametrize("goal", ["build", "run"])
def test_a_profile_without_published_wheels_has_none_to_fetch(goal: Any) -> None:
    """Its bundle was advised with --from wheels, which `bundle create` refused."""
    cut_off = machine(network={"routed": False}, torch=None)
    assert not ask("net.wheels_reach", goal, cut_off, "sim")
    assert ask("net.git_reach", goal, cut_off, "sim").startswith("fail: no route")
    assert ask("net.wheels_reach", goal, cut_off).startswith("fail: no route")


def test_what_a_maker_installs_is_in_no_bundle() -> None:
    wanted = shipped("gaudi-1.24.1")
    facts = machine(network={"routed": False}, torch=None)
    answer = BY_ID["net.wheels_reach"].ask(Question(facts, wanted, device(wanted.accelerator), "run"))
    assert answer is not None
    assert (answer.level, answer.words["commands"]) == ("fail", "")
    assert "container image" in answer.words["mend"]
