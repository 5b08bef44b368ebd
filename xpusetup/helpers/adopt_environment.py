"""Looks at an environment that someone else made, before anything is installed into it. Never empties or remakes it.

It runs with that environment's own interpreter: what is installed and where, only that one knows.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from environment_look import look
from wheel_files import fail
from whole_file import write_json

if TYPE_CHECKING:
    from environment_look import Look

NOT_READY = 3


def main() -> None:
    """Print what was seen, or hold it against what was planned, see to pip, and write down what it is."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--look", action="store_true", help="print what is seen as JSON, and nothing else")
    parser.add_argument("--prefix", type=Path)
    parser.add_argument("--python", help="the version that was planned for, as in 3.11")
    parser.add_argument("--requires", action="append", default=[], metavar="NAME==VERSION")
    parser.add_argument("--reports", type=Path, help="the folder for the reports of installations")
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    seen = look()
    if options.look:
        print(json.dumps(seen))
        return
    must_fit(seen, options.prefix, options.python)
    tell(seen, options.requires)
    if not seen["pip"]:
        add_pip(seen["prefix"])
    options.reports.mkdir(parents=True, exist_ok=True)
    write(options.out, seen)


def must_fit(seen: Look, prefix: Path, python: str) -> None:
    """End when this is not the environment that was planned for, or none that may be used."""
    if seen["refused"]:
        fail(f"nothing can be installed into {prefix}: {seen['refused']}", seen["fix"], NOT_READY)
    if Path(seen["prefix"]).resolve() != prefix.resolve():
        fail(
            f"{sys.executable} is of {seen['prefix']}, not of {prefix}",
            "name the environment itself: --into",
            NOT_READY,
        )
    if seen["version"].rsplit(".", 1)[0] != python:
        fail(
            f"{prefix} has Python {seen['version']}, planned was {python}",
            "plan it again: the same command that began this",
            NOT_READY,
        )


def tell(seen: Look, requires: list[str]) -> None:
    """Say what is about to change, and what could go wrong."""
    print(f"{seen['kind']} {seen['prefix']}: Python {seen['version']}, {len(seen['installed'])} distributions")
    for pin in requires:
        name, _, version = pin.partition("==")
        here = seen["installed"].get(name, "")
        if here and here != version:
            print(f"changes {name} {here} -> {version}")
    for note in seen["notes"]:
        print(f"note: {note}")


def add_pip(prefix: str) -> None:
    """Install the pip that Python brings along; one made by `uv venv` has none."""
    done = subprocess.run((sys.executable, "-m", "ensurepip", "--default-pip"), check=False)
    if done.returncode != 0:
        fail(f"pip could not be installed into {prefix}", f"uv pip install --python {prefix} pip", NOT_READY)


def write(out: Path, seen: Look) -> None:
    """Write what the environment is, and nothing that an installation changes: later steps follow from this file."""
    minor = seen["version"].rsplit(".", 1)[0]
    document = {"schema": 1, "prefix": seen["prefix"], "kind": seen["kind"], "python": minor}
    write_json(out, document)


if __name__ == "__main__":
    main()
