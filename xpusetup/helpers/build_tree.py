"""Builds the wheel of a source tree whose setup lies in its root or, as in older trees of Triton, in `python`."""

from __future__ import annotations

import argparse
import subprocess
import sys
from pathlib import Path

from helperlib.output import fail

SETUPS = ("pyproject.toml", "setup.py")
PLACES = (".", "python")


def main() -> None:
    """Find the setup, and build with what is installed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tree", type=Path, required=True)
    parser.add_argument("--outdir", type=Path, required=True)
    options = parser.parse_args()
    folder = find_setup(options.tree)
    sys.stdout.flush()
    command = (sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(options.outdir))
    raise SystemExit(subprocess.run((*command, str(folder)), check=False).returncode)


def find_setup(tree: Path) -> Path:
    """Give the folder in which a build begins; end where there is none."""
    found = (tree / place for place in PLACES if any((tree / place / name).is_file() for name in SETUPS))
    return next(found, None) or fail(
        f"{tree} has no {' or '.join(SETUPS)}, nor has its folder python", "name the root of the checkout"
    )


if __name__ == "__main__":
    main()
