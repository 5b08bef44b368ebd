"""Runs a command that finds everything it fetches in a bundle, where there is no network.

Usage, by a Python that has xpusetup: python from_bundle.py BUNDLE FOLDER COMMAND... (FOLDER is where it is unpacked).
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from xpusetup.bundle import without_network
from xpusetup.bundle.contents import make_offline
from xpusetup.bundle.io import make_repository, read_head, unpack


def main(bundle_file: str, folder: str, *command: str) -> None:
    """Unpack it as `build --bundle` does, then run the command and end as it ended."""
    bundle = read_head(Path(bundle_file))

    def fill(made: Path) -> None:
        for repository in bundle.repositories:
            make_repository(repository, made)

    unpack(Path(bundle_file), bundle, Path(folder), fill)
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("PIP_", "GIT_"))}
    words = (sys.executable, "-I", str(without_network.__file__), *command)
    sys.exit(subprocess.run(words, env={**kept, **make_offline(bundle, folder)}, check=False).returncode)


if __name__ == "__main__":
    main(*sys.argv[1:])
