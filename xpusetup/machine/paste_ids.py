"""PCI ids of display devices where no lspci shows them: sysfs, Windows, intel_gpu_top, inxi, hwinfo. Pure."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence


UEVENT = re.compile(r"^(DRIVER|PCI_CLASS|PCI_ID|PCI_SUBSYS_ID|PCI_SLOT_NAME|MODALIAS)=(\S+)$")
"""A line of a device's uevent file."""
DISPLAY = re.compile(r"0?3[0-9a-f]{4}")
"""The class of a display device, as uevent writes it."""
IN_WINDOWS = re.compile(r"\bPCI\\VEN_(?P<vendor>[0-9A-Fa-f]{4})&DEV_(?P<device>[0-9A-Fa-f]{4})&")
TOP = re.compile(r"\bpci:vendor=(?P<vendor>[0-9A-Fa-f]{4}),device=(?P<device>[0-9A-Fa-f]{4})\b")
ALIAS = re.compile(r"\bpci:v0000(?P<vendor>[0-9A-F]{4})d0000(?P<device>[0-9A-F]{4})sv\w+bc03sc")
INXI = re.compile(
    r"\bbus-ID: (?P<slot>[0-9a-f]{2}:[0-9a-f]{2}\.\d) chip-ID: (?P<vendor>[0-9a-f]{4}):(?P<device>[0-9a-f]{4})"
    r" class-ID: 03\d\d\b"
)
SYSFS = re.compile(r"\bcat /sys/(?:class/drm|bus/pci/devices|devices)/\S*\b(?:device|\{vendor,device\})$")
VALUE = re.compile(r"^0x([0-9a-f]{4})$")
VIDEO = re.compile(r"(?i)video_?controller|\bdisplay\b|\bgpu\b|graphics|pnputil")
"""A command of Windows that lists display devices."""


@dataclass(frozen=True)
class Told:
    """A display device as one of these tells of it; what it does not tell is empty."""

    vendor: str
    device: str
    address: str = ""
    driver: str = ""


NAMED = re.compile(r"(?i)^\W*(?:name|caption|description|friendlyname|device description)\b.*\b(?:graphics|arc|iris)\b")
"""A line with the name of a display device, right before its id."""


def in_a_line(line: str, command: str, before: Sequence[str] = ()) -> Told | None:
    """Give the display device of which one line tells. `before` are the lines before it."""
    if (found := INXI.search(line)) is not None:
        return Told(found["vendor"], found["device"], f"0000:{found['slot']}")
    if (found := TOP.search(line) or ALIAS.search(line)) is not None:
        return Told(found["vendor"].lower(), found["device"].lower())
    found = IN_WINDOWS.search(line)
    if found is not None and (VIDEO.search(command) or any(map(NAMED.search, before))):
        return Told(found["vendor"].lower(), found["device"].lower())
    value = VALUE.match(line.strip()) if SYSFS.search(command) else None
    return Told("8086", value[1]) if value is not None and value[1] not in ("8086", "10de", "1002") else None


def in_uevent(held: dict[str, str]) -> Told | None:
    """Give the display device of a uevent file, of which the lines up to its place on the bus were read."""
    vendor, _, device = held.get("PCI_ID", "").lower().partition(":")
    if not device or not DISPLAY.fullmatch(held.get("PCI_CLASS", "30000").lower()):
        return None
    return Told(vendor, device, held.get("PCI_SLOT_NAME", ""), held.get("DRIVER", ""))
