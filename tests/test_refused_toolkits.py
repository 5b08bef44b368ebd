"""A oneAPI that a profile does not take: why, which changes it would need, and what they would give up."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from data.profiles import shipped
from data.saved import machine_file
from xpusetup.base.document import read_as, to_table
from xpusetup.machine.facts import Facts
from xpusetup.machine.toolkits import find_refusal
from xpusetup.plan.install import BUILD, INSTALL
from xpusetup.run.tool_chains import describe_refused


def machine(*versions: str | None) -> Facts:
    """Give a machine with these versions of oneAPI."""
    document = json.loads(machine_file("toolkit-too-old").read_text())
    (kit,) = document["toolkits"]["found"]
    document["toolkits"]["found"] = [{**kit, "version": version} for version in versions]
    return read_as(Facts, document)


@pytest.mark.parametrize("name", ["main", "torch-2.15", "torch-2.14"])
def test_what_2025_3_would_need(name: str) -> None:
    said = describe_refused(machine("2025.3.1"), shipped(name), BUILD)
    assert said.startswith(f"oneAPI 2025.3.1 does not build {name}: ")
    for word in ("PR 191470", "PR 188789", "torch-xpu-ops PR 4302", "libsycl.so.8", "gives up symmetric memory"):
        assert word in said


@pytest.mark.parametrize(
    ("versions", "name"),
    [
        (("2026.1.0",), "main"),
        (("2025.3.1", "2026.1.0"), "main"),  # one of them serves
        (("2026.3.0",), "main"),  # newer: nothing is known against it, and the check of the version refuses it
        (("2025.3.1",), "torch-2.12"),
        ((None,), "main"),
        ((), "main"),
        (("2025.3.1",), "sim"),
    ],
)
def test_where_nothing_is_said(versions: tuple[str | None, ...], name: str) -> None:
    assert describe_refused(machine(*versions), shipped(name), BUILD) == ""


def test_what_is_installed_needs_no_toolkit() -> None:
    assert describe_refused(machine("2025.3.1"), shipped("torch-2.14"), INSTALL) == ""


def test_what_a_profile_of_ones_own_accepts_is_not_refused() -> None:
    wanted = shipped("main").toolkit
    assert wanted is not None
    own = replace(wanted, accepts=">=2025.3,<2026")
    assert find_refusal(wanted, "2025.3.1")
    assert find_refusal(own, "2025.3.1") == ""


def test_a_profile_that_refuses_nothing_says_nothing_of_it() -> None:
    told = shipped("torch-2.12").toolkit
    assert told is not None
    assert "refused" not in to_table(told)
