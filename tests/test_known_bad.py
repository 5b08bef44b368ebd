"""Combinations that are known not to work: each has a machine that has it, sound machines have none."""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import product
from typing import TYPE_CHECKING, Any

import pytest

from data.bad_machines import ROWS, machine_of, make
from data.profiles import device, shipped
from data.texts import GPUS, TEXTS
from pages import CHECKOUT
from xpusetup.base.document import to_told
from xpusetup.commands.explain import explain
from xpusetup.config.shipped import shipped as all_releases
from xpusetup.doctor.question import Question
from xpusetup.doctor.registry import examine
from xpusetup.machine.facts import Facts
from xpusetup.machine.known_bad import Situation, find_known_bad, find_said
from xpusetup.machine.tables import known_bad
from xpusetup.plan.install import INSTALL
from xpusetup.recommend.machine import known
from xpusetup.recommend.solve import releases
from xpusetup.run.prepare import describe_known_bad

if TYPE_CHECKING:
    from pathlib import Path

TABLE = {each.id: each for each in known_bad()}
CONDITIONS = [name for name, each in TABLE.items() if each.when]
THREAD = re.compile(r"^https://github\.com/[\w.-]+/[\w.-]+/(?:issues|pull)/\d+$")


def has(facts: Facts) -> list[str]:
    return [each.id for each in find_known_bad(known_bad(), Situation(facts, GPUS))]


def test_every_combination_has_a_machine() -> None:
    assert set(ROWS) == set(CONDITIONS)
    assert len(TABLE) == len(known_bad()) >= 60


@pytest.mark.parametrize("name", CONDITIONS)
def test_the_doctor_tells_of_it(name: str) -> None:
    facts, profile = machine_of(name), shipped("torch-2.14")
    assert name in has(facts)
    assert name not in has(machine_of(name, well=True))
    question = Question(facts, profile, device("xpu"), "run", GPUS, known_bad())
    (found,) = (each for each in examine(question, TEXTS, only=("known.bad",)) if each.id == "known.bad")
    assert found.level in ("warn", "fail")
    assert f"({name})" in found.seen
    first = next(each for each in known_bad() if f"({each.id})" in found.seen.splitlines()[0])
    assert first.source in found.why
    assert first.workaround in found.fix.say


def test_an_entry_says_what_it_must() -> None:
    for each in known_bad():
        assert THREAD.match(each.source), each.id
        assert each.says or each.when, each.id
        assert each.until is None or each.since is None or each.since <= each.until, each.id
        if each.when is not None:
            narrow = to_told(each.when)
            assert len(narrow) >= 2 or each.when.driver or each.when.distributions, each.id


def test_pytorchs_own_bundle_is_no_base_toolkit() -> None:
    """Triton 3.0 and 3.1 were made for it: torch-2.4 and torch-2.5 on their own toolkit are no alarm."""
    facts = machine_of("triton-with-basekit-2024")
    assert facts.toolkits is not None
    kits = [replace(kit, scripts=["pytorch-gpu-dev-0.5/oneapi-vars.sh"]) for kit in facts.toolkits.found]
    bundle = replace(facts, toolkits=replace(facts.toolkits, found=kits))
    assert "triton-with-basekit-2024" not in has(bundle)


def test_what_was_not_looked_at_is_no_alarm() -> None:
    bare = Facts(taken="2026-11-22")
    assert has(bare) == []
    for name in CONDITIONS:
        facts = machine_of(name)
        for section in ("hardware", "kernel", "userland", "torch", "toolkits", "environment"):
            gone: dict[str, Any] = {section: None, **({"system": None} if section == "kernel" else {})}
            less = replace(facts, **gone)
            when = TABLE[name].when
            assert when is not None
            if _reads(name, section):
                assert name not in has(less), (name, section)


def _reads(name: str, section: str) -> bool:
    when = TABLE[name].when
    assert when is not None
    named = {
        "hardware": when.families or when.devices,
        "kernel": when.kernel or when.release or when.guc or when.wsl,
        "userland": when.driver or when.compiler or when.loader,
        "torch": when.distributions,
        "toolkits": when.toolkit,
        "environment": when.environment,
    }
    return bool(named[section])


# Machines on which everything is of versions that are known to go together.

DRIVERS = ("25.40.35563.7-1~24.04~ppa1", "26.05.37020.3-1")
SOUND = {
    "client": ("6.14.0-33-generic", DRIVERS),
    "data-center": ("5.15.0-140-generic", ("25.18.33578.51-1146~22.04",)),
}


def sound_machines() -> list[tuple[str, Facts]]:
    """Give a machine for each device of each platform, with each of its drivers and each release that serves it."""
    made = []
    for family in GPUS.families:
        platform = known().platforms.of_family(family.id)
        if platform is None or platform.undocumented:
            continue
        kernel, drivers = SOUND[platform.line]
        wanted = GPUS.firsts.of_family(family.id, "kernel") if GPUS.firsts else None
        first = wanted.first if wanted else ""
        kernel = f"{first}.9-generic" if first > "6.14" else kernel
        for (identity, _), driver, profile in product(family.ids(), drivers, releases(all_releases())):
            release = profile.name.removeprefix("torch-")
            if platform.release and _pair(release) < _pair(platform.release.first):
                continue
            dist = {"torch": f"{release}.1+xpu", "triton-xpu": "3.5.0", "numpy": "2.3.5", "intel-sycl-rt": "2025.3.1"}
            told = {"module": platform.drivers[0], "kernel": kernel, "driver": driver, "dist": dist}
            made.append((f"{identity} {driver} {release}", make([identity], told)))
    return made


def _pair(version: str) -> tuple[int, ...]:
    return tuple(map(int, version.split(".")))


def test_no_alarm_on_sound_machines() -> None:
    machines = sound_machines()
    assert len(machines) >= 200
    assert {name: has(facts) for name, facts in machines if has(facts)} == {}


def test_plan_and_install_warn_of_what_they_would_bring() -> None:
    told = {"module": "xe", "kernel": "7.1.3", "driver": "26.31.39395.13", "loader": "1.32.0"}
    several, one = make(["e211"] * 4, told), make(["e211"], told)
    (note,) = describe_known_bad(several, shipped("torch-2.14"), INSTALL)
    assert "CCL_ALLREDUCE=ring" in note
    assert describe_known_bad(one, shipped("torch-2.14"), INSTALL) == ()
    assert describe_known_bad(several, shipped("torch-2.11"), INSTALL) == ()
    assert describe_known_bad(several, shipped("sim"), INSTALL) == ()


@pytest.mark.parametrize(
    ("line", "name"),
    [
        (
            "Abort was called at 70 line in file: ./shared/source/helpers/bindless_heaps_helper.cpp",
            "bindless-heaps-on-6.18",
        ),
        ("Abort was called at 15 line in file: ./shared/source/gmm_helper/resource_info.cpp", "g31-ranks-on-26.14"),
        ("i915 0000:0d:00.0: [drm] GT0: GUC: firmware production part check failure", "guc-production-part"),
        ("AssertionError: sycl headers not found, please install `icpx` compiler", "triton-wants-sycl-headers"),
        (
            "Invalid SPIR-V module: it uses unknown extension 'SPV_INTEL_predicated_io'",
            "triton-predicated-io",
        ),
        ("RuntimeError: Triton Error [ZE]: 0x78000011", "triton-imf-renamed"),
        (
            "xe: [drm] *ERROR* GT0: Unsupported GuC v70.20.0! v70.29.2 or newer is required",
            "guc-too-old-for-lunar-lake",
        ),
        ("RuntimeError: could not create a primitive", "a770-primitives-on-26.14"),
    ],
)
def test_a_log_tells_of_it(line: str, name: str) -> None:
    assert name in [each.id for each in find_said(known_bad(), ["make: all is well", line])]


@pytest.mark.parametrize(
    ("gpu", "told"),
    [("Lunar Lake [Arc Graphics 130V / 140V] [8086:64a0]", True), ("Battlemage G21 [Arc Pro B60] [8086:e211]", False)],
)
def test_a_log_that_names_another_gpu_does_not_tell_of_it(tmp_path: Path, gpu: str, told: bool) -> None:
    lines = (
        f"03:00.0 VGA compatible controller [0300]: Intel Corporation {gpu}",
        "[  412.7] xe 0000:03:00.0: [drm] *ERROR* GT0: GuC engine reset request failed on 0:0 because 0x00000000",
    )
    (tmp_path / "dmesg.log").write_text("\n".join(lines))
    known_here = explain(str(tmp_path / "dmesg.log")).data.known
    assert ([each.id for each in known_here] == ["xe-wedged-in-games"]) == told, known_here


def test_no_log_tells_of_it_that_does_not() -> None:
    lines = ["i915: GuC firmware i915/dg2_guc_70.bin version 70.36.0", "hang"]
    assert find_said(known_bad(), lines) == []


def test_the_page_says_how_many_there_are() -> None:
    assert f"knows {len(TABLE)} combinations of" in (CHECKOUT / "docs/trouble.md").read_text()
