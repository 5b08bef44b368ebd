"""Fetches one ready wheel of an exact version: from where pip is told to look, else from the profile's index too.

pip's own settings come first (PIP_INDEX_URL, PIP_FIND_LINKS, ...: mirrors, air gaps), so that a place which cannot
be reached from here is asked only when nothing nearer has the wheel.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from pathlib import Path

from collect_wheel import place
from installers import pip
from summary import render_size, say_summary
from wheel_files import fail, find_wheel

DOWNLOAD = ("download", "--no-deps", "--only-binary", ":all:")


def main() -> None:
    """Download into a folder beside, check, then move."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--distribution", required=True)
    parser.add_argument("--version", required=True)
    parser.add_argument("--index", default="")
    parser.add_argument("--into", type=Path, required=True)
    options = parser.parse_args()
    requirement = f"{options.distribution}=={options.version}"
    options.into.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=options.into, prefix=".fetch-") as folder:
        download(requirement, options.index, Path(folder))
        wheel = find_wheel(Path(folder), options.distribution, options.version)
        size = wheel.stat().st_size
        place(wheel, options.into, options.distribution)
    print(f"{wheel.name} is in {options.into}")
    say_summary(options.version, render_size(size))


def download(requirement: str, index: str, folder: Path) -> None:
    """Try pip's own places, then with the index added; end with pip's last words when neither has it."""
    ways = [(), ("--extra-index-url", index)] if index else [()]
    for extra in ways:
        print(f"pip download {requirement} {' '.join(extra)}".rstrip(), flush=True)
        command = [*pip(), *DOWNLOAD, *extra, "--dest", str(folder), requirement]
        done = subprocess.run(command, check=False)
        if done.returncode == 0:
            return
    where = f" or at {index}" if index else ""
    python = f"{sys.version_info[0]}.{sys.version_info[1]}"
    fail(
        f"no wheel of {requirement} for Python {python} where pip looks{where}",
        "look at the network and proxy, or point PIP_EXTRA_INDEX_URL or PIP_FIND_LINKS at a place that has it",
    )


if __name__ == "__main__":
    main()
