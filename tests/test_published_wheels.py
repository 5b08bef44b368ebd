"""The table of published wheels: what it has to hold, and the page that is made of it."""

from __future__ import annotations

import os
from pathlib import Path

from real.published_wheels import find_difference, read_table, render_page

PAGE = Path(__file__).parents[1] / "docs/published-wheels.md"
UPSTREAM = {"torch", "torchvision", "torchaudio"}
RELEASES = {f"2.{minor}" for minor in range(4, 16)}


def test_no_check_fails_what_upstream_publishes() -> None:
    wheels = read_table()
    assert {wheel.file for wheel in wheels if wheel.name in UPSTREAM and wheel.fail} == set()
    assert {wheel.file for wheel in wheels if wheel.fail and not wheel.true} == set()
    assert {".".join(wheel.version.split(".")[:2]) for wheel in wheels if wheel.name == "torch"} == RELEASES
    assert len({wheel.sha256 for wheel in wheels}) == len(wheels)


def test_a_difference_is_told() -> None:
    wheel = read_table()[0]
    said = {"fail": list(wheel.fail), "warn": list(wheel.warn), "crash": []}
    assert find_difference(wheel, said) == ""
    assert find_difference(wheel, {**said, "fail": ["rpath"]}) == "fail: ['rpath'], in the table []"


def test_the_page_is_current() -> None:
    text = render_page(read_table())
    if os.environ.get("XPUSETUP_TEST_UPDATE"):
        PAGE.write_text(text)
    assert PAGE.read_text() == text
