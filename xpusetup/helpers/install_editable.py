"""Installs a source tree as it lies into the environment of the interpreter that runs this, and looks that it is so."""

from __future__ import annotations

import argparse
import subprocess
import sys
from pathlib import Path

from build_tree import find_setup
from helperlib.env.distributions import canonical, installed
from helperlib.output import fail, say_summary
from make_movable import make_movable

PIP = ("-m", "pip", "--disable-pip-version-check", "install", "--no-build-isolation", "--no-deps", "--verbose")


def main() -> None:
    """Let pip build and link the tree."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--distribution", required=True)
    parser.add_argument("--tree", type=Path, required=True)
    parser.add_argument("settings", nargs="*", help="what the build back end is told")
    options = parser.parse_args()
    folder = find_setup(options.tree)
    sys.stdout.flush()
    done = subprocess.run((sys.executable, *PIP, *options.settings, "--editable", str(folder)), check=False)
    if done.returncode:
        raise SystemExit(done.returncode)
    make_movable(Path(sys.prefix))
    found = installed().get(canonical(options.distribution))
    if found is None or not found.source:
        fail(f"{options.distribution} is not editable after all", "read the log above")
    say_summary(found.version, "editable")


if __name__ == "__main__":
    main()
