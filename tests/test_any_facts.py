"""Whatever the schema allows as facts, the doctor answers, and no check crashes."""

from __future__ import annotations

import random
from dataclasses import MISSING, Field, fields, is_dataclass
from io import StringIO
from types import UnionType
from typing import TYPE_CHECKING, Any, Literal, Union, get_args, get_origin, get_type_hints

import pytest

from data.diagnosis import diagnose
from data.profiles import device, shipped
from data.texts import GPUS, TEXTS
from xpusetup.base.document import read_as, to_table, to_text
from xpusetup.base.text import Redactor
from xpusetup.commands.doctor import Diagnosis, DoctorFinding, DoctorOptions, FindingFix
from xpusetup.commands.recommend import Recommendation, way_of
from xpusetup.commands.setup import SetupOptions, prepare_setup, show_setup
from xpusetup.doctor.differences import differing_facts, differing_findings
from xpusetup.doctor.question import Question
from xpusetup.doctor.registry import examine, root_causes
from xpusetup.machine.facts import Facts
from xpusetup.machine.probe import TOLD
from xpusetup.run.workspace import Where
from xpusetup.ui.console import Terminal
from xpusetup.ui.doctor import show_doctor
from xpusetup.ui.recommend import show_way
from xpusetup.ui.setup import show_setup as show_setup_screen

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

WORDS = (
    *(
        "",
        " ",
        "8086",
        "e20b",
        "56a0",
        "0bd5",
        "7d67",
        "3e92",
        "1da3",
        "1020",
        "19e5",
        "d802",
        "xe",
        "i915",
        "²",
        "[",
        "]",
    ),
    *("0000:03:00.0", "0000:00:02.0", "libze_loader.so.1", "libze_intel_gpu.so.1", "libigc.so.2", "torch", "triton"),
    *(
        "2.14.1+xpu",
        "2.5",
        "1",
        "0",
        "x.y",
        "25.18.33578",
        "6.8.0-31-generic",
        "2026.1.0",
        "-1",
        "²³",
        "[red]",
        "\n",
        "é",
    ),
    *("libze-intel-gpu1", "level-zero", "libze1", "triton-xpu", "numpy", "intel-sycl-rt", "SETVARS_COMPLETED", "CXX"),
    *(
        "LD_LIBRARY_PATH",
        "ZE_AFFINITY_MASK",
        "ONEAPI_DEVICE_SELECTOR",
        "opencl:*",
        "!level_zero:*",
        "/o/compiler/2025.3/lib",
    ),
    *(
        "GPU HANG",
        "fetch failed -ENOENT",
        "Failed to load the backend extension: x. ",
        "name==1.0",
        "==",
        "; ; ;",
        "%s",
    ),
    *("synStatus=8 [x] Device acquire failed", "Abort was called at 1 line in file: x", "https://u:p@h/", "wsl2"),
)
NUMBERS = (0, 1, -1, 128, 992, 1 << 28, 1 << 40, -(1 << 63), 0x78000001)


def any_value(kind: Any, chance: random.Random, depth: int = 0) -> Any:
    """Make a value of an annotation."""
    origin, parts = get_origin(kind), get_args(kind)
    if origin in (Union, UnionType):
        return any_value(chance.choice(parts), chance, depth)
    if origin is Literal:
        return chance.choice(parts)
    if origin is list:
        return [any_value(parts[0], chance, depth + 1) for _ in range(chance.randrange(4))]
    if origin is dict:
        pairs = range(chance.randrange(5))
        return {any_value(parts[0], chance): any_value(parts[1], chance, depth + 1) for _ in pairs}
    if isinstance(kind, type) and is_dataclass(kind):
        return any_model(kind, chance, depth)
    simple: dict[Any, Callable[[], Any]] = {
        str: lambda: chance.choice(WORDS),
        bool: lambda: chance.random() < 0.5,
        int: lambda: chance.choice(NUMBERS),
        float: lambda: chance.choice((0.0, -1.5, 2.5, 1e300)),
        type(None): lambda: None,
    }
    return simple[kind]()


def any_model(model: type[Any], chance: random.Random, depth: int = 0) -> dict[str, Any]:
    """Make what a type is read from; fields with a default are left out now and then."""
    hints = get_type_hints(model)
    told = [each for each in fields(model) if each.name != "schema_"]
    kept = [each for each in told if is_required(each) or chance.random() < 0.85]
    return {each.name: any_value(hints[each.name], chance, depth) for each in kept}


def is_required(told: Field[Any]) -> bool:
    return told.default is MISSING and told.default_factory is MISSING


def any_facts(seed: int) -> Facts:
    chance = random.Random(seed)  # noqa: S311 - no secret
    found = any_model(Facts, chance)
    if chance.random() < 0.8:
        found["environment"] = {name: chance.choice(WORDS) for name in TOLD if chance.random() < 0.5}
    return read_as(Facts, {"schema": 1, **found})


@pytest.mark.parametrize("block", range(8))
def test_no_facts_break_a_check(block: int) -> None:
    for seed in range(block * 40, block * 40 + 40):
        facts = any_facts(seed)
        for profile in ("torch-2.14", "torch-2.5", "sim"):
            wanted = shipped(profile)
            for goal in ("build", "run"):
                found = examine(Question(facts, wanted, device(wanted.accelerator), goal, GPUS), TEXTS)
                assert [(seed, each.id, each.seen) for each in found if each.level == "crash"] == []
                assert set(root_causes(found)) <= {each.id for each in found}


def test_any_facts_are_shown_compared_and_hidden() -> None:
    wanted = shipped("torch-2.14")
    facts = {f"node{seed}": any_facts(seed) for seed in range(12)}
    found = {name: examine(Question(each, wanted, device("xpu"), "run", GPUS), TEXTS) for name, each in facts.items()}
    assert differing_facts(facts)
    assert differing_findings(found)
    redactor = Redactor(user="me", host="node", home="/home/me")
    for each in facts.values():
        assert read_as(Facts, redactor.document(to_table(each)))
    rows = [DoctorFinding(**{**vars(each), "fix": FindingFix("", [])}) for each in found["node3"]]
    data = Diagnosis(
        profile="p",
        chosen_by="",
        machine="[x]",
        findings=rows,
        root_causes=[],
        way=Recommendation(route="none", profile="p", commands=[], why=""),
        can_build=[],
        can_run=[],
        stops={},
        only=[],
        saved=None,
        pasted=None,
    )
    screen = StringIO()
    show_doctor(Terminal(file=screen, width=100), data, verbose=True)
    assert screen.getvalue().count("\n") > len([row for row in rows if row.level != "skip"])


def test_the_generator_reaches_every_section() -> None:
    seen = {name for seed in range(40) for name, value in vars(any_facts(seed)).items() if value is not None}
    assert seen == {each.name for each in fields(Facts)}


def test_any_facts_give_all_three_answers(tmp_path: Path) -> None:
    """Doctor's report, the bare command's way and setup's commands, as they are shown."""
    for seed in range(60):
        facts = any_facts(seed)
        file = tmp_path / f"{seed}.json"
        file.write_text(to_text(facts))
        console = Terminal(file=StringIO(), width=100)
        show_doctor(console, diagnose(Where(), DoctorOptions(facts=(str(file),))), verbose=bool(seed % 2))
        show_way(console, way_of(facts).data, verbose=bool(seed % 2))
        for root in (True, False):
            show_setup_screen(
                console, show_setup(prepare_setup(SetupOptions(facts=str(file), root=root))).data, verbose=False
            )
        assert isinstance(console.file, StringIO)
        assert "--for build" in console.file.getvalue()
