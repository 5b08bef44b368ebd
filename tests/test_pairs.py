"""Which torch a torchvision or torchaudio takes: what their wheels say, and the table where no wheel is at hand."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from xpusetup.machine.fit import instead_of
from xpusetup.machine.pairs import table_of, takes
from xpusetup.machine.probe_torch import _asked
from xpusetup.run.tables import load_profile, profile_names

if TYPE_CHECKING:
    from pathlib import Path

ASKED = [
    ("torchvision", "0.25.0", "==2.10.0"),
    ("torchvision", "0.28.0", "==2.13.0"),
    ("torchvision", "0.29.0", "==2.14.0"),
    ("torchvision", "0.29.1", ">=2.14.0"),
    ("torchvision", "0.29.2", ">=2.14.0"),
    ("torchaudio", "2.9.1", "==2.9.1"),
    ("torchaudio", "2.10.0", "==2.10.0"),
    ("torchaudio", "2.11.0", ""),
    ("torchaudio", "2.11.1", ">=2.11"),
]
"""What the published wheels require of torch."""
TORCHES = [f"2.{minor}.{patch}" for minor in range(17) for patch in (0, 1)]


@pytest.mark.parametrize(("name", "version", "asked"), ASKED)
def test_the_table_says_what_the_wheels_say(name: str, version: str, asked: str) -> None:
    by_table = [torch for torch in TORCHES if takes(name, version, torch)]
    assert by_table == [torch for torch in TORCHES if takes(name, version, torch, asked or ">=2.11")]
    assert by_table


@pytest.mark.parametrize(
    ("name", "version", "torch", "asked", "fits"),
    [
        ("torchaudio", "2.11.0+xpu", "2.10.0+xpu", "", False),
        ("torchaudio", "2.10.0+xpu", "2.11.0+xpu", "", False),
        ("torchaudio", "2.9.1", "2.12.0", "", False),
        ("torchaudio", "2.11.1", "2.15.0+xpu", ">=2.11", True),
        ("torchaudio", "0.13.1", "1.13.1", "", True),
        ("torchvision", "0.29.2+xpu", "2.15.0+xpu", "", True),
        ("torchvision", "0.29.0+xpu", "2.15.0+xpu", "", False),
        ("torchvision", "0.14.1", "1.13.1", "", True),
        ("torchvision", "0.24.1", "2.9.0", "==2.9.1", True),
        ("torchvision", "0.30.0", "2.15.0", ">=2.16", False),
        ("torchvision", "0.26.0a0+b919bd0", "2.11.0a0+git123", "", True),
        ("torchvision", "0.26.0", "2.11.0", "no specifier", True),
    ],
)
def test_who_takes_whom(name: str, version: str, torch: str, asked: str, fits: bool) -> None:
    assert takes(name, version, torch, asked) is fits


@pytest.mark.parametrize("name", [name for name in profile_names() if name.startswith(("torch-", "cpu-"))])
def test_each_profile_has_a_pair_that_belongs_together(name: str) -> None:
    profile = load_profile(name)
    parts = {part.distribution: part.version for part in profile.components if part.kind != "skip"}
    published = dict(wheel.split("==") for wheel in profile.published.wheels) if profile.published else {}
    for those in (parts, published):
        for companion in {"torchvision", "torchaudio"} & those.keys():
            assert takes(companion, those[companion], those["torch"]), (
                companion,
                table_of(companion, those[companion]),
            )


def test_what_is_required_is_read_of_the_metadata(tmp_path: Path) -> None:
    wheels = {
        "torchvision-0.29.2": "Requires-Dist: numpy\nRequires-Dist: torch (>=2.14.0)\n",
        "torchaudio-2.11.1": "Requires-Dist: torch>=2.11\n",
        "torchaudio-2.11.0": "",
        "timm-1.0": "Requires-Dist: torch>=1\n",
    }
    for name, text in wheels.items():
        (tmp_path / f"{name}.dist-info").mkdir()
        (tmp_path / f"{name}.dist-info/METADATA").write_text(text)
    kept = [(tmp_path, f"{name}.dist-info") for name in wheels]
    assert _asked(kept) == {"torchvision": ">=2.14.0", "torchaudio": ">=2.11"}


def test_no_build_is_made_up() -> None:
    known = {"torch": "2.13.0+xpu", "torchvision": "0.28.0+xpu", "triton-xpu": "3.7.2"}
    assert instead_of("triton_xpu", "3.3.0b1", "2.13.0+cpu", known) == ""
    assert instead_of("triton_xpu", "3.3.0b1", "2.13.0+xpu", known) == "triton-xpu==3.7.2"
    assert instead_of("torchvision", "0.29.1", "2.13.0+cpu", known) == "torchvision==0.28.0+cpu"
