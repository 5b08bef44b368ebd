"""Moves the one wheel that a build made into the folder of wheels, in place of older ones of its distribution."""

from __future__ import annotations

import argparse
import shutil
from pathlib import Path

from helperlib.env.distributions import distribution_of, find_wheel, wheels_of
from helperlib.output import render_size, say_summary, whole


def main() -> None:
    """Check name and version, copy whole through a temporary name, remove what it replaces."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--from", dest="source", type=Path, required=True)
    parser.add_argument("--distribution", required=True)
    parser.add_argument("--version", required=True)
    parser.add_argument("--into", type=Path, required=True)
    options = parser.parse_args()
    wheel = find_wheel(options.source, options.distribution, options.version)
    place(wheel, options.into, options.distribution)
    print(f"{wheel.name} is in {options.into}")
    say_summary(distribution_of(wheel)[1], render_size(wheel.stat().st_size))


def place(wheel: Path, into: Path, distribution: str) -> None:
    """Put a wheel into a folder, and take the older wheels of the same distribution out of it."""
    with whole(into / wheel.name) as draft:
        shutil.copyfile(wheel, draft)
    for old in wheels_of(into, distribution):
        if old.name != wheel.name:
            old.unlink()


if __name__ == "__main__":
    main()
