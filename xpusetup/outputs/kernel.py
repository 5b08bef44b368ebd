"""The kernel's own texts: command line, module tables, messages, and the resources of PCI devices."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

ABOUT = re.compile(
    r"i915|\b(?:xe|guc|huc|dmc)\b|habanalabs|davinci|dxgkrnl|resizable bar|resize bar|bar size|gpu hang",
    re.IGNORECASE,
)
PREFETCHABLE, MEMORY_64 = 0x2000, 0x100000
SECRET = re.compile(r"(?i)(token|password|passwd|secret|key)=\S+")
KEPT = 200
"""As many lines of the kernel's messages are kept, the newest ones."""


def parse_resource(text: str) -> int | None:
    """Read a device's `resource` file: the bytes of its largest prefetchable 64-bit window, None without one."""
    sizes = []
    for line in text.splitlines()[:6]:
        fields = line.split()
        if len(fields) == 3:  # noqa: PLR2004 - start, end, flags
            start, end, flags = (int(field, 16) for field in fields)
            if flags & PREFETCHABLE and flags & MEMORY_64 and end > start:
                sizes.append(end - start + 1)
    return max(sizes, default=None)


def parse_aliases(text: str, devices: Iterable[str], modules: Iterable[str]) -> dict[str, list[str]]:
    """Read modules.alias: which of the modules say by themselves that they drive each Intel device id."""
    found: dict[str, set[str]] = {device: set() for device in devices}
    wanted = set(modules)
    for device, takers in found.items():
        pattern = re.compile(rf"^alias pci:v00008086d0000{device.upper()}\S* (\S+)$", re.MULTILINE)
        takers.update(module for module in pattern.findall(text) if module in wanted)
    return {device: sorted(takers) for device, takers in found.items()}


def parse_blacklist(texts: Iterable[str], cmdline: str, modules: Iterable[str]) -> list[str]:
    """Read modprobe.d files and the kernel's command line: which of the modules may not load by themselves."""
    named = set()
    for text in texts:
        named.update(re.findall(r"^\s*blacklist\s+(\S+)", text, re.MULTILINE))
        named.update(re.findall(r"^\s*install\s+(\S+)\s+/(?:usr/)?s?bin/(?:true|false)\b", text, re.MULTILINE))
    for words in re.findall(r"(?:^|\s)(?:modprobe\.blacklist|module_blacklist)=(\S+)", cmdline):
        named.update(words.split(","))
    return sorted(named & set(modules))


def parse_messages(text: str) -> list[str]:
    """Read the kernel's messages: the lines on accelerators, without the time that begins them."""
    lines = (re.sub(r"^(<\d+>)?\[[^\]]*\]\s*", "", line).rstrip() for line in text.splitlines())
    return list(dict.fromkeys(line for line in lines if ABOUT.search(line)))[-KEPT:]


def without_secrets(cmdline: str) -> str:
    """Give a command line in which values that may be secrets are stars."""
    return SECRET.sub(r"\1=***", cmdline.strip())
