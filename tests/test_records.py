"""Records of verifications that owners send in: what is in one, what is not, and the page that is made of them."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from data import screens
from data.machines import WORKSTATION
from data.well import WELL
from golden import hold_one
from xpusetup.base.document import read_as, to_json
from xpusetup.commands.verify import record_machine
from xpusetup.config.shipped import shipped
from xpusetup.machine.facts import Facts
from xpusetup.recommend.machine import known
from xpusetup.verify.outcomes import OwnerRecord, RecordedWheel, make_record

HERE = Path(__file__).parents[1] / "docs/records"
HEAD = """\
# What owners saw

None of this hardware was at hand when the program was made. This table is made of records that owners sent in, and of
nothing else: nobody sent one for a GPU whose cell is empty, nor for a release that is not in it.

"""
FOOT = """
To send one: build or install, then

<!-- not run: it needs the hardware -->

    xpusetup verify --level full --save my-gpu.json

Read the file: it has the versions, the GPU, the hashes of the wheels, and each check with the numbers that were seen;
no name of a person or machine, no path, no address. Then add it to `docs/records/` in a pull request, under a name such
as `torch-2.14-b580-ubuntu-24.04.json`. This page is made anew by `XPUSETUP_TEST_UPDATE=1 pytest tests/test_records.py`.
"""


def records() -> dict[str, OwnerRecord]:
    return {path.name: read_as(OwnerRecord, json.loads(path.read_text())) for path in sorted(HERE.glob("*.json"))}


def verdict(one: OwnerRecord) -> str:
    wrong = [check.id for check in one.checks if check.level == "fail"]
    if one.verified:
        return f"verified ({one.level})"
    return f"{wrong[0]} failed" if wrong else "not verified"


def cell(there: dict[str, OwnerRecord], releases: list[str], platform: str) -> str:
    """Say of each release what somebody saw on a platform; empty, and no tick, where nobody sent a record."""
    return ", ".join(
        f"{release}: [{verdict(one)}](records/{name})"
        for release in releases
        for name, one in sorted(there.items())
        if one.torch.startswith(f"{release}.") and any(gpu.platform == platform for gpu in one.machine.gpus)
    )


def render_table(there: dict[str, OwnerRecord], platforms: list[str], releases: list[str]) -> str:
    """Give the table of platforms as Markdown: of each the releases that somebody saw, made of records alone."""
    rows = (f"| {platform} | {cell(there, releases, platform)} |" for platform in platforms)
    return "\n".join(("| GPU | release and what was seen |", "|---|---|", *rows)) + "\n"


def render_page(there: dict[str, OwnerRecord]) -> str:
    platforms = [one.name for one in known().platforms.platform if one.release and not one.undocumented]
    releases = [profile.name.removeprefix("torch-") for profile in shipped() if profile.name.startswith("torch-")]
    newest = sorted(releases, key=lambda name: [int(part) for part in name.split(".")], reverse=True)
    return HEAD + render_table(there, platforms, newest) + FOOT


def record() -> OwnerRecord:
    facts = read_as(Facts, {**WORKSTATION, **WELL})
    wheels = [RecordedWheel(name="torch", version="2.14.1", sha256="ab" * 32)]
    return make_record(
        screens.VERIFY,
        record_machine(facts),
        wheels,
        taken="2026-11-23",
        program="xpusetup 0.1.0",
        profile="torch-2.14",
    )


def test_the_page_is_made_of_what_was_sent_in() -> None:
    hold_one("../../docs/owners.md", render_page(records()))


def test_what_a_record_holds() -> None:
    document = to_json(record())
    text = json.dumps(document)
    assert read_as(OwnerRecord, json.loads(text)) == record()
    (gpu,) = record().machine.gpus
    assert (gpu.id, gpu.platform, gpu.driver) == ("8086:e20b", "Arc B series", "xe")
    assert record().checks[0].id == screens.VERIFY.checks[0].id
    for name in ("/home/", "renderD", "me@"):
        assert name not in text


@pytest.mark.parametrize("found", [[], {}, {"record": "facts"}, {**to_json(record()), "schema": 2}])  # type: ignore[dict-item]
def test_what_is_none(found: object) -> None:
    with pytest.raises(ValueError, match="validation error"):
        read_as(OwnerRecord, found)


def test_a_cell_says_what_was_seen_and_by_which_record() -> None:
    torch = replace(record(), torch="2.14.1+xpu", verified=True, level="full")
    wrong = replace(torch, verified=False, checks=[replace(torch.checks[0], id="numbers.matmul", level="fail")])
    there = {"b580.json": torch, "b570.json": wrong, "other.json": replace(torch, torch="2.13.0+xpu")}
    table = render_table(there, ["Arc A series", "Arc B series"], ["2.14", "2.13", "2.12"])
    newest = "2.14: [numbers.matmul failed](records/b570.json), 2.14: [verified (full)](records/b580.json)"
    assert table.splitlines()[2:] == [
        "| Arc A series |  |",
        f"| Arc B series | {newest}, 2.13: [verified (full)](records/other.json) |",
    ]
