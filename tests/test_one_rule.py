"""Rules that several parts of the program ask for have one place each: WSL, which GPUs count, sizes for people."""

from __future__ import annotations

import pytest

from data.machines import machine
from xpusetup.base.text import render_size
from xpusetup.machine.gpus import hide_integrated
from xpusetup.machine.tables import gpu_table


@pytest.mark.parametrize(
    ("kernel", "kind", "here"),
    [
        ("5.15.153.1-microsoft-standard-WSL2", "docker", True),
        ("5.15.153.1-Microsoft-custom", "", True),
        ("6.8.0-own", "wsl2", True),
        ("6.8.0-generic", "docker", False),
        ("6.8.0-generic", "", False),
    ],
)
def test_wsl_is_seen_by_its_kernel_or_by_what_was_found(kernel: str, kind: str, here: bool) -> None:
    facts = machine(system={"kernel": kernel}, container={"kind": kind})
    assert facts.in_wsl is here


def test_integrated_gpus_count_where_there_are_no_others() -> None:
    families = [family for family in gpu_table().families if family.accelerator == "xpu"]
    cards = [family for family in families if family.discrete]
    assert len(families) > len(cards) > 0
    assert hide_integrated(families, lambda family: family) == tuple(cards)
    inside = tuple(family for family in families if not family.discrete)
    assert hide_integrated(inside, lambda family: family) == inside


@pytest.mark.parametrize(
    ("size", "text"),
    [
        (None, "unknown"),
        (0, "0 KiB"),
        (1 << 20, "1 MiB"),
        (9.96 * (1 << 20), "10 MiB"),
        (412 << 20, "412 MiB"),
        (3.4 * (1 << 30), "3.4 GiB"),
        (41 << 30, "41 GiB"),
    ],
)
def test_sizes(size: float | None, text: str) -> None:
    assert render_size(size) == text
