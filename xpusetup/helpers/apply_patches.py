"""Puts patches on a fetched tree, each once, whatever was on it before."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from helperlib.git.process import FetchError, make_git
from helperlib.git.tree import put_on
from helperlib.output import count, say_summary


def main() -> None:
    """Apply all of them, or none."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tree", type=Path, required=True)
    parser.add_argument("files", type=Path, nargs="+")
    options = parser.parse_args()
    try:
        names = put_on(make_git(), options.tree, options.files)
    except FetchError as error:
        sys.stderr.write(f"xpusetup: {error}\n  {error.fix}\n")
        sys.exit(1)
    except OSError as error:
        sys.stderr.write(f"xpusetup: {error.filename}: {error.strerror}\n  make room there, or look at its mode\n")
        sys.exit(1)
    for name in names:
        sys.stdout.write(f"{options.tree.name}: {name} is on\n")
    say_summary(count(len(names), "patch"))


if __name__ == "__main__":
    main()
