"""Reads below /, or below a folder that stands for it (XPUSETUP_SYSROOT: tests, support)."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from xpusetup.effects import files


@dataclass(frozen=True)
class Sysroot:
    """What stands for /; the text is empty for the machine itself."""

    text: str = ""

    @classmethod
    def from_environment(cls) -> Sysroot:
        """Take XPUSETUP_SYSROOT if it is set."""
        return cls(os.environ.get("XPUSETUP_SYSROOT", "").rstrip("/"))

    def path(self, name: str) -> Path:
        """Give where an absolute path lies here."""
        return Path(f"{self.text}{name}")

    def read(self, name: str) -> str | None:
        """Read a small file; None where there is none that may be read."""
        return files.read_text(self.path(name))

    def listing(self, name: str) -> list[Path]:
        """List a folder in order; empty where there is none that may be read."""
        try:
            return sorted(self.path(name).iterdir())
        except OSError:
            return []
