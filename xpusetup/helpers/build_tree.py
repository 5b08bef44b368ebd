"""Builds the wheel of a source tree whose setup lies in its root or, as in older trees of Triton, in `python`.

A tree of PyTorch is configured first, so that what CMake decides is held to what was told before hours of compiling.
"""

import argparse
import subprocess
import sys
import tempfile
from pathlib import Path

from check_configure import hold, read_decisions
from helperlib.output import fail

SETUPS = ("pyproject.toml", "setup.py")
PLACES = (".", "python")
WHEEL = (sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir")
CONFIGURE = (sys.executable, "setup.py", "build", "--cmake", "--cmake-only")
"""How PyTorch's setup.py configures; scikit-build-core, which came after it, has no way to configure alone."""
NOTHING = ("-Cbuild.targets=help", "-Cinstall.components=nothing", "-Cwheel.exclude=**")


def main() -> None:
    """Find the setup, let CMake decide where that can be held to something, and build with what is installed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tree", type=Path, required=True)
    parser.add_argument("--outdir", type=Path, required=True)
    parser.add_argument("--on", action="append", default=[], metavar="NAME", help="has to be on for CMake")
    parser.add_argument("--off", action="append", default=[], metavar="NAME", help="has to be off for CMake")
    options = parser.parse_args()
    folder = find_setup(options.tree)
    if options.on or options.off:
        with tempfile.TemporaryDirectory() as unused:
            if command := find_configure(folder, unused):
                run(command, folder)
                hold(*read_decisions(folder / "build"), on=options.on, off=options.off)
    run((*WHEEL, str(options.outdir), str(folder)), folder)


def run(command: tuple[str, ...], folder: Path) -> None:
    """Run a command in the folder where the build begins; end as it ends where it fails."""
    sys.stdout.flush()
    if code := subprocess.run(command, cwd=folder, check=False).returncode:
        raise SystemExit(code)


def find_configure(folder: Path, unused: str) -> tuple[str, ...]:
    """Give the command that configures a tree and compiles nothing; empty where its setup has none that is known."""
    pyproject, setup = (read_setup(folder / name) for name in SETUPS)
    if "scikit_build_core" in pyproject:
        return (*WHEEL, unused, str(folder), *NOTHING)
    return CONFIGURE if "--cmake-only" in setup else ()


def read_setup(path: Path) -> str:
    return path.read_text(errors="replace") if path.is_file() else ""


def find_setup(tree: Path) -> Path:
    found = (tree / place for place in PLACES if any((tree / place / name).is_file() for name in SETUPS))
    return next(found, None) or fail(
        f"{tree} has no {' or '.join(SETUPS)}, nor has its folder python", "name the root of the checkout"
    )


if __name__ == "__main__":
    main()
