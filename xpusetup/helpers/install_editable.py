"""Installs a source tree as it lies into the environment of the interpreter that runs this, and looks that it is so."""

from __future__ import annotations

import argparse
import subprocess
import sys
from pathlib import Path
from typing import NoReturn

from build_tree import find_setup
from helperlib.env.distributions import canonical, installed
from helperlib.output import fail, say_summary
from make_movable import make_movable

PIP = ("-m", "pip", "--disable-pip-version-check", "install", "--no-build-isolation", "--no-deps", "--verbose")


def main() -> None:
    """Let pip build and link the tree."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--distribution", required=True)
    parser.add_argument("--component", required=True, help="as --source names it")
    parser.add_argument("--tree", type=Path, required=True)
    parser.add_argument("settings", nargs="*", help="what the build back end is told")
    options = parser.parse_args()
    folder = find_setup(options.tree)
    sys.stdout.flush()
    done = subprocess.run((sys.executable, *PIP, *options.settings, "--editable", str(folder)), check=False)
    if done.returncode:
        raise SystemExit(done.returncode)
    make_movable(Path(sys.prefix))
    there = installed()
    found = there.get(canonical(options.distribution))
    of_tree = sorted(
        one.name for one in there.values() if one.source and Path(one.source).resolve() == folder.resolve()
    )
    if of_tree and not (found and found.source):
        refuse_other(options, of_tree)
    if found is None or not found.source:
        fail(f"{options.distribution} is not editable after all", "read the log above")
    say_summary(found.version, "editable")


def refuse_other(options: argparse.Namespace, names: list[str]) -> NoReturn:
    """Take out what came in place of the distribution that was to come, and end: the tree is of something else."""
    subprocess.run((sys.executable, *PIP[:3], "uninstall", "--yes", *names), check=False)
    fix = f"name the tree of {options.distribution}: --source {options.component}=DIR:editable"
    fail(f"{options.tree} installs {', '.join(names)}, and not {options.distribution}; it was taken out again", fix)


if __name__ == "__main__":
    main()
