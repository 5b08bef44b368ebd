"""What is known of each accelerator: one data file a device."""

from __future__ import annotations

from typing import Literal

from xpusetup.profile import Name, Strict
from xpusetup.tomltext import parse_toml


class Device(Strict):
    """An accelerator as torch calls it. `expected`: it is there whenever its software is, so absence is a fault."""

    name: Name
    title: str
    pci_vendors: list[str] = []
    nodes: Literal["render", "none"] = "none"
    expected: bool = False


def parse_device(text: str) -> Device:
    """Read one file of data/devices."""
    return Device.model_validate(parse_toml(text))
