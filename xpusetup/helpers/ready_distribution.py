"""Looks at a distribution that is there already and on which something is built: whether it is the right release."""

import argparse
import hashlib
import sys
from importlib.metadata import PackageNotFoundError, distribution
from pathlib import Path

from helperlib.output import NOT_READY, fail, say_summary, write_json


def main() -> None:
    """Write down which one it is: what is built on it is built again when that changes."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--distribution", required=True)
    parser.add_argument("--version", required=True)
    parser.add_argument("--out", type=Path, required=True)
    options = parser.parse_args()
    fix = "plan again, which says how to get it:\n    xpusetup build"
    try:
        found = distribution(options.distribution)
    except PackageNotFoundError:
        fail(f"{options.distribution} is not installed in {sys.prefix}", fix, NOT_READY)
    if release(found.version) != release(options.version):
        fail(f"{sys.prefix} has {options.distribution} {found.version}, not {options.version}", fix, NOT_READY)
    record = hashlib.sha256((found.read_text("RECORD") or "").encode()).hexdigest()
    document = {"distribution": options.distribution, "version": found.version, "record": record}
    write_json(options.out, document, indent=None)
    installer = (found.read_text("INSTALLER") or "").strip()
    say_summary(f"{options.distribution} {found.version}, as it is there", installer and f"installed by {installer}")


def release(version: str) -> str:
    """Give a version without its local part: 2.6.0+xpu and 2.6.0+cpu are the same release."""
    return version.partition("+")[0]


if __name__ == "__main__":
    main()
