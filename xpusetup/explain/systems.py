"""On what kind of system a log was written, as far as it tells: advice names that system's tools."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from xpusetup.explain.finder import System


SIGNS: tuple[tuple[System, re.Pattern[str]], ...] = (
    (
        "windows",
        re.compile(r"(?:^|[\s\"'(\[])[A-Za-z]:\\|WinError|\bLNK\d{4}\b|error C\d{4}\b|win_amd64|\.dll\b|\.exe\b"),
    ),
    (
        "fedora",
        re.compile(
            r"\b(?:dnf|yum|rpm)\b|Unable to find a match: |No match for argument: |\.(?:el|fc)\d+\b"
            r"|RHEL|Fedora|CentOS|Rocky",
            re.IGNORECASE,
        ),
    ),
    ("suse", re.compile(r"\bzypper\b|suse|sles", re.IGNORECASE)),
    ("arch", re.compile(r"\bpacman\b|^==> (?:ERROR|WARNING)|-arch\d|PKGBUILD", re.MULTILINE)),
    (
        "debian",
        re.compile(
            r"^(?:E|W|Err:\d+|N): |\b(?:dpkg|apt|apt-get)\b|ubuntu|debian|\.deb\b", re.MULTILINE | re.IGNORECASE
        ),
    ),
)
FAMILIES: dict[str, System] = {
    **dict.fromkeys(("debian", "ubuntu"), "debian"),
    **dict.fromkeys(("fedora", "rhel", "centos"), "fedora"),
    **dict.fromkeys(("suse", "opensuse", "sles"), "suse"),
    "arch": "arch",
}
"""By the names in os-release's ID and ID_LIKE."""


def find_system(texts: Iterable[str], families: Sequence[str] = ()) -> System | None:
    """Say what the lines around a failure tell of the system; where they tell nothing, this machine's families do."""
    text = "\n".join(texts)
    told = next((system for system, sign in SIGNS if sign.search(text)), None)
    return told or next((FAMILIES[name] for name in families if name in FAMILIES), None)
