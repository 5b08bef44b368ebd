"""Removes what an earlier build left and a build tool would take for current.

The whole folder when another compiler filled it, or the same at another path: a patch of gcc or oneAPI lies where the
one before it lay, ninja sees new sources and new commands only, and CMake does not go on at another path. Always what
setuptools is about to pack (build/lib.*): it links an extension again only where its own sources are newer, whatever
became of torch, and packs modules that another commit had. And what a full disk cut short: where the last page finds
no room, GNU ld (2.40) leaves the rest out and ends well, so that ninja holds a library for made that no later link can
read.
"""

import argparse
import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

from helperlib.elf.file import ends_early
from helperlib.output import write_text

LAUNCHER = "launcher"
"""The folder of a root whose programs call a compiler cache for a compiler (step.sh); each step writes them anew."""
LINKED = re.compile(r"\.(o|so(\.\d+)*)$")


def main() -> None:
    """Compare path and compilers with those of the last time, which a file beside the tree names; find cut files."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", type=Path, required=True)
    parser.add_argument("--tools", type=Path, required=True, help="the file that names them")
    parser.add_argument("--compiler", action="append", default=[])
    options = parser.parse_args()
    here = f"at {options.build}\n"
    seen = here + "".join(f"{identify(name)}\n" for name in options.compiler)
    before = options.tools.read_text() if options.tools.exists() else ""
    if before != seen and options.build.exists():
        what = "by another compiler" if before.startswith(here) else "at another path"
        print(f"{options.build} was filled {what}: it goes")
        shutil.rmtree(options.build)
    write_text(options.tools, seen)
    for packed in options.build.glob("lib.*"):
        shutil.rmtree(packed)
    for path in find_cut_short(options.build):
        print(f"{path} ends before its end: a disk was full when it was written; it is made again")
        path.unlink()


def find_cut_short(build: Path) -> Iterator[Path]:
    """Give the objects, libraries and programs below a folder that hold less than they say."""
    for folder, _, names in os.walk(build):
        for path in (Path(folder, name) for name in names):
            if (LINKED.search(path.name) or os.access(path, os.X_OK)) and path.is_file() and ends_early(path):
                yield path


def identify(compiler: str) -> str:
    """Give where a compiler lies, its size and time of change, and what it says of itself."""
    places = (each for each in os.environ.get("PATH", "").split(os.pathsep) if Path(each).name != LAUNCHER)
    found = shutil.which(compiler, path=os.pathsep.join(places))
    if found is None:
        return f"no {compiler}"
    path = Path(found).resolve()
    said = subprocess.run((found, "--version"), check=False, capture_output=True, text=True).stdout
    return f"{path} {path.stat().st_size} {path.stat().st_mtime_ns} {said.partition(chr(10))[0]}"


if __name__ == "__main__":
    main()
