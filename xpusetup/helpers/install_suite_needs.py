"""Installs what a suite or a package needs where the interpreter that runs this is at home, and replaces no torch.

python install_suite_needs.py [--build-of FOLDER] [--wheels FOLDER] [REQUIREMENT...]
"""

import argparse
import importlib
import sys
import tempfile
from pathlib import Path
from typing import Any

from helperlib.env.distributions import look_at_torch
from helperlib.env.installers import environment, run, ways

REPLACED = 5


def read_build_requirements(folder: Path) -> list[str]:
    """Give what pyproject.toml says that a build needs; where it says nothing that is setuptools, which is there."""
    path = folder / "pyproject.toml"
    if not path.exists():
        return []
    here = sys.version_info >= (3, 11)
    toml: Any = importlib.import_module("tomllib" if here else "pip._vendor.tomli")
    told: list[str] = toml.loads(path.read_text(encoding="utf-8")).get("build-system", {}).get("requires", [])
    return told


def main() -> int:
    """Install with what is there of torch as constraints. 5: an installer changed it all the same."""
    parser = argparse.ArgumentParser(allow_abbrev=False)
    parser.add_argument("--build-of", type=Path, help="what building the package in this folder requires")
    parser.add_argument("--wheels", type=Path, help="what the wheels in this folder require")
    options, wanted = parser.parse_known_args()
    wanted += read_build_requirements(options.build_of) if options.build_of else []
    wanted += [str(path) for path in sorted(options.wheels.glob("*.whl"))] if options.wheels else []
    if not wanted:
        return 0
    before = look_at_torch()
    way = next(iter(ways()))
    with tempfile.TemporaryDirectory(prefix="xpusetup-") as folder:
        constraints = Path(folder) / "torch.txt"
        pins = (f"{name}=={told.split()[0]}\n" for name, told in before.items())
        constraints.write_text("".join(pins), encoding="utf-8")
        words = (*way.command, "install", *way.python, "-c", str(constraints), *wanted)
        code, _lines = run(words, environment(way))
    return REPLACED if before != look_at_torch() else code


if __name__ == "__main__":
    sys.exit(main())
