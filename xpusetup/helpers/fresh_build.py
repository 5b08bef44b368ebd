"""Removes what an earlier build left and a build tool would take for current.

The whole folder when another compiler filled it: a patch of gcc or oneAPI lies where the one before it lay, and ninja
sees new sources and new commands only. Always what setuptools is about to pack (build/lib.*): it links an extension
again only where its own sources are newer, whatever became of torch, and packs modules that another commit had.
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
from pathlib import Path

from helperlib.output import write_text


def main() -> None:
    """Compare the compilers with those of the last time, which a file beside the tree names."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", type=Path, required=True)
    parser.add_argument("--tools", type=Path, required=True, help="the file that names them")
    parser.add_argument("--compiler", action="append", default=[])
    options = parser.parse_args()
    seen = "".join(f"{identify(name)}\n" for name in options.compiler)
    before = options.tools.read_text() if options.tools.exists() else ""
    if before != seen and options.build.exists():
        print(f"{options.build} is of another compiler: it goes")
        shutil.rmtree(options.build)
    write_text(options.tools, seen)
    for packed in options.build.glob("lib.*"):
        shutil.rmtree(packed)


def identify(compiler: str) -> str:
    """Give where a compiler lies, its size and time of change, and what it says of itself."""
    found = shutil.which(compiler)
    if found is None:
        return f"no {compiler}"
    path = Path(found).resolve()
    said = subprocess.run((found, "--version"), check=False, capture_output=True, text=True).stdout
    return f"{path} {path.stat().st_size} {path.stat().st_mtime_ns} {said.partition(chr(10))[0]}"


if __name__ == "__main__":
    main()
