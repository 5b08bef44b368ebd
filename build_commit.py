"""A hook of hatchling: the commit that a wheel or sdist is made from goes into it, for `xpusetup --version`."""

from __future__ import annotations

import subprocess
import tempfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

PLACE = "xpusetup/_shipped/commit"


class CommitHook(BuildHookInterface[Any]):
    """Writes the commit where the tree is one of git; an sdist has it already."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Add the file to what is built."""
        if version == "editable" or not (Path(self.root) / ".git").exists():
            return
        words = ("git", "-C", self.root, "describe", "--always", "--dirty= with changes", "--exclude=*", "--abbrev=12")
        try:
            said = subprocess.run(words, check=False, capture_output=True, text=True)
        except FileNotFoundError:
            return
        if said.returncode == 0:
            self._folder = tempfile.TemporaryDirectory(prefix="xpusetup-")
            file = Path(self._folder.name) / "commit"
            file.write_text(said.stdout)
            build_data["force_include"][str(file)] = PLACE
