"""What is said of extensions: the whole screen of each matter, the exit code, and the rules of versions."""

from __future__ import annotations

from io import StringIO
from typing import TYPE_CHECKING

import pytest

from data.plugged import CARDS, CASES, NPU, SIM, plugged
from golden import hold_one
from xpusetup.commands.devices import describe
from xpusetup.config.devices import find_release, known_devices, shipped_device, wanted_torch
from xpusetup.config.settings import Settings
from xpusetup.doctor.extensions import find_unfit, judge, reason_of
from xpusetup.doctor.question import check_texts
from xpusetup.ui.console import Terminal
from xpusetup.ui.devices import show_devices

if TYPE_CHECKING:
    from xpusetup.machine.accelerators import Extensions

DEVICES = known_devices(Settings())
BREAKING = {"broken", "segfault", "missing", "missing-listed", "unfit", "not-together", "torch-broken"}


def levels(look: Extensions) -> dict[str, str]:
    return {each.id: each.level for each in judge(look, DEVICES, check_texts())}


@pytest.mark.parametrize("name", CASES)
def test_golden(name: str) -> None:
    console = Terminal(width=100, no_color=True, force_terminal=False, file=StringIO(), highlight=False, soft_wrap=True)
    show_devices(console, describe(CASES[name], DEVICES, CARDS, "VIRTUAL_ENV"), verbose=name == "listed")
    assert isinstance(console.file, StringIO)
    text = "".join(f"{line.rstrip()}\n" for line in console.file.getvalue().splitlines())
    hold_one(f"devices/{name}.txt", text)


@pytest.mark.parametrize("name", CASES)
def test_only_what_breaks_the_import_fails(name: str) -> None:
    remarks = judge(CASES[name], DEVICES, check_texts())
    assert any(each.level == "fail" for each in remarks) == (name in BREAKING)


def test_nothing_active() -> None:
    found = describe(None, DEVICES, {}, "")
    assert (found.environment, found.findings, found.checked) == (None, [], False)
    assert {row.name for row in found.devices} == {each.name for each in DEVICES}


def test_what_follows_from_a_pin_says_so() -> None:
    found = {each.id: each for each in judge(CASES["unfit"], DEVICES, check_texts())}
    assert found["autoload.extension"].caused_by == "autoload.pin"
    assert "torch-npu==2.13.0.*" in found["autoload.pin"].fix[0]


@pytest.mark.parametrize("value", ["true", "2", "", "yes", "01", " 1"])
def test_only_one_text_turns_it_on(value: str) -> None:
    assert levels(plugged(SIM, switch=value))["autoload.switch"] == "warn"


@pytest.mark.parametrize("value", [None, "1"])
def test_what_is_on_needs_no_word(value: str | None) -> None:
    assert "autoload.switch" not in levels(plugged(SIM, switch=value))


@pytest.mark.parametrize(
    ("version", "requires", "torch", "fits"),
    [
        ("2.13.0", ["torch==2.13.0.*"], "2.13.0+cpu", True),
        ("2.13.0.post2", [], "2.13.0+cpu", True),
        ("2.13.0", [], "2.13.1+cpu", False),
        ("2.14.0", ["torch==2.14.0.*"], "2.13.0", False),
        ("2.14.0", ["torch==2.14.0.*; extra == 'train'"], "2.14.0", True),
        ("2.13.0", ["this is no requirement"], "2.13.0", True),
        ("2.15.0", ["torch>=2.13"], "2.15.0a0+git123", True),
    ],
)
def test_pins(version: str, requires: list[str], torch: str, *, fits: bool) -> None:
    entry = {**NPU, "version": version, "requires": requires}
    look = plugged(entry, torch={"version": torch, "place": "x"})
    assert (find_unfit(look.entries[0], look, DEVICES) == "") == fits


@pytest.mark.parametrize(
    ("device", "version", "torch"),
    [
        ("npu", "2.10.0.post4", "2.10.0"),
        ("npu", "2.14.0", "2.14.0"),
        ("hpu", "1.21.0.555", "2.6.0"),
        ("hpu", "1.24.1.12", "2.11.0"),
        ("hpu", "1.24.0.1007", "2.10.0"),
        ("hpu", "1.23.0.695", "2.9"),
        ("hpu", "1.2.0", ""),
        ("hpu", "1.99", ""),
        ("simxpu", "1.0.0", ""),
        ("npu", "no version", ""),
    ],
)
def test_which_torch_a_version_is_for(device: str, version: str, torch: str) -> None:
    assert wanted_torch(shipped_device(device), version) == torch


def test_the_longest_row_rules() -> None:
    row = find_release(shipped_device("npu"), "2.10.0.post4")
    assert row is not None
    assert (row.extension, row.toolkit) == ("2.10.0.post4", "CANN 9.1.0")


def test_the_innermost_reason() -> None:
    assert reason_of("RuntimeError: a; because ImportError: b") == "ImportError: b"
    assert reason_of("ImportError: b") == "ImportError: b"
